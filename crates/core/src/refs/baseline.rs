//! What a snapshot showed, kept beside its refs so that `snapshot --since` can say what changed: for each element its
//! address, its place, its ref, and its texts and states. Texts that are long are kept as their beginning and a digest, of
//! a value only a digest is written, and of a secure field not even that.

use crate::evidence::Evidence;
use crate::tree::name::{description_of, name_of, shown_role, value_of};
use crate::tree::present::{Options, Presented, states_of};
use crate::tree::raw::{Facts, Handle, RawTree};
use crate::vocab::role::Role;
use crate::vocab::state::StateSet;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Format of the saved file; another one is a foreign file.
pub const FORMAT: u32 = 1;

/// Bytes of one baseline at most: a larger one is not written, and `--since` says that there is none.
pub const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Texts of more bytes are kept as their beginning and a digest.
const LONG: usize = 200;

/// Characters of that beginning.
const START: usize = 60;

/// One text as it was; none where the element had none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Said {
    /// The text.
    Text(String),
    /// Its beginning, the digest of all of it, and its length in bytes.
    Long(String, u64, u64),
    /// It could not be read; always true (a file has no unit that is told from nothing).
    Unread(bool),
    /// Its digest alone: what a value was is not kept on disk, only whether it still is.
    Withheld(u64),
}

impl Said {
    /// What is kept of a text.
    pub fn of(text: Evidence<&str>) -> Option<Self> {
        match text {
            Evidence::Known(text) if text.len() > LONG => {
                Some(Self::Long(text.chars().take(START).collect(), exact_digest(text), text.len() as u64))
            }
            Evidence::Known(text) => Some(Self::Text(text.to_owned())),
            Evidence::Absent => None,
            Evidence::Unknown(_) => Some(Self::Unread(true)),
        }
    }

    /// Whether it is known: what could not be read equals and differs from nothing.
    pub fn told(said: Option<&Self>) -> bool {
        !matches!(said, Some(Self::Unread(_)))
    }

    /// Whether both are known and differ.
    pub fn differ(was: Option<&Self>, now: Option<&Self>) -> bool {
        let known = Self::told(was) && Self::told(now);
        let (Some(was), Some(now)) = (was, now) else { return known && was != now };
        match (was.digest(), now.digest()) {
            (Some(a), Some(b)) if matches!(was, Self::Withheld(_)) || matches!(now, Self::Withheld(_)) => a != b,
            _ => known && was != now,
        }
    }

    fn digest(&self) -> Option<u64> {
        match self {
            Self::Text(text) => Some(exact_digest(text)),
            Self::Long(_, digest, _) | Self::Withheld(digest) => Some(*digest),
            Self::Unread(_) => None,
        }
    }

    /// The same without the text.
    fn withheld(self) -> Self {
        self.digest().map_or(self, Self::Withheld)
    }

    /// The text as an answer shows it: of a long one its beginning and an ellipsis.
    pub fn shown(said: Option<&Self>) -> Option<String> {
        match said? {
            Self::Text(text) => Some(text.clone()),
            Self::Long(start, ..) => Some(format!("{start}…")),
            Self::Unread(_) | Self::Withheld(_) => None,
        }
    }
}

/// FNV-1a over all bytes: white space counts here.
fn exact_digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// What an element says: the part of it that a comparison looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saying {
    /// The role as shown.
    #[serde(rename = "o")]
    pub role: Role,
    /// The name.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Said>,
    /// The value.
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Said>,
    /// The description.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Said>,
    /// The states; none where they could not be read.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub states: Option<StateSet>,
    /// States of which nothing was told: their absence is no "no".
    #[serde(rename = "u", default, skip_serializing_if = "none_of_them")]
    pub untold: StateSet,
    /// How many children there were, where not all were shown.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub children_count: Option<u64>,
    /// Whether it was a secure field.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub secure: bool,
}

fn none_of_them(states: &StateSet) -> bool {
    states.is_empty()
}

impl Saying {
    /// What an element says now. The value of a secure field is left out, whatever was read of it.
    pub fn of(facts: &Facts, children_count: Option<u64>) -> Self {
        let name = name_of(facts).map(|n| n.text);
        let description = description_of(facts);
        fn text(e: &Evidence<String>) -> Evidence<&str> {
            e.as_ref().map(String::as_str)
        }
        Self {
            role: shown_role(facts),
            name: Said::of(text(&name)),
            value: if facts.secure { None } else { Said::of(value_of(facts)) },
            description: Said::of(text(&description)),
            states: states_of(facts).into_known(),
            untold: facts.untold,
            children_count,
            secure: facts.secure,
        }
    }
}

