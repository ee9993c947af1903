//! Ref maps on disk (spec 1 §8, decisions D10): one namespace for the root and one for each session, many processes at
//! once, any of them killed at any moment.
//!
//! ```text
//! <root>/[sessions/<id>/]latest_snapshot_id
//!                        refstore.lock
//!                        snapshots/<sid>/refmap.json      {"format": …, "snapshot_id": …, "map": …}
//!                        snapshots/<sid>/baseline.json    what it showed; written before the map, gone with it
//!                        snapshots/.<sid>-….tmp           left by a killed writer, removed after 60 s
//! ```
//!
//! Readers take no lock: a file is replaced in one step. Writers hold the lock of their namespace from the first to
//! the last step, so that a drill reads and writes one state.

use super::baseline::{self, Baseline};
use super::id::SnapshotId;
use crate::error::{Code, Error, Result};
use crate::state::private;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of one ref map at most.
pub const MAX_REFMAP: u64 = 16 * 1024 * 1024;

/// Snapshots of a namespace above which the oldest are pruned.
pub const KEEP_AT_MOST: usize = 128;

/// Snapshots that pruning leaves.
pub const PRUNE_TO: usize = 96;

const MAX_LATEST: u64 = 65;
const LOCK_WAIT: Duration = Duration::from_secs(2);
const ORPHAN_AGE: Duration = Duration::from_secs(60);
const FORMAT: &str = "agent-desktop-refmap-1";

/// The ref maps of one namespace.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    session: Option<String>,
}

/// Directories of snapshots by id, and temporary files.
type Listing = (Vec<(String, PathBuf)>, Vec<PathBuf>);

/// What stands in a file: a map under another snapshot's name, or of another format, is found out.
#[derive(Serialize)]
struct Written<'a, T> {
    format: &'a str,
    snapshot_id: &'a str,
    map: &'a T,
}

#[derive(Deserialize)]
struct Stored<T> {
    format: String,
    snapshot_id: String,
    map: T,
}

fn plain(id: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Whether the text is a snapshot id (spec 1 §2). Only such text ever becomes a path.
pub fn is_snapshot_id(id: &str) -> bool {
    plain(id, 3..=64)
}

/// Whether the text is a session id (spec 1 §8).
pub fn is_session_id(id: &str) -> bool {
    plain(id, 1..=64)
}

fn not_found(id: &str) -> Error {
    let shown = if is_snapshot_id(id) { id } else { "that was named" };
    Error::before(Code::SnapshotNotFound, format!("no snapshot {shown} in this namespace"))
        .suggest("Take a new snapshot; refs of another session need its --session.")
}

/// A saved snapshot that is torn, or not ours.
fn damaged() -> Error {
    Error::before(Code::SnapshotNotFound, "the saved snapshot is damaged")
        .kind("snapshot_damaged")
        .suggest("Take a new snapshot.")
}

/// Bytes that stop growing at the limit.
struct Bounded(Vec<u8>, u64);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.0.len() + bytes.len()) as u64 > self.1 {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a file, where they keep to the limit.
fn written<T: Serialize>(id: &str, map: &T, max: u64) -> Option<Vec<u8>> {
    let mut out = Bounded(Vec::new(), max);
    serde_json::to_writer(&mut out, &Written { format: FORMAT, snapshot_id: id, map }).ok()?;
    Some(out.0)
}

fn serialise<T: Serialize>(id: &str, map: &T) -> Result<Vec<u8>> {
    let mut out = Bounded(Vec::new(), MAX_REFMAP);
    match serde_json::to_writer(&mut out, &Written { format: FORMAT, snapshot_id: id, map }) {
        Ok(()) => Ok(out.0),
        Err(e) if e.is_io() => Err(Error::before(Code::Internal, "the refs of this snapshot take more than 16 MiB")
            .kind("refmap_too_large")
            .suggest("Observe less: --skeleton, a smaller --max-depth, or --root.")),
        Err(e) => Err(Error::before(Code::Internal, "the refs of this snapshot could not be written")
            .kind("state_io")
            .platform(e.to_string())),
    }
}

impl Store {
    /// The namespace of a session, or of the root. Nothing is made on disk before the first save; a root that is a
    /// link, no directory or another user's is refused (`PERM_DENIED`).
    pub fn open(root: &Path, session: Option<&str>) -> Result<Self> {
        if !root.is_absolute() {
            return Err(Error::invalid("the state root is not an absolute path"));
        }
        if let Some(id) = session.filter(|id| !is_session_id(id)) {
            return Err(Error::invalid(format!("no session id: {}", crate::error::echo(id))));
        }
        let store = Self { root: root.to_owned(), session: session.map(str::to_owned) };
        store.directories().iter().try_for_each(|d| private::check_dir(d).map(|_| ()))?;
        Ok(store)
    }

