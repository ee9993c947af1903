//! `session gc`: removes sessions that nobody uses.

use super::life::{last_activity, lease, live, young};
use super::{Sessions, now_ms};
use crate::error::Result;
use crate::state::private;
use std::path::Path;
use std::time::Duration;

/// How long a clean-up waits for another one.
const GC_WAIT: Duration = Duration::from_secs(10);
/// Begins the names of directories that are being removed; no session id begins so.
const REMOVING: &str = ".gc-";

/// Which of the sessions that are not live are meant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Which {
    /// Only those that were ended.
    pub ended: bool,
    /// Only those without activity for so many seconds.
    pub older_than: Option<u64>,
}

impl Which {
    fn means(self, dir: &Path, ended: bool) -> bool {
        let idle = now_ms().saturating_sub(last_activity(dir)) / 1_000;
        (ended || !self.ended) && self.older_than.is_none_or(|seconds| idle >= seconds)
    }
}

impl Sessions {
    /// Removes those that are meant and not live, but for `own`; gives their ids.
    ///
    /// # Errors
    /// Where the state can't be written. What was not removed is untouched.
    pub(super) fn collect(&self, which: Which, own: Option<&str>) -> Result<Vec<String>> {
        if !private::check_dir(&self.dir)? {
            return Ok(Vec::new());
        }
        let _one = private::lock(&self.dir.join("gc.lock"), GC_WAIT)?;
        self.sweep();
        let mut removed = Vec::new();
        for id in self.ids()? {
            if own != Some(&*id) && self.collect_one(&id, which)? {
                removed.push(id);
            }
        }
        Ok(removed)
    }

    fn collect_one(&self, id: &str, which: Which) -> Result<bool> {
        let dir = self.dir(id)?;
        let manifest = self.read(id).manifest();
        let ended = manifest.as_ref().is_some_and(|m| m.ended_at.is_some());
        if !which.means(&dir, ended) || live(&dir, manifest.as_ref()) {
            return Ok(false);
        }
        // From here on no command of the session begins. Whatever came before is seen in what it wrote.
        let (before, had_lease) = (last_activity(&dir), lease(&dir).symlink_metadata().is_ok());
        let Some(held) = private::try_lock(&lease(&dir))? else { return Ok(false) };
        if !had_lease {
            // Made by looking: no sign of life.
            held.stamp(before);
        }
        let path = dir.join("refstore.lock");
        let store = match path.symlink_metadata() {
            Ok(_) => Some(private::try_lock(&path)?),
            Err(_) => None,
        };
        if matches!(store, Some(None)) || young(&dir, self.read(id).manifest().as_ref()) {
            return Ok(false);
        }
        let away = self.dir.join(format!("{REMOVING}{id}-{}", std::process::id()));
        std::fs::rename(&dir, &away).map_err(|e| private::io_error("remove a session", &dir, &e))?;
        private::remove_dir(&away);
        Ok(true)
    }

    /// What a killed clean-up left.
    fn sweep(&self) {
        for entry in self.dir.read_dir().into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(REMOVING)) {
                private::remove_dir(&entry.path());
            }
        }
    }
}
