//! The scenario file: what the application looks like and how it misbehaves.
//!
//! Unknown keys are refused everywhere, and a fault that names a node which nothing in the file
//! could create is refused as well: a test must not pass because its fault never applied.

mod fault;
mod node;

pub use fault::{Doing, Effect, Fault, Match, When, id_matches, parse_hex};
pub use node::{Child, Generate, NodeSpec, Role, ValueSpec};

use crate::names;
use crate::steps::Steps;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A whole scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the scenario is for.
    #[serde(default)]
    pub about: String,
    /// The application objects; each gets its own bus connection.
    pub applications: Vec<Application>,
    /// Faults, looked through in order.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Named step lists, run by the control command `script`.
    #[serde(default)]
    pub scripts: BTreeMap<String, Steps>,
    /// Steps that run by themselves.
    #[serde(default)]
    pub timers: Vec<Timer>,
    /// Also write one log line for each read.
    #[serde(default)]
    pub log_reads: bool,
}

/// One application object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Accessible name of the application object.
    pub name: String,
    /// Toolkit and its habits.
    #[serde(default)]
    pub toolkit: Toolkit,
    /// How object paths are made.
    #[serde(default)]
    pub paths: Paths,
    /// How removed objects answer; the default follows the toolkit name.
    #[serde(default)]
    pub dead_answer: Option<DeadAnswer>,
    /// What `Cache.GetItems` answers.
    #[serde(default)]
    pub cache: Cache,
    /// Which events are sent when the tree changes.
    #[serde(default)]
    pub events: Events,
    /// What `Properties.GetAll` does.
    #[serde(default)]
    pub get_all: GetAll,
    /// Offer a private socket through `Application.GetApplicationBusAddress`.
    #[serde(default)]
    pub p2p: bool,
    /// Screen extents are answered relative to the window, as GTK 4 does.
    #[serde(default)]
    pub screen_is_window: bool,
    /// Stop answering.
    #[serde(default)]
    pub hang: Option<Hang>,
    /// The windows.
    #[serde(default)]
    pub children: Vec<Child>,
}

/// Toolkit identity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Toolkit {
    /// `Application.ToolkitName`.
    pub name: String,
    /// `Application.Version`.
    pub version: String,
}

impl Default for Toolkit {
    fn default() -> Self {
        Self { name: "gtk".into(), version: "3.24.38".into() }
    }
}

/// Object path style.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum PathStyle {
    /// `/org/a11y/atspi/accessible/N`, N from 1.
    #[default]
    Counter,
    /// The same with N from 2147483648.
    Qt,
    /// `PREFIX/a11y/` and a UUID-shaped tail.
    Uuid,
}

/// Object paths.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    /// How the last element is made.
    pub style: PathStyle,
    /// Prefix, by default `/org/a11y/atspi/accessible` (uuid: `/org/example/App/a11y`).
    pub prefix: Option<String>,
}

/// How a removed object answers (each as measured in that toolkit).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum DeadAnswer {
    /// `UnknownObject` to everything.
    Gtk3,
    /// Answers as before, with the state DEFUNCT.
    Gtk3Defunct,
    /// Answers with no states, an empty name and the null parent.
    Gtk3Tombstone,
    /// `UnknownMethod` "Object does not exist at path".
    Gtk4,
    /// Methods `UnknownObject`, properties `UnknownInterface`.
    Qt,
    /// `UnknownObject`.
    Gecko,
}

/// Cache behaviour.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// Which answer.
    pub mode: CacheMode,
    /// Only after somebody registered an event listener or asked for the private socket.
    pub after_listener: bool,
    /// Node ids (a trailing `*` matches) that the answer leaves out.
    pub omit: Vec<String>,
    /// Node ids and the old names that the answer gives them.
    pub stale: BTreeMap<String, String>,
    /// The answer is made once, at start, and never renewed.
    pub frozen: bool,
}

/// Cache answer shapes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// `UnknownMethod`.
    #[default]
    None,
    /// `a((so)(so)(so)iiassusau)`.
    Gtk,
    /// `a((so)(so)(so)a(so)assusau)` without items.
    QtEmpty,
}

/// When tree changes are announced.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Events {
    /// With each change.
    #[default]
    Always,
    /// Only by `emit` steps.
    OnRequest,
}

/// What `Properties.GetAll` does.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum GetAll {
    /// Answers.
    #[default]
    Answer,
    /// Logs a violation and ends the process, as Qt does.
    Die,
}

/// Whole-application silence.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    /// Calls that are still answered once clients can see the application.
    pub after_messages: u64,
    /// Answer `Peer.Ping` nevertheless, as a worker thread would.
    #[serde(default)]
    pub answer_ping: bool,
    /// Answer on the private socket nevertheless.
    #[serde(default)]
    pub only_bus: bool,
}

/// Steps that run by themselves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// Delay of the first run.
    pub after_ms: u64,
    /// Repeat.
    #[serde(default)]
    pub every_ms: Option<u64>,
    /// What starts it.
    #[serde(default)]
    pub start: TimerStart,
    /// How many runs; endless when left out with `every_ms`.
    #[serde(default)]
    pub times: Option<u64>,
    /// `{n}` in the steps is this number plus the runs so far.
    #[serde(default)]
    pub count_from: i64,
    /// `{n}` counts down.
    #[serde(default)]
    pub down: bool,
    /// What happens.
    pub steps: Steps,
}

/// What starts a timer.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum TimerStart {
    /// The application became visible to clients.
    #[default]
    Ready,
    /// The first write arrived.
    Write,
}

impl Scenario {
    /// Parses and checks a scenario.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let scenario: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        scenario.check(&raw)?;
        Ok(scenario)
    }

    fn check(&self, raw: &serde_json::Value) -> Result<(), String> {
        if self.applications.is_empty() {
            return Err("`applications` is empty".into());
        }
        let mut ids = vec!["root".to_owned()];
        collect_ids(raw, &mut ids);
        for (number, fault) in self.faults.iter().enumerate() {
            let place = format!("faults[{number}]");
            if fault.nth == 0 {
                return Err(format!("{place}: `nth` counts from 1"));
            }
            if let Some(app) = &fault.matches.app
                && !self.applications.iter().any(|a| &a.name == app)
            {
                return Err(format!("{place}: no application {app:?}"));
            }
            if let Some(node) = &fault.matches.node
                && !ids.iter().any(|id| could_be(id, node))
            {
                return Err(format!("{place}: nothing creates a node {node:?}"));
            }
            if let Some(interface) = &fault.matches.interface
                && names::interface_full(interface).is_none()
            {
                return Err(format!("{place}: unknown interface {interface:?}"));
            }
            if let Doing::Raw { hex, .. } = &fault.action {
                parse_hex(hex).map_err(|e| format!("{place}: {e}"))?;
            }
        }
        Ok(())
    }
}

fn collect_ids(value: &serde_json::Value, ids: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::String(id)) = map.get("id") {
                ids.push(id.clone());
            }
            map.values().for_each(|v| collect_ids(v, ids));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|v| collect_ids(v, ids)),
        _ => {}
    }
}

/// Whether an id of the file, in which `{i}` stands for any number, could fit a pattern.
fn could_be(id: &str, pattern: &str) -> bool {
    let Some((head, tail)) = id.split_once("{i}") else {
        return id_matches(pattern, id);
    };
    if let Some(prefix) = pattern.strip_suffix('*') {
        return prefix.starts_with(head) || head.starts_with(prefix);
    }
    pattern
        .strip_prefix(head)
        .and_then(|rest| rest.strip_suffix(tail))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
