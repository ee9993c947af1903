//! Selectors of `--wait-for` and `--wait-for-gone`: `role:text`, `role` or `:text` (spec 2 "Global flags").

use super::ask::{Ask, Query};
use crate::error::{Error, Result};

/// Parses a selector into the query that find would run: split at the first `:`, the text over name, value and
/// description, as a substring.
pub fn parse(selector: &str) -> Result<Query> {
    let (role, text) = selector.split_once(':').unwrap_or((selector, ""));
    let some = |s| if str::trim(s).is_empty() { None } else { Some(s) };
    let ask = Ask { role: some(role), text: some(text), ..Ask::default() };
    if ask.role.is_none() && ask.text.is_none() {
        return Err(Error::invalid("the selector is empty").suggest("Write role:text, role or :text."));
    }
    ask.query().map_err(|e| {
        if ask.role.is_some() && ask.text.is_none() {
            // The most likely slip: text without its colon.
            return e.suggest("A selector is role:text; text alone takes a colon in front, e.g. :Saved.");
        }
        e
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::query::fold::Pattern;
    use crate::vocab::role::Role;
    use proptest::prelude::*;

    #[test]
    fn a_selector_splits_at_the_first_colon() {
        let q = parse("button:Sub: mit").expect("valid");
        assert_eq!(q.role, Some(Role::Button));
        assert_eq!(q.text, Some(Pattern::Contains("sub: mit".into())));
        assert_eq!(parse("TextBox").expect("valid").role, Some(Role::TextField));
        let q = parse(":Saved!").expect("valid");
        assert_eq!((q.role, q.text), (None, Some(Pattern::Contains("saved!".into()))));
        assert_eq!(parse("button:").expect("valid").text, None);
    }

    #[test]
    fn what_is_not_a_selector_is_refused() {
        for bad in ["", ":", " : ", "Saved", "Saved at 10:30", ":\u{200b}"] {
            assert_eq!(parse(bad).expect_err(bad).code(), Code::InvalidArgs);
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in "\\PC{0,80}") {
            if let Ok(q) = parse(&text) {
                prop_assert!(q.role.is_some() || q.text.is_some());
            }
        }
    }
}
