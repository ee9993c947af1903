//! From a ref command to an action on a saved entry.

use super::{Terms, perform};
use crate::command::Context;
use crate::command::act::RefAction;
use crate::envelope::Answer;
use crate::observe::saved;

/// Runs a command that acts on a ref.
pub fn command(context: &Context, args: &dyn RefAction) -> Answer {
    let id = args.ref_id().parse()?;
    let map = saved::load(context, &id.snapshot)?;
    let terms = Terms::new(context, &map, args.timeout())?;
    perform(&terms, &map, id.number, &args.action())
}
