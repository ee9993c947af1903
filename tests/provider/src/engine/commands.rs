//! Commands of the control socket.

use super::{Engine, FENCE_PATH, Msg};
use crate::steps::{Placeholders, Step};
use crate::tree::Idx;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::oneshot;

/// Commands that aren't changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "cmd", rename_all = "snake_case")]
enum Command {
    /// Answers when everything sent over the bus before has been handled.
    Fence {},
    /// How often members were called.
    Counts {
        /// Those of one node.
        #[serde(default)]
        node: Option<String>,
        /// Those of every node that was called.
        #[serde(default)]
        by_node: bool,
    },
    /// Forgets the counts.
    ResetCounts {},
    /// Runs one of the scenario's scripts.
    Script {
        /// Its name.
        name: String,
    },
    /// Where a node is and what it looks like now.
    Node {
        /// Node id.
        node: String,
    },
    /// Several changes, nothing between them.
    Batch {
        /// The steps.
        steps: Vec<Value>,
    },
    /// Ends the process.
    Quit {},
}

const COMMANDS: &[&str] = &["fence", "counts", "reset_counts", "script", "node", "batch", "quit"];

impl Engine {
    pub(super) fn command(&mut self, line: &str, answer: oneshot::Sender<Value>) {
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => {
                let _ = answer.send(failure(&error.to_string()));
                return;
            }
        };
        let is_command = value["cmd"].as_str().is_some_and(|cmd| COMMANDS.contains(&cmd));
        if !is_command {
            let result = Step::parse(value).and_then(|step| self.step(step));
            let _ = answer.send(result.map_or_else(|e| failure(&e), |()| json!({"ok": true})));
            return;
        }
        let result = match serde_json::from_value(value) {
            Ok(Command::Fence {}) => {
                self.fence(answer);
                return;
            }
            Ok(command) => self.answer(command),
            Err(error) => Err(error.to_string()),
        };
        let _ = answer.send(result.unwrap_or_else(|e| failure(&e)));
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        if step.after_ms > 0 {
            self.run_steps(vec![step]);
            return Ok(());
        }
        self.change(step.change)
    }

    fn answer(&mut self, command: Command) -> Result<Value, String> {
        match command {
            Command::Counts { node, by_node } => {
                let node = node.map(|id| self.any(&id)).transpose()?;
                Ok(self.counts.report(&self.tree, node, by_node))
            }
            Command::ResetCounts {} => {
                self.counts.reset();
                Ok(json!({"ok": true}))
            }
            Command::Script { name } => {
                let steps = self.scenario.scripts.get(&name);
                let steps = steps.ok_or_else(|| format!("no script {name:?}"))?;
                let steps = steps.fill(&Placeholders::default());
                for step in steps {
                    self.step(step)?;
                }
                Ok(json!({"ok": true}))
            }
            Command::Batch { steps } => {
                let steps: Result<Vec<Step>, String> = steps.into_iter().map(Step::parse).collect();
                for step in steps? {
                    self.step(step)?;
                }
                Ok(json!({"ok": true}))
            }
            Command::Node { node } => {
                let idx = self.any(&node)?;
                let node = self.tree.node(idx);
                Ok(json!({
                    "ok": true,
                    "bus": self.tree.apps[node.app].bus_name,
                    "path": node.path,
                    "name": node.name,
                    "text": node.text.as_ref().map(|text| &text.content),
                    "value": node.value.map(|value| value.current),
                    "states": node.states,
                    "removed": node.dead,
                    "children": node.children.len(),
                }))
            }
            Command::Fence {} | Command::Quit {} => {
                self.quit = true;
                Ok(json!({"ok": true}))
            }
        }
    }

    fn any(&self, id: &str) -> Result<Idx, String> {
        let found = self.tree.by_id.get(id).copied();
        found.ok_or_else(|| format!("no node {id:?}"))
    }

    /// Calls ourselves over each bus connection: the bus keeps order, so when that call is back,
    /// everything that clients sent before has been handled. A private socket has no such order;
    /// there the fence waits a moment.
    fn fence(&self, answer: oneshot::Sender<Value>) {
        let links: Vec<_> = self.links.iter().flatten().collect();
        let has_private = links.iter().any(|link| !link.is_bus);
        let connections: Vec<_> = links.iter().filter(|link| link.is_bus).map(|link| link.connection.clone()).collect();
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            for connection in connections {
                let Some(name) = connection.unique_name().cloned() else {
                    continue;
                };
                let interface = Some("org.freedesktop.DBus.Peer");
                let call = connection.call_method(Some(name), FENCE_PATH, interface, "Ping", &());
                let _ = tokio::time::timeout(Duration::from_secs(10), call).await;
            }
            if has_private {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let _ = inbox.send(Msg::Fenced { answer });
        });
    }
}

fn failure(error: &str) -> Value {
    json!({"ok": false, "error": error})
}
