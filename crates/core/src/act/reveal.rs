//! Scrolling an element into view before physical input (spec 1 §7: one attempt where the toolkit has it).

use super::Terms;
use crate::deadline::Deadline;
use crate::platform::{Action, WriteOutcome};
use crate::refs::resolve::Resolved;

/// Tries once; answers whether anything was sent. What comes of it is seen in the bounds.
pub fn into_view(terms: &Terms<'_>, resolved: &Resolved) -> bool {
    let deadline = Deadline::after_ms(terms.chain_timeout_ms);
    let Ok(rungs) = terms.platform.rungs(&resolved.live, &Action::ScrollTo, deadline) else { return false };
    for rung in rungs.iter().filter(|r| r.needs <= terms.policy) {
        match terms.platform.dispatch(&resolved.live, &Action::ScrollTo, rung, deadline).outcome {
            WriteOutcome::Absent(_) => {}
            WriteOutcome::Refused(_) => return false,
            _ => return true,
        }
    }
    false
}
