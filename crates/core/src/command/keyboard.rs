//! Arguments of the keyboard commands.

use super::values::not_blank;
use crate::error::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

macro_rules! key_command {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Key or combination, like ctrl+s.
            #[arg(value_name = "COMBO")]
            pub combo: String,
            /// Permit a dangerous combination.
            #[arg(long)]
            #[serde(default)]
            pub force: bool,
        }

        impl $name {
            /// The rules.
            pub fn validate(&self) -> Result<()> {
                not_blank("COMBO", Some(&self.combo))
            }
        }
    };
}

/// Press a key or a combination.
#[derive(Clone, Debug, PartialEq, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// Key or combination, like ctrl+s.
    #[arg(value_name = "COMBO")]
    pub combo: String,
    /// Application by name.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Permit a dangerous combination.
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
}

impl Press {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("COMBO", Some(&self.combo))?;
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
