//! What changed between what a snapshot showed and what is shown now: a pure comparison by address. An address that says
//! something else now is a change, whether the element changed or a slot shows another row.

use crate::refs::baseline::{Baseline, Row, Said, Saying};
use crate::tree::present::Presented;
use crate::tree::raw::RawTree;
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};
use std::collections::{HashMap, HashSet};

/// One field that changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// Name, value or description, by the field's name: what was and what is.
    Text(&'static str, Option<Said>, Option<Said>),
    /// The role.
    Role(&'static str, &'static str),
    /// The states.
    States(StateSet, StateSet),
    /// The number of children.
    Count(Option<u64>, Option<u64>),
}

/// Something that was shown then and isn't now, with what it contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its row in the baseline.
    pub row: u32,
    /// How many elements below it went with it.
    pub below: usize,
}

/// What changed. Indices `at` are of the presentation, `row` of the baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// Shown now and not then: the outermost of each, in the tree's order.
    pub added: Vec<u32>,
    /// For each element shown now, whether it is among the added.
    pub fresh: Vec<bool>,
    /// Gone: the outermost of each.
    pub removed: Vec<Gone>,
    /// Not found in a read that is not complete: they may be there.
    pub unproven: Vec<Gone>,
    /// Still there, but not shown any more (scrolled away, folded, without anything to act on).
    pub hidden: Vec<Gone>,
    /// Elements that say something else, with what.
    pub changed: Vec<(u32, u32, Vec<Field>)>,
    /// How many elements came into view, and how many left it, without any other change: where a window is scrolled,
    /// that is most of them.
    pub scrolled: (usize, usize),
    /// Elements that stand elsewhere.
    pub moved: Vec<(u32, u32)>,
    /// Elements with a new address that say and stand the same as one that went.
    pub replaced: Vec<(u32, u32)>,
    /// Elements that are the same in all of this.
    pub unchanged: usize,
}

impl Delta {
    /// Whether nothing is to be told.
    pub fn is_empty(&self) -> bool {
        let lists = self.added.is_empty() && self.removed.is_empty() && self.unproven.is_empty();
        lists
            && self.hidden.is_empty()
            && self.changed.is_empty()
            && self.moved.is_empty()
            && self.replaced.is_empty()
            && self.scrolled == (0, 0)
    }
}

/// Compares. Whether the read is complete is the tree's own word.
pub fn compare(base: &Baseline, tree: &RawTree, presented: &Presented) -> Delta {
    let handle = |at: usize| &tree.node(presented.nodes[at].raw).handle;
    let row_of: HashMap<_, u32> = base.rows.iter().zip(0u32..).map(|(row, at)| (&row.handle, at)).collect();
    let mut then: Vec<Option<u32>> = (0..presented.nodes.len()).map(|at| row_of.get(handle(at)).copied()).collect();
    let sayings: Vec<Saying> =
        presented.nodes.iter().map(|n| Saying::of(&tree.node(n.raw).facts, n.children_count)).collect();
    let mut taken = vec![false; base.rows.len()];
    then.iter().flatten().for_each(|row| taken[*row as usize] = true);
    let replaced = replaced(base, presented, &sayings, &mut then, &mut taken);

    let mut out = Delta { fresh: then.iter().map(Option::is_none).collect(), ..Delta::default() };
    let moved = moved(base, presented, &then);
    for (at, row) in then.iter().enumerate() {
        let shown = &presented.nodes[at];
        let Some(row) = *row else {
            if !shown.parent.is_some_and(|p| out.fresh[p as usize]) {
                out.added.push(at as u32);
            }
            continue;
        };
        let mut fields = fields(&base.rows[row as usize].saying, &sayings[at]);
        let scrolled = match fields[..] {
            [Field::States(was, now)] => scrolled(was, now),
            _ => None,
        };
        if let Some(into) = scrolled {
            fields.clear();
            if into { out.scrolled.0 += 1 } else { out.scrolled.1 += 1 }
        }
        let (moves, anew) = (moved.contains(&(at as u32)), replaced.contains(&(at as u32)));
        out.unchanged += usize::from(fields.is_empty() && !moves && !anew && scrolled.is_none());
        if !fields.is_empty() {
            out.changed.push((at as u32, row, fields));
        }
        if moves {
            out.moved.push((at as u32, row));
        }
        if anew {
            out.replaced.push((at as u32, row));
        }
    }
    lost(base, tree, &taken, &mut out);
    out
}

