//! Writes: what counts as one, what it says in the log, and what it changes.

use super::Engine;
use crate::call::{Call, Reply};
use crate::names;
use crate::read::text::{length, slice};
use crate::refuse;
use crate::tree::{Idx, TextState};
use crate::wire::Body;
use serde_json::{Value, json};
use zbus::zvariant;

/// Interface, member and signature of everything that writes.
const WRITES: &[(&str, &str, &str)] = &[
    ("Action", "DoAction", "i"),
    ("EditableText", "SetTextContents", "s"),
    ("EditableText", "InsertText", "isi"),
    ("EditableText", "DeleteText", "ii"),
    ("EditableText", "CopyText", "ii"),
    ("EditableText", "CutText", "ii"),
    ("EditableText", "PasteText", "i"),
    ("Text", "SetCaretOffset", "i"),
    ("Text", "AddSelection", "ii"),
    ("Text", "RemoveSelection", "i"),
    ("Text", "SetSelection", "iii"),
    ("Text", "ScrollSubstringTo", "iiu"),
    ("Text", "ScrollSubstringToPoint", "iiuii"),
    ("Selection", "SelectChild", "i"),
    ("Selection", "DeselectSelectedChild", "i"),
    ("Selection", "DeselectChild", "i"),
    ("Selection", "SelectAll", ""),
    ("Selection", "ClearSelection", ""),
    ("Component", "GrabFocus", ""),
    ("Component", "ScrollTo", "u"),
    ("Component", "ScrollToPoint", "uii"),
    ("Component", "SetExtents", "iiiiu"),
    ("Component", "SetPosition", "iiu"),
    ("Component", "SetSize", "ii"),
    ("Table", "AddRowSelection", "i"),
    ("Table", "AddColumnSelection", "i"),
    ("Table", "RemoveRowSelection", "i"),
    ("Table", "RemoveColumnSelection", "i"),
];

/// A write with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Short interface name.
    pub interface: &'static str,
    /// Member; `SetCurrentValue` for the property.
    pub member: &'static str,
    /// Arguments.
    pub args: Vec<Value>,
}

fn entry(call: &Call) -> Option<(&'static str, &'static str, &'static str)> {
    if call.member == "Set" && call.property.is_some() {
        return (call.meant() == ("org.a11y.atspi.Value", "CurrentValue")).then_some(("Value", "SetCurrentValue", "d"));
    }
    let short = call.interface.strip_prefix("org.a11y.atspi.")?;
    WRITES.iter().find(|(interface, member, _)| *interface == short && *member == call.member).copied()
}

/// Whether a call writes.
pub fn is_write(call: &Call) -> bool {
    entry(call).is_some()
}

impl Write {
    /// Reads a write; `None` when the call isn't one, an error when its arguments are wrong.
    pub fn parse(call: &Call) -> Option<Result<Self, Reply>> {
        let (interface, member, signature) = entry(call)?;
        let write = |args| Self { interface, member, args };
        if member == "SetCurrentValue" {
            let args = call.args::<(String, String, zvariant::OwnedValue)>();
            return Some(args.map(|(_, _, value)| write(vec![plain(&value)])));
        }
        let body = call.message.body();
        let got = body.signature().to_string_no_parens();
        if got != signature {
            return Some(Err(Reply::error(
                "org.freedesktop.DBus.Error.InvalidArgs",
                &format!("{member} takes ({signature}), not ({got})"),
            )));
        }
        if signature.is_empty() {
            return Some(Ok(write(Vec::new())));
        }
        let args =
            body.deserialize::<zvariant::Structure<'_>>().map(|fields| fields.fields().iter().map(plain).collect());
        Some(
            args.map(write).map_err(|error| Reply::error("org.freedesktop.DBus.Error.InvalidArgs", &error.to_string())),
        )
    }

    /// What is answered when it went well.
    pub fn success(&self) -> Reply {
        match self.member {
            "SetCurrentValue" | "CopyText" => Body::empty().into(),
            _ => Body::boolean(true).into(),
        }
    }

    fn int(&self, at: usize) -> i32 {
        let number = self.args.get(at).and_then(Value::as_i64).unwrap_or(0);
        i32::try_from(number).unwrap_or(0)
    }

