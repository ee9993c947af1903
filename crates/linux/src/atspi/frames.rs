//! Windows: the frames that applications publish, told of by the window system where there is one (spec 5 "Naming").

use super::apps::LIVENESS_MS;
use super::interface as i;
use super::native::{Field, Native};
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::Toolkit;
use super::windows::{self, Frame};
use crate::bus::{Call, Object, Wire};
use crate::x11::X11Window;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::platform::{App, ProcessKey, Responsive, Window, WindowKey};
use agent_desktop_core::tree::raw::Link;

/// What the window system says.
#[derive(Clone, Copy, Debug)]
pub enum Screen<'a> {
    /// An X server's managed windows.
    X11(&'a [X11Window]),
    /// None that could be asked, with the reason.
    None,
}

/// The printed id of a window with a tree: bus name without its colon, then the path (spec 5).
pub fn window_id(object: &Object) -> String {
    format!("w-{}{}", object.bus.trim_start_matches(':'), object.path.replace('/', "-"))
}

/// The printed id of a window without a tree: the X11 client with the process generation, since servers give a client's
/// id to the next one (spec 1 §4, case `stale-window-id`).
pub fn x11_id(window: &X11Window, process: &ProcessKey) -> String {
    let started = process.instance.rsplit(':').next().unwrap_or_default();
    format!("w-x{}-{}-{started}", window.client, process.pid)
}

/// A child of an application's root, as read.
#[derive(Clone, Debug)]
pub struct Top {
    /// Its address.
    pub object: Object,
    /// Index among the root's children.
    pub index: u32,
    /// What was read.
    pub native: Native,
}

/// The children of several applications' roots with their basic facts. `None` for a silent application. Each has the
/// liveness deadline where several are asked, all at once.
pub fn tops(wire: &dyn Wire, apps: &[(&App, Option<Toolkit>)], deadline: Deadline) -> Vec<Option<Vec<Top>>> {
    let each = if apps.len() > 1 { deadline.within_ms(LIVENESS_MS) } else { deadline };
    let roots: Vec<Option<Object>> = apps
        .iter()
        .map(|(a, _)| a.root.as_ref().filter(|_| a.responsive == Responsive::Yes).and_then(Object::from_handle))
        .collect();
    let calls = roots.iter().flatten().map(|r| Call::new(r, i::ACCESSIBLE, "GetChildren")).collect();
    let mut answers = wire.flight(calls, each).into_iter();
    let mut out: Vec<Option<Vec<Top>>> = roots
        .iter()
        .map(|root| match root {
            Some(_) => answers.next()?.ok()?.objects().ok().map(|all| {
                (0u32..)
                    .zip(all)
                    .filter(|(_, o)| !o.is_null())
                    .map(|(index, object)| Top { object, index, native: Native::default() })
                    .collect()
            }),
            None => Some(Vec::new()),
        })
        .collect();
    const FIELDS: &[Field] = &[Field::Role, Field::States, Field::Name, Field::Extents, Field::ChildCount];
    let several = out.iter().flatten().flatten().nth(1).is_some();
    let each = match (apps.len() > 1, several) {
        (true, _) => deadline.within_ms(LIVENESS_MS),
        // One window that doesn't answer must leave time for reading another.
        (false, true) => deadline.within_ms(u64::try_from(deadline.left().as_millis() / 2).unwrap_or(u64::MAX)),
        (false, false) => deadline,
    };
    let calls = out.iter().flatten().flatten().flat_map(|t| FIELDS.iter().map(|f| f.call(&t.object))).collect();
    let mut answers = wire.flight(calls, each).into_iter();
    for (list, (_, toolkit)) in out.iter_mut().zip(apps) {
        let toolkit = toolkit.unwrap_or(Toolkit::Other);
        let mut silent = false;
        for top in list.iter_mut().flatten() {
            for field in FIELDS {
                if let Some(answer) = answers.next() {
                    top.native.take(*field, answer, toolkit);
                }
            }
            silent |= !top.native.answered;
        }
        if silent && list.as_ref().is_some_and(|l| l.iter().all(|t| !t.native.answered)) {
            *list = None;
        }
    }
    out
}

/// Whether a top-level element is a window that a user would count: not a tooltip, not an open menu, not a dialog that
/// is kept for later (FINDINGS §4: Qt's hidden dialogs stay listed).
fn is_listed(top: &Top, matched: bool, all_found: bool) -> bool {
    let Some(number) = top.native.role_number() else { return false };
    let states = top.native.states_or_none();
    let kept = !states.has(States::VISIBLE) && !states.has(States::SHOWING) && !states.has(States::ICONIFIED);
    // Where each window that the server shows is accounted for, another frame isn't on the screen (Chromium keeps
    // empty ones for its popups).
    matched || (role::is_window(number) && number != n::WINDOW && !kept && !all_found)
}

