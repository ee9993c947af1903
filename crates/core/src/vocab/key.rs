//! Keys and combinations by name (spec 2 §23, spec 6 "punctuation by symbol or name").

use crate::error::{Error, Result, echo};
use serde::{Deserialize, Serialize};

/// A modifier key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Modifier {
    Shift,
    Meta,
    Ctrl,
    Alt,
}

impl Modifier {
    /// The modifier with this name or alias, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "shift" => Modifier::Shift,
            "meta" | "cmd" | "command" | "super" | "win" => Modifier::Meta,
            "ctrl" | "control" => Modifier::Ctrl,
            "alt" | "option" => Modifier::Alt,
            _ => return None,
        })
    }

    /// The name that answers print.
    pub fn name(self) -> &'static str {
        match self {
            Modifier::Shift => "shift",
            Modifier::Meta => "meta",
            Modifier::Ctrl => "ctrl",
            Modifier::Alt => "alt",
        }
    }
}

/// A key that is no modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Key {
    Return,
    Escape,
    Tab,
    Space,
    /// Deletes before the caret. The contract's `delete` is this key.
    Backspace,
    /// Deletes after the caret.
    ForwardDelete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    /// Opens the context menu.
    Menu,
    PrintScreen,
    /// `f1` to `f12`.
    Function(u8),
    /// The key that gives this character on the active layout.
    Character(char),
}

/// Names and aliases; the first name of a key is the one that answers print.
const NAMES: &[(&str, Key)] = &[
    ("return", Key::Return),
    ("enter", Key::Return),
    ("escape", Key::Escape),
    ("esc", Key::Escape),
    ("tab", Key::Tab),
    ("space", Key::Space),
    ("backspace", Key::Backspace),
    ("delete", Key::Backspace),
    ("forwarddelete", Key::ForwardDelete),
    ("del", Key::ForwardDelete),
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("home", Key::Home),
    ("end", Key::End),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("pgup", Key::PageUp),
    ("pgdn", Key::PageDown),
    ("arrowleft", Key::Left),
    ("arrowright", Key::Right),
    ("arrowup", Key::Up),
    ("arrowdown", Key::Down),
    ("print", Key::PrintScreen),
    ("insert", Key::Insert),
    ("menu", Key::Menu),
    ("printscreen", Key::PrintScreen),
    ("sysrq", Key::PrintScreen),
    ("comma", Key::Character(',')),
    ("period", Key::Character('.')),
    ("slash", Key::Character('/')),
    ("semicolon", Key::Character(';')),
    ("quote", Key::Character('\'')),
    ("leftbracket", Key::Character('[')),
    ("rightbracket", Key::Character(']')),
    ("backslash", Key::Character('\\')),
    ("minus", Key::Character('-')),
    ("equal", Key::Character('=')),
    ("grave", Key::Character('`')),
    ("plus", Key::Character('+')),
];

impl Key {
    /// The key with this name, alias, or the one character. Letters are the keys, whatever their case.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut characters = name.chars();
        if let (Some(one), None) = (characters.next(), characters.next()) {
            return (!one.is_control() && one != ' ').then(|| Key::Character(lower(one)));
        }
        let plain: String = name.to_ascii_lowercase().chars().filter(|c| !matches!(c, '_' | '-')).collect();
        if let Some(number) = plain.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()) {
            return (1..=12).contains(&number).then_some(Key::Function(number));
        }
        NAMES.iter().find(|(known, _)| *known == plain).map(|(_, key)| *key)
    }

    /// The name that answers print.
    pub fn name(self) -> String {
        match self {
            Key::Function(n) => format!("f{n}"),
            Key::Character(c) => c.to_string(),
            other => {
                NAMES.iter().find(|(_, key)| *key == other).map(|(name, _)| (*name).to_owned()).unwrap_or_default()
            }
        }
    }
}

