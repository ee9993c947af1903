//! The manifest of a session.

use super::{LOCK_WAIT, Sessions, now_ms};
use crate::error::{Code, Error, Result, echo};
use crate::state::private;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a manifest at most (spec 1 §8).
pub const MAX_MANIFEST: u64 = 64 * 1024;

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Switch {
    On,
    Off,
}

/// What is kept of a session's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Artifacts {
    /// Events only.
    Events,
    /// Pictures of the window before and after, and the ref map, as well.
    Full,
}

/// A session's manifest: `session.json`. Fields that a later version adds are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The session; the name of its directory.
    pub session_id: String,
    /// The name that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was started, in milliseconds since 1970.
    pub created_at: u64,
    /// When it was ended. Its commands go on working on its refs; nothing is traced any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// Whether its commands are traced.
    pub trace: Switch,
    /// What is kept beside the events.
    pub artifacts: Artifacts,
    /// How the agent's cursor is shown, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Value>,
    /// What this version doesn't know.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join("session.json")
}

impl Manifest {
    /// The manifest in these bytes, where it is one and of this session.
    pub(super) fn parse(bytes: &[u8], id: &str) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|m: &Self| m.session_id == id)
    }

    /// Whether its commands write a trace now.
    pub fn traces(&self) -> bool {
        self.trace == Switch::On && self.ended_at.is_none()
    }

    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let unwritable = |detail: String| {
            Error::before(Code::Internal, "the manifest of the session can't be written")
                .kind("state_io")
                .platform(detail)
        };
        let bytes = serde_json::to_vec(self).map_err(|e| unwritable(e.to_string()))?;
        if bytes.len() as u64 > MAX_MANIFEST {
            return Err(unwritable(format!("{} bytes", bytes.len())));
        }
        private::replace(&path(dir), dir, "session", &bytes)
    }
}

/// What a new session is to be.
pub(super) struct Wanted {
    pub id: Option<String>,
    pub name: Option<String>,
    pub trace: Switch,
    pub artifacts: Artifacts,
    pub cursor: Option<Value>,
}

/// `run-<unix-ms>-<pid>-<counter>` (spec 1 §8).
fn generate(ms: u64) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("run-{ms}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Sessions {
    /// Makes a session: with an id of its own, or with the caller's, whose refs from before stay.
    pub(super) fn create(&self, state_root: &Path, wanted: Wanted) -> Result<Manifest> {
        let created_at = now_ms();
        let id = wanted.id.unwrap_or_else(|| generate(created_at));
        let dir = self.dir(&id)?;
        private::make_root(state_root)?;
        private::make_dir(&self.dir)?;
        private::make_dir(&dir)?;
        let _lock = private::lock(&dir.join("session.lock"), LOCK_WAIT)?;
        if path(&dir).symlink_metadata().is_ok() {
            return Err(Error::invalid(format!("there is a session {} already", echo(&id)))
                .kind("session_exists")
                .suggest("Use it, or leave out --session: a new id is made."));
        }
        let manifest = Manifest {
            session_id: id,
            name: wanted.name,
            created_at,
            ended_at: None,
            trace: wanted.trace,
            artifacts: wanted.artifacts,
            cursor: wanted.cursor,
            more: serde_json::Map::new(),
        };
        manifest.write(&dir)?;
        Ok(manifest)
    }
}
