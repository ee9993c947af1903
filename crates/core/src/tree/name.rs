//! What an element is called: ranked slots, and which of them may serve as identity (spec 1 §3 "Name computation", §4).
//!
//! Rules on white space, the same wherever text of an application is shown or compared:
//!
//! * both ends are trimmed of white space and control characters; what stands inside is left alone, because line
//!   breaks in a paragraph are content (the matcher normalises for itself, text output escapes for itself);
//! * text without a single visible character is blank: white space, controls, zero-width and direction marks, and
//!   U+FFFC, the placeholder of an embedded object, show nothing;
//! * blank text carries nothing and counts as absent.

use super::raw::Facts;
use crate::evidence::{Cause, Evidence};
use crate::vocab::role::Role;
use serde::{Deserialize, Serialize};

/// The slot that a name came from, in rank order (spec 1 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameSlot {
    /// 1: a name that the author gave explicitly.
    ExplicitLabel,
    /// 2: text of the elements that label this one.
    LabelledByText,
    /// 3: the toolkit's own title.
    NativeTitle,
    /// 4: a value that never changes.
    StaticValue,
    /// 5: text of label children.
    ChildLabel,
    /// 6: placeholder.
    Placeholder,
    /// 7: description.
    Description,
}

impl NameSlot {
    /// All slots by rank, the strongest first.
    pub const RANKED: [NameSlot; 7] = [
        NameSlot::ExplicitLabel,
        NameSlot::LabelledByText,
        NameSlot::NativeTitle,
        NameSlot::StaticValue,
        NameSlot::ChildLabel,
        NameSlot::Placeholder,
        NameSlot::Description,
    ];

    fn of(self, facts: &Facts) -> &Evidence<String> {
        let n = &facts.names;
        match self {
            // What a secure field holds must not come back as its name (spec 1 §8 "Secure field").
            NameSlot::StaticValue | NameSlot::ChildLabel if facts.secure => &Evidence::Absent,
            NameSlot::ExplicitLabel => &n.explicit_label,
            NameSlot::LabelledByText => &n.labelled_by_text,
            NameSlot::NativeTitle => &n.native_title,
            NameSlot::StaticValue => &n.static_value,
            NameSlot::ChildLabel => &n.child_label,
            NameSlot::Placeholder => &n.placeholder,
            NameSlot::Description => &n.description,
        }
    }

    /// Whether text in this slot is a label by its nature, whatever the control's value is.
    fn label(self) -> bool {
        matches!(self, NameSlot::ExplicitLabel | NameSlot::LabelledByText | NameSlot::Description)
    }
}

/// A name, and the slot that produced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text, trimmed and not blank.
    pub text: String,
    /// Where it came from.
    pub slot: NameSlot,
}

/// Whether a character shows nothing by itself.
fn invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}')
}

/// Whether the text has no visible character.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(invisible)
}

/// The text without white space and control characters at its ends; `None` where it is blank.
pub fn trimmed(text: &str) -> Option<&str> {
    if is_blank(text) { None } else { Some(text.trim_matches(|c: char| c.is_whitespace() || c.is_control())) }
}

/// Text evidence with blank as absent and both ends trimmed.
fn clean(evidence: &Evidence<String>) -> Evidence<&str> {
    match evidence {
        Evidence::Known(text) => trimmed(text).map_or(Evidence::Absent, Evidence::Known),
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(cause) => Evidence::Unknown(cause.clone()),
    }
}

/// The first slot with text. A slot that failed to read before any text was found makes the name unknown, and never
/// the weaker value (spec 1 §3).
pub fn name_of(facts: &Facts) -> Evidence<Name> {
    for slot in NameSlot::RANKED {
        match clean(slot.of(facts)) {
            Evidence::Known(text) => return Evidence::Known(Name { text: text.to_owned(), slot }),
            Evidence::Absent => {}
            Evidence::Unknown(cause) => return Evidence::Unknown(cause),
        }
    }
    Evidence::Absent
}

/// A name that may serve as identity: the strongest slot that is not the value of a control whose value changes in
/// use (spec 1 §4 "Stable text identity"). In such a control the slot of values never counts, and a title, a label
/// child or a placeholder that reads the same as the value is that value promoted (Qt combo boxes do so): it doesn't
/// count either. Where it can't be told whether text is the value, the answer is unknown.
pub fn stable_name(facts: &Facts) -> Evidence<String> {
    let value = clean(&facts.value);
    for slot in NameSlot::RANKED {
        let text = match clean(slot.of(facts)) {
            Evidence::Known(text) => text,
            Evidence::Absent => continue,
            Evidence::Unknown(cause) => match is_value(facts, slot, None, &value) {
                Ok(true) => continue,
                _ => return Evidence::Unknown(cause),
            },
        };
        match is_value(facts, slot, Some(text), &value) {
            Ok(true) => {}
            Ok(false) => return Evidence::Known(text.to_owned()),
            Err(cause) => return Evidence::Unknown(cause),
        }
    }
    Evidence::Absent
}

