//! Arguments of the clipboard commands.

use super::values::not_blank;
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;

/// What `clipboard-get` reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum ClipboardFormat {
    #[default]
    #[value(aliases = ["plain_text", "plaintext"])]
    #[serde(alias = "plain_text", alias = "plaintext")]
    Text,
    Auto,
    #[value(alias = "png")]
    #[serde(alias = "png")]
    Image,
    #[value(aliases = ["file_urls", "fileurls"])]
    #[serde(alias = "file_urls", alias = "fileurls")]
    FileUrls,
}

/// Read the clipboard.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClipboardGet {
    /// What to read (default text).
    #[arg(long, value_enum)]
    pub format: Option<ClipboardFormat>,
    /// File for an image.
    #[arg(long, value_name = "PATH")]
    pub out: Option<String>,
}

impl ClipboardGet {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--out", self.out.as_ref())
    }
}

/// Write the clipboard.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClipboardSet {
    /// Text.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// PNG file.
    #[arg(long, value_name = "PNG")]
    pub image: Option<String>,
    /// File; repeatable.
    #[arg(long, value_name = "PATH")]
    #[serde(default)]
    pub file_url: Vec<String>,
    /// Read the text from standard input, so that it stays out of the process list.
    #[arg(long)]
    #[serde(default)]
    pub stdin: bool,
}

impl ClipboardSet {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        let given = [self.text.is_some(), self.image.is_some(), !self.file_url.is_empty(), self.stdin];
        match given.into_iter().filter(|g| *g).count() {
            1 => Ok(()),
            0 => Err(Error::invalid("clipboard-set needs TEXT, --stdin, --image or --file-url")),
            _ => Err(Error::invalid("TEXT, --stdin, --image and --file-url exclude each other")),
        }
    }
}

/// Empty the clipboard.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClipboardClear {}

impl ClipboardClear {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        Ok(())
    }
}
