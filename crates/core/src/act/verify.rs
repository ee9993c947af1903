//! What happened, not what was returned: an action's own post-condition, read back (decisions D5). Pure over facts.

use crate::evidence::Evidence;
use crate::platform::Action;
use crate::tree::raw::Facts;
use crate::vocab::role::Role;
use crate::vocab::state::State;

/// Whether a post-condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It was read back.
    Yes,
    /// It was read and is not so.
    No,
    /// It can't be read, or the action has none.
    Unread,
    /// It must not be read: a secure field.
    Secure,
}

/// Whether the action has a post-condition that can be read on the element.
pub fn has_postcondition(action: &Action) -> bool {
    !matches!(
        action,
        Action::Click | Action::DoubleClick | Action::TripleClick | Action::RightClick | Action::Scroll { .. }
    )
}

/// Whether a contradicting post-condition makes the action fail (spec 1 §7 "Post-action verification").
pub fn fails_by_contradiction(action: &Action) -> bool {
    has_postcondition(action) && *action != Action::ScrollTo
}

/// Whether nothing needs to be sent, since what is asked is so already.
pub fn already_satisfied(action: &Action, facts: &Facts) -> bool {
    matches!(action, Action::Check | Action::Uncheck | Action::Expand | Action::Collapse | Action::Focus)
        && holds(action, facts, facts, &Evidence::Absent) == Holds::Yes
}

/// Whether the action's post-condition holds after it. `selected` are the display texts of what is selected now.
pub fn holds(action: &Action, before: &Facts, after: &Facts, selected: &Evidence<Vec<String>>) -> Holds {
    let state = |s: State, wanted: bool| match &after.states {
        Evidence::Known(set) if set.has(s) == wanted => Holds::Yes,
        Evidence::Known(_) => Holds::No,
        _ => Holds::Unread,
    };
    match action {
        Action::SetValue(_) | Action::Type(_) | Action::Clear if before.secure || after.secure => Holds::Secure,
        Action::SetValue(wanted) => value_is(after, wanted),
        Action::Clear => value_is(after, ""),
        Action::Type(text) => typed(before, after, text),
        Action::Check => checked(after, true),
        Action::Uncheck => checked(after, false),
        Action::Toggle => match (is_checked(before), is_checked(after)) {
            (Some(was), Some(now)) if was != now => Holds::Yes,
            (Some(_), Some(_)) => Holds::No,
            _ => Holds::Unread,
        },
        Action::Expand => state(State::Expanded, true),
        Action::Collapse => state(State::Expanded, false),
        Action::Focus => state(State::Focused, true),
        Action::Select(wanted) => match selected {
            Evidence::Known(texts) if texts.iter().any(|t| same_text(t, wanted)) => Holds::Yes,
            Evidence::Known(texts) if texts.iter().any(|t| shows(t, wanted)) => Holds::Unread,
            Evidence::Known(_) => Holds::No,
            Evidence::Absent | Evidence::Unknown(_) => match value_is(after, wanted) {
                Holds::Yes => Holds::Yes,
                _ => Holds::Unread,
            },
        },
        Action::ScrollTo => match state(State::Offscreen, false) {
            Holds::No => Holds::Unread,
            other => other,
        },
        Action::Click | Action::DoubleClick | Action::TripleClick | Action::RightClick | Action::Scroll { .. } => {
            Holds::Unread
        }
    }
}

fn is_checked(facts: &Facts) -> Option<bool> {
    let states = facts.states.known()?;
    // Indeterminate is neither: what a toggle made of it can't be compared.
    (!states.has(State::Indeterminate)).then(|| states.has(State::Checked))
}

fn checked(facts: &Facts, wanted: bool) -> Holds {
    match is_checked(facts) {
        Some(now) if now == wanted => Holds::Yes,
        Some(_) => Holds::No,
        None => Holds::Unread,
    }
}

/// Display texts are compared with white space normalised; nothing else is forgiven.
pub fn same_text(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Whether what is shown differs from the option by case alone: some combo boxes show the option's id (seen in a GTK 3
/// preferences dialog). That is no contradiction, and no proof: another option may be spelled so.
fn shows(shown: &str, wanted: &str) -> bool {
    same_text(&shown.to_lowercase(), &wanted.to_lowercase())
}

/// The number that a numeric control shows, its unit left out: "900 px".
fn number_in(shown: &str) -> Option<f64> {
    let text = shown.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    let unit = text[end..].trim_start();
    // A unit stands behind the number; digits further on would be another number.
    (!unit.contains(|c: char| c.is_ascii_digit())).then(|| text[..end].parse().ok()).flatten()
}

fn numeric(facts: &Facts) -> bool {
    matches!(
        facts.role,
        Evidence::Known(Role::Slider | Role::Incrementor | Role::ScrollBar | Role::LevelIndicator | Role::Splitter)
    )
}

fn value_is(facts: &Facts, wanted: &str) -> Holds {
    let now = match &facts.value {
        Evidence::Known(now) => now.as_str(),
        Evidence::Absent => "",
        Evidence::Unknown(_) => return Holds::Unread,
    };
    let equal = now == wanted
        || (numeric(facts)
            && match (number_in(now), wanted.trim().parse::<f64>().ok()) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
                _ => false,
            });
    if equal { Holds::Yes } else { Holds::No }
}

