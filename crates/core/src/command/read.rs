//! Arguments of the commands that read one element: a property, a question, a table.

use super::observe::{READ_TIMEOUT_MS, timeout};
use super::values::{RangeArg, RefArg, at_most_one, not_blank};
use crate::error::{Error, Result};
use crate::observe::target::Scope;
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Characters that `get --range` reads at most.
pub const MAX_RANGE_CHARS: u64 = 100_000;
/// Rows of `table`.
pub const TABLE_ROWS: u64 = 50;
/// Columns of `table`.
pub const TABLE_COLUMNS: u64 = 50;
/// Cells that `table` reads at most.
pub const TABLE_CELLS: u64 = 10_000;

/// What `get` reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Property {
    #[default]
    Text,
    Value,
    Title,
    Bounds,
    Role,
    States,
}

/// Read one property of an element as it is now.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Ref of the element.
    #[arg(value_name = "REF")]
    pub ref_id: RefArg,
    /// What to read (default text).
    #[arg(long, value_enum)]
    pub property: Option<Property>,
    /// Of the text only these characters: a..b, from 0, without b.
    #[arg(long, value_name = "A..B")]
    pub range: Option<RangeArg>,
}

impl Get {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        self.ref_id.parse()?;
        let Some(range) = &self.range else { return Ok(()) };
        let range = range.parse()?;
        if self.property.unwrap_or_default() != Property::Text {
            return Err(Error::invalid("--range goes with --property text"));
        }
        if range.end - range.start > MAX_RANGE_CHARS {
            return Err(Error::invalid(format!("--range is at most {MAX_RANGE_CHARS} characters long")));
        }
        Ok(())
    }
}

/// Read a part of a table as data: rows, columns, headers and the cells' texts.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Ref of the table, or of anything in it (default: the only table of a window).
    #[arg(value_name = "REF")]
    pub ref_id: Option<RefArg>,
    /// Without a ref: application by name (default: the focused window).
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Without a ref: window by id, from list-windows.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Rows: a..b, from 0, without b (default 0..50).
    #[arg(long, value_name = "A..B")]
    pub rows: Option<RangeArg>,
    /// Columns: c..d, from 0, without d (default the first 50).
    #[arg(long, value_name = "C..D")]
    pub columns: Option<RangeArg>,
    /// Time limit in milliseconds (default 5000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
}

impl Table {
    /// Where to look, where no ref says it.
    pub fn scope(&self) -> Scope<'_> {
        Scope { app: self.app.as_deref(), window_id: self.window_id.as_deref() }
    }

    /// The rows wanted.
    pub fn rows(&self) -> Result<Range<u64>> {
        self.rows.as_ref().map_or(Ok(0..TABLE_ROWS), RangeArg::parse)
    }

    /// The columns wanted, where they were named.
    pub fn columns(&self) -> Result<Option<Range<u64>>> {
        self.columns.as_ref().map(RangeArg::parse).transpose()
    }

    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(READ_TIMEOUT_MS)
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        not_blank("--window-id", self.window_id.as_ref())?;
        timeout(self.timeout_ms, READ_TIMEOUT_MS)?;
        if let Some(reference) = &self.ref_id {
            reference.parse()?;
            at_most_one(&[("REF", true), ("a window", self.app.is_some() || self.window_id.is_some())])?;
        }
        let rows = self.rows()?;
        let columns = self.columns()?.map_or(TABLE_COLUMNS, |c| c.end - c.start);
        if (rows.end - rows.start).saturating_mul(columns) > TABLE_CELLS {
            return Err(Error::invalid(format!("at most {TABLE_CELLS} cells are read at once"))
                .suggest("Name fewer --rows, or name --columns."));
        }
        Ok(())
    }
}

/// What `is` asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Question {
    #[default]
    Visible,
    Enabled,
    Checked,
    Focused,
    Expanded,
    Selected,
}

/// Ask whether an element is visible, enabled, checked, focused, expanded or selected now.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Is {
    /// Ref of the element.
    #[arg(value_name = "REF")]
    pub ref_id: RefArg,
    /// What to ask (default visible).
    #[arg(long, value_enum)]
    pub property: Option<Question>,
}

impl Is {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        self.ref_id.parse().map(drop)
    }
}
