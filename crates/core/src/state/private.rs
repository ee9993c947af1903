//! Private directories and files: made 0700 and 0600, never through a link, replaced in one step (spec 1 §8).

use super::unix;
use crate::error::{Code, Error, Result};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a lock that is held is tried again.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// An error of the state directory with a code and a kind that a caller can act on. Nothing was delivered anywhere.
pub fn io_error(what: &str, path: &Path, error: &io::Error) -> Error {
    let failed = |code| Error::before(code, format!("could not {what}"));
    let known = match error.kind() {
        // A limit on the size of files (`ulimit -f`) is the same to the caller: no room.
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => failed(Code::Internal)
            .kind("state_disk_full")
            .suggest("Free space on the disk of the state root, or point AGENT_DESKTOP_HOME elsewhere."),
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => failed(Code::PermDenied)
            .kind("state_not_writable")
            .suggest("Make the state root readable and writable for this user, or point AGENT_DESKTOP_HOME elsewhere."),
        _ => failed(Code::Internal)
            .kind("state_io")
            .suggest("Check the disk of the state root, or point AGENT_DESKTOP_HOME elsewhere."),
    };
    known.detail("path", path.display().to_string()).platform(error.to_string())
}

fn unsafe_dir(path: &Path, why: &str) -> Error {
    Error::before(Code::PermDenied, format!("the state directory {why}"))
        .kind("state_root_unsafe")
        .detail("path", path.display().to_string())
        .suggest("Use a real directory that this user owns; AGENT_DESKTOP_HOME names another one.")
}

/// Whether a directory of ours is there. A link, something else than a directory, or a directory of another user is
/// refused with `PERM_DENIED`.
pub fn check_dir(path: &Path) -> Result<bool> {
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) if e.kind() == ErrorKind::NotADirectory => return Err(unsafe_dir(path, "lies under a file")),
        Err(e) => return Err(io_error("look at the state directory", path, &e)),
    };
    if meta.file_type().is_symlink() {
        return Err(unsafe_dir(path, "is a symbolic link"));
    }
    if !meta.is_dir() {
        return Err(unsafe_dir(path, "is not a directory"));
    }
    if !unix::ours(&meta) {
        return Err(unsafe_dir(path, "belongs to another user"));
    }
    if unix::writable_by_others(&meta) {
        return Err(unsafe_dir(path, "may be written by other users"));
    }
    Ok(true)
}

/// Makes a private directory where there is none; its parent must be there.
pub fn make_dir(path: &Path) -> Result<()> {
    if check_dir(path)? {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    unix::private_dir(&mut builder);
    match builder.create(path) {
        Ok(()) => Ok(()),
        // Another process was faster; what it made is held to the same rules.
        Err(e) if e.kind() == ErrorKind::AlreadyExists && check_dir(path)? => Ok(()),
        Err(e) => Err(io_error("make a state directory", path, &e)),
    }
}

/// The user's runtime directory, made where there is none; refused when it is somebody else's, a link, or open to others.
pub fn runtime_dir() -> Result<PathBuf> {
    let path = unix::runtime_dir();
    make_dir(&path)?;
    let meta = path.symlink_metadata().map_err(|e| io_error("look at the runtime directory", &path, &e))?;
    if !unix::closed(&meta) {
        return Err(unsafe_dir(&path, "is open to other users"));
    }
    Ok(path)
}

/// Opens a lock file, made where there is none, without following a link.
pub fn lock_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    unix::private_file(options.read(true).write(true).create(true).truncate(false));
    options.open(path).map_err(|e| io_error("open a lock file", path, &e))
}

/// Makes the state root with what is missing above it.
pub fn make_root(path: &Path) -> Result<()> {
    if check_dir(path)? {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    unix::private_dir(builder.recursive(true));
    builder.create(path).map_err(|e| io_error("make the state root", path, &e))?;
    check_dir(path).map(|_| ())
}

/// Reads a private file whole. `None` where there is none that could be ours: missing, a link, not a regular file,
/// another user's, or larger than `max`.
pub fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
    let mut options = OpenOptions::new();
    unix::private_file(options.read(true));
    let failed = |e: &io::Error| io_error("read a state file", path, e);
    let file = match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => match options.open(path) {
            Ok(file) => file,
            // It went, or a link came in its place.
            Err(_) if !path.symlink_metadata().is_ok_and(|m| m.is_file()) => return Ok(None),
            Err(e) => return Err(failed(&e)),
        },
        Ok(_) => return Ok(None),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(failed(&e)),
    };
    let meta = file.metadata().map_err(|e| failed(&e))?;
    if !meta.is_file() || !unix::ours(&meta) || meta.len() > max {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    file.take(max + 1).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    Ok((bytes.len() as u64 <= max).then_some(bytes))
}

