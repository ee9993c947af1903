//! Flags that every command takes.

use super::observe::MAX_TIMEOUT_MS;
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// How much of the window a wait after an action answers with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum WaitView {
    // The whole tree, as `snapshot` prints it.
    #[default]
    Full,
    // An outline of what can be acted on, as `snapshot -i --format text` prints it.
    Compact,
    // No tree: what matched, and the snapshot that its refs belong to.
    None,
}

/// Flags before or after the command's name.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct Globals {
    /// Permit focus changes, the pointer and synthetic keys.
    #[arg(long, global = true, help_heading = "Global options")]
    pub headed: bool,
    /// Session: its own refs (default: AGENT_DESKTOP_SESSION, else none).
    #[arg(long, global = true, value_name = "ID", help_heading = "Global options")]
    pub session: Option<String>,
    /// Agent, where several share a session.
    #[arg(long, global = true, value_name = "ID", help_heading = "Global options")]
    pub agent_id: Option<String>,
    /// Private desktop, or auto (default: AGENT_DESKTOP_DESKTOP, else the session's own).
    #[arg(long, global = true, value_name = "ID", help_heading = "Global options")]
    pub desktop: Option<String>,
    /// Read and operate only this application, by name; repeatable. A policy file in the state root narrows it further.
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global options")]
    pub allow_app: Vec<String>,
    /// Append the trace to this file instead of the session's.
    #[arg(long, global = true, value_name = "PATH", help_heading = "Global options")]
    pub trace: Option<String>,
    /// Fail, before anything is done, where the trace can't be written.
    #[arg(long, global = true, help_heading = "Global options")]
    pub trace_strict: bool,
    /// Debug log on standard error.
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// After the command wait until an element role:text is shown in a window of its application, and answer with that
    /// window (:text and role alone work).
    #[arg(short, long, global = true, value_name = "SELECTOR", help_heading = "Global options")]
    pub wait_for: Option<String>,
    /// After the command wait until no element role:text is shown in its window.
    #[arg(long, global = true, value_name = "SELECTOR", help_heading = "Global options")]
    pub wait_for_gone: Option<String>,
    /// Time limit of the two waits in milliseconds (default 30000).
    #[arg(long, global = true, value_name = "MS", help_heading = "Global options")]
    pub wait_timeout: Option<u64>,
    /// How much of the window an action's wait answers with: its tree (full, the default), an outline as of snapshot -i
    /// (compact), or only what matched (none).
    #[arg(long, global = true, value_name = "VIEW", value_enum, help_heading = "Global options")]
    pub wait_view: Option<WaitView>,
    /// With --screenshot: write a page that shows what snapshot or click saw.
    #[arg(long, global = true, help_heading = "Global options")]
    pub debug: bool,
    /// File of that page; it must not exist yet.
    #[arg(long, global = true, value_name = "PATH.html", help_heading = "Global options")]
    pub screenshot: Option<String>,
}

impl Globals {
    /// The rules that don't depend on the command.
    pub fn validate(&self) -> Result<()> {
        if self.allow_app.iter().any(|name| name.trim().is_empty()) {
            return Err(Error::invalid("--allow-app is blank"));
        }
        if self.wait_for.is_some() && self.wait_for_gone.is_some() {
            return Err(Error::invalid("--wait-for and --wait-for-gone exclude each other"));
        }
        if self.wait_timeout.is_some() && !self.waits() {
            return Err(Error::invalid("--wait-timeout belongs to --wait-for and --wait-for-gone"));
        }
        if self.wait_view.is_some() && !self.waits() {
            return Err(Error::invalid("--wait-view belongs to --wait-for and --wait-for-gone"));
        }
        if self.wait_timeout.is_some_and(|ms| ms > MAX_TIMEOUT_MS) {
            return Err(Error::invalid(format!("a time limit is at most {MAX_TIMEOUT_MS} ms")));
        }
        if self.debug != self.screenshot.is_some() {
            return Err(Error::invalid("--debug and --screenshot PATH.html belong together"));
        }
        Ok(())
    }

    /// Whether one of the two waits was asked for.
    pub fn waits(&self) -> bool {
        self.wait_for.is_some() || self.wait_for_gone.is_some()
    }
}
