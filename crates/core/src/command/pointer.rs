//! Arguments of the pointer commands. All need `--headed`.

use super::observe::timeout;
use super::values::{Button, RefArg, XyArg, coordinate, modifiers, not_blank};
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time limit of hover and drag.
pub const POINTER_TIMEOUT_MS: u64 = 5_000;
/// Travel time of a drag at most.
pub const DRAG_MAX_MS: u64 = 60_000;
/// Pause before a drop at most.
pub const DROP_DELAY_MAX_MS: u64 = 10_000;
/// Vertical steps of `mouse-wheel`.
pub const WHEEL_DY: f64 = -3.0;
/// Steps of the wheel in one command at most.
pub const WHEEL_MAX: f64 = 1_000.0;
/// Travel time of a drag.
pub const DRAG_MS: u64 = 300;
/// Pause before a drop.
pub const DROP_DELAY_MS: u64 = 500;
/// Clicks in one `mouse-click` at most.
pub const CLICKS_MAX: u32 = 100;

/// Move the pointer over an element or a point.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hover {
    /// Ref of the element.
    #[arg(value_name = "REF")]
    pub ref_id: Option<RefArg>,
    /// Point on the screen instead of a ref.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub xy: Option<XyArg>,
    /// Refuse unless this window, by its id in list-windows, is the topmost at the point.
    #[arg(long, value_name = "ID")]
    pub expect_window: Option<String>,
    /// Only 0: the pointer stays where it is put.
    #[arg(long, value_name = "MS")]
    pub duration: Option<u64>,
    /// Time limit in milliseconds (default 5000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Also read the window of the ref right before and after the motion, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
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
    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(POINTER_TIMEOUT_MS)
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        one_place("hover", self.ref_id.as_ref(), self.xy.as_ref())?;
        if self.duration.is_some_and(|ms| ms > 0) {
            return Err(Error::invalid("--duration must be 0: the pointer stays where it is put"));
        }
        expect_window(self.expect_window.as_ref(), self.xy.is_some())?;
        observed("--observe", self.observe, self.ref_id.as_ref())?;
        timeout(self.timeout_ms, POINTER_TIMEOUT_MS).map(drop)
    }
}

/// `--expect-window` guards a point; a ref knows its window itself.
fn expect_window(id: Option<&String>, point: bool) -> Result<()> {
    not_blank("--expect-window", id)?;
    if id.is_some() && !point {
        return Err(Error::invalid("--expect-window goes with a point; a ref knows its window itself"));
    }
    Ok(())
}

/// What is observed is the window of a ref: a point belongs to none that could be told.
fn observed(what: &str, observe: bool, reference: Option<&RefArg>) -> Result<()> {
    if observe && reference.is_none() {
        return Err(Error::invalid(format!("{what} needs a ref: a point names no window to observe"))
            .suggest("Leave --observe out and use 'snapshot --since' afterwards."));
    }
    Ok(())
}

/// Which end of a drag a wait looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum DragEnd {
    #[default]
    To,
    From,
}

/// Drag from an element or point to another.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
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
    /// Refuse unless this window, by its id in list-windows, is the topmost where a point is given.
    #[arg(long, value_name = "ID")]
    pub expect_window: Option<String>,
    /// Travel time in milliseconds (default 300).
    #[arg(long, value_name = "MS")]
    pub duration: Option<u64>,
    /// Pause before the drop in milliseconds (default 500).
    #[arg(long, value_name = "MS")]
    pub drop_delay: Option<u64>,
    /// Time limit in milliseconds (default 5000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Whose window --wait-for and --observe look at (default to).
    #[arg(long, value_enum)]
    pub wait_for_scope: Option<DragEnd>,
    /// Also read the window of that ref right before and after the drag, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
}

impl Drag {
    /// The end whose window is looked at.
    pub fn scope(&self) -> DragEnd {
        self.wait_for_scope.unwrap_or_default()
    }

    /// The ref of that end, where it is one.
    pub fn scoped(&self) -> Option<&RefArg> {
        match self.scope() {
            DragEnd::From => self.from.as_ref(),
            DragEnd::To => self.to.as_ref(),
        }
    }

    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(POINTER_TIMEOUT_MS)
    }

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
        expect_window(self.expect_window.as_ref(), self.from_xy.is_some() || self.to_xy.is_some())?;
        let what = match self.scope() {
            DragEnd::To => "--observe of a drag to a point",
            DragEnd::From => "--observe of a drag from a point",
        };
        observed(what, self.observe, self.scoped())?;
        timeout(self.timeout_ms, POINTER_TIMEOUT_MS).map(drop)
    }
}

