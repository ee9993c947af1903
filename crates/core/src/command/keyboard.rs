//! Arguments of the keyboard commands.

use super::values::not_blank;
use crate::error::{Error, Result};
use crate::vocab::key::Combo;
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// After how long a held key or button is released by itself, in milliseconds (decisions D3).
pub const HOLD_LIMIT_MS: u64 = 30_000;
/// The longest limit of a held key or button, in milliseconds.
pub const HOLD_LIMIT_MAX_MS: u64 = 600_000;

/// The rules of `--limit-ms`.
pub fn limit(ms: Option<u64>) -> Result<u64> {
    match ms.unwrap_or(HOLD_LIMIT_MS) {
        ms if (100..=HOLD_LIMIT_MAX_MS).contains(&ms) => Ok(ms),
        _ => Err(Error::invalid(format!("--limit-ms must be 100 to {HOLD_LIMIT_MAX_MS}"))),
    }
}

macro_rules! key_command {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Key or combination, like ctrl+s.
            #[arg(value_name = "COMBO")]
            pub combo: String,
            /// Permit a dangerous combination.
            #[arg(long)]
            #[serde(default)]
            pub force: bool,
            /// Refuse unless this window, by its id in list-windows, has the keyboard.
            #[arg(long, value_name = "ID")]
            pub expect_window: Option<String>,
            /// Release by itself after so many milliseconds (default 30000).
            #[arg(long, value_name = "MS")]
            pub limit_ms: Option<u64>,
        }

        impl $name {
            /// The rules.
            pub fn validate(&self) -> Result<()> {
                not_blank("--expect-window", self.expect_window.as_ref())?;
                limit(self.limit_ms)?;
                Combo::parse(&self.combo).map(drop)
            }
        }
    };
}

/// Press a key or a combination.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// Key or combination, like ctrl+s, return, escape, pageup. `delete` is backspace; forwarddelete the other one.
    #[arg(value_name = "COMBO")]
    pub combo: String,
    /// Application by name: its window comes to the front first.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Window by id, from list-windows: it comes to the front first.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Permit a dangerous combination.
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
    /// Refuse unless this window, by its id in list-windows, has the keyboard.
    #[arg(long, value_name = "ID")]
    pub expect_window: Option<String>,
    /// Also read the window right before and after the key, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
}

impl Press {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        if Combo::parse(&self.combo)?.key.is_none() {
            return Err(Error::invalid("a combination of modifiers alone has no key to press")
                .kind("invalid_combo")
                .suggest("key-down and key-up hold modifiers alone."));
        }
        not_blank("--expect-window", self.expect_window.as_ref())?;
        not_blank("--window-id", self.window_id.as_ref())?;
        not_blank("--app", self.app.as_ref())
    }
}

key_command! {
    /// Hold a key down.
    KeyDown
}
key_command! {
    /// Let a held key go.
    KeyUp
}