/// Whether what stands in a slot is the control's changing value; an error where that can't be told.
fn is_value(facts: &Facts, slot: NameSlot, text: Option<&str>, value: &Evidence<&str>) -> Result<bool, Cause> {
    if slot.label() {
        return Ok(false);
    }
    match &facts.role {
        Evidence::Known(role) if !role.mutable_value() => return Ok(false),
        Evidence::Known(_) => {}
        Evidence::Absent => return Ok(false),
        Evidence::Unknown(cause) => return Err(cause.clone()),
    }
    if slot == NameSlot::StaticValue {
        return Ok(true);
    }
    match value {
        // Compared as the control shows them: a secure field's value is withheld, and nothing is promoted from it.
        Evidence::Known(v) => Ok(text == Some(*v)),
        Evidence::Absent => Ok(false),
        Evidence::Unknown(cause) => Err(cause.clone()),
    }
}

/// The description, where it is not blank and another slot produced the name (spec 1 §3). Unknown where it can't be
/// told whether the description became the name.
pub fn description_of(facts: &Facts) -> Evidence<String> {
    let description = match clean(&facts.names.description) {
        Evidence::Known(text) => text,
        Evidence::Absent => return Evidence::Absent,
        Evidence::Unknown(cause) => return Evidence::Unknown(cause),
    };
    match name_of(facts) {
        Evidence::Known(name) if name.slot != NameSlot::Description => Evidence::Known(description.to_owned()),
        Evidence::Known(_) | Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(cause) => Evidence::Unknown(cause),
    }
}

/// The description as it may serve as identity, whether it is the name as well or not: never where it repeats the
/// value of a control whose value changes in use.
pub fn stable_description(facts: &Facts) -> Evidence<String> {
    let description = match clean(&facts.names.description) {
        Evidence::Known(text) => text,
        Evidence::Absent => return Evidence::Absent,
        Evidence::Unknown(cause) => return Evidence::Unknown(cause),
    };
    let changes = match &facts.role {
        Evidence::Known(role) => role.mutable_value(),
        Evidence::Absent => false,
        Evidence::Unknown(cause) => return Evidence::Unknown(cause.clone()),
    };
    match clean(&facts.value) {
        Evidence::Known(value) if changes && value == description => Evidence::Absent,
        Evidence::Unknown(cause) if changes => Evidence::Unknown(cause),
        _ => Evidence::Known(description.to_owned()),
    }
}

/// The value as it may be shown: empty is absent, and a secure field has none (spec 1 §8). Neither trimmed nor dropped
/// where it is blank: a value is content, and three spaces in a field are not an empty field.
pub fn value_of(facts: &Facts) -> Evidence<&str> {
    match &facts.value {
        _ if facts.secure => Evidence::Absent,
        Evidence::Known(text) if text.is_empty() => Evidence::Absent,
        Evidence::Known(text) => Evidence::Known(text),
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(cause) => Evidence::Unknown(cause.clone()),
    }
}

