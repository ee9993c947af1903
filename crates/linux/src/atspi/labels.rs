//! Texts by which others name an element: relations, and labels inside it.

use super::compose::{label_text, takes_child_label, wants_child_labels};
use super::flight::{self, Subject};
use super::native::Label;
use super::role::{self, native as n};
use super::selection;
use super::toolkit::Toolkit;
use super::tree::Node;
use crate::bus::{Object, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::vocab::role::Role;
use std::collections::HashMap;

/// Labels of one element at most, and how deep they may lie in it.
const MAX_LABELS: usize = 4;
const MAX_DEPTH: usize = 5;

/// Fills in the labels of a tree's elements, from the tree itself wherever the labels are part of it.
pub fn in_tree(wire: &dyn Wire, toolkit: Toolkit, nodes: &[Node], subjects: &mut [Subject], deadline: Deadline) {
    let wanted: Vec<usize> = (0..nodes.len()).filter(|at| wants_child_labels(&subjects[*at].native, toolkit)).collect();
    for at in wanted {
        let found = inside(nodes, subjects, at, toolkit);
        subjects[at].native.child_labels = found;
    }
    let combos: Vec<usize> = (0..nodes.len())
        .filter(|at| subjects[*at].native.role_number() == Some(n::COMBO_BOX) && !toolkit.combo_name_is_value())
        .collect();
    for at in combos {
        let chosen = selected(nodes, subjects, at, toolkit);
        subjects[at].native.selected = chosen;
    }
    chosen(wire, toolkit, subjects, deadline);
    let related: Vec<usize> = (0..nodes.len())
        .filter(|at| matches!(&subjects[*at].native.labelled_by, Evidence::Known(l) if !l.is_empty()))
        .collect();
    if related.is_empty() {
        return;
    }
    let places: HashMap<Object, usize> = subjects.iter().enumerate().map(|(at, s)| (s.object.clone(), at)).collect();
    for at in &related {
        let Evidence::Known(mut list) = subjects[*at].native.labelled_by.clone() else { continue };
        for label in &mut list {
            if let Some(place) = places.get(&label.object) {
                label.text = label_text(&subjects[*place].native, toolkit);
            }
        }
        subjects[*at].native.labelled_by = Evidence::Known(list);
    }
    let unread = subjects.iter_mut().filter_map(|s| match &mut s.native.labelled_by {
        Evidence::Known(list) => Some(list.iter_mut()),
        _ => None,
    });
    flight::read_labels(wire, toolkit, unread.flatten().collect(), deadline);
}

/// Whether labels inside an element are that element's own, not those of what it stands in.
pub fn speaks_for_itself(role: Role) -> bool {
    takes_child_label(role) || role.interactive() || matches!(role, Role::Menu | Role::List)
}

/// The label nodes inside an element, in order, not looking into what has a name of its own.
fn inside(nodes: &[Node], subjects: &[Subject], top: usize, toolkit: Toolkit) -> Evidence<Vec<Label>> {
    let mut found = Vec::new();
    let mut stack = vec![(top, 0)];
    while let Some((at, depth)) = stack.pop() {
        let node = &nodes[at];
        if node.cut.as_ref().is_some_and(|c| c.incomplete()) && found.len() < MAX_LABELS {
            return Evidence::Unknown(Cause::NotRead);
        }
        let native = &subjects[at].native;
        let number = native.role_number().unwrap_or(n::INVALID);
        if at != top && role::is_label(number) {
            found.push(Label { object: subjects[at].object.clone(), text: label_text(native, toolkit) });
            if found.len() == MAX_LABELS {
                break;
            }
            continue;
        }
        let other = at != top && speaks_for_itself(role::map(number, native.states_or_none(), None));
        if !other && depth < MAX_DEPTH {
            stack.extend(node.children.iter().rev().map(|child| (*child, depth + 1)));
        }
    }
    Evidence::Known(found)
}

/// Texts of the entries that combo boxes say are chosen: from the tree, or read where they aren't part of it.
fn chosen(wire: &dyn Wire, toolkit: Toolkit, subjects: &mut [Subject], deadline: Deadline) {
    let told: Vec<(usize, Object)> =
        subjects.iter().enumerate().filter_map(|(at, s)| Some((at, s.native.chosen.known()?.clone()))).collect();
    if told.is_empty() {
        return;
    }
    let wanted: HashMap<&Object, usize> = told.iter().enumerate().map(|(i, (_, entry))| (entry, i)).collect();
    let mut texts = vec![None; told.len()];
    for subject in subjects.iter().filter(|s| s.native.role.known().is_some() && s.native.name.settled()) {
        if let Some(at) = wanted.get(&subject.object) {
            texts[*at] = Some(selection::entry_text(&subject.native, toolkit));
        }
    }
    let missing: Vec<usize> = (0..told.len()).filter(|at| texts[*at].is_none()).collect();
    let entries = missing.iter().map(|at| told[*at].1.clone()).collect::<Vec<_>>();
    if !entries.is_empty() {
        for (at, text) in missing.into_iter().zip(selection::entries(wire, toolkit, entries, deadline)) {
            texts[at] = Some(text);
        }
    }
    for ((at, _), text) in told.iter().zip(texts) {
        subjects[*at].native.selected = text.unwrap_or(Evidence::Unknown(Cause::NotRead));
    }
}

/// The display text of what is chosen in a combo box: the selected item below it.
fn selected(nodes: &[Node], subjects: &[Subject], top: usize, toolkit: Toolkit) -> Evidence<String> {
    let mut stack = vec![top];
    while let Some(at) = stack.pop() {
        let native = &subjects[at].native;
        if at != top && native.states_or_none().has(super::state::Native::SELECTED) {
            return label_text(native, toolkit);
        }
        if nodes[at].cut.as_ref().is_some_and(|c| c.incomplete()) {
            return Evidence::Unknown(Cause::NotRead);
        }
        stack.extend(nodes[at].children.iter().rev());
    }
    Evidence::Absent
}
