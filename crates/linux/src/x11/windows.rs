//! The windows that a window manager manages, read in three flights whatever their number.

use super::atoms::Atoms;
use super::connection::Connection;
use super::error::X11Error;
use super::property;
use serde::{Deserialize, Serialize};
use x11rb::connection::RequestConnection;
use x11rb::cookie::Cookie;
use x11rb::errors::ReplyError;
use x11rb::protocol::res::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply, GetWindowAttributesReply, MapState,
    TranslateCoordinatesReply, WindowClass,
};
use x11rb::x11_utils::TryParse;

/// A rectangle in pixels of the root window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// What stands around a window on each side, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Extents {
    /// Left.
    pub left: u32,
    /// Right.
    pub right: u32,
    /// Above.
    pub top: u32,
    /// Below.
    pub bottom: u32,
}

/// What kind of window the application says it is (EWMH `_NET_WM_WINDOW_TYPE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of EWMH")]
pub enum WindowType {
    Desktop,
    Dock,
    Toolbar,
    Menu,
    Utility,
    Splash,
    Dialog,
    DropdownMenu,
    PopupMenu,
    Tooltip,
    Notification,
    Combo,
    Dnd,
    Normal,
}

/// A managed window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct X11Window {
    /// The application's own window, not the frame around it.
    pub client: u32,
    /// The process: from the X server (which knows the other end of the connection), else `_NET_WM_PID` of a window of
    /// this machine.
    pub pid: Option<i32>,
    /// `_NET_WM_NAME`, else `WM_NAME`.
    pub title: Option<String>,
    /// Class of `WM_CLASS`.
    pub class: Option<String>,
    /// The client's place on the root window, without the frame.
    pub bounds: Rect,
    /// Frame that the window manager drew around it.
    pub frame_extents: Option<Extents>,
    /// Shadow that GTK drew inside the client around what looks like the window.
    pub gtk_frame_extents: Option<Extents>,
    /// Minimised. Not simply unmapped: windows of another workspace are not minimised.
    pub minimized: bool,
    /// Maximised in both directions.
    pub maximized: bool,
    /// Full screen.
    pub fullscreen: bool,
    /// Modal for the window it is transient for.
    pub modal: bool,
    /// The window manager's active window.
    pub is_active: bool,
    /// Mapped with all its ancestors; other windows may still cover it.
    pub viewable: bool,
    /// On the workspace that is shown, or on all; `None` without workspaces.
    pub on_current_workspace: Option<bool>,
    /// The window it belongs to.
    pub transient_for: Option<u32>,
    /// Kind; as EWMH says, a window without one is a dialog when it is transient, else normal.
    pub window_type: WindowType,
}

/// The class of the windows that show an agent's cursor. They are no popups of anybody, and cover nothing.
pub const OVERLAY_CLASS: &str = "agent-desktop-overlay";

/// What was read of one window.
#[derive(Debug, Default)]
struct Raw {
    client: u32,
    geometry: GetGeometryReply,
    position: TranslateCoordinatesReply,
    attributes: GetWindowAttributesReply,
    properties: [Option<GetPropertyReply>; PROPERTIES],
    connection_pid: Option<u32>,
}

const PROPERTIES: usize = 11;

/// The properties of a window in the order of [`Raw::properties`].
fn wanted(a: &Atoms) -> [u32; PROPERTIES] {
    [
        a._NET_WM_NAME,
        AtomEnum::WM_NAME.into(),
        AtomEnum::WM_CLASS.into(),
        a._NET_WM_PID,
        a.WM_CLIENT_MACHINE,
        a._NET_WM_STATE,
        a.WM_STATE,
        AtomEnum::WM_TRANSIENT_FOR.into(),
        a._NET_WM_WINDOW_TYPE,
        a._NET_WM_DESKTOP,
        a._NET_FRAME_EXTENTS,
    ]
}

