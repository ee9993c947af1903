//! Writing a trace: one line by one call to the end of a file, so that lines of many processes never mix.

use super::event::{ended, started};
use super::redact::fields_of;
use crate::command::{Command, Context};
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::session::now_ms;
use crate::state::private;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Version of the events. New fields and events don't change it.
pub const SCHEMA: u64 = 1;
/// Bytes of one file at most (spec 1 §8).
pub const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Bytes of one event at most (spec 1 §8).
pub const MAX_EVENT: usize = 1024 * 1024;

/// Room that is left for the line that says that a file is full.
const LAST_LINE: u64 = 512;
/// How every file of ours begins.
const BEGINS: &[u8] = b"{\"event\":\"trace.meta\"";

/// When this process began to have a trace. With its pid, no other process has the same.
fn started_ms() -> u64 {
    static STARTED: OnceLock<u64> = OnceLock::new();
    *STARTED.get_or_init(now_ms)
}

/// Where events go, or nowhere: then everything here costs nothing.
#[derive(Debug)]
pub struct Recorder {
    strict: bool,
    sink: RefCell<Sink>,
}

#[derive(Debug)]
enum Sink {
    /// Nobody asked for a trace.
    Off,
    /// The next event goes here.
    Open(Segment),
    /// It is as large as it may be.
    Full,
    /// Writing failed; said once.
    Failed(Error),
}

/// A command that is being recorded.
#[derive(Debug)]
pub struct Call {
    number: u64,
    name: &'static str,
    begun: Instant,
}

impl Recorder {
    /// One that records nothing.
    pub fn off() -> Self {
        Self { strict: false, sink: RefCell::new(Sink::Off) }
    }

    /// The recorder of a context: `--trace`, else the session's own file, else none. Where the file can't be made, that
    /// is said on standard error, or by [`Recorder::begin`] under `--trace-strict`.
    pub fn of(context: &Context) -> Self {
        let manifest = context.manifest();
        let strict = context.globals().trace_strict;
        let opened = match (&context.globals().trace, context.session(), manifest) {
            (Some(path), ..) => Segment::open(Path::new(path), context.session()),
            (None, Some(id), Some(manifest)) if manifest.traces() => {
                let dir = context.namespace_dir().join("trace");
                let name = format!("{}-{}.jsonl", std::process::id(), started_ms());
                private::make_dir(&dir).and_then(|()| Segment::open(&dir.join(name), Some(id)))
            }
            _ if strict => Err(Error::invalid("--trace-strict, and nothing to write a trace to")
                .kind("trace_nowhere")
                .suggest("Give --trace PATH, or a session that was started and has not ended.")),
            _ => return Self::off(),
        };
        let sink = match opened {
            Ok(Some(segment)) => Sink::Open(segment),
            Ok(None) => Sink::Full,
            Err(error) => failed(strict, error),
        };
        Self { strict, sink: RefCell::new(sink) }
    }

    /// Whether events are written.
    pub fn on(&self) -> bool {
        matches!(*self.sink.borrow(), Sink::Open(_))
    }

    /// Records an event. `fields` is an object; its sensitive values are taken out. A failure is told on standard error
    /// once, and by [`Recorder::check`] under `--trace-strict`.
    pub fn event(&self, name: &str, fields: Value) {
        if !self.on() {
            return;
        }
        let Value::Object(fields) = fields else { return };
        let mut sink = self.sink.borrow_mut();
        let Sink::Open(segment) = &mut *sink else { return };
        match segment.append(name, fields) {
            Ok(true) => {}
            Ok(false) => *sink = Sink::Full,
            Err(error) => {
                let error = unwritten(&segment.path, &error);
                *sink = failed(self.strict, error);
            }
        }
    }

    /// Refuses to go on where `--trace-strict` was given and the trace could not be written. Called before anything is
    /// sent to an application, and never after.
    ///
    /// # Errors
    /// `trace_write` and the kinds of the state directory.
    pub fn check(&self) -> Result<()> {
        match &*self.sink.borrow() {
            Sink::Failed(error) if self.strict => Err(error.clone()),
            Sink::Full if self.strict => Err(Error::before(Code::ActionFailed, "the trace is as large as it may be")
                .kind("trace_full")
                .suggest("Go on in a new session, or with another --trace PATH.")),
            _ => Ok(()),
        }
    }

    /// Records that a command begins.
    ///
    /// # Errors
    /// As [`Recorder::check`].
    pub fn begin(&self, command: &Command, context: &Context) -> Result<Option<Call>> {
        static CALLS: AtomicU64 = AtomicU64::new(1);
        let call = self.on().then(|| {
            let number = CALLS.fetch_add(1, Ordering::Relaxed);
            let mut fields = started(command, context);
            fields.insert("call".into(), json!(number));
            self.event("command.start", Value::Object(fields));
            Call { number, name: command.name(), begun: Instant::now() }
        });
        self.check()?;
        Ok(call)
    }

