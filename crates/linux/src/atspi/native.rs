//! One element as its replies told it, and the reads that fill it in. What the replies mean is [`super::compose`]'s.

use super::interface::{self as i, Interfaces};
use super::state::Native as States;
use super::toolkit::Toolkit;
use crate::bus::{Body, Call, CallError, Object, Reply};
use crate::outcome::read::{Asked, ReadOutcome, classify};
use agent_desktop_core::evidence::{Cause, Evidence};
use std::collections::HashMap;

/// An element whose text is part of another one's name.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The labelling element.
    pub object: Object,
    /// Its text.
    pub text: Evidence<String>,
}

/// Replies about one element. What does not apply to it is absent; what applies and was not read is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// Role number.
    pub role: Evidence<u32>,
    /// Role name, where the number says less.
    pub role_name: Evidence<String>,
    /// Accessible name.
    pub name: Evidence<String>,
    /// Description.
    pub description: Evidence<String>,
    /// States.
    pub states: Evidence<States>,
    /// Interfaces.
    pub interfaces: Evidence<Interfaces>,
    /// Child count.
    pub child_count: Evidence<u64>,
    /// How many actions there are.
    pub action_count: Evidence<u64>,
    /// Names of the actions.
    pub actions: Evidence<Vec<String>>,
    /// Accessible id.
    pub id: Evidence<String>,
    /// Attributes.
    pub attributes: Evidence<HashMap<String, String>>,
    /// Length of the text, in characters.
    pub characters: Evidence<u64>,
    /// The text.
    pub text: Evidence<String>,
    /// Current value.
    pub number: Evidence<f64>,
    /// The child that the element says is chosen, where it is asked for it.
    pub chosen: Evidence<Object>,
    /// What is selected, as text.
    pub selected: Evidence<String>,
    /// Elements that label this one by relation.
    pub labelled_by: Evidence<Vec<Label>>,
    /// Labels among the descendants.
    pub child_labels: Evidence<Vec<Label>>,
    /// Extents: x, y, width, height.
    pub extents: Evidence<(i32, i32, i32, i32)>,
    /// Row and column.
    pub cell: Evidence<(i64, i64)>,
    /// The dead answer, where one came.
    pub dead: Option<String>,
    /// Whether any read was answered at all.
    pub answered: bool,
    /// Whether its application has answered, or may answer, a question for ids.
    pub has_ids: bool,
}

impl Default for Native {
    fn default() -> Self {
        fn unread<T>() -> Evidence<T> {
            Evidence::Unknown(Cause::NotRead)
        }
        Self {
            role: unread(),
            role_name: Evidence::Absent,
            name: unread(),
            description: unread(),
            states: unread(),
            interfaces: unread(),
            child_count: unread(),
            action_count: Evidence::Absent,
            actions: Evidence::Absent,
            id: Evidence::Absent,
            attributes: Evidence::Absent,
            characters: Evidence::Absent,
            text: Evidence::Absent,
            number: Evidence::Absent,
            chosen: Evidence::Absent,
            selected: Evidence::Absent,
            labelled_by: Evidence::Absent,
            child_labels: Evidence::Absent,
            extents: unread(),
            cell: Evidence::Absent,
            dead: None,
            answered: false,
            has_ids: true,
        }
    }
}

/// One thing to read about an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Field {
    Role,
    RoleName,
    Name,
    Description,
    States,
    Interfaces,
    ChildCount,
    ActionCount,
    ActionName(u16),
    /// All names at once.
    Actions,
    Id,
    Attributes,
    Characters,
    /// Text of this many characters at most.
    Text(u32),
    Number,
    Relations,
    /// In screen coordinates as the toolkit understands them.
    Extents,
    Cell,
    /// The first selected child.
    Chosen,
}

/// What every element is asked.
pub const BASIC: &[Field] =
    &[Field::Role, Field::States, Field::Name, Field::Description, Field::Interfaces, Field::ChildCount];

/// Actions asked for by name at most: Java's text fields list some fifty of their key map (FINDINGS §2).
pub const MAX_ACTIONS: u64 = 16;

