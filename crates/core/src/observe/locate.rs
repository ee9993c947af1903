//! From what the caller named to the root of a tree: a window, or a surface of its application.

use super::target::{Scope, find_app, find_window};
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::platform::{Platform, ProcessKey, SurfaceInfo, Window};
use crate::refs::entry::{RefMap, Source};
use crate::tree::raw::{Handle, Link};
use crate::vocab::surface::Surface;

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
    /// The snapshot and the ref below which it is, where it was named by one.
    pub below: Option<(RefMap, u32)>,
}

/// The root of a window's tree, or of a surface of its application.
pub fn root(platform: &dyn Platform, scope: Scope<'_>, surface: Surface, deadline: Deadline) -> Result<Root, Error> {
    if !platform.supported_surfaces().contains(&surface) {
        let supported: Vec<&str> = platform.supported_surfaces().iter().map(|s| s.token()).collect();
        return Err(Error::before(Code::PlatformNotSupported, format!("the surface {surface} is not served here"))
            .kind("surface_not_supported")
            .detail("supported_surfaces", supported));
    }
    if surface == Surface::Window {
        return of_window(find_window(platform, scope, deadline)?, surface);
    }
    if surface == Surface::Focused {
        let window = match scope {
            Scope { app: None, window_id: None } => find_window(platform, scope, deadline)?,
            _ => focused_of(platform, scope, deadline)?,
        };
        return of_window(window, surface);
    }
    let (process, app_name) = match scope.window_id {
        Some(_) => {
            let window = find_window(platform, scope, deadline)?;
            (window.process, None)
        }
        None => {
            let app = find_app(platform, scope.app, deadline)?.swap_remove(0);
            (app.process, Some(app.name))
        }
    };
    let apps: Vec<_> = platform.apps(deadline)?.into_iter().filter(|a| a.process == process).collect();
    let mut open: Vec<(String, SurfaceInfo)> = Vec::new();
    for app in &apps {
        open.extend(platform.surfaces(app, deadline)?.into_iter().map(|s| (app.name.clone(), s)));
    }
    // The one that opened last is on top.
    let (name, found) = open.into_iter().rev().find(|(_, s)| s.kind == surface).ok_or_else(|| {
        Error::before(Code::WindowNotFound, format!("no {surface} of the application is open"))
            .kind("surface_not_open")
            .suggest("'list-surfaces' shows what is open; open it first, for example with click or right-click.")
    })?;
    Ok(Root {
        source: Source {
            app: app_name.unwrap_or(name),
            window_id: found.window_id.clone().unwrap_or_else(|| found.id.clone()),
            window_title: found.title.clone().unwrap_or_default(),
            surface,
        },
        handle: found.root,
        above: found.above,
        index: found.index,
        process,
        below: None,
    })
}

/// The root of this window's tree.
pub fn of_window(window: Window, surface: Surface) -> Result<Root, Error> {
    let window = super::target::usable(window)?;
    let source = Source {
        app: window.app_name.clone(),
        window_id: window.id.clone(),
        window_title: window.title.clone(),
        surface,
    };
    let handle = window.root.ok_or_else(|| Error::before(Code::Internal, "a usable window has a root"))?;
    Ok(Root { handle, above: window.above, index: window.index, process: window.process, source, below: None })
}

/// The active window, if it belongs to what was named.
fn focused_of(platform: &dyn Platform, scope: Scope<'_>, deadline: Deadline) -> Result<Window, Error> {
    let named = find_window(platform, scope, deadline)?;
    let active = platform.active_window(deadline)?.ok_or_else(super::target::no_active_window)?;
    let same = match scope.window_id {
        Some(_) => active.id == named.id,
        None => active.process == named.process,
    };
    if same {
        return Ok(active);
    }
    Err(Error::before(Code::WindowNotFound, "the active window belongs to another application")
        .kind("surface_not_open")
        .detail("active", super::target::summary(&active)))
}
