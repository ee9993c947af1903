//! Events of keyboard and pointer by XTEST, and what is down.

use super::connection::Connection;
use super::error::X11Error;
use x11rb::connection::RequestConnection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, QueryPointerReply,
};
use x11rb::protocol::xtest::{self, ConnectionExt as _};

/// Whether the server takes events.
///
/// # Errors
/// `Unsupported` where it doesn't.
pub fn enable(x: &Connection) -> Result<(), X11Error> {
    match x.raw().extension_information(xtest::X11_EXTENSION_NAME)? {
        Some(_) => Ok(()),
        None => Err(X11Error::Unsupported { what: "XTEST".to_owned() }),
    }
}

/// A key goes down or up. Nothing is known until [`sync`].
pub fn key(x: &Connection, keycode: u8, down: bool) -> Result<(), X11Error> {
    let kind = if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT };
    x.raw().xtest_fake_input(kind, keycode, 0, x11rb::NONE, 0, 0, 0)?;
    Ok(())
}

/// A button goes down or up.
pub fn button(x: &Connection, button: u8, down: bool) -> Result<(), X11Error> {
    let kind = if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT };
    x.raw().xtest_fake_input(kind, button, 0, x11rb::NONE, 0, 0, 0)?;
    Ok(())
}

/// The pointer goes to a point of the root window.
pub fn motion(x: &Connection, (to_x, to_y): (i16, i16)) -> Result<(), X11Error> {
    x.raw().xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, x.root(), to_x, to_y, 0)?;
    Ok(())
}

/// A round trip: everything that was sent before has been carried out.
pub fn sync(x: &Connection) -> Result<(), X11Error> {
    x.raw().get_input_focus()?.reply()?;
    Ok(())
}

/// The keys that are down.
pub fn keys_down(x: &Connection) -> Result<Vec<u8>, X11Error> {
    let map = x.raw().query_keymap()?.reply()?.keys;
    Ok((0..=u8::MAX).filter(|k| map[usize::from(k / 8)] & (1 << (k % 8)) != 0).collect())
}

/// Where the pointer is, what is under it, what is pressed.
pub fn pointer(x: &Connection) -> Result<QueryPointerReply, X11Error> {
    Ok(x.raw().query_pointer(x.root())?.reply()?)
}