/// Whether a top-level element may be a window at all. Qt's are of any role (seen in qt6ct).
fn may_be_window(top: &Top) -> bool {
    let alive = top.native.dead.is_none() && !top.native.states_or_none().defunct();
    let other = matches!(top.native.role_number(), None | Some(n::TOOL_TIP | n::MENU | n::POPUP_MENU | n::INVALID));
    alive && !other
}

/// The windows of one application.
pub fn of_app(app: &App, toolkit: Option<Toolkit>, tops: Option<Vec<Top>>, screen: Screen<'_>) -> Vec<Window> {
    let pid = i32::try_from(app.process.pid).ok();
    let own: Vec<&X11Window> = match screen {
        Screen::X11(all) => all.iter().filter(|w| w.pid.is_some() && w.pid == pid && windows::is_counted(w)).collect(),
        Screen::None => Vec::new(),
    };
    let mut out = Vec::new();
    let mut used = vec![false; own.len()];
    let silent = tops.is_none() || app.responsive == Responsive::No;
    let tops = tops.unwrap_or_default();
    let unread: Vec<(Object, u32)> = tops
        .iter()
        .filter(|t| t.native.dead.is_none() && matches!(t.native.role, Evidence::Unknown(_)))
        .map(|t| (t.object.clone(), t.index))
        .collect();
    let frames: Vec<Top> = tops.into_iter().filter(may_be_window).collect();
    let shapes: Vec<Frame> = frames.iter().map(|t| shape(t, toolkit)).collect();
    let found = windows::matched(&shapes, &own);
    for w in found.iter().flatten() {
        used[*w] = true;
    }
    let all_found = !own.is_empty() && used.iter().all(|u| *u);
    let mut open = 0;
    for (top, found) in frames.iter().zip(found) {
        if is_listed(top, found.is_some(), all_found) {
            open += usize::from(found.is_none());
            out.push(window(app, top, found.map(|w| own[w]), matches!(screen, Screen::X11(_))));
        }
    }
    // What could not be read may be a window: it is listed as one that doesn't answer, since a list without it would say
    // that it is gone (decisions D4).
    if !all_found && app.responsive == Responsive::Yes {
        out.extend(unread.into_iter().map(|(object, index)| unread_window(app, &object, index)));
        if silent && own.is_empty() && app.root.is_some() {
            out.extend(app.root.as_ref().and_then(Object::from_handle).map(|root| unread_window(app, &root, 0)));
        }
    }
    // Windows that the application shows and no tree tells of, less those that frames of theirs may be.
    let unseen = own.iter().zip(used).filter(|(_, used)| !used).skip(open);
    out.extend(unseen.map(|(w, _)| treeless(app, w, silent)));
    out
}

fn shape(top: &Top, toolkit: Option<Toolkit>) -> Frame {
    let on_screen = !toolkit.is_some_and(Toolkit::extents_are_of_window);
    let extents = top.native.extents.known().copied().filter(|e| !super::visibility::sentinel(*e));
    Frame {
        title: top.native.name.known().cloned().unwrap_or_default(),
        // Only the size counts where the place is the window's own.
        extents: if on_screen { extents } else { extents.map(|(_, _, w, h)| (i32::MIN, i32::MIN, w, h)) },
    }
}

fn window(app: &App, top: &Top, x: Option<&X11Window>, asked: bool) -> Window {
    let states = &top.native.states;
    let state = |bit: u64| states.as_ref().map(|s| s.has(bit));
    let by_x = |f: fn(&X11Window) -> bool| match x {
        Some(w) => Evidence::Known(f(w)),
        None if asked => Evidence::Absent,
        None => Evidence::Unknown(Cause::NotRead),
    };
    // What the window system shows is the title; a toolkit's name for the window may be less (Qt leaves out the
    // application's name) or no title at all (GTK 4.8 names windows by their type).
    let own = || top.native.name.known().filter(|t| !t.trim().is_empty()).cloned();
    let title = x.and_then(|w| w.title.clone()).filter(|t| !t.trim().is_empty()).or_else(own);
    let on_screen = |s: &States| s.has(States::VISIBLE) && s.has(States::SHOWING) && !s.has(States::ICONIFIED);
    Window {
        id: window_id(&top.object),
        title: title.unwrap_or_default(),
        app_name: app.name.clone(),
        process: app.process.clone(),
        key: x.map(|w| window_key(w, &app.process)),
        bounds: x.map_or(if asked { Evidence::Absent } else { Evidence::Unknown(Cause::NotRead) }, |w| {
            Evidence::Known(windows::bounds(w))
        }),
        // FINDINGS §6: an iconified window keeps its states; the window system knows better.
        focused: x.map_or_else(|| state(States::ACTIVE), |w| Evidence::Known(w.is_active)),
        visible: x.map_or_else(|| states.as_ref().map(on_screen), |w| Evidence::Known(w.viewable && !w.minimized)),
        minimized: x.map_or_else(|| state(States::ICONIFIED), |w| Evidence::Known(w.minimized)),
        maximized: by_x(|w| w.maximized),
        fullscreen: by_x(|w| w.fullscreen),
        modal: match (x, state(States::MODAL)) {
            (Some(w), Evidence::Known(m)) => Evidence::Known(m || w.modal),
            (Some(w), _) => Evidence::Known(w.modal),
            (None, m) => m,
        },
        responsive: Responsive::Yes,
        root: Some(top.object.handle()),
        above: app.root.iter().map(|root| Link { handle: root.clone(), index: 0 }).collect(),
        index: top.index,
        no_tree_reason: None,
    }
}

