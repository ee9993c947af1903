//! Contents on their way to those who asked: at once where they fit into one request, else piece by piece (INCR,
//! ICCCM §2.7.2). Each goes at its requestor's pace; one that stops delays nobody else.

use super::atoms::Atoms;
use crate::x11::{Connection, X11Error};
use std::rc::Rc;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{Atom, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Window};
use x11rb::wrapper::ConnectionExt as _;

/// A requestor that takes no piece for so long has given up.
pub const STALLED: Duration = Duration::from_secs(10);

/// One content on its way.
#[derive(Debug)]
struct Transfer {
    requestor: Window,
    property: Atom,
    type_: Atom,
    bytes: Rc<[u8]>,
    sent: usize,
    end: Instant,
}

/// All that are on their way.
#[derive(Debug)]
pub struct Transfers {
    all: Vec<Transfer>,
    piece: usize,
}

impl Transfers {
    /// None yet; `piece` is the most that one request may carry.
    pub fn new(piece: usize) -> Transfers {
        Transfers { all: Vec::new(), piece }
    }

    /// Puts the content into the requestor's property, or begins to.
    pub fn send(
        &mut self,
        x: &Connection,
        a: &Atoms,
        requestor: Window,
        property: Atom,
        (type_, bytes): (Atom, &Rc<[u8]>),
    ) -> Result<(), X11Error> {
        self.all.retain(|t| (t.requestor, t.property) != (requestor, property));
        if bytes.len() <= self.piece {
            x.raw().change_property8(PropMode::REPLACE, requestor, property, type_, bytes)?;
            return Ok(());
        }
        // Before the property is there: its deletion must not be missed.
        let mask = EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY;
        x.raw().change_window_attributes(requestor, &ChangeWindowAttributesAux::new().event_mask(mask))?;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        x.raw().change_property32(PropMode::REPLACE, requestor, property, a.INCR, &[length])?;
        let end = Instant::now() + STALLED;
        self.all.push(Transfer { requestor, property, type_, bytes: bytes.clone(), sent: 0, end });
        Ok(())
    }

    /// The requestor took what was there: the next piece, or the empty one that ends it.
    pub fn taken(&mut self, x: &Connection, requestor: Window, property: Atom) -> Result<(), X11Error> {
        let Some(at) = self.all.iter().position(|t| (t.requestor, t.property) == (requestor, property)) else {
            return Ok(());
        };
        let t = &mut self.all[at];
        let next = &t.bytes[t.sent..];
        let next = &next[..next.len().min(self.piece)];
        x.raw().change_property8(PropMode::REPLACE, requestor, property, t.type_, next)?;
        t.sent += next.len();
        t.end = Instant::now() + STALLED;
        if next.is_empty() {
            self.all.remove(at);
            self.forget(x, requestor)?;
        }
        Ok(())
    }

    /// The requestor's window is gone.
    pub fn gone(&mut self, requestor: Window) {
        self.all.retain(|t| t.requestor != requestor);
    }

    /// Gives up those that stand still, and answers with when to look again.
    pub fn expire(&mut self, x: &Connection) -> Result<Option<Instant>, X11Error> {
        let now = Instant::now();
        let late: Vec<Window> = self.all.iter().filter(|t| t.end <= now).map(|t| t.requestor).collect();
        self.all.retain(|t| t.end > now);
        for requestor in late {
            self.forget(x, requestor)?;
        }
        Ok(self.all.iter().map(|t| t.end).min())
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// No more events of a window that waits for nothing.
    fn forget(&self, x: &Connection, requestor: Window) -> Result<(), X11Error> {
        if self.all.iter().all(|t| t.requestor != requestor) {
            let none = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
            x.raw().change_window_attributes(requestor, &none)?;
        }
        Ok(())
    }
}
