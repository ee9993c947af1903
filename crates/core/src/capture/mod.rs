//! Screenshots (spec 2 §5).

use crate::command::observe::Screenshot;
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `screenshot`.
pub fn screenshot(_: &Context, _: &Screenshot) -> Answer {
    Err(not_available("screenshot"))
}
