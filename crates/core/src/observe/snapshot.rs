//! `snapshot`: read, show, save.

use super::locate;
use super::saved;
use crate::command::Context;
use crate::command::observe::Snapshot;
use crate::command::values::Format;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::platform::ReadPlan;
use crate::refs::capture::{Capture, drop_below};
use crate::refs::entry::{FORMAT, RefMap};
use crate::refs::id::{RefId, SnapshotId};
use crate::tree::json::{cut_json, to_json};
use crate::tree::present::{Options, Presented, allocate_refs, present};
use crate::tree::raw::RawTree;
use crate::tree::text::{Header, RefStyle, to_text};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Runs `snapshot`.
pub fn snapshot(context: &Context, args: &Snapshot) -> Answer {
    let deadline = Deadline::after_ms(args.timeout());
    match &args.root {
        Some(root) => drill(context, args, &root.parse()?, deadline),
        None => window(context, args, deadline),
    }
}

fn plan(args: &Snapshot, deadline: Deadline) -> ReadPlan {
    ReadPlan { bounds: args.include_bounds, ..ReadPlan::contract(deadline) }
}

fn options(args: &Snapshot) -> Options {
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

fn window(context: &Context, args: &Snapshot, deadline: Deadline) -> Answer {
    let platform = context.platform()?;
    // A state directory that can't be used is said before anything is read.
    saved::store(context)?;
    let mut root = locate::root(platform, args.scope(), args.surface()?, deadline)?;
    let mut tree = platform.read_tree(&root.handle, &root.above, &root.process, &plan(args, deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    locate::within(platform, &mut root, &tree, deadline)?;
    let kept = keep(context, root, tree, &options(args))?;
    Ok(answer(args, &kept.map, &kept.tree, &kept.presented, &kept.numbered, kept.unproven))
}

/// A window's tree with its refs, saved.
pub(crate) struct Kept {
    pub map: RefMap,
    pub tree: RawTree,
    presented: Presented,
    /// Number and raw node of each saved ref.
    pub numbered: Vec<(u32, u32)>,
    unproven: bool,
}

/// Saves what was read below a root as a new snapshot.
pub(crate) fn keep(context: &Context, root: locate::Root, mut tree: RawTree, options: &Options) -> Result<Kept, Error> {
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    let presented = present(&tree, options);
    let numbered = allocate_refs(&presented, 1);
    let id = SnapshotId::generate();
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
    saved::store(context)?.save(id.as_str(), &map)?;
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
    let presented = present(&tree, &options(args));
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
    Ok(answer(args, &map, &tree, &presented, &numbered, unproven))
}

/// Refs whose entry was saved: an entry that fails validation is skipped, and its ref is not printed.
fn saved_only(map: &RefMap, numbered: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    numbered.into_iter().filter(|(number, _)| map.entries.contains_key(number)).collect()
}

fn answer(
    args: &Snapshot,
    map: &RefMap,
    tree: &RawTree,
    presented: &Presented,
    numbered: &[(u32, u32)],
    unproven: bool,
) -> Value {
    let complete = tree.complete() && presented.complete;
    if args.format == Some(Format::Text) {
        let header = Header {
            app: &map.source.app,
            window_title: &map.source.window_title,
            window_id: &map.source.window_id,
            snapshot_id: &map.snapshot_id,
            complete,
            nodes_observed: tree.nodes.len(),
            refs: RefStyle::Qualified,
            unproven,
        };
        return json!(to_text(tree, presented, numbered, &header));
    }
    let mut out = Map::new();
    out.insert("app".into(), json!(map.source.app));
    out.insert("window".into(), json!({"id": map.source.window_id, "title": map.source.window_title}));
    out.insert("snapshot_id".into(), json!(map.snapshot_id));
    out.insert("ref_count".into(), json!(numbered.len()));
    out.insert("complete".into(), json!(complete));
    if !complete {
        out.insert("truncated".into(), json!(true));
        out.insert("nodes_observed".into(), json!(tree.nodes.len()));
    }
    if let Some(cut) = cut_json(presented) {
        out.insert("cut".into(), cut);
    }
    if unproven {
        out.insert("identity_unproven".into(), json!(true));
    }
    if let Some(kind) = tree.kind {
        out.insert("details".into(), json!({"kind": kind}));
    }
    out.insert("tree".into(), to_json(tree, presented, numbered, &map.snapshot_id));
    Value::Object(out)
}
