//! Waiting for events without harm to the connection, and the server's time.

use super::atoms::Atoms;
use crate::process::spawn::poll_readable;
use crate::x11::{Connection, X11Error};
use std::time::{Duration, Instant};
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Timestamp, Window, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

/// The next event; none when the time is over. Unlike a reply that is late, that leaves the connection usable.
pub fn next(x: &Connection, end: Instant) -> Result<Option<Event>, X11Error> {
    loop {
        // Writing may read: what that brought is looked at before the socket is waited for.
        x.raw().flush()?;
        if let Some(event) = x.raw().poll_for_event()? {
            return Ok(Some(event));
        }
        let readable = poll_readable(x.socket(), end);
        if !readable.map_err(|e| X11Error::Disconnected { reason: e.to_string() })? {
            return Ok(None);
        }
    }
}

/// A window of ours that is never shown and hears of changes of its properties.
pub fn hidden_window(x: &Connection) -> Result<Window, X11Error> {
    let window = x.raw().generate_id()?;
    let values = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::PROPERTY_CHANGE);
    x.raw().create_window(
        COPY_DEPTH_FROM_PARENT,
        window,
        x.root(),
        -1,
        -1,
        1,
        1,
        0,
        WindowClass::INPUT_ONLY,
        x11rb::COPY_FROM_PARENT,
        &values,
    )?;
    Ok(window)
}

/// The server's time now: ICCCM §2.1 and §2.4 want a real one, not "now", in requests about selections.
///
/// Events that came before are gone.
pub fn server_time(x: &Connection, a: &Atoms, window: Window, limit: Duration) -> Result<Timestamp, X11Error> {
    let end = Instant::now() + limit;
    x.raw().change_property8(PropMode::APPEND, window, a.AGENT_DESKTOP_CLIPBOARD, AtomEnum::STRING, &[])?;
    while let Some(event) = next(x, end)? {
        match event {
            Event::PropertyNotify(e) if e.window == window && e.atom == a.AGENT_DESKTOP_CLIPBOARD => return Ok(e.time),
            Event::Error(e) if e.bad_value == window => {
                return Err(x11rb::errors::ReplyError::X11Error(e).into());
            }
            _ => {}
        }
    }
    Err(X11Error::Timeout)
}

/// Whether `a` is before `b`. The server's time starts anew every 50 days.
pub fn before(a: Timestamp, b: Timestamp) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_wraps() {
        assert!(before(1, 2) && !before(2, 1) && !before(5, 5));
        assert!(before(u32::MAX - 5, 10) && !before(10, u32::MAX - 5));
    }
}
