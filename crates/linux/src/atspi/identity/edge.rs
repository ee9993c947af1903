//! One edge of a saved chain: the parent still has that child (decisions D1, step 4).

use crate::atspi::interface as i;
use crate::atspi::toolkit::Toolkit;
use crate::bus::{Body, Call, CallError, Object, Reply};
use crate::outcome::read::{Asked, ReadOutcome, classify};
use agent_desktop_core::evidence::{Cause, Evidence};

/// One edge, as asked and as found.
pub(super) struct Edge {
    pub parent: Option<Object>,
    pub child: Object,
    pub index: u32,
    pub holds: Evidence<bool>,
}

impl Edge {
    /// The call that confirms the edge. The first link's parent is the registry's list, whose indices mean nothing: what
    /// counts is that the bus name still belongs to the process, and that the root answers.
    pub fn call(&self) -> Call {
        match &self.parent {
            Some(parent) => {
                let index = i32::try_from(self.index).unwrap_or(i32::MAX);
                Call::with(parent, i::ACCESSIBLE, "GetChildAtIndex", Body::Int(index))
            }
            None => Call::driver("GetConnectionUnixProcessID", Body::Text(self.child.bus.to_string())),
        }
    }

    /// What the answer to [`Edge::call`] says.
    pub fn judge(&self, answer: Result<Reply, CallError>, pid: u32, toolkit: Toolkit) -> Evidence<bool> {
        if self.parent.is_none() {
            return match answer.and_then(|r| r.uint()) {
                Ok(owner) => Evidence::Known(owner == pid),
                Err(e) => unless_answered(&e, toolkit),
            };
        }
        match answer.and_then(|r| r.object()) {
            // A place holds whatever stands there now.
            Ok(child) if self.child.place().is_some() => Evidence::Known(!child.is_null()),
            Ok(child) => Evidence::Known(child == self.child),
            Err(e) => unless_answered(&e, toolkit),
        }
    }
}

/// An answer that is an error is an answer: the parent has no such child. Silence is none.
pub(super) fn unless_answered(error: &CallError, toolkit: Toolkit) -> Evidence<bool> {
    match (error, classify(error, toolkit, Asked::Optional)) {
        (_, ReadOutcome::Retryable(Cause::Late)) => Evidence::Unknown(Cause::Late),
        (CallError::Remote { .. }, ReadOutcome::Terminal(Cause::Denied)) => Evidence::Unknown(Cause::Denied),
        (CallError::Remote { .. }, _) => Evidence::Known(false),
        (_, ReadOutcome::Retryable(c) | ReadOutcome::Terminal(c)) => Evidence::Unknown(c),
        (_, ReadOutcome::Absent | ReadOutcome::Gone(_)) => Evidence::Known(false),
    }
}