    /// The namespace's own directory.
    pub fn base(&self) -> PathBuf {
        match &self.session {
            None => self.root.clone(),
            Some(id) => self.root.join("sessions").join(id),
        }
    }

    fn snapshots(&self) -> PathBuf {
        self.base().join("snapshots")
    }

    fn file(&self, id: &str) -> PathBuf {
        self.snapshots().join(id).join("refmap.json")
    }

    /// All directories from the root down to the one of the snapshots.
    fn directories(&self) -> Vec<PathBuf> {
        let mut all = vec![self.root.clone()];
        if self.session.is_some() {
            all.push(self.root.join("sessions"));
            all.push(self.base());
        }
        all.push(self.snapshots());
        all
    }

    fn make_directories(&self) -> Result<()> {
        private::make_root(&self.root)?;
        self.directories().iter().skip(1).try_for_each(|d| private::make_dir(d))
    }

    fn lock(&self) -> Result<private::Lock> {
        private::lock(&self.base().join("refstore.lock"), LOCK_WAIT)
    }

    fn baseline(&self, id: &str) -> PathBuf {
        self.snapshots().join(id).join("baseline.json")
    }

    fn put(&self, id: &str, bytes: &[u8]) -> Result<()> {
        private::make_dir(&self.snapshots().join(id))?;
        private::replace(&self.file(id), &self.snapshots(), id, bytes)
    }

    /// Saves the map of a new snapshot, makes it the latest one and prunes what is too old. Until the last byte is
    /// written nothing is seen of it.
    pub fn save<T: Serialize>(&self, id: &str, map: &T) -> Result<()> {
        self.save_with(id, map, None)
    }

    /// The same with what the snapshot showed, for `--since`. That file is written first, so that a map that is there has
    /// it; one that would be too large is left out.
    pub fn save_with<T: Serialize>(&self, id: &str, map: &T, shown: Option<&Baseline>) -> Result<()> {
        if !is_snapshot_id(id) {
            return Err(Error::invalid("no snapshot id"));
        }
        let bytes = serialise(id, map)?;
        let shown = shown.and_then(|s| written(id, s, baseline::MAX_BYTES));
        self.make_directories()?;
        let _lock = self.lock()?;
        if let Some(shown) = shown {
            private::make_dir(&self.snapshots().join(id))?;
            private::replace(&self.baseline(id), &self.snapshots(), id, &shown)?;
        }
        self.put(id, &bytes)?;
        private::replace(&self.base().join("latest_snapshot_id"), &self.snapshots(), "latest", id.as_bytes())?;
        self.prune(id);
        Ok(())
    }

    /// The map of a snapshot. A file that is missing, torn, oversized, not ours or of another snapshot is
    /// `SNAPSHOT_NOT_FOUND`.
    pub fn load<T: DeserializeOwned>(&self, id: &str) -> Result<T> {
        if !is_snapshot_id(id) || !private::check_dir(&self.snapshots())? {
            return Err(not_found(id));
        }
        // A link in the place of the snapshot's directory leads to somebody else's file.
        match private::check_dir(&self.snapshots().join(id)) {
            Ok(true) => {}
            Err(e) if e.kind_name() != Some("state_root_unsafe") => return Err(e),
            Ok(false) => return Err(not_found(id)),
            Err(_) => return Err(damaged()),
        }
        let file = self.file(id);
        let bytes = match private::read(&file, MAX_REFMAP)? {
            Some(bytes) => bytes,
            // Something that is no file of ours lies in its place.
            None if file.symlink_metadata().is_ok() => return Err(damaged()),
            None => return Err(not_found(id)),
        };
        match serde_json::from_slice::<Stored<T>>(&bytes) {
            Ok(stored) if stored.format == FORMAT && stored.snapshot_id == id => Ok(stored.map),
            Ok(_) => Err(damaged()),
            Err(e) => Err(damaged().platform(e.to_string())),
        }
    }

