//! Requests to the window manager (EWMH, ICCCM). It answers none of them: what it did is to be read.

use super::atoms::Atoms;
use super::connection::Connection;
use super::error::X11Error;
use super::property;
use super::windows::{Extents, X11Window};
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    WindowClass,
};

/// The source of a request that a user makes by a pager, not by the application itself (EWMH "Source indication"):
/// window managers that keep applications from taking the focus do what such a request says.
const PAGER: u32 = 2;
/// ICCCM's iconic state.
const ICONIC: u32 = 3;
/// The gravity that means: the place given is that of the frame's upper left corner. Static gravity would name the
/// client's own, but openbox 3.6 is off by its frame's border there (measured).
const NORTH_WEST: u32 = 1;
/// The parts of a window's place that a request gives.
const X: u32 = 1 << 8;
const Y: u32 = 1 << 9;
const WIDTH: u32 = 1 << 10;
const HEIGHT: u32 = 1 << 11;

/// The window manager that runs, and what it says it can do.
#[derive(Debug)]
pub struct Manager {
    atoms: Atoms,
    supported: Vec<u32>,
}

/// One request for one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// To the front, with the keyboard; out of the icon too.
    Activate,
    /// The client's place on the root window.
    Place {
        /// Left edge.
        x: i32,
        /// Upper edge.
        y: i32,
    },
    /// The client's size.
    Size {
        /// Width.
        width: u32,
        /// Height.
        height: u32,
    },
    /// Into the icon.
    Iconify,
    /// As large as the screen allows, or no longer.
    Maximized(bool),
    /// No longer full screen.
    NotFullscreen,
}

/// The window manager of the display; none where none runs. A check window that outlived its manager is none: the
/// property on the window itself must point to it (EWMH "_NET_SUPPORTING_WM_CHECK").
///
/// # Errors
/// `Timeout`, `Disconnected`, `Protocol`.
pub fn manager(x: &Connection) -> Result<Option<Manager>, X11Error> {
    let atoms = Atoms::new(x.raw())?.reply()?;
    let check = |of: u32| -> Result<Option<u32>, X11Error> {
        let reply = x.raw().get_property(false, of, atoms._NET_SUPPORTING_WM_CHECK, AtomEnum::ANY, 0, 1)?.reply();
        match reply.map_err(X11Error::from) {
            Ok(reply) => Ok(property::words(Some(&reply)).first().copied().filter(|w| *w != 0)),
            Err(e) if e.is_gone() => Ok(None),
            Err(e) => Err(e),
        }
    };
    let Some(window) = check(x.root())? else { return Ok(None) };
    if check(window)? != Some(window) {
        return Ok(None);
    }
    let supported = x.raw().get_property(false, x.root(), atoms._NET_SUPPORTED, AtomEnum::ANY, 0, 1 << 16)?.reply()?;
    Ok(Some(Manager { atoms, supported: property::words(Some(&supported)) }))
}

impl Manager {
    /// What this window manager would need for the request and doesn't say it has.
    pub fn lacks(&self, request: Request) -> Option<&'static str> {
        let a = &self.atoms;
        let (atom, name) = match request {
            Request::Activate => (a._NET_ACTIVE_WINDOW, "_NET_ACTIVE_WINDOW"),
            Request::Maximized(_) => (a._NET_WM_STATE_MAXIMIZED_VERT, "_NET_WM_STATE_MAXIMIZED_VERT"),
            Request::NotFullscreen => (a._NET_WM_STATE_FULLSCREEN, "_NET_WM_STATE_FULLSCREEN"),
            // ICCCM has those without EWMH.
            Request::Place { .. } | Request::Size { .. } | Request::Iconify => return None,
        };
        (!self.supported.contains(&atom)).then_some(name)
    }

    /// Waits until the window manager has worked off everything that was sent before. It handles messages in order, and
    /// answers this one: how wide a frame it would draw around a window of ours that is never shown (EWMH
    /// `_NET_REQUEST_FRAME_EXTENTS`). False where it doesn't have that message.
    ///
    /// # Errors
    /// `Timeout` where it doesn't answer until the connection's deadline; `Disconnected`, `Protocol`.
    pub fn catch_up(&self, x: &Connection) -> Result<bool, X11Error> {
        let a = &self.atoms;
        if !self.supported.contains(&a._NET_REQUEST_FRAME_EXTENTS) {
            return Ok(false);
        }
        let c = x.raw();
        let window = c.generate_id()?;
        let options = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_OUTPUT;
        c.create_window(COPY_DEPTH_FROM_PARENT, window, x.root(), -10, -10, 1, 1, 0, class, 0, &options)?.check()?;
        tell(x, window, a._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
        wait_for_property(x, window, a._NET_FRAME_EXTENTS)?;
        c.destroy_window(window)?.check()?;
        Ok(true)
    }

    /// Sends the request. Returns when the server has taken it.
    ///
    /// # Errors
    /// `Timeout`, `Disconnected`, `Protocol`. After `Timeout` or `Disconnected` it may have been sent.
    pub fn send(&self, x: &Connection, window: &X11Window, request: Request) -> Result<(), X11Error> {
        let a = &self.atoms;
        let client = window.client;
        match request {
            Request::Activate => {
                let time = server_time(x, a)?;
                tell(x, client, a._NET_ACTIVE_WINDOW, [PAGER, time, 0, 0, 0])
            }
            Request::Place { x: left, y: top } if self.supported.contains(&a._NET_MOVERESIZE_WINDOW) => {
                let flags = NORTH_WEST | X | Y | PAGER << 12;
                let (dx, dy) = frame_point(NORTH_WEST, window.frame_extents.unwrap_or_default());
                tell(x, client, a._NET_MOVERESIZE_WINDOW, [flags, (left + dx) as u32, (top + dy) as u32, 0, 0])
            }
            Request::Size { width, height } if self.supported.contains(&a._NET_MOVERESIZE_WINDOW) => {
                let flags = NORTH_WEST | WIDTH | HEIGHT | PAGER << 12;
                tell(x, client, a._NET_MOVERESIZE_WINDOW, [flags, 0, 0, width, height])
            }
            Request::Place { x: left, y: top } => {
                let gravity = win_gravity(x, client)?;
                let (dx, dy) = frame_point(gravity, window.frame_extents.unwrap_or_default());
                let change = ConfigureWindowAux::new().x(left + dx).y(top + dy);
                Ok(x.raw().configure_window(client, &change)?.check()?)
            }
            Request::Size { width, height } => {
                let change = ConfigureWindowAux::new().width(width).height(height);
                Ok(x.raw().configure_window(client, &change)?.check()?)
            }
            Request::Iconify => tell(x, client, a.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0]),
            Request::Maximized(on) => {
                let both = [a._NET_WM_STATE_MAXIMIZED_VERT, a._NET_WM_STATE_MAXIMIZED_HORZ];
                tell(x, client, a._NET_WM_STATE, [u32::from(on), both[0], both[1], PAGER, 0])
            }
            Request::NotFullscreen => tell(x, client, a._NET_WM_STATE, [0, a._NET_WM_STATE_FULLSCREEN, 0, PAGER, 0]),
        }
    }
}

