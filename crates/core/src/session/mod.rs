//! Sessions (spec 1 §8): a namespace of refs with a manifest that says whether its commands are traced.
//!
//! ```text
//! <root>/sessions/<id>/session.json   the manifest; without one the id is a namespace and nothing more
//!                      session.lock   held while the manifest is changed
//!                      lease.lock     shared by every running command of the session: somebody holds it, it is live
//! <root>/sessions/gc.lock             one clean-up at a time
//! <root>/sessions/.gc-<id>-<pid>      being removed; what a killed clean-up left goes with the next one
//! ```

mod clean;
mod command;
mod life;
mod manifest;

pub use command::run;
pub use life::{ACTIVE, Attached};
pub use manifest::{Artifacts, MAX_MANIFEST, Manifest, Switch};

use crate::error::{Error, Result, echo};
use crate::refs::store::is_session_id;
use crate::state::private;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a change waits for another one of the same session.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// All sessions of a state root.
#[derive(Clone, Debug)]
pub struct Sessions {
    dir: PathBuf,
}

/// What a session's manifest is.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Read, and the session's own.
    Manifest(Box<Manifest>),
    /// There is none.
    Missing,
    /// Something lies in its place that can't be read as one.
    Damaged,
}

impl Found {
    /// The manifest, where there is a sound one.
    pub fn manifest(self) -> Option<Manifest> {
        match self {
            Found::Manifest(manifest) => Some(*manifest),
            Found::Missing | Found::Damaged => None,
        }
    }
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    since_1970(SystemTime::now())
}

/// A time of a file in milliseconds since 1970; 0 for what lies before.
pub(crate) fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// `INVALID_ARGS`: there is no such session.
pub fn not_found(id: &str) -> Error {
    Error::invalid(format!("there is no session {}", echo(id)))
        .kind("session_not_found")
        .suggest("'agent-desktop session list' shows them; 'session start' makes one.")
}

impl Sessions {
    /// The sessions of a state root. Touches nothing.
    pub fn of(state_root: &Path) -> Self {
        Self { dir: state_root.join("sessions") }
    }

    /// The directory of a session.
    ///
    /// # Errors
    /// `INVALID_ARGS` where the text is no session id: only ids become paths.
    pub fn dir(&self, id: &str) -> Result<PathBuf> {
        if is_session_id(id) { Ok(self.dir.join(id)) } else { Err(not_found(id)) }
    }

    /// The manifest of a session. What can't be read is damaged, never an error: the session goes on as a namespace.
    pub fn read(&self, id: &str) -> Found {
        let Ok(dir) = self.dir(id) else { return Found::Missing };
        let path = manifest::path(&dir);
        let bytes = match (private::check_dir(&dir), private::read(&path, MAX_MANIFEST)) {
            (Ok(false), _) => return Found::Missing,
            (Ok(true), Ok(Some(bytes))) => bytes,
            (Ok(true), Ok(None)) if path.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::NotFound) => {
                return Found::Missing;
            }
            _ => return Found::Damaged,
        };
        match Manifest::parse(&bytes, id) {
            Some(manifest) => Found::Manifest(Box::new(manifest)),
            None => Found::Damaged,
        }
    }

    /// Changes the manifest of a session under its lock and gives what became of it.
    ///
    /// # Errors
    /// `session_not_found` without one, `session_damaged` where it can't be read; errors of the disk.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut Manifest)) -> Result<Manifest> {
        let dir = self.dir(id)?;
        if !private::check_dir(&dir)? {
            return Err(not_found(id));
        }
        let _lock = private::lock(&dir.join("session.lock"), LOCK_WAIT)?;
        let mut manifest = match self.read(id) {
            Found::Manifest(manifest) => *manifest,
            Found::Missing => return Err(not_found(id)),
            Found::Damaged => {
                return Err(Error::invalid("the manifest of this session can't be read")
                    .kind("session_damaged")
                    .detail("path", manifest::path(&dir).display().to_string())
                    .suggest("Start a new session; 'session gc' removes this one once it is idle."));
            }
        };
        let before = manifest.clone();
        change(&mut manifest);
        if manifest != before {
            manifest.write(&dir)?;
        }
        Ok(manifest)
    }

    /// Ids of all sessions that have a directory, in the order of their letters.
    ///
    /// # Errors
    /// Where the directory can't be listed.
    pub fn ids(&self) -> Result<Vec<String>> {
        let failed = |e: &std::io::Error| private::io_error("list the sessions", &self.dir, e);
        if !private::check_dir(&self.dir)? {
            return Ok(Vec::new());
        }
        let mut ids = Vec::new();
        for entry in self.dir.read_dir().map_err(|e| failed(&e))? {
            let entry = entry.map_err(|e| failed(&e))?;
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                ids.extend(entry.file_name().into_string().ok().filter(|id| is_session_id(id)));
            }
        }
        ids.sort();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests;