/// One element that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its address.
    #[serde(rename = "h")]
    pub handle: Handle,
    /// The row of what it was shown under; none for the root.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The number of its ref, where it had one.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// What it said.
    #[serde(rename = "e")]
    pub saying: Saying,
}

/// What a snapshot showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Format of the file.
    pub format: u32,
    /// How it was shown. A token budget is left out: what it folds did not change.
    pub options: Options,
    /// Whether everything was read.
    pub complete: bool,
    /// The elements in pre-order, the root first.
    pub rows: Vec<Row>,
}

impl Baseline {
    /// What this presentation shows. Numbers are pairs of number and raw node.
    pub fn of(tree: &RawTree, presented: &Presented, numbered: &[(u32, u32)], options: &Options) -> Self {
        let numbers: HashMap<u32, u32> = numbered.iter().map(|(number, raw)| (*raw, *number)).collect();
        let row = |shown: &crate::tree::present::Shown| {
            let node = tree.node(shown.raw);
            Row {
                handle: node.handle.clone(),
                parent: shown.parent,
                number: numbers.get(&shown.raw).copied(),
                saying: Saying::of(&node.facts, shown.children_count),
            }
        };
        Self {
            format: FORMAT,
            options: Options { budget_tokens: None, ..options.clone() },
            complete: tree.complete() && presented.complete,
            rows: presented.nodes.iter().map(row).collect(),
        }
    }

    /// As it is written: of values only whether they are still the same. What somebody typed into a field stands on no
    /// disk because we looked at the window.
    pub fn for_disk(mut self) -> Self {
        for row in &mut self.rows {
            row.saying.value = row.saying.value.take().map(Said::withheld);
        }
        self
    }

    /// Whether every index of the file points into it and parents stand first: a file that does not is torn.
    pub fn sound(&self) -> bool {
        self.format == FORMAT
            && !self.rows.is_empty()
            && self.rows.iter().zip(0u32..).all(|(row, at)| row.parent.map_or(at == 0, |p| p < at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::node;
    use crate::tree::present::present;

    #[test]
    fn a_baseline_survives_the_file() {
        let tree = node(Role::Window).name("W").child(node(Role::Button).name("Save")).build();
        let options = Options::default();
        let shown = present(&tree, &options);
        let base = Baseline::of(&tree, &shown, &[(1, 1)], &options);
        assert!(base.sound());
        let text = serde_json::to_string(&base).unwrap();
        assert_eq!(serde_json::from_str::<Baseline>(&text).unwrap(), base);
    }

    #[test]
    fn long_texts_are_a_beginning_and_a_digest() {
        let long = "ä".repeat(300);
        let Some(Said::Long(start, digest, bytes)) = Said::of(Evidence::Known(&long)) else { panic!() };
        assert_eq!((start.chars().count(), bytes), (START, 600));
        // White space counts.
        let other = format!("{} ", &long[..598]);
        assert_ne!(exact_digest(&other), digest);
        let kept = Said::of(Evidence::Known(&long));
        let back: Option<Said> = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
        assert_eq!(back, kept);
    }

    #[test]
    fn what_was_not_read_differs_from_nothing() {
        let unread = Some(Said::Unread(true));
        assert!(!Said::differ(unread.as_ref(), Some(&Said::Text("a".into()))));
        assert!(Said::differ(None, Some(&Said::Text("a".into()))));
    }

    #[test]
    fn a_value_is_written_as_a_digest_alone() {
        let of = |value: &str| {
            Saying::of(&Facts { value: Evidence::Known(value.to_owned()), ..Facts::default() }, None).value
        };
        let options = Options::default();
        let tree = node(Role::Window).child(node(Role::TextField).value("hunter2")).build();
        let base = Baseline::of(&tree, &present(&tree, &options), &[], &options).for_disk();
        let text = serde_json::to_string(&base).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        let was = serde_json::from_str::<Baseline>(&text).unwrap().rows[1].saying.value.clone();
        assert!(!Said::differ(was.as_ref(), of("hunter2").as_ref()));
        assert!(Said::differ(was.as_ref(), of("hunter3").as_ref()) && Said::differ(was.as_ref(), None));
        let long = "x".repeat(500);
        let kept = of(&long).map(Said::withheld);
        assert!(!Said::differ(kept.as_ref(), of(&long).as_ref()));
        assert!(!Said::differ(kept.as_ref(), Some(&Said::Unread(true))));
    }

    #[test]
    fn a_secure_value_is_not_kept() {
        let facts = Facts { secure: true, value: Evidence::Known("hunter2".into()), ..Facts::default() };
        let text = serde_json::to_string(&Saying::of(&facts, None)).unwrap();
        assert!(!text.contains("hunter2") && !text.contains("\"v\""), "{text}");
    }
}
