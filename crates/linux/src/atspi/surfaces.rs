//! Layers of an application that are open beside its windows' content (spec 1 §9, spec 5 "Surfaces").

use super::compose::label_text;
use super::frames::{self, Screen, Top};
use super::native::Field;
use super::role::native as n;
use super::state::Native as States;
use super::toolkit::Toolkit;
use super::tree::Walk;
use super::visibility::sentinel;
use super::{flight, windows};
use crate::LinuxPlatform;
use crate::bus::Object;
use crate::x11::{self, X11Error, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::platform::{App, Popup, ProcessKey, ReadPlan, SurfaceInfo, Window};
use agent_desktop_core::tree::raw::Link;
use agent_desktop_core::vocab::surface::Surface;

/// What this adapter serves. Shell kinds come with the shells that serve them.
pub const SUPPORTED: &[Surface] = &[
    Surface::Window,
    Surface::Focused,
    Surface::Menu,
    Surface::Menubar,
    Surface::Sheet,
    Surface::Popover,
    Surface::Alert,
];

/// The surfaces that are open in the application now.
pub fn open(platform: &LinuxPlatform, app: &App, deadline: Deadline) -> Result<Vec<SurfaceInfo>, Error> {
    let Some(root) = app.root.as_ref().and_then(Object::from_handle) else {
        return Err(Error::before(Code::ActionNotSupported, "the application publishes no accessibility tree")
            .kind("window_without_accessibility_element"));
    };
    let toolkit = platform.toolkit(&root.bus, deadline)?;
    let x = platform.x_windows(deadline);
    // Silence proves no absence: a list of nothing would be one.
    let Some(tops) = frames::tops(&platform.bus, &[(app, Some(toolkit))], deadline).pop().flatten() else {
        return Err(Error::before(Code::AppUnresponsive, "the application does not answer")
            .retry_after(1_000)
            .suggest("Wait until the application responds again, or raise --timeout-ms."));
    };
    let screen = x.as_deref().map_or(Screen::None, Screen::X11);
    let listed = frames::of_app(app, Some(toolkit), Some(tops.clone()), screen);
    let mut out = Vec::new();
    for top in tops.iter().filter(|t| t.native.dead.is_none() && on_screen(t, toolkit)) {
        let window = listed.iter().find(|w| w.root.as_ref() == Some(&top.object.handle()));
        let above = vec![Link { handle: root.handle(), index: 0 }];
        let info = |kind| SurfaceInfo {
            id: surface_id(&top.object),
            kind,
            title: title(top, window),
            item_count: top.native.child_count.known().copied(),
            root: top.object.handle(),
            above: above.clone(),
            index: top.index,
            window_id: window.map(|w| w.id.clone()),
        };
        out.extend(kinds_of_top(top, window, x.as_deref().unwrap_or_default()).into_iter().map(info));
        let plan = ReadPlan::contract(deadline);
        let mut walk = Walk::new(&platform.bus, toolkit, &plan, top.object.clone());
        walk.leave_grids();
        walk.structure();
        if !toolkit.showing_is_reported() {
            item_extents(platform, toolkit, &mut walk, deadline);
        }
        let inside = found(&walk, toolkit);
        let popup = top.native.role_number() == Some(n::WINDOW) && window.is_none();
        if popup && !inside.iter().any(|(kind, _)| *kind == Surface::Menu) {
            out.push(info(Surface::Popover));
        }
        out.extend(inside.into_iter().map(|(kind, at)| nested(&walk, toolkit, &above, top, kind, at, window)));
    }
    Ok(out)
}

/// The popups of a process by the X server, which knows also those that no tree tells of (seen: context menus of Qt 5).
pub fn popups(platform: &LinuxPlatform, process: &ProcessKey, deadline: Deadline) -> Evidence<Vec<Popup>> {
    let own = |w: &X11Window| w.pid.is_some() && w.pid == i32::try_from(process.pid).ok() && windows::is_opened(w);
    let popup = |w: &X11Window| Popup { bounds: windows::bounds(w), menu: windows::is_menu(w) };
    match platform.ask_x(deadline, x11::popups) {
        Ok(all) => Evidence::Known(all.iter().filter(|w| own(w)).map(popup).collect()),
        Err(X11Error::Timeout) => Evidence::Unknown(Cause::Late),
        Err(X11Error::Protocol { error, .. }) => Evidence::Unknown(Cause::Fault(error)),
        // There is no X server that could show one.
        Err(_) => Evidence::Absent,
    }
}

/// The printed id of a surface.
fn surface_id(object: &Object) -> String {
    frames::window_id(object).replacen('w', "s", 1)
}

fn title(top: &Top, window: Option<&Window>) -> Option<String> {
    let own = || top.native.name.known().filter(|t| !t.trim().is_empty()).cloned();
    window.map(|w| w.title.clone()).filter(|t| !t.is_empty()).or_else(own)
}

fn on_screen(top: &Top, toolkit: Toolkit) -> bool {
    let states = top.native.states_or_none();
    states.has(States::VISIBLE) && (states.has(States::SHOWING) || !toolkit.showing_is_reported())
}

/// What a top-level element is beside a window: an alert is a modal dialog, a sheet one that belongs to a window
/// (spec 5). A modal dialog that belongs to a window is both, and found under either name.
fn kinds_of_top(top: &Top, window: Option<&Window>, x: &[X11Window]) -> Vec<Surface> {
    let mut out = Vec::new();
    let dialog = matches!(
        top.native.role_number(),
        Some(n::DIALOG | n::ALERT | n::FILE_CHOOSER | n::COLOR_CHOOSER | n::FONT_CHOOSER | n::OPTION_PANE)
    );
    let modal = window.is_some_and(|w| w.modal.says_yes()) || top.native.states_or_none().has(States::MODAL);
    if modal || top.native.role_number() == Some(n::ALERT) {
        out.push(Surface::Alert);
    }
    let belongs = |w: &Window| {
        let same = |x: &&X11Window| {
            Some(windows::bounds(x)) == w.bounds.known().copied() && x.pid == i32::try_from(w.process.pid).ok()
        };
        x.iter().find(same).is_some_and(|x| x.transient_for.is_some())
    };
    if (dialog || modal) && window.is_some_and(belongs) {
        out.push(Surface::Sheet);
    }
    if window.is_some_and(|w| w.focused.says_yes()) {
        out.push(Surface::Focused);
    }
    out
}

/// Where states can't tell what is open, extents do: those of the children of menus, and of popovers.
fn item_extents(platform: &LinuxPlatform, toolkit: Toolkit, walk: &mut Walk<'_>, deadline: Deadline) {
    let jobs: Vec<(usize, Field)> = (0..walk.nodes.len())
        .filter(|at| walk.nodes[*at].parent.is_some_and(|p| is_menu(walk, p)) || is_popover(walk, toolkit, *at))
        .map(|at| (at, Field::Extents))
        .collect();
    flight::read(&platform.bus, toolkit, &mut walk.subjects, jobs, deadline);
}

fn is_popover(walk: &Walk<'_>, toolkit: Toolkit, at: usize) -> bool {
    let native = &walk.subjects[at].native;
    native.role_number().zip(native.name.known()).is_some_and(|(number, name)| toolkit.is_popover(number, name))
}

fn is_menu(walk: &Walk<'_>, at: usize) -> bool {
    matches!(walk.subjects[at].native.role_number(), Some(n::MENU | n::POPUP_MENU))
}

/// Open menus and menu bars inside a window.
fn found(walk: &Walk<'_>, toolkit: Toolkit) -> Vec<(Surface, usize)> {
    let shown = |at: usize| {
        let native = &walk.subjects[at].native;
        let states = native.states_or_none();
        if toolkit.showing_is_reported() {
            states.has(States::SHOWING) && states.has(States::VISIBLE)
        } else {
            native.extents.known().is_some_and(|e| !sentinel(*e))
        }
    };
    let mut out = Vec::new();
    for (at, node) in walk.nodes.iter().enumerate() {
        let native = &walk.subjects[at].native;
        match native.role_number() {
            Some(n::MENU_BAR) if native.states_or_none().has(States::VISIBLE) => out.push((Surface::Menubar, at)),
            // An entry of a menu bar is always on screen; its menu is open when its items are.
            Some(n::MENU | n::POPUP_MENU) if node.children.iter().any(|c| shown(*c)) && !in_closed_combo(walk, at) => {
                out.push((Surface::Menu, at));
            }
            _ if is_popover(walk, toolkit, at) && native.states_or_none().has(States::VISIBLE) && shown(at) => {
                out.push((Surface::Popover, at));
            }
            _ => {}
        }
    }
    out
}

/// Browsers list a closed combo box's chosen item as showing (seen in Firefox and Chromium).
fn in_closed_combo(walk: &Walk<'_>, at: usize) -> bool {
    walk.nodes[at].parent.is_some_and(|p| {
        let native = &walk.subjects[p].native;
        let states = native.states_or_none();
        native.role_number() == Some(n::COMBO_BOX) && states.has(States::EXPANDABLE) && !states.has(States::EXPANDED)
    })
}

fn nested(
    walk: &Walk<'_>,
    toolkit: Toolkit,
    above: &[Link],
    top: &Top,
    kind: Surface,
    at: usize,
    window: Option<&Window>,
) -> SurfaceInfo {
    let mut chain = Vec::new();
    let mut step = walk.nodes[at].parent;
    while let Some(p) = step {
        let index = if walk.nodes[p].parent.is_some() { walk.nodes[p].index } else { top.index };
        chain.push(Link { handle: walk.subjects[p].object.handle(), index });
        step = walk.nodes[p].parent;
    }
    chain.reverse();
    let subject = &walk.subjects[at];
    SurfaceInfo {
        id: surface_id(&subject.object),
        kind,
        title: label_text(&subject.native, toolkit).into_known().filter(|t| !t.trim().is_empty()),
        item_count: subject.native.child_count.known().copied(),
        root: subject.object.handle(),
        above: above.iter().cloned().chain(chain).collect(),
        index: if walk.nodes[at].parent.is_some() { walk.nodes[at].index } else { top.index },
        window_id: window.map(|w| w.id.clone()),
    }
}