impl Field {
    /// The call that reads it.
    pub fn call(self, object: &Object) -> Call {
        match self {
            Field::Role => Call::new(object, i::ACCESSIBLE, "GetRole"),
            Field::RoleName => Call::new(object, i::ACCESSIBLE, "GetRoleName"),
            Field::Name => Call::get(object, i::ACCESSIBLE, "Name"),
            Field::Description => Call::get(object, i::ACCESSIBLE, "Description"),
            Field::States => Call::new(object, i::ACCESSIBLE, "GetState"),
            Field::Interfaces => Call::new(object, i::ACCESSIBLE, "GetInterfaces"),
            Field::ChildCount => Call::get(object, i::ACCESSIBLE, "ChildCount"),
            Field::ActionCount => Call::get(object, i::ACTION, "NActions"),
            Field::ActionName(at) => Call::with(object, i::ACTION, "GetName", Body::Int(i32::from(at))),
            Field::Actions => Call::new(object, i::ACTION, "GetActions"),
            Field::Id => Call::get(object, i::ACCESSIBLE, "AccessibleId"),
            Field::Attributes => Call::new(object, i::ACCESSIBLE, "GetAttributes"),
            Field::Characters => Call::get(object, i::TEXT, "CharacterCount"),
            Field::Text(n) => {
                Call::with(object, i::TEXT, "GetText", Body::Ints(0, i32::try_from(n).unwrap_or(i32::MAX)))
            }
            Field::Number => Call::get(object, i::VALUE, "CurrentValue"),
            Field::Relations => Call::new(object, i::ACCESSIBLE, "GetRelationSet"),
            Field::Extents => Call::with(object, i::COMPONENT, "GetExtents", Body::UInt(0)),
            Field::Cell => Call::get(object, i::TABLE_CELL, "Position"),
            Field::Chosen => Call::with(object, i::SELECTION, "GetSelectedChild", Body::Int(0)),
        }
    }

    fn asked(self) -> Asked {
        match self {
            Field::Role | Field::RoleName | Field::States | Field::Interfaces => Asked::Liveness,
            Field::Name | Field::Description | Field::ChildCount => Asked::Core,
            _ => Asked::Optional,
        }
    }
}

/// `LABELLED_BY` among AT-SPI's relations.
const LABELLED_BY: u32 = 2;

fn count(n: i64) -> Option<u64> {
    u64::try_from(n).ok()
}

impl Native {
    /// Marks a field as one that applies: unknown until its answer comes.
    pub fn await_field(&mut self, field: Field) {
        fn unread<T>(slot: &mut Evidence<T>) {
            if matches!(slot, Evidence::Absent) {
                *slot = Evidence::Unknown(Cause::NotRead);
            }
        }
        match field {
            Field::RoleName => unread(&mut self.role_name),
            Field::ActionCount => {
                unread(&mut self.action_count);
                unread(&mut self.actions);
            }
            Field::Actions | Field::ActionName(_) => unread(&mut self.actions),
            Field::Id => unread(&mut self.id),
            Field::Attributes => unread(&mut self.attributes),
            Field::Characters => {
                unread(&mut self.characters);
                unread(&mut self.text);
            }
            Field::Number => unread(&mut self.number),
            Field::Relations => unread(&mut self.labelled_by),
            Field::Cell => unread(&mut self.cell),
            Field::Chosen => {
                unread(&mut self.chosen);
                unread(&mut self.selected);
            }
            _ => {}
        }
    }

    /// Puts away what does not belong to the element by its read plan: a probe asks everything at once.
    pub fn keep(&mut self, wanted: &[Field]) {
        let has = |field: Field| wanted.contains(&field);
        if !has(Field::RoleName) {
            self.role_name = Evidence::Absent;
        }
        if !has(Field::ActionCount) {
            self.action_count = Evidence::Absent;
        }
        if ![Field::ActionCount, Field::Actions, Field::ActionName(0)].into_iter().any(has) {
            self.actions = Evidence::Absent;
        }
        if !has(Field::Id) {
            self.id = Evidence::Absent;
        }
        if !has(Field::Attributes) {
            self.attributes = Evidence::Absent;
        }
        if !has(Field::Characters) {
            (self.characters, self.text) = (Evidence::Absent, Evidence::Absent);
        }
        if !has(Field::Number) {
            self.number = Evidence::Absent;
        }
        if !has(Field::Relations) {
            self.labelled_by = Evidence::Absent;
        }
        if !has(Field::Extents) {
            self.extents = Evidence::Unknown(Cause::NotRead);
        }
        if !has(Field::Cell) {
            self.cell = Evidence::Absent;
        }
        if !has(Field::Chosen) {
            self.chosen = Evidence::Absent;
        }
    }

