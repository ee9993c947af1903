//! `snapshot`: read, show, save.

use super::cell;
use super::fit;
use super::locate;
use super::saved;
use super::since;
use crate::command::Context;
use crate::command::observe::Snapshot;
use crate::command::values::Format;
use crate::deadline::Deadline;
use crate::debug;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::platform::ReadPlan;
use crate::query::result::brief_json;
use crate::refs::baseline::Baseline;
use crate::refs::capture::{Capture, drop_below};
use crate::refs::entry::{FORMAT, RefMap, Source};
use crate::refs::id::{RefId, SnapshotId};
use crate::tree::json::{cut_json, to_json};
use crate::tree::present::{Options, Presented, allocate_refs, earns_ref, present};
use crate::tree::raw::RawTree;
use crate::tree::text::{Header, RefStyle, to_text};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Runs `snapshot`.
pub fn snapshot(context: &Context, args: &Snapshot) -> Answer {
    let deadline = Deadline::after_ms(args.timeout());
    match &args.root {
        _ if args.since.is_some() => since::since(context, args, deadline),
        _ if args.cell.is_some() => cell::cell(context, args, deadline),
        Some(root) => drill(context, args, &root.parse()?, deadline),
        None => window(context, args, deadline),
    }
}

pub(super) fn plan(args: &Snapshot, deadline: Deadline) -> ReadPlan {
    ReadPlan { bounds: args.include_bounds, ..ReadPlan::contract(deadline) }
}

/// The plan for a window, with places where a page for people is made of it.
fn window_plan(context: &Context, args: &Snapshot, deadline: Deadline) -> ReadPlan {
    let bounds = args.include_bounds || context.globals().debug;
    ReadPlan { bounds, ..plan(args, deadline) }
}

pub(crate) fn options(args: &Snapshot) -> Options {
    Options {
        max_depth: u32::from(args.depth()),
        free_wrappers: args.max_depth.is_none() && !args.is_skeleton(),
        skeleton: args.is_skeleton(),
        interactive_only: args.interactive_only,
        compact: args.compact,
        include_bounds: args.include_bounds,
        budget_tokens: None,
    }
}

/// What a later look is compared with, whatever the view of this one: at least what a snapshot without flags shows.
pub(crate) fn compared(view: &Options) -> Options {
    let usual = Options::default();
    Options {
        max_depth: view.max_depth.max(usual.max_depth),
        free_wrappers: true,
        include_bounds: view.include_bounds,
        ..usual
    }
}

fn window(context: &Context, args: &Snapshot, deadline: Deadline) -> Answer {
    // A state directory that can't be used is said before anything is read.
    saved::store(context)?;
    let (root, tree) = read(context, args, deadline)?;
    show(context, args, root, tree, deadline)
}

/// Reads the window that the arguments name.
pub(crate) fn read(context: &Context, args: &Snapshot, deadline: Deadline) -> Result<(locate::Root, RawTree), Error> {
    let platform = context.platform()?;
    read_root(context, args, locate::root(platform, args.scope(), args.surface()?, deadline)?, deadline)
}

