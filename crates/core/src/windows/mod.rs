//! Window commands: one request to the window manager, then reading back (spec 2 §37–43).

use crate::command::windows::{FocusWindow, Maximize, Minimize, MoveWindow, ResizeWindow, Restore};
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `list-displays`.
pub fn displays(_: &Context) -> Answer {
    Err(not_available("list-displays"))
}

/// `focus-window`.
pub fn focus(_: &Context, _: &FocusWindow) -> Answer {
    Err(not_available("focus-window"))
}

/// `resize-window`.
pub fn resize(_: &Context, _: &ResizeWindow) -> Answer {
    Err(not_available("resize-window"))
}

/// `move-window`.
pub fn move_to(_: &Context, _: &MoveWindow) -> Answer {
    Err(not_available("move-window"))
}

/// `minimize`.
pub fn minimize(_: &Context, _: &Minimize) -> Answer {
    Err(not_available("minimize"))
}

/// `maximize`.
pub fn maximize(_: &Context, _: &Maximize) -> Answer {
    Err(not_available("maximize"))
}

/// `restore`.
pub fn restore(_: &Context, _: &Restore) -> Answer {
    Err(not_available("restore"))
}

/// STUB
pub struct Front;
/// STUB
pub fn bring_to_front(_: &dyn crate::platform::Platform, _: &crate::platform::WindowKey, _: crate::deadline::Deadline) -> crate::error::Result<Front> {
    Err(not_available("focus-window"))
}
