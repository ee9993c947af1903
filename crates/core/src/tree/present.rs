//! What of a tree is shown: a pure function of the raw tree and the caller's options (spec 1 §2, decisions D6).
//!
//! Five passes over arenas, each linear and none recursive: walk down to the wanted depth and, with `-i`, to what isn't
//! on the screen ([`closed`]), drop what `-i` drops, splice what `--compact` splices, fold what the token budget leaves
//! no room for, lay out. Numbering follows the layout.

use super::budget;
use super::closed::Closed;
use super::name::{description_of, is_blank, name_of, shown_role, stable_name, value_of};
use super::raw::{Cut, Facts, Grade, RawNode, RawTree};
use crate::evidence::{Cause, Evidence};
use crate::vocab::capability::{Capability, CapabilitySet};
use crate::vocab::native_id::{NativeId, NativeIdKind};
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `--max-depth` where the caller gives none (spec 1 §2).
pub const DEFAULT_MAX_DEPTH: u32 = 10;

/// What `--skeleton` clamps the depth to (spec 1 §2).
pub const SKELETON_DEPTH: u32 = 3;

/// Levels shown at most, whatever the options: the contract's absolute raw depth. Also what keeps the answer within the
/// nesting that common JSON parsers accept.
pub const MAX_RAW_DEPTH: u32 = 50;

/// How a tree is to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Logical depth below the root; wrappers of web content spend none.
    pub max_depth: u32,
    /// Whether wrappers of any toolkit that `--compact` may splice spend none either.
    pub free_wrappers: bool,
    /// Clamp to [`SKELETON_DEPTH`].
    pub skeleton: bool,
    /// `-i`: drop leaves that nobody could act on, fold what isn't on the screen.
    pub interactive_only: bool,
    /// Splice out anonymous groups with one child.
    pub compact: bool,
    /// Show bounds where they are known.
    pub include_bounds: bool,
    /// `--budget-tokens`: fold what doesn't fit, named and interactive elements last.
    pub budget_tokens: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_depth: DEFAULT_MAX_DEPTH,
            free_wrappers: false,
            skeleton: false,
            interactive_only: false,
            compact: false,
            include_bounds: false,
            budget_tokens: None,
        }
    }
}

/// Column and number of columns, for a child of a splitter.
pub type Hint = Option<(u32, u32)>;

/// Why a shown element gets a ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earns {
    /// It gets none: context only.
    Nothing,
    /// It can be acted on.
    Action,
    /// It only leads into a branch that was cut or folded; its actions are shown empty.
    Anchor,
}

/// One shown element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Index in the raw tree.
    pub raw: u32,
    /// Index of the parent in [`Presented::nodes`]; none for the root.
    pub parent: Option<u32>,
    /// Indices of the children in [`Presented::nodes`].
    pub children: Vec<u32>,
    /// Levels below the root, as shown.
    pub level: u32,
    /// "column i of n" for the children of a splitter.
    pub hint: Hint,
    /// How many children there are, where not all of them are shown and the number is known.
    pub children_count: Option<u64>,
    /// Whether children are missing below this element.
    pub subtree_truncated: bool,
    /// Whether they are missing because nothing of them is on the screen.
    pub closed: bool,
    /// Whether it gets a ref.
    pub earns: Earns,
    /// What a token budget left out below it: how many elements of each role.
    pub folded: BTreeMap<&'static str, usize>,
}

/// What is shown, in pre-order, the root first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    /// The shown elements.
    pub nodes: Vec<Shown>,
    /// Whether everything that the options ask for could be read. What the caller left out by depth, `-i` or a token
    /// budget doesn't count; an element whose role or name could not be read does.
    pub complete: bool,
    /// Elements folded away by the token budget.
    pub folded: usize,
    /// Shown elements whose children the depth cut off.
    pub clamped: usize,
    /// Shown elements whose children were folded because nothing of them is on the screen, and single elements that were
    /// left out for the same reason.
    pub closed: usize,
    /// Whether bounds are shown.
    pub bounds: bool,
}

/// An element while passes run over it. Parents stand before their children.
pub(super) struct Work {
    pub(super) raw: u32,
    pub(super) parent: Option<u32>,
    pub(super) earns: Earns,
    pub(super) keep: bool,
    pub(super) splice: bool,
    depth: u32,
    raw_depth: u32,
    hint: Hint,
    children_count: Option<u64>,
    truncated: bool,
    clamped: bool,
    closed: bool,
    /// What it is could not be read: nobody can say that it is inert.
    unread: bool,
    /// Nearest element at or above this one that can lead into a cut branch.
    anchor: Option<u32>,
    kept_children: u32,
    folded: BTreeMap<&'static str, usize>,
}