    fn string(&self, at: usize) -> &str {
        self.args.get(at).and_then(Value::as_str).unwrap_or("")
    }
}

fn plain(value: &zvariant::Value<'_>) -> Value {
    match value {
        zvariant::Value::I32(n) => json!(n),
        zvariant::Value::U32(n) => json!(n),
        zvariant::Value::I64(n) => json!(n),
        zvariant::Value::F64(n) => json!(n),
        zvariant::Value::Bool(b) => json!(b),
        zvariant::Value::Str(text) => json!(text.as_str()),
        zvariant::Value::Value(inner) => plain(inner),
        other => json!(other.to_string()),
    }
}

impl Engine {
    /// Whether the node serves the write at all, and takes this action index.
    pub(super) fn check_write(&self, app: usize, call: &Call, idx: Idx, write: &Write) -> Result<(), Reply> {
        let app = &self.tree.apps[app];
        let node = self.tree.node(idx);
        let serves = names::interface_bit(write.interface).is_some_and(|bit| node.interfaces & (1 << bit) != 0);
        if !serves {
            return Err(refuse::no_member(app, call));
        }
        if write.member == "DoAction" && app.is_strict() && action_name(&node.actions, write).is_none() {
            return Err(Reply::error(
                "org.freedesktop.DBus.Error.InvalidArgs",
                &format!("Unknown action {}", write.int(0)),
            ));
        }
        Ok(())
    }

    /// False for a widget that isn't sensitive, is dead, or doesn't have the action.
    pub(super) fn would_have_effect(&self, idx: Idx, write: &Write) -> bool {
        let node = self.tree.node(idx);
        if node.dead {
            return false;
        }
        if write.member == "DoAction" {
            let sensitive = names::state_bit("sensitive").map_or(0u64, |bit| 1 << bit);
            return node.states & sensitive != 0 && action_name(&node.actions, write).is_some();
        }
        true
    }

    /// Does what the write says and answers as the toolkit would.
    pub(super) fn apply_write(&mut self, idx: Idx, write: &Write, would: bool) -> Reply {
        if !would {
            return write.success();
        }
        let done = self.change_by(idx, write);
        let node = self.tree.node(idx);
        let steps = if write.member == "DoAction" {
            let name = action_name(&node.actions, write).unwrap_or("");
            let steps = node.on_action.get(name).or_else(|| node.on_action.get("*"));
            steps.cloned()
        } else {
            node.on_write.get(write.member).cloned()
        };
        if let (Some(steps), true) = (steps, done) {
            let filled = steps.fill(&self.placeholders(Some(idx)));
            self.run_steps(filled);
        }
        match write.success() {
            Reply::Ok(body) if body.signature == "b" => Body::boolean(done).into(),
            reply => reply,
        }
    }

    fn change_by(&mut self, idx: Idx, write: &Write) -> bool {
        match write.member {
            "DoAction" | "CopyText" | "PasteText" => true,
            "SetTextContents" => self.replace_text(idx, write.string(0).to_owned()),
            "InsertText" => self.splice_text(idx, write.int(0), write.int(0), write.string(1)),
            "DeleteText" | "CutText" => self.splice_text(idx, write.int(0), write.int(1), ""),
            "SetCaretOffset" => self.with_text(idx, |text| {
                text.caret = write.int(0).clamp(0, length(&text.content));
                true
            }),
            "AddSelection" => self.with_text(idx, |text| {
                text.selections.push((write.int(0), write.int(1)));
                true
            }),
            "RemoveSelection" => self.with_text(idx, |text| {
                let at = usize::try_from(write.int(0)).unwrap_or(usize::MAX);
                (at < text.selections.len()).then(|| text.selections.remove(at)).is_some()
            }),
            "SetSelection" => self.with_text(idx, |text| {
                let at = usize::try_from(write.int(0)).unwrap_or(usize::MAX);
                let slot = text.selections.get_mut(at);
                slot.map(|slot| *slot = (write.int(1), write.int(2))).is_some()
            }),
            "SetCurrentValue" => {
                let wanted = write.args.first().and_then(Value::as_f64);
                match (wanted, self.tree.node(idx).value) {
                    (Some(wanted), Some(value)) => {
                        let clamped = wanted.max(value.minimum).min(value.maximum);
                        self.put_value(idx, clamped);
                        true
                    }
                    _ => false,
                }
            }
            "GrabFocus" => {
                self.move_focus(idx);
                true
            }
            "ScrollTo" | "ScrollToPoint" => {
                self.put_state(idx, "showing", true);
                true
            }
            "SelectChild" | "DeselectChild" => {
                let child = usize::try_from(write.int(0)).ok();
                let child = child.and_then(|at| self.tree.node(idx).children.get(at).copied());
                child.is_some_and(|child| {
                    self.select(idx, child, write.member == "SelectChild");
                    true
                })
            }
            "DeselectSelectedChild" => {
                let nth = usize::try_from(write.int(0)).ok();
                let child = nth.and_then(|nth| self.selected_children(idx).get(nth).copied());
                child.is_some_and(|child| {
                    self.select(idx, child, false);
                    true
                })
            }
            "SelectAll" => {
                for child in self.tree.node(idx).children.clone() {
                    self.put_state(child, "selected", true);
                }
                true
            }
            "ClearSelection" => {
                for child in self.selected_children(idx) {
                    self.put_state(child, "selected", false);
                }
                true
            }
            _ => false,
        }
    }

