//! What steps do to the tree, and the events that go with it.

use super::events::Event;
use super::{Engine, Msg};
use crate::build;
use crate::names;
use crate::refuse;
use crate::scenario::Child;
use crate::steps::{Change, Step};
use crate::tree::Idx;
use crate::wire::Body;
use serde_json::json;

impl Engine {
    /// Runs steps now, delayed ones later. What can't be done stands in the log.
    pub(super) fn run_steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            if step.after_ms > 0 {
                let after_ms = step.after_ms;
                let now = Step { after_ms: 0, ..step };
                self.later(after_ms, Msg::Steps(vec![now]));
            } else if let Err(error) = self.change(step.change) {
                self.log.write("step_failed", json!({"error": error}));
            }
        }
    }

    /// Makes one change.
    pub(super) fn change(&mut self, change: Change) -> Result<(), String> {
        match change {
            Change::Remove { node } => self.remove(self.tree.find(&node)?),
            Change::Detach { node } => {
                let idx = self.tree.find(&node)?;
                let (parent, index) = self.tree.detach(idx).ok_or("it stands in no child list")?;
                self.tell_child(parent, idx, index, false);
            }
            Change::Rename { node, name } => self.rename(self.tree.find(&node)?, name),
            Change::RenameMany { names } => {
                for (node, name) in names {
                    self.rename(self.tree.find(&node)?, name);
                }
            }
            Change::Describe { node, description } => {
                let idx = self.tree.find(&node)?;
                self.tree.node_mut(idx).description.clone_from(&description);
                self.tell_property(idx, "accessible-description", Body::string(&description));
            }
            Change::Move { node, parent, index } => self.relocate(&node, &parent, index)?,
            Change::Add { parent, index, node } => {
                let parent = self.tree.find(&parent)?;
                self.add(parent, index, &node)?;
            }
            Change::OpenWindow { app, window } => {
                let root = self.root_of(app.as_deref())?;
                for idx in self.add(root, None, &Child::Node(window))? {
                    self.announce(idx, "Window", "Create");
                    self.put_state(idx, "active", true);
                    self.announce(idx, "Window", "Activate");
                }
            }
            Change::CloseWindow { node } => {
                let idx = self.tree.find(&node)?;
                self.announce(idx, "Window", "Deactivate");
                self.announce(idx, "Window", "Destroy");
                self.remove(idx);
            }
            Change::SetStates { node, add, remove } => {
                let idx = self.tree.find(&node)?;
                for (list, on) in [(&remove, false), (&add, true)] {
                    for state in list {
                        names::state_bit(state).ok_or_else(|| format!("unknown state {state:?}"))?;
                        self.put_state(idx, state, on);
                    }
                }
            }
            Change::ToggleState { node, state } => {
                let idx = self.tree.find(&node)?;
                let bit = names::state_bit(&state).ok_or_else(|| format!("unknown state {state:?}"))?;
                let on = self.tree.node(idx).states & (1 << bit) == 0;
                self.put_state(idx, &state, on);
            }
            Change::SetText { node, text } => {
                let idx = self.tree.find(&node)?;
                if !self.replace_text(idx, text) {
                    return Err(format!("{node:?} has no text"));
                }
            }
            Change::SetValue { node, value } => {
                let idx = self.tree.find(&node)?;
                self.put_value(idx, value);
            }
            Change::SetRole { node, role } => {
                let idx = self.tree.find(&node)?;
                self.tree.node_mut(idx).role = role.number()?;
            }
            Change::SetExtents { node, extents } => {
                let idx = self.tree.find(&node)?;
                self.tree.node_mut(idx).extents = Some(extents);
                self.announce(idx, "Object", "BoundsChanged");
            }
            Change::SetChildCount { node, count } => {
                let idx = self.tree.find(&node)?;
                self.tree.node_mut(idx).child_count = count;
            }
            Change::Emit { node, class, name, detail, detail1, detail2 } => {
                let idx = self.tree.find(&node)?;
                let event = Event { detail: &detail, detail1, detail2, ..Event::plain(&class, &name) };
                self.emit(idx, &event);
            }
            Change::Hang { app, only_bus } => {
                for app in self.apps_named(app.as_deref())? {
                    self.presence[app].only_bus = only_bus;
                    self.presence[app].held.get_or_insert_default();
                }
            }
            Change::Resume { app, drop } => {
                for app in self.apps_named(app.as_deref())? {
                    let held = self.presence[app].held.take().unwrap_or_default();
                    for call in held.into_iter().filter(|_| !drop) {
                        self.serve_call(app, call);
                    }
                }
            }
            Change::Note { text } => {
                self.log.write("note", json!({"text": text}));
            }
            Change::Die {} => std::process::exit(super::calls::DEATH),
        }
        Ok(())
    }

    fn apps_named(&self, name: Option<&str>) -> Result<Vec<usize>, String> {
        let all = 0..self.tree.apps.len();
        let apps: Vec<usize> = all.filter(|app| name.is_none_or(|name| name == self.app_name(*app))).collect();
        if apps.is_empty() {
            return Err(format!("no application {:?}", name.unwrap_or("")));
        }
        Ok(apps)
    }

    fn root_of(&self, app: Option<&str>) -> Result<Idx, String> {
        let first = self.apps_named(app)?.first().copied().unwrap_or(0);
        Ok(self.tree.apps[first].root)
    }

    fn add(&mut self, parent: Idx, index: Option<usize>, child: &Child) -> Result<Vec<Idx>, String> {
        let added = build::add(&mut self.tree, child, parent, index)?;
        for &idx in &added {
            if let Some(index) = self.tree.position(idx) {
                self.tell_child(parent, idx, index, true);
            }
        }
        Ok(added)
    }

    fn remove(&mut self, idx: Idx) {
        let place = self.tree.detach(idx);
        let dead = self.tree.kill(idx);
        let answer = self.tree.apps[self.tree.node(idx).app].dead_answer();
        for &gone in &dead {
            refuse::leave_remains(answer, self.tree.node_mut(gone));
        }
        self.tell_state(idx, "defunct", true);
        if let Some((parent, index)) = place {
            self.tell_child(parent, idx, index, false);
        }
        let owed: Vec<u64> = self
            .owed
            .iter()
            .filter(|(_, owed)| {
                owed.until_removed.as_ref().is_some_and(|id| dead.iter().any(|gone| &self.tree.node(*gone).id == id))
            })
            .map(|(number, _)| *number)
            .collect();
        for number in owed {
            self.pay(number);
        }
    }

    fn relocate(&mut self, node: &str, parent: &str, index: Option<usize>) -> Result<(), String> {
        let (idx, parent) = (self.tree.find(node)?, self.tree.find(parent)?);
        if self.tree.is_inside(parent, idx) {
            return Err(format!("{node:?} can't move into itself"));
        }
        if self.tree.node(idx).app != self.tree.node(parent).app {
            return Err("a node can't move to another application".into());
        }
        if let Some((old, at)) = self.tree.detach(idx) {
            self.tell_child(old, idx, at, false);
        }
        let at = self.tree.attach(idx, parent, index);
        self.tell_child(parent, idx, at, true);
        Ok(())
    }

    fn rename(&mut self, idx: Idx, name: String) {
        let body = Body::string(&name);
        self.tree.node_mut(idx).name = name;
        self.tell_property(idx, "accessible-name", body);
    }

    fn tell_property(&self, idx: Idx, property: &str, value: Body) {
        self.tell(idx, &Event { detail: property, any: value, ..Event::plain("Object", "PropertyChange") });
    }

    fn tell_state(&self, idx: Idx, state: &str, on: bool) {
        let name = names::state_bit(state).map(names::state_event_name);
        self.tell(
            idx,
            &Event {
                detail: name.as_deref().unwrap_or(state),
                detail1: i32::from(on),
                ..Event::plain("Object", "StateChanged")
            },
        );
    }

    /// Sets or clears a state, with its event when it was the other way.
    pub(super) fn put_state(&mut self, idx: Idx, state: &str, on: bool) {
        let Some(bit) = names::state_bit(state) else {
            return;
        };
        let node = self.tree.node_mut(idx);
        let before = node.states;
        if on {
            node.states |= 1 << bit;
        } else {
            node.states &= !(1 << bit);
        }
        if node.states != before {
            self.tell_state(idx, state, on);
        }
    }

    /// Gives a node the focus, and takes it from the one in the same application that has it.
    pub(super) fn move_focus(&mut self, idx: Idx) {
        let app = self.tree.node(idx).app;
        let focused = names::state_bit("focused").map_or(0u64, |bit| 1 << bit);
        let others: Vec<Idx> = (0..self.tree.nodes.len() as Idx)
            .filter(|other| {
                let node = self.tree.node(*other);
                *other != idx && node.app == app && node.states & focused != 0
            })
            .collect();
        for other in others {
            self.put_state(other, "focused", false);
        }
        self.put_state(idx, "focused", true);
    }

    /// Sets a value with its event.
    pub(super) fn put_value(&mut self, idx: Idx, wanted: f64) {
        if let Some(value) = &mut self.tree.node_mut(idx).value {
            value.current = wanted;
        }
        let body = Body::new("d", |w| w.f64(wanted));
        self.tell_property(idx, "accessible-value", body);
    }

    /// Replaces a text with its events; false for a node without text.
    pub(super) fn replace_text(&mut self, idx: Idx, content: String) -> bool {
        let new = content.chars().count();
        let Some(text) = &mut self.tree.node_mut(idx).text else {
            return false;
        };
        let old = std::mem::replace(&mut text.content, content);
        text.caret = text.caret.min(i32::try_from(new).unwrap_or(i32::MAX));
        let inserted = text.content.clone();
        for (detail, part) in [("delete", old), ("insert", inserted)] {
            if !part.is_empty() {
                self.tell(
                    idx,
                    &Event {
                        detail,
                        detail2: i32::try_from(part.chars().count()).unwrap_or(i32::MAX),
                        any: Body::string(&part),
                        ..Event::plain("Object", "TextChanged")
                    },
                );
            }
        }
        true
    }
}
