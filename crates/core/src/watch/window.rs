//! The trees of watched windows, and what changes in them. Each change is saved as a snapshot, so that the refs of its
//! lines can be acted on.

use super::desktop::Desktop;
use super::{Lines, fields};
use crate::command::Context;
use crate::command::observe::Snapshot;
use crate::command::watch::Watch;
use crate::deadline::Deadline;
use crate::error::{Code, Result};
use crate::observe::changes::Changes;
use crate::observe::delta::compare;
use crate::observe::locate::Root;
use crate::observe::saved;
use crate::observe::snapshot::{Kept, keep_watched, options, read};
use crate::platform::{ProcessKey, Responsive};
use crate::refs::baseline::Baseline;
use crate::tree::present::{Options, present};
use crate::tree::raw::RawTree;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};

/// Windows of one application whose trees are watched at most.
const MAX_WINDOWS: usize = 8;
/// Snapshots that one watch leaves: those of its last lines. Older ones it takes away itself, or a busy application would
/// push out what its caller saved.
const MAX_SNAPSHOTS: usize = 24;
/// Lists of a comparison that become lines, and the event of each.
const LISTS: [(&str, &str); 7] = [
    ("added", "added"),
    ("removed", "removed"),
    ("changed", "changed"),
    ("moved", "moved"),
    ("replaced", "replaced"),
    ("removed_unproven", "removed-unproven"),
    ("no_longer_shown", "no-longer-shown"),
];

/// One window as it was last told.
struct Seen {
    base: Baseline,
    kept: Kept,
}

/// The watched windows.
pub struct Trees<'a> {
    args: &'a Watch,
    /// The one window that was named, by its id of now.
    window_id: Option<String>,
    process: Option<ProcessKey>,
    seen: HashMap<String, Seen>,
    /// Its snapshots, the oldest first.
    saved: VecDeque<String>,
}

impl<'a> Trees<'a> {
    /// Nothing yet. Without a process that was named no tree is read.
    pub fn new(args: &'a Watch, process: Option<ProcessKey>) -> Self {
        Self { args, window_id: args.window_id.clone(), process, seen: HashMap::new(), saved: VecDeque::new() }
    }

    fn ids(&self, desktop: &Desktop) -> Vec<String> {
        let mut ids = self.all_ids(desktop);
        ids.truncate(MAX_WINDOWS);
        ids
    }

    fn all_ids(&self, desktop: &Desktop) -> Vec<String> {
        if self.process.is_none() {
            return Vec::new();
        }
        let meant = |id: &str| self.window_id.as_deref().is_none_or(|wanted| wanted == id);
        let readable = desktop
            .windows
            .iter()
            .filter(|w| w.root.is_some() && w.responsive == Responsive::Yes && !desktop.is_silent(&w.process));
        readable.map(|w| w.id.clone()).filter(|id| meant(id)).collect()
    }

    /// Windows whose trees are not watched, since there are too many.
    pub fn left_out(&self, desktop: &Desktop) -> Vec<String> {
        self.all_ids(desktop).into_iter().skip(MAX_WINDOWS).collect()
    }

    fn arguments(&self, id: &str) -> Snapshot {
        Snapshot { window_id: Some(id.to_owned()), interactive_only: self.args.interactive_only, ..Snapshot::default() }
    }

    fn save(&mut self, context: &Context, id: &str, view: &Options, deadline: Deadline) -> Result<()> {
        let (root, tree) = read(context, &self.arguments(id), deadline)?;
        let kept = self.keep(context, root, tree, view)?;
        let base = Baseline::of(&kept.tree, &kept.presented, &kept.numbered, view);
        self.seen.insert(id.to_owned(), Seen { base, kept });
        Ok(())
    }

    /// Saves what was read, and takes away what was saved long ago.
    fn keep(&mut self, context: &Context, root: Root, tree: RawTree, view: &Options) -> Result<Kept> {
        let kept = keep_watched(context, root, tree, view)?;
        self.saved.push_back(kept.map.snapshot_id.clone());
        if self.saved.len() > MAX_SNAPSHOTS {
            let current = |id: &String| self.seen.values().any(|seen| seen.kept.map.snapshot_id == *id);
            if let Some(old) = self.saved.iter().position(|id| !current(id)).and_then(|at| self.saved.remove(at)) {
                saved::store(context)?.remove(&old);
            }
        }
        Ok(kept)
    }

    /// The first look: what changes is told from here.
    pub fn begin(&mut self, context: &Context, desktop: &Desktop, deadline: Deadline) -> Result<()> {
        for id in self.ids(desktop) {
            let view = options(&self.arguments(&id));
            self.save(context, &id, &view, deadline)?;
        }
        Ok(())
    }

    /// Windows have other ids now.
    pub fn rename(&mut self, renamed: &[(String, String)]) {
        if let Some(id) = &mut self.window_id
            && let Some((_, now)) = renamed.iter().find(|(was, _)| was == id)
        {
            id.clone_from(now);
        }
    }

    /// Whether the one window that was named is closed.
    pub fn target_closed(&self, desktop: &Desktop) -> bool {
        self.window_id.as_ref().is_some_and(|id| !desktop.windows.iter().any(|w| w.id == *id))
    }

    /// Tells what changed in each window.
    pub fn tell(
        &mut self,
        context: &Context,
        desktop: &Desktop,
        lines: &mut Lines<'_>,
        deadline: Deadline,
    ) -> Result<()> {
        let ids = self.ids(desktop);
        self.seen.retain(|id, _| desktop.windows.iter().any(|w| w.id == *id));
        for id in ids {
            let args = self.arguments(&id);
            let view = options(&args);
            let Some(was) = self.seen.get(&id) else {
                // A window that has just opened was told as such; from here on it is compared.
                self.save(context, &id, &view, deadline)?;
                continue;
            };
            let (root, tree) = match read(context, &args, deadline) {
                Ok(read) => read,
                // It closed between the two reads: the next look says so.
                Err(error) if error.code() == Code::WindowNotFound => continue,
                Err(error) => return Err(error),
            };
            lines.unseen |= !tree.complete();
            let delta = compare(&was.base, &tree, &present(&tree, &view));
            if delta.is_empty() {
                continue;
            }
            let kept = self.keep(context, root, tree, &view)?;
            let Some(was) = self.seen.get(&id) else { continue };
            let base = Baseline::of(&kept.tree, &kept.presented, &kept.numbered, &view);
            let changes = Changes::new(&was.base, Some(&was.kept.map), &kept, true);
            let mut all = Map::new();
            changes.insert_into(&mut all);
            say(&id, &kept.map.snapshot_id, changes.complete(), &mut all, lines);
            self.seen.insert(id, Seen { base, kept });
        }
        Ok(())
    }
}

/// One line for each change.
fn say(window: &str, snapshot: &str, complete: bool, all: &mut Map<String, Value>, lines: &mut Lines<'_>) {
    for (key, event) in LISTS {
        let Some(Value::Array(list)) = all.remove(key) else { continue };
        for element in list {
            let mut line =
                fields([("window_id", json!(window)), ("snapshot_id", json!(snapshot)), ("element", element)]);
            if !complete {
                line.insert("complete".into(), json!(false));
            }
            lines.tell(event, line);
        }
    }
    if let Some(counts) = all.remove("scrolled") {
        lines.tell("scrolled", fields([("window_id", json!(window)), ("counts", counts)]));
    }
}
