//! What the product answered.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One run of the product.
#[derive(Debug)]
pub struct Reply {
    /// Exit code; -1 where a signal ended it.
    pub code: i32,
    /// Everything on standard output.
    pub stdout: String,
    /// Everything on standard error.
    pub stderr: String,
    /// Wall time.
    pub took: Duration,
}

impl Reply {
    pub(crate) fn of(mut command: Command, input: Option<&str>) -> Self {
        let begun = Instant::now();
        let mut child = command
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the product starts");
        if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
            pipe.write_all(text.as_bytes()).expect("the product reads its input");
        }
        let out = child.wait_with_output().expect("the product ends");
        Self {
            code: out.status.code().unwrap_or(-1),
            stdout: String::from_utf8(out.stdout).expect("the product prints UTF-8"),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
            took: begun.elapsed(),
        }
    }

    /// The envelope: exactly one line of JSON, and an exit code that agrees with it.
    pub fn envelope(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {self:?}");
        let envelope: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        assert_eq!(envelope["version"], "2.6");
        let ok = envelope["ok"].as_bool().expect("ok is a boolean");
        assert_eq!(ok, self.code == 0, "exit code and envelope disagree: {self:?}");
        assert_ne!(envelope.get("data").is_some(), envelope.get("error").is_some());
        envelope
    }

    /// `data` of a success.
    pub fn data(&self) -> Value {
        let mut envelope = self.envelope();
        assert_eq!(envelope["ok"], true, "refused: {envelope}");
        envelope["data"].take()
    }

    /// `error` of a refusal; its disposition is checked to be a pair that may occur.
    pub fn error(&self) -> Value {
        let mut envelope = self.envelope();
        assert_eq!(envelope["ok"], false, "not refused: {envelope}");
        let error = envelope["error"].take();
        let retry = match error["disposition"]["delivery"].as_str().expect("a delivery") {
            "not_delivered" => "safe",
            "unknown" => "unknown",
            _ => "unsafe",
        };
        assert_eq!(error["disposition"]["retry"], retry, "{error}");
        error
    }
}

/// All nodes of a printed tree, in pre-order.
pub fn nodes(tree: &Value) -> Vec<&Value> {
    let mut out = Vec::new();
    let mut stack = vec![tree];
    while let Some(node) = stack.pop() {
        out.push(node);
        if let Some(children) = node["children"].as_array() {
            stack.extend(children.iter().rev());
        }
    }
    out
}

/// Refs of the nodes with this role and name, in the order of the tree.
pub fn refs_named(snapshot: &Value, role: &str, name: &str) -> Vec<String> {
    nodes(&snapshot["tree"])
        .into_iter()
        .filter(|n| n["role"] == role && n["name"] == name)
        .filter_map(|n| n["ref_id"].as_str().map(str::to_owned))
        .collect()
}
