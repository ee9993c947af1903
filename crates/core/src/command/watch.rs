//! Arguments of `watch`.

use super::observe::MAX_TIMEOUT_MS;
use super::values::not_blank;
use crate::error::{Error, Result};
use crate::observe::target::Scope;
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long is watched where the caller does not say.
pub const WATCH_MS: u64 = 30_000;
/// Lines where the caller does not say.
pub const WATCH_LINES: usize = 1_000;
/// Lines at most.
pub const WATCH_MAX_LINES: usize = 1_000_000;

/// Print changes as they happen, one JSON object a line, then the answer: windows and applications that come and go and,
/// with --app or --window-id, what changes in that window.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Application by name (default: windows and applications of the desktop only).
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Window by id, from list-windows.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// How long to watch, in milliseconds (default 30000).
    #[arg(long = "for", value_name = "MS")]
    #[serde(rename = "for")]
    pub for_ms: Option<u64>,
    /// Lines at most (default 1000).
    #[arg(long, value_name = "N")]
    pub max: Option<usize>,
    /// Leave out elements that nobody can act on.
    #[arg(short = 'i', long)]
    #[serde(default)]
    pub interactive_only: bool,
}

impl Watch {
    /// Where to look.
    pub fn scope(&self) -> Scope<'_> {
        Scope { app: self.app.as_deref(), window_id: self.window_id.as_deref() }
    }

    /// How long is watched, in milliseconds.
    pub fn time(&self) -> u64 {
        self.for_ms.unwrap_or(WATCH_MS)
    }

    /// Lines at most.
    pub fn lines(&self) -> usize {
        self.max.unwrap_or(WATCH_LINES)
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        not_blank("--window-id", self.window_id.as_ref())?;
        if self.time() > MAX_TIMEOUT_MS {
            return Err(Error::invalid(format!("--for is at most {MAX_TIMEOUT_MS} ms")));
        }
        if !(1..=WATCH_MAX_LINES).contains(&self.lines()) {
            return Err(Error::invalid(format!("--max must be 1 to {WATCH_MAX_LINES}")));
        }
        Ok(())
    }
}
