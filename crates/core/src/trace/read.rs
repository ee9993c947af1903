//! Reading traces back: files of many processes become one sequence, the same whatever order they are found in. What is
//! torn, corrupt or foreign is counted and passed over.

use super::redact::redact;
use super::write::SCHEMA;
use crate::error::Result;
use crate::state::private;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of a line at most; a longer one is passed over (spec 1 §8).
pub const MAX_LINE: u64 = 8 * 1024 * 1024;

/// Where a trace is read from.
#[derive(Debug)]
pub(super) enum Source {
    /// A session's own files.
    Session {
        /// The session.
        id: String,
        /// Its directory.
        dir: PathBuf,
    },
    /// One file.
    File {
        /// The file.
        file: PathBuf,
        /// The caller's session.
        session: Option<String>,
    },
}

impl Source {
    pub fn session(&self) -> Option<&str> {
        match self {
            Source::Session { id, .. } => Some(id),
            Source::File { session, .. } => session.as_deref(),
        }
    }

    /// Where the files are that events name.
    pub fn artifacts(&self) -> Option<PathBuf> {
        match self {
            Source::Session { dir, .. } => Some(dir.join("trace")),
            Source::File { .. } => None,
        }
    }
}

/// What was wrong with what was read, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Warnings(BTreeMap<&'static str, u64>);

impl Warnings {
    pub fn add(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    pub fn json(&self) -> Option<Value> {
        let rows: Vec<Value> = self.0.iter().map(|(kind, count)| json!({"kind": kind, "count": count})).collect();
        (!rows.is_empty()).then_some(Value::Array(rows))
    }
}

/// What decides the order of events (spec 1 §8): time, process, place in the file. The file's name settles what is left:
/// a process id may be used again within a millisecond of a clock that was set back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    ts_ms: u64,
    pid: u64,
    position: u64,
    file: String,
}

/// An event with its place in the order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Keyed(Key, String);

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// Files that were read.
    pub segments: u64,
    /// Events in them.
    pub total: u64,
    /// Of them with the prefix that was asked for.
    pub matched: u64,
    /// The last of those, in order.
    pub events: Vec<Value>,
    pub warnings: Warnings,
}

/// Reads and merges everything; keeps the last `limit` events (0: all) whose names begin with `prefix`.
pub(super) fn merge(source: &Source, prefix: &str, limit: usize) -> Result<Merged> {
    let mut reader = Reader { merged: Merged::default(), kept: BinaryHeap::new(), prefix, limit };
    match source {
        Source::File { file, .. } => reader.file(file, 0),
        Source::Session { dir, .. } => reader.directory(&dir.join("trace"))?,
    }
    let Reader { mut merged, kept, .. } = reader;
    let sorted = kept.into_sorted_vec();
    // The heap's order is turned around: the first of its sorted list is the last event.
    merged.events =
        sorted.into_iter().rev().filter_map(|Reverse(Keyed(_, line))| serde_json::from_str(&line).ok()).collect();
    Ok(merged)
}

struct Reader<'a> {
    merged: Merged,
    kept: BinaryHeap<Reverse<Keyed>>,
    prefix: &'a str,
    limit: usize,
}