/// Text was inserted at the caret or over a selection: the value now is a part of the old one, the text, and a
/// later part of the old one.
fn typed(before: &Facts, after: &Facts, text: &str) -> Holds {
    let read = |f: &Facts| match &f.value {
        Evidence::Known(v) => Some(v.clone()),
        Evidence::Absent => Some(String::new()),
        Evidence::Unknown(_) => None,
    };
    let (Some(was), Some(now)) = (read(before), read(after)) else { return Holds::Unread };
    if text.is_empty() {
        return if was == now { Holds::Yes } else { Holds::Unread };
    }
    let fits = now.match_indices(text).any(|(at, _)| {
        let (head, tail) = (&now[..at], &now[at + text.len()..]);
        was.starts_with(head) && was.ends_with(tail) && head.len() + tail.len() <= was.len()
    });
    // The same text typed over itself leaves no trace: it proves nothing either way.
    match fits {
        true if was != now => Holds::Yes,
        true => Holds::Unread,
        // It is there, and something else changed as well: another caller, or the application. Neither yes nor no.
        false if now.matches(text).count() > was.matches(text).count() => Holds::Unread,
        false => Holds::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::node;

    fn field(value: &str) -> Facts {
        node(Role::TextField).value(value).build().nodes.remove(0).facts
    }

    #[test]
    fn typed_text_must_fit_between_parts_of_the_old_value() {
        let none = Evidence::Absent;
        let t = |was: &str, now: &str, text: &str| holds(&Action::Type(text.into()), &field(was), &field(now), &none);
        assert_eq!(t("ab", "aXb", "X"), Holds::Yes);
        assert_eq!(t("abc", "aXc", "X"), Holds::Yes);
        assert_eq!(t("ab", "ab", "X"), Holds::No);
        assert_eq!(t("ab", "zz", "X"), Holds::No);
        // Another caller typed before this was read back.
        assert_eq!(t("ab", "aXYb", "X"), Holds::Unread);
        assert_eq!(t("X", "X", "X"), Holds::Unread);
    }

    #[test]
    fn numbers_compare_as_numbers_in_numeric_controls_only() {
        let slider = node(Role::Slider).value("20.0").build().nodes.remove(0).facts;
        let none = Evidence::Absent;
        assert_eq!(holds(&Action::SetValue("20".into()), &slider, &slider, &none), Holds::Yes);
        let pixels = node(Role::Incrementor).value("900 px").build().nodes.remove(0).facts;
        assert_eq!(holds(&Action::SetValue("900".into()), &pixels, &pixels, &none), Holds::Yes);
        assert_eq!(holds(&Action::SetValue("700".into()), &pixels, &pixels, &none), Holds::No);
        let odd = node(Role::Incrementor).value("9 of 12").build().nodes.remove(0).facts;
        assert_eq!(holds(&Action::SetValue("9".into()), &odd, &odd, &none), Holds::No);
        assert_eq!(holds(&Action::SetValue("20".into()), &field("20.0"), &field("20.0"), &none), Holds::No);
    }

    #[test]
    fn an_option_that_differs_by_case_alone_is_neither_proof_nor_contradiction() {
        let combo = node(Role::ComboBox).build().nodes.remove(0).facts;
        let chosen = |t: &str| {
            let now = Evidence::Known(vec![t.to_owned()]);
            holds(&Action::Select("Kate".into()), &combo, &combo, &now)
        };
        assert_eq!([chosen("Kate"), chosen("kate"), chosen("Solar")], [Holds::Yes, Holds::Unread, Holds::No]);
    }

    #[test]
    fn a_failed_read_is_neither_yes_nor_no() {
        let unread = node(Role::CheckBox).states_unknown().build().nodes.remove(0).facts;
        let none = Evidence::Absent;
        assert_eq!(holds(&Action::Check, &unread, &unread, &none), Holds::Unread);
        assert!(!already_satisfied(&Action::Uncheck, &unread));
    }

    #[test]
    fn secure_fields_are_never_compared() {
        let secure = node(Role::TextField).secure().build().nodes.remove(0).facts;
        assert_eq!(holds(&Action::SetValue("x".into()), &secure, &secure, &Evidence::Absent), Holds::Secure);
    }
}
