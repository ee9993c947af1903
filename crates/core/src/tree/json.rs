//! A presented tree as the contract's JSON (spec 2 §1, spec 3 "Omission rules"). Two fields are ours: `unread` lists what
//! is missing because it could not be read, so that a failed read is never taken for "has none"; `folded` says that `-i`
//! left out what isn't on the screen.

use super::name::{description_of, name_of, shown_role, value_of};
use super::present::{Earns, Presented, Shown, capabilities_of, native_id_of, states_of, unread};
use super::raw::{Facts, RawTree};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Roles that are named where a budget left elements out.
const FOLDED_ROLES: usize = 3;

/// A ref as printed: qualified by its snapshot (spec 2 "Common pieces").
pub fn qualified(snapshot_id: &str, number: u32) -> String {
    format!("@{snapshot_id}:e{number}")
}

/// The hint of an element, where it has one.
pub(super) fn hint_text(shown: &Shown) -> Option<String> {
    shown.hint.map(|(i, n)| format!("column {i} of {n}"))
}

/// For each shown element the number of its ref, where it has one. `refs` may lack elements whose entry was refused.
pub(crate) fn numbers(presented: &Presented, refs: &[(u32, u32)]) -> Vec<Option<u32>> {
    let by_raw: HashMap<u32, u32> = refs.iter().map(|(number, raw)| (*raw, *number)).collect();
    presented.nodes.iter().map(|n| by_raw.get(&n.raw).copied()).collect()
}

/// Bounds as printed; none where the source gave no finite numbers.
pub fn bounds_json(facts: &Facts) -> Option<Value> {
    let r = facts.bounds.known()?;
    [r.x, r.y, r.width, r.height].iter().all(|v| v.is_finite()).then(|| json!(r))
}

/// `cut` of a snapshot's answer: how many elements were shown without all their children though nothing is missing that
/// was asked for. None where all is shown.
pub fn cut_json(presented: &Presented) -> Option<Value> {
    let mut out = Map::new();
    for (key, n) in [("by_depth", presented.clamped), ("folded", presented.closed), ("by_budget", presented.folded)] {
        if n > 0 {
            out.insert(key.into(), n.into());
        }
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// The `tree` of a snapshot's answer. Refs are pairs of number and index in the raw tree, as from
/// [`super::present::allocate_refs`]. Null for an empty tree.
pub fn to_json(tree: &RawTree, presented: &Presented, refs: &[(u32, u32)], snapshot_id: &str) -> Value {
    subtrees(tree, presented, refs, snapshot_id, &|_| true).remove(&0).unwrap_or(Value::Null)
}

/// The same for a part of what is shown: the outermost of the wanted elements by their index, each with those of its
/// children that are wanted too.
pub fn subtrees(
    tree: &RawTree,
    presented: &Presented,
    refs: &[(u32, u32)],
    snapshot_id: &str,
    wanted: &dyn Fn(usize) -> bool,
) -> HashMap<u32, Value> {
    let numbers = numbers(presented, refs);
    let mut done: HashMap<u32, Value> = HashMap::new();
    // Children stand after their parents: from the end, each finds its children finished.
    for at in (0..presented.nodes.len()).rev().filter(|at| wanted(*at)) {
        let shown = &presented.nodes[at];
        let mut out = Map::new();
        if let Some(number) = numbers[at] {
            out.insert("ref_id".into(), qualified(snapshot_id, number).into());
        }
        element(&mut out, &tree.node(shown.raw).facts, shown, presented.bounds);
        let children: Vec<Value> = shown.children.iter().filter_map(|c| done.remove(c)).collect();
        if !children.is_empty() {
            out.insert("children".into(), Value::Array(children));
        }
        done.insert(at as u32, Value::Object(out));
    }
    done
}

/// All fields but the ref and the children.
pub(crate) fn element(out: &mut Map<String, Value>, facts: &Facts, shown: &Shown, bounds: bool) {
    out.insert("role".into(), shown_role(facts).token().into());
    if let Some(name) = name_of(facts).into_known() {
        out.insert("name".into(), name.text.into());
    }
    if let Some(value) = value_of(facts).into_known() {
        out.insert("value".into(), value.into());
    }
    if let Some(description) = description_of(facts).into_known() {
        out.insert("description".into(), description.into());
    }
    if let Some(id) = native_id_of(facts).into_known() {
        out.insert("native_id".into(), json!(id));
    }
    if let Some(hint) = hint_text(shown) {
        out.insert("hint".into(), hint.into());
    }
    if let Some(states) = states_of(facts).into_known().filter(|s| !s.is_empty()) {
        out.insert("states".into(), json!(states));
    }
    let unread = unread(facts);
    if !unread.is_empty() {
        out.insert("unread".into(), json!(unread));
    }
    let actions = capabilities_of(facts);
    if !actions.is_empty() && shown.earns != Earns::Anchor {
        out.insert("available_actions".into(), json!(actions));
    }
    if let Some(b) = bounds.then(|| bounds_json(facts)).flatten() {
        out.insert("bounds".into(), b);
    }
    if let Some(count) = shown.children_count {
        out.insert("children_count".into(), count.into());
    }
    if shown.subtree_truncated {
        out.insert("subtree_truncated".into(), true.into());
    }
    if shown.closed {
        out.insert("folded".into(), true.into());
    } else if !shown.folded.is_empty() {
        let (count, by_role) = folded_roles(shown);
        let roles: Map<String, Value> = by_role.into_iter().map(|(role, n)| (role.to_owned(), n.into())).collect();
        out.insert("folded".into(), json!({"count": count, "by_role": roles}));
    }
}

/// How many elements a budget left out below this one, and the commonest of their roles; the rest is summed up.
pub(super) fn folded_roles(shown: &Shown) -> (usize, Vec<(&'static str, usize)>) {
    let mut roles: Vec<(&'static str, usize)> = shown.folded.iter().map(|(role, n)| (*role, *n)).collect();
    roles.sort_by_key(|(role, n)| (std::cmp::Reverse(*n), *role));
    let rest: usize = roles.iter().skip(FOLDED_ROLES).map(|(_, n)| n).sum();
    roles.truncate(FOLDED_ROLES);
    if rest > 0 {
        roles.push(("other", rest));
    }
    (shown.folded.values().sum(), roles)
}
