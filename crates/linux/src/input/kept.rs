//! The record of held input on one desktop: written before a press, so that whoever comes after a keeper that was
//! killed knows what to release.

use super::debt::Debt;
use agent_desktop_core::act::lease;
use agent_desktop_core::error::Error;
use agent_desktop_core::state::private::{self, Lock};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A record is small; anything larger is not ours.
const MAX: u64 = 1 << 20;
/// How long the lock of the record may take: it is held for a few round trips to the display.
const LOCK: Duration = Duration::from_secs(2);

/// The files of one desktop.
#[derive(Clone, Debug)]
pub struct Files {
    /// The record.
    pub record: PathBuf,
    /// The keeper's socket.
    pub socket: PathBuf,
    /// Locked by the keeper as long as it lives, however it ends.
    pub alive: PathBuf,
    /// Locked while a keeper is being started.
    pub starting: PathBuf,
}

impl Files {
    /// The files of the desktop with this id.
    ///
    /// # Errors
    /// Where the runtime directory can't be used.
    pub fn of(desktop: &str) -> Result<Self, Error> {
        let file = |extension| lease::file_of("hold", desktop, extension);
        Ok(Self { record: file("json")?, socket: file("sock")?, alive: file("alive")?, starting: file("lock")? })
    }

    /// The proof that no keeper lives, as long as it is kept.
    ///
    /// # Errors
    /// Where the file can't be opened or locked.
    pub fn no_keeper(&self) -> Result<Option<File>, Error> {
        let file = private::lock_file(&self.alive)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(private::io_error("lock the file of held input", &self.alive, &e)),
        }
    }
}

/// What the record says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// What each hold owes, and what is being pressed.
    pub debts: Vec<Debt>,
}

/// The record, where there is one of ours.
pub fn read(path: &Path) -> Option<Record> {
    let bytes = private::read(path, MAX).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// Replaces the record in one step; an empty one is removed.
///
/// # Errors
/// Where it can't be written: nothing may be pressed then.
pub fn write(path: &Path, record: &Record) -> Result<(), Error> {
    if record.debts.iter().all(Debt::is_nothing) {
        return match std::fs::remove_file(path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(private::io_error("remove the record of held input", path, &e))
            }
            _ => Ok(()),
        };
    }
    let bytes = serde_json::to_vec(record).unwrap_or_default();
    private::replace(path, path.parent().unwrap_or(Path::new("/")), "hold", &bytes)
}

/// The keys that the record lists as held.
pub fn keys(path: &Path) -> Vec<u8> {
    read(path).map(|r| r.debts.into_iter().flat_map(|d| d.keys).collect()).unwrap_or_default()
}

/// The lock under which held keys are let go of, or pressed again by a sequence that had lifted them.
///
/// # Errors
/// Where it is not to be had in time.
pub fn lock(record: &Path) -> Result<Lock, Error> {
    private::lock(&record.with_extension("mutex"), LOCK)
}
