//! A file that was not there before, private to the user; it goes again unless it is written.

use crate::error::{Code, Error, Result};
use crate::state::private;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

/// The file, made and empty.
pub(super) struct NewFile {
    path: String,
    file: File,
    written: bool,
}

impl NewFile {
    /// Makes it.
    ///
    /// # Errors
    /// `debug_file_exists` where anything has that name; `path_without_directory`, `path_not_a_file`,
    /// `output_not_writable`, `output_failed`.
    pub fn create(text: &str) -> Result<Self> {
        let path = Path::new(text);
        let invalid = |message: &str| Error::invalid(message).detail("path", text);
        if path.file_name().is_none() || text.ends_with('/') {
            return Err(invalid("PATH.html is not the name of a file").kind("path_not_a_file"));
        }
        let elsewhere = |error: Error, e: &io::Error| {
            error
                .detail("path", text)
                .platform(e.to_string())
                .suggest("Give a PATH.html in a directory that this user may write to.")
        };
        let failed = |code| Error::before(code, "PATH.html could not be made");
        match private::new_file(path) {
            Ok(file) => Ok(Self { path: text.to_owned(), file, written: false }),
            Err(e) => Err(match e.kind() {
                ErrorKind::AlreadyExists => invalid("PATH.html exists, and --debug never overwrites")
                    .kind("debug_file_exists")
                    .suggest("Give another PATH.html."),
                ErrorKind::NotFound | ErrorKind::NotADirectory => invalid("the directory of PATH.html does not exist")
                    .kind("path_without_directory")
                    .suggest("Create the directory first."),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    elsewhere(failed(Code::PermDenied).kind("output_not_writable"), &e)
                }
                _ => elsewhere(failed(Code::ActionFailed).kind("output_failed"), &e),
            }),
        }
    }

    /// Its name as it was given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Writes it. Where that fails, the file goes.
    pub fn write(mut self, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(256 * 1024, &self.file);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        self.written = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Somebody else's file may have come in its place since: only what we made goes.
        if !self.written && private::is_there(&self.file, Path::new(&self.path)) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_ever_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(at("letter.html"), "dear").unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("link.html")).unwrap();
        for name in ["letter.html", "link.html"] {
            let e = NewFile::create(&at(name)).err().unwrap();
            assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some("debug_file_exists")), "{name}");
        }
        assert_eq!(std::fs::read_to_string(at("letter.html")).unwrap(), "dear");
        for (name, kind) in [("no/x.html", "path_without_directory"), ("x/", "path_not_a_file")] {
            let e = NewFile::create(&at(name)).err().unwrap();
            assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some(kind)), "{name}");
        }
        drop(NewFile::create(&at("a.html")).unwrap());
        assert!(!Path::new(&at("a.html")).exists(), "unwritten, it goes");
        let file = NewFile::create(&at("a.html")).unwrap();
        assert!(file.write(|_| Err(io::ErrorKind::StorageFull.into())).is_err());
        assert!(!Path::new(&at("a.html")).exists(), "half written, it goes");
        let file = NewFile::create(&at("a.html")).unwrap();
        std::fs::rename(at("letter.html"), at("a.html")).unwrap();
        drop(file);
        assert_eq!(std::fs::read_to_string(at("a.html")).unwrap(), "dear", "another's file stays");
        let file = NewFile::create(&at("b.html")).unwrap();
        file.write(|out| out.write_all(b"page")).unwrap();
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(at("b.html")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(at("b.html")).unwrap(), "page");
    }
}
