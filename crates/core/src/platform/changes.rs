//! Hearing that something changed, so that nobody has to ask again and again.

use super::not_supported;
use super::observe::ProcessKey;
use crate::deadline::Deadline;
use crate::error::Error;

/// Whose changes are listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeScope {
    /// Windows and applications of the desktop, as they come and go.
    Desktop,
    /// The same, and everything that this process announces about its elements.
    Process(ProcessKey),
}

/// An ear that was opened before the first look, so that nothing between look and wait is missed. What it hears says
/// that a look is worth while, never what the look would find.
pub trait Listening {
    /// Waits, without asking anything, until something was announced, or the time is over. Whether something was.
    fn next(&mut self, until: Deadline) -> bool;

    /// Forgets what was announced so far.
    fn drain(&mut self);
}

/// Changes of one desktop.
pub trait Changes {
    /// Opens an ear. It closes, and whatever was asked of others for it is taken back, when it is dropped.
    ///
    /// # Errors
    /// Where nothing announces changes: the caller asks again and again instead.
    fn listen(&self, scope: &ChangeScope, deadline: Deadline) -> Result<Box<dyn Listening + '_>, Error> {
        let _ = (scope, deadline);
        Err(not_supported("listening for changes"))
    }
}
