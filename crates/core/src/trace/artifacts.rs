//! What `session start --screenshots` keeps of each action: pictures of its window before and after, and the ref map that
//! it went by (spec 1 §8). Best effort, outside the lease, and never a part of the action's answer. Not redacted.

use crate::act::entry_of;
use crate::capture::encode;
use crate::command::{Command, Context, Group};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Delivery, Error, Result};
use crate::input::aim::window_of;
use crate::observe::saved;
use crate::platform::WindowKey;
use crate::refs::entry::RefMap;
use crate::session::{Artifacts, now_ms};
use crate::state::private;
use crate::windows::key_of;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Pictures of one session at most.
pub const MAX_SCREENSHOTS: usize = 200;
/// Bytes of its pictures at most.
pub const MAX_SCREENSHOT_BYTES: u64 = 128 * 1024 * 1024;
/// Bytes of its copies of ref maps at most.
pub const MAX_REFMAP_BYTES: u64 = 64 * 1024 * 1024;

/// Time for finding the window and for its picture together, before an action and again after it, in milliseconds: no
/// answer waits longer for its pictures.
const PICTURE_MS: u64 = 500;
/// How long another command of the session is waited for.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// The pictures of one action.
pub(crate) struct Pictures {
    dir: PathBuf,
    window: Option<WindowKey>,
    stem: String,
    fields: Map<String, Value>,
    skipped: Vec<Value>,
}

/// Takes what is kept before an action. None where nothing is kept, or the command is no action.
pub(crate) fn before(command: &Command, context: &Context) -> Option<Pictures> {
    let wanted = context.manifest().is_some_and(|m| m.artifacts == Artifacts::Full && m.traces());
    let acts = command.spec().mutates && matches!(command.spec().group, Group::Act | Group::Keyboard | Group::Pointer);
    if !wanted || !acts || !context.trace().on() {
        return None;
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut pictures = Pictures {
        dir: context.namespace_dir().join("trace"),
        window: None,
        stem: format!("{}-{}-{count}", now_ms(), std::process::id()),
        fields: Map::new(),
        skipped: Vec::new(),
    };
    pictures.fields.insert("command".into(), json!(command.name()));
    let deadline = Deadline::after_ms(PICTURE_MS);
    match aimed_at(command, context, deadline) {
        Ok((window, saved)) => {
            pictures.window = Some(window);
            if let Some((reference, map)) = saved {
                pictures.fields.insert("ref".into(), json!(reference));
                pictures.keep_refmap(context, &map);
            }
            pictures.take(context, "before", deadline);
        }
        Err(error) => pictures.skip("before", &error),
    }
    Some(pictures)
}

/// The window of the ref, else the active one.
fn aimed_at(command: &Command, context: &Context, deadline: Deadline) -> Result<(WindowKey, Option<(String, RefMap)>)> {
    let platform = context.platform()?;
    if let Some(action) = command.ref_action() {
        let id = action.ref_id().parse()?;
        let map = saved::load(context, &id.snapshot)?;
        let (_, key) = window_of(platform, &map, entry_of(&map, id.number)?, deadline)?;
        return Ok((key, Some((id.to_string(), map))));
    }
    match platform.active_window(deadline)? {
        Some(window) => Ok((key_of(&window)?.clone(), None)),
        None => Err(Error::before(crate::error::Code::WindowNotFound, "no window is active").kind("no_active_window")),
    }
}

impl Pictures {
    /// Takes what is kept after an action, and records where it all is.
    pub fn after(mut self, context: &Context, answer: &Answer) {
        let nothing_sent = matches!(answer, Err(error) if error.delivery() == Delivery::NotDelivered);
        if !nothing_sent && self.window.is_some() {
            self.take(context, "after", Deadline::after_ms(PICTURE_MS));
        }
        if !self.skipped.is_empty() {
            self.fields.insert("skipped".into(), Value::Array(std::mem::take(&mut self.skipped)));
        }
        context.trace().event("action.artifacts", Value::Object(std::mem::take(&mut self.fields)));
    }

    fn skip(&mut self, what: &str, error: &Error) {
        self.skipped.push(json!({"what": what, "code": error.code(), "kind": error.kind_name()}));
    }

    fn take(&mut self, context: &Context, when: &str, deadline: Deadline) {
        match self.picture(context, when, deadline) {
            Ok(Some(place)) => drop(self.fields.insert(when.into(), json!(place))),
            Ok(None) => self.skipped.push(json!({"what": when, "kind": "budget"})),
            Err(error) => self.skip(when, &error),
        }
    }

    /// Where the picture is, from the trace's directory; none where the session has its number of them.
    fn picture(&self, context: &Context, when: &str, deadline: Deadline) -> Result<Option<String>> {
        let Some(window) = &self.window else { return Ok(None) };
        let taken = context.platform()?.capture_window(window, deadline)?;
        let bytes = encode(&taken.pixels)?;
        let name = format!("{}-{when}.png", self.stem);
        keep(&self.dir, "screens", &name, &bytes, MAX_SCREENSHOTS, MAX_SCREENSHOT_BYTES)
    }

    fn keep_refmap(&mut self, context: &Context, map: &RefMap) {
        // A drill changes the map of a snapshot: its next number tells the copies apart.
        let name = format!("{}-{}.json", map.snapshot_id, map.next);
        let kept = match serde_json::to_vec(map) {
            Ok(bytes) => keep(&self.dir, "refmaps", &name, &bytes, usize::MAX, MAX_REFMAP_BYTES),
            Err(_) => Ok(None),
        };
        let reason = match kept {
            Ok(Some(place)) => return drop(self.fields.insert("refmap".into(), json!(place))),
            Ok(None) => json!("budget"),
            Err(error) => json!(error.kind_name()),
        };
        let fields = json!({"snapshot_id": map.snapshot_id, "reason": reason});
        context.trace().event("action.artifacts.refmap_skipped", fields);
    }
}

/// Writes a file into a directory of the trace, unless all processes together have used up what it may hold. A file that
/// is there already is kept as it is.
fn keep(trace: &Path, below: &str, name: &str, bytes: &[u8], files: usize, total: u64) -> Result<Option<String>> {
    let dir = trace.join(below);
    private::make_dir(trace)?;
    private::make_dir(&dir)?;
    let _lock = private::lock(&trace.join("artifacts.lock"), LOCK_WAIT)?;
    let place = format!("{below}/{name}");
    let path = dir.join(name);
    if path.symlink_metadata().is_ok() {
        return Ok(Some(place));
    }
    let (mut count, mut size) = (0, bytes.len() as u64);
    let entries = dir.read_dir().map_err(|e| private::io_error("list the artefacts", &dir, &e))?;
    for meta in entries.flatten().filter_map(|e| e.metadata().ok()) {
        count += 1;
        size = size.saturating_add(meta.len());
    }
    if count >= files || size > total {
        return Ok(None);
    }
    private::replace(&path, &dir, "artefact", bytes)?;
    Ok(Some(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_count_what_all_processes_wrote() {
        let home = tempfile::tempdir().unwrap();
        let trace = home.path().join("trace");
        let put = |name: &str, size: usize| keep(&trace, "screens", name, &vec![0; size], 3, 100).unwrap().is_some();
        assert!(put("a", 40) && put("b", 40));
        assert!(!put("c", 21), "too many bytes");
        assert!(put("a", 40), "it is there");
        assert!(put("d", 20));
        assert!(!put("e", 0), "too many files");
        assert_eq!(trace.join("screens").read_dir().unwrap().count(), 3, "nothing half written");
    }
}
