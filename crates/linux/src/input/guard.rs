//! What must hold right before an event: which window has the keyboard, which lies at the pointer, and that the window
//! is still the one of that process.

use super::talk::Stop;
use crate::process::names;
use crate::traits::process_life;
use crate::x11::atoms::Atoms;
use crate::x11::windows::class_of;
use crate::x11::{Connection, OVERLAY_CLASS, X11Error, property, xtest};
use agent_desktop_core::platform::ProcessLife;
use agent_desktop_core::platform::input::Guard;
use agent_desktop_core::platform::windows::WindowKey;
use serde::{Deserialize, Serialize};
use x11rb::CURRENT_TIME;
use x11rb::connection::RequestConnection;
use x11rb::protocol::res::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, GrabMode, GrabStatus, MapState, WindowClass};

/// How deep frames of window managers and wrappers of toolkits are nested at most.
const DEPTH: usize = 32;

/// A window that was found where another was expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its id.
    pub window: String,
    /// Its process.
    pub pid: Option<u32>,
    /// The process's name.
    pub app: Option<String>,
}

/// Asks the window tree.
#[derive(Debug)]
pub struct Tree<'a> {
    x: &'a Connection,
    atoms: Atoms,
    has_res: bool,
}

impl<'a> Tree<'a> {
    /// Ready to ask.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn new(x: &'a Connection) -> Result<Self, X11Error> {
        let atoms = Atoms::new(x.raw())?.reply().map_err(X11Error::from)?;
        let has_res = x.raw().extension_information(res::X11_EXTENSION_NAME)?.is_some();
        Ok(Self { x, atoms, has_res })
    }

    /// A window and what it lies in, up to below the root window. Empty where it is gone.
    pub fn chain(&self, window: u32) -> Result<Vec<u32>, X11Error> {
        let mut chain = Vec::new();
        let mut at = window;
        while at != 0 && at != self.x.root() && chain.len() < DEPTH {
            let parent = match self.x.raw().query_tree(at)?.reply() {
                Ok(reply) => reply.parent,
                Err(e) => return gone_or(e.into(), Vec::new()),
            };
            chain.push(at);
            at = parent;
        }
        Ok(chain)
    }

    /// The application's window in a child of the root window: the one that its manager marked, else itself.
    pub fn client_in(&self, top: u32) -> Result<u32, X11Error> {
        let mut row = vec![top];
        for _ in 0..4 {
            let mut below = Vec::new();
            for window in row {
                let state = self.x.raw().get_property(false, window, self.atoms.WM_STATE, AtomEnum::ANY, 0, 1)?;
                let tree = self.x.raw().query_tree(window)?;
                match state.reply() {
                    Ok(state) if state.type_ != 0 => {
                        let _ = tree.reply();
                        return Ok(window);
                    }
                    Ok(_) => {}
                    Err(e) => gone_or(e.into(), ())?,
                }
                match tree.reply() {
                    Ok(tree) => below.extend(tree.children),
                    Err(e) => gone_or(e.into(), ())?,
                }
            }
            row = below;
        }
        Ok(top)
    }

    /// The process of a window: from the server, which knows the other end of the connection, else as the window says.
    pub fn pid(&self, window: u32) -> Result<Option<u32>, X11Error> {
        if self.has_res {
            let spec = res::ClientIdSpec { client: window, mask: res::ClientIdMask::LOCAL_CLIENT_PID };
            let known = match self.x.raw().res_query_client_ids(&[spec])?.reply() {
                Ok(reply) => reply.ids.into_iter().find_map(|i| i.value.first().copied()).filter(|p| *p != 0),
                Err(e) => gone_or(e.into(), None)?,
            };
            if known.is_some() {
                return Ok(known);
            }
        }
        let said = self.x.raw().get_property(false, window, self.atoms._NET_WM_PID, AtomEnum::CARDINAL, 0, 1)?;
        match said.reply() {
            Ok(reply) => Ok(property::words(Some(&reply)).first().copied().filter(|p| *p != 0)),
            Err(e) => gone_or(e.into(), None),
        }
    }

    /// Whether a window floats above another of its process: a menu, a tooltip, a dialog.
    fn floats(&self, window: u32) -> Result<bool, X11Error> {
        let attributes = self.x.raw().get_window_attributes(window)?;
        let transient = self.x.raw().get_property(false, window, AtomEnum::WM_TRANSIENT_FOR, AtomEnum::WINDOW, 0, 1)?;
        let transient = match transient.reply() {
            Ok(reply) => !property::words(Some(&reply)).is_empty(),
            Err(e) => gone_or(e.into(), false)?,
        };
        match attributes.reply() {
            Ok(a) => Ok(a.map_state == MapState::VIEWABLE && (a.override_redirect || transient)),
            Err(e) => gone_or(e.into(), false),
        }
    }

    /// Whether a window is what a drag shows at the pointer: it takes no drop, toolkits look through it.
    fn is_drag_picture(&self, window: u32) -> Result<bool, X11Error> {
        let kind = self.x.raw().get_property(false, window, self.atoms._NET_WM_WINDOW_TYPE, AtomEnum::ATOM, 0, 16)?;
        match kind.reply() {
            Ok(kind) => Ok(property::words(Some(&kind)).contains(&self.atoms._NET_WM_WINDOW_TYPE_DND)),
            Err(e) => gone_or(e.into(), false),
        }
    }

    /// Whether a window shows an agent's cursor: no click and no drop goes to it.
    fn is_overlay(&self, window: u32) -> Result<bool, X11Error> {
        let class = self.x.raw().get_property(false, window, AtomEnum::WM_CLASS, AtomEnum::ANY, 0, 64)?;
        match class.reply() {
            Ok(class) => Ok(class_of(Some(&class)).as_deref() == Some(OVERLAY_CLASS)),
            Err(e) => gone_or(e.into(), false),
        }
    }

    /// The topmost child of the root window at a place, pictures of drags and agents' cursors left out; 0 where there is none.
    fn below_drag_picture(&self, (x, y): (i16, i16)) -> Result<u32, X11Error> {
        let children = self.x.raw().query_tree(self.x.root())?.reply()?.children;
        for window in children.into_iter().rev() {
            let geometry = self.x.raw().get_geometry(window)?;
            let attributes = self.x.raw().get_window_attributes(window)?;
            let (geometry, attributes) = match (geometry.reply(), attributes.reply()) {
                (Ok(geometry), Ok(attributes)) => (geometry, attributes),
                (Err(e), _) | (_, Err(e)) => {
                    gone_or(e.into(), ())?;
                    continue;
                }
            };
            let border = 2 * i32::from(geometry.border_width);
            let (dx, dy) = (i32::from(x) - i32::from(geometry.x), i32::from(y) - i32::from(geometry.y));
            let inside = (0..i32::from(geometry.width) + border).contains(&dx)
                && (0..i32::from(geometry.height) + border).contains(&dy);
            let shown = inside && attributes.map_state == MapState::VIEWABLE;
            if shown && !self.is_drag_picture(window)? && !self.is_overlay(window)? {
                return Ok(window);
            }
        }
        Ok(0)
    }

    /// How a window is called in an error.
    pub fn found(&self, window: u32) -> Option<Found> {
        let pid = self.pid(window).ok().flatten();
        let names = pid.and_then(|p| i32::try_from(p).ok()).map(names::names);
        let app = names.and_then(|n| n.best().map(str::to_owned));
        Some(Found { window: window.to_string(), pid, app })
    }
}

