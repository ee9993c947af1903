//! Arguments of the clipboard commands.

use super::values::not_blank;
use crate::error::{Error, Result};
use crate::platform::clipboard::TEXT_MAX_BYTES;
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files in one `clipboard-set`.
const MAX_FILES: usize = 10_000;

/// What `clipboard-get` reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
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
        not_blank("--out", self.out.as_ref())?;
        let image = matches!(self.format, Some(ClipboardFormat::Image | ClipboardFormat::Auto));
        if self.out.is_some() && !image {
            return Err(Error::invalid("--out takes an image: it goes with --format image or --format auto"));
        }
        Ok(())
    }
}

/// Write the clipboard.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
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
            1 => {}
            0 => return Err(Error::invalid("clipboard-set needs TEXT, --stdin, --image or --file-url")),
            _ => return Err(Error::invalid("TEXT, --stdin, --image and --file-url exclude each other")),
        }
        if self.text.as_ref().is_some_and(|t| t.len() > TEXT_MAX_BYTES) {
            return Err(Error::invalid(format!("the clipboard takes at most {TEXT_MAX_BYTES} bytes of text")));
        }
        // Most programs would take the part before it for the whole.
        if self.text.as_ref().is_some_and(|t| t.contains('\0')) {
            return Err(Error::invalid("text for the clipboard can't contain the character NUL"));
        }
        if self.file_url.len() > MAX_FILES {
            return Err(Error::invalid(format!("clipboard-set takes at most {MAX_FILES} files")));
        }
        not_blank("--image", self.image.as_ref())?;
        self.file_url.iter().try_for_each(|path| not_blank("--file-url", Some(path)))
    }
}

/// Empty the clipboard.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClipboardClear {}

impl ClipboardClear {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        Ok(())
    }
}
