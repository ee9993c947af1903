//! Flags that every command takes.

use super::observe::MAX_TIMEOUT_MS;
use crate::error::{Error, Result};
use clap::Args;

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
    /// After the command wait for an element role:text of its window, and answer with the window (:text and role alone work).
    #[arg(short, long, global = true, value_name = "SELECTOR", help_heading = "Global options")]
    pub wait_for: Option<String>,
    /// After the command wait until no element role:text is there.
    #[arg(long, global = true, value_name = "SELECTOR", help_heading = "Global options")]
    pub wait_for_gone: Option<String>,
    /// Time limit of the two waits in milliseconds (default 30000).
    #[arg(long, global = true, value_name = "MS", help_heading = "Global options")]
    pub wait_timeout: Option<u64>,
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
