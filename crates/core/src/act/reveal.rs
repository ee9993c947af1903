//! Scrolling an element into view before physical input (spec 1 §7: one attempt where the toolkit has it).

use super::Terms;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::platform::{Action, WriteOutcome};
use crate::refs::resolve::Resolved;
use serde_json::json;

/// Tries once; answers whether anything was sent. What comes of it is seen in the bounds.
pub fn into_view(terms: &Terms<'_>, resolved: &Resolved) -> bool {
    let deadline = Deadline::after_ms(terms.chain_timeout_ms);
    let sent = attempt(terms, resolved, deadline);
    if let Err(error) = &sent {
        let fields = json!({"code": error.code(), "kind": error.kind_name()});
        terms.trace.event("ref.scroll_into_view.error", fields);
    }
    sent.unwrap_or(false)
}

fn attempt(terms: &Terms<'_>, resolved: &Resolved, deadline: Deadline) -> Result<bool> {
    let rungs = terms.platform.rungs(&resolved.live, &Action::ScrollTo, deadline)?;
    for rung in rungs.iter().filter(|r| r.needs <= terms.policy) {
        match terms.platform.dispatch(&resolved.live, &Action::ScrollTo, rung, deadline).outcome {
            WriteOutcome::Absent(_) => {}
            WriteOutcome::Refused(error) => return Err(error),
            _ => return Ok(true),
        }
    }
    Ok(false)
}
