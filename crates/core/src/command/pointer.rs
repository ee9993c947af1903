//! Arguments of the pointer commands. All need `--headed`.

use super::observe::timeout;
use super::values::{Button, RefArg, XyArg, coordinate, modifiers};
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;

/// Time limit of hover and drag.
pub const POINTER_TIMEOUT_MS: u64 = 5_000;
/// Travel time of a drag at most.
pub const DRAG_MAX_MS: u64 = 60_000;
/// Pause before a drop at most.
pub const DROP_DELAY_MAX_MS: u64 = 10_000;
/// Clicks in one `mouse-click` at most.
pub const CLICKS_MAX: u32 = 100;

/// Move the pointer over an element or a point.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hover {
    /// Ref of the element.
    #[arg(value_name = "REF")]
    pub ref_id: Option<RefArg>,
    /// Point on the screen instead of a ref.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub xy: Option<XyArg>,
    /// Only 0: the pointer stays where it is put.
    #[arg(long, value_name = "MS")]
    pub duration: Option<u64>,
    /// Time limit in milliseconds (default 5000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
}

fn one_place(what: &str, reference: Option<&RefArg>, xy: Option<&XyArg>) -> Result<()> {
    match (reference, xy) {
        (Some(r), None) => r.parse().map(drop),
        (None, Some(xy)) => xy.parse().map(drop),
        (None, None) => Err(Error::invalid(format!("{what} needs a ref or a point"))),
        (Some(_), Some(_)) => Err(Error::invalid(format!("{what} takes a ref or a point, not both"))),
    }
}

impl Hover {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        one_place("hover", self.ref_id.as_ref(), self.xy.as_ref())?;
        if self.duration.is_some_and(|ms| ms > 0) {
            return Err(Error::invalid("--duration must be 0: the pointer stays where it is put"));
        }
        timeout(self.timeout_ms, POINTER_TIMEOUT_MS).map(drop)
    }
}

/// Which end of a drag a wait looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum DragEnd {
    #[default]
    To,
    From,
}

/// Drag from an element or point to another.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drag {
    /// Ref to start at.
    #[arg(long, value_name = "REF")]
    pub from: Option<RefArg>,
    /// Point to start at.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub from_xy: Option<XyArg>,
    /// Ref to drop on.
    #[arg(long, value_name = "REF")]
    pub to: Option<RefArg>,
    /// Point to drop on.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub to_xy: Option<XyArg>,
    /// Travel time in milliseconds (default 300).
    #[arg(long, value_name = "MS")]
    pub duration: Option<u64>,
    /// Pause before the drop in milliseconds (default 500).
    #[arg(long, value_name = "MS")]
    pub drop_delay: Option<u64>,
    /// Time limit in milliseconds (default 5000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Whose window --wait-for looks at (default to).
    #[arg(long, value_enum)]
    pub wait_for_scope: Option<DragEnd>,
}

impl Drag {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        one_place("the start of a drag", self.from.as_ref(), self.from_xy.as_ref())?;
        one_place("the end of a drag", self.to.as_ref(), self.to_xy.as_ref())?;
        if self.duration.is_some_and(|ms| ms > DRAG_MAX_MS) {
            return Err(Error::invalid(format!("--duration is at most {DRAG_MAX_MS} ms")));
        }
        if self.drop_delay.is_some_and(|ms| ms > DROP_DELAY_MAX_MS) {
            return Err(Error::invalid(format!("--drop-delay is at most {DROP_DELAY_MAX_MS} ms")));
        }
        timeout(self.timeout_ms, POINTER_TIMEOUT_MS).map(drop)
    }
}

/// Move the pointer to a point.
#[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseMove {
    /// Point on the screen.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub xy: XyArg,
}

impl MouseMove {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        self.xy.parse().map(drop)
    }
}

/// Click at a point.
#[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseClick {
    /// Point on the screen.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub xy: XyArg,
    /// Button (default left).
    #[arg(long, value_enum)]
    pub button: Option<Button>,
    /// Clicks, 1 to 100 (default 1).
    #[arg(long, value_name = "N")]
    pub count: Option<u32>,
    /// Modifiers held meanwhile: shift, ctrl, alt, meta.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    #[serde(default)]
    pub modifiers: Vec<String>,
}

impl MouseClick {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        self.xy.parse()?;
        modifiers(&self.modifiers)?;
        match self.count {
            Some(n) if n == 0 || n > CLICKS_MAX => Err(Error::invalid(format!("--count must be 1 to {CLICKS_MAX}"))),
            _ => Ok(()),
        }
    }
}

/// Turn the wheel at a point.
#[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseWheel {
    /// Distance from the left edge of the screen.
    #[arg(long, allow_hyphen_values = true)]
    pub x: f64,
    /// Distance from the top edge of the screen.
    #[arg(long, allow_hyphen_values = true)]
    pub y: f64,
    /// Vertical steps, up is positive (default -3).
    #[arg(long, allow_hyphen_values = true)]
    pub dy: Option<f64>,
    /// Horizontal steps, left is positive (default 0).
    #[arg(long, allow_hyphen_values = true)]
    pub dx: Option<f64>,
    /// Modifiers held meanwhile: shift, ctrl, alt, meta.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    #[serde(default)]
    pub modifiers: Vec<String>,
}

impl MouseWheel {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        modifiers(&self.modifiers)?;
        for (flag, value) in [("--x", Some(self.x)), ("--y", Some(self.y)), ("--dy", self.dy), ("--dx", self.dx)] {
            value.map_or(Ok(0.0), |v| coordinate(flag, v))?;
        }
        Ok(())
    }
}

macro_rules! held_button {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Point on the screen.
            #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
            pub xy: XyArg,
            /// Button (default left).
            #[arg(long, value_enum)]
            pub button: Option<Button>,
            /// Modifiers held meanwhile: shift, ctrl, alt, meta.
            #[arg(long, value_name = "KEYS", value_delimiter = ',')]
            #[serde(default)]
            pub modifiers: Vec<String>,
        }

        impl $name {
            /// The rules.
            pub fn validate(&self) -> Result<()> {
                self.xy.parse()?;
                modifiers(&self.modifiers).map(drop)
            }
        }
    };
}

held_button! {
    /// Press a mouse button and hold it.
    MouseDown
}
held_button! {
    /// Let a held mouse button go.
    MouseUp
}
