//! The answer of a batch: one envelope for each entry, within a limit that no entry's disposition is lost to.

use super::entry::Entry;
use super::{MAX_ENTRIES, MAX_OUTPUT_BYTES, OUTPUT_RESERVE_BYTES};
use crate::command::system::BATCH_MAX_BYTES;
use crate::envelope::{Answer, envelope};
use crate::error::{Code, Delivery, Error};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Why the entries after one were not run.
pub enum Stop {
    /// The time was over before this entry.
    Deadline {
        /// The first that was not started.
        index: usize,
    },
    /// An entry failed, and the caller wanted to stop there.
    OnError {
        /// The one that failed.
        after: usize,
    },
    /// The answer is as long as it may be.
    OutputLimit {
        /// The last that was run.
        after: usize,
    },
    /// What the next entry compares with could not be read, so that this one was not run.
    Baseline {
        /// The entry that was not run.
        index: usize,
        /// The entry that would have waited.
        blocked: usize,
    },
}

/// Whether an entry's answer fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// All of it.
    Whole,
    /// Only its disposition.
    Cut,
}

/// The answer so far.
pub struct Output {
    begun: Instant,
    total: usize,
    timeout_ms: u64,
    results: Vec<Value>,
    bytes: usize,
    completed: usize,
    failed: usize,
    stopped: Option<Value>,
}

impl Output {
    /// No entry yet.
    pub fn new(total: usize, timeout_ms: u64) -> Self {
        Self {
            begun: Instant::now(),
            total,
            timeout_ms,
            results: Vec::new(),
            bytes: 0,
            completed: 0,
            failed: 0,
            stopped: None,
        }
    }

    fn fits(&self, result: &Value) -> Option<usize> {
        let bytes = result.to_string().len() + 1;
        (self.bytes + bytes <= MAX_OUTPUT_BYTES - OUTPUT_RESERVE_BYTES).then_some(bytes)
    }

    /// An entry that was run. Where its answer has no room, what is known of its delivery stays.
    pub fn completed(&mut self, entry: &Entry, answer: &Answer) -> Added {
        self.completed += 1;
        self.failed += usize::from(answer.is_err());
        let result = result(entry, answer, "completed", None);
        if let Some(bytes) = self.fits(&result) {
            self.bytes += bytes;
            self.results.push(result);
            return Added::Whole;
        }
        let was = delivery(entry, answer);
        let cut = Error::new(Code::Internal, was, "the entry was run; its answer has no room in the batch's")
            .kind("batch_output_limit")
            .detail("entry_ok", answer.is_ok())
            .detail("answer_bytes", result.to_string().len())
            .suggest("Run what prints much by itself, or with --skeleton, -i or --format text.");
        // This record is small, and the reserve is kept for it and what stands beside the results.
        self.results.push(self::result(entry, &Err(cut), "completed", None));
        Added::Cut
    }

    /// An entry that was not run, and why; left out where there is no room.
    pub fn not_started(&mut self, entry: &Entry, reason: &str, error: &Error) {
        let result = result(entry, &Err(error.clone()), "not_started", Some(reason));
        if let Some(bytes) = self.fits(&result) {
            self.bytes += bytes;
            self.results.push(result);
        }
    }

    /// No further entry is run.
    pub fn stop(&mut self, stop: Stop) {
        self.stopped = Some(match stop {
            Stop::Deadline { index } => json!({"reason": "deadline", "index": index}),
            Stop::OnError { after } => json!({"reason": "stop_on_error", "after_index": after}),
            Stop::OutputLimit { after } => json!({"reason": "output_limit", "after_index": after}),
            Stop::Baseline { index, blocked } => {
                json!({"reason": "pre_action_baseline_failed", "index": index, "blocked_index": blocked})
            }
        });
    }

    /// The `data` of the answer.
    pub fn finish(self) -> Value {
        let mut out = Map::new();
        out.insert("results".into(), Value::Array(self.results));
        out.insert(
            "semantics".into(),
            json!({
                "atomic": false, "order": "sequential", "batch_retries": false,
                "command_retry_contracts": "preserved",
                "successful_action_disposition": "results[].data.disposition",
                "error_disposition": "results[].error.disposition",
            }),
        );
        out.insert("total_entries".into(), json!(self.total));
        out.insert("completed_entries".into(), json!(self.completed));
        out.insert("failed_entries".into(), json!(self.failed));
        out.insert("not_started_entries".into(), json!(self.total - self.completed));
        out.insert("timeout_ms".into(), json!(self.timeout_ms));
        out.insert("elapsed_ms".into(), json!(self.begun.elapsed().as_millis() as u64));
        out.insert(
            "limits".into(),
            json!({"max_entries": MAX_ENTRIES, "max_input_bytes": BATCH_MAX_BYTES, "max_output_bytes": MAX_OUTPUT_BYTES}),
        );
        if let Some(stopped) = self.stopped {
            out.insert("stopped".into(), stopped);
        }
        Value::Object(out)
    }
}

/// The entry's envelope, and what became of it.
fn result(entry: &Entry, answer: &Answer, execution: &str, reason: Option<&str>) -> Value {
    let mut out = envelope(entry.command.name(), answer);
    if let Some(map) = out.as_object_mut() {
        map.insert("index".into(), json!(entry.index));
        map.insert("execution".into(), json!(execution));
        if let Some(reason) = reason {
            map.insert("not_started_reason".into(), json!(reason));
        }
    }
    out
}

/// What is known of an answer's delivery. After a wait the action's own answer stands inside that of the wait. What changes
/// something and says nothing of it was done all the same; reads deliver nothing.
fn delivery(entry: &Entry, answer: &Answer) -> Delivery {
    let data = match answer {
        Err(error) => return error.delivery(),
        Ok(data) => data,
    };
    let action = data.get("after_action").unwrap_or(data);
    let told = serde_json::from_value(action["disposition"]["delivery"].clone()).ok();
    let untold = if entry.command.spec().mutates { Delivery::DeliveredUnverified } else { Delivery::NotDelivered };
    told.unwrap_or(untold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_room_says_what_its_action_delivered() {
        let of = |command: &str, args: Value, data: Value| {
            let rows = json!([{"command": command, "args": args}]).to_string();
            let entry = super::super::entry::parse(&rows).unwrap().remove(0);
            let mut out = Output::new(1, 1_000);
            out.bytes = MAX_OUTPUT_BYTES - OUTPUT_RESERVE_BYTES;
            assert_eq!(out.completed(&entry, &Ok(data)), Added::Cut);
            out.finish()["results"][0]["error"]["disposition"]["delivery"].as_str().unwrap().to_owned()
        };
        let reference = json!({"ref_id": "@s0001:e1"});
        let done = json!({"disposition": {"delivery": "delivered_verified", "retry": "unsafe"}});
        assert_eq!(of("click", reference.clone(), done.clone()), "delivered_verified");
        assert_eq!(of("click", reference, json!({"tree": {}, "after_action": done})), "delivered_verified");
        assert_eq!(of("launch", json!({"app": "x"}), json!({"after_action": {"app": "x"}})), "delivered_unverified");
        assert_eq!(of("launch", json!({"app": "x"}), json!({"app": "x"})), "delivered_unverified");
        assert_eq!(of("snapshot", json!({}), json!({"tree": {}})), "not_delivered");
    }
}