/// Reads below a root that was found already.
pub(crate) fn read_root(
    context: &Context,
    args: &Snapshot,
    root: locate::Root,
    deadline: Deadline,
) -> Result<(locate::Root, RawTree), Error> {
    let platform = context.platform()?;
    let mut tree =
        platform.read_tree(&root.handle, &root.above, &root.process, &window_plan(context, args, deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    Ok((root, tree))
}

/// Saves what was read as a new snapshot, and shows it as the arguments ask.
pub(crate) fn show(
    context: &Context,
    args: &Snapshot,
    root: locate::Root,
    tree: RawTree,
    deadline: Deadline,
) -> Answer {
    Ok(show_with(context, args, root, tree, deadline, &[], false)?.answer)
}

/// What was shown of a window, and of some of its elements.
pub(crate) struct Shown {
    /// As the arguments ask.
    pub answer: Value,
    /// The same as an outline, where that was asked for beside it.
    pub outline: Option<Value>,
    /// The named elements in short.
    pub named: Vec<Value>,
}

/// The same, with some of its elements in short: each that can be acted on has a ref, whether the view shows it or not.
pub(crate) fn show_with(
    context: &Context,
    args: &Snapshot,
    mut root: locate::Root,
    tree: RawTree,
    deadline: Deadline,
    named: &[u32],
    outline: bool,
) -> Result<Shown, Error> {
    locate::within(context.platform()?, &mut root, &tree, deadline)?;
    let id = SnapshotId::generate();
    let debugged = context.globals().debug.then(|| root.clone());
    let picture = |kept: &Kept| debugged.iter().for_each(|root| debug::snapshot_saved(context, root, kept));
    let Some(budget) = args.budget_tokens else {
        let kept = keep_as(context, root, tree, &options(args), &id, None, named)?;
        picture(&kept);
        let shown = |args: &Snapshot| answer(args, &kept.map.source, id.as_str(), &Printed::of(&kept), kept.unproven);
        let outline = outline.then(|| shown(&Snapshot { format: Some(Format::Text), ..args.clone() }));
        return Ok(Shown { answer: shown(args), outline, named: kept.in_short(named) });
    };
    let fitted = fit::fit(args, &root.source, id.as_str(), &tree, 1, budget)?;
    let kept = keep_as(context, root, tree, &fitted.options, &id, Some(fitted.presented.clone()), named)?;
    picture(&kept);
    let short = kept.in_short(named);
    let (source, tree) = fitted.shown(&kept.map.source, &kept.tree);
    let printed =
        Printed { tree: &tree, presented: &kept.presented, numbered: &kept.numbered, clipped: fitted.clipped };
    let answer = answer(args, &source, id.as_str(), &printed, kept.unproven);
    Ok(Shown { answer, outline: None, named: short })
}

/// A window's tree with its refs, saved.
pub(crate) struct Kept {
    pub map: RefMap,
    pub tree: RawTree,
    pub presented: Presented,
    /// Number and raw node of each saved ref.
    pub numbered: Vec<(u32, u32)>,
    pub unproven: bool,
}

impl Kept {
    /// These elements in short, each with its ref where it has one.
    fn in_short(&self, named: &[u32]) -> Vec<Value> {
        let number = |at: u32| self.numbered.iter().find(|(_, raw)| *raw == at).map(|(number, _)| *number);
        named.iter().map(|at| brief_json(&self.tree, *at, number(*at), &self.map.snapshot_id)).collect()
    }
}

/// Saves what was read below a root as a new snapshot.
pub(crate) fn keep(context: &Context, root: locate::Root, tree: RawTree, options: &Options) -> Result<Kept, Error> {
    keep_as(context, root, tree, options, &SnapshotId::generate(), None, &[])
}

/// The same for a `watch`, which saves without being asked.
pub(crate) fn keep_watched(
    context: &Context,
    root: locate::Root,
    tree: RawTree,
    options: &Options,
) -> Result<Kept, Error> {
    keep_as(context, root, tree, options, &SnapshotId::of_watch(), None, &[])
}

fn keep_as(
    context: &Context,
    root: locate::Root,
    mut tree: RawTree,
    options: &Options,
    id: &SnapshotId,
    presented: Option<Presented>,
    named: &[u32],
) -> Result<Kept, Error> {
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    let presented = presented.unwrap_or_else(|| present(&tree, options));
    let mut numbered = allocate_refs(&presented, 1);
    // What the view doesn't show has a ref as well, where it is named beside the view.
    for at in named {
        if earns_ref(&tree.node(*at).facts) && !numbered.iter().any(|(_, raw)| raw == at) {
            numbered.push((numbered.iter().map(|(number, _)| *number).max().unwrap_or(0) + 1, *at));
        }
    }
    let mut map = RefMap {
        format: FORMAT,
        snapshot_id: id.to_string(),
        desktop: context.platform()?.desktop_id()?,
        process: root.process,
        source: root.source,
        next: 1,
        links: Vec::new(),
        entries: BTreeMap::new(),
    };
    let mut capture = Capture::fresh(&mut map, &tree);
    if let Some((of, number)) = &root.below {
        capture = capture.below(of, *number);
    }
    let unproven = capture.save(&tree, &numbered, None);
    let numbered = saved_only(&map, numbered);
    // What this view leaves out may be what changes next: the baseline has it all.
    let whole = compared(options);
    let seen = (whole != *options).then(|| present(&tree, &whole));
    let baseline = Baseline::of(&tree, seen.as_ref().unwrap_or(&presented), &numbered, &whole).for_disk();
    saved::store(context)?.save_with(id.as_str(), &map, Some(&baseline))?;
    saved::tell_saved(context, &map, tree.complete());
    Ok(Kept { map, tree, presented, numbered, unproven })
}

/// Observes only below a ref. All or nothing: what was saved before stays untouched unless the whole subtree was read.
fn drill(context: &Context, args: &Snapshot, root: &RefId, deadline: Deadline) -> Answer {
    let platform = context.platform()?;
    let store = saved::store(context)?;
    let map = saved::load(context, &root.snapshot)?;
    let resolved = saved::proven(context, &map, root.number, false, deadline)?;
    let entry = crate::act::entry_of(&map, root.number)?;
    let mut above = map.chain(entry.link);
    let own = above.pop();
    let mut tree = platform.read_tree(&resolved.live.handle, &above, &map.process, &plan(args, deadline))?;
    if let (Some(top), Some(own)) = (tree.nodes.first_mut(), own) {
        top.index = own.index;
    }
    if !tree.complete() {
        return Err(Error::before(
            Code::Timeout,
            "the subtree could not be read completely; existing refs are untouched",
        )
        .kind("drill_incomplete")
        .detail("nodes_observed", tree.nodes.len())
        .suggest("Retry with a longer --timeout-ms, or drill into a smaller part."));
    }
    let fitted = match args.budget_tokens {
        // Another drill may take numbers meanwhile: room for longer ones.
        Some(budget) => {
            let number = map.next.saturating_add(100_000);
            Some(fit::fit(args, &map.source, root.snapshot.as_str(), &tree, number, budget)?)
        }
        None => None,
    };
    let presented = fitted.as_ref().map_or_else(|| present(&tree, &options(args)), |f| f.presented.clone());
    let (map, numbered, unproven) = store.update(root.snapshot.as_str(), |map: &mut RefMap| {
        // Another drill may have replaced the root meanwhile: its refs must not hang below a ref that is gone.
        let link = crate::act::entry_of(map, root.number)?.link;
        drop_below(map, root.number);
        let link = map.entries.get(&root.number).map_or(link, |e| e.link);
        let mut numbered = allocate_refs(&presented, map.next);
        // The drilled root keeps its own number.
        for (number, raw) in &mut numbered {
            if *raw == 0 {
                *number = root.number;
            }
        }
        let fresh: Vec<(u32, u32)> = numbered.iter().copied().filter(|(_, raw)| *raw != 0).collect();
        let unproven = Capture::drill(map, link).save(&tree, &fresh, Some(root.number));
        let numbered = saved_only(map, numbered);
        Ok((map.clone(), numbered, unproven))
    })?;
    let fields = json!({"snapshot_id": map.snapshot_id, "root": root.to_string(), "refs": numbered.len()});
    context.trace().event("snapshot.root.saved", fields);
    let id = root.snapshot.as_str();
    let Some(fitted) = fitted else {
        let printed = Printed { tree: &tree, presented: &presented, numbered: &numbered, clipped: 0 };
        return Ok(answer(args, &map.source, id, &printed, unproven));
    };
    let (source, tree) = fitted.shown(&map.source, &tree);
    let printed = Printed { tree: &tree, presented: &presented, numbered: &numbered, clipped: fitted.clipped };
    Ok(answer(args, &source, id, &printed, unproven))
}

/// Refs whose entry was saved: an entry that fails validation is skipped, and its ref is not printed.
fn saved_only(map: &RefMap, numbered: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    numbered.into_iter().filter(|(number, _)| map.entries.contains_key(number)).collect()
}

/// What is printed of a tree.
pub(super) struct Printed<'a> {
    pub tree: &'a RawTree,
    pub presented: &'a Presented,
    /// Number and raw node of each ref.
    pub numbered: &'a [(u32, u32)],
    /// How many texts were cut to fit a token budget.
    pub clipped: usize,
}

impl<'a> Printed<'a> {
    fn of(kept: &'a Kept) -> Self {
        Self { tree: &kept.tree, presented: &kept.presented, numbered: &kept.numbered, clipped: 0 }
    }
}

/// The answer as printed: an outline or an object.
pub(super) fn answer(args: &Snapshot, source: &Source, id: &str, printed: &Printed<'_>, unproven: bool) -> Value {
    let Printed { tree, presented, numbered, clipped } = *printed;
    let complete = tree.complete() && presented.complete;
    if args.format == Some(Format::Text) {
        let header = Header {
            app: &source.app,
            window_title: &source.window_title,
            window_id: &source.window_id,
            snapshot_id: id,
            complete,
            nodes_observed: tree.nodes.len(),
            refs: RefStyle::Qualified,
            unproven,
            clipped,
            others: &source.others,
        };
        return json!(to_text(tree, presented, numbered, &header));
    }
    let mut out = Map::new();
    out.insert("app".into(), json!(source.app));
    out.insert("window".into(), json!({"id": source.window_id, "title": source.window_title}));
    if let Some(others) = source.others_json() {
        out.insert("other_windows".into(), others);
    }
    out.insert("snapshot_id".into(), json!(id));
    out.insert("ref_count".into(), json!(numbered.len()));
    out.insert("complete".into(), json!(complete));
    if !complete {
        out.insert("truncated".into(), json!(true));
        out.insert("nodes_observed".into(), json!(tree.nodes.len()));
    }
    if let Some(cut) = cut_json(presented) {
        out.insert("cut".into(), cut);
    }
    if clipped > 0 {
        out.insert("clipped_texts".into(), json!(clipped));
    }
    if unproven {
        out.insert("identity_unproven".into(), json!(true));
    }
    if let Some(kind) = tree.kind {
        out.insert("details".into(), json!({"kind": kind}));
    }
    out.insert("tree".into(), to_json(tree, presented, numbered, id));
    Value::Object(out)
}
