//! The keyboard without a ref.

use crate::command::keyboard::Press;
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `press`.
pub fn press(_: &Context, _: &Press) -> Answer {
    Err(not_available("press"))
}
