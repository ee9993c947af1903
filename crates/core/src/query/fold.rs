//! How text is compared (spec 2 §2): without case, and for a substring without differences in white space.

use crate::tree::name::trimmed;

/// One character without case. Character by character, so that folding never depends on the neighbours; the final
/// sigma is a sigma.
fn lower(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Characters that nobody types when searching: zero-width, direction marks, soft hyphen, byte-order mark.
fn ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// For a substring: case folded, each run of white space one space, ends trimmed, ignorable characters dropped.
pub fn loose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars().filter(|c| !ignorable(*c)) {
        if c.is_whitespace() || c.is_control() || c == '\u{fffc}' {
            gap = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            out.push(' ');
        }
        out.extend(lower(c));
    }
    out
}

/// For equality: case folded and trimmed at the ends, nothing else.
pub fn strict(text: &str) -> String {
    trimmed(text).unwrap_or_default().chars().flat_map(lower).collect()
}

/// What a query's text is compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Contained, compared loosely.
    Contains(String),
    /// Equal but for case.
    Equals(String),
}

impl Pattern {
    /// The pattern for a query's text.
    pub fn new(text: &str, exact: bool) -> Self {
        if exact { Self::Equals(strict(text)) } else { Self::Contains(loose(text)) }
    }

    /// Whether an element's text matches.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Contains(p) => loose(text).contains(p.as_str()),
            Self::Equals(p) => strict(text) == *p,
        }
    }
}
