//! Keys and buttons that stay down beyond the end of a command (decisions D3).

use crate::command::{Context, not_available};
use crate::command::{
    keyboard::{KeyDown, KeyUp},
    pointer::{MouseDown, MouseUp},
};
use crate::envelope::Answer;

/// `key-down`.
pub fn key_down(_: &Context, _: &KeyDown) -> Answer {
    Err(not_available("key-down"))
}

/// `key-up`.
pub fn key_up(_: &Context, _: &KeyUp) -> Answer {
    Err(not_available("key-up"))
}

/// `mouse-down`.
pub fn mouse_down(_: &Context, _: &MouseDown) -> Answer {
    Err(not_available("mouse-down"))
}

/// `mouse-up`.
pub fn mouse_up(_: &Context, _: &MouseUp) -> Answer {
    Err(not_available("mouse-up"))
}
