//! The answer of a wait after a command: the window in which it matched, as much of it as was asked for.

use crate::command::Context;
use crate::command::globals::WaitView;
use crate::command::observe::Snapshot;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::observe::locate::Root;
use crate::observe::snapshot::show_with;
use crate::tree::raw::RawTree;
use serde_json::json;

/// Matches that are named at most.
const MAX_MATCHED: usize = 10;

/// Saves the window as a snapshot and shows it: for an action by `--wait-view`, for `snapshot` as its own flags say.
pub(super) fn show(
    context: &Context,
    args: &Snapshot,
    view: Option<WaitView>,
    root: Root,
    tree: RawTree,
    deadline: Deadline,
    matches: &[u32],
) -> Answer {
    let named = &matches[..matches.len().min(MAX_MATCHED)];
    let compact = view == Some(WaitView::Compact);
    let folded = Snapshot { interactive_only: true, ..args.clone() };
    let shown = show_with(context, if compact { &folded } else { args }, root, tree, deadline, named, compact)?;
    let mut answer = shown.answer;
    let Some(map) = answer.as_object_mut() else { return Ok(answer) };
    if view.is_some_and(|view| view != WaitView::Full) {
        map.remove("tree");
        map.remove("cut");
    }
    if let Some(outline) = shown.outline {
        map.insert("outline".into(), outline);
    }
    if !matches.is_empty() {
        map.insert("matched".into(), shown.named.into());
        map.insert("matched_count".into(), json!(matches.len()));
    }
    Ok(answer)
}
