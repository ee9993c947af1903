//! The action chain: rungs in order, policy-gated, stopped by anything that may have landed (spec 1 §7).

use super::Terms;
use super::physical::Physical;
use super::ready::Ready;
use super::story;
use super::verify::already_satisfied;
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::platform::{Action, Live, Mechanism, Watch, WriteOutcome};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::{Resolved, Told};
use serde::Serialize;
use serde_json::json;

/// What became of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// It was sent; its reply is not known.
    Attempted,
    /// It was not sent.
    Skipped,
    /// The provider said yes.
    Succeeded,
}

/// One step as reported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// What was done.
    pub label: String,
    /// What became of it.
    pub outcome: StepOutcome,
    /// How it reached the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<Mechanism>,
    /// Whether its effect was read back; none where it was not read or may not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
}

/// What the chain did.
pub struct Climbed {
    /// The steps.
    pub steps: Vec<Step>,
    /// The element as it was proven.
    pub live: Live,
    /// How it was told.
    pub told: Told,
    /// Whether it was out of view.
    pub offscreen: bool,
    /// What came of it.
    pub end: End,
    /// When dispatch and verification must end.
    pub deadline: Deadline,
    /// Where it was aimed, where it was physical.
    pub physical: Option<Physical>,
}

/// How the chain ended.
pub enum End {
    /// The post-condition held already; nothing was sent.
    AlreadySatisfied,
    /// One write was sent.
    Sent {
        /// What became of it.
        outcome: WriteOutcome,
        /// The subscription from before it.
        watch: Box<dyn Watch>,
        /// Whether the code behind the control is known not to hear of it.
        unheard: bool,
    },
    /// Proven: nothing was sent.
    NotSent(Error),
}

/// Climbs until one rung was sent, or none is left.
pub fn climb(terms: &Terms<'_>, map: &RefMap, entry: &Entry, ready: &Ready<'_>, action: &Action) -> Climbed {
    let Resolved { live, told, .. } = &ready.resolved;
    let deadline = Deadline::after_ms(terms.chain_timeout_ms);
    let mut climbed = Climbed {
        steps: Vec::new(),
        live: live.clone(),
        told: *told,
        offscreen: ready.report.offscreen,
        end: End::AlreadySatisfied,
        deadline,
        physical: None,
    };
    if already_satisfied(action, &live.facts) {
        climbed.steps.push(Step {
            label: format!("{}: already so", action.name()),
            outcome: StepOutcome::Skipped,
            mechanism: None,
            verified: Some(true),
        });
        return climbed;
    }
    let rungs = match terms.platform.rungs(live, action, deadline) {
        Ok(rungs) => rungs,
        Err(error) => {
            climbed.end = End::NotSent(error);
            return climbed;
        }
    };
    let mut denied = false;
    for rung in &rungs {
        let mut step = Step {
            label: rung.label.clone(),
            outcome: StepOutcome::Skipped,
            mechanism: Some(rung.mechanism),
            verified: None,
        };
        if rung.needs > terms.policy {
            denied = true;
            climbed.steps.push(step);
            continue;
        }
        if deadline.passed() {
            break;
        }
        let how = json!({"mechanism": rung.mechanism});
        if let Err(error) = story::dispatching(terms, map, entry, action, how.clone()) {
            climbed.end = End::NotSent(error);
            return climbed;
        }
        let sent = terms.platform.dispatch(live, action, rung, deadline);
        match sent.outcome {
            WriteOutcome::Absent(reason) => {
                step.label = format!("{} ({reason})", step.label);
                climbed.steps.push(step);
            }
            WriteOutcome::Refused(error) => {
                climbed.steps.push(step);
                climbed.end = End::NotSent(error);
                return climbed;
            }
            outcome => {
                story::dispatched(terms, map, entry, action, how);
                let said_yes = outcome == WriteOutcome::Accepted;
                step.outcome = if said_yes { StepOutcome::Succeeded } else { StepOutcome::Attempted };
                climbed.steps.push(step);
                climbed.end = End::Sent { outcome, watch: sent.watch, unheard: rung.unheard };
                return climbed;
            }
        }
    }
    climbed.end = End::NotSent(exhausted(action, live, denied, &climbed.steps));
    climbed
}

fn exhausted(action: &Action, live: &Live, denied: bool, steps: &[Step]) -> Error {
    let name = action.name();
    let error = if denied {
        Error::before(Code::PolicyDenied, format!("{name} would move the focus or the pointer here: it needs --headed"))
            .kind("needs_headed")
            .suggest("Repeat with --headed only if taking over focus and pointer is acceptable.")
    } else {
        Error::before(Code::ActionNotSupported, format!("this element publishes no semantic way to {name}"))
            .kind("no_semantic_way")
            .suggest(match action {
                Action::Select(_) => {
                    "Nothing chooses here without the pointer: '--headed click' opens it, then '--headed click' on the \
                     option, where your user agrees to that. 'press escape' closes it again."
                }
                Action::Type(_) | Action::Clear | Action::SetValue(_) => {
                    "'--headed type' enters text with the keyboard, where your user agrees to that."
                }
                _ => "Act on a related control; 'snapshot' shows what each offers in available_actions.",
            })
    };
    let error = error.detail("native_role", live.facts.native_role.to_string());
    if steps.is_empty() { error } else { error.detail("steps", json!(steps)) }
}
