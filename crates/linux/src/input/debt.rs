//! What a sequence owes the desktop: everything that is down or changed now and must be undone, whoever undoes it.

use super::kept;
use crate::x11::{Connection, X11Error, keymap, xtest};
use serde::{Deserialize, Serialize};
use std::path::Path;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::KeyButMask;

/// What must be undone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Debt {
    /// Keys that are down, or may be.
    pub keys: Vec<u8>,
    /// Buttons that are down, or may be, each with the place where it was pressed.
    pub buttons: Vec<(u8, (i16, i16))>,
    /// Borrowed keys that have symbols.
    pub mapped: Vec<u8>,
    /// Modifier bits that were changed, and which of them were locked.
    pub locks: Option<(u8, u8)>,
    /// Keys of others that were let go of for a while.
    pub lifted: Vec<Lifted>,
}

/// A key of others that was let go of for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifted {
    /// The key.
    pub key: u8,
    /// Whether it was the keeper of held input that held it.
    pub kept: bool,
}

impl Debt {
    /// Whether nothing is owed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Undoes everything and proves it: keys and buttons up, the last first; a button where it was pressed, so that an
    /// aborted drag drops nothing elsewhere. `kept` is the record of held input: what it doesn't list any more was
    /// let go of meanwhile and is not pressed again.
    ///
    /// # Errors
    /// Where the display fails, or something that was released is still down.
    pub fn pay(&self, x: &Connection, kept: Option<&Path>) -> Result<(), X11Error> {
        // Written before anything is asked: a server that is stalled works it off when it goes on, whether or not anybody
        // still waits for its answers. It ignores the release of what isn't down.
        for key in self.keys.iter().rev() {
            xtest::key(x, *key, false)?;
        }
        for (button, place) in self.buttons.iter().rev() {
            xtest::motion(x, *place)?;
            xtest::button(x, *button, false)?;
        }
        x.raw().flush().map_err(X11Error::from)?;
        if !self.mapped.is_empty() {
            keymap::clear(x, &self.mapped)?;
        }
        if let Some((affect, locked)) = self.locks {
            keymap::set_locked(x, affect, locked)?;
        }
        self.press_again(x, kept)?;
        let down = xtest::keys_down(x)?;
        let still = self.keys.iter().find(|k| down.contains(k) && !self.lifted.iter().any(|l| l.key == **k));
        if let Some(key) = still {
            return Err(X11Error::Protocol { error: "a key stays down".to_owned(), object: u32::from(*key) });
        }
        for (button, _) in &self.buttons {
            if is_down(x, *button)? {
                return Err(X11Error::Protocol { error: "a button stays down".to_owned(), object: u32::from(*button) });
            }
        }
        Ok(())
    }

    /// Presses the keys of others that were lifted.
    pub fn press_again(&self, x: &Connection, kept: Option<&Path>) -> Result<(), X11Error> {
        if self.lifted.is_empty() {
            return Ok(());
        }
        // The keeper of held input lets go under the same lock: no key goes down again that it released for good.
        let _lock = kept.and_then(|path| kept::lock(path).ok());
        let listed = kept.map(kept::keys).unwrap_or_default();
        for lifted in &self.lifted {
            if !lifted.kept || listed.contains(&lifted.key) {
                xtest::key(x, lifted.key, true)?;
            }
        }
        xtest::sync(x)
    }
}

fn is_down(x: &Connection, button: u8) -> Result<bool, X11Error> {
    let mask = xtest::pointer(x)?.mask;
    Ok(match button {
        1 => mask.contains(KeyButMask::BUTTON1),
        2 => mask.contains(KeyButMask::BUTTON2),
        3 => mask.contains(KeyButMask::BUTTON3),
        // Turns of the wheel are down for no time.
        _ => true,
    })
}
