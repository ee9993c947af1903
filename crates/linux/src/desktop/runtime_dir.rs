//! The per-user directory of everything that lives only while something runs: private desktops, locks.

use super::error::DesktopError;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A directory that belongs to this user, is no link and is closed to everybody else (mode 0700).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeDir {
    path: PathBuf,
}

impl RuntimeDir {
    /// `/tmp/agent-desktop-UID`, made if missing. The path doesn't depend on the environment: inside a private desktop,
    /// over SSH and from cron it must be the same one.
    ///
    /// # Errors
    /// `PermissionDenied` when the path is somebody else's, a link, not a directory or open to others; `Io` otherwise.
    pub fn for_user() -> Result<RuntimeDir, DesktopError> {
        RuntimeDir::at(&PathBuf::from(format!("/tmp/agent-desktop-{}", rustix::process::geteuid().as_raw())))
    }

    /// The same guard for a given path, whose parent must exist.
    pub fn at(path: &Path) -> Result<RuntimeDir, DesktopError> {
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(DesktopError::io(format!("create {}", path.display()), &e)),
        }
        check(path)?;
        Ok(RuntimeDir { path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory directly below, under the same guard, made if missing. `name` is one path component.
    pub fn subdir(&self, name: &str) -> Result<RuntimeDir, DesktopError> {
        if name.is_empty() || name == "." || name == ".." || name.contains('/') {
            return Err(DesktopError::denied(&self.path, format!("{name:?} is not a name of a directory")));
        }
        RuntimeDir::at(&self.path.join(name))
    }
}

/// What is at the path now must be a directory of ours with no bits for others.
fn check(path: &Path) -> Result<(), DesktopError> {
    let opened =
        rustix::fs::open(path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty());
    let stat = match opened {
        Ok(fd) => {
            rustix::fs::fstat(&fd).map_err(|e| DesktopError::io(format!("read {}", path.display()), &e.into()))?
        }
        // NOFOLLOW with DIRECTORY answers ENOTDIR for a link too.
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
            return Err(DesktopError::denied(path, "it is a link or no directory"));
        }
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            return Err(DesktopError::denied(path, "it belongs to somebody else or can't be read"));
        }
        Err(e) => return Err(DesktopError::io(format!("open {}", path.display()), &e.into())),
    };
    let us = rustix::process::geteuid().as_raw();
    if stat.st_uid != us {
        return Err(DesktopError::denied(path, format!("it belongs to user {}, not to user {us}", stat.st_uid)));
    }
    if stat.st_mode & 0o077 != 0 {
        return Err(DesktopError::denied(
            path,
            format!("its mode is {:04o}, others must have no access (0700)", stat.st_mode & 0o7777),
        ));
    }
    Ok(())
}

/// Writes a file that only this user can read, whole or not at all: a temporary name beside it, then renamed.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = (|| {
        let mut file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        std::fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn denied(r: Result<RuntimeDir, DesktopError>) -> String {
        match r {
            Err(DesktopError::PermissionDenied { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn is_made_closed_and_found_again() {
        let t = tempfile::tempdir().unwrap();
        let p = t.path().join("rt");
        let d = RuntimeDir::at(&p).unwrap();
        assert_eq!(std::fs::metadata(&p).unwrap().permissions().mode() & 0o7777, 0o700);
        assert_eq!(RuntimeDir::at(&p).unwrap(), d);
        assert!(d.subdir("locks").unwrap().path().ends_with("rt/locks"));
        for bad in ["", ".", "..", "a/b", "/etc"] {
            denied(d.subdir(bad));
        }
    }

    #[test]
    fn links_files_and_open_directories_are_refused() {
        let t = tempfile::tempdir().unwrap();
        let real = t.path().join("real");
        RuntimeDir::at(&real).unwrap();
        let link = t.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(denied(RuntimeDir::at(&link)).contains("link"));
        let file = t.path().join("file");
        std::fs::write(&file, "").unwrap();
        denied(RuntimeDir::at(&file));
        for mode in [0o755, 0o701, 0o770] {
            std::fs::set_permissions(&real, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(denied(RuntimeDir::at(&real)).contains("mode"));
        }
    }

    #[test]
    fn somebody_elses_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give a directory away
        }
        let t = tempfile::tempdir().unwrap();
        let p = t.path().join("rt");
        RuntimeDir::at(&p).unwrap();
        std::os::unix::fs::chown(&p, Some(12345), None).unwrap();
        assert!(denied(RuntimeDir::at(&p)).contains("12345"));
    }

    #[test]
    fn private_files() {
        let t = tempfile::tempdir().unwrap();
        let p = t.path().join("f");
        write_private(&p, b"one").unwrap();
        write_private(&p, b"two").unwrap();
        assert_eq!(std::fs::read(&p).unwrap(), b"two");
        assert_eq!(std::fs::metadata(&p).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(t.path()).unwrap().count(), 1);
    }
}
