//! Arguments of the commands that act on a ref.

use super::observe::timeout;
use super::values::RefArg;
pub use crate::act::DEFAULT_TIMEOUT_MS as ACTION_TIMEOUT_MS;
use crate::error::{Error, Result};
use crate::platform::{Action, Direction};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Characters of `type` at most.
pub const TYPE_MAX_CHARS: usize = 10_000;
/// Amount of `scroll`.
pub const SCROLL_AMOUNT: u32 = 3;
/// Characters of `set-value` and bytes of standard input at most.
pub const VALUE_MAX_BYTES: usize = 1024 * 1024;

/// A command that does one action on one ref.
pub trait RefAction {
    /// The ref.
    fn ref_id(&self) -> &RefArg;

    /// The action. Call it after validation.
    fn action(&self) -> Action;

    /// The auto-wait as given, without what `type` gets for each character; 0 is a single attempt.
    fn timeout(&self) -> u64;

    /// Whether what changed in the window is wanted with the answer.
    fn observe(&self) -> bool;

    /// The rules.
    fn validate(&self) -> Result<()>;
}

macro_rules! ref_action {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Ref of the element.
            #[arg(value_name = "REF")]
            pub ref_id: RefArg,
            /// How long to wait for the element to be ready, in milliseconds (default 5000; 0 tries once).
            #[arg(long, value_name = "MS")]
            pub timeout_ms: Option<u64>,
            /// Also read the window right before and after the action, and answer with what changed (observed_changes).
            #[arg(long)]
            #[serde(default)]
            pub observe: bool,
        }

        impl RefAction for $name {
            fn ref_id(&self) -> &RefArg {
                &self.ref_id
            }

            fn action(&self) -> Action {
                Action::$name
            }

            fn timeout(&self) -> u64 {
                self.timeout_ms.unwrap_or(ACTION_TIMEOUT_MS)
            }

            fn observe(&self) -> bool {
                self.observe
            }

            fn validate(&self) -> Result<()> {
                self.ref_id.parse()?;
                timeout(self.timeout_ms, ACTION_TIMEOUT_MS).map(drop)
            }
        }
    };
}

ref_action! {
    /// Click an element by its semantic action.
    Click
}
ref_action! {
    /// Double-click an element (needs --headed).
    DoubleClick
}
ref_action! {
    /// Triple-click an element (needs --headed).
    TripleClick
}
ref_action! {
    /// Open an element's context menu.
    RightClick
}
ref_action! {
    /// Empty a field.
    Clear
}
ref_action! {
    /// Give an element the keyboard focus.
    Focus
}
ref_action! {
    /// Flip a check box, switch or toggle button. Never repeat it unverified.
    Toggle
}
ref_action! {
    /// Check a check box, switch or toggle button; nothing happens where it is checked.
    Check
}
ref_action! {
    /// Uncheck a check box, switch or toggle button; nothing happens where it is unchecked.
    Uncheck
}
ref_action! {
    /// Expand an element; nothing happens where it is expanded.
    Expand
}
ref_action! {
    /// Collapse an element; nothing happens where it is collapsed.
    Collapse
}
ref_action! {
    /// Scroll an element into view.
    ScrollTo
}

/// Text of the command line or of standard input: exactly one of them, and nothing that D-Bus can't carry.
fn text_source(name: &str, text: Option<&String>, stdin: bool) -> Result<()> {
    match (text, stdin) {
        (Some(_), true) => Err(Error::invalid(format!("{name} and --stdin exclude each other"))),
        (None, false) => Err(Error::invalid(format!("{name} or --stdin is needed"))),
        (Some(text), false) if text.contains('\0') => Err(Error::invalid(format!("{name} must not contain NUL"))),
        (Some(text), false) if text.len() > VALUE_MAX_BYTES => {
            Err(Error::invalid(format!("{name} is limited to {VALUE_MAX_BYTES} bytes")))
        }
        _ => Ok(()),
    }
}

/// Insert text at the caret or over the selection of a field.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Type {
    /// Ref of the field.
    #[arg(value_name = "REF")]
    pub ref_id: RefArg,
    /// Text to insert, at most 10,000 characters.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Read the text from standard input, so that it stays out of the process list.
    #[arg(long)]
    #[serde(default)]
    pub stdin: bool,
    /// How long to wait for the field to be ready, in milliseconds (default 5000, and 30 for each character).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Also read the window right before and after the action, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
}

impl RefAction for Type {
    fn ref_id(&self) -> &RefArg {
        &self.ref_id
    }

    fn action(&self) -> Action {
        Action::Type(self.text.clone().unwrap_or_default())
    }

    fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(ACTION_TIMEOUT_MS)
    }

    fn observe(&self) -> bool {
        self.observe
    }

    fn validate(&self) -> Result<()> {
        self.ref_id.parse()?;
        timeout(self.timeout_ms, ACTION_TIMEOUT_MS)?;
        text_source("TEXT", self.text.as_ref(), self.stdin)?;
        let chars = self.text.as_ref().map_or(0, |t| t.chars().count());
        if chars > TYPE_MAX_CHARS {
            return Err(Error::invalid(format!("TEXT has {chars} characters; at most {TYPE_MAX_CHARS} are typed"))
                .suggest("Use set-value for long text."));
        }
        if self.text.as_ref().is_some_and(String::is_empty) {
            return Err(Error::invalid("TEXT is empty").suggest("Use clear to empty a field."));
        }
        Ok(())
    }
}

/// Replace the value of a field, slider or other control.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetValue {
    /// Ref of the control.
    #[arg(value_name = "REF")]
    pub ref_id: RefArg,
    /// The new value.
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub value: Option<String>,
    /// Read the value from standard input, so that it stays out of the process list.
    #[arg(long)]
    #[serde(default)]
    pub stdin: bool,
    /// How long to wait for the control to be ready, in milliseconds (default 5000; 0 tries once).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Also read the window right before and after the action, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
}

impl RefAction for SetValue {
    fn ref_id(&self) -> &RefArg {
        &self.ref_id
    }

    fn action(&self) -> Action {
        Action::SetValue(self.value.clone().unwrap_or_default())
    }

    fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(ACTION_TIMEOUT_MS)
    }

    fn observe(&self) -> bool {
        self.observe
    }

    fn validate(&self) -> Result<()> {
        self.ref_id.parse()?;
        timeout(self.timeout_ms, ACTION_TIMEOUT_MS)?;
        text_source("VALUE", self.value.as_ref(), self.stdin)
    }
}

/// Choose an option of a combo box, list or tab list by its text.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// Ref of the control.
    #[arg(value_name = "REF")]
    pub ref_id: RefArg,
    /// The option's text.
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub value: String,
    /// How long to wait for the control to be ready, in milliseconds (default 5000; 0 tries once).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Also read the window right before and after the action, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
}

impl RefAction for Select {
    fn ref_id(&self) -> &RefArg {
        &self.ref_id
    }

    fn action(&self) -> Action {
        Action::Select(self.value.clone())
    }

    fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(ACTION_TIMEOUT_MS)
    }

    fn observe(&self) -> bool {
        self.observe
    }

    fn validate(&self) -> Result<()> {
        self.ref_id.parse()?;
        timeout(self.timeout_ms, ACTION_TIMEOUT_MS)?;
        super::values::not_blank("VALUE", Some(&self.value))
    }
}

/// Where the content that comes into view lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum ScrollDirection {
    Up,
    #[default]
    Down,
    Left,
    Right,
}

/// Scroll an element's content.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scroll {
    /// Ref of the element.
    #[arg(value_name = "REF")]
    pub ref_id: RefArg,
    /// Where to (default down).
    #[arg(long, value_enum)]
    pub direction: Option<ScrollDirection>,
    /// How many steps (default 3).
    #[arg(long, value_name = "N")]
    pub amount: Option<u32>,
    /// How long to wait for the element to be ready, in milliseconds (default 5000; 0 tries once).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Also read the window right before and after the action, and answer with what changed (observed_changes).
    #[arg(long)]
    #[serde(default)]
    pub observe: bool,
}

impl RefAction for Scroll {
    fn ref_id(&self) -> &RefArg {
        &self.ref_id
    }

    fn action(&self) -> Action {
        let direction = match self.direction.unwrap_or_default() {
            ScrollDirection::Up => Direction::Up,
            ScrollDirection::Down => Direction::Down,
            ScrollDirection::Left => Direction::Left,
            ScrollDirection::Right => Direction::Right,
        };
        Action::Scroll { direction, amount: self.amount.unwrap_or(SCROLL_AMOUNT) }
    }

    fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(ACTION_TIMEOUT_MS)
    }

    fn observe(&self) -> bool {
        self.observe
    }

    fn validate(&self) -> Result<()> {
        self.ref_id.parse()?;
        timeout(self.timeout_ms, ACTION_TIMEOUT_MS)?;
        if self.amount == Some(0) {
            return Err(Error::invalid("--amount must be at least 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typing(text: Option<&str>, stdin: bool) -> Type {
        Type {
            ref_id: RefArg("@s8f3:e1".into()),
            text: text.map(str::to_owned),
            stdin,
            timeout_ms: None,
            observe: false,
        }
    }

    #[test]
    fn text_comes_from_exactly_one_place() {
        assert!(typing(Some("x"), false).validate().is_ok());
        assert!(typing(None, true).validate().is_ok());
        for bad in [typing(None, false), typing(Some("x"), true), typing(Some(""), false), typing(Some("\0"), false)] {
            assert!(bad.validate().is_err());
        }
    }

    #[test]
    fn typing_has_a_limit() {
        assert!(typing(Some(&"ü".repeat(TYPE_MAX_CHARS)), false).validate().is_ok());
        assert!(typing(Some(&"ü".repeat(TYPE_MAX_CHARS + 1)), false).validate().is_err());
    }
}
