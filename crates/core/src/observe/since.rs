//! `snapshot --since`: the window of a snapshot, read again, and what changed in it. What is read now is saved as a
//! snapshot of its own, so that the next comparison can follow on this one.

use super::changes::Changes;
use super::locate::{self, Root};
use super::snapshot::{Kept, keep, plan};
use super::{saved, target};
use crate::command::Context;
use crate::command::observe::Snapshot;
use crate::command::values::Format;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::platform::{Platform, ProcessLife};
use crate::refs::baseline::Baseline;
use crate::refs::entry::RefMap;
use crate::refs::id::SnapshotId;
use crate::tree::present::Options;
use crate::tree::text::quoted;
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Runs `snapshot --since`.
pub fn since(context: &Context, args: &Snapshot, deadline: Deadline) -> Answer {
    let id = SnapshotId::parse(args.since.as_deref().unwrap_or_default())?;
    let platform = context.platform()?;
    let map = saved::load(context, &id).map_err(of_this_desktop)?;
    let base = saved::store(context)?.load_baseline(id.as_str())?;
    let mut root = again(platform, args, &map, &base, deadline)?;
    let options = options(args, &base);
    let mut tree = platform.read_tree(&root.handle, &root.above, &root.process, &plan(args, deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    locate::within(platform, &mut root, &tree, deadline)?;
    let kept = keep(context, root, tree, &options)?;
    let same_view = options == base.options;
    let changes = Changes::new(&base, Some(&map), &kept, same_view);
    Ok(match args.format {
        Some(Format::Text) => json!(text(&map, &kept, &changes, same_view)),
        _ => data(&map, &kept, &changes, same_view),
    })
}

/// Refs of another desktop are not found; a comparison with one is a wrong question.
fn of_this_desktop(error: Error) -> Error {
    match error.kind_name() {
        Some("desktop_mismatch") => Error::invalid("the snapshot of --since was taken on another desktop")
            .kind("since_other_desktop")
            .suggest("Point the command at that desktop (--desktop), or take a new snapshot here."),
        _ => error,
    }
}

/// What the snapshot can be compared in, with what the caller gives on top.
fn options(args: &Snapshot, base: &Baseline) -> Options {
    let was = &base.options;
    Options {
        max_depth: args.max_depth.map_or(was.max_depth, u32::from),
        free_wrappers: was.free_wrappers && args.max_depth.is_none() && !args.skeleton,
        skeleton: args.skeleton,
        // What comes is often a text: these only narrow what a snapshot prints.
        interactive_only: false,
        compact: false,
        include_bounds: was.include_bounds || args.include_bounds,
        budget_tokens: None,
    }
}

/// The root that the snapshot observed, where it is still there.
fn again(platform: &dyn Platform, args: &Snapshot, map: &RefMap, base: &Baseline, deadline: Deadline) -> Result<Root> {
    if matches!(platform.process_life(&map.process), ProcessLife::Gone | ProcessLife::OtherGeneration) {
        return Err(Error::before(Code::WindowNotFound, "the application of the snapshot has ended")
            .kind("since_process_ended")
            .suggest("Take a new snapshot: nothing can be compared across a restart."));
    }
    let surface = args.surface()?;
    if args.surface.is_some() && surface != map.source.surface {
        return Err(Error::invalid(format!("the snapshot of --since observed the surface {}", map.source.surface))
            .kind("since_other_surface"));
    }
    if args.app.is_some() || args.window_id.is_some() {
        let window = target::find_any_window(platform, args.scope(), None, deadline)?;
        let of_window = matches!(map.source.surface, Surface::Window | Surface::Focused);
        if window.process != map.process || (of_window && window.id != map.source.window_id) {
            return Err(Error::invalid("the snapshot of --since observed another window")
                .kind("since_other_window")
                .detail("window_id", map.source.window_id.as_str())
                .suggest("Leave --app and --window-id away: --since means the window of its snapshot."));
        }
    }
    same_root(platform, map, &base.rows.first().map(|row| row.handle.clone()), deadline)
}

/// The window or surface that a snapshot observed, live.
pub(crate) fn same_root(
    platform: &dyn Platform,
    map: &RefMap,
    top: &Option<crate::tree::raw::Handle>,
    deadline: Deadline,
) -> Result<Root> {
    let closed = |what: &str| {
        Error::before(Code::WindowNotFound, format!("the {what} of the snapshot is not open any more"))
            .kind("stale_window_id")
            .suggest("Take a new snapshot.")
    };
    let app = map.application(0).ok_or_else(crate::act::ready::torn)?;
    let surface = map.source.surface;
    if matches!(surface, Surface::Window | Surface::Focused) {
        let windows = platform.windows(std::slice::from_ref(&app), deadline)?;
        let silent = windows.iter().any(|w| w.responsive == crate::platform::Responsive::No);
        let Some(window) = windows.into_iter().find(|w| w.id == map.source.window_id) else {
            return Err(match silent {
                true => target::unresponsive(&[(map.source.app.as_str(), map.process.pid)]),
                false => closed("window"),
            });
        };
        let mut root = locate::of_window(window, surface)?;
        root.source.app.clone_from(&map.source.app);
        return Ok(root);
    }
    let open = platform.surfaces(&app, deadline)?;
    let found = open.into_iter().find(|s| s.kind == surface && Some(&s.root) == top.as_ref());
    let found = found.ok_or_else(|| closed("surface"))?;
    Ok(Root {
        source: map.source.clone(),
        handle: found.root,
        above: found.above,
        index: found.index,
        process: map.process.clone(),
        below: None,
    })
}

fn data(was: &RefMap, kept: &Kept, changes: &Changes<'_>, same_view: bool) -> Value {
    let map = &kept.map;
    let mut out = Map::new();
    out.insert("app".into(), json!(map.source.app));
    out.insert("window".into(), json!({"id": map.source.window_id, "title": map.source.window_title}));
    out.insert("since".into(), json!(was.snapshot_id));
    out.insert("snapshot_id".into(), json!(map.snapshot_id));
    out.insert("ref_count".into(), json!(kept.numbered.len()));
    changes.insert_into(&mut out);
    if !same_view {
        out.insert("view_differs".into(), json!(true));
    }
    if kept.unproven {
        out.insert("identity_unproven".into(), json!(true));
    }
    if let Some(kind) = kept.tree.kind {
        out.insert("details".into(), json!({"kind": kind}));
    }
    Value::Object(out)
}

fn text(was: &RefMap, kept: &Kept, changes: &Changes<'_>, same_view: bool) -> String {
    let source = &kept.map.source;
    let mut out = format!(
        "changes since {} | snapshot {} | app {} | window {} | id {} | {} refs | {} unchanged",
        was.snapshot_id,
        kept.map.snapshot_id,
        quoted(&source.app),
        quoted(&source.window_title),
        quoted(&source.window_id),
        kept.numbered.len(),
        changes.unchanged(),
    );
    if let (into, away) = changes.scrolled()
        && into + away > 0
    {
        let _ = write!(out, " | {into} into view, {away} out of it");
    }
    out.push_str(if changes.complete() { " | complete" } else { " | incomplete" });
    if !same_view {
        out.push_str(" | view differs");
    }
    if kept.unproven {
        out.push_str(" | identity_unproven");
    }
    out.push('\n');
    changes.lines(&mut out);
    out
}
