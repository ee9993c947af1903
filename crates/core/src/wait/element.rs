//! `wait --element`: a predicate on one saved element.

use super::ear::{Ear, Of};
use super::until_described;
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
    timeout_ms: u64,
    element: &RefArg,
    predicate: Predicate,
    value: Option<&str>,
    action: WaitAction,
) -> Answer {
    let id = element.parse()?;
    let platform = context.platform()?;
    let map = saved::load(context, &id.snapshot)?;
    let last = std::cell::RefCell::new(None);
    let token = json!(predicate);
    let name = token.as_str().unwrap_or_default();
    let describe = |mut error: Error| {
        error = error.detail("ref", element.0.clone());
        match last.take() {
            Some(observed) => error.detail("last_observed", observed),
            None => error,
        }
    };
    let mut ear = Ear::open(context, Of::Process(map.process.clone()));
    until_described(&mut ear, timeout_ms, name, describe, may_pass, |deadline| {
        let bounds = predicate == Predicate::Visible;
        let deadline = deadline.within_ms(crate::act::ready::ATTEMPT_MS);
        let resolved = saved::resolve_with(platform, &map, id.number, Purpose::Read, bounds, deadline)?;
        let (holds, observed) = look(&resolved, predicate, value, action, context.policy())?;
        if !holds {
            *last.borrow_mut() = Some(observed);
            return Ok(None);
        }
        Ok(Some(json!({"found": true, "ref": element.0, "predicate": predicate, "observed": observed})))
    })
}

/// Whether time can mend a refusal: a dead address never lives again and twins are never told apart, but a list may
/// scroll back.
fn may_pass(error: &Error) -> bool {
    match error.code() {
        Code::StaleRef => matches!(error.kind_name(), Some("context_changed" | "retained_object_stale")),
        Code::AppUnresponsive | Code::Timeout | Code::ActionFailed => true,
        _ => false,
    }
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
            if facts.secure {
                return Err(Error::before(Code::ActionNotSupported, "what a secure field holds is not told")
                    .kind("secure_value")
                    .not_retryable()
                    .suggest(
                        "Wait for something else that comes with it, such as --predicate enabled of the next control.",
                    ));
            }
            let wanted = value.unwrap_or_default();
            let now = match value_of(facts) {
                Evidence::Known(now) => Some(now),
                Evidence::Absent => None,
                Evidence::Unknown(cause) => {
                    return Err(property::unread("value", &cause));
                }
            };
            let matched = now.unwrap_or_default() == wanted;
            // Only counts: what a field holds may be secret.
            let observed = json!({
                "matched": matched, "value_present": now.is_some(),
                "value_chars": now.map_or(0, |v| v.chars().count()), "expected_chars": wanted.chars().count(),
            });
            (matched, observed)
        }
    })
}