/// A message about a client to whoever manages the root window.
fn tell(x: &Connection, client: u32, message: u32, data: [u32; 5]) -> Result<(), X11Error> {
    let event = ClientMessageEvent::new(32, client, message, data);
    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    Ok(x.raw().send_event(false, x.root(), mask, event)?.check()?)
}

/// The server's time now: a change of a property on a window of our own comes back with it. Window managers with focus
/// stealing prevention compare it with the last time that the user did something; "now" as zero doesn't count there.
///
/// # Errors
/// `Timeout`, `Disconnected`, `Protocol`.
fn server_time(x: &Connection, a: &Atoms) -> Result<u32, X11Error> {
    let c = x.raw();
    let window = c.generate_id()?;
    let options = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::PROPERTY_CHANGE);
    let class = WindowClass::INPUT_ONLY;
    c.create_window(COPY_DEPTH_FROM_PARENT, window, x.root(), -10, -10, 1, 1, 0, class, 0, &options)?.check()?;
    c.change_property(PropMode::APPEND, window, a._NET_WM_NAME, a.UTF8_STRING, 8, 0, &[])?.check()?;
    let time = wait_for_property(x, window, a._NET_WM_NAME)?;
    c.destroy_window(window)?.check()?;
    Ok(time)
}

/// When the property of a window of ours changed, in the server's time.
fn wait_for_property(x: &Connection, window: u32, property: u32) -> Result<u32, X11Error> {
    loop {
        match x.raw().wait_for_event()? {
            Event::PropertyNotify(e) if e.window == window && e.atom == property => return Ok(e.time),
            // Errors and events that an earlier request of ours left behind.
            _ => {}
        }
    }
}

/// The gravity that the client asks for (ICCCM `WM_NORMAL_HINTS`); north-west where it asks for none.
fn win_gravity(x: &Connection, client: u32) -> Result<u32, X11Error> {
    const HAS_GRAVITY: u32 = 1 << 9;
    let hints = x.raw().get_property(false, client, AtomEnum::WM_NORMAL_HINTS, AtomEnum::ANY, 0, 18)?.reply()?;
    let words = property::words(Some(&hints));
    let flags = words.first().copied().unwrap_or_default();
    Ok(words.get(17).copied().filter(|_| flags & HAS_GRAVITY != 0).unwrap_or(NORTH_WEST))
}

/// How far the point that a client's own move request means lies from the client's place: window managers take it for the
/// frame's corner, side or middle, by the gravity (ICCCM §4.1.2.3).
fn frame_point(gravity: u32, frame: Extents) -> (i32, i32) {
    let by = |third: u32, before: u32, after: u32| {
        let (before, after) = (before as i32, after as i32);
        match third {
            0 => -before,
            1 => (after - before) / 2,
            _ => after,
        }
    };
    match gravity {
        1..=9 => {
            let at = gravity - 1;
            (by(at % 3, frame.left, frame.right), by(at / 3, frame.top, frame.bottom))
        }
        _ => (0, 0),
    }
}

/// Whether the input focus lies in this client or in a window below it.
///
/// # Errors
/// `Timeout`, `Disconnected`, `Protocol`.
pub fn has_keyboard(x: &Connection, client: u32) -> Result<bool, X11Error> {
    let mut at = x.raw().get_input_focus()?.reply()?.focus;
    // 0 is nobody, 1 whatever the pointer is over.
    while at > 1 && at != x.root() {
        if at == client {
            return Ok(true);
        }
        match x.raw().query_tree(at)?.reply().map_err(X11Error::from) {
            Ok(tree) => at = tree.parent,
            Err(e) if e.is_gone() => return Ok(false),
            Err(e) => return Err(e),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gravity_tells_which_point_of_the_frame_is_meant() {
        let frame = Extents { left: 4, right: 6, top: 20, bottom: 8 };
        assert_eq!(frame_point(1, frame), (-4, -20), "north-west");
        assert_eq!(frame_point(5, frame), (1, -6), "centre");
        assert_eq!(frame_point(9, frame), (6, 8), "south-east");
        assert_eq!(frame_point(10, frame), (0, 0), "static");
        assert_eq!(frame_point(0, frame), (0, 0));
    }
}
