//! From a ref command to an action on a saved entry.

use super::observe::{self, Observer};
use super::{Terms, entry_of, perform};
use crate::command::Context;
use crate::command::act::RefAction;
use crate::envelope::Answer;
use crate::observe::saved;

/// Runs a command that acts on a ref.
pub fn command(context: &Context, args: &dyn RefAction) -> Answer {
    let id = args.ref_id().parse()?;
    let map = saved::load(context, &id.snapshot)?;
    let mut terms = Terms::new(context, &map, args.timeout())?;
    if !args.observe() {
        return perform(&terms, &map, id.number, &args.action());
    }
    let observer = Observer::new(context, &map, entry_of(&map, id.number)?);
    terms.observer = Some(&observer);
    observe::add(perform(&terms, &map, id.number, &args.action()), || observer.changes())
}