/// Pairs elements that went with new ones in their place: below the same parent, with the same role and texts, and the
/// only one of these on either side. Toolkits make some elements anew with each read.
fn replaced(
    base: &Baseline,
    presented: &Presented,
    sayings: &[Saying],
    then: &mut [Option<u32>],
    taken: &mut [bool],
) -> HashSet<u32> {
    let mut lost: HashMap<u32, Vec<u32>> = HashMap::new();
    for (row, at) in base.rows.iter().zip(0u32..).filter(|(_, at)| !taken[*at as usize]) {
        lost.entry(row.parent.unwrap_or(at)).or_default().push(at);
    }
    let mut pairs = HashSet::new();
    let alike = |a: &Saying, b: &Saying| {
        let told = |s: &Saying| Said::told(s.name.as_ref()) && Said::told(s.description.as_ref());
        a.role == b.role && a.name == b.name && a.description == b.description && told(a)
    };
    for at in 0..presented.nodes.len() {
        let Some(parent) = presented.nodes[at].parent.filter(|_| then[at].is_none()) else { continue };
        let Some(gone) = then[parent as usize].and_then(|row| lost.get(&row)) else { continue };
        let is = |row: &&u32| alike(&base.rows[**row as usize].saying, &sayings[at]);
        let mut same = gone.iter().filter(|row| !taken[**row as usize]).filter(is);
        let (Some(row), None) = (same.next(), same.next()) else { continue };
        let siblings = &presented.nodes[parent as usize].children;
        let twins = siblings.iter().filter(|s| then[**s as usize].is_none());
        if twins.filter(|s| alike(&sayings[**s as usize], &sayings[at])).count() == 1 {
            then[at] = Some(*row);
            taken[*row as usize] = true;
            pairs.insert(at as u32);
        }
    }
    pairs
}

/// What went, by what is known of it.
fn lost(base: &Baseline, tree: &RawTree, taken: &[bool], out: &mut Delta) {
    let there: HashMap<_, u32> = tree.nodes.iter().zip(0u32..).map(|(n, at)| (&n.handle, at)).collect();
    let complete = tree.complete();
    #[derive(Clone, Copy, PartialEq)]
    enum Fate {
        Kept,
        Removed,
        Unproven,
        Hidden,
    }
    let mut fates: Vec<Fate> = Vec::with_capacity(base.rows.len());
    for (row, at) in base.rows.iter().zip(0usize..) {
        // Of a virtual container only what is on the screen is read: who isn't listed is not gone.
        let out_of_view = || {
            let parent = row.parent.and_then(|p| there.get(&base.rows[p as usize].handle));
            parent.is_some_and(|p| tree.node(*p).cut == Some(crate::tree::raw::Cut::Virtual))
        };
        let is_there = |p: u32| there.contains_key(&base.rows[p as usize].handle);
        fates.push(match taken[at] {
            true => Fate::Kept,
            false if there.contains_key(&row.handle) || out_of_view() => Fate::Hidden,
            // Below one that isn't listed, nothing is.
            false if row.parent.is_some_and(|p| fates[p as usize] == Fate::Hidden && !is_there(p)) => Fate::Hidden,
            false if complete => Fate::Removed,
            false => Fate::Unproven,
        });
    }
    // From the end, each knows how many went below it.
    let mut below = vec![0usize; base.rows.len()];
    let mut gone = Vec::new();
    for (at, row) in base.rows.iter().enumerate().rev() {
        match row.parent.map(|p| p as usize).filter(|p| fates[*p] == fates[at]) {
            _ if fates[at] == Fate::Kept => {}
            Some(parent) => below[parent] += below[at] + 1,
            None => gone.push((fates[at], Gone { row: at as u32, below: below[at] })),
        }
    }
    for (fate, gone) in gone.into_iter().rev() {
        match fate {
            Fate::Kept => {}
            Fate::Removed => out.removed.push(gone),
            Fate::Unproven => out.unproven.push(gone),
            Fate::Hidden => out.hidden.push(gone),
        }
    }
}