    /// Records what a command answered.
    pub fn end(&self, call: Option<Call>, answer: &Answer) {
        let Some(call) = call else { return };
        let mut fields = Map::new();
        fields.insert("command".into(), json!(call.name));
        fields.extend(ended(answer));
        fields.insert("duration_ms".into(), json!(call.begun.elapsed().as_millis() as u64));
        fields.insert("call".into(), json!(call.number));
        self.event("command.end", Value::Object(fields));
    }

    /// Records how something ended: `NAME.ok` with these fields, or `NAME.error` with the error's code and kind.
    pub fn outcome<T>(&self, name: &str, result: &Result<T>, fields: Value, of: impl FnOnce(&T) -> Value) {
        if !self.on() {
            return;
        }
        let mut all = match fields {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let (end, more) = match result {
            Ok(value) => ("ok", of(value)),
            Err(error) => (
                "error",
                json!({"code": error.code(), "kind": error.kind_name(), "check": error.details().get("check")}),
            ),
        };
        if let Value::Object(more) = more {
            all.extend(more.into_iter().filter(|(_, v)| !v.is_null()));
        }
        self.event(&format!("{name}.{end}"), Value::Object(all));
    }
}

fn failed(strict: bool, error: Error) -> Sink {
    if !strict {
        tracing::warn!(%error, detail = error.to_json()["platform_detail"].as_str(), "no trace is written; the command goes on");
    }
    Sink::Failed(error)
}

fn unwritten(path: &Path, error: &io::Error) -> Error {
    let known = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::before(Code::PermDenied, "the trace can't be written")
        }
        _ => Error::before(Code::ActionFailed, "the trace can't be written"),
    };
    known
        .kind("trace_write")
        .detail("path", path.display().to_string())
        .platform(error.to_string())
        .suggest("Nothing was done. Free or name another place for the trace, or leave out --trace-strict.")
}

/// Whether this process has not written to the file before. One that runs many commands says once who it is.
fn first_time(path: &Path) -> bool {
    static WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    written.insert(path.to_owned())
}

/// One open file.
#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: File,
    /// Whether the file ends in the middle of a line: somebody was stopped there.
    torn: bool,
}

