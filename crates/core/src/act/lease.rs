//! The interaction lease: one file lock per user and desktop, held for the dispatch only (spec 1 §7, decisions D2).
//! Reads never take it. The lock ends with the process that holds it, so a dead holder never blocks.

use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::state::private;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a taken lease is asked for again.
const POLL: Duration = Duration::from_millis(10);

/// The lock file of a desktop: its name carries the desktop's id.
pub fn path(desktop: &str) -> Result<PathBuf, Error> {
    file_of("lease", desktop, "lock")
}

/// A file in the user's runtime directory that belongs to one desktop, such as `hold-….sock`.
pub fn file_of(what: &str, desktop: &str, extension: &str) -> Result<PathBuf, Error> {
    let plain: String =
        desktop.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(40).collect();
    // Ids that differ only in what was left out stay apart.
    let digest = crate::refs::entry::digest(desktop);
    Ok(private::runtime_dir()?.join(format!("{what}-{plain}-{digest:016x}.{extension}")))
}

/// The lease, while it is held.
pub struct Lease {
    _file: File,
    since: Instant,
}

impl Lease {
    /// Takes the lease by the deadline; a single shot asks once.
    pub fn take(path: &Path, deadline: Deadline, single_shot: bool, contention: &mut u64) -> Result<Self, Error> {
        let file = private::lock_file(path)?;
        let mut first = true;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file, since: Instant::now() }),
                Err(TryLockError::WouldBlock) => {
                    if std::mem::take(&mut first) {
                        *contention += 1;
                    }
                    if single_shot || deadline.passed() {
                        return Err(Error::before(Code::Timeout, "another caller holds the interaction lease")
                            .kind("lock_timeout")
                            .retry_after(100)
                            .suggest("Retry: the other action ends by its own deadline."));
                    }
                    std::thread::sleep(POLL.min(deadline.left()));
                }
                Err(TryLockError::Error(e)) => {
                    return Err(Error::before(Code::Internal, "the interaction lease can't be locked")
                        .kind("lease_unavailable")
                        .platform(e.to_string()));
                }
            }
        }
    }

    /// For how long it has been held, in milliseconds.
    pub fn held_ms(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
    }
}