/// What an element may be asked to do; empty where it isn't known.
pub fn capabilities_of(facts: &Facts) -> CapabilitySet {
    facts.capabilities.known().copied().unwrap_or_default()
}

/// States as they are shown: a secure field says so whatever the toolkit reports.
pub fn states_of(facts: &Facts) -> Evidence<StateSet> {
    let states = facts.states.clone();
    if facts.secure { states.map(|s| s.with(State::Secure)) } else { states }
}

/// The native id where it may serve: of a known kind and not blank (spec 1 §3).
pub fn native_id_of(facts: &Facts) -> Evidence<&NativeId> {
    match facts.native_id.as_ref() {
        Evidence::Known(id) if id.kind == NativeIdKind::Unknown || is_blank(&id.value) => Evidence::Absent,
        other => other,
    }
}

/// Whether an element can be acted on, so that it earns a ref: an interactive role, or any capability but `SetFocus`.
/// What isn't positively known earns nothing; role `unknown` is skipped (spec 1 §2 "Ref allocation").
pub fn earns_ref(facts: &Facts) -> bool {
    match facts.role {
        Evidence::Known(Role::Unknown) | Evidence::Absent | Evidence::Unknown(_) => false,
        Evidence::Known(role) => {
            let mut beyond_focus = capabilities_of(facts);
            beyond_focus.remove(Capability::SetFocus);
            role.interactive() || !beyond_focus.is_empty()
        }
    }
}

/// Whether an element may be a drill anchor: it can be found again by its text, its native id or an address that
/// follows it.
fn resolvable(facts: &Facts) -> bool {
    matches!(facts.role, Evidence::Known(role) if role != Role::Unknown)
        && (facts.grade == Grade::Follows
            || stable_name(facts).known().is_some()
            || native_id_of(facts).known().is_some())
}

/// Whether the element is transparent to logical depth: a wrapper of web content, by the adapter's word, which must also
/// be positively anonymous and offer nothing (spec 1 §2 "Web wrapper"); or, where the caller named no depth, any wrapper
/// that `--compact` may splice. Toolkits nest those a dozen levels deep, so that ten levels of everything may hold no
/// control at all.
fn transparent(tree: &RawTree, raw: u32, options: &Options) -> bool {
    let node = tree.node(raw);
    let facts = &node.facts;
    let web = facts.web_wrapper
        && name_of(facts) == Evidence::Absent
        && value_of(facts) == Evidence::Absent
        && native_id_of(facts) == Evidence::Absent
        && match &facts.capabilities {
            Evidence::Known(set) => set.is_empty(),
            // The plan reads no actions of elements that can't have any.
            Evidence::Absent | Evidence::Unknown(Cause::NotRead) => true,
            Evidence::Unknown(_) => false,
        };
    web || (options.free_wrappers
        && node.parent.is_some()
        && node.cut.is_none()
        && children(tree, raw).count() == 1
        && anonymous_group(facts))
}

/// Children that are really below this element. An arena that contradicts itself can't send a walk in circles.
pub(crate) fn children(tree: &RawTree, at: u32) -> impl DoubleEndedIterator<Item = u32> + '_ {
    tree.node(at)
        .children
        .iter()
        .copied()
        .filter(move |c| *c > at && tree.nodes.get(*c as usize).is_some_and(|n| n.parent == Some(at)))
}

/// How many children the application says there are, or were read.
fn count_of(node: &RawNode) -> Option<u64> {
    match (&node.child_count, &node.cut) {
        (Evidence::Known(n), _) => Some(*n),
        (_, None) => Some(node.children.len() as u64),
        // Some are missing, and nobody said how many.
        (_, Some(_)) => None,
    }
}

/// Fields of the answer that are missing because they could not be read, by their names there. Role, name and states
/// are read of every element; of the rest, what the plan left out is not missed.
pub fn unread(facts: &Facts) -> Vec<&'static str> {
    let failed = |cause: Option<&Cause>| cause.is_some_and(|c| *c != Cause::NotRead);
    [
        ("role", !facts.role.settled()),
        ("name", !name_of(facts).settled()),
        ("value", failed(value_of(facts).cause())),
        ("native_id", failed(facts.native_id.cause())),
        ("states", !facts.states.settled()),
        ("available_actions", failed(facts.capabilities.cause())),
    ]
    .into_iter()
    .filter_map(|(field, missing)| missing.then_some(field))
    .collect()
}

