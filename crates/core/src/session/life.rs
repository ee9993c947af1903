//! Whether a session is in use.
//!
//! Every command of a session shares the lock of `lease.lock` while it runs; a clean-up takes it alone. So nobody who
//! runs loses what it works on, and whoever comes during a clean-up waits for the moment that it takes.

use super::{Found, Manifest, Sessions, now_ms, since_1970};
use crate::state::private;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A session is live for so long after its last command, and after its start (spec 1 §8).
pub const ACTIVE: Duration = Duration::from_secs(300);

/// How long a command waits for a clean-up that looks at its session.
const LEASE_WAIT: Duration = Duration::from_secs(2);

/// A running command's part in its session.
#[derive(Debug)]
pub struct Attached {
    /// The manifest as it was when the command began.
    pub manifest: Option<Manifest>,
    _lease: Option<private::Lock>,
}

pub(super) fn lease(dir: &Path) -> PathBuf {
    dir.join("lease.lock")
}

impl Attached {
    /// Takes part in a session, if it has a directory, and reads its manifest once. A manifest that is damaged counts
    /// as none, with a warning. What can't be locked is not: the command itself says what is wrong with the state.
    pub fn to(sessions: &Sessions, id: &str) -> Self {
        let there = sessions.dir(id).ok().filter(|dir| private::check_dir(dir).is_ok_and(|is| is));
        let held = there.and_then(|dir| match private::lock_shared(&lease(&dir), LEASE_WAIT) {
            Ok(lock) => Some(lock),
            Err(error) => {
                tracing::debug!(session = id, %error, "the session's lease can't be held");
                None
            }
        });
        if let Some(lock) = &held {
            lock.stamp(now_ms());
        }
        let found = sessions.read(id);
        if found == Found::Damaged {
            tracing::warn!(
                session = id,
                "the session's manifest can't be read: it goes on as a namespace, without a trace"
            );
        }
        Self { manifest: found.manifest(), _lease: held }
    }
}

/// When something of the session was last written, in milliseconds since 1970. The directory's own time counts only
/// where there is nothing else: looking at a session may make a lock file in it.
pub(super) fn last_activity(dir: &Path) -> u64 {
    let time = |path: &Path| path.symlink_metadata().and_then(|m| m.modified()).map(since_1970).ok();
    let names = [
        "session.json",
        "latest_snapshot_id",
        "refstore.lock",
        "session.lock",
        "snapshots",
        "clipboard",
        "trace",
        "lease.lock",
    ];
    let inside = dir.join("trace").read_dir().into_iter().flatten().flatten().map(|e| e.path());
    let seen = names.into_iter().map(|name| dir.join(name)).chain(inside).filter_map(|path| time(&path)).max();
    seen.or_else(|| time(dir)).unwrap_or(0)
}

fn recent(ms: u64) -> bool {
    // A clock that was set back makes times of the future: they are recent, and nothing is lost by it.
    now_ms().saturating_sub(ms) < ACTIVE.as_millis() as u64
}

/// Whether time alone makes the session live: activity, or a start, within [`ACTIVE`].
pub(super) fn young(dir: &Path, manifest: Option<&Manifest>) -> bool {
    recent(last_activity(dir)) || manifest.is_some_and(|m| m.ended_at.is_none() && recent(m.created_at))
}

/// Whether the session is in use now.
pub(super) fn live(dir: &Path, manifest: Option<&Manifest>) -> bool {
    let held = |path: PathBuf| {
        // A file that isn't there is held by nobody, and is not made by looking.
        path.symlink_metadata().is_ok() && !matches!(private::try_lock(&path), Ok(Some(_)))
    };
    young(dir, manifest) || held(lease(dir)) || held(dir.join("refstore.lock"))
}
