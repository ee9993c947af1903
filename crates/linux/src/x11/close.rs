//! Asking a window to close, as its own close button does (ICCCM `WM_DELETE_WINDOW`).

use super::connection::Connection;
use super::error::X11Error;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask};

/// Asks the client to close. `false` where it does not take part in that protocol; nothing was sent then.
///
/// # Errors
/// Any error of the X server; one that [`X11Error::is_gone`] means that the window has closed already.
pub fn ask_to_close(connection: &Connection, client: u32) -> Result<bool, X11Error> {
    let raw = connection.raw();
    let protocols = raw.intern_atom(false, b"WM_PROTOCOLS")?;
    let delete = raw.intern_atom(false, b"WM_DELETE_WINDOW")?;
    let (protocols, delete) = (protocols.reply()?.atom, delete.reply()?.atom);
    let offered = raw.get_property(false, client, protocols, AtomEnum::ATOM, 0, 64)?.reply()?;
    if !offered.value32().is_some_and(|mut atoms| atoms.any(|a| a == delete)) {
        return Ok(false);
    }
    let message = ClientMessageEvent::new(32, client, protocols, [delete, x11rb::CURRENT_TIME, 0, 0, 0]);
    raw.send_event(false, client, EventMask::NO_EVENT, message)?.check()?;
    raw.flush()?;
    Ok(true)
}
