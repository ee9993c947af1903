//! What is known about a property: known, absent or unknown, never collapsed (spec 1 §3).

use serde::{Deserialize, Serialize};

/// Why a read gave no answer that can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// No answer within the deadline. Late is not gone.
    Late,
    /// The element is gone.
    Gone,
    /// The provider denied the read.
    Denied,
    /// The provider answered with a fault or with something that cannot be trusted.
    Fault(String),
    /// The plan or a budget did not let it be read.
    NotRead,
}

/// The answer to one read. `Absent` is an answer ("asked, has none"); `Unknown` is the lack of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence<T> {
    /// The source answered with this.
    Known(T),
    /// The source was asked and has none.
    Absent,
    /// The read failed or its answer cannot be trusted.
    Unknown(Cause),
}

impl<T> Evidence<T> {
    /// The value, where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(v) => Some(v),
            _ => None,
        }
    }

    /// The value by move, where it is known.
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(v) => Some(v),
            _ => None,
        }
    }

    /// Whether the source answered at all: known or absent.
    pub fn settled(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }

    /// The cause, where the answer is unknown.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Unknown(c) => Some(c),
            _ => None,
        }
    }

    /// The same evidence about a derived value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Evidence<U> {
        match self {
            Self::Known(v) => Evidence::Known(f(v)),
            Self::Absent => Evidence::Absent,
            Self::Unknown(c) => Evidence::Unknown(c),
        }
    }

    /// Evidence about a reference to the value.
    pub fn as_ref(&self) -> Evidence<&T> {
        match self {
            Self::Known(v) => Evidence::Known(v),
            Self::Absent => Evidence::Absent,
            Self::Unknown(c) => Evidence::Unknown(c.clone()),
        }
    }
}

impl Evidence<bool> {
    /// Whether the source positively said yes. Not the negation of [`Evidence::says_no`].
    pub fn says_yes(&self) -> bool {
        matches!(self, Self::Known(true))
    }

    /// Whether the source positively said no. Not the negation of [`Evidence::says_yes`].
    pub fn says_no(&self) -> bool {
        matches!(self, Self::Known(false))
    }
}

impl Evidence<String> {
    /// Known and blank text carries nothing: it counts as absent.
    pub fn blank_as_absent(self) -> Self {
        match self {
            Self::Known(s) if s.trim().is_empty() => Self::Absent,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_not_each_others_negation() {
        let unknown: Evidence<bool> = Evidence::Unknown(Cause::Late);
        assert!(!unknown.says_yes() && !unknown.says_no());
        assert!(!Evidence::<bool>::Absent.says_no());
        assert!(Evidence::Known(false).says_no());
    }
}
