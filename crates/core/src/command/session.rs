//! Arguments of the commands for sessions, traces and the cursor overlay.

use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Characters of a session's name at most (spec 1 §8).
pub const MAX_NAME: usize = 128;

/// What `session` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum SessionOperation {
    Start,
    End,
    List,
    Gc,
}

/// Start, end, list and clean up sessions.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// What to do.
    #[arg(value_enum, value_name = "OPERATION")]
    pub operation: SessionOperation,
    /// Session to end (default: that of --session or AGENT_DESKTOP_SESSION).
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// start: a name.
    #[arg(long, value_name = "LABEL")]
    pub name: Option<String>,
    /// start: write no trace.
    #[arg(long)]
    #[serde(default)]
    pub no_trace: bool,
    /// start: keep pictures of the window before and after each action (not redacted).
    #[arg(long)]
    #[serde(default)]
    pub screenshots: bool,
    /// start: show the agent's cursor.
    #[arg(long)]
    #[serde(default)]
    pub cursor: bool,
    /// start: a cursor for each agent.
    #[arg(long)]
    #[serde(default)]
    pub multi_agent: bool,
    /// gc: only those without activity for so many seconds.
    #[arg(long, value_name = "SECS")]
    pub older_than: Option<u64>,
    /// gc: only those that have ended.
    #[arg(long)]
    #[serde(default)]
    pub ended: bool,
}

impl Session {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        if self.id.is_some() && self.operation != SessionOperation::End {
            return Err(Error::invalid("ID belongs to session end"));
        }
        let sound =
            |name: &String| (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
        if !self.name.as_ref().is_none_or(sound) {
            return Err(Error::invalid(format!(
                "--name must be 1 to {MAX_NAME} characters without control characters"
            )));
        }
        let for_start = self.name.is_some() || self.no_trace || self.screenshots || self.cursor || self.multi_agent;
        if for_start && self.operation != SessionOperation::Start {
            return Err(Error::invalid(
                "--name, --no-trace, --screenshots, --cursor and --multi-agent belong to session start",
            ));
        }
        if (self.older_than.is_some() || self.ended) && self.operation != SessionOperation::Gc {
            return Err(Error::invalid("--older-than and --ended belong to session gc"));
        }
        if self.screenshots && self.no_trace {
            return Err(Error::invalid("--screenshots and --no-trace exclude each other"));
        }
        if self.multi_agent && !self.cursor {
            return Err(Error::invalid("--multi-agent belongs to --cursor"));
        }
        Ok(())
    }
}

/// What `trace` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum TraceOperation {
    Show,
    Export,
}

/// Show or export the trace of a session.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// What to do.
    #[arg(value_enum, value_name = "OPERATION")]
    pub operation: TraceOperation,
    /// Events at most (show: default 500; export: default 5000; 0 for all).
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// show: only events whose name starts with this.
    #[arg(long, value_name = "PREFIX")]
    pub event: Option<String>,
    /// export: file to write.
    #[arg(long, value_name = "PATH")]
    pub out: Option<String>,
}

impl Trace {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        match self.operation {
            TraceOperation::Show if self.out.is_some() => Err(Error::invalid("--out belongs to trace export")),
            TraceOperation::Export if self.event.is_some() => Err(Error::invalid("--event belongs to trace show")),
            _ => Ok(()),
        }
    }
}

/// What `cursor-overlay` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum OverlayOperation {
    Enable,
    Disable,
}

/// Show the agent's cursor on the screen.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CursorOverlay {
    /// What to do.
    #[arg(value_enum, value_name = "OPERATION")]
    pub operation: OverlayOperation,
    /// A cursor for each agent.
    #[arg(long)]
    #[serde(default)]
    pub multi_agent: bool,
    /// Text beside the cursor.
    #[arg(long)]
    pub label: Option<String>,
    /// Words of the text, 1 to 12 (default 6).
    #[arg(long, value_name = "N")]
    pub max_words: Option<u8>,
    /// Colour of the cursor.
    #[arg(long, value_name = "HEX")]
    pub fill: Option<String>,
    /// Colour of its rim (default #111318).
    #[arg(long, value_name = "HEX")]
    pub rim: Option<String>,
    /// Colour of effects (default #4299FF).
    #[arg(long, value_name = "HEX")]
    pub accent: Option<String>,
    /// Size, 0.5 to 4 (default 1).
    #[arg(long)]
    pub size: Option<f64>,
    /// No ripple on clicks.
    #[arg(long)]
    #[serde(default)]
    pub no_ripple: bool,
    /// No outline of targets.
    #[arg(long)]
    #[serde(default)]
    pub no_highlight: bool,
}

impl CursorOverlay {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        if self.max_words.is_some_and(|n| !(1..=12).contains(&n)) {
            return Err(Error::invalid("--max-words must be 1 to 12"));
        }
        if self.size.is_some_and(|s| !(0.5..=4.0).contains(&s)) {
            return Err(Error::invalid("--size must be 0.5 to 4"));
        }
        for (flag, colour) in [("--fill", &self.fill), ("--rim", &self.rim), ("--accent", &self.accent)] {
            let sound =
                |c: &str| c.strip_prefix('#').is_some_and(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()));
            if colour.as_ref().is_some_and(|c| !sound(c)) {
                return Err(Error::invalid(format!("{flag} must be a colour like #4299FF")));
            }
        }
        Ok(())
    }
}