/// What was read of the root window.
#[derive(Debug, Default)]
struct Root {
    clients: Vec<u32>,
    active: Option<u32>,
    workspace: Option<u32>,
    /// The window manager marks minimised windows with `_NET_WM_STATE_HIDDEN`.
    marks_hidden: bool,
    host: String,
}

/// All managed windows, the lowest first. A window that ends while it is read is left out.
///
/// Without a window manager: the mapped children of the root window that don't ask to be left alone.
///
/// # Errors
/// Only when the server can't be read at all: `Timeout`, `Disconnected`, `Protocol`.
pub fn windows(x: &Connection) -> Result<Vec<X11Window>, X11Error> {
    // Asked before the flights, in one with the atoms: the first question for an extension waits for an answer.
    x.raw().prefetch_extension_information(res::X11_EXTENSION_NAME)?;
    let atoms = Atoms::new(x.raw())?.reply()?;
    let has_res = x.raw().extension_information(res::X11_EXTENSION_NAME)?.is_some();
    let root = read_root(x, &atoms)?;
    let managed = !root.clients.is_empty() || root.marks_hidden;
    let clients = if managed { root.clients.clone() } else { children(x)? };
    let mut found = Vec::new();
    for (raw, gtk) in read_all(x, &atoms, &clients, has_res)? {
        if managed || (raw.attributes.map_state == MapState::VIEWABLE && !raw.attributes.override_redirect) {
            found.push(interpret(&raw, gtk.as_ref(), &atoms, &root));
        }
    }
    Ok(found)
}

/// The windows on the screen that asked the window manager to leave them alone: menus, lists, tooltips; the lowest first.
///
/// # Errors
/// Only when the server can't be read.
pub fn popups(x: &Connection) -> Result<Vec<X11Window>, X11Error> {
    x.raw().prefetch_extension_information(res::X11_EXTENSION_NAME)?;
    let atoms = Atoms::new(x.raw())?.reply()?;
    let has_res = x.raw().extension_information(res::X11_EXTENSION_NAME)?.is_some();
    let root = read_root(x, &atoms)?;
    let screen = x.raw().get_geometry(x.root())?.reply()?;
    let screen = Rect { x: 0, y: 0, width: screen.width.into(), height: screen.height.into() };
    let mut found = Vec::new();
    for (raw, gtk) in read_all(x, &atoms, &children(x)?, has_res)? {
        let a = &raw.attributes;
        // Toolkits keep windows that show nothing: for input alone, or off the screen.
        if a.override_redirect && a.map_state == MapState::VIEWABLE && a.class == WindowClass::INPUT_OUTPUT {
            let window = interpret(&raw, gtk.as_ref(), &atoms, &root);
            let ours = window.class.as_deref() == Some(OVERLAY_CLASS);
            if !ours && super::cover::shared(window.bounds, screen).is_some_and(|r| r.width > 1 && r.height > 1) {
                found.push(window);
            }
        }
    }
    Ok(found)
}

/// The window manager's active window; `None` when no window is active or no window manager runs.
pub fn active_window(x: &Connection) -> Result<Option<u32>, X11Error> {
    let atom = x.raw().intern_atom(false, b"_NET_ACTIVE_WINDOW")?.reply()?.atom;
    let reply = x.raw().get_property(false, x.root(), atom, AtomEnum::WINDOW, 0, 1)?.reply()?;
    Ok(property::words(Some(&reply)).first().copied().filter(|w| *w != 0))
}

fn read_root(x: &Connection, a: &Atoms) -> Result<Root, X11Error> {
    let ask = |name| x.raw().get_property(false, x.root(), name, AtomEnum::ANY, 0, 1 << 16);
    let cookies = [
        ask(a._NET_CLIENT_LIST_STACKING)?,
        ask(a._NET_CLIENT_LIST)?,
        ask(a._NET_ACTIVE_WINDOW)?,
        ask(a._NET_CURRENT_DESKTOP)?,
        ask(a._NET_SUPPORTED)?,
    ];
    let mut replies = Vec::with_capacity(cookies.len());
    for cookie in cookies {
        replies.push(property::words(Some(&cookie.reply()?)));
    }
    let first = |i: usize| replies.get(i).and_then(|w: &Vec<u32>| w.first()).copied();
    Ok(Root {
        active: first(2).filter(|w| *w != 0),
        workspace: first(3),
        marks_hidden: replies.get(4).is_some_and(|s| s.contains(&a._NET_WM_STATE_HIDDEN)),
        clients: order(replies.first().map_or(&[], Vec::as_slice), replies.get(1).map_or(&[], Vec::as_slice)),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    })
}