    /// What a snapshot showed. A snapshot without that (of `find`, or of an older version), or with a file that is torn or
    /// not ours, is `SNAPSHOT_NOT_FOUND` / `baseline_missing`.
    pub fn load_baseline(&self, id: &str) -> Result<Baseline> {
        let missing = || {
            Error::before(Code::SnapshotNotFound, "what this snapshot showed was not kept")
                .kind("baseline_missing")
                .suggest("Compare with a snapshot of a window: those of find keep refs alone. Take a new one.")
        };
        if !is_snapshot_id(id) || !private::check_dir(&self.snapshots())? {
            return Err(not_found(id));
        }
        match private::check_dir(&self.snapshots().join(id)) {
            Ok(true) => {}
            Ok(false) => return Err(not_found(id)),
            Err(e) if e.kind_name() != Some("state_root_unsafe") => return Err(e),
            Err(_) => return Err(damaged()),
        }
        let bytes = private::read(&self.baseline(id), baseline::MAX_BYTES)?.ok_or_else(missing)?;
        match serde_json::from_slice::<Stored<Baseline>>(&bytes) {
            Ok(stored) if stored.format == FORMAT && stored.snapshot_id == id && stored.map.sound() => Ok(stored.map),
            Ok(_) => Err(missing()),
            Err(e) => Err(missing().platform(e.to_string())),
        }
    }

    /// Changes the map of a snapshot under the namespace's lock (`snapshot --root`). Where `change` fails, the map
    /// stays as it was. The latest snapshot stays the latest.
    pub fn update<T, R>(&self, id: &str, change: impl FnOnce(&mut T) -> Result<R>) -> Result<R>
    where
        T: Serialize + DeserializeOwned,
    {
        if !is_snapshot_id(id) || !private::check_dir(&self.snapshots())? {
            return Err(not_found(id));
        }
        let _lock = self.lock()?;
        let mut map: T = self.load(id)?;
        let answer = change(&mut map)?;
        self.put(id, &serialise(id, &map)?)?;
        Ok(answer)
    }

    /// The snapshot saved last; none before the first, and none where the pointer can't be read as one.
    pub fn latest(&self) -> Result<Option<String>> {
        let bytes = private::read(&self.base().join("latest_snapshot_id"), MAX_LATEST)?;
        let text = bytes.and_then(|b| String::from_utf8(b).ok());
        Ok(text.map(|t| t.trim_end().to_owned()).filter(|id| is_snapshot_id(id)))
    }

    /// How many snapshots the namespace holds.
    pub fn count(&self) -> Result<usize> {
        Ok(self.list()?.0.len())
    }

    fn list(&self) -> Result<Listing> {
        let dir = self.snapshots();
        let failed = |e: &io::Error| private::io_error("list the snapshots", &dir, e);
        let (mut ids, mut temporary) = (Vec::new(), Vec::new());
        let entries = match dir.read_dir() {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok((ids, temporary)),
            Err(e) => return Err(failed(&e)),
        };
        for entry in entries {
            let entry = entry.map_err(|e| failed(&e))?;
            let (name, path) = (entry.file_name(), entry.path());
            if path.extension() == Some(OsStr::new("tmp")) {
                temporary.push(path);
            } else if let Some(id) = name.to_str().filter(|n| is_snapshot_id(n))
                && entry.file_type().is_ok_and(|t| t.is_dir())
            {
                ids.push((id.to_owned(), path));
            }
        }
        Ok((ids, temporary))
    }

    /// Removes a snapshot of the caller's own; one that isn't there is no error.
    pub fn remove(&self, id: &str) {
        if let (true, Ok(_lock)) = (is_snapshot_id(id), self.lock()) {
            private::remove_dir(&self.snapshots().join(id));
        }
    }

    /// Removes what killed writers left and, where there are too many, the oldest snapshots by time and then id; never
    /// the one just saved. Best effort: what was saved stays saved. Only under the lock.
    ///
    /// Snapshots of a `watch` are counted by themselves: however many it makes, those that somebody asked for stay.
    fn prune(&self, latest: &str) {
        let Ok((ids, temporary)) = self.list() else { return };
        private::sweep(&temporary, ORPHAN_AGE);
        let (watched, asked): (Vec<_>, Vec<_>) = ids.into_iter().partition(|(id, _)| SnapshotId::is_of_watch(id));
        [watched, asked].into_iter().for_each(|ids| prune_to(ids, latest));
    }
}

/// Removes the oldest of these where they are too many.
fn prune_to(ids: Vec<(String, PathBuf)>, latest: &str) {
    if ids.len() <= KEEP_AT_MOST {
        return;
    }
    let excess = ids.len() - PRUNE_TO;
    let mut aged: Vec<(SystemTime, String, PathBuf)> = ids
        .into_iter()
        .filter(|(id, _)| id != latest)
        .map(|(id, path)| {
            (path.symlink_metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH), id, path)
        })
        .collect();
    aged.sort();
    for (_, _, path) in aged.into_iter().take(excess) {
        private::remove_dir(&path);
    }
}

#[cfg(test)]
mod tests;
