//! The interaction lease: one file lock per user and desktop, held for the dispatch only (spec 1 §7, decisions D2).
//! Reads never take it. The lock ends with the process that holds it, so a dead holder never blocks.

use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::state::private;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a lock file is kept at least.
const UNUSED: Duration = Duration::from_secs(24 * 60 * 60);
/// Lock files that are looked at in one sweep.
const SWEPT: usize = 1_000;
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

fn sweep_in(dir: &Path) {
    let of_lease = |name: &str| name.starts_with("lease-") && name.ends_with(".lock");
    let old = |entry: &std::fs::DirEntry| {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        age.is_some_and(|age| age > UNUSED)
    };
    let entries = dir.read_dir().into_iter().flatten().flatten();
    for entry in entries.filter(|e| e.file_name().to_str().is_some_and(of_lease)).filter(old).take(SWEPT) {
        let Ok(file) = private::lock_file(&entry.path()) else { continue };
        // Whoever opened it before and locks it after sees that it is gone, and makes another.
        if file.try_lock().is_ok() && private::is_still_at(&file, &entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The lease, while it is held.
pub struct Lease {
    _file: File,
    since: Instant,
}

impl Lease {
    /// Takes the lease by the deadline; a single shot asks once.
    pub fn take(path: &Path, deadline: Deadline, single_shot: bool, contention: &mut u64) -> Result<Self, Error> {
        let mut file = private::lock_file(path)?;
        let mut first = true;
        loop {
            match file.try_lock() {
                Ok(()) if private::is_still_at(&file, path) => {
                    return Ok(Self { _file: file, since: Instant::now() });
                }
                // It was swept away meanwhile.
                Ok(()) => file = private::lock_file(path)?,
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

    /// Takes away lock files that are a day old and that nobody holds: each private desktop
    /// leaves one. Best effort.
    pub fn sweep() {
        if let Ok(dir) = private::runtime_dir() {
            sweep_in(&dir);
        }
    }

    /// For how long it has been held, in milliseconds.
    pub fn held_ms(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn old_lock_files_go_where_nobody_holds_them_and_a_lease_is_never_two() {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str, old: bool| {
            let path = dir.path().join(name);
            let file = private::lock_file(&path).unwrap();
            if old {
                file.set_modified(SystemTime::now() - 2 * UNUSED).unwrap();
            }
            path
        };
        let (gone, young) = (made("lease-a-1.lock", true), made("lease-b-2.lock", false));
        let (held, other) = (made("lease-c-3.lock", true), made("hold-d-4.alive", true));
        let soon = Deadline::after_ms(100);
        let lease = Lease::take(&held, soon, true, &mut 0).unwrap();
        // Somebody has the file open when it goes: the lease that follows is on the new one.
        let stale = private::lock_file(&gone).unwrap();
        sweep_in(dir.path());
        assert_eq!([&gone, &young, &held, &other].map(|p| p.exists()), [false, true, true, true]);
        stale.try_lock().unwrap();
        let first = Lease::take(&gone, soon, true, &mut 0).unwrap();
        assert!(Lease::take(&gone, soon, true, &mut 0).is_err());
        drop((first, lease));
        assert!(Lease::take(&held, soon, true, &mut 0).is_ok());
    }
}
