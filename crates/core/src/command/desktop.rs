//! Arguments of `desktop`: private desktops (decisions D2).

use super::values::not_blank;
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `desktop` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum DesktopOperation {
    Start,
    Run,
    List,
    Stop,
}

/// Private desktops for servers and containers: start, run -- CMD…, list, stop ID.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Desktop {
    /// What to do.
    #[arg(value_enum, value_name = "OPERATION")]
    pub operation: DesktopOperation,
    /// stop: the desktop's id. run: the command and its arguments, after '--'.
    #[arg(value_name = "ID | -- CMD", trailing_var_arg = true, allow_hyphen_values = true)]
    #[serde(default)]
    pub args: Vec<String>,
    /// start, run: size of the screen (default 1280x800).
    #[arg(long, value_name = "WxH")]
    pub size: Option<String>,
}

/// Width of a private desktop's screen.
pub const SCREEN_WIDTH: u32 = 1280;
/// Height of a private desktop's screen.
pub const SCREEN_HEIGHT: u32 = 800;

impl Desktop {
    /// Width and height of the screen.
    pub fn screen(&self) -> Result<(u32, u32)> {
        let Some(text) = &self.size else { return Ok((SCREEN_WIDTH, SCREEN_HEIGHT)) };
        let side = |text: &str| text.parse::<u32>().ok().filter(|n| (64..=16_384).contains(n));
        text.split_once('x')
            .and_then(|(w, h)| Some((side(w)?, side(h)?)))
            .ok_or_else(|| Error::invalid("--size must be WIDTHxHEIGHT, each 64 to 16384, like 1280x800"))
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        self.screen()?;
        for arg in &self.args {
            if arg.contains('\0') {
                return Err(Error::invalid("arguments must not contain NUL"));
            }
        }
        let starts = matches!(self.operation, DesktopOperation::Start | DesktopOperation::Run);
        if self.size.is_some() && !starts {
            return Err(Error::invalid("--size belongs to desktop start and desktop run"));
        }
        match self.operation {
            DesktopOperation::Run => not_blank("CMD", self.args.first()).and_then(|()| {
                if self.args.is_empty() {
                    Err(Error::invalid("desktop run needs a command after '--'"))
                } else {
                    Ok(())
                }
            }),
            DesktopOperation::Stop if self.args.len() != 1 => {
                Err(Error::invalid("desktop stop needs one ID").suggest("'agent-desktop desktop list' shows ids."))
            }
            DesktopOperation::Stop => not_blank("ID", self.args.first()),
            _ if !self.args.is_empty() => Err(Error::invalid("desktop start and desktop list take no arguments")),
            _ => Ok(()),
        }
    }
}