    /// Takes the answer of one read.
    pub fn take(&mut self, field: Field, answer: Result<Reply, CallError>, toolkit: Toolkit) {
        match field {
            Field::Role => self.role = self.read(field, answer, toolkit, |r| r.uint()),
            Field::RoleName => self.role_name = self.read(field, answer, toolkit, |r| r.text()),
            Field::Name => self.name = self.read(field, answer, toolkit, |r| r.text_property()),
            Field::Description => self.description = self.read(field, answer, toolkit, |r| r.text_property()),
            Field::States => self.states = self.read(field, answer, toolkit, |r| r.states().map(States)),
            Field::Interfaces => {
                self.interfaces = self.read(field, answer, toolkit, |r| r.texts().map(|t| Interfaces::parse(&t)));
            }
            Field::ChildCount => {
                let got = self.read(field, answer, toolkit, |r| r.int_property());
                self.child_count = negative_as_fault(got);
            }
            Field::ActionCount => {
                let got = self.read(field, answer, toolkit, |r| r.int_property());
                self.action_count = negative_as_fault(got);
                self.actions = match &self.action_count {
                    Evidence::Known(0) | Evidence::Absent => Evidence::Absent,
                    Evidence::Known(_) => Evidence::Unknown(Cause::NotRead),
                    Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
                };
            }
            // A name that can't be read is one that isn't in the table (GTK 4: "No action with index 0").
            Field::ActionName(_) => match self.read(field, answer, toolkit, |r| r.text()) {
                Evidence::Known(name) => {
                    let second = toolkit.second_action().filter(|second| !name.is_empty() && *second != name);
                    match &mut self.actions {
                        Evidence::Known(list) => list.push(name),
                        other => *other = Evidence::Known(vec![name]),
                    }
                    if let (Some(second), Evidence::Known(list)) = (second, &mut self.actions) {
                        list.push(second.to_owned());
                    }
                }
                Evidence::Unknown(c @ (Cause::Late | Cause::Gone)) => self.actions = Evidence::Unknown(c),
                _ if matches!(self.actions, Evidence::Unknown(Cause::NotRead)) => {
                    self.actions = Evidence::Known(vec![String::new()]);
                }
                _ => {
                    if let Evidence::Known(list) = &mut self.actions {
                        list.push(String::new());
                    }
                }
            },
            Field::Actions => self.actions = self.read(field, answer, toolkit, |r| r.action_names()),
            Field::Id => {
                self.has_ids = !matches!(answer, Err(CallError::Remote { .. }));
                self.id = self.read(field, answer, toolkit, |r| r.text_property()).blank_as_absent();
            }
            Field::Attributes => self.attributes = self.read(field, answer, toolkit, |r| r.attributes()),
            Field::Characters => {
                let got = self.read(field, answer, toolkit, |r| r.int_property());
                self.characters = negative_as_fault(got);
                self.text = match &self.characters {
                    Evidence::Known(0) => Evidence::Known(String::new()),
                    Evidence::Known(_) => Evidence::Unknown(Cause::NotRead),
                    Evidence::Absent => Evidence::Absent,
                    Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
                };
            }
            Field::Text(_) => self.text = self.read(field, answer, toolkit, |r| r.text()),
            Field::Number => self.number = self.read(field, answer, toolkit, |r| r.real_property()),
            Field::Relations => {
                self.labelled_by = self.read(field, answer, toolkit, |r| r.relations()).map(|all| {
                    let labels = all.into_iter().filter(|(kind, _)| *kind == LABELLED_BY).flat_map(|(_, t)| t);
                    let unread = Evidence::Unknown(Cause::NotRead);
                    labels.filter(|o| !o.is_null()).map(|object| Label { object, text: unread.clone() }).collect()
                });
            }
            Field::Extents => self.extents = self.read(field, answer, toolkit, |r| r.extents()),
            Field::Cell => {
                let got = self.read(field, answer, toolkit, |r| r.ints_property());
                self.cell = got.map(|(row, column)| (i64::from(row), i64::from(column)));
            }
            Field::Chosen => {
                self.chosen = match self.read(field, answer, toolkit, |r| r.object()) {
                    Evidence::Known(child) if child.is_null() => Evidence::Absent,
                    chosen => chosen,
                };
                self.selected = match &self.chosen {
                    Evidence::Known(_) => Evidence::Unknown(Cause::NotRead),
                    Evidence::Absent => Evidence::Absent,
                    Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
                };
            }
        }
    }

