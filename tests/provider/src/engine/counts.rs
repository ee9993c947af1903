//! How often each member was called, in all and on each node.

use crate::call::Call;
use crate::tree::{Idx, Tree};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The counts.
#[derive(Debug, Default)]
pub struct Counts {
    keys: HashMap<String, u32>,
    totals: Vec<u64>,
    by_node: HashMap<(Idx, u32), u64>,
    /// Members of calls to objects that don't exist.
    missing: u64,
}

impl Counts {
    /// Counts a call, under its own member and, for a property, under the property too.
    pub fn add(&mut self, call: &Call, node: Option<Idx>) {
        self.add_key(format!("{}.{}", call.interface, call.member), node);
        if let Some((interface, name)) = &call.property {
            self.add_key(format!("{interface}.{name}"), node);
        }
        if node.is_none() {
            self.missing += 1;
        }
    }

    fn add_key(&mut self, key: String, node: Option<Idx>) {
        let next = self.totals.len() as u32;
        let number = *self.keys.entry(key).or_insert(next);
        if number == next {
            self.totals.push(0);
        }
        self.totals[number as usize] += 1;
        if let Some(node) = node {
            *self.by_node.entry((node, number)).or_insert(0) += 1;
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// As JSON: totals, and those of one node or of all.
    pub fn report(&self, tree: &Tree, node: Option<Idx>, all_nodes: bool) -> Value {
        let mut names: Vec<(&String, u32)> = self.keys.iter().map(|(k, n)| (k, *n)).collect();
        names.sort();
        let totals: Map<String, Value> =
            names.iter().map(|(key, number)| ((*key).clone(), json!(self.totals[*number as usize]))).collect();
        let mut report = json!({"ok": true, "counts": totals, "without_node": self.missing});
        let one = |idx: Idx| -> Map<String, Value> {
            names
                .iter()
                .filter_map(|(key, number)| {
                    let count = self.by_node.get(&(idx, *number))?;
                    Some(((*key).clone(), json!(count)))
                })
                .collect()
        };
        if let Some(idx) = node {
            report["node"] = Value::Object(one(idx));
        }
        if all_nodes {
            let mut touched: Vec<Idx> = self.by_node.keys().map(|(idx, _)| *idx).collect();
            touched.sort_unstable();
            touched.dedup();
            let nodes: Map<String, Value> =
                touched.into_iter().map(|idx| (tree.node(idx).id.clone(), Value::Object(one(idx)))).collect();
            report["nodes"] = Value::Object(nodes);
        }
        report
    }
}
