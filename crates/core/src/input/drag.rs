//! Drag and drop.

use crate::command::pointer::Drag;
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `drag`.
pub fn drag(_: &Context, _: &Drag) -> Answer {
    Err(not_available("drag"))
}
