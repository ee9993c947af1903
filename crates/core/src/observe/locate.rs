//! From what the caller named to the root of a tree: a window, or a surface of its application.

use super::target::{Scope, find_app, find_window, find_window_among};
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::evidence::Evidence;
use crate::platform::{Platform, Popup, ProcessKey, ReadPlan, Responsive, SurfaceInfo, Window};
use crate::refs::capture::Capture;
use crate::refs::entry::{FORMAT, OtherWindow, RefMap, Source};
use crate::tree::raw::{Grade, Handle, Link, RawTree};
use crate::vocab::surface::Surface;
use std::collections::BTreeMap;

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
    /// The snapshot and the ref below which it is, where it was named by one or lies inside a window.
    pub below: Option<(RefMap, u32)>,
}

/// The root of a window's tree, or of a surface of its application.
pub fn root(platform: &dyn Platform, scope: Scope<'_>, surface: Surface, deadline: Deadline) -> Result<Root, Error> {
    if !platform.supported_surfaces().contains(&surface) {
        let supported: Vec<&str> = platform.supported_surfaces().iter().map(|s| s.token()).collect();
        return Err(Error::before(Code::PlatformNotSupported, format!("the surface {surface} is not served here"))
            .kind("surface_not_supported")
            .suggest(format!("Surfaces here: {}. What is open of them: 'list-surfaces'.", supported.join(", ")))
            .detail("supported_surfaces", supported));
    }
    if surface == Surface::Window {
        let (window, others) = find_window_among(platform, scope, deadline)?;
        let mut root = of_window(window, surface)?;
        root.source.others = others.into_iter().map(|w| OtherWindow { id: w.id, title: w.title }).collect();
        return Ok(root);
    }
    if surface == Surface::Focused {
        let window = match scope {
            Scope { app: None, window_id: None } => find_window(platform, scope, deadline)?,
            _ => focused_of(platform, scope, deadline)?,
        };
        return of_window(window, surface);
    }
    let (process, app_name) = match scope.window_id {
        Some(id) => match find_window(platform, scope, deadline) {
            Ok(window) => (window.process, None),
            // A surface has an id too, which chooses one of several of its kind.
            Err(error) if error.code() == Code::WindowNotFound => {
                (owner_of(platform, scope, id, deadline)?.ok_or(error)?, None)
            }
            Err(error) => return Err(error),
        },
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
    let Some(at) = the_one(surface, scope.window_id, &open)? else {
        let kinds: Vec<Surface> = open.iter().map(|(_, s)| s.kind).collect();
        let popups = untold(platform, &process, &kinds, deadline).into_known().unwrap_or_default();
        return Err(told_of(not_open(surface, &open), &popups));
    };
    let (name, found) = open.swap_remove(at);
    Ok(Root {
        source: Source {
            app: app_name.unwrap_or(name),
            window_id: found.window_id.clone().unwrap_or_else(|| found.id.clone()),
            window_title: found.title.clone().unwrap_or_default(),
            surface,
            others: Vec::new(),
        },
        handle: found.root,
        above: found.above,
        index: found.index,
        process,
        below: None,
    })
}

/// The process that has a surface of this id open, among those that the scope allows.
fn owner_of(
    platform: &dyn Platform,
    scope: Scope<'_>,
    id: &str,
    deadline: Deadline,
) -> Result<Option<ProcessKey>, Error> {
    let apps = match scope.app {
        Some(name) => find_app(platform, Some(name), deadline)?,
        None => platform.apps(deadline)?,
    };
    for app in apps.iter().filter(|app| app.root.is_some() && app.responsive == Responsive::Yes) {
        if platform.surfaces(app, deadline)?.iter().any(|s| s.id == id) {
            return Ok(Some(app.process.clone()));
        }
    }
    Ok(None)
}

/// Which of the open surfaces is meant; none where none of that kind is open. Of nested ones it is the innermost, which
/// is on top. Nothing tells which of two that lie beside each other is, but an id.
fn the_one(surface: Surface, window_id: Option<&str>, open: &[(String, SurfaceInfo)]) -> Result<Option<usize>, Error> {
    let of_kind = || (0..open.len()).filter(|at| open[*at].1.kind == surface);
    let own = |at: &usize, id: &str| open[*at].1.id == id || open[*at].1.window_id.as_deref() == Some(id);
    let mut left: Vec<usize> = of_kind().collect();
    // A dialog is a window of its own; what belongs to another window than the one that was named is not meant.
    if let (Some(id), Surface::Menu | Surface::Menubar | Surface::Popover) = (window_id, surface) {
        left.retain(|at| own(at, id) || open[*at].1.window_id.is_none());
    }
    let mut narrow = |keep: &dyn Fn(&usize) -> bool| {
        let kept: Vec<usize> = left.iter().copied().filter(keep).collect();
        if left.len() > 1 && !kept.is_empty() {
            left = kept;
        }
    };
    if let Some(id) = window_id {
        narrow(&|at| own(at, id));
    }
    let around = |outer: &SurfaceInfo, inner: &SurfaceInfo| inner.above.iter().any(|link| link.handle == outer.root);
    narrow(&|at| !of_kind().any(|other| around(&open[*at].1, &open[other].1)));
    if let Some(front) = open.iter().find(|(_, s)| s.kind == Surface::Focused).and_then(|(_, s)| s.window_id.as_deref())
    {
        narrow(&|at| own(at, front));
    }
    match left[..] {
        [] => Ok(None),
        [at] => Ok(Some(at)),
        _ => {
            let rows: Vec<_> = left
                .iter()
                .map(|at| {
                    let (app, info) = &open[*at];
                    let mut row = crate::platform::apps::surface_json(info);
                    row["app_name"] = serde_json::json!(app);
                    row
                })
                .collect();
            Err(Error::before(Code::AmbiguousTarget, format!("{} surfaces of the kind {surface} are open", left.len()))
                .kind("several_candidates")
                .detail("candidate_count", left.len())
                .detail("candidates", rows)
                .suggest("Use --window-id with one of the candidates' ids, beside --surface."))
        }
    }
}

/// The number under which [`within`] saves the root.
const ROOT: u32 = 1;

/// Finds what tells the root of a layer that was read: it may hang on a row, and what tells that row from its siblings
/// stands outside the layer (decisions D1). So its window is read as well, where addresses follow the slot. If the layer
/// isn't found in there, nothing in it is proven.
pub fn within(platform: &dyn Platform, root: &mut Root, layer: &RawTree, deadline: Deadline) -> Result<(), Error> {
    let slot = layer.nodes.first().is_some_and(|top| top.facts.grade == Grade::Slot);
    if root.below.is_some() || !slot {
        return Ok(());
    }
    // The application and its window: a layer right below the application is a window of its own.
    let [application, window, ..] = &root.above[..] else { return Ok(()) };
    let above = std::slice::from_ref(application);
    let mut tree = platform.read_tree(&window.handle, above, &root.process, &ReadPlan::contract(deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = window.index;
    }
    let mut map = RefMap {
        format: FORMAT,
        snapshot_id: String::new(),
        desktop: String::new(),
        process: root.process.clone(),
        source: root.source.clone(),
        next: ROOT,
        links: Vec::new(),
        entries: BTreeMap::new(),
    };
    if let Some(at) = (0u32..).zip(&tree.nodes).find(|(_, n)| n.handle == root.handle).map(|(at, _)| at) {
        Capture::fresh(&mut map, &tree).save(&tree, &[(ROOT, at)], None);
    }
    root.below = Some((map, ROOT));
    Ok(())
}

/// No such surface is open; what is open is named, since one toolkit's alert is another one's sheet, or a window.
fn not_open(surface: Surface, open: &[(String, SurfaceInfo)]) -> Error {
    let rows: Vec<_> = open.iter().map(|(_, s)| crate::platform::apps::surface_json(s)).collect();
    let mut kinds: Vec<&str> = open.iter().map(|(_, s)| s.kind.token()).collect();
    kinds.dedup();
    let error = Error::before(Code::WindowNotFound, format!("no {surface} of the application is open"))
        .kind("surface_not_open")
        .detail("open", rows);
    if kinds.is_empty() {
        return error.suggest(
            "Nothing but windows is open: 'list-windows' shows them. Open it first, for example with click or right-click.",
        );
    }
    error.suggest(format!(
        "Open are: {}. A dialog that is no {surface} here is one of these, or a window: 'snapshot --window-id ID' with an id from list-windows.",
        kinds.join(", ")
    ))
}

/// The popups of a process that no surface of its tree stands for: toolkits show menus that they publish nothing of.
pub fn untold(
    platform: &dyn Platform,
    process: &ProcessKey,
    open: &[Surface],
    deadline: Deadline,
) -> Evidence<Vec<Popup>> {
    // Which of several popups a menu in the tree is can't be told.
    if open.iter().any(|kind| matches!(kind, Surface::Menu | Surface::Popover)) {
        return Evidence::Absent;
    }
    platform.popups(process, deadline)
}

/// What works on a popup without a tree.
pub const UNTOLD: &str = "A popup of the application is on the screen that publishes no tree (popups): a menu or a list, \
    perhaps. 'press' works on it: up, down, left and right choose, return takes, escape closes; 'screenshot' of the \
    screen shows it.";

/// Adds popups without a tree to an error that says that nothing is open.
pub fn told_of(error: Error, popups: &[Popup]) -> Error {
    if popups.is_empty() {
        return error;
    }
    error.detail("popups", serde_json::json!(popups)).suggest(UNTOLD)
}

/// The root of this window's tree.
pub fn of_window(window: Window, surface: Surface) -> Result<Root, Error> {
    let window = super::target::usable(window)?;
    let source = Source {
        app: window.app_name.clone(),
        window_id: window.id.clone(),
        window_title: window.title.clone(),
        surface,
        others: Vec::new(),
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
