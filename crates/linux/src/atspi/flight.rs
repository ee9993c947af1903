//! Reading fields of many elements in few flights: the details that the plan asks for, and what follows from them.

use super::native::{Field, Label, MAX_ACTIONS, Native};
use super::toolkit::Toolkit;
use crate::bus::{Object, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};

/// One element under way.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its address.
    pub object: Object,
    /// What is known of it.
    pub native: Native,
}

/// Sends the reads and takes their answers. `at` says which subject each belongs to.
pub fn read(
    wire: &dyn Wire,
    toolkit: Toolkit,
    subjects: &mut [Subject],
    jobs: Vec<(usize, Field)>,
    deadline: Deadline,
) {
    if jobs.is_empty() {
        return;
    }
    let calls = jobs.iter().map(|(at, field)| field.call(&subjects[*at].object)).collect();
    for ((at, field), answer) in jobs.into_iter().zip(wire.flight(calls, deadline)) {
        subjects[at].native.take(field, answer, toolkit);
    }
}

/// What the first answers make necessary: names of actions, texts of known length, the role's name where an action
/// says that the number doesn't tell.
pub fn followers(native: &Native, toolkit: Toolkit, max_text: usize) -> Vec<Field> {
    let mut out = Vec::new();
    if let (Some(role), Evidence::Known(actions), Evidence::Absent) =
        (native.role_number(), &native.actions, &native.role_name)
        && toolkit.actions_hint_at_role_name(role, actions)
    {
        out.push(Field::RoleName);
    }
    if let Evidence::Known(n) = native.action_count {
        out.extend((0..n.min(MAX_ACTIONS) as u16).map(Field::ActionName));
    }
    if let Evidence::Known(n) = native.characters
        && n > 0
    {
        out.push(Field::Text(u32::try_from(n.min(max_text as u64)).unwrap_or(u32::MAX)));
    }
    out
}

/// Cuts a text to so many bytes at most, between characters.
pub fn clip(text: &mut String, max: usize) {
    if text.len() > max {
        let end = (0..=max).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
    }
}

/// Reads the names of labels that aren't known yet, in one flight.
pub fn read_labels(wire: &dyn Wire, toolkit: Toolkit, labels: Vec<&mut Label>, deadline: Deadline) {
    let mut labels: Vec<_> =
        labels.into_iter().filter(|l| matches!(l.text, Evidence::Unknown(Cause::NotRead))).collect();
    if labels.is_empty() {
        return;
    }
    let calls = labels.iter().map(|l| Field::Name.call(&l.object)).collect();
    for (label, answer) in labels.iter_mut().zip(wire.flight(calls, deadline)) {
        let mut native = Native::default();
        native.take(Field::Name, answer, toolkit);
        let type_name = native.name.known().is_some_and(|n| toolkit.blank_name(super::role::native::IMAGE, n));
        label.text = if type_name { Evidence::Absent } else { native.name.blank_as_absent() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let mut text = "aä€".to_owned();
        clip(&mut text, 2);
        assert_eq!(text, "a");
        clip(&mut text, 10);
        assert_eq!(text, "a");
    }

    #[test]
    fn long_lists_of_actions_are_cut() {
        let native = Native { action_count: Evidence::Known(55), characters: Evidence::Known(9), ..Native::default() };
        let got = followers(&native, Toolkit::Gtk3, 5);
        assert_eq!(got.len(), 17);
        assert_eq!(got.last(), Some(&Field::Text(5)));
    }
}
