//! Names of snapshots and refs: `s8f3k2p9`, `@s8f3k2p9:e8` (spec 1 §2). Refs are always qualified.

use crate::error::{Error, Result, echo};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const MIN_CHARS: usize = 3;
const MAX_CHARS: usize = 64;
const MIN_DIGITS: usize = 4;
/// How ids of what a `watch` saves begin.
const OF_WATCH: &str = "sw-";

/// The id of a snapshot. Safe as the name of a directory: letters, digits, `-`, `_` only.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SnapshotId(Box<str>);

impl SnapshotId {
    /// A new id: `s` and at least four base-36 digits of a mix of time, process, counter and a random hasher.
    pub fn generate() -> Self {
        Self(format!("s{}", base36(mixed())).into())
    }

    /// A new id for what a `watch` saves: no other id has a hyphen there.
    pub fn of_watch() -> Self {
        Self(format!("{OF_WATCH}{}", base36(mixed())).into())
    }

    /// Whether a `watch` saved the snapshot with this id.
    pub fn is_of_watch(id: &str) -> bool {
        id.starts_with(OF_WATCH)
    }

    /// The id that a caller names: 3 to 64 letters, digits, `-`, `_`.
    pub fn parse(text: &str) -> Result<Self> {
        let sound = (MIN_CHARS..=MAX_CHARS).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !sound {
            return Err(Error::invalid(format!(
                "{} is not a snapshot id: expected 3 to 64 letters, digits, '-' or '_'",
                echo(text)
            )));
        }
        Ok(Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SnapshotId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<SnapshotId> for String {
    fn from(id: SnapshotId) -> Self {
        id.0.into()
    }
}

/// A qualified ref: a snapshot and the number of an element in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RefId {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// The number, from 1.
    pub number: u32,
}

impl RefId {
    /// The ref that a caller names. The number is canonical: no sign, no leading zero, 1 to 4294967295.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::invalid(format!("{} is not a ref: {why}", echo(text)))
                .kind("invalid_ref")
                .suggest("Use a qualified ref from a snapshot or find, like @s8f3k2p9:e8.")
        };
        if text.trim().len() != text.len() {
            return Err(wrong("it has blanks around it"));
        }
        let body = text.strip_prefix('@').ok_or_else(|| wrong("it must start with '@'"))?;
        let Some((snapshot, element)) = body.split_once(':') else {
            return Err(wrong("it must name its snapshot and its element, like @s8f3k2p9:e8"));
        };
        let snapshot = SnapshotId::parse(snapshot).map_err(|_| wrong("its snapshot id is malformed"))?;
        let digits = element.strip_prefix('e').ok_or_else(|| wrong("expected e and a number after ':'"))?;
        let canonical =
            (1..=10).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        let number = if canonical { digits.parse().ok() } else { None };
        let number = number.ok_or_else(|| wrong("its number must be 1 to 4294967295 without leading zeros"))?;
        Ok(Self { snapshot, number })
    }
}

impl fmt::Display for RefId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}:e{}", self.snapshot, self.number)
    }
}

/// A mix of time, process, counter and a random hasher.
fn mixed() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    RandomState::new().hash_one((nanos, std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)))
}

fn base36(mut value: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut out = Vec::with_capacity(13);
    while value > 0 || out.len() < MIN_DIGITS {
        out.push(char::from(DIGITS[(value % 36) as usize]));
        value /= 36;
    }
    out.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn new_ids_are_sound_and_differ() {
        let (a, b) = (SnapshotId::generate(), SnapshotId::generate());
        assert_ne!(a, b);
        assert!(a.as_str().starts_with('s') && a.as_str().len() >= 5);
        assert_eq!(SnapshotId::parse(a.as_str()).unwrap(), a);
        let watched = SnapshotId::of_watch();
        assert_eq!(SnapshotId::parse(watched.as_str()).unwrap(), watched);
        assert_eq!((SnapshotId::is_of_watch(watched.as_str()), SnapshotId::is_of_watch(a.as_str())), (true, false));
    }

    #[test]
    fn base36_pads_to_four_digits() {
        assert_eq!(base36(0), "0000");
        assert_eq!(base36(36), "0010");
        assert_eq!(base36(u64::MAX), "3w5e11264sgsf");
    }

    #[test]
    fn refs_round_trip() {
        for text in ["@s8f3k2p9:e8", "@abc:e1", "@a-_:e4294967295"] {
            assert_eq!(RefId::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn everything_else_is_invalid() {
        let long = format!("@{}:e1", "a".repeat(65));
        for text in [
            "",
            "@",
            "@e8",
            "e8",
            "8",
            "@s8f3:8",
            "@s8f3:e",
            "@s8f3:e0",
            "@s8f3:e01",
            "@s8f3:e-1",
            "@s8f3:e+1",
            "@s8f3:e4294967296",
            "@s8f3:e11111111111",
            "@ab:e1",
            "@s8f3:e1 ",
            " @s8f3:e1",
            "@s8/f3:e1",
            "@..:e1",
            "@s8f3:e1:e2",
            "@s8f3:é1",
            "@s8f3:E1",
            "@s8f3::e1",
            &long,
        ] {
            let e = RefId::parse(text).expect_err(text);
            assert_eq!(e.code(), Code::InvalidArgs, "{text}");
        }
    }
}
