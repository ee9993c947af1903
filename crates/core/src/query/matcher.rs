//! Which elements of a tree a query names, and what could not be decided (spec 2 §2). Pure.

use super::ask::{Query, StateClause};
use super::fold::Pattern;
use crate::evidence::Evidence;
use crate::tree::name::{name_of, trimmed, value_of};
use crate::tree::present::{children, native_id_of, states_of};
use crate::tree::raw::{Cut, Facts, RawTree};
use crate::vocab::role::Role;
use crate::vocab::state::StateSet;

/// The answer of one clause or of all: what can't be read is neither a match nor a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It matches.
    Yes,
    /// It doesn't.
    No,
    /// What would decide could not be read.
    Undecided,
}

impl Verdict {
    fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }

    /// Both must match: one mismatch decides, whatever is unknown about the other.
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            Self::Yes => other(),
            Self::Undecided => match other() {
                Self::No => Self::No,
                _ => Self::Undecided,
            },
        }
    }

    /// One must match: one match decides.
    fn or(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No => other(),
            Self::Undecided => match other() {
                Self::Yes => Self::Yes,
                _ => Self::Undecided,
            },
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Matches by index in the raw tree, in pre-order.
    pub matches: Vec<u32>,
    /// Elements looked at.
    pub searched: usize,
    /// Elements that may match, but what would decide could not be read.
    pub undecided: usize,
    /// Elements that may match, but whose source does not publish the state asked for: no longer look would tell.
    pub untold: usize,
    /// Places where children are missing although they should be there.
    pub cuts: usize,
    /// Containers that list their visible children only (decisions D6): elsewhere in them may be more matches.
    pub virtual_containers: usize,
    /// How many matches stand before the first doubt, in pre-order.
    sure: usize,
    /// Roles seen, in the vocabulary's order.
    pub roles_present: Vec<Role>,
}

impl Found {
    /// Whether the search is complete: nothing unread can hide a match.
    pub fn complete(&self) -> bool {
        self.undecided == 0 && self.cuts == 0
    }

    /// Whether the match at this position in the order (0 is the first) is certainly at that position: nothing unread
    /// stands before it.
    pub fn certain(&self, position: usize) -> bool {
        position < self.sure || (self.complete() && position < self.matches.len())
    }
}

fn text(evidence: Evidence<&str>, pattern: &Pattern) -> Verdict {
    match evidence {
        Evidence::Known(t) => Verdict::of(pattern.matches(t)),
        Evidence::Absent => Verdict::No,
        Evidence::Unknown(_) => Verdict::Undecided,
    }
}

fn description(facts: &Facts) -> Evidence<&str> {
    match facts.names.description.as_ref() {
        Evidence::Known(t) => trimmed(t).map_or(Evidence::Absent, Evidence::Known),
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(cause) => Evidence::Unknown(cause),
    }
}

fn name(facts: &Facts, pattern: &Pattern) -> Verdict {
    let name = name_of(facts);
    text(name.as_ref().map(|n| n.text.as_str()), pattern)
}

/// Whether an element matches. A description is compared even where it serves as the name.
pub fn verdict(query: &Query, facts: &Facts) -> Verdict {
    let clause =
        |pattern: &Option<Pattern>, check: &dyn Fn(&Pattern) -> Verdict| pattern.as_ref().map_or(Verdict::Yes, check);
    let role = match (query.role, &facts.role) {
        (None, _) => Verdict::Yes,
        (Some(wanted), Evidence::Known(role)) => Verdict::of(*role == wanted),
        (Some(_), Evidence::Absent) => Verdict::No,
        (Some(_), Evidence::Unknown(_)) => Verdict::Undecided,
    };
    role.and(|| match (&query.native_id, native_id_of(facts)) {
        (None, _) => Verdict::Yes,
        (Some(wanted), Evidence::Known(id)) => Verdict::of(id.value == *wanted),
        (Some(_), Evidence::Absent) => Verdict::No,
        (Some(_), Evidence::Unknown(_)) => Verdict::Undecided,
    })
    .and(|| clause(&query.name, &|p| name(facts, p)))
    .and(|| clause(&query.value, &|p| text(value_of(facts), p)))
    .and(|| clause(&query.description, &|p| text(description(facts), p)))
    .and(|| clause(&query.text, &|p| name(facts, p).or(|| text(value_of(facts), p)).or(|| text(description(facts), p))))
    .and(|| {
        if query.states.is_empty() {
            return Verdict::Yes;
        }
        // A state that is not there is "no" only where the source would tell it.
        let one = |set: StateSet, c: &StateClause| match set.has(c.state) {
            false if !c.wanted && facts.untold.has(c.state) => Verdict::Undecided,
            has => Verdict::of(has == c.wanted),
        };
        let has = |set: StateSet| query.states.iter().fold(Verdict::Yes, |all, c| all.and(|| one(set, c)));
        match states_of(facts) {
            Evidence::Known(set) => has(set),
            Evidence::Absent => has(StateSet::EMPTY),
            // What can't be read is neither disabled nor enabled.
            Evidence::Unknown(_) => Verdict::Undecided,
        }
    })
}

/// Whether an undecided element would match if what its source does not publish were a "no".
fn only_untold(query: &Query, facts: &Facts) -> bool {
    !facts.untold.is_empty() && verdict(query, &Facts { untold: StateSet::EMPTY, ..facts.clone() }) == Verdict::Yes
}

/// Searches a tree. Without a clause every element matches.
pub fn search(query: &Query, tree: &RawTree) -> Found {
    let mut found = Found::default();
    let mut doubt = false;
    let mut roles = vec![false; Role::ALL.len()];
    let mut stack: Vec<u32> = if tree.nodes.is_empty() { Vec::new() } else { vec![0] };
    // A tree that is known to lack something as a whole proves no absence.
    if tree.kind.is_some() || tree.nodes.is_empty() {
        found.cuts += 1;
    }
    while let Some(at) = stack.pop() {
        let node = tree.node(at);
        found.searched += 1;
        if let Evidence::Known(role) = node.facts.role {
            roles[role as usize] = true;
        }
        match verdict(query, &node.facts) {
            Verdict::Yes => {
                found.matches.push(at);
                if !doubt {
                    found.sure = found.matches.len();
                }
            }
            Verdict::No => {}
            Verdict::Undecided if only_untold(query, &node.facts) => found.untold += 1,
            Verdict::Undecided => {
                found.undecided += 1;
                doubt = true;
            }
        }
        match &node.cut {
            // What is missing would stand after this element.
            Some(cut) if cut.incomplete() => {
                found.cuts += 1;
                doubt = true;
            }
            Some(Cut::Virtual) => found.virtual_containers += 1,
            _ => {}
        }
        let first = stack.len();
        stack.extend(children(tree, at));
        stack[first..].reverse();
    }
    found.roles_present = Role::ALL.iter().copied().filter(|r| roles[*r as usize]).collect();
    found
}
