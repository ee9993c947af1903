//! What changed, as printed: `snapshot --since`, and `observed_changes` of actions.
//!
//! ```text
//! changes since sOLD | snapshot sNEW | app "gedit" | window "Notes" | id "w-1.11" | 12 refs | 40 unchanged | complete
//! ~ checkbox "Wrap" @sNEW:e4 states: [] -> [checked]
//! ~ textfield "Body" @sNEW:e1 value: "first" -> "first\nsecond"
//! + in group "Files" @sNEW:e6
//!   option "notes.txt" {Click} @sNEW:e7
//! - option "old.txt" @sOLD:e9 and 2 below
//! ```
//! `~` changed, `+` added, `-` removed, `?` not found in an incomplete read, `.` no longer shown, `>` moved, `=` replaced.

use super::delta::{Delta, Field, Gone, compare, parent_of};
use super::snapshot::Kept;
use crate::refs::baseline::{Baseline, Row, Said};
use crate::refs::entry::RefMap;
use crate::tree::json::{numbers, qualified, subtrees};
use crate::tree::name::{name_of, shown_role};
use crate::tree::text::{push_line, quoted};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A comparison with all that it takes to print it.
pub(crate) struct Changes<'a> {
    base: &'a Baseline,
    /// The refs of then, where they are saved: those that a drill replaced since are not named.
    old: Option<&'a RefMap>,
    now: &'a Kept,
    delta: Delta,
    numbers: Vec<Option<u32>>,
}

impl<'a> Changes<'a> {
    /// Compares. Shown in another view, what isn't shown any more says nothing of the window: it is left out.
    pub fn new(base: &'a Baseline, old: Option<&'a RefMap>, now: &'a Kept, same_view: bool) -> Self {
        let mut delta = compare(base, &now.tree, &now.presented);
        if !same_view {
            delta.hidden.clear();
        }
        Self { base, old, now, delta, numbers: numbers(&now.presented, &now.numbered) }
    }

    /// Whether everything was read, then and now: only then is what isn't told no change.
    pub fn complete(&self) -> bool {
        self.base.complete && self.now.tree.complete() && self.now.presented.complete
    }

    fn new_ref(&self, at: u32) -> Option<String> {
        self.numbers[at as usize].map(|n| qualified(&self.now.map.snapshot_id, n))
    }

    fn old_ref(&self, row: &Row) -> Option<String> {
        let old = self.old?;
        row.number.filter(|n| old.entries.contains_key(n)).map(|n| qualified(&old.snapshot_id, n))
    }

    /// An element of now in short.
    fn brief(&self, at: u32) -> Map<String, Value> {
        let facts = &self.now.tree.node(self.now.presented.nodes[at as usize].raw).facts;
        let mut out = Map::new();
        if let Some(id) = self.new_ref(at) {
            out.insert("ref".into(), id.into());
        }
        out.insert("role".into(), shown_role(facts).token().into());
        if let Some(name) = name_of(facts).into_known() {
            out.insert("name".into(), name.text.into());
        }
        out
    }

    fn brief_then(&self, row: &Row) -> Map<String, Value> {
        let mut out = Map::new();
        if let Some(id) = self.old_ref(row) {
            out.insert("ref".into(), id.into());
        }
        out.insert("role".into(), row.saying.role.token().into());
        if let Some(name) = Said::shown(row.saying.name.as_ref()) {
            out.insert("name".into(), name.into());
        }
        out
    }

    /// Where an element stands: what is shown around it, from the nearest that has a ref or a name.
    fn place(&self, at: u32) -> Option<u32> {
        let up = |at: u32| self.now.presented.nodes[at as usize].parent;
        let named = |at: &u32| {
            let facts = &self.now.tree.node(self.now.presented.nodes[*at as usize].raw).facts;
            self.numbers[*at as usize].is_some() || name_of(facts).known().is_some()
        };
        let parent = up(at)?;
        std::iter::successors(Some(parent), |at| up(*at)).find(named).or(Some(parent))
    }

    fn gone(&self, gone: &[Gone]) -> Vec<Value> {
        let one = |g: &Gone| {
            let row = &self.base.rows[g.row as usize];
            let mut out = self.brief_then(row);
            if g.below > 0 {
                out.insert("descendants".into(), g.below.into());
            }
            if let Some(parent) = parent_of(self.base, g.row) {
                out.insert("parent".into(), Value::Object(self.brief_then(parent)));
            }
            Value::Object(out)
        };
        gone.iter().map(one).collect()
    }

    fn fields(fields: &[Field]) -> (Map<String, Value>, Map<String, Value>) {
        let (mut was, mut now) = (Map::new(), Map::new());
        let text = |said: &Option<Said>| match said {
            // Null would say that there was none.
            Some(Said::Withheld(_)) => json!({"withheld": true}),
            said => Said::shown(said.as_ref()).map_or(Value::Null, Value::String),
        };
        for field in fields {
            let (key, w, n) = match field {
                // A text that is long then or now is told by its beginning; what is now can be read whole with 'get'.
                Field::Text(key, w, n) => (*key, text(w), text(n)),
                Field::Role(w, n) => ("role", json!(w), json!(n)),
                Field::States(w, n) => ("states", json!(w), json!(n)),
                Field::Count(w, n) => ("children_count", json!(w), json!(n)),
            };
            was.insert(key.into(), w);
            now.insert(key.into(), n);
        }
        (was, now)
    }