/// The role where it is known, `Role::Unknown` else: for showing only, never for a claim.
pub fn shown_role(facts: &Facts) -> Role {
    facts.role.known().copied().unwrap_or(Role::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::node;
    use proptest::prelude::*;

    fn known(text: &str) -> Evidence<String> {
        Evidence::Known(text.to_owned())
    }

    fn late() -> Evidence<String> {
        Evidence::Unknown(Cause::Late)
    }

    fn facts(role: Role, with: impl FnOnce(&mut Facts)) -> Facts {
        node(role).facts(with).build().nodes.remove(0).facts
    }

    #[test]
    fn the_first_slot_with_text_wins() {
        let f = facts(Role::Button, |f| {
            f.names.explicit_label = known(" \u{200b}\n");
            f.names.native_title = known("  Save\tas ");
            f.names.placeholder = known("weaker");
            f.names.description = late();
        });
        assert_eq!(name_of(&f), Evidence::Known(Name { text: "Save\tas".into(), slot: NameSlot::NativeTitle }));
        assert_eq!(description_of(&f), Evidence::Unknown(Cause::Late));
    }

    #[test]
    fn a_description_that_repeats_a_changing_value_is_no_identity() {
        let of = |role, description: &str| {
            stable_description(&facts(role, |f| {
                f.names.description = known(description);
                f.value = known("5");
            }))
        };
        assert_eq!(of(Role::Incrementor, " 5 "), Evidence::Absent);
        assert_eq!(of(Role::Incrementor, "Hours"), known("Hours"));
        assert_eq!(of(Role::Button, "5"), known("5"));
        let unread = facts(Role::Slider, |f| {
            f.names.description = known("Hours");
            f.value = late();
        });
        assert_eq!(stable_description(&unread), Evidence::Unknown(Cause::Late));
    }

    #[test]
    fn a_failed_stronger_slot_makes_the_name_unknown() {
        let f = facts(Role::Button, |f| {
            f.names.labelled_by_text = late();
            f.names.native_title = known("Save");
            f.names.description = known("Saves");
        });
        assert_eq!(name_of(&f), Evidence::Unknown(Cause::Late));
        assert_eq!(stable_name(&f), Evidence::Unknown(Cause::Late));
        assert_eq!(description_of(&f), Evidence::Unknown(Cause::Late));
    }

    #[test]
    fn a_description_that_became_the_name_is_not_repeated() {
        let f = facts(Role::Button, |f| f.names.description = known("Close tab"));
        assert_eq!(name_of(&f).into_known().map(|n| n.slot), Some(NameSlot::Description));
        assert_eq!(description_of(&f), Evidence::Absent);
    }

    #[test]
    fn a_changing_value_is_never_identity() {
        // Qt gives a combo box's current text as its name.
        let combo = facts(Role::ComboBox, |f| {
            f.names.native_title = known("Large");
            f.value = known("Large");
            f.names.description = known("Font size");
        });
        assert_eq!(name_of(&combo).into_known().map(|n| n.text).as_deref(), Some("Large"));
        assert_eq!(stable_name(&combo), known("Font size"));
        let field = facts(Role::TextField, |f| {
            f.names.static_value = known("typed");
            f.value = known("typed");
        });
        assert_eq!(stable_name(&field), Evidence::Absent);
        let text = facts(Role::StaticText, |f| f.names.static_value = known("Total"));
        assert_eq!(stable_name(&text), known("Total"));
    }

    #[test]
    fn a_name_that_might_be_the_value_is_unknown() {
        let f = facts(Role::ComboBox, |f| {
            f.names.native_title = known("Large");
            f.value = late();
        });
        assert_eq!(stable_name(&f), Evidence::Unknown(Cause::Late));
        let labelled = facts(Role::ComboBox, |f| {
            f.names.labelled_by_text = known("Size");
            f.value = late();
        });
        assert_eq!(stable_name(&labelled), known("Size"));
        let roleless = facts(Role::Button, |f| {
            f.role = Evidence::Unknown(Cause::Late);
            f.names.native_title = known("Large");
        });
        assert_eq!(stable_name(&roleless), Evidence::Unknown(Cause::Late));
    }

    #[test]
    fn a_secure_fields_content_is_not_its_name() {
        let f = facts(Role::TextField, |f| {
            f.secure = true;
            f.names.static_value = known("hunter2");
            f.names.child_label = known("hunter2");
            f.names.placeholder = known("Password");
            f.value = known("hunter2");
        });
        assert_eq!(name_of(&f).into_known().map(|n| n.text).as_deref(), Some("Password"));
        assert_eq!(value_of(&f), Evidence::Absent);
    }

    fn slot() -> impl Strategy<Value = Evidence<String>> {
        prop_oneof![
            Just(Evidence::Absent),
            Just(late()),
            Just(known("")),
            Just(known(" \u{200b}")),
            "[a-c ]{0,3}".prop_map(Evidence::Known),
        ]
    }

    proptest! {
        #[test]
        fn names_follow_their_rank(slots in proptest::collection::vec(slot(), 7), value in slot(), role in 0..80usize) {
            let f = facts(Role::ALL[role], |f| {
                f.names.explicit_label = slots[0].clone();
                f.names.labelled_by_text = slots[1].clone();
                f.names.native_title = slots[2].clone();
                f.names.static_value = slots[3].clone();
                f.names.child_label = slots[4].clone();
                f.names.placeholder = slots[5].clone();
                f.names.description = slots[6].clone();
                f.value = value;
            });
            let first = slots.iter().position(|s| match s {
                Evidence::Known(t) => !is_blank(t),
                Evidence::Absent => false,
                Evidence::Unknown(_) => true,
            });
            match (name_of(&f), first) {
                (Evidence::Absent, None) => {}
                (Evidence::Known(n), Some(i)) => {
                    prop_assert_eq!(NameSlot::RANKED[i], n.slot);
                    prop_assert!(!is_blank(&n.text) && n.text.trim() == n.text);
                }
                (Evidence::Unknown(_), Some(i)) => prop_assert!(!slots[i].settled()),
                (got, want) => prop_assert!(false, "{:?} {:?}", got, want),
            }
            if !Role::ALL[role].mutable_value() {
                prop_assert_eq!(stable_name(&f), name_of(&f).map(|n| n.text));
            }
        }
    }
}