/// Shows a tree.
pub fn present(tree: &RawTree, options: &Options) -> Presented {
    let (mut work, mut complete, dropped) = walk(tree, options);
    if options.interactive_only {
        drop_inert(&mut work);
    }
    count_kept(&mut work);
    if options.compact || options.budget_tokens.is_some() {
        // What only groups costs a budget its place and says nothing: under one, however many it holds.
        let most = if options.budget_tokens.is_some() { u32::MAX } else { 1 };
        for w in &mut work {
            w.splice = w.keep && (1..=most).contains(&w.kept_children) && splices(tree, w, options);
        }
    }
    let folded = options.budget_tokens.map_or(0, |tokens| fold(tree, &mut work, tokens, options.include_bounds));
    complete &= tree.kind.is_none() && !work.is_empty();
    let shown = |w: &&Work| w.keep && !w.splice;
    let clamped = work.iter().filter(shown).filter(|w| w.clamped).count();
    let closed = work.iter().filter(shown).filter(|w| w.closed).count() + dropped;
    Presented { nodes: lay_out(&work), complete, folded, clamped, closed, bounds: options.include_bounds }
}

/// Walks down to the wanted depth and says for each element what is cut there; and how many `-i` left out because they
/// aren't shown.
fn walk(tree: &RawTree, options: &Options) -> (Vec<Work>, bool, usize) {
    let max_depth = if options.skeleton { options.max_depth.min(SKELETON_DEPTH) } else { options.max_depth };
    let mut work: Vec<Work> = Vec::new();
    let mut complete = true;
    let not_on_screen = options.interactive_only.then(|| Closed::of(tree));
    // Index in the raw tree, index of the parent in `work`, hint.
    let mut stack: Vec<(u32, Option<u32>, Hint)> = Vec::new();
    if !tree.nodes.is_empty() {
        stack.push((0, None, None));
    }
    let mut dropped = 0;
    while let Some((raw, parent, hint)) = stack.pop() {
        let node = tree.node(raw);
        let at = work.len() as u32;
        let (depth, raw_depth, above) = match parent.map(|p| &work[p as usize]) {
            None => (0, 0, None),
            Some(p) => (p.depth + u32::from(!transparent(tree, raw, options)), p.raw_depth + 1, p.anchor),
        };
        let (in_depth, in_limit) = (depth < max_depth, raw_depth < MAX_RAW_DEPTH);
        if not_on_screen.as_ref().is_some_and(|c| c.drops(tree, raw)) {
            dropped += 1;
            continue;
        }
        let has_children = children(tree, raw).next().is_some();
        let closed = not_on_screen.as_ref().is_some_and(|c| c.folds(tree, raw));
        // What `-i` would drop at any depth isn't cut off by this one.
        let inert = node.cut.is_none() && not_on_screen.as_ref().is_some_and(|c| !c.something_below(raw));
        let cut_here = !(in_depth && in_limit) && (has_children || node.cut.is_some());
        let clamped = cut_here && !closed && !(inert && in_limit);
        let children_count = match &node.cut {
            _ if clamped || closed => count_of(node),
            // The time that ran out knows no count (spec 1 §2); a limit and a virtual container do.
            Some(Cut::Virtual | Cut::Limit) => node.child_count.known().copied(),
            _ => None,
        };
        complete &= node.facts.role.settled() && name_of(&node.facts).settled();
        complete &= match &node.cut {
            Some(cut) if cut.incomplete() => !in_depth && children_count.is_some(),
            _ => in_limit || !in_depth || !has_children,
        };
        work.push(Work {
            raw,
            parent,
            earns: if earns_ref(&node.facts) { Earns::Action } else { Earns::Nothing },
            keep: true,
            splice: false,
            depth,
            raw_depth,
            hint,
            children_count,
            truncated: clamped || closed || node.cut.is_some(),
            clamped,
            closed,
            unread: !node.facts.role.settled(),
            anchor: if earns_ref(&node.facts) || resolvable(&node.facts) { Some(at) } else { above },
            kept_children: 0,
            folded: BTreeMap::new(),
        });
        // Of a virtual container only a part is here: its ref leads to the rest ('table', --cell).
        if (clamped || closed || node.cut == Some(Cut::Virtual))
            && let Some(anchor) = work[at as usize].anchor.map(|a| &mut work[a as usize])
            && anchor.earns == Earns::Nothing
        {
            anchor.earns = Earns::Anchor;
        }
        if in_depth && in_limit && !closed {
            // Where children are missing nobody can say which column one is.
            let columns = node.children.len() as u32;
            let split = node.facts.role == Evidence::Known(Role::Splitter) && columns > 1 && node.cut.is_none();
            let first = stack.len();
            stack.extend(children(tree, raw).zip(1..).map(|(c, i)| (c, Some(at), split.then_some((i, columns)))));
            stack[first..].reverse();
        }
    }
    (work, complete, dropped)
}

