//! The clipboard (spec 2 §49–51).

use crate::command::clipboard::{ClipboardGet, ClipboardSet};
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `clipboard-get`.
pub fn get(_: &Context, _: &ClipboardGet) -> Answer {
    Err(not_available("clipboard-get"))
}

/// `clipboard-set`.
pub fn set(_: &Context, _: &ClipboardSet) -> Answer {
    Err(not_available("clipboard-set"))
}

/// `clipboard-clear`.
pub fn clear(_: &Context) -> Answer {
    Err(not_available("clipboard-clear"))
}