    /// The lists and counts.
    pub fn insert_into(&self, out: &mut Map<String, Value>) {
        let d = &self.delta;
        let fresh = |at: usize| d.fresh[at];
        let now = self.now;
        let mut trees = subtrees(&now.tree, &now.presented, &now.numbered, &now.map.snapshot_id, &fresh);
        let added = d.added.iter().filter_map(|at| {
            let mut node = trees.remove(at)?;
            if let (Some(place), Some(map)) = (self.place(*at), node.as_object_mut()) {
                map.insert("parent".into(), Value::Object(self.brief(place)));
            }
            Some(node)
        });
        out.insert("added".into(), added.collect());
        out.insert("removed".into(), self.gone(&d.removed).into());
        let changed = d.changed.iter().map(|(at, _, fields)| {
            let mut node = self.brief(*at);
            let (was, now) = Self::fields(fields);
            node.insert("was".into(), Value::Object(was));
            node.insert("now".into(), Value::Object(now));
            Value::Object(node)
        });
        out.insert("changed".into(), changed.collect());
        if !d.moved.is_empty() {
            let moved = d.moved.iter().map(|(at, _)| {
                let mut node = self.brief(*at);
                if let Some(place) = self.place(*at) {
                    node.insert("parent".into(), Value::Object(self.brief(place)));
                }
                Value::Object(node)
            });
            out.insert("moved".into(), moved.collect());
        }
        let replaced: Vec<Value> = d.replaced.iter().filter_map(|(at, row)| self.replaced(*at, *row)).collect();
        if !d.replaced.is_empty() {
            out.insert("replaced_count".into(), d.replaced.len().into());
        }
        if !replaced.is_empty() {
            out.insert("replaced".into(), replaced.into());
        }
        for (key, list) in [("removed_unproven", &d.unproven), ("no_longer_shown", &d.hidden)] {
            if !list.is_empty() {
                out.insert(key.into(), self.gone(list).into());
            }
        }
        if d.scrolled != (0, 0) {
            out.insert("scrolled".into(), json!({"into_view": d.scrolled.0, "out_of_view": d.scrolled.1}));
        }
        out.insert("unchanged_count".into(), d.unchanged.into());
        out.insert("complete".into(), self.complete().into());
    }

    /// A replaced element whose old ref is of no use any more.
    fn replaced(&self, at: u32, row: u32) -> Option<Value> {
        let was = self.old_ref(&self.base.rows[row as usize])?;
        let mut node = self.brief(at);
        node.insert("was_ref".into(), was.into());
        Some(Value::Object(node))
    }

    /// The lines of the text format, without the header.
    pub fn lines(&self, out: &mut String) {
        let d = &self.delta;
        for (at, _, fields) in &d.changed {
            let _ = write!(out, "~ {}", short(&self.brief(*at)));
            let (was, now) = Self::fields(fields);
            for (at, (key, w)) in was.iter().enumerate() {
                let n = now.get(key).unwrap_or(&Value::Null);
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(out, "{comma} {key}: {} -> {}", plain(w), plain(n));
            }
            out.push('\n');
        }
        for at in &d.added {
            match self.place(*at) {
                Some(place) => _ = writeln!(out, "+ in {}", short(&self.brief(place))),
                None => out.push_str("+\n"),
            }
            self.added_lines(*at, out);
        }
        for (mark, list) in [('-', &d.removed), ('?', &d.unproven), ('.', &d.hidden)] {
            for gone in list {
                let _ = write!(out, "{mark} {}", short(&self.brief_then(&self.base.rows[gone.row as usize])));
                if gone.below > 0 {
                    let _ = write!(out, " and {} below", gone.below);
                }
                out.push('\n');
            }
        }
        for (at, _) in &d.moved {
            let _ = write!(out, "> {}", short(&self.brief(*at)));
            if let Some(place) = self.place(*at) {
                let _ = write!(out, " in {}", short(&self.brief(place)));
            }
            out.push('\n');
        }
        for (at, row) in &d.replaced {
            if let Some(was) = self.old_ref(&self.base.rows[*row as usize]) {
                let _ = writeln!(out, "= {} was {was}", short(&self.brief(*at)));
            }
        }
    }

    fn added_lines(&self, top: u32, out: &mut String) {
        let nodes = &self.now.presented.nodes;
        let mut open = vec![top];
        while let Some(at) = open.pop() {
            let shown = &nodes[at as usize];
            let level = shown.level.saturating_sub(nodes[top as usize].level) + 1;
            out.extend(std::iter::repeat_n("  ", level as usize));
            push_line(out, &self.now.tree.node(shown.raw).facts, shown, self.now.presented.bounds);
            if let Some(id) = self.new_ref(at) {
                let _ = write!(out, " {id}");
            }
            out.push('\n');
            open.extend(shown.children.iter().rev().filter(|c| self.delta.fresh[**c as usize]));
        }
    }

    /// How many are unchanged.
    pub fn unchanged(&self) -> usize {
        self.delta.unchanged
    }

    /// How many came into view and how many left it.
    pub fn scrolled(&self) -> (usize, usize) {
        self.delta.scrolled
    }
}

/// `role "name" @ref`.
fn short(brief: &Map<String, Value>) -> String {
    let mut out = brief.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(name) = brief.get("name").and_then(Value::as_str) {
        let _ = write!(out, " {}", quoted(name));
    }
    if let Some(id) = brief.get("ref").and_then(Value::as_str) {
        let _ = write!(out, " {id}");
    }
    out
}

/// A field's value in a line: texts between quotes, lists of our own tokens between brackets.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(list) => {
            let tokens: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            format!("[{}]", tokens.join(","))
        }
        Value::Null => "none".to_owned(),
        Value::Object(_) => "(not kept)".to_owned(),
        other => other.to_string(),
    }
}