    fn with_text(&mut self, idx: Idx, change: impl FnOnce(&mut TextState) -> bool) -> bool {
        self.tree.node_mut(idx).text.as_mut().is_some_and(change)
    }

    fn splice_text(&mut self, idx: Idx, start: i32, end: i32, insert: &str) -> bool {
        let Some(text) = &self.tree.node(idx).text else {
            return false;
        };
        let before = slice(&text.content, 0, start.max(0));
        let after = slice(&text.content, if end < 0 { i32::MAX } else { end }, -1);
        self.replace_text(idx, format!("{before}{insert}{after}"))
    }

    fn selected_children(&self, idx: Idx) -> Vec<Idx> {
        let bit = names::state_bit("selected").map_or(0u64, |bit| 1 << bit);
        let children = self.tree.node(idx).children.iter().copied();
        children.filter(|c| self.tree.node(*c).states & bit != 0).collect()
    }

    /// Selects a child; in a container that isn't `multiselectable`, alone.
    fn select(&mut self, container: Idx, child: Idx, on: bool) {
        let multi = names::state_bit("multiselectable").map_or(0u64, |bit| 1 << bit);
        if on && self.tree.node(container).states & multi == 0 {
            for other in self.selected_children(container) {
                if other != child {
                    self.put_state(other, "selected", false);
                }
            }
        }
        self.put_state(child, "selected", on);
        self.announce(container, "Object", "SelectionChanged");
    }

    /// Writes the log line of a write.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn log_write(
        &mut self,
        app: usize,
        call: &Call,
        node: Option<Idx>,
        write: Option<&Write>,
        effect: bool,
        reply: &str,
        replied: bool,
        late_ms: Option<u64>,
    ) -> u64 {
        let (interface, member) = call.meant();
        let mut line = json!({
            "app": self.app_name(app),
            "node": Value::Null,
            "path": call.path,
            "interface": interface,
            "member": write.map_or(member, |w| w.member),
            "args": write.map(|w| w.args.clone()),
            "sender": call.sender,
            "effect": effect,
            "reply": reply,
            "replied": replied,
        });
        if let Some(ms) = late_ms {
            line["late_ms"] = json!(ms);
        }
        if let Some(idx) = node {
            let node = self.tree.node(idx);
            line["node"] = json!(node.id);
            line["name"] = json!(node.name);
            if let Some(action) = write.filter(|w| w.member == "DoAction") {
                line["action"] = json!(action_name(&node.actions, action));
            }
            if let Some(parent) = node.parent {
                let children = self.tree.node(parent).children.iter();
                let beside: Vec<&str> = children
                    .filter(|other| **other != idx)
                    .take(4)
                    .map(|other| self.tree.node(*other).name.as_str())
                    .collect();
                line["beside"] = json!(beside);
            }
        }
        self.log.write("write", line)
    }
}

fn action_name<'a>(actions: &'a [String], write: &Write) -> Option<&'a str> {
    let index = usize::try_from(write.int(0)).ok()?;
    actions.get(index).map(String::as_str)
}
