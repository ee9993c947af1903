//! Saved snapshots, and their elements proven again.

use crate::act::entry_of;
use crate::act::ready::{ATTEMPT_MS, torn};
use crate::act::story::entry_fields;
use crate::command::Context;
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::platform::{Live, Platform};
use crate::refs::entry::RefMap;
use crate::refs::id::SnapshotId;
use crate::refs::resolve::{Purpose, Question, Resolved, admissible};
use crate::refs::store::Store;
use crate::tree::json::qualified;
use serde_json::{Value, json};

/// The store of the caller's namespace.
pub fn store(context: &Context) -> Result<Store, Error> {
    Store::open(context.state_root(), context.session())
}

/// A saved snapshot, checked to be whole and to belong to the desktop that the command speaks to.
pub fn load(context: &Context, id: &SnapshotId) -> Result<RefMap, Error> {
    let map: RefMap = store(context)?.load(id.as_str())?;
    if !map.sound() || map.snapshot_id != id.as_str() {
        return Err(torn());
    }
    if context.platform()?.desktop_id()? != map.desktop {
        return Err(Error::before(Code::SnapshotNotFound, "the snapshot was taken on another desktop")
            .kind("desktop_mismatch")
            .suggest("Point the command at that desktop (--desktop), or take a new snapshot here."));
    }
    context.platform()?.admits(&map.process)?;
    Ok(map)
}

/// Records that a snapshot was saved.
pub fn tell_saved(context: &Context, map: &RefMap, complete: bool) {
    let fields = json!({
        "snapshot_id": map.snapshot_id,
        "refs": map.entries.len(),
        "complete": complete,
        "app": map.source.app,
        "app_pid": map.process.pid,
        "window_id": map.source.window_id,
    });
    context.trace().event("snapshot.saved", fields);
}

/// Proves a saved element for a read, and records that.
pub fn proven(
    context: &Context,
    map: &RefMap,
    number: u32,
    bounds: bool,
    deadline: Deadline,
) -> Result<Resolved, Error> {
    let trace = context.trace();
    let fields = if trace.on() { json!({"ref": qualified(&map.snapshot_id, number)}) } else { Value::Null };
    trace.event("ref.resolve.start", fields.clone());
    if let Some(entry) = map.entries.get(&number).filter(|_| trace.on()) {
        trace.event("ref.resolve.entry", entry_fields(map, entry));
    }
    let resolved = resolve_with(context.platform()?, map, number, Purpose::Read, bounds, deadline);
    trace.outcome("ref.resolve", &resolved, fields, |r| json!({"identity": r.told.token()}));
    resolved
}

/// Proves a saved element once, bounds left out.
pub fn resolve(
    platform: &dyn Platform,
    map: &RefMap,
    number: u32,
    purpose: Purpose,
    deadline: Deadline,
) -> Result<Resolved, Error> {
    resolve_with(platform, map, number, purpose, false, deadline)
}

/// Proves a saved element; retries what may only be late, until the deadline.
pub fn resolve_with(
    platform: &dyn Platform,
    map: &RefMap,
    number: u32,
    purpose: Purpose,
    bounds: bool,
    deadline: Deadline,
) -> Result<Resolved, Error> {
    let entry = entry_of(map, number)?;
    admissible(entry)?;
    let question = Question::new(map, entry).ok_or_else(torn)?;
    loop {
        let probe = question.ask(map, entry, bounds, platform, deadline.within_ms(ATTEMPT_MS));
        match question.judge(map, entry, probe, purpose) {
            Err(error) if crate::act::ready::worth_another_look(&error) && !deadline.passed() => {
                std::thread::sleep(std::time::Duration::from_millis(crate::act::ready::POLL_MS).min(deadline.left()));
            }
            other => return other,
        }
    }
}

/// A live element of a saved ref, for reads.
pub fn live(platform: &dyn Platform, map: &RefMap, number: u32, deadline: Deadline) -> Result<Live, Error> {
    resolve(platform, map, number, Purpose::Read, deadline).map(|r| r.live)
}
