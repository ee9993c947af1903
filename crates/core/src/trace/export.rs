//! `trace export`: one HTML file that opens from disk and needs no network. What applications wrote is data in it: it
//! stands in a block of JSON that can't be left, and the page shows it as text.

use super::read::{Merged, Source, merge};
use crate::capture::output::{File, base64};
use crate::command::session::Trace;
use crate::envelope::Answer;
use crate::error::{Error, Result};
use crate::html::{self, safe};
use crate::refs::entry::RefMap;
use crate::refs::id::RefId;
use crate::session::now_ms;
use crate::state::private;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

/// Events that are exported where the caller names no limit (spec 2 §54).
const LIMIT: usize = 5_000;
/// Bytes of pictures at most (spec 1 §8).
const MAX_PICTURES: u64 = 100 * 1024 * 1024;
/// Bytes of copies of ref maps that are read at most.
const MAX_REFMAPS: u64 = 64 * 1024 * 1024;
/// Bytes of events at most (spec 1 §8).
const MAX_JSON: usize = 200 * 1024 * 1024;

/// The page. `@NONCE@`, `@STYLE@`, `@SCRIPT@` and `@DATA@` stand for what is put in.
const PAGE: &str = include_str!("export.html");
const STYLE: &str = include_str!("export.css");
const SCRIPT: &str = include_str!("export.js");

/// How every export begins: only such a file is replaced.
const BEGINS: &str = "<!doctype html>\n<!-- agent-desktop trace export -->";

/// Writes the page; answers with what is in it.
pub(super) fn export(source: &Source, args: &Trace) -> Answer {
    let path = match (&args.out, source) {
        (Some(out), _) => out.clone(),
        (None, Source::Session { id, dir }) => dir.join(format!("trace-{id}.html")).to_string_lossy().into_owned(),
        (None, Source::File { .. }) => {
            return Err(Error::invalid("where to?").suggest("Give --out PATH together with --trace."));
        }
    };
    let file = match args.out {
        Some(_) => File::check_with(&path, only_an_export)?,
        None => File::check_with(&path, |_| Ok(()))?,
    };
    let mut merged = merge(source, "", args.limit.unwrap_or(LIMIT))?;
    cut(&mut merged.events, MAX_JSON);
    let mut pictures = Pictures { embedded: 0, skipped: BTreeMap::new(), left: MAX_PICTURES };
    for skipped in merged.events.iter().flat_map(not_taken) {
        let reason = ["kind", "code"].into_iter().find_map(|key| skipped[key].as_str()).unwrap_or("unknown");
        pictures.skip(&reason.to_ascii_lowercase());
    }
    let mut bytes = 0;
    file.write_by(|file| {
        let mut out = Counted { inner: BufWriter::with_capacity(256 * 1024, file), bytes: 0 };
        page(&mut out, source, &merged, &mut pictures)?;
        bytes = out.bytes;
        out.flush()
    })?;
    let returned = merged.events.len() as u64;
    let mut out = Map::new();
    out.insert("session_id".into(), json!(source.session()));
    out.insert("path".into(), json!(path));
    out.insert("event_count".into(), json!(returned));
    out.insert("screenshots_embedded".into(), json!(pictures.embedded));
    out.insert("screenshots_skipped".into(), json!(pictures.skipped.values().sum::<u64>()));
    if !pictures.skipped.is_empty() {
        out.insert("skipped_reasons".into(), json!(pictures.skipped));
    }
    out.insert("bytes".into(), json!(bytes));
    out.insert("total_events".into(), json!(merged.total));
    out.insert("returned_events".into(), json!(returned));
    out.insert("truncated".into(), json!(returned < merged.total));
    if let Some(warnings) = merged.warnings.json() {
        out.insert("warnings".into(), warnings);
    }
    Ok(Value::Object(out))
}