/// Move the pointer to a point.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseMove {
    /// Point on the screen.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub xy: XyArg,
    /// Refuse unless this window, by its id in list-windows, is the topmost at the point.
    #[arg(long, value_name = "ID")]
    pub expect_window: Option<String>,
}

impl MouseMove {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--expect-window", self.expect_window.as_ref())?;
        self.xy.parse().map(drop)
    }
}

/// Click at a point.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseClick {
    /// Point on the screen.
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub xy: XyArg,
    /// Button (default left).
    #[arg(long, value_enum)]
    pub button: Option<Button>,
    /// Refuse unless this window, by its id in list-windows, is the topmost at the point.
    #[arg(long, value_name = "ID")]
    pub expect_window: Option<String>,
    /// Clicks, 1 to 100 (default 1).
    #[arg(long, value_name = "N")]
    pub count: Option<u32>,
    /// Modifiers held meanwhile: shift, ctrl, alt, meta; several as ctrl+shift or ctrl,shift.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    #[serde(default)]
    pub modifiers: Vec<String>,
}

impl MouseClick {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--expect-window", self.expect_window.as_ref())?;
        self.xy.parse()?;
        modifiers(&self.modifiers)?;
        match self.count {
            Some(n) if n == 0 || n > CLICKS_MAX => Err(Error::invalid(format!("--count must be 1 to {CLICKS_MAX}"))),
            _ => Ok(()),
        }
    }
}

/// Turn the wheel at a point.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseWheel {
    /// Distance from the left edge of the screen.
    #[arg(long, allow_hyphen_values = true)]
    pub x: f64,
    /// Distance from the top edge of the screen.
    #[arg(long, allow_hyphen_values = true)]
    pub y: f64,
    /// Refuse unless this window, by its id in list-windows, is the topmost at the point.
    #[arg(long, value_name = "ID")]
    pub expect_window: Option<String>,
    /// Vertical steps, up is positive (default -3).
    #[arg(long, allow_hyphen_values = true)]
    pub dy: Option<f64>,
    /// Horizontal steps, left is positive (default 0).
    #[arg(long, allow_hyphen_values = true)]
    pub dx: Option<f64>,
    /// Modifiers held meanwhile: shift, ctrl, alt, meta; several as ctrl+shift or ctrl,shift.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    #[serde(default)]
    pub modifiers: Vec<String>,
}

impl MouseWheel {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--expect-window", self.expect_window.as_ref())?;
        modifiers(&self.modifiers)?;
        for (flag, value) in [("--x", Some(self.x)), ("--y", Some(self.y)), ("--dy", self.dy), ("--dx", self.dx)] {
            value.map_or(Ok(0.0), |v| coordinate(flag, v))?;
        }
        let turns = [self.dy.unwrap_or(WHEEL_DY), self.dx.unwrap_or(0.0)];
        if turns.iter().any(|t| t.fract() != 0.0 || t.abs() > WHEEL_MAX) {
            return Err(Error::invalid(format!("--dy and --dx are whole steps of the wheel, at most {WHEEL_MAX}")));
        }
        if turns == [0.0, 0.0] {
            return Err(Error::invalid("--dy and --dx are both 0: nothing would turn"));
        }
        Ok(())
    }
}

macro_rules! held_button {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Point on the screen.
            #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
            pub xy: XyArg,
            /// Refuse unless this window, by its id in list-windows, is the topmost at the point.
            #[arg(long, value_name = "ID")]
            pub expect_window: Option<String>,
            /// Button (default left).
            #[arg(long, value_enum)]
            pub button: Option<Button>,
            /// Modifiers held meanwhile: shift, ctrl, alt, meta; several as ctrl+shift or ctrl,shift.
            #[arg(long, value_name = "KEYS", value_delimiter = ',')]
            #[serde(default)]
            pub modifiers: Vec<String>,
            /// Release by itself after so many milliseconds (default 30000).
            #[arg(long, value_name = "MS")]
            pub limit_ms: Option<u64>,
        }

        impl $name {
            /// The rules.
            pub fn validate(&self) -> Result<()> {
                super::keyboard::limit(self.limit_ms)?;
                not_blank("--expect-window", self.expect_window.as_ref())?;
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
