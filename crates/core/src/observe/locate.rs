//! From what the caller named to the root of a tree: applications, windows, surfaces, and a short wait for what
//! was just started.

use super::target::{Scope, pick_window};
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::platform::{App, Platform, ProcessKey, Window};
use crate::refs::entry::Source;
use crate::tree::raw::{Handle, Link};
use crate::vocab::surface::Surface;
use std::time::Duration;

/// Pause between two looks at an application that is starting.
const STARTING_POLL: Duration = Duration::from_millis(50);

/// Where a tree is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// Root of the tree.
    pub handle: Handle,
    /// The chain above it.
    pub above: Vec<Link>,
    /// Its index in its parent.
    pub index: u32,
    /// Its process.
    pub process: ProcessKey,
    /// What is saved with its refs.
    pub source: Source,
}

/// The window that the scope means. An application that is just starting is waited for, within the deadline.
pub fn window(platform: &dyn Platform, scope: Scope<'_>, deadline: Deadline) -> Result<(App, Window), Error> {
    loop {
        let error = match look(platform, scope, deadline) {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let may_come = matches!(error.code(), Code::AppNotFound | Code::ActionNotSupported)
            && scope.app.is_some_and(|app| platform.is_starting(app));
        if !may_come || deadline.passed() {
            return Err(error);
        }
        std::thread::sleep(STARTING_POLL.min(deadline.left()));
    }
}

fn look(platform: &dyn Platform, scope: Scope<'_>, deadline: Deadline) -> Result<(App, Window), Error> {
    let apps = platform.apps(deadline)?;
    let wanted: Vec<App> = match scope.app {
        Some(_) if scope.window_id.is_none() => super::target::matching(scope, &apps)?,
        _ => apps.clone(),
    };
    let windows = platform.windows(&wanted, deadline)?;
    let window = pick_window(scope, &wanted, &windows)?;
    let app = apps.into_iter().find(|a| a.process == window.process);
    let app = app.ok_or_else(|| Error::before(Code::AppNotFound, "the window's application has ended"))?;
    Ok((app, window))
}

/// The root of a window's tree, or of a surface of its application.
pub fn root(
    platform: &dyn Platform,
    scope: Scope<'_>,
    surface: Surface,
    deadline: Deadline,
) -> Result<Root, Error> {
    if !platform.supported_surfaces().contains(&surface) {
        let supported: Vec<&str> = platform.supported_surfaces().iter().map(|s| s.token()).collect();
        return Err(Error::before(Code::PlatformNotSupported, format!("the surface {surface} is not served here"))
            .kind("surface_not_supported")
            .detail("supported_surfaces", supported));
    }
    let (app, window) = window(platform, scope, deadline)?;
    let source = |id: &str, title: &str| Source {
        app: app.name.clone(),
        window_id: id.to_owned(),
        window_title: title.to_owned(),
        surface,
    };
    if surface == Surface::Window || (surface == Surface::Focused && window.focused.says_yes()) {
        let handle = window.root.clone().ok_or_else(|| without_tree(&window))?;
        return Ok(Root {
            handle,
            above: window.above.clone(),
            index: window.index,
            process: window.process.clone(),
            source: source(&window.id, &window.title),
        });
    }
    let open = platform.surfaces(&app, deadline)?;
    let found = open.iter().rev().find(|s| s.kind == surface).ok_or_else(|| {
        Error::before(Code::WindowNotFound, format!("no {surface} of the application is open"))
            .kind("surface_not_open")
            .suggest("'list-surfaces' shows what is open; open it first, for example with click or right-click.")
    })?;
    Ok(Root {
        handle: found.root.clone(),
        above: found.above.clone(),
        index: found.index,
        process: app.process.clone(),
        source: source(found.window_id.as_deref().unwrap_or(&found.id), found.title.as_deref().unwrap_or("")),
    })
}

/// The refusal for a window that publishes no tree (decisions D12).
pub fn without_tree(window: &Window) -> Error {
    let reason = window.no_tree_reason.clone().unwrap_or_else(|| "the application publishes no tree".to_owned());
    Error::before(Code::ActionNotSupported, format!("the window has no accessibility tree: {reason}"))
        .kind("window_without_accessibility_element")
        .detail("window_id", window.id.clone())
        .detail("pid", window.process.pid)
        .suggest(
            "End the application and start it again with 'agent-desktop launch', which switches its tree on; \
             an application that was started while accessibility was off can't be mended while it runs.",
        )
}
