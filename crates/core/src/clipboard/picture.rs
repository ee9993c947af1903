//! Where a picture of the clipboard is put: where the caller says, or among our own files.

use crate::capture::output::only_a_picture;
use crate::command::Context;
use crate::error::{Code, Error, Result};
use crate::state::private;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Pictures of our own directory are removed after this time.
const STALE: Duration = Duration::from_secs(3_600);
const PREFIX: &str = "clipboard-";

/// Writes a picture and answers with its absolute path: `out` if given, else a file in the session's `clipboard`
/// directory, or in `tmp` without a session. Pictures there that are stale go.
pub fn keep(context: &Context, out: Option<&str>, bytes: &[u8]) -> Result<PathBuf> {
    match out {
        Some(out) => write_out(Path::new(out), bytes),
        None => {
            let dir = own_directory(context)?;
            sweep(&dir);
            let path = dir.join(format!("{PREFIX}{}.png", unique()));
            private::replace(&path, &dir, "clipboard", bytes)?;
            Ok(path)
        }
    }
}

fn own_directory(context: &Context) -> Result<PathBuf> {
    let root = context.state_root();
    private::make_root(root)?;
    let below: &[&str] = match context.session() {
        Some(id) => &["sessions", id, "clipboard"],
        None => &["tmp"],
    };
    let mut dir = root.to_owned();
    for name in below {
        dir.push(name);
        private::make_dir(&dir)?;
    }
    Ok(dir)
}

/// Only what we wrote there: others may keep files of theirs in `tmp`.
fn sweep(dir: &Path) {
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name.trim_start_matches('.').starts_with(PREFIX) && (name.ends_with(".png") || name.ends_with(".tmp"))
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let entries: Vec<PathBuf> = entries.map(|e| e.path()).filter(ours).collect();
    private::sweep(&entries, STALE);
}

/// A name that no other process and no earlier call has.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    format!("{ms}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// In one step: whoever fails or is killed leaves what stood there.
fn write_out(out: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let failed = |e: &std::io::Error| {
        let code = if e.kind() == ErrorKind::PermissionDenied { Code::PermDenied } else { Code::ActionFailed };
        Error::before(code, "the picture can't be written to --out")
            .kind("out_not_writable")
            .detail("path", out.display().to_string())
            .suggest("Name a file in a directory that exists and that this user may write to.")
            .platform(e.to_string())
    };
    let path = std::path::absolute(out).map_err(|e| failed(&e))?;
    if path.is_dir() {
        return Err(failed(&ErrorKind::IsADirectory.into()));
    }
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::invalid("--out exists and is not a regular file")
            .kind("path_not_a_file")
            .detail("path", out.display().to_string()));
    }
    only_a_picture(&path)?;
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut file =
        tempfile::Builder::new().prefix(".clipboard-").suffix(".tmp").tempfile_in(dir).map_err(|e| failed(&e))?;
    file.write_all(bytes).map_err(|e| failed(&e))?;
    file.persist(&path).map_err(|e| failed(&e.error))?;
    Ok(path)
}