/// Elements below another parent, or in another order among those that stayed.
fn moved(base: &Baseline, presented: &Presented, then: &[Option<u32>]) -> HashSet<u32> {
    let mut out = HashSet::new();
    let parent_row = |row: u32| base.rows[row as usize].parent;
    for (at, shown) in presented.nodes.iter().enumerate() {
        let (Some(row), Some(parent)) = (then[at], shown.parent) else { continue };
        // An element whose parent went, or is new, is shown below another one.
        if parent_row(row).is_none() || parent_row(row) != then[parent as usize] {
            out.insert(at as u32);
        }
    }
    for shown in &presented.nodes {
        let stayed: Vec<(u32, u32)> =
            shown.children.iter().filter(|c| !out.contains(c)).filter_map(|c| Some((*c, then[*c as usize]?))).collect();
        let rows: Vec<u32> = stayed.iter().map(|(_, row)| *row).collect();
        let steady = longest_rise(&rows);
        out.extend(stayed.iter().enumerate().filter(|(i, _)| !steady.contains(i)).map(|(_, (at, _))| *at));
    }
    out
}

/// Positions of a longest rising subsequence: those that need not have moved.
fn longest_rise(rows: &[u32]) -> HashSet<usize> {
    // For each length, the position of the smallest last row of a rise of that length; and each one's predecessor.
    let mut last: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let length = last.partition_point(|l| rows[*l] < *row);
        before.push(length.checked_sub(1).map(|l| last[l]));
        match last.get_mut(length) {
            Some(slot) => *slot = i,
            None => last.push(i),
        }
    }
    std::iter::successors(last.last().copied(), |i| before[*i]).collect()
}

/// What differs in what an element says. What could not be read, then or now, differs from nothing.
fn fields(was: &Saying, now: &Saying) -> Vec<Field> {
    let mut out = Vec::new();
    if was.role != now.role && ![was.role, now.role].contains(&Role::Unknown) {
        out.push(Field::Role(was.role.token(), now.role.token()));
    }
    // A field that became secure, or no longer is one, tells nothing of its value.
    let open = !was.secure && !now.secure;
    for (field, w, n, told) in [
        ("name", &was.name, &now.name, true),
        ("value", &was.value, &now.value, open),
        ("description", &was.description, &now.description, true),
    ] {
        if told && Said::differ(w.as_ref(), n.as_ref()) {
            out.push(Field::Text(field, w.clone(), n.clone()));
        }
    }
    if let (Some(w), Some(n)) = (was.states, now.states) {
        let told = |mut set: StateSet| {
            was.untold.iter().chain(now.untold.iter()).for_each(|state| set.remove(state));
            set
        };
        let (w, n) = (told(w), told(n));
        if w != n {
            out.push(Field::States(w, n));
        }
    }
    if was.children_count != now.children_count && was.children_count.is_some() && now.children_count.is_some() {
        out.push(Field::Count(was.children_count, now.children_count));
    }
    out
}

/// Whether only `offscreen` came or went, and whether it went.
fn scrolled(was: StateSet, now: StateSet) -> Option<bool> {
    let without = |mut set: StateSet| {
        set.remove(State::Offscreen);
        set
    };
    (without(was) == without(now)).then(|| was.has(State::Offscreen))
}

/// The row of what an element was shown under, where the baseline has one.
pub fn parent_of(base: &Baseline, row: u32) -> Option<&Row> {
    base.rows.get(base.rows.get(row as usize)?.parent? as usize)
}

#[cfg(test)]
#[path = "delta_tests.rs"]
mod tests;