impl Reader<'_> {
    fn directory(&mut self, dir: &Path) -> Result<()> {
        if !private::check_dir(dir)? {
            return Ok(());
        }
        let entries = dir.read_dir().map_err(|e| private::io_error("list the trace", dir, &e))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            // Directories and files that the trace itself has beside the segments.
            if matches!(name, "screens" | "refmaps" | "artifacts.lock") {
                continue;
            }
            match segment_pid(name).filter(|_| path.symlink_metadata().is_ok_and(|m| m.is_file())) {
                Some(pid) => self.file(&path, pid),
                None => self.merged.warnings.add("foreign_file"),
            }
        }
        Ok(())
    }

    /// One file. `pid` is that of its name; an event's own wins.
    fn file(&mut self, path: &Path, pid: u64) {
        let Ok(file) = File::open(path) else {
            self.merged.warnings.add("unreadable_file");
            return;
        };
        self.merged.segments += 1;
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        let mut input = BufReader::with_capacity(64 * 1024, file);
        let mut line = Vec::new();
        let mut position = 0;
        loop {
            line.clear();
            match input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => {}
                Err(_) => return self.merged.warnings.add("unreadable_file"),
            }
            position += 1;
            let whole = line.last() == Some(&b'\n');
            if whole {
                line.pop();
            } else if line.len() as u64 > MAX_LINE {
                self.merged.warnings.add("oversized_line");
                if !skip_line(&mut input) {
                    return;
                }
                continue;
            } else {
                // Somebody was stopped while writing it, or is writing it now.
                return self.merged.warnings.add("torn_tail");
            }
            if line.is_empty() {
                continue;
            }
            match event(&line) {
                Some(event) => self.take(event, Key { ts_ms: 0, pid, position, file: name.clone() }),
                None => self.merged.warnings.add("corrupt_line"),
            }
        }
    }

    fn take(&mut self, event: Map<String, Value>, mut key: Key) {
        self.merged.total += 1;
        let number = |field: &str| event.get(field).and_then(Value::as_u64);
        key.ts_ms = number("ts_ms").unwrap_or(0);
        key.pid = number("pid").unwrap_or(key.pid);
        let name = event.get("event").and_then(Value::as_str).unwrap_or_default();
        if name == "trace.meta" && number("schema").is_some_and(|schema| schema > SCHEMA) {
            self.merged.warnings.add("future_schema");
        }
        if !name.starts_with(self.prefix) {
            return;
        }
        self.merged.matched += 1;
        // Whoever wrote it: what must not be shown is not shown.
        let line = redact(Value::Object(event)).to_string();
        self.kept.push(Reverse(Keyed(key, line)));
        if self.limit > 0 && self.kept.len() > self.limit {
            self.kept.pop();
        }
    }
}

/// Reads on to the end of a line; says whether there is more.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let (used, ended) = match input.fill_buf() {
            Ok([]) | Err(_) => return false,
            Ok(bytes) => match bytes.iter().position(|b| *b == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(used);
        if ended {
            return true;
        }
    }
}

/// An event: an object with a name and a time.
fn event(line: &[u8]) -> Option<Map<String, Value>> {
    let Ok(Value::Object(map)) = serde_json::from_slice(line) else { return None };
    (map.get("event").is_some_and(Value::is_string) && map.get("ts_ms").is_some_and(Value::is_u64)).then_some(map)
}

