//! A window's picture between two looks at the window (spec 1 §4 "identity sandwich").

use super::screenshot::{Shot, scale_at, steady};
use super::{annotate, mask};
use crate::command::Context;
use crate::command::observe::Screenshot;
use crate::deadline::Deadline;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::observe::locate::{self, Root};
use crate::observe::snapshot::keep;
use crate::observe::target;
use crate::platform::{Platform, ReadPlan, Window, WindowKey, WindowPicture, WindowState};
use crate::tree::present::{MAX_RAW_DEPTH, Options, earns_ref};
use crate::tree::raw::RawTree;
use crate::vocab::role::Role;
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};

/// The picture of the window that the arguments name.
pub(super) fn shot(context: &Context, args: &Screenshot, deadline: Deadline) -> Result<Shot> {
    let window = target::find_any_window(context.platform()?, args.scope(), None, deadline)?;
    steady(deadline, || attempt(context, args, &window, deadline))
}

/// One picture of a window, with masks and boxes as asked; none where the window changed meanwhile.
pub(super) fn attempt(
    context: &Context,
    args: &Screenshot,
    window: &Window,
    deadline: Deadline,
) -> Result<Option<Shot>> {
    let platform = context.platform()?;
    let key = crate::windows::key_of(window)?;
    let root = if args.annotate {
        Some(locate::of_window(window.clone(), Surface::Window)?)
    } else if args.masks() {
        // What can't be read can't be proven to show no secret.
        let root = locate::of_window(window.clone(), Surface::Window);
        Some(root.map_err(|e| mask::unproven("the window's elements can't be read", &e))?)
    } else {
        None
    };
    let before = now(platform, key, deadline)?;
    let tree = root.as_ref().map(|root| read(platform, root, args, deadline)).transpose()?;
    let picture = platform.capture_window(key, deadline)?;
    let again = root.as_ref().map(|root| read(platform, root, args, deadline)).transpose()?;
    let after = now(platform, key, deadline)?;
    if before.bounds != after.bounds || picture.bounds != after.bounds {
        return Ok(None);
    }
    if let (Some(tree), Some(again)) = (&tree, &again)
        && layout(tree, args.annotate) != layout(again, args.annotate)
    {
        return Ok(None);
    }
    let WindowPicture { mut pixels, bounds, popups } = picture;
    let mut facts = Map::new();
    facts.insert("window".into(), json!({"id": window.id, "title": window.title}));
    if args.masks()
        && let Some(tree) = &tree
    {
        let areas = mask::areas(tree, &bounds)?;
        facts.insert("masked".into(), json!(mask::fill(&mut pixels, &bounds, &areas)));
    }
    let scale = scale_at(&platform.displays(deadline)?, &bounds);
    if args.annotate
        && let (Some(root), Some(tree)) = (root, tree)
    {
        let options = Options { max_depth: MAX_RAW_DEPTH, include_bounds: true, ..Options::default() };
        let kept = keep(context, root, tree, &options)?;
        let marks = annotate::marks(&kept.tree, &kept.numbered, &bounds, &popups);
        annotate::draw(&mut pixels, &marks, &annotate::texts(&kept.tree, &bounds), scale);
        facts.insert("snapshot_id".into(), json!(kept.map.snapshot_id));
        facts.insert("ref_count".into(), json!(kept.numbered.len()));
        facts.insert("refs_drawn".into(), json!(marks.len()));
        facts.insert("complete".into(), json!(kept.tree.complete()));
    }
    Ok(Some(Shot { pixels, bounds, scale, popups, facts }))
}

pub(super) fn now(platform: &dyn Platform, key: &WindowKey, deadline: Deadline) -> Result<WindowState> {
    match platform.window_now(key, deadline) {
        Evidence::Known(state) => Ok(state),
        Evidence::Absent => Err(Error::before(Code::WindowNotFound, "the window is gone")
            .suggest("'agent-desktop list-windows' shows what is open.")),
        Evidence::Unknown(cause) => Err(Error::before(Code::Timeout, "the window's state could not be read")
            .kind("window_unread")
            .detail("cause", json!(cause))),
    }
}

pub(super) fn plan(deadline: Deadline) -> ReadPlan {
    ReadPlan { bounds: true, ..ReadPlan::contract(deadline) }
}

fn read(platform: &dyn Platform, root: &Root, args: &Screenshot, deadline: Deadline) -> Result<RawTree> {
    let tree = platform.read_tree(&root.handle, &root.above, &root.process, &plan(deadline));
    match tree {
        Err(e) if args.masks() => Err(mask::unproven("the window's elements could not be read", &e)),
        other => other,
    }
}

/// What must not move between the two reads: where secure fields are, and the elements that get boxes. Addresses don't
/// count: some widgets renew them with every read.
pub(super) fn layout(tree: &RawTree, refs: bool) -> Vec<(Evidence<Role>, bool, Value)> {
    tree.nodes
        .iter()
        .map(|n| &n.facts)
        .filter(|f| f.secure || (refs && earns_ref(f)))
        .map(|f| (f.role.clone(), f.secure, json!(f.bounds.known())))
        .collect()
}
