//! The answer of `find` (spec 2 §2, spec 3 "Find results"): which matches are given, and how they look.

use super::ask::Query;
use super::matcher::Found;
use crate::evidence::Evidence;
use crate::tree::json::{bounds_json, qualified};
use crate::tree::name::{description_of, name_of, shown_role, value_of};
use crate::tree::present::{capabilities_of, earns_ref, native_id_of, states_of, unread};
use crate::tree::raw::RawTree;
use crate::tree::text::{RefStyle, push_actions, push_element, push_more, push_ref, push_states, quoted};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Matches listed where the caller gives no `--limit`.
pub const DEFAULT_LIMIT: usize = 50;

/// Ancestors in a path at most: the contract's raw depth.
const MAX_PATH: usize = 50;

/// Which matches are given. The modes exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// `--limit N`: the first N; 0 means all.
    List {
        /// Matches at most.
        limit: usize,
    },
    /// `--first`.
    First,
    /// `--last`.
    Last,
    /// `--nth N`, counted from 0.
    Nth(usize),
    /// `--count`: the number only.
    Count,
}

impl Default for Selection {
    fn default() -> Self {
        Self::List { limit: DEFAULT_LIMIT }
    }
}

impl Selection {
    /// Whether the answer to this selection is right although something could not be read: only where nothing unread
    /// can change it.
    pub fn certain(self, found: &Found) -> bool {
        match self {
            Self::First => found.certain(0) || found.complete(),
            Self::Nth(n) => found.certain(n) || found.complete(),
            Self::List { .. } | Self::Last | Self::Count => found.complete(),
        }
    }

    /// The matches that are given.
    pub fn pick(self, found: &Found) -> &[u32] {
        let all = found.matches.as_slice();
        let one = |at: Option<usize>| at.and_then(|i| all.get(i..=i)).unwrap_or_default();
        match self {
            Self::List { limit: 0 } => all,
            Self::List { limit } => &all[..all.len().min(limit)],
            Self::First => one(Some(0).filter(|_| !all.is_empty())),
            Self::Last => one(all.len().checked_sub(1)),
            Self::Nth(n) => one(Some(n).filter(|n| *n < all.len())),
            Self::Count => &[],
        }
    }
}

/// The way to a match, outermost first, without the match itself: `role:name` as in a selector, or `role`.
fn path(tree: &RawTree, at: u32) -> Vec<String> {
    let mut steps: Vec<String> = tree
        .ancestors_or_self(at)
        .skip(1)
        .take(MAX_PATH)
        .map(|i| {
            let facts = &tree.node(i).facts;
            match name_of(facts).into_known() {
                Some(name) => format!("{}:{}", shown_role(facts), name.text),
                None => shown_role(facts).token().to_owned(),
            }
        })
        .collect();
    steps.reverse();
    steps
}

/// One match. `name` is always there, empty where the element has none; `unread` lists what could not be read. A match
/// with a ref never carries bounds.
pub fn match_json(tree: &RawTree, at: u32, number: Option<u32>, snapshot_id: &str) -> Value {
    let facts = &tree.node(at).facts;
    let mut out = Map::new();
    if let Some(number) = number {
        out.insert("ref_id".into(), qualified(snapshot_id, number).into());
    }
    out.insert("role".into(), shown_role(facts).token().into());
    out.insert("name".into(), name_of(facts).into_known().map(|n| n.text).unwrap_or_default().into());
    if let Evidence::Known(value) = value_of(facts) {
        out.insert("value".into(), value.into());
    }
    if let Some(description) = description_of(facts).into_known() {
        out.insert("description".into(), description.into());
    }
    if let Some(id) = native_id_of(facts).into_known() {
        out.insert("native_id".into(), json!(id));
    }
    if let Some(states) = states_of(facts).into_known().filter(|s| !s.is_empty()) {
        out.insert("states".into(), json!(states));
    }
    let unread = unread(facts);
    if !unread.is_empty() {
        out.insert("unread".into(), json!(unread));
    }
    let actions = capabilities_of(facts);
    if !actions.is_empty() && number.is_some() {
        out.insert("available_actions".into(), json!(actions));
    }
    out.insert("interactive".into(), earns_ref(facts).into());
    out.insert("path".into(), path(tree, at).into());
    if let Some(bounds) = bounds_json(facts).filter(|_| number.is_none()) {
        out.insert("bounds".into(), bounds);
    }
    Value::Object(out)
}

