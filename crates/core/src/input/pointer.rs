//! The pointer at an element or a point.

use crate::command::pointer::{Hover, MouseClick, MouseMove, MouseWheel};
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `hover`.
pub fn hover(_: &Context, _: &Hover) -> Answer {
    Err(not_available("hover"))
}

/// `mouse-move`.
pub fn mouse_move(_: &Context, _: &MouseMove) -> Answer {
    Err(not_available("mouse-move"))
}

/// `mouse-click`.
pub fn mouse_click(_: &Context, _: &MouseClick) -> Answer {
    Err(not_available("mouse-click"))
}

/// `mouse-wheel`.
pub fn mouse_wheel(_: &Context, _: &MouseWheel) -> Answer {
    Err(not_available("mouse-wheel"))
}