/// The process of a segment's name `<pid>-<ms>.jsonl`.
fn segment_pid(name: &str) -> Option<u64> {
    let (pid, ms) = name.strip_suffix(".jsonl")?.split_once('-')?;
    ms.parse::<u64>().ok().and(pid.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn session(files: &[(String, Vec<u8>)]) -> (tempfile::TempDir, Source) {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("trace");
        private::make_dir(&dir).unwrap();
        for (name, bytes) in files {
            std::fs::write(dir.join(name), bytes).unwrap();
        }
        let source = Source::Session { id: "s".into(), dir: home.path().to_owned() };
        (home, source)
    }

    fn line(ts_ms: u64, pid: u64, n: u64) -> String {
        format!("{}\n", json!({"event": format!("e{}", n % 3), "ts_ms": ts_ms, "pid": pid, "n": n}))
    }

    fn counts(merged: &Merged) -> BTreeMap<&'static str, u64> {
        merged.warnings.0.clone()
    }

    #[test]
    fn torn_corrupt_and_foreign_is_counted_and_passed_over() {
        let long = format!("{{\"event\":\"long\",\"ts_ms\":1,\"x\":\"{}\"}}\n", "y".repeat(MAX_LINE as usize));
        let one = [
            "{\"event\":\"trace.meta\",\"ts_ms\":1,\"schema\":2}\n".to_owned(),
            line(5, 1, 1),
            "nonsense\n\n[1]\n{\"event\":1,\"ts_ms\":1}\n{\"event\":\"x\"}\n".into(),
            "\u{0}\u{0}\n".into(),
            long.clone(),
            line(6, 1, 2),
            "{\"event\":\"torn".into(),
        ];
        let mut bytes: Vec<u8> = one.concat().into();
        bytes.splice(0..0, *b"\xff\xfe\n");
        let files = [
            ("1-5.jsonl".to_owned(), bytes),
            ("2-5.jsonl".to_owned(), long.trim_end().into()),
            ("3-5.jsonl".to_owned(), Vec::new()),
            ("notes.txt".to_owned(), b"x".to_vec()),
            ("a-b.jsonl".to_owned(), b"x".to_vec()),
        ];
        let (home, source) = session(&files);
        std::fs::create_dir(home.path().join("trace/4-4.jsonl")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", home.path().join("trace/5-5.jsonl")).unwrap();
        let merged = merge(&source, "", 0).unwrap();
        let want =
            [("corrupt_line", 6), ("foreign_file", 4), ("future_schema", 1), ("oversized_line", 2), ("torn_tail", 1)];
        assert_eq!(counts(&merged), want.into());
        assert_eq!((merged.segments, merged.total, merged.events.len()), (3, 3, 3));
    }

    #[test]
    fn what_others_wrote_is_redacted_too() {
        let planted = json!({"event": "x", "ts_ms": 1, "deep": [{"password": "s3cret"}]}).to_string() + "\n";
        let (_home, source) = session(&[("1-1.jsonl".to_owned(), planted.into())]);
        let merged = merge(&source, "", 0).unwrap();
        assert_eq!(merged.events[0]["deep"][0]["password"], json!({"redacted": true}));
    }

    /// Events of some processes: times that repeat and go back, process ids that were used twice.
    fn traces() -> impl Strategy<Value = Vec<(String, Vec<(u64, u64)>)>> {
        let one = (1..4_u64, prop::collection::vec(0..6_u64, 0..12));
        prop::collection::vec(one, 0..6).prop_map(|all| {
            let all = all.into_iter().enumerate();
            all.map(|(at, (pid, times))| (format!("{pid}-{at}.jsonl"), times.into_iter().map(|t| (t, pid)).collect()))
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// One order: that of the key, whatever order the files are made and found in; nothing lost, nothing twice.
        #[test]
        fn merging_is_sorting_by_the_key(files in traces(), limit in 0..40_usize, turn in any::<bool>()) {
            let mut expected = Vec::new();
            let mut n = 0;
            let mut written: Vec<(String, Vec<u8>)> = Vec::new();
            for (name, events) in &files {
                let mut text = String::new();
                for (position, (ts, pid)) in events.iter().enumerate() {
                    text += &line(*ts, *pid, n);
                    expected.push((*ts, *pid, position, name.clone(), n));
                    n += 1;
                }
                written.push((name.clone(), text.into()));
            }
            expected.sort();
            if turn { written.reverse(); }
            let (_home, source) = session(&written);
            let merged = merge(&source, "", limit).unwrap();
            let got: Vec<u64> = merged.events.iter().map(|e| e["n"].as_u64().unwrap()).collect();
            let all: Vec<u64> = expected.iter().map(|e| e.4).collect();
            let want = if limit == 0 { &all[..] } else { &all[all.len().saturating_sub(limit)..] };
            prop_assert_eq!(got, want);
            prop_assert_eq!(merged.total, all.len() as u64);
            let only = merge(&source, "e1", 0).unwrap();
            let want: Vec<u64> = all.iter().copied().filter(|n| n % 3 == 1).collect();
            let got: Vec<u64> = only.events.iter().map(|e| e["n"].as_u64().unwrap()).collect();
            prop_assert_eq!(got, want);
        }

        /// A file that ends anywhere loses the line that it ends in and nothing else.
        #[test]
        fn a_file_cut_anywhere_loses_one_line_at_most(times in prop::collection::vec(0..9_u64, 1..12), cut in any::<prop::sample::Index>()) {
            let lines: Vec<String> = times.iter().zip(0..).map(|(ts, n)| line(*ts, 1, n)).collect();
            let text = lines.concat();
            let cut = cut.index(text.len() + 1);
            let whole = text[..cut].matches('\n').count();
            let (_home, source) = session(&[("1-1.jsonl".to_owned(), text.as_bytes()[..cut].to_vec())]);
            let merged = merge(&source, "", 0).unwrap();
            prop_assert_eq!(merged.total as usize, whole);
            let torn = u64::from(cut > 0 && !text[..cut].ends_with('\n'));
            prop_assert_eq!(counts(&merged).get("torn_tail").copied().unwrap_or(0), torn);
        }
    }
}