/// Characters of a text in short.
const BRIEF_CHARS: usize = 80;

/// An element in short: ref, role, name, value, states; texts are cut.
pub fn brief_json(tree: &RawTree, at: u32, number: Option<u32>, snapshot_id: &str) -> Value {
    let facts = &tree.node(at).facts;
    let brief = |text: &str| match text.char_indices().nth(BRIEF_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    let mut out = Map::new();
    if let Some(number) = number {
        out.insert("ref_id".into(), qualified(snapshot_id, number).into());
    }
    out.insert("role".into(), shown_role(facts).token().into());
    if let Some(name) = name_of(facts).into_known() {
        out.insert("name".into(), brief(&name.text).into());
    }
    if let Evidence::Known(value) = value_of(facts) {
        out.insert("value".into(), brief(value).into());
    }
    if let Some(states) = states_of(facts).into_known().filter(|s| !s.is_empty()) {
        out.insert("states".into(), json!(states));
    }
    Value::Object(out)
}

/// The data of the answer. `number` gives the ref of an element of the raw tree in the snapshot that find created.
pub fn to_json(
    tree: &RawTree,
    query: &Query,
    found: &Found,
    selection: Selection,
    number: &dyn Fn(u32) -> Option<u32>,
    snapshot_id: &str,
) -> Value {
    let picked = selection.pick(found);
    let shape = |at: &u32| match_json(tree, *at, number(*at), snapshot_id);
    let mut out = Map::new();
    match selection {
        Selection::Count => {
            out.insert("count".into(), found.matches.len().into());
            if found.untold > 0 {
                out.insert("untold".into(), found.untold.into());
            }
            return Value::Object(out);
        }
        Selection::List { .. } => {
            out.insert("matches".into(), picked.iter().map(shape).collect::<Vec<_>>().into());
            out.insert("total_matches".into(), found.matches.len().into());
            out.insert("truncated".into(), (picked.len() < found.matches.len()).into());
        }
        Selection::First | Selection::Last | Selection::Nth(_) => {
            out.insert("match".into(), picked.first().map_or(Value::Null, shape));
        }
    }
    if query.role.is_some() && found.matches.is_empty() {
        out.insert("roles_present".into(), json!(found.roles_present));
    }
    if found.untold > 0 {
        out.insert("untold".into(), found.untold.into());
    }
    out.insert("snapshot_id".into(), snapshot_id.into());
    Value::Object(out)
}

/// The answer as text: a header line, then one match a line with its path, the ref last (decisions D6).
pub fn to_text(
    tree: &RawTree,
    query: &Query,
    found: &Found,
    selection: Selection,
    number: &dyn Fn(u32) -> Option<u32>,
    snapshot_id: &str,
    style: RefStyle,
) -> String {
    let total = found.matches.len();
    if selection == Selection::Count {
        let untold = if found.untold > 0 { format!(" | {} untold", found.untold) } else { String::new() };
        return format!("count {total}{untold}\n");
    }
    let picked = selection.pick(found);
    let mut out = format!("snapshot {snapshot_id} | {} of {total} matches", picked.len());
    if found.untold > 0 {
        let _ = write!(out, " | {} untold", found.untold);
    }
    if style == RefStyle::Local {
        let _ = write!(out, " | refs as @{snapshot_id}:eN");
    }
    if query.role.is_some() && found.matches.is_empty() {
        let roles: Vec<&str> = found.roles_present.iter().map(|r| r.token()).collect();
        let _ = write!(out, " | roles present: {}", roles.join(","));
    }
    out.push('\n');
    for at in picked {
        let facts = &tree.node(*at).facts;
        push_element(&mut out, facts);
        push_more(&mut out, facts);
        push_states(&mut out, facts);
        push_actions(&mut out, facts);
        let steps: Vec<String> = path(tree, *at).iter().map(|s| quoted(s)).collect();
        if !steps.is_empty() {
            let _ = write!(out, " in {}", steps.join(" > "));
        }
        if let Some(number) = number(*at) {
            push_ref(&mut out, number, snapshot_id, style);
        }
        out.push('\n');
    }
    out
}