    fn read<T>(
        &mut self,
        field: Field,
        answer: Result<Reply, CallError>,
        toolkit: Toolkit,
        decode: impl FnOnce(&Reply) -> Result<T, CallError>,
    ) -> Evidence<T> {
        self.answered |= matches!(answer, Ok(_) | Err(CallError::Remote { .. }));
        match answer.and_then(|reply| decode(&reply)) {
            Ok(value) => Evidence::Known(value),
            Err(error) => {
                let outcome = classify(&error, toolkit, field.asked());
                // What an element need not have proves no death.
                if let (ReadOutcome::Gone(why), true) = (&outcome, field.asked() != Asked::Optional) {
                    self.dead.get_or_insert_with(|| why.clone());
                }
                outcome.evidence()
            }
        }
    }

    /// The role's number, where known.
    pub fn role_number(&self) -> Option<u32> {
        self.role.known().copied()
    }

    /// The states, where known; else none are claimed.
    pub fn states_or_none(&self) -> States {
        self.states.known().copied().unwrap_or_default()
    }

    /// The interfaces, where known; else none are claimed.
    pub fn interfaces_or_none(&self) -> Interfaces {
        self.interfaces.known().copied().unwrap_or_default()
    }

    /// The attribute of this name, as evidence.
    pub fn attribute(&self, name: &str) -> Evidence<String> {
        match &self.attributes {
            Evidence::Known(all) => all.get(name).cloned().map_or(Evidence::Absent, Evidence::Known).blank_as_absent(),
            Evidence::Absent => Evidence::Absent,
            Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
        }
    }
}

fn negative_as_fault(got: Evidence<i64>) -> Evidence<u64> {
    match got {
        Evidence::Known(v) => {
            count(v).map_or_else(|| Evidence::Unknown(Cause::Fault(format!("a count of {v}"))), Evidence::Known)
        }
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(c) => Evidence::Unknown(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::reply::tests::reply;
    use zbus::zvariant::Value;

    #[test]
    fn counts_below_zero_are_no_counts() {
        let mut native = Native::default();
        native.take(Field::ChildCount, Ok(reply(&Value::from(-1i32))), Toolkit::Gtk3);
        assert!(matches!(native.child_count, Evidence::Unknown(Cause::Fault(_))));
    }

    #[test]
    fn action_names_keep_their_index() {
        let mut native = Native::default();
        native.await_field(Field::ActionCount);
        assert_eq!(native.actions, Evidence::Unknown(Cause::NotRead));
        native.take(Field::ActionCount, Ok(reply(&Value::from(2i32))), Toolkit::Gtk4);
        let refused = CallError::Remote { name: "org.gtk.GDBus.UnmappedGError.X".into(), message: "No action".into() };
        native.take(Field::ActionName(0), Err(refused), Toolkit::Gtk4);
        native.take(Field::ActionName(1), Ok(reply(&"click")), Toolkit::Gtk4);
        assert_eq!(native.actions, Evidence::Known(vec![String::new(), "click".to_owned()]));
        native.take(Field::ActionName(2), Err(CallError::Late { sent: true }), Toolkit::Gtk4);
        assert_eq!(native.actions, Evidence::Unknown(Cause::Late));
    }

    #[test]
    fn a_dead_answer_is_kept() {
        let mut native = Native::default();
        let dead =
            CallError::Remote { name: "org.freedesktop.DBus.Error.UnknownObject".into(), message: String::new() };
        native.take(Field::States, Err(dead), Toolkit::Qt5);
        assert_eq!(native.states, Evidence::Unknown(Cause::Gone));
        assert!(native.dead.is_some() && native.answered);
    }
}