/// Refuses to replace what is no export of ours: a mistyped PATH must not cost somebody's document.
fn only_an_export(path: &Path) -> Result<()> {
    let mut begins = vec![0; BEGINS.len()];
    let read = std::fs::File::open(path).and_then(|mut file| {
        if file.metadata()?.len() == 0 {
            Ok(true)
        } else {
            file.read_exact(&mut begins).map(|()| begins == BEGINS.as_bytes())
        }
    });
    match read {
        Ok(true) => Ok(()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        _ => Err(Error::invalid("--out is a file that is no export of a trace")
            .kind("path_not_an_export")
            .detail("path", path.display().to_string())
            .suggest("Give another PATH, or remove the file first.")),
    }
}

/// Keeps the last events that fit.
fn cut(events: &mut Vec<Value>, limit: usize) {
    let mut left = limit;
    let mut kept = 0;
    for event in events.iter().rev() {
        let size = event.to_string().len() + 2;
        if size > left {
            break;
        }
        left -= size;
        kept += 1;
    }
    events.drain(..events.len() - kept);
}

fn page(out: &mut impl Write, source: &Source, merged: &Merged, pictures: &mut Pictures) -> io::Result<()> {
    html::write(out, PAGE, STYLE, SCRIPT, |out| data(out, source, merged, pictures))
}

fn data(out: &mut impl Write, source: &Source, merged: &Merged, pictures: &mut Pictures) -> io::Result<()> {
    let about = json!({
        "session_id": source.session(),
        "exported_at": now_ms(),
        "version": env!("CARGO_PKG_VERSION"),
        "segments": merged.segments,
        "total_events": merged.total,
        "warnings": merged.warnings.json(),
    });
    write!(out, "{{\"about\":{},\n\"events\":[", safe(&about.to_string()))?;
    for (at, event) in merged.events.iter().enumerate() {
        write!(out, "{}{}", if at == 0 { "\n" } else { ",\n" }, safe(&event.to_string()))?;
    }
    out.write_all(b"],\n\"pictures\":{")?;
    let mut first = true;
    if let Some(dir) = source.artifacts() {
        let mut seen = HashSet::new();
        for name in merged.events.iter().flat_map(named).filter(|name| seen.insert(*name)) {
            if let Some(bytes) = pictures.take(&dir, name) {
                let lead = if std::mem::take(&mut first) { "\n" } else { ",\n" };
                write!(out, "{lead}{}:\"data:image/png;base64,{}\"", safe(&json!(name).to_string()), base64(&bytes))?;
            }
        }
    }
    out.write_all(b"},\n\"names\":")?;
    let names = source.artifacts().map(|dir| names(&dir, &merged.events)).unwrap_or_default();
    write!(out, "{}}}", safe(&json!(names).to_string()))
}

/// What the targets of actions were called, by ref: from the copies of ref maps that `--screenshots` keeps, which are not
/// redacted, like the pictures. Without them a trace has no names.
fn names(dir: &Path, events: &[Value]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut maps: HashMap<&str, Option<RefMap>> = HashMap::new();
    let mut left = MAX_REFMAPS;
    for event in events.iter().filter(|event| event["event"] == "action.artifacts") {
        let (Some(file), Some(reference)) = (event["refmap"].as_str(), event["ref"].as_str()) else { continue };
        let map = maps.entry(file).or_insert_with(|| {
            let name = file.strip_prefix("refmaps/").filter(|n| plain(n))?;
            let bytes = private::read(&dir.join("refmaps").join(name), left).ok().flatten()?;
            left = left.saturating_sub(bytes.len() as u64);
            serde_json::from_slice(&bytes).ok()
        });
        let entry = map
            .as_ref()
            .zip(RefId::parse(reference).ok())
            .and_then(|(map, id)| map.entries.get(&id.number).filter(|_| map.snapshot_id == id.snapshot.as_str()));
        if let Some(name) = entry.and_then(|entry| entry.name.clone()) {
            out.insert(reference.to_owned(), name);
        }
    }
    out
}

/// Pictures that were not taken, with why.
fn not_taken(event: &Value) -> impl Iterator<Item = &Value> {
    let list = event["skipped"].as_array().filter(|_| event["event"] == "action.artifacts");
    list.into_iter().flatten()
}

/// A name that leads to no other directory.
fn plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.') && !name.starts_with('.')
}

/// Pictures that an event names.
fn named(event: &Value) -> impl Iterator<Item = &str> {
    let of_artifacts = event["event"] == "action.artifacts";
    ["before", "after"].into_iter().filter(move |_| of_artifacts).filter_map(|key| event[key].as_str())
}

struct Pictures {
    embedded: u64,
    /// How many are missing, by reason.
    skipped: BTreeMap<String, u64>,
    left: u64,
}

impl Pictures {
    /// The picture, where it is one of this trace and there is room.
    fn take(&mut self, dir: &Path, name: &str) -> Option<Vec<u8>> {
        let file = name.strip_prefix("screens/").filter(|n| plain(n));
        let read = file.and_then(|n| private::read(&dir.join("screens").join(n), self.left).ok().flatten());
        let bytes = read.filter(|b| b.starts_with(b"\x89PNG\r\n\x1a\n"));
        match &bytes {
            Some(bytes) => {
                self.embedded += 1;
                self.left -= bytes.len() as u64;
            }
            None => self.skip("not_in_file"),
        }
        bytes
    }

    fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }
}

struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(lines: &[Value]) -> (tempfile::TempDir, Source) {
        let home = tempfile::tempdir().unwrap();
        for dir in ["trace", "trace/screens"] {
            private::make_dir(&home.path().join(dir)).unwrap();
        }
        let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
        std::fs::write(home.path().join("trace/1-1.jsonl"), text).unwrap();
        let source = Source::Session { id: "s".into(), dir: home.path().to_owned() };
        (home, source)
    }

    fn args(out: Option<String>) -> Trace {
        Trace { operation: crate::command::session::TraceOperation::Export, limit: None, event: None, out }
    }

    /// The block of data, as a browser finds it.
    fn block(html: &str) -> Value {
        let start = html.find("type=\"application/json\">").unwrap() + "type=\"application/json\">".len();
        let end = start + html[start..].find("</script").unwrap();
        serde_json::from_str(&html[start..end]).unwrap()
    }

    #[test]
    fn nothing_from_an_application_becomes_part_of_the_page() {
        let nasty = "</script><script>alert(1)</script><!--\u{2028}\u{202e}&lt;";
        let (home, source) = session(&[json!({"event": "command.start", "ts_ms": 1, "app": nasty, nasty: nasty})]);
        let answer = export(&source, &args(None)).unwrap();
        let html = std::fs::read_to_string(home.path().join("trace-s.html")).unwrap();
        assert_eq!(answer["bytes"], html.len());
        assert_eq!(html.matches("alert(1)").count(), 3, "as data: {html:.200}");
        assert_eq!(html.matches("<script").count(), 2, "the block and the program");
        assert_eq!(block(&html)["events"][0]["app"], nasty, "and it comes back as it was");
        assert!(html.starts_with(BEGINS));
        assert!(html.contains("default-src 'none'") && !html.contains("http://") && !html.contains("https://"));
        assert!(!html.contains("@NONCE@") && !html.contains("@DATA@"), "all that was to be put in was put in");
    }

    #[test]
    fn pictures_are_those_of_the_trace() {
        let names =
            ["screens/1-before.png", "screens/no.png", "../../secret.png", "screens/../1.png", "screens/text.png"];
        let events: Vec<Value> =
            names.iter().map(|n| json!({"event": "action.artifacts", "ts_ms": 1, "before": n})).collect();
        let (home, source) = session(&events);
        std::fs::write(home.path().join("trace/screens/1-before.png"), b"\x89PNG\r\n\x1a\nx").unwrap();
        std::fs::write(home.path().join("trace/screens/text.png"), b"hello").unwrap();
        let answer = export(&source, &args(None)).unwrap();
        assert_eq!((&answer["screenshots_embedded"], &answer["screenshots_skipped"]), (&json!(1), &json!(4)));
        let html = std::fs::read_to_string(home.path().join("trace-s.html")).unwrap();
        assert!(
            block(&html)["pictures"]["screens/1-before.png"].as_str().unwrap().starts_with("data:image/png;base64,")
        );
    }

    #[test]
    fn pictures_that_were_not_taken_count_with_why() {
        let skipped = json!([{"what": "before", "code": "TIMEOUT", "kind": null}, {"what": "after", "code": "ACTION_FAILED", "kind": "window_not_repainted"}]);
        let events = [
            json!({"event": "action.artifacts", "ts_ms": 1, "skipped": skipped}),
            json!({"event": "action.artifacts", "ts_ms": 2, "before": "screens/gone.png"}),
            json!({"event": "other", "ts_ms": 3, "skipped": skipped}),
        ];
        let (_home, source) = session(&events);
        let answer = export(&source, &args(None)).unwrap();
        assert_eq!(answer["screenshots_skipped"], 3);
        assert_eq!(answer["skipped_reasons"], json!({"not_in_file": 1, "timeout": 1, "window_not_repainted": 1}));
    }

    #[test]
    fn only_an_export_is_replaced() {
        let (home, source) = session(&[json!({"event": "x", "ts_ms": 1})]);
        let out = home.path().join("letter.html");
        let text = out.to_str().unwrap().to_owned();
        std::fs::write(&out, "<!doctype html>\n<p>dear").unwrap();
        let e = export(&source, &args(Some(text.clone()))).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (crate::error::Code::InvalidArgs, Some("path_not_an_export")));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "<!doctype html>\n<p>dear");
        std::fs::remove_file(&out).unwrap();
        for _ in 0..2 {
            export(&source, &args(Some(text.clone()))).unwrap();
        }
        assert!(std::fs::read_to_string(&out).unwrap().starts_with(BEGINS));
    }

    #[test]
    fn the_last_events_are_those_that_stay() {
        let mut events: Vec<Value> = (0..10).map(|n| json!({"n": n})).collect();
        cut(&mut events, 3 * 9);
        assert_eq!(events, [json!({"n": 7}), json!({"n": 8}), json!({"n": 9})]);
    }
}
