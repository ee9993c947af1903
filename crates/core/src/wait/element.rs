//! `wait --element`: a predicate on one saved element.

use super::{Clock, ELEMENT_POLL, Look};
use crate::act::actionability::assess;
use crate::command::Context;
use crate::command::observe::Question;
use crate::command::values::RefArg;
use crate::command::wait::{Predicate, WaitAction};
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::evidence::Evidence;
use crate::observe::{property, saved};
use crate::platform::{Action, Policy};
use crate::refs::resolve::{Purpose, Resolved};
use crate::tree::name::value_of;
use serde_json::{Value, json};

/// Looks until the predicate holds.
pub fn wait(
    context: &Context,
    element: &RefArg,
    predicate: Predicate,
    value: Option<&str>,
    action: WaitAction,
    clock: &Clock,
) -> Answer {
    let id = element.parse()?;
    let platform = context.platform()?;
    let map = saved::load(context, &id.snapshot)?;
    let last = std::cell::RefCell::new(None);
    let token = json!(predicate);
    let name = token.as_str().unwrap_or_default();
    clock.until(
        ELEMENT_POLL,
        name,
        |mut e| {
            e = e.detail("ref", element.0.clone());
            match last.take() {
                Some(observed) => e.detail("last_observed", observed),
                None => e,
            }
        },
        || {
            let bounds = predicate == Predicate::Visible;
            let deadline = clock.deadline().within_ms(crate::act::ready::ATTEMPT_MS);
            let resolved =
                saved::resolve_with(platform, &map, id.number, Purpose::Read, bounds, deadline).map_err(never_again)?;
            let (holds, observed) = look(&resolved, predicate, value, action, context.policy()).map_err(Look::of)?;
            if !holds {
                *last.borrow_mut() = Some(observed);
                return Err(Look::NotYet);
            }
            Ok(json!({
                "found": true, "ref": element.0, "predicate": predicate, "observed": observed,
                "elapsed_ms": clock.elapsed_ms(),
            }))
        },
    )
}

/// A refusal that no time can mend ends the wait: a dead address never lives again, twins are never told apart.
fn never_again(error: Error) -> Look {
    let final_kinds = ["saved_ref_absent", "identity_not_unique", "ref_not_in_snapshot", "snapshot_damaged"];
    if error.kind_name().is_some_and(|k| final_kinds.contains(&k)) || error.code() == Code::SnapshotNotFound {
        return Look::Never(error);
    }
    Look::Failed(error)
}

fn look(
    resolved: &Resolved,
    predicate: Predicate,
    value: Option<&str>,
    action: WaitAction,
    policy: Policy,
) -> Result<(bool, Value), Error> {
    let facts = &resolved.live.facts;
    Ok(match predicate {
        Predicate::Exists => (true, json!(true)),
        Predicate::Enabled => {
            let (yes, _) = property::ask(facts, Question::Enabled)?;
            (yes, json!(yes))
        }
        Predicate::Visible => {
            let (yes, applicable) = property::ask(facts, Question::Visible)?;
            (yes && applicable, json!(yes && applicable))
        }
        Predicate::Actionable => {
            let action = match action {
                WaitAction::Click => Action::Click,
                WaitAction::Type => Action::Type(String::new()),
                WaitAction::SetValue => Action::SetValue(String::new()),
                WaitAction::Clear => Action::Clear,
            };
            let report = assess(facts, &action, policy);
            (report.actionable(), report.to_json())
        }
        Predicate::Value => {
            let wanted = value.unwrap_or_default();
            let now = match value_of(facts) {
                Evidence::Known(now) => Some(now),
                Evidence::Absent => None,
                Evidence::Unknown(cause) => {
                    return Err(Error::before(Code::Timeout, "the value could not be read")
                        .kind("property_unread")
                        .detail("cause", json!(cause)));
                }
            };
            let matched = now.unwrap_or_default() == wanted && !facts.secure;
            // Only counts: what a field holds may be secret.
            let observed = json!({
                "matched": matched, "value_present": now.is_some(),
                "value_chars": now.map_or(0, |v| v.chars().count()), "expected_chars": wanted.chars().count(),
            });
            (matched, observed)
        }
    })
}
