//! How a session's cursor is to look: kept in its manifest.

use crate::command::session::CursorOverlay;
use crate::platform::CursorLook;
use crate::refs::entry::digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Words of the label, where the caller gives no number (spec 2 §55).
const MAX_WORDS: u8 = 6;
/// Characters of a label at most: one word may be long.
const MAX_CHARS: usize = 60;
const RIM: &str = "#111318";
const ACCENT: &str = "#4299FF";

/// Fills for those who name none, told apart side by side and on light and dark.
const FILLS: [[u8; 3]; 8] = [
    [0x42, 0x99, 0xff],
    [0xff, 0x7a, 0x45],
    [0x35, 0xc7, 0x59],
    [0xd1, 0x5c, 0xff],
    [0xff, 0xc5, 0x2e],
    [0x22, 0xc9, 0xc9],
    [0xff, 0x5c, 0x8d],
    [0xa3, 0xd6, 0x3b],
];

/// The settings, as `session.json` has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// One cursor for each agent of the session.
    pub multi_agent: bool,
    /// Text beside the cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Words of it that are shown.
    pub max_words: u8,
    /// Colour of the cursor; none: one of ours, by session and agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<String>,
    /// Colour of its rim.
    pub rim: String,
    /// Colour of effects.
    pub accent: String,
    /// Its size.
    pub size: f64,
    /// Whether clicks ripple.
    pub ripple: bool,
    /// Whether targets are outlined.
    pub highlight: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            multi_agent: false,
            label: None,
            max_words: MAX_WORDS,
            fill: None,
            rim: RIM.into(),
            accent: ACCENT.into(),
            size: 1.0,
            ripple: true,
            highlight: true,
        }
    }
}

impl Settings {
    /// The settings in a manifest. What is no settings counts as none, with a warning.
    pub fn of(cursor: &Value) -> Option<Self> {
        serde_json::from_value(cursor.clone())
            .inspect_err(|error| tracing::warn!(%error, "the session's cursor can't be read: none is shown"))
            .ok()
    }

    /// What `cursor-overlay enable` asks for.
    pub fn asked(args: &CursorOverlay) -> Self {
        let usual = Self::default();
        Self {
            multi_agent: args.multi_agent,
            label: args.label.clone(),
            max_words: args.max_words.unwrap_or(usual.max_words),
            fill: args.fill.clone(),
            rim: args.rim.clone().unwrap_or(usual.rim),
            accent: args.accent.clone().unwrap_or(usual.accent),
            size: args.size.unwrap_or(usual.size),
            ripple: !args.no_ripple,
            highlight: !args.no_highlight,
        }
    }

    /// The look of an agent's cursor.
    pub(super) fn look(&self, session: &str, agent: Option<&str>) -> CursorLook {
        let own = FILLS[digest(agent.unwrap_or(session)) as usize % FILLS.len()];
        // A file that somebody wrote by hand may hold anything.
        let colour = |text: &str, usual| colour(text).unwrap_or(usual);
        CursorLook {
            label: self.label.as_deref().or(agent).map(|text| words(text, self.max_words)).filter(|t| !t.is_empty()),
            fill: self.fill.as_deref().map_or(own, |text| colour(text, own)),
            rim: colour(&self.rim, [0x11, 0x13, 0x18]),
            accent: colour(&self.accent, [0x42, 0x99, 0xff]),
            size: if self.size.is_finite() { self.size.clamp(0.5, 4.0) } else { 1.0 },
        }
    }
}

/// `#RRGGBB`.
fn colour(text: &str) -> Option<[u8; 3]> {
    let hex = text.strip_prefix('#').filter(|h| h.len() == 6 && h.is_ascii())?;
    let at = |from: usize| u8::from_str_radix(&hex[from..from + 2], 16).ok();
    Some([at(0)?, at(2)?, at(4)?])
}

/// The first words of a text, on one line and without signs that nobody sees.
fn words(text: &str, most: u8) -> String {
    let plain: String = text.chars().map(|c| if unseen(c) { ' ' } else { c }).collect();
    let all: Vec<&str> = plain.split_whitespace().collect();
    let mut out = all.iter().take(usize::from(most)).copied().collect::<Vec<_>>().join(" ");
    let long = out.chars().count() > MAX_CHARS;
    if long {
        out = out.chars().take(MAX_CHARS).collect();
    }
    if long || all.len() > usize::from(most) {
        out.push('…');
    }
    out
}

fn unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut_by_words() {
        assert_eq!(words("a b c", 3), "a b c");
        assert_eq!(words(" one\ntwo\u{202e}  three ", 2), "one two…");
        assert_eq!(words(&"x".repeat(100), 1).chars().count(), MAX_CHARS + 1);
        assert_eq!(words("\u{200b}\n", 3), "");
    }

    #[test]
    fn what_a_manifest_says_is_never_trusted() {
        let look = |text: &str| {
            let settings = Settings::of(&serde_json::from_str(text).unwrap());
            settings.map(|s| s.look("s", Some("agent-1")))
        };
        let usual = look("{}").unwrap();
        assert_eq!((usual.label.as_deref(), usual.rim, usual.size), (Some("agent-1"), [0x11, 0x13, 0x18], 1.0));
        let odd = look(r##"{"fill": "#ff", "rim": "é23456", "size": 1e300, "later": 1}"##).unwrap();
        assert_eq!((odd.fill, odd.rim, odd.size), (usual.fill, usual.rim, 4.0));
        assert_eq!(look(r##"{"fill": "#0a0B0c"}"##).unwrap().fill, [10, 11, 12]);
        assert!(look(r#"{"size": "large"}"#).is_none());
    }
}
