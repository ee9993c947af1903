//! Faults: which calls, and what happens to them.

use crate::steps::Steps;
use serde::Deserialize;

/// A fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which calls.
    #[serde(rename = "match", default)]
    pub matches: Match,
    /// First matching call that fails, counted from 1.
    #[serde(default = "one")]
    pub nth: u64,
    /// How many matching calls fail from there; all when left out.
    #[serde(default)]
    pub times: Option<u64>,
    /// What happens.
    #[serde(rename = "do")]
    pub action: Doing,
    /// Whether a write takes effect; the default follows the fault.
    #[serde(default)]
    pub effect: Option<Effect>,
}

fn one() -> u64 {
    1
}

/// Which calls a fault is for. Everything that is left out matches.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// Name of the application.
    pub app: Option<String>,
    /// Node id, with a trailing `*` for a prefix; `root` is the application object.
    pub node: Option<String>,
    /// Interface, short or full. For properties: the property's interface.
    pub interface: Option<String>,
    /// Method or property name.
    pub member: Option<String>,
}

/// Whether a write takes effect.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Never.
    None,
    /// At once.
    Now,
    /// When the late reply is sent.
    WithReply,
}

/// What a fault does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Doing {
    /// No reply, ever.
    Never,
    /// The right reply, late.
    LateMs(u64),
    /// The right reply when that node is removed (a modal dialog).
    UntilRemoved(String),
    /// A D-Bus error.
    Error {
        /// Error name.
        name: String,
        /// Error message.
        #[serde(default)]
        message: String,
    },
    /// A reply of another type.
    WrongType,
    /// Strings of the reply hold bytes that aren't UTF-8.
    InvalidUtf8,
    /// Strings of the reply are that long.
    TextBytes(usize),
    /// References of the reply are null; lists get a null reference in front.
    NullRef,
    /// The process ends without replying.
    Die,
    /// The process ends after replying.
    DieAfterReply,
    /// ChildCount says that.
    ChildCount(i32),
    /// The child list also names the node's parent.
    Cycle,
    /// GetState says DEFUNCT only.
    Defunct,
    /// Parent says null.
    ParentNull,
    /// True, and nothing happens.
    LieTrue,
    /// False, and nothing happens.
    SayFalse,
    /// Any body at all.
    Raw {
        /// Header signature.
        signature: String,
        /// Body bytes in hexadecimal.
        hex: String,
    },
    /// The right reply, and steps. Combines with other faults.
    Set {
        /// Before or after the reply is computed.
        when: When,
        /// What changes.
        steps: Steps,
    },
}

/// Order of steps and reply.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The reply already shows the change.
    Before,
    /// The reply shows the old state.
    After,
}

/// Bytes of a hexadecimal string; blanks are skipped.
pub fn parse_hex(hex: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u8>> =
        hex.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    match digits {
        Some(digits) if digits.len().is_multiple_of(2) => {
            Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
        }
        _ => Err(format!("{hex:?} is not hexadecimal")),
    }
}

/// Whether a node id fits a pattern with an optional trailing `*`.
pub fn id_matches(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => id.starts_with(prefix),
        None => pattern == id,
    }
}
