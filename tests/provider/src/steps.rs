//! Steps: the changes that actions, faults, timers, scripts and the control socket make.

use crate::scenario::{Child, NodeSpec};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A checked list of steps, kept as JSON until it runs because placeholders are filled in then.
#[derive(Clone, Debug, Default)]
pub struct Steps(Vec<Value>);

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = Value::deserialize(deserializer)?;
        let list = match value {
            Value::Array(list) => list,
            one => vec![one],
        };
        for value in &list {
            Step::parse(value.clone()).map_err(|e| D::Error::custom(format!("step {value}: {e}")))?;
        }
        Ok(Self(list))
    }
}

/// What placeholders stand for while steps run.
#[derive(Clone, Debug, Default)]
pub struct Placeholders {
    /// `$self`: the node that was written to.
    pub this: Option<String>,
    /// `$parent`: its parent.
    pub parent: Option<String>,
    /// `{n}`: a timer's count.
    pub count: Option<i64>,
}

impl Steps {
    /// True without steps.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps with their placeholders filled in.
    pub fn fill(&self, with: &Placeholders) -> Vec<Step> {
        self.0
            .iter()
            .filter_map(|value| {
                let mut value = value.clone();
                fill_value(&mut value, with);
                // Filling changes only the content of strings, so what parsed once parses again.
                Step::parse(value).ok()
            })
            .collect()
    }
}

fn fill_value(value: &mut Value, with: &Placeholders) {
    match value {
        Value::String(text) => match text.as_str() {
            "$self" => {
                if let Some(this) = &with.this {
                    text.clone_from(this);
                }
            }
            "$parent" => {
                if let Some(parent) = &with.parent {
                    text.clone_from(parent);
                }
            }
            _ => {
                if let Some(count) = with.count
                    && text.contains("{n}")
                {
                    *text = text.replace("{n}", &count.to_string());
                }
            }
        },
        Value::Array(items) => items.iter_mut().for_each(|v| fill_value(v, with)),
        Value::Object(map) => map.values_mut().for_each(|v| fill_value(v, with)),
        _ => {}
    }
}

/// One step, perhaps delayed.
#[derive(Clone, Debug)]
pub struct Step {
    /// Delay.
    pub after_ms: u64,
    /// What changes.
    pub change: Change,
}

impl Step {
    /// Reads `{"cmd": …, "after_ms"?: N}`.
    pub fn parse(mut value: Value) -> Result<Self, String> {
        let after_ms = match value.as_object_mut().and_then(|map| map.remove("after_ms")) {
            None => 0,
            Some(value) => value.as_u64().ok_or("`after_ms` is a number of milliseconds")?,
        };
        let change = serde_json::from_value(value).map_err(|e| e.to_string())?;
        Ok(Self { after_ms, change })
    }
}

/// A change of the tree, or of the application's behaviour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "cmd", rename_all = "snake_case")]
pub enum Change {
    /// Takes a node and all below it out; it answers as a dead object from then on.
    Remove {
        /// Node id.
        node: String,
    },
    /// Takes a node out of its parent's child list; it and all below it go on answering (orphans).
    Detach {
        /// Node id.
        node: String,
    },
    /// Changes a name.
    Rename {
        /// Node id.
        node: String,
        /// New name.
        name: String,
    },
    /// Changes several names at once (recycled rows).
    RenameMany {
        /// Node id to new name.
        names: BTreeMap<String, String>,
    },
    /// Changes a description.
    Describe {
        /// Node id.
        node: String,
        /// New description.
        description: String,
    },
    /// Moves a node.
    Move {
        /// Node id.
        node: String,
        /// New parent.
        parent: String,
        /// Place among its children; last when left out.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Adds nodes.
    Add {
        /// Parent id; `root` for a window.
        parent: String,
        /// Place among its children; last when left out.
        #[serde(default)]
        index: Option<usize>,
        /// The node, or a generator.
        node: Box<Child>,
    },
    /// Adds a window to the application and announces it.
    OpenWindow {
        /// Application name; the first one when left out.
        #[serde(default)]
        app: Option<String>,
        /// The window.
        window: Box<NodeSpec>,
    },
    /// Removes a window and announces it.
    CloseWindow {
        /// Node id.
        node: String,
    },
    /// Sets and clears states.
    SetStates {
        /// Node id.
        node: String,
        /// States to set.
        #[serde(default)]
        add: Vec<String>,
        /// States to clear.
        #[serde(default)]
        remove: Vec<String>,
    },
    /// Turns a state around.
    ToggleState {
        /// Node id.
        node: String,
        /// State name.
        state: String,
    },
    /// Sets a text.
    SetText {
        /// Node id.
        node: String,
        /// New text.
        text: String,
    },
    /// Sets a value, unclamped.
    SetValue {
        /// Node id.
        node: String,
        /// New value.
        value: f64,
    },
    /// Changes a role.
    SetRole {
        /// Node id.
        node: String,
        /// New role.
        role: crate::scenario::Role,
    },
    /// Moves or resizes a node.
    SetExtents {
        /// Node id.
        node: String,
        /// New extents.
        extents: [i32; 4],
    },
    /// Claims another number of children (`null`: the real one).
    SetChildCount {
        /// Node id.
        node: String,
        /// The claim.
        count: Option<i32>,
    },
    /// Sends an event as it stands.
    Emit {
        /// Node id.
        node: String,
        /// `Object` or `Window`.
        class: String,
        /// Signal name.
        name: String,
        /// First string.
        #[serde(default)]
        detail: String,
        /// First number.
        #[serde(default)]
        detail1: i32,
        /// Second number.
        #[serde(default)]
        detail2: i32,
    },
    /// Stops answering.
    Hang {
        /// Application name; all when left out.
        #[serde(default)]
        app: Option<String>,
        /// Only on the bus: the private socket goes on, as where a handler runs a modal dialog.
        #[serde(default)]
        only_bus: bool,
    },
    /// Answers what came in meanwhile, and goes on.
    Resume {
        /// Application name; all when left out.
        #[serde(default)]
        app: Option<String>,
        /// Forget what came in meanwhile.
        #[serde(default)]
        drop: bool,
    },
    /// Writes a line to the log.
    Note {
        /// What it says.
        text: String,
    },
    /// Ends the process at once.
    Die {},
}
