//! Arguments of the commands about the program itself.

use super::observe::MAX_TIMEOUT_MS;
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a batch at most.
pub const BATCH_MAX_BYTES: usize = 1024 * 1024;
/// Time limit of a batch.
pub const BATCH_TIMEOUT_MS: u64 = 60_000;
/// Stands for standard input.
const STDIN: &str = "-";

/// Platform, permissions, latest snapshot, surfaces: whether things work, and what to do where they don't.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// First let go of every key and button that is held on this desktop.
    #[arg(long)]
    #[serde(default)]
    pub release: bool,
}

impl Status {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// Show, or ask for, the permissions of the operating system.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permissions {
    /// Ask the operating system for them.
    #[arg(long)]
    #[serde(default)]
    pub request: bool,
    /// Guide the user through granting them.
    #[arg(long)]
    #[serde(default)]
    pub guide: bool,
}

impl Permissions {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// Version of this program.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Version {}

impl Version {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// Run several commands one after the other, in one process: an array of {command, args, session?}.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The array itself, or - for standard input.
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    pub json: Option<String>,
    /// Read the array from this file (- for standard input).
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Stop at the first error.
    #[arg(long)]
    #[serde(default)]
    pub stop_on_error: bool,
    /// Time limit of the whole in milliseconds (default 60000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
}

/// Where the array of a batch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSource<'a> {
    /// The argument.
    Text(&'a str),
    /// A file.
    File(&'a str),
    /// Standard input, not read yet.
    Stdin,
}

impl Batch {
    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(BATCH_TIMEOUT_MS)
    }

    /// The one source that was given.
    pub fn source(&self) -> Result<BatchSource<'_>> {
        match (self.json.as_deref(), self.file.as_deref()) {
            (Some(_), Some(_)) => Err(Error::invalid("JSON and --file exclude each other")),
            (None, None) => Err(Error::invalid("JSON, - or --file PATH is needed")
                .suggest("An entry looks like {\"command\": \"find\", \"args\": {\"role\": \"button\"}}.")),
            (Some(STDIN), _) | (_, Some(STDIN)) => Ok(BatchSource::Stdin),
            (Some(text), _) => Ok(BatchSource::Text(text)),
            (_, Some(path)) => Ok(BatchSource::File(path)),
        }
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        self.source()?;
        if self.json.as_ref().is_some_and(|json| json.len() > BATCH_MAX_BYTES) {
            return Err(Error::invalid(format!("a batch has at most {BATCH_MAX_BYTES} bytes")));
        }
        if self.timeout_ms.is_some_and(|ms| ms > MAX_TIMEOUT_MS) {
            return Err(Error::invalid(format!("a time limit is at most {MAX_TIMEOUT_MS} ms")));
        }
        Ok(())
    }
}

/// What `skills` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum SkillsOperation {
    #[default]
    List,
    Get,
    Path,
}

/// Instructions for agents, compiled in: list, get NAME [REFERENCE], path.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skills {
    /// What to do (default list).
    #[arg(value_enum, value_name = "OPERATION")]
    pub operation: Option<SkillsOperation>,
    /// get: name or alias, like desktop or platform.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// get: one of the skill's references.
    #[arg(value_name = "REFERENCE")]
    pub reference: Option<String>,
    /// get: the skill with all its references.
    #[arg(long)]
    #[serde(default)]
    pub full: bool,
}

impl Skills {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        match self.operation.unwrap_or_default() {
            SkillsOperation::Get if self.name.is_none() => Err(Error::invalid("skills get needs a NAME")
                .suggest("Names: desktop, platform. 'agent-desktop skills' lists them.")),
            SkillsOperation::Get if self.full && self.reference.is_some() => {
                Err(Error::invalid("REFERENCE and --full exclude each other"))
            }
            SkillsOperation::Get => Ok(()),
            _ if self.name.is_some() || self.full => Err(Error::invalid("NAME and --full belong to skills get")),
            _ => Ok(()),
        }
    }
}