/// `-i`: drops leaves without a ref, without children and without anything cut below them; from the bottom up, so that
/// a container of nothing else goes too. The root stays.
fn drop_inert(work: &mut [Work]) {
    let mut kept_below = vec![false; work.len()];
    for at in (0..work.len()).rev() {
        let w = &mut work[at];
        w.keep = at == 0
            || kept_below[at]
            || w.earns != Earns::Nothing
            || w.children_count.is_some()
            || w.truncated
            || w.unread;
        if let (true, Some(p)) = (w.keep, w.parent) {
            kept_below[p as usize] = true;
        }
    }
}

fn count_kept(work: &mut [Work]) {
    for at in 0..work.len() {
        if let (true, Some(p)) = (work[at].keep, work[at].parent) {
            work[p as usize].kept_children += 1;
        }
    }
}

/// Whether this is a group that says and offers nothing (spec 1 §2 "Compact"). Only what is positively empty counts as
/// empty.
fn anonymous_group(f: &Facts) -> bool {
    let blank = |e: Evidence<&str>| match e {
        Evidence::Known(text) => is_blank(text),
        Evidence::Absent => true,
        Evidence::Unknown(_) => false,
    };
    f.role == Evidence::Known(Role::Group)
        && name_of(f) == Evidence::Absent
        && blank(value_of(f))
        && description_of(f) == Evidence::Absent
        && matches!(native_id_of(f), Evidence::Absent | Evidence::Unknown(Cause::NotRead))
        && states_of(f).known().is_some_and(|s| s.is_empty())
        && matches!(
            f.capabilities,
            Evidence::Absent | Evidence::Unknown(Cause::NotRead) | Evidence::Known(CapabilitySet::EMPTY)
        )
}

/// Whether the element is an anonymous group that nothing is lost with, where it has children.
fn splices(tree: &RawTree, w: &Work, options: &Options) -> bool {
    let f = &tree.node(w.raw).facts;
    w.parent.is_some()
        && w.earns == Earns::Nothing
        && w.hint.is_none()
        && w.children_count.is_none()
        && !w.truncated
        && anonymous_group(f)
        && !(options.include_bounds && f.bounds.known().is_some())
}

/// Folds what doesn't fit the token budget; what is shown around it says how many elements of which roles, how many
/// children there are, and leads there by a ref where it can be found again.
fn fold(tree: &RawTree, work: &mut [Work], tokens: usize, bounds: bool) -> usize {
    let chosen = budget::choose(tree, work, tokens, bounds);
    let mut folded = 0;
    // For each element itself where it is shown, else what is shown around it.
    let mut shown_at: Vec<Option<usize>> = Vec::with_capacity(work.len());
    for at in 0..work.len() {
        let around = work[at].parent.and_then(|p| shown_at[p as usize]);
        let stays = work[at].keep && !work[at].splice;
        shown_at.push(if stays && chosen[at] { Some(at) } else { around });
        if !stays || chosen[at] {
            continue;
        }
        folded += 1;
        work[at].keep = false;
        let Some(holder) = around else { continue };
        *work[holder].folded.entry(shown_role(&tree.node(work[at].raw).facts).token()).or_default() += 1;
        work[holder].truncated = true;
        work[holder].children_count = work[holder].children_count.or(count_of(tree.node(work[holder].raw)));
        if work[holder].earns == Earns::Nothing && resolvable(&tree.node(work[holder].raw).facts) {
            work[holder].earns = Earns::Anchor;
        }
    }
    folded
}

/// The kept elements with their new indices.
fn lay_out(work: &[Work]) -> Vec<Shown> {
    let mut nodes: Vec<Shown> = Vec::new();
    // For each element, the index of itself where it is shown, else of what it stands under.
    let mut place: Vec<Option<u32>> = Vec::with_capacity(work.len());
    for w in work {
        let parent = w.parent.and_then(|p| place[p as usize]);
        if !w.keep || w.splice {
            place.push(parent);
            continue;
        }
        let at = nodes.len() as u32;
        place.push(Some(at));
        let level = parent.map_or(0, |p| nodes[p as usize].level + 1);
        nodes.push(Shown {
            raw: w.raw,
            parent,
            children: Vec::new(),
            level,
            hint: w.hint,
            children_count: w.children_count,
            subtree_truncated: w.truncated,
            closed: w.closed,
            earns: w.earns,
            folded: w.folded.clone(),
        });
        if let Some(p) = parent {
            nodes[p as usize].children.push(at);
        }
    }
    nodes
}

/// Numbers the elements that earn a ref in pre-order from `start`: pairs of number and index in the raw tree. Numbers
/// end at `u32::MAX`.
pub fn allocate_refs(presented: &Presented, start: u32) -> Vec<(u32, u32)> {
    let earning = presented.nodes.iter().filter(|n| n.earns != Earns::Nothing);
    (start..=u32::MAX).zip(earning.map(|n| n.raw)).collect()
}
