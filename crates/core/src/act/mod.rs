//! Acting on a ref: wait until it can be acted on, prove it under the lease, dispatch once, read what became of it.
//!
//! ```text
//! entry ─ resolve ─▶ Resolved ─ actionability ─▶ lease, resolve again ─▶ Ready ─ rungs ─▶ Dispatched ─ verify ─▶ result
//! ```
//! [`ready::Ready`] can only be made under the lease by a second resolution: the type is the proof.

pub mod actionability;
mod entrance;
pub mod lease;
pub mod observe;
pub mod physical;
#[cfg(test)]
mod physical_tests;
pub mod ready;
pub mod report;
pub mod reveal;
pub mod rungs;
pub(crate) mod story;
#[cfg(test)]
mod tests;
mod typing;
pub mod verify;

pub use entrance::command;

use crate::command::Context;
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::overlay::{self, Cursor};
use crate::platform::{Action, Platform, Policy};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::admissible;
use crate::trace::Recorder;
use report::AutoWait;
use serde_json::Value;
use std::path::PathBuf;

/// Default auto-wait of a ref action, in milliseconds (spec 1 §7).
pub const DEFAULT_TIMEOUT_MS: u64 = 5_000;
/// Default deadline of one dispatch with its verification, in milliseconds (decisions D10).
pub const DEFAULT_CHAIN_TIMEOUT_MS: u64 = 5_000;
/// Added to the auto-wait for each character that `type` sends, in milliseconds (spec 1 §7).
pub const TYPE_MS_PER_CHARACTER: u64 = 30;

/// Under which terms an action runs.
pub struct Terms<'a> {
    /// The desktop.
    pub platform: &'a dyn Platform,
    /// What the caller permits.
    pub policy: Policy,
    /// Auto-wait in milliseconds; 0 is a single shot.
    pub timeout_ms: u64,
    /// Deadline of dispatch and verification, in milliseconds.
    pub chain_timeout_ms: u64,
    /// The lock file of the interaction lease: one for each user and desktop.
    pub lease_path: PathBuf,
    /// The caller's session: what it holds down doesn't stand in its own way.
    pub session: Option<String>,
    /// What reads the window before the dispatch, where the caller wants to know what changed.
    pub observer: Option<&'a observe::Observer<'a>>,
    /// The agent's cursor, where the session shows one.
    pub cursor: Option<Cursor>,
    /// Where events go.
    pub trace: &'a Recorder,
}

impl<'a> Terms<'a> {
    /// The terms of a command on a saved snapshot.
    pub fn new(context: &'a Context, map: &RefMap, timeout_ms: u64) -> Result<Self, Error> {
        Ok(Self {
            platform: context.platform()?,
            policy: context.policy(),
            timeout_ms,
            chain_timeout_ms: context.chain_timeout_ms()?,
            lease_path: lease::path(&map.desktop)?,
            session: context.session().map(str::to_owned),
            observer: None,
            cursor: Cursor::of(context),
            trace: context.trace(),
        })
    }

    /// Reads the window for `--observe`. Before the lease: a read of a large window would keep others waiting.
    fn look(&self) {
        if let Some(observer) = self.observer {
            observer.look();
        }
    }
}

/// Runs one action on one saved ref. The answer is the `data` of an ActionResult (spec 2).
pub fn perform(terms: &Terms<'_>, map: &RefMap, number: u32, action: &Action) -> Result<Value, Error> {
    let entry = entry_of(map, number)?;
    admissible(entry)?;
    policy_preflight(action, terms.policy)?;
    let extra = match action {
        Action::Type(text) => text.chars().count() as u64 * TYPE_MS_PER_CHARACTER,
        _ => 0,
    };
    let single_shot = terms.timeout_ms == 0;
    let mut deadline = Deadline::after_ms(if single_shot { 0 } else { terms.timeout_ms.saturating_add(extra) });
    if terms.policy == Policy::Headed && physical::prefers(action) {
        return physical::perform(terms, map, entry, action, deadline, single_shot);
    }
    let mut waited = AutoWait::default();
    let mut there = false;
    loop {
        let ready = ready::wait_until_actionable(terms, map, entry, action, deadline, single_shot, &mut waited);
        match ready {
            // What no accessibility action does, a click on it may: check boxes of GTK 4.
            Err(error) if headed_stand_in(terms, action, &error) => {
                return physical::perform(terms, map, entry, action, deadline, single_shot);
            }
            other => other?,
        }
        if !std::mem::replace(&mut there, true) {
            deadline = deadline.later(overlay::to_element(terms, map, entry, Some(action)));
        }
        terms.look();
        let lease = lease::Lease::take(&terms.lease_path, deadline, single_shot, &mut waited.lease_contention_count)?;
        match ready::Ready::prove(terms, &lease, map, entry, action)? {
            Ok(ready) => {
                let dispatched = rungs::climb(terms, map, entry, &ready, action);
                return report::finish(terms, map, entry, action, dispatched, lease, waited);
            }
            // It changed between the wait and the lease: wait again, unless the time is up.
            Err(report) if single_shot || deadline.passed() => {
                return Err(actionability::timed_out(&report, terms.timeout_ms));
            }
            Err(_) => {}
        }
    }
}

fn headed_stand_in(terms: &Terms<'_>, action: &Action, error: &Error) -> bool {
    terms.policy == Policy::Headed && physical::stands_in(action) && error.kind_name() == Some("no_semantic_way")
}

/// The entry of a number, or `STALE_REF`: it was never given out, or a drill replaced it.
pub fn entry_of(map: &RefMap, number: u32) -> Result<&Entry, Error> {
    map.entries.get(&number).ok_or_else(|| {
        Error::before(Code::StaleRef, "the snapshot has no such ref, or a drill has replaced it")
            .kind("ref_not_in_snapshot")
            .suggest("Take a new snapshot and use its ref.")
    })
}

fn policy_preflight(action: &Action, policy: Policy) -> Result<(), Error> {
    if matches!(action, Action::DoubleClick | Action::TripleClick) && policy < Policy::Headed {
        return Err(Error::before(
            Code::PolicyDenied,
            format!("{} is physical input: no accessibility interface has it", action.name()),
        )
        .kind("needs_headed")
        .suggest("Repeat with --headed if moving the pointer is acceptable."));
    }
    Ok(())
}
