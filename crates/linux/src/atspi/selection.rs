//! What is chosen in a container, as it is displayed: for the value of combo boxes. What verifies an action stands in [`crate::operate::selection`].

use super::compose::label_text;
use super::flight::{self, Subject};
use super::interface as i;
use super::native::{Field, Native};
use super::role::native as n;
use super::state::Native as States;
use super::toolkit::Toolkit;
use crate::bus::{Call, Object, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};

/// Children looked at on each level, and levels: items lie in the container or in a list or menu inside it.
const MAX_ITEMS: usize = 512;
const LEVELS: usize = 3;

/// The text of a combo box's chosen entry. Absent where the entry does not tell: one that opens a submenu stands for
/// what was chosen in there, and a cell for a row that is counted otherwise.
pub fn entry_text(entry: &Native, toolkit: Toolkit) -> Evidence<String> {
    match &entry.role {
        Evidence::Known(n::MENU_ITEM | n::CHECK_MENU_ITEM | n::RADIO_MENU_ITEM) => label_text(entry, toolkit),
        Evidence::Unknown(cause) => Evidence::Unknown(cause.clone()),
        _ => Evidence::Absent,
    }
}

/// The same of entries that are read for it, in one flight.
pub fn entries(wire: &dyn Wire, toolkit: Toolkit, entries: Vec<Object>, deadline: Deadline) -> Vec<Evidence<String>> {
    let mut subjects: Vec<Subject> =
        entries.into_iter().map(|object| Subject { object, native: Native::default() }).collect();
    let jobs = (0..subjects.len()).flat_map(|at| [(at, Field::Role), (at, Field::Name)]).collect();
    flight::read(wire, toolkit, &mut subjects, jobs, deadline);
    subjects.iter().map(|s| entry_text(&s.native, toolkit)).collect()
}

/// The text of what a combo box says is chosen, asked now.
pub fn of_combo(wire: &dyn Wire, toolkit: Toolkit, combo: &Object, deadline: Deadline) -> Evidence<String> {
    let mut asked = [Subject { object: combo.clone(), native: Native::default() }];
    flight::read(wire, toolkit, &mut asked, vec![(0, Field::Chosen)], deadline);
    match &asked[0].native.chosen {
        Evidence::Known(entry) => {
            entries(wire, toolkit, vec![entry.clone()], deadline).pop().unwrap_or(Evidence::Absent)
        }
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(cause) => Evidence::Unknown(cause.clone()),
    }
}

/// The display texts of what is selected in the container.
pub fn of(wire: &dyn Wire, toolkit: Toolkit, container: &Object, deadline: Deadline) -> Evidence<Vec<String>> {
    const FIELDS: [Field; 4] = [Field::Role, Field::States, Field::Name, Field::ChildCount];
    let mut subjects = vec![Subject { object: container.clone(), native: Native::default() }];
    flight::read(wire, toolkit, &mut subjects, FIELDS.map(|f| (0, f)).to_vec(), deadline);
    let root = &subjects[0].native;
    if let Evidence::Unknown(cause) = &root.states {
        return Evidence::Unknown(cause.clone());
    }
    if root.role_number() == Some(n::COMBO_BOX) && toolkit.combo_name_is_value() {
        return root.name.clone().blank_as_absent().map(|name| vec![name]);
    }
    let mut level = subjects;
    let mut found = Vec::new();
    for _ in 0..LEVELS {
        let parents: Vec<Object> = level
            .iter()
            .filter(|s| s.native.child_count.known().is_some_and(|c| (1..=MAX_ITEMS as u64).contains(c)))
            .map(|s| s.object.clone())
            .collect();
        if parents.is_empty() {
            break;
        }
        let calls = parents.iter().map(|p| Call::new(p, i::ACCESSIBLE, "GetChildren")).collect();
        let mut next = Vec::new();
        for answer in wire.flight(calls, deadline) {
            match answer.and_then(|r| r.objects()) {
                Ok(children) => next.extend(children.into_iter().filter(|o| !o.is_null())),
                Err(_) => return Evidence::Unknown(Cause::Late),
            }
        }
        level = next.into_iter().map(|object| Subject { object, native: Native::default() }).collect();
        let jobs = (0..level.len()).flat_map(|at| FIELDS.map(|f| (at, f))).collect();
        flight::read(wire, toolkit, &mut level, jobs, deadline);
        for subject in &level {
            match &subject.native.states {
                Evidence::Unknown(Cause::Gone) => {}
                Evidence::Unknown(cause) => return Evidence::Unknown(cause.clone()),
                Evidence::Known(states) if states.has(States::SELECTED) => {
                    if let Evidence::Known(text) = label_text(&subject.native, toolkit) {
                        found.push(text);
                    }
                }
                _ => {}
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    Evidence::Known(found)
}
