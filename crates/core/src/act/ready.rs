//! From a saved entry to an element that may be acted on now.

use super::Terms;
use super::actionability::{Report, assess, by_pointer, timed_out};
use super::lease::Lease;
use super::report::AutoWait;
use super::story::Story;
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::platform::{Action, Presence};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::{Purpose, Question, Resolved};
use std::time::Duration;

/// Slice of one resolution, in milliseconds (spec 1 §4).
pub const ATTEMPT_MS: u64 = 750;
/// Pause between two looks, in milliseconds (spec 1 §4, §7).
pub const POLL_MS: u64 = 100;

/// Resolves once.
pub fn resolve(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    purpose: Purpose,
    deadline: Deadline,
) -> Result<Resolved, Error> {
    let question = Question::new(map, entry).ok_or_else(torn)?;
    let probe = question.ask(map, entry, false, terms.platform, deadline);
    question.judge(map, entry, probe, purpose)
}

/// The error for a saved file whose indices don't hold together.
pub fn torn() -> Error {
    Error::before(Code::SnapshotNotFound, "the saved snapshot is damaged")
        .kind("snapshot_damaged")
        .suggest("Take a new snapshot.")
}

/// Whether looking again may give another answer.
pub fn worth_another_look(error: &Error) -> bool {
    match error.code() {
        Code::AppUnresponsive => true,
        Code::Timeout => error.kind_name() == Some("resolution_identity_unknown"),
        _ => false,
    }
}

/// Resolves and assesses without the lease until the battery passes. A contradiction or a check that time can't
/// mend ends at once; everything else is looked at again until the deadline.
pub fn wait_until_actionable(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    deadline: Deadline,
    single_shot: bool,
    waited: &mut AutoWait,
) -> Result<(), Error> {
    let mut story = Story::begin(terms, map, entry, action);
    let looked = look(terms, map, entry, action, deadline, single_shot, waited, &mut story);
    story.end(&looked);
    looked
}

#[allow(clippy::too_many_arguments)]
fn look(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    deadline: Deadline,
    single_shot: bool,
    waited: &mut AutoWait,
    story: &mut Story<'_>,
) -> Result<(), Error> {
    loop {
        waited.read_only_resolve_attempts += 1;
        // A look that has begun may use its slice, so that the last one is not cut to nothing.
        let slice = Deadline::after_ms(ATTEMPT_MS);
        let failure = match resolve(terms, map, entry, Purpose::Write, slice) {
            Ok(resolved) => {
                story.resolved(resolved.told);
                waited.read_only_preflight_attempts += 1;
                let report = assess(&resolved.live.facts, action, terms.policy);
                if let Some(error) = report.terminal {
                    return Err(placed(terms, map, entry, action, error));
                }
                if report.actionable() {
                    return Ok(());
                }
                timed_out(&report, terms.timeout_ms)
            }
            Err(error) if worth_another_look(&error) => error,
            Err(error) => return Err(error),
        };
        if single_shot || deadline.passed() {
            return Err(failure);
        }
        std::thread::sleep(Duration::from_millis(POLL_MS).min(deadline.left()));
    }
}

/// The refusal of a battery, with the element's place looked at where the pointer is what it names.
fn placed(terms: &Terms<'_>, map: &RefMap, entry: &Entry, action: &Action, error: Error) -> Error {
    if error.code() != Code::PolicyDenied {
        return error;
    }
    let Some(question) = Question::new(map, entry) else { return error };
    let probe = question.ask(map, entry, true, terms.platform, Deadline::after_ms(ATTEMPT_MS));
    match probe.element {
        Presence::Live(facts) => by_pointer(error, action, &facts),
        _ => error,
    }
}

/// A proven, actionable element under the lease. There is no other way to make one.
pub struct Ready<'l> {
    /// The element.
    pub resolved: Resolved,
    /// The battery that passed.
    pub report: Report,
    _lease: &'l Lease,
}

impl<'l> Ready<'l> {
    /// Resolves again under the lease and assesses once: the correctness boundary (spec 1 §7). The inner error is a
    /// battery that no longer passes.
    pub fn prove(
        terms: &Terms<'_>,
        lease: &'l Lease,
        map: &RefMap,
        entry: &Entry,
        action: &Action,
    ) -> Result<Result<Self, Report>, Error> {
        let resolved = resolve(terms, map, entry, Purpose::Write, Deadline::after_ms(ATTEMPT_MS))?;
        let report = assess(&resolved.live.facts, action, terms.policy);
        match &report.terminal {
            Some(error) => Err(error.clone()),
            None if report.actionable() => Ok(Ok(Self { resolved, report, _lease: lease })),
            None => Ok(Err(report)),
        }
    }
}
