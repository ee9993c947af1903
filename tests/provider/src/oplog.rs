//! The log file: one JSON line for each write that arrived, written before anything is answered.

use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// The log.
#[derive(Debug)]
pub struct OpLog {
    file: File,
    start: Instant,
    sequence: u64,
    failed: bool,
}

impl OpLog {
    /// Creates the file, empty.
    pub fn create(path: &Path) -> Result<Self, String> {
        Ok(Self {
            file: File::create(path).map_err(|e| format!("{}: {e}", path.display()))?,
            start: Instant::now(),
            sequence: 0,
            failed: false,
        })
    }

    /// Writes a line of this kind; returns its number.
    pub fn write(&mut self, kind: &str, fields: Value) -> u64 {
        self.sequence += 1;
        let mut line = json!({
            "seq": self.sequence,
            "ms": self.start.elapsed().as_millis() as u64,
            "kind": kind,
        });
        if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), fields) {
            line.extend(fields);
        }
        let mut text = line.to_string();
        text.push('\n');
        // One write call for one line, unbuffered: a reader never sees half of it after a fence.
        if self.file.write_all(text.as_bytes()).is_err() && !self.failed {
            self.failed = true;
            eprintln!("scripted-provider: the log cannot be written");
        }
        self.sequence
    }

    /// Number of the last line.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}
