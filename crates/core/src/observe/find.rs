//! `find`: search a window or a subtree, and save refs for the matches that can be acted on.

use super::locate::{self, Root};
use super::saved;
use crate::command::Context;
use crate::command::observe::{Find, Selection as Wanted};
use crate::command::values::Format;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::platform::{Platform, ReadPlan};
use crate::query::ask::{Ask, Query};
use crate::query::matcher::{Found, search};
use crate::query::result::{Selection, to_json, to_text};
use crate::refs::capture::Capture;
use crate::refs::entry::{FORMAT, RefMap};
use crate::refs::id::SnapshotId;
use crate::tree::json::qualified;
use crate::tree::present::earns_ref;
use crate::tree::raw::RawTree;
use crate::tree::text::RefStyle;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

/// Runs `find`.
pub fn find(context: &Context, args: &Find) -> Answer {
    let platform = context.platform()?;
    let query = query(args)?;
    let selection = selection(args);
    let deadline = Deadline::after_ms(args.timeout());
    let (mut root, tree) = read(context, platform, args, deadline)?;
    let found = search(&query, &tree);
    context.trace().event(
        "locator.resolve",
        json!({
            "matches": found.matches.len(),
            "searched": found.searched,
            "undecided": found.undecided,
            "certain": selection.certain(&found),
            "app": root.source.app,
            "window_id": root.source.window_id,
        }),
    );
    if !selection.certain(&found) {
        return Err(incomplete(&tree, &found));
    }
    // None here may be one in a window that was not chosen.
    let others = if found.matches.is_empty() { root.source.others_json() } else { None };
    if selection == Selection::Count {
        return Ok(match args.format {
            Some(Format::Text) => json!(to_text(&tree, &query, &found, selection, &|_| None, "", RefStyle::Qualified)),
            _ => to_json(&tree, &query, &found, selection, &|_| None, ""),
        });
    }
    locate::within(platform, &mut root, &tree, deadline)?;
    let saved = save(context, root, &tree, selection.pick(&found))?;
    let number = |at: u32| saved.numbers.get(&at).copied();
    Ok(match args.format {
        Some(Format::Text) => {
            json!(to_text(&tree, &query, &found, selection, &number, &saved.snapshot_id, RefStyle::Qualified))
        }
        _ => {
            let mut out = to_json(&tree, &query, &found, selection, &number, &saved.snapshot_id);
            if let (true, Some(map)) = (saved.unproven, out.as_object_mut()) {
                map.insert("identity_unproven".into(), json!(true));
            }
            if let (Some(others), Some(map)) = (others, out.as_object_mut()) {
                map.insert("other_windows".into(), others);
            }
            out
        }
    })
}

fn query(args: &Find) -> Result<Query, Error> {
    Ask {
        role: args.role.as_deref(),
        name: args.name.as_deref(),
        value: args.value.as_deref(),
        text: args.text.as_deref(),
        description: args.description.as_deref(),
        native_id: args.native_id.as_deref(),
        exact: args.exact,
        states: args.state.iter().map(String::as_str).collect(),
    }
    .query()
}

fn selection(args: &Find) -> Selection {
    match args.selection() {
        Wanted::Count => Selection::Count,
        Wanted::First => Selection::First,
        Wanted::Last => Selection::Last,
        Wanted::Nth(n) => Selection::Nth(n),
        Wanted::List(limit) => Selection::List { limit: limit.unwrap_or(0) },
    }
}

fn read(context: &Context, platform: &dyn Platform, args: &Find, deadline: Deadline) -> Result<(Root, RawTree), Error> {
    let root = match &args.root {
        None => locate::root(platform, args.scope(), args.surface()?, deadline)?,
        Some(text) => {
            let id = text.parse()?;
            let map = saved::load(context, &id.snapshot)?;
            let resolved = saved::proven(context, &map, id.number, false, deadline)?;
            let mut above = map.chain(crate::act::entry_of(&map, id.number)?.link);
            let index = above.pop().map_or(0, |own| own.index);
            let (process, source) = (map.process.clone(), map.source.clone());
            Root { handle: resolved.live.handle, above, index, process, source, below: Some((map, id.number)) }
        }
    };
    let mut tree = platform.read_tree(&root.handle, &root.above, &root.process, &ReadPlan::contract(deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    Ok((root, tree))
}

/// Something that was not read could change the answer: it is given as an error, never as "no match".
fn incomplete(tree: &RawTree, found: &Found) -> Error {
    let mut error =
        Error::before(Code::Timeout, "the search is not complete: something unread may match or hide a match")
            .kind("locator_incomplete")
            .detail("observed_matches", found.matches.len())
            .detail(
                "query_stats",
                json!({"searched": found.searched, "undecided": found.undecided, "cuts": found.cuts,
                   "virtual_containers": found.virtual_containers}),
            )
            .detail("roles_present", json!(found.roles_present))
            .suggest(
                "Retry with a longer --timeout-ms, search below a --root, or take --first where one match is enough.",
            );
    if let Some(kind) = tree.kind {
        // Time won't bring what the application does not publish.
        error = error.detail("cause", kind).not_retryable().suggest(
            "The application does not publish all of its tree now. A dialog of its page (alert, confirm) that is open does \
             that: a snapshot shows it, answer it first. Where there is none, it was started without accessibility: \
             'agent-desktop launch' starts it with it, once it is closed.",
        );
    }
    error
}

/// Refs that were saved for matches.
pub struct Saved {
    /// The snapshot that was made for them.
    pub snapshot_id: String,
    /// Number of each raw node that got one.
    pub numbers: HashMap<u32, u32>,
    /// Whether what would prove some of them could not be read.
    pub unproven: bool,
}

impl Saved {
    /// The printed ref of a raw node, where it has one.
    pub fn qualified(&self, raw: u32) -> Option<String> {
        self.numbers.get(&raw).map(|n| qualified(&self.snapshot_id, *n))
    }
}

/// Makes a snapshot that holds refs for these nodes, as far as they can be acted on.
pub fn save(context: &Context, root: Root, tree: &RawTree, matches: &[u32]) -> Result<Saved, Error> {
    let id = SnapshotId::generate();
    let earning = matches.iter().copied().filter(|m| earns_ref(&tree.node(*m).facts));
    let numbered: Vec<(u32, u32)> = (1..).zip(earning).collect();
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
    let mut capture = Capture::fresh(&mut map, tree);
    if let Some((of, number)) = &root.below {
        capture = capture.below(of, *number);
    }
    let unproven = capture.save(tree, &numbered, None);
    saved::store(context)?.save(id.as_str(), &map)?;
    saved::tell_saved(context, &map, tree.complete());
    let numbers = numbered.into_iter().filter(|(n, _)| map.entries.contains_key(n)).map(|(n, raw)| (raw, n)).collect();
    Ok(Saved { snapshot_id: id.to_string(), numbers, unproven })
}

/// Nodes of a tree that carry a text in name, value or description.
pub fn with_text(tree: &RawTree, text: &str) -> Result<Found, Error> {
    Ok(search(&Ask { text: Some(text), ..Ask::default() }.query()?, tree))
}