/// `Ok(otherwise)` where the window is gone.
fn gone_or<T>(e: X11Error, otherwise: T) -> Result<T, X11Error> {
    if e.is_gone() { Ok(otherwise) } else { Err(e) }
}

/// The guard of a sequence.
#[derive(Debug)]
pub struct Sentry<'a> {
    x: &'a Connection,
    tree: Tree<'a>,
    guard: Guard,
    /// The active window and the focus that were last found right.
    front: Option<(Option<u32>, u32)>,
    /// Whether that has changed since it was last asked about.
    moved: bool,
    ping: Option<Ping>,
}

/// What a ping is made of.
#[derive(Clone, Copy, Debug)]
pub struct Ping {
    /// `WM_PROTOCOLS`.
    pub protocols: u32,
    /// `_NET_WM_PING`.
    pub ping: u32,
    /// Stands where the time stands, and comes back.
    pub token: u32,
}

impl<'a> Sentry<'a> {
    /// A guard that holds nothing yet.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn new(x: &'a Connection) -> Result<Self, X11Error> {
        Ok(Self { x, tree: Tree::new(x)?, guard: Guard::default(), front: None, moved: false, ping: None })
    }

    /// Takes the first guard. Where the pointer is doesn't count yet: the sequence has still to bring it there.
    ///
    /// # Errors
    /// What doesn't hold.
    pub fn begin(&mut self, guard: &Guard) -> Result<(), Stop> {
        self.guard = guard.clone();
        self.front = None;
        for key in [&guard.front, &guard.under].into_iter().flatten() {
            self.corroborate(key)?;
        }
        self.check_front()?;
        match &guard.front {
            Some(front) => self.check_grab(front),
            None => Ok(()),
        }
    }

    /// Whether another process's popup holds the keyboard: then keys go there, whichever window is in front. X tells who
    /// has a grab only by refusing another one, so that is asked for where such a popup is on the screen.
    fn check_grab(&self, front: &WindowKey) -> Result<(), Stop> {
        let raw = self.x.raw();
        let tree = raw.query_tree(self.x.root()).map_err(X11Error::from)?.reply().map_err(X11Error::from)?;
        let mut foreign = None;
        for window in tree.children {
            let attributes = match raw.get_window_attributes(window).map_err(X11Error::from)?.reply() {
                Ok(attributes) => attributes,
                Err(e) => {
                    gone_or(e.into(), ())?;
                    continue;
                }
            };
            let shown = attributes.map_state == MapState::VIEWABLE && attributes.class == WindowClass::INPUT_OUTPUT;
            if !attributes.override_redirect || !shown || self.tree.is_overlay(window)? {
                continue;
            }
            match self.tree.pid(window)? {
                // Its own menu takes the keys that are meant for it.
                Some(pid) if pid == front.process.pid => return Ok(()),
                _ => foreign = Some(window),
            }
        }
        let Some(popup) = foreign else { return Ok(()) };
        let asked = raw.grab_keyboard(true, self.x.root(), CURRENT_TIME, GrabMode::ASYNC, GrabMode::ASYNC);
        match asked.map_err(X11Error::from)?.reply().map_err(X11Error::from)?.status {
            GrabStatus::ALREADY_GRABBED | GrabStatus::FROZEN => Err(Stop::Grabbed(self.tree.found(popup))),
            GrabStatus::SUCCESS => {
                raw.ungrab_keyboard(CURRENT_TIME).map_err(X11Error::from)?;
                Ok(xtest::sync(self.x)?)
            }
            _ => Ok(()),
        }
    }

    /// Takes another guard and checks it.
    ///
    /// # Errors
    /// What doesn't hold.
    pub fn expect(&mut self, guard: &Guard) -> Result<(), Stop> {
        self.guard = guard.clone();
        self.front = None;
        self.check()
    }

    /// The atoms of a ping.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn ping_atoms(&mut self) -> Result<Ping, Stop> {
        if let Some(ping) = &mut self.ping {
            ping.token = ping.token.wrapping_add(1);
            return Ok(*ping);
        }
        let ask = |name: &[u8]| self.x.raw().intern_atom(false, name).map_err(X11Error::from);
        let (protocols, ping) = (ask(b"WM_PROTOCOLS")?, ask(b"_NET_WM_PING")?);
        let ping = Ping {
            protocols: protocols.reply().map_err(X11Error::from)?.atom,
            ping: ping.reply().map_err(X11Error::from)?.atom,
            // Not a time that the window manager could have sent: it must not take our answer for its own.
            token: 0xad00_0000 | (std::process::id() & 0xff) << 16,
        };
        self.ping = Some(ping);
        Ok(ping)
    }

    /// The window that has or must have the keyboard: whose queue the text goes through.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn receiver(&self) -> Result<Option<u32>, Stop> {
        if let Some(front) = &self.guard.front {
            return Ok(front.id.parse().ok());
        }
        let focus = self.x.raw().get_input_focus().map_err(X11Error::from)?.reply().map_err(X11Error::from)?.focus;
        let chain = if focus > 1 { self.tree.chain(focus)? } else { Vec::new() };
        let Some(top) = chain.last() else { return Ok(None) };
        let client = self.tree.client_in(*top)?;
        Ok(Some(client))
    }

    /// Everything that must hold, process generations included.
    ///
    /// # Errors
    /// What doesn't hold.
    pub fn check(&mut self) -> Result<(), Stop> {
        let guard = self.guard.clone();
        for key in [&guard.front, &guard.under].into_iter().flatten() {
            self.corroborate(key)?;
        }
        self.check_front()?;
        match &guard.under {
            Some(under) => self.check_under(under),
            None => Ok(()),
        }
    }

    /// Only what can change by itself between two characters: which window has the keyboard. One round trip, which
    /// also acknowledges what was sent before.
    ///
    /// # Errors
    /// What doesn't hold.
    pub fn check_front(&mut self) -> Result<(), Stop> {
        let Some(key) = self.guard.front.clone() else { return Ok(xtest::sync(self.x)?) };
        let front = id_of(&key)?;
        let active =
            self.x.raw().get_property(false, self.x.root(), self.tree.atoms._NET_ACTIVE_WINDOW, AtomEnum::WINDOW, 0, 1);
        let active = active.map_err(X11Error::from)?;
        let focus = self.x.raw().get_input_focus().map_err(X11Error::from)?;
        let active = active.reply().map_err(X11Error::from)?;
        let focus = focus.reply().map_err(X11Error::from)?.focus;
        // A window manager that keeps no such property leaves the focus alone to tell.
        let active = (active.type_ != 0).then(|| property::words(Some(&active)).first().copied().unwrap_or_default());
        if self.front == Some((active, focus)) && focus > 1 {
            return Ok(());
        }
        let chain = match focus {
            0 => Vec::new(),
            // The focus follows the pointer.
            1 => self.tree.chain(self.deepest()?)?,
            _ => self.tree.chain(focus)?,
        };
        let mut right = chain.contains(&front) && active.is_none_or(|a| a == front);
        if !right && active.is_none_or(|a| a == front) {
            // Some popups take the keyboard while their window stays the active one.
            right = match chain.last() {
                Some(top) => self.tree.pid(*top)? == Some(key.process.pid) && self.tree.floats(*top)?,
                None => false,
            };
        }
        if right {
            self.moved |= self.front.replace((active, focus)).is_some();
            return Ok(());
        }
        let other = match active {
            Some(active) if active != 0 && active != front => Some(active),
            _ => match chain.last() {
                Some(top) => Some(self.tree.client_in(*top)?),
                None => None,
            },
        };
        Err(Stop::NotInFront(other.and_then(|w| self.tree.found(w))))
    }

    /// Whether the keyboard has passed to another window that is as right, since this was last asked.
    pub fn has_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }

    fn check_under(&self, key: &WindowKey) -> Result<(), Stop> {
        let client = id_of(key)?;
        let at = xtest::pointer(self.x)?;
        let mut top = at.child;
        if top != 0 && self.tree.is_drag_picture(top)? {
            top = self.tree.below_drag_picture((at.root_x, at.root_y))?;
        }
        if top == 0 {
            return Err(Stop::Covered(None));
        }
        if self.tree.chain(client)?.last() == Some(&top) {
            return Ok(());
        }
        let lies = self.tree.client_in(top)?;
        if self.tree.pid(lies)? == Some(key.process.pid) && self.tree.floats(lies)? {
            return Ok(());
        }
        Err(Stop::Covered(self.tree.found(lies)))
    }

    /// The id may have been used again, for another window or by another process.
    fn corroborate(&self, key: &WindowKey) -> Result<(), Stop> {
        match process_life(&key.process) {
            ProcessLife::Alive => {}
            ProcessLife::Gone | ProcessLife::OtherGeneration => return Err(Stop::Gone),
            ProcessLife::Unknown(_) => return Err(Stop::Display("the window's process can't be read".to_owned())),
        }
        let window = id_of(key)?;
        if self.tree.chain(window)?.is_empty() || self.tree.pid(window)? != Some(key.process.pid) {
            return Err(Stop::Gone);
        }
        Ok(())
    }

    /// The window at the pointer, as deep as it goes.
    fn deepest(&self) -> Result<u32, X11Error> {
        let mut at = self.x.root();
        for _ in 0..DEPTH {
            let child = self.x.raw().query_pointer(at)?.reply()?.child;
            if child == 0 {
                break;
            }
            at = child;
        }
        Ok(at)
    }
}

/// The X11 window of a key.
///
/// # Errors
/// `Gone`: no window of ours ever had such an id.
pub fn id_of(key: &WindowKey) -> Result<u32, Stop> {
    key.id.parse().map_err(|_| Stop::Gone)
}