/// The stacking order; a window manager may put new windows into the other list first. Those count as lowest.
fn order(stacking: &[u32], listed: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = listed.iter().copied().filter(|w| !stacking.contains(w)).collect();
    all.extend(stacking);
    all
}

fn children(x: &Connection) -> Result<Vec<u32>, X11Error> {
    Ok(x.raw().query_tree(x.root())?.reply()?.children)
}

/// `Ok(None)`: the object is gone. Errors of the connection stay errors.
fn unless_gone<R, C>(cookie: Cookie<'_, C, R>) -> Result<Option<R>, X11Error>
where
    R: TryParse,
    C: RequestConnection + ?Sized,
{
    match cookie.reply() {
        Ok(r) => Ok(Some(r)),
        // Whatever the server has against this one window, the others can be read.
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn read_all(
    x: &Connection,
    a: &Atoms,
    clients: &[u32],
    has_res: bool,
) -> Result<Vec<(Raw, Option<GetPropertyReply>)>, X11Error> {
    let c = x.raw();
    let names = wanted(a);
    let mut asked = Vec::with_capacity(clients.len());
    for w in clients.iter().copied() {
        let ask = |name| c.get_property(false, w, name, AtomEnum::ANY, 0, 1024);
        let mut properties = Vec::with_capacity(PROPERTIES);
        for name in names {
            properties.push(ask(name)?);
        }
        let spec = res::ClientIdSpec { client: w, mask: res::ClientIdMask::LOCAL_CLIENT_PID };
        asked.push((
            c.get_geometry(w)?,
            c.translate_coordinates(w, x.root(), 0, 0)?,
            c.get_window_attributes(w)?,
            properties,
            ask(a._GTK_FRAME_EXTENTS)?,
            if has_res { Some(c.res_query_client_ids(&[spec])?) } else { None },
        ));
    }
    let mut found = Vec::with_capacity(clients.len());
    for (client, (geometry, position, attributes, properties, gtk, pid)) in clients.iter().copied().zip(asked) {
        // Every reply is taken, also of a window that is gone, or its errors would turn up among the events.
        let (geometry, position, attributes) =
            (unless_gone(geometry)?, unless_gone(position)?, unless_gone(attributes)?);
        let mut raw = Raw { client, ..Raw::default() };
        for (slot, cookie) in raw.properties.iter_mut().zip(properties) {
            *slot = unless_gone(cookie)?;
        }
        let gtk = unless_gone(gtk)?;
        if let Some(cookie) = pid {
            raw.connection_pid = unless_gone(cookie)?
                .and_then(|r| r.ids.into_iter().find_map(|i| i.value.first().copied()))
                .filter(|p| *p != 0);
        }
        if let (Some(geometry), Some(position), Some(attributes)) = (geometry, position, attributes) {
            (raw.geometry, raw.position, raw.attributes) = (geometry, position, attributes);
            found.push((raw, gtk));
        }
    }
    Ok(found)
}

/// The rules over what was read.
fn interpret(raw: &Raw, gtk: Option<&GetPropertyReply>, a: &Atoms, root: &Root) -> X11Window {
    let [name, wm_name, class, pid, machine, state, wm_state, transient, kind, workspace, frame] =
        raw.properties.each_ref().map(Option::as_ref);
    let states = property::words(state);
    let has = |atom: u32| states.contains(&atom);
    let first = |reply| property::words(reply).first().copied();
    let transient_for = first(transient).filter(|w| *w != 0 && *w != raw.client);
    // ICCCM's iconic state alone means little: window managers use it for other workspaces and shaded windows too.
    const ICONIC: u32 = 3;
    let minimized = if root.marks_hidden { has(a._NET_WM_STATE_HIDDEN) } else { first(wm_state) == Some(ICONIC) };
    let local = property::text(machine).is_none_or(|m| m == root.host || m == "localhost");
    let said = first(pid).filter(|p| *p != 0 && local);
    X11Window {
        client: raw.client,
        pid: raw.connection_pid.or(said).and_then(|p| i32::try_from(p).ok()),
        title: property::text(name).or_else(|| property::text(wm_name)),
        class: class_of(class),
        bounds: Rect {
            x: raw.position.dst_x.into(),
            y: raw.position.dst_y.into(),
            width: raw.geometry.width.into(),
            height: raw.geometry.height.into(),
        },
        frame_extents: extents(frame),
        gtk_frame_extents: extents(gtk),
        minimized,
        maximized: has(a._NET_WM_STATE_MAXIMIZED_VERT) && has(a._NET_WM_STATE_MAXIMIZED_HORZ),
        fullscreen: has(a._NET_WM_STATE_FULLSCREEN),
        modal: has(a._NET_WM_STATE_MODAL),
        is_active: root.active == Some(raw.client),
        viewable: raw.attributes.map_state == MapState::VIEWABLE,
        on_current_workspace: root
            .workspace
            .and_then(|current| first(workspace).map(|w| w == current || w == u32::MAX)),
        transient_for,
        window_type: property::words(kind)
            .into_iter()
            .find_map(|atom| type_of(atom, a))
            .unwrap_or(if transient_for.is_some() { WindowType::Dialog } else { WindowType::Normal }),
    }
}

/// `WM_CLASS` is two texts, each with a zero byte: instance and class.
pub(crate) fn class_of(reply: Option<&GetPropertyReply>) -> Option<String> {
    let bytes = &reply.filter(|r| r.format == 8)?.value;
    let class = bytes.split(|b| *b == 0).nth(1).filter(|c| !c.is_empty())?;
    Some(String::from_utf8_lossy(class).into_owned())
}

fn extents(reply: Option<&GetPropertyReply>) -> Option<Extents> {
    match property::words(reply)[..] {
        [left, right, top, bottom, ..] => Some(Extents { left, right, top, bottom }),
        _ => None,
    }
}

/// The first type in the list that is known counts (EWMH).
fn type_of(atom: u32, a: &Atoms) -> Option<WindowType> {
    use WindowType as T;
    let table = [
        (a._NET_WM_WINDOW_TYPE_DESKTOP, T::Desktop),
        (a._NET_WM_WINDOW_TYPE_DOCK, T::Dock),
        (a._NET_WM_WINDOW_TYPE_TOOLBAR, T::Toolbar),
        (a._NET_WM_WINDOW_TYPE_MENU, T::Menu),
        (a._NET_WM_WINDOW_TYPE_UTILITY, T::Utility),
        (a._NET_WM_WINDOW_TYPE_SPLASH, T::Splash),
        (a._NET_WM_WINDOW_TYPE_DIALOG, T::Dialog),
        (a._NET_WM_WINDOW_TYPE_DROPDOWN_MENU, T::DropdownMenu),
        (a._NET_WM_WINDOW_TYPE_POPUP_MENU, T::PopupMenu),
        (a._NET_WM_WINDOW_TYPE_TOOLTIP, T::Tooltip),
        (a._NET_WM_WINDOW_TYPE_NOTIFICATION, T::Notification),
        (a._NET_WM_WINDOW_TYPE_COMBO, T::Combo),
        (a._NET_WM_WINDOW_TYPE_DND, T::Dnd),
        (a._NET_WM_WINDOW_TYPE_NORMAL, T::Normal),
    ];
    table.into_iter().find(|(known, _)| *known == atom).map(|(_, t)| t)
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