/// Replaces a file in one step: written beside it as `.<prefix>-….tmp` in `dir`, which must lie on the same file
/// system, then renamed. Whoever is killed meanwhile leaves the old file and a `.tmp`; whoever fails leaves the old
/// file. Not forced to the disk: after a power failure a torn file is found to be torn when it is read.
pub fn replace(path: &Path, dir: &Path, prefix: &str, bytes: &[u8]) -> Result<()> {
    let failed = |e: io::Error| io_error("write a state file", path, &e);
    let mut file =
        tempfile::Builder::new().prefix(&format!(".{prefix}-")).suffix(".tmp").tempfile_in(dir).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// A lock that is held until it is dropped or its process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Says on the lock file when its holder was there, in milliseconds since 1970. Best effort.
    pub fn stamp(&self, ms: u64) {
        let _ = self._file.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(ms));
    }
}

/// Takes the exclusive lock of a lock file, made where there is none.
pub fn lock(path: &Path, wait: Duration) -> Result<Lock> {
    take(path, wait, File::try_lock)
}

/// Takes a lock that others may share, on a lock file that is made where there is none.
pub fn lock_shared(path: &Path, wait: Duration) -> Result<Lock> {
    take(path, wait, File::try_lock_shared)
}

/// Takes the exclusive lock where nobody holds any; none where somebody does.
pub fn try_lock(path: &Path) -> Result<Option<Lock>> {
    match take(path, Duration::ZERO, File::try_lock) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind_name() == Some("lock_timeout") => Ok(None),
        Err(error) => Err(error),
    }
}

fn take(path: &Path, wait: Duration, attempt: fn(&File) -> std::result::Result<(), TryLockError>) -> Result<Lock> {
    let started = Instant::now();
    let failed = |e: &io::Error| io_error("lock the state directory", path, e);
    loop {
        let file = lock_file(path)?;
        loop {
            match attempt(&file) {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < wait => std::thread::sleep(LOCK_POLL),
                Err(TryLockError::WouldBlock) => return Err(lock_timeout(path, wait)),
                Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Interrupted => {}
                Err(TryLockError::Error(e)) => return Err(failed(&e)),
            }
        }
        // A session that was collected meanwhile took its lock file along: this lock would guard nothing.
        match (file.metadata(), path.symlink_metadata()) {
            (Ok(ours), Ok(there)) if unix::same_file(&ours, &there) => return Ok(Lock { _file: file }),
            (Ok(_), Ok(_)) => {}
            (_, Err(e)) if e.kind() == ErrorKind::NotFound => {}
            (Err(e), _) | (_, Err(e)) => return Err(failed(&e)),
        }
        if started.elapsed() >= wait {
            return Err(lock_timeout(path, wait));
        }
    }
}

/// Whether an open file is still the one at its path: a lock on one that was taken away guards nothing.
pub fn is_still_at(file: &File, path: &Path) -> bool {
    matches!((file.metadata(), path.symlink_metadata()), (Ok(ours), Ok(there)) if unix::same_file(&ours, &there))
}

fn lock_timeout(path: &Path, wait: Duration) -> Error {
    Error::before(Code::Timeout, format!("another command held the state lock for {} ms", wait.as_millis()))
        .kind("lock_timeout")
        .detail("path", path.display().to_string())
}

/// Opens a private file to add to its end, made where there is none, without following a link. The file can be read.
pub fn append_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    unix::private_file(options.read(true).append(true).create(true));
    options.open(path)
}

/// Makes a private file that was not there before.
pub fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    unix::private_file(options.write(true).create_new(true));
    options.open(path)
}

/// Whether the name still stands for this open file.
pub fn is_there(file: &File, path: &Path) -> bool {
    matches!((file.metadata(), path.symlink_metadata()), (Ok(ours), Ok(there)) if unix::same_file(&ours, &there))
}

/// Removes a directory and what is in it, never through a link. Best effort.
pub fn remove_dir(path: &Path) {
    if let Err(e) = std::fs::remove_dir_all(path) {
        tracing::debug!(path = %path.display(), error = %e, "could not remove a state directory");
    }
}

/// Removes `.tmp` files of writers that were killed, once they are older than `age`. Best effort.
pub fn sweep(entries: &[PathBuf], age: Duration) {
    for path in entries {
        let old = path
            .symlink_metadata()
            .ok()
            .filter(|m| m.is_file())
            .and_then(|m| m.modified().ok())
            .and_then(|t| t.elapsed().ok())
            .is_some_and(|elapsed| elapsed > age);
        if old {
            let _ = std::fs::remove_file(path);
        }
    }
}
