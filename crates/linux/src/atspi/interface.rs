//! Interfaces of AT-SPI objects, and the set of those that one object lists.

/// `org.a11y.atspi.Accessible`
pub const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
/// `org.a11y.atspi.Action`
pub const ACTION: &str = "org.a11y.atspi.Action";
/// `org.a11y.atspi.Application`
pub const APPLICATION: &str = "org.a11y.atspi.Application";
/// `org.a11y.atspi.Cache`
pub const CACHE: &str = "org.a11y.atspi.Cache";
/// `org.a11y.atspi.Component`
pub const COMPONENT: &str = "org.a11y.atspi.Component";
/// `org.a11y.atspi.EditableText`
pub const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
/// `org.a11y.atspi.Selection`
pub const SELECTION: &str = "org.a11y.atspi.Selection";
/// `org.a11y.atspi.Table`
pub const TABLE: &str = "org.a11y.atspi.Table";
/// `org.a11y.atspi.TableCell`
pub const TABLE_CELL: &str = "org.a11y.atspi.TableCell";
/// `org.a11y.atspi.Text`
pub const TEXT: &str = "org.a11y.atspi.Text";
/// `org.a11y.atspi.Value`
pub const VALUE: &str = "org.a11y.atspi.Value";

const KNOWN: &[(&str, Interfaces)] = &[
    (ACTION, Interfaces::ACTION),
    (APPLICATION, Interfaces::APPLICATION),
    (COMPONENT, Interfaces::COMPONENT),
    (EDITABLE_TEXT, Interfaces::EDITABLE_TEXT),
    (SELECTION, Interfaces::SELECTION),
    (TABLE, Interfaces::TABLE),
    (TABLE_CELL, Interfaces::TABLE_CELL),
    (TEXT, Interfaces::TEXT),
    (VALUE, Interfaces::VALUE),
];

/// The interfaces that matter here, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interfaces(u16);

impl Interfaces {
    /// `Action`
    pub const ACTION: Self = Self(1);
    /// `Application`
    pub const APPLICATION: Self = Self(2);
    /// `Component`
    pub const COMPONENT: Self = Self(4);
    /// `EditableText`
    pub const EDITABLE_TEXT: Self = Self(8);
    /// `Selection`
    pub const SELECTION: Self = Self(16);
    /// `Table`
    pub const TABLE: Self = Self(32);
    /// `TableCell`
    pub const TABLE_CELL: Self = Self(64);
    /// `Text`
    pub const TEXT: Self = Self(128);
    /// `Value`
    pub const VALUE: Self = Self(256);

    /// The set of the names in a reply; names that don't matter here are left out.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Self {
        let known = names.iter().filter_map(|n| KNOWN.iter().find(|(k, _)| *k == n.as_ref()));
        Self(known.fold(0, |set, (_, one)| set | one.0))
    }

    /// Whether the set has all of the other's members.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Interfaces {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_left_out() {
        let set = Interfaces::parse(&[ACCESSIBLE, ACTION, VALUE, "org.example.Mine"]);
        assert!(set.has(Interfaces::ACTION | Interfaces::VALUE));
        assert!(!set.has(Interfaces::TEXT));
    }
}
