//! Rules for unattended runs (decisions D8): which applications may be read and operated at all. They come from
//! `--allow-app` and from a file in the state root; both narrow, neither widens the other.
//!
//! The rules are enforced by a [`Fence`] around the platform, so that no command can go past them.

mod fence;
#[cfg(test)]
mod tests;

pub use fence::Fence;

use crate::error::{Code, Error, Result};
use crate::observe::target::matches;
use crate::platform::App;
use crate::state::private;
use serde::Deserialize;
use serde_json::json;
use std::io::ErrorKind;
use std::path::Path;

/// The file's name in the state root.
pub const FILE: &str = "policy.json";
/// The kind of the refusal where the file can't be understood.
pub const POLICY_FILE: &str = "policy_file";
/// Bytes of the file at most.
const MAX_FILE: u64 = 64 * 1024;

/// What may be touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Lists of names: an application must be in each of them.
    lists: Vec<Vec<String>>,
    screen: bool,
    clipboard: bool,
}

/// The file: `{"allow_apps": ["gnome-calculator"], "allow_screen": false, "allow_clipboard": false}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    allow_apps: Vec<String>,
    #[serde(default)]
    allow_screen: bool,
    #[serde(default)]
    allow_clipboard: bool,
}

fn damaged(why: &str) -> Error {
    Error::before(Code::PolicyDenied, format!("the policy file {why}: nothing is permitted until it is mended"))
        .kind("policy_file")
        .suggest(format!(
            "{FILE} in the state root holds {{\"allow_apps\": [NAME, …], \"allow_screen\": false, \"allow_clipboard\": false}}."
        ))
        .not_retryable()
}

impl Rules {
    /// The rules of the flags and the file, where there are any. A file that can't be understood permits nothing.
    pub fn load(state_root: &Path, allow_app: &[String]) -> Result<Option<Self>> {
        let file = Self::file(state_root)?;
        let flags = (!allow_app.is_empty()).then(|| allow_app.to_vec());
        Ok(match (file, flags) {
            (None, None) => None,
            (Some(rules), None) => Some(rules),
            // The flag says nothing about what belongs to no application.
            (None, Some(list)) => Some(Self { lists: vec![list], screen: false, clipboard: false }),
            (Some(mut rules), Some(list)) => {
                rules.lists.push(list);
                Some(rules)
            }
        })
    }

    /// Nothing is permitted.
    pub fn nothing() -> Self {
        Self { lists: vec![Vec::new()], screen: false, clipboard: false }
    }

    fn file(state_root: &Path) -> Result<Option<Self>> {
        let path = state_root.join(FILE);
        let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidFilename];
        if path.symlink_metadata().is_err_and(|e| absent.contains(&e.kind())) {
            return Ok(None);
        }
        let bytes = private::read(&path, MAX_FILE)
            .map_err(|_| damaged("can't be read"))?
            .ok_or_else(|| damaged("is a link, too long, or not this user's"))?;
        // A list would be understood as the fields in their order.
        if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
            return Err(damaged("is no object"));
        }
        let written: Written = serde_json::from_slice(&bytes).map_err(|e| {
            // It is this user's own file, and the reason names its keys: worth more than "malformed".
            damaged("is not what it should be").platform(e.to_string())
        })?;
        if written.allow_apps.iter().any(|name| name.trim().is_empty()) {
            return Err(damaged("names an application without a name"));
        }
        Ok(Some(Self {
            lists: vec![written.allow_apps],
            screen: written.allow_screen,
            clipboard: written.allow_clipboard,
        }))
    }

    /// Whether one of an application's names is permitted: whole and case-insensitively, as for `--app`.
    pub fn permits(&self, app: &App) -> bool {
        self.lists.iter().all(|list| list.iter().any(|name| matches(name, app)))
    }

    /// The same for bare names of a process.
    pub fn permits_names(&self, names: &[String]) -> bool {
        let named = |wanted: &String| names.iter().any(|n| n.trim().to_lowercase() == wanted.trim().to_lowercase());
        self.lists.iter().all(|list| list.iter().any(named))
    }

    /// What is permitted, for answers.
    pub fn names(&self) -> Vec<&str> {
        let permitted = |name: &&String| {
            self.lists.iter().all(|list| list.iter().any(|n| n.trim().to_lowercase() == name.trim().to_lowercase()))
        };
        self.lists.first().into_iter().flatten().filter(permitted).map(String::as_str).collect()
    }

    /// `POLICY_DENIED` about an application.
    fn denied(&self, what: impl std::fmt::Display) -> Error {
        Error::before(Code::PolicyDenied, format!("{what} may not be read or operated in this run"))
            .kind("app_not_allowed")
            .detail("allowed", json!(self.names()))
            .suggest(
                "Only what --allow-app and the policy file name may be touched. Ask your user; don't work around it.",
            )
            .not_retryable()
    }

    /// The clipboard belongs to all applications.
    pub fn check_clipboard(&self) -> Result<()> {
        let key = "\"allow_clipboard\": true in the policy file permits it, and nothing else does";
        if self.clipboard { Ok(()) } else { Err(self.denied("the clipboard").detail("permitted_by", key)) }
    }

    fn check_screen(&self) -> Result<()> {
        let key = "\"allow_screen\": true in the policy file permits it, and nothing else does";
        let what = "a part of the screen, which shows other applications too,";
        if self.screen { Ok(()) } else { Err(self.denied(what).detail("permitted_by", key)) }
    }
}