/// The window's identity for the window system: its client with the process generation (spec 1 §4).
fn window_key(x: &X11Window, process: &ProcessKey) -> WindowKey {
    WindowKey { id: x.client.to_string(), process: process.clone() }
}

/// What may be a window and did not answer.
fn unread_window(app: &App, object: &Object, index: u32) -> Window {
    let unknown = || Evidence::Unknown(Cause::NotRead);
    Window {
        id: window_id(object),
        title: String::new(),
        app_name: app.name.clone(),
        process: app.process.clone(),
        key: None,
        bounds: Evidence::Unknown(Cause::NotRead),
        focused: unknown(),
        visible: unknown(),
        minimized: unknown(),
        maximized: unknown(),
        fullscreen: unknown(),
        modal: unknown(),
        responsive: Responsive::No,
        root: None,
        above: Vec::new(),
        index,
        no_tree_reason: Some("what it is could not be read: the application answers, but not for this".to_owned()),
    }
}

fn treeless(app: &App, x: &X11Window, silent: bool) -> Window {
    Window {
        id: x11_id(x, &app.process),
        title: x.title.clone().unwrap_or_default(),
        app_name: app.name.clone(),
        process: app.process.clone(),
        key: Some(window_key(x, &app.process)),
        bounds: Evidence::Known(windows::bounds(x)),
        focused: Evidence::Known(x.is_active),
        visible: Evidence::Known(x.viewable && !x.minimized),
        minimized: Evidence::Known(x.minimized),
        maximized: Evidence::Known(x.maximized),
        fullscreen: Evidence::Known(x.fullscreen),
        modal: Evidence::Known(x.modal),
        responsive: if silent { Responsive::No } else { Responsive::Yes },
        root: None,
        above: Vec::new(),
        index: 0,
        no_tree_reason: (!silent).then(|| no_tree_reason(app)),
    }
}

/// Of a process that has loaded nothing that publishes: starting it again would change nothing.
const TREELESS: &str = "the application publishes no accessibility tree, and nothing that it has loaded can: its toolkit \
    publishes none; use --window-id with press, screenshot and the pointer commands";

/// Why a window has no tree and what to do (FINDINGS §1): which toolkits publish, and that too late is too late.
fn no_tree_reason(app: &App) -> String {
    if app.root.is_some() {
        return "the application publishes a tree, but not of this window".to_owned();
    }
    if !super::toolkit::may_publish(app.process.pid) {
        return TREELESS.to_owned();
    }
    let executable = std::fs::read_link(format!("/proc/{}/exe", app.process.pid)).unwrap_or_default();
    let how = if crate::process::chromium::is_chromium(&executable) {
        "start it with --force-renderer-accessibility, or with 'agent-desktop launch', which adds it"
    } else {
        "close it and start it again with 'agent-desktop launch'; to keep accessibility on for good: \
         'gsettings set org.gnome.desktop.interface toolkit-accessibility true'"
    };
    format!(
        "the application publishes no accessibility tree: it was started while accessibility was off, or its toolkit has none; {how}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_bus_name_and_path() {
        let o = Object::new(":1.11", "/org/gnome/Calculator/a11y/948fd89a_9bda");
        assert_eq!(window_id(&o), "w-1.11-org-gnome-Calculator-a11y-948fd89a_9bda");
    }

    #[test]
    fn an_id_without_a_tree_tells_generations_apart() {
        let window = X11Window { client: 4_194_307, ..crate::atspi::windows::tests::window(0, "", 0, 0) };
        let id = |pid, ticks: &str| x11_id(&window, &ProcessKey { pid, instance: format!("ab-cd:{ticks}") });
        assert_eq!(id(7, "42"), "w-x4194307-7-42");
        assert!(id(7, "43") != id(7, "42") && id(8, "42") != id(7, "42"));
    }
}
