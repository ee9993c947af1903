//! AT-SPI's states by number, as reported. What of them may be believed stands in [`super::toolkit`].

/// The state set of one reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Native(pub u64);

macro_rules! states {
    ($($name:ident = $bit:literal),+ $(,)?) => {
        impl Native {
            $(#[doc = concat!("`", stringify!($name), "`")] pub const $name: u64 = 1 << $bit;)+
        }
    };
}

states! {
    ACTIVE = 1, BUSY = 3, CHECKED = 4, COLLAPSED = 5, DEFUNCT = 6, EDITABLE = 7, ENABLED = 8, EXPANDABLE = 9,
    EXPANDED = 10, FOCUSABLE = 11, FOCUSED = 12, HORIZONTAL = 14, ICONIFIED = 15, MODAL = 16, MULTI_LINE = 17,
    MULTISELECTABLE = 18, PRESSED = 20, SELECTABLE = 22, SELECTED = 23, SENSITIVE = 24, SHOWING = 25,
    SINGLE_LINE = 26, STALE = 27, TRANSIENT = 28, VERTICAL = 29, VISIBLE = 30, MANAGES_DESCENDANTS = 31,
    INDETERMINATE = 32, REQUIRED = 33, INVALID_ENTRY = 36, IS_DEFAULT = 39, CHECKABLE = 41, HAS_POPUP = 42,
    READ_ONLY = 43,
}

impl Native {
    /// Whether the state is reported.
    pub fn has(self, state: u64) -> bool {
        self.0 & state != 0
    }

    /// Whether the element says of itself that it is dead.
    pub fn defunct(self) -> bool {
        self.has(Self::DEFUNCT)
    }

    /// Whether nothing at all is reported: with a null parent a tombstone (FINDINGS §4 GTK 3).
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_atspi() {
        // The second word begins at 32.
        assert_eq!(Native::INDETERMINATE, 1 << 32);
        assert!(Native(1 << 6).defunct() && Native(0).is_empty());
    }
}