impl Segment {
    /// Opens the file, made where there is none, and writes who writes to it. None where it is full.
    fn open(path: &Path, session: Option<&str>) -> Result<Option<Self>> {
        let failed = |e: &io::Error| unwritten(path, e);
        let mut file = private::append_file(path).map_err(|e| failed(&e))?;
        let meta = file.metadata().map_err(|e| failed(&e))?;
        let mut torn = false;
        if meta.is_file() && meta.len() > 0 {
            let mut begins = vec![0; BEGINS.len()];
            if file.read_exact(&mut begins).is_err() || begins != BEGINS {
                return Err(Error::invalid("the file for the trace has something else in it")
                    .kind("trace_foreign_file")
                    .detail("path", path.display().to_string())
                    .suggest("Only a trace is added to: give another PATH."));
            }
            let mut last = [0];
            let seen = file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last));
            torn = seen.is_err() || last != *b"\n";
        }
        let mut segment = Self { path: path.to_owned(), file, torn };
        if !first_time(path) && meta.len() > 0 {
            return Ok((meta.len() + 2 * LAST_LINE <= MAX_FILE).then_some(segment));
        }
        let fields = json!({
            "schema": SCHEMA,
            "version": env!("CARGO_PKG_VERSION"),
            "os": std::env::consts::OS,
            "proc_start_ms": started_ms(),
            "session_id": session,
        });
        let Value::Object(fields) = fields else { return Ok(None) };
        Ok(segment.append("trace.meta", fields).map_err(|e| failed(&e))?.then_some(segment))
    }

    /// Adds one event; says whether there was room for it.
    fn append(&mut self, name: &str, fields: Map<String, Value>) -> io::Result<bool> {
        let line = line(name, fields);
        let size = self.file.metadata()?.len();
        if size + line.len() as u64 + LAST_LINE > MAX_FILE {
            let last = self::line("trace.full", Map::new());
            if size + last.len() as u64 <= MAX_FILE {
                self.write(&last)?;
            }
            return Ok(false);
        }
        self.write(&line).map(|()| true)
    }

    /// One call: in a file that is opened to be added to, the line then stands whole between the lines of others.
    fn write(&mut self, line: &str) -> io::Result<()> {
        let text = if std::mem::take(&mut self.torn) { format!("\n{line}") } else { line.to_owned() };
        loop {
            match self.file.write(text.as_bytes()) {
                Ok(n) if n == text.len() => return Ok(()),
                // The rest would not be part of the same line any more: the disk is full.
                Ok(_) => return Err(ErrorKind::StorageFull.into()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// An event as its line.
fn line(name: &str, fields: Map<String, Value>) -> String {
    static SEQ: AtomicU64 = AtomicU64::new(0);
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = now_ms();
    let ts_ms = LAST.fetch_max(now, Ordering::Relaxed).max(now);
    let seq = SEQ.fetch_add(1, Ordering::Relaxed);
    let head = |event: &str| {
        let mut head = Map::new();
        head.insert("event".into(), json!(event));
        head.insert("ts_ms".into(), json!(ts_ms));
        head.insert("seq".into(), json!(seq));
        head.insert("pid".into(), json!(std::process::id()));
        head
    };
    let mut all = head(name);
    for (key, value) in fields_of(fields) {
        all.entry(key).or_insert(value);
    }
    let text = Value::Object(all).to_string();
    if text.len() < MAX_EVENT {
        return text + "\n";
    }
    let mut short = head(name);
    short.insert("too_large_bytes".into(), json!(text.len()));
    Value::Object(short).to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(path: &Path, strict: bool) -> Recorder {
        let sink = match Segment::open(path, Some("run")) {
            Ok(Some(segment)) => Sink::Open(segment),
            Ok(None) => Sink::Full,
            Err(error) => Sink::Failed(error),
        };
        Recorder { strict, sink: RefCell::new(sink) }
    }

    fn lines(path: &Path) -> Vec<Value> {
        std::fs::read_to_string(path).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    #[test]
    fn a_file_begins_with_who_writes_it_and_counts_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let trace = recorder(&path, false);
        trace.event("a", json!({"n": 1, "title": "s3cret", "event": "forged", "pid": 1}));
        trace.event("b", json!({}));
        let lines = lines(&path);
        assert_eq!(lines[0]["event"], "trace.meta");
        assert_eq!((&lines[0]["schema"], &lines[0]["session_id"]), (&json!(1), &json!("run")));
        assert_eq!((&lines[1]["event"], &lines[1]["title"]), (&json!("a"), &json!({"redacted": true})));
        assert_eq!(lines[1]["pid"], json!(std::process::id()));
        assert!(lines.windows(2).all(|w| w[0]["seq"].as_u64() < w[1]["seq"].as_u64()));
        assert!(lines.windows(2).all(|w| w[0]["ts_ms"].as_u64() <= w[1]["ts_ms"].as_u64()));
    }

    #[test]
    fn a_torn_end_is_left_behind_and_other_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        recorder(&path, false).event("a", json!({}));
        let mut all = std::fs::read(&path).unwrap();
        all.extend(b"{\"event\":\"torn");
        std::fs::write(&path, &all).unwrap();
        recorder(&path, false).event("b", json!({}));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|l| serde_json::from_str::<Value>(l).is_err()).count(), 1);
        assert!(text.lines().last().unwrap().contains("\"b\""));
        let other = dir.path().join("letter.txt");
        std::fs::write(&other, "dear").unwrap();
        let trace = recorder(&other, true);
        trace.event("a", json!({}));
        assert_eq!(trace.check().unwrap_err().kind_name(), Some("trace_foreign_file"));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "dear");
    }

    #[test]
    fn too_large_events_and_full_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let trace = recorder(&path, true);
        trace.event("big", json!({"x": "y".repeat(MAX_EVENT)}));
        assert!(lines(&path)[1]["too_large_bytes"].as_u64().unwrap() > MAX_EVENT as u64);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(MAX_FILE - LAST_LINE - 10).unwrap();
        trace.event("late", json!({}));
        assert!(!trace.on());
        assert_eq!(trace.check().unwrap_err().kind_name(), Some("trace_full"));
        trace.event("later", json!({}));
        let size = path.metadata().unwrap().len();
        assert!(size <= MAX_FILE, "{size}");
        let end = std::fs::read(&path).unwrap().split_off((MAX_FILE - LAST_LINE - 10) as usize);
        assert!(String::from_utf8(end).unwrap().starts_with("{\"event\":\"trace.full\""));
        assert!(!recorder(&path, false).on(), "a full file stays as it is");
    }

    #[test]
    fn what_can_t_be_written_is_an_error_only_where_that_was_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        for (strict, fails) in [(false, false), (true, true)] {
            let trace = recorder(&dir.path().join("no/t.jsonl"), strict);
            trace.event("a", json!({}));
            assert_eq!(trace.check().is_err(), fails);
        }
        assert!(Recorder::off().check().is_ok() && !Recorder::off().on());
    }
}
