//! What a trace tells about the way to an element: ids, roles and codes, no texts.

use super::Terms;
use crate::error::Result;
use crate::platform::Action;
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::Told;
use crate::trace::Recorder;
use crate::tree::json::qualified;
use serde_json::{Value, json};

/// The way of one action to its element, until it can be acted on.
pub(super) struct Story<'a> {
    trace: &'a Recorder,
    fields: Value,
    resolved: bool,
}

impl<'a> Story<'a> {
    /// The search begins.
    pub fn begin(terms: &Terms<'a>, map: &RefMap, entry: &Entry, action: &Action) -> Self {
        let trace = terms.trace;
        let fields = if trace.on() { fields(map, entry, action) } else { Value::Null };
        trace.event("ref.resolve.start", fields.clone());
        if trace.on() {
            trace.event("ref.resolve.entry", entry_fields(map, entry));
        }
        Self { trace, fields, resolved: false }
    }

    /// The element was proven; told once.
    pub fn resolved(&mut self, told: Told) {
        if !std::mem::replace(&mut self.resolved, true) && self.trace.on() {
            let mut fields = self.fields.clone();
            fields["identity"] = json!(told.token());
            self.trace.event("ref.resolve.ok", fields);
            self.trace.event("actionability.check.start", self.fields.clone());
        }
    }

    /// How it ended.
    pub fn end(self, result: &Result<()>) {
        let name = if self.resolved { "actionability.check" } else { "ref.resolve" };
        self.trace.outcome(name, result, self.fields, |()| Value::Null);
    }
}

fn reference(map: &RefMap, entry: &Entry) -> Option<String> {
    let number = map.entries.iter().find(|(_, e)| std::ptr::eq(*e, entry)).map(|(number, _)| *number);
    number.map(|number| qualified(&map.snapshot_id, number))
}

/// The ref and what is to be done to it.
fn fields(map: &RefMap, entry: &Entry, action: &Action) -> Value {
    json!({"ref": reference(map, entry), "action": action.name()})
}

/// What the saved entry says about where the element is.
pub(crate) fn entry_fields(map: &RefMap, entry: &Entry) -> Value {
    json!({
        "ref": reference(map, entry),
        "role": entry.role,
        "app": map.source.app,
        "app_pid": map.process.pid,
        "window_id": map.source.window_id,
        "surface": map.source.surface,
    })
}

/// Something is about to be sent. Under `--trace-strict` this is the last moment to refuse.
pub(super) fn dispatching(terms: &Terms<'_>, map: &RefMap, entry: &Entry, action: &Action, how: Value) -> Result<()> {
    tell(terms, "action.dispatch.start", map, entry, action, how);
    terms.trace.check()
}

/// Something was sent.
pub(super) fn dispatched(terms: &Terms<'_>, map: &RefMap, entry: &Entry, action: &Action, how: Value) {
    tell(terms, "action.dispatch.ok", map, entry, action, how);
}

fn tell(terms: &Terms<'_>, event: &str, map: &RefMap, entry: &Entry, action: &Action, how: Value) {
    if !terms.trace.on() {
        return;
    }
    let mut all = fields(map, entry, action);
    if let (Some(all), Value::Object(how)) = (all.as_object_mut(), how) {
        all.extend(how);
    }
    terms.trace.event(event, all);
}
