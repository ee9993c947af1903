//! Where a picture goes: a file, written beside and renamed, so that nobody ever sees half of one; or base64.

use crate::error::{Code, Error, Result};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// A file that may be written.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    dir: PathBuf,
}

impl File {
    /// Checks a path that the caller gave: its directory is there, and nothing but a file is replaced.
    pub fn check(text: &str) -> Result<Self> {
        Self::check_with(text, only_a_picture)
    }

    /// The same for a file of another kind: `replaceable` refuses what must not be replaced.
    pub fn check_with(text: &str, replaceable: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let path = Path::new(text);
        let invalid = |message: &str| Error::invalid(message).detail("path", text);
        let dir = match path.parent() {
            Some(dir) if path.file_name().is_some() && !text.ends_with('/') => dir,
            _ => return Err(invalid("PATH is not the name of a file").kind("path_not_a_file")),
        };
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        if !dir.is_dir() {
            return Err(invalid("the directory of PATH does not exist")
                .kind("path_without_directory")
                .suggest("Create the directory first."));
        }
        // Replacing a device or a pipe by a file would do harm; a link is replaced itself.
        let other = path.metadata().is_ok_and(|m| !m.is_file());
        if other {
            return Err(invalid("PATH exists and is not a regular file").kind("path_not_a_file"));
        }
        replaceable(path)?;
        Ok(Self { path: path.to_owned(), dir: dir.to_owned() })
    }

    /// Writes it, private to the user. Whoever fails leaves what was there before, and nothing else.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        self.write_by(|file| file.write_all(bytes))
    }

    /// The same with what `write` writes.
    pub fn write_by(self, write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>) -> Result<()> {
        let failed = |e: std::io::Error| failed(&self.path, &e);
        let mut file =
            tempfile::Builder::new().prefix(".agent-desktop-").suffix(".tmp").tempfile_in(&self.dir).map_err(failed)?;
        write(file.as_file_mut()).map_err(failed)?;
        file.persist(&self.path).map_err(|e| failed(e.error))?;
        Ok(())
    }
}

/// The first bytes of every PNG.
const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";

/// Refuses to replace a file that is no picture: a mistyped PATH must not cost somebody's document. Nothing there, and
/// an empty file as `mktemp` leaves it, are free to take.
///
/// # Errors
/// `path_not_a_picture` where the file has something else in it, or where that can't be read.
pub(crate) fn only_a_picture(path: &Path) -> Result<()> {
    let refuse = |message: &str| {
        Error::invalid(message)
            .kind("path_not_a_picture")
            .detail("path", path.display().to_string())
            .suggest("Only a PNG or an empty file is replaced: give another PATH, or remove the file first.")
    };
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(SIGNATURE.len() as u64).read_to_end(&mut start));
    match read {
        Ok(0) => Ok(()),
        Ok(_) if start == SIGNATURE => Ok(()),
        Ok(_) => Err(refuse("PATH is a file that is no picture")),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) => {
            Err(refuse("PATH is a file that can't be read, so that it may be no picture").platform(e.to_string()))
        }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    let because = |code| Error::before(code, "the file could not be written");
    let known = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            because(Code::ActionFailed).kind("output_disk_full").suggest("Free space there, or give another PATH.")
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => because(Code::PermDenied)
            .kind("output_not_writable")
            .suggest("Give a PATH in a directory that this user may write to."),
        _ => because(Code::ActionFailed).kind("output_failed").suggest("Give another PATH."),
    };
    known.detail("path", path.display().to_string()).platform(error.to_string())
}

const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in base64 with padding (RFC 4648 §4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for sign in 0..4 {
            // One byte makes two signs, two make three.
            let sign_of = |n: u32| char::from(SIGNS[(n & 63) as usize]);
            out.push(if sign <= three.len() { sign_of(bits >> (18 - 6 * sign)) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn only_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        let kind = |text: &str| File::check(text).unwrap_err().kind_name().unwrap().to_owned();
        assert_eq!(kind(&path("none/x.png")), "path_without_directory");
        assert_eq!(kind(&path("")), "path_not_a_file");
        assert_eq!(kind("/dev/null"), "path_not_a_file");
        assert_eq!(kind(".."), "path_not_a_file");
        std::os::unix::fs::symlink("/dev/null", dir.path().join("link")).unwrap();
        assert_eq!(kind(&path("link")), "path_not_a_file");
        let file = path("x.png");
        std::fs::write(&file, b"\x89PNG\r\n\x1a\nbefore").unwrap();
        File::check(&file).unwrap().write(b"after").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"after");
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(File::check("relative.png").is_ok());
    }

    #[test]
    fn only_pictures_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join("notes.txt");
        let kind = |bytes: &[u8]| {
            std::fs::write(&notes, bytes).unwrap();
            let checked = File::check(&notes.display().to_string());
            checked.err().map(|e| (e.code(), e.kind_name().unwrap().to_owned()))
        };
        let refused = Some((Code::InvalidArgs, "path_not_a_picture".to_owned()));
        assert_eq!(kind(b"what nobody can write again"), refused);
        assert_eq!(kind(b"\x89PNG"), refused, "the start of the signature is none");
        assert_eq!(kind(b""), None);
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n"), None);
    }
}