fn lower(c: char) -> char {
    let mut low = c.to_lowercase();
    match (low.next(), low.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// A combination: modifiers, and the key that is struck while they are down. For held keys a modifier alone is
/// valid (decisions D3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combo {
    /// Modifiers in the order given, each once.
    pub modifiers: Vec<Modifier>,
    /// The key.
    pub key: Option<Key>,
}

impl Combo {
    /// Parses `mod+mod+key`; `+` itself is `plus`, or the last character after another `+` (`ctrl++`).
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::invalid(format!("{} is no key combination: {why}", echo(text)))
                .kind("invalid_combo")
                .suggest(
                    "Write modifiers (ctrl, shift, alt, meta) and one key with '+' between, like ctrl+s: a character, return, \
                     escape, tab, space, backspace (also: delete), forwarddelete, left, right, up, down, home, end, pageup, \
                     pagedown, insert, menu, printscreen, f1 to f12.",
                )
        };
        let trimmed = text.trim();
        let mut parts: Vec<&str> = match trimmed {
            "+" => vec!["plus"],
            _ => match trimmed.strip_suffix("++") {
                Some(before) => before.split('+').chain(["plus"]).collect(),
                None => trimmed.split('+').collect(),
            },
        };
        let Some(last) = parts.pop() else { return Err(wrong("it is empty")) };
        let mut modifiers = Vec::new();
        for part in parts {
            let modifier = Modifier::from_name(part)
                .ok_or_else(|| wrong("what stands before the last '+' must be ctrl, shift, alt or meta"))?;
            if modifiers.contains(&modifier) {
                return Err(wrong("a modifier is given twice"));
            }
            modifiers.push(modifier);
        }
        let last = last.trim();
        if let Some(modifier) = Modifier::from_name(last) {
            if modifiers.contains(&modifier) {
                return Err(wrong("a modifier is given twice"));
            }
            modifiers.push(modifier);
            return Ok(Self { modifiers, key: None });
        }
        let mut key = Key::from_name(last).ok_or_else(|| wrong("there is no such key"))?;
        let mut characters = last.chars();
        if let (Key::Character(_), true, Some(one), None) =
            (key, modifiers.is_empty(), characters.next(), characters.next())
        {
            // Alone, a capital is itself; in a combination it names the key, as in "ctrl+S".
            key = Key::Character(one);
        }
        Ok(Self { modifiers, key: Some(key) })
    }

    /// Whether it is exactly this set of modifiers with this key.
    pub fn is(&self, modifiers: &[Modifier], key: Key) -> bool {
        self.key == Some(key)
            && self.modifiers.len() == modifiers.len()
            && modifiers.iter().all(|m| self.modifiers.contains(m))
    }

    /// The combination as answers print it: `ctrl+shift+s`.
    pub fn name(&self) -> String {
        let parts = self.modifiers.iter().map(|m| m.name().to_owned()).chain(self.key.map(Key::name));
        parts.collect::<Vec<_>>().join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations() {
        let c = Combo::parse("Ctrl+Shift+S").unwrap();
        assert_eq!(
            (c.modifiers.as_slice(), c.key),
            (&[Modifier::Ctrl, Modifier::Shift][..], Some(Key::Character('s')))
        );
        assert_eq!(c.name(), "ctrl+shift+s");
        assert_eq!(Combo::parse("cmd+option").unwrap().key, None);
        assert_eq!(Combo::parse("ctrl++").unwrap().key, Some(Key::Character('+')));
        assert_eq!(Combo::parse("+").unwrap().key, Some(Key::Character('+')));
        assert_eq!(Combo::parse("F12").unwrap().key, Some(Key::Function(12)));
        assert_eq!(Combo::parse("page_up").unwrap().key, Some(Key::PageUp));
        assert_eq!(Combo::parse("delete").unwrap().key, Some(Key::Backspace));
        assert_eq!(Combo::parse("ä").unwrap().key, Some(Key::Character('ä')));
        assert_eq!(Combo::parse("A").unwrap().key, Some(Key::Character('A')));
        assert_eq!(Combo::parse("ctrl+A").unwrap().key, Some(Key::Character('a')));
        for bad in ["", "ctrl+ctrl+a", "a+b", "ctrl+", "f13", "nokey", "shift+nokey", "control+ctrl"] {
            assert!(Combo::parse(bad).is_err(), "{bad}");
        }
    }
}
