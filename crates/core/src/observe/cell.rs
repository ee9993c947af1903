//! `snapshot --cell`: one cell of a table, asked for by row and column, so that a sheet of a million rows needs no walk
//! and the cell need not be on the screen.

use super::locate::{self, Root};
use super::saved;
use super::snapshot::{plan, show};
use super::table::{around, cells_of};
use crate::command::Context;
use crate::command::observe::Snapshot;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::platform::{Platform, ReadPlan};
use crate::refs::entry::RefMap;
use crate::refs::resolve::Purpose;
use crate::tree::name::name_of;
use crate::tree::raw::{Cut, Link, RawTree};
use crate::vocab::role::Role;
use crate::vocab::state::State;
use serde_json::{Value, json};

/// How far above an element a table is looked for: a cell of GTK 4 or of a page stands three or four levels deep.
const LEVELS: usize = 5;
/// Tables that an error names at most.
const MAX_NAMED: usize = 10;

/// Runs `snapshot --cell`.
pub fn cell(context: &Context, args: &Snapshot, deadline: Deadline) -> Answer {
    let Some(wanted) = &args.cell else { return Err(Error::invalid("no cell is named")) };
    let (row, column) = wanted.parse()?;
    let platform = context.platform()?;
    saved::store(context)?;
    let root = reached(context, platform, args, (row, column), deadline)?;
    let mut tree = platform.read_tree(&root.handle, &root.above, &root.process, &plan(args, deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    let mut data = show(context, args, root, tree, deadline)?;
    if let Value::Object(map) = &mut data {
        map.insert("cell".into(), json!({"cell": wanted.0, "row": row, "column": column}));
    }
    Ok(data)
}

/// The cell as the root of a tree below its table.
fn inside(table: Root, cell: Link) -> Root {
    let Root { handle, mut above, index, process, source, below } = table;
    above.push(Link { handle, index });
    // What tells the table is no proof of the cell: where one is needed it is looked for in the window.
    drop(below);
    Root { handle: cell.handle, above, index: cell.index, process, source, below: None }
}

/// The cell of the table that is meant: the element of `--root` or what it stands in, or the only table of the window.
fn reached(
    context: &Context,
    platform: &dyn Platform,
    args: &Snapshot,
    (row, column): (u64, u64),
    deadline: Deadline,
) -> Result<Root> {
    if let Some(text) = &args.root {
        let id = text.parse()?;
        let map = saved::load(context, &id.snapshot)?;
        saved::resolve(platform, &map, id.number, Purpose::Read, deadline)?;
        let link = crate::act::entry_of(&map, id.number)?.link;
        let found = first_with(tables_at(&map, link), |table| {
            Ok(inside(table.clone(), platform.cell_at(&table.handle, row, column, deadline)?))
        });
        return by_tree(found, (row, column), |error| around(platform, &map, link, deadline, error));
    }
    let root = locate::root(platform, args.scope(), args.surface()?, deadline)?;
    let (table, tree, at) = shown_table(platform, &root, deadline)?;
    let found = platform.cell_at(&table.handle, row, column, deadline).map(|found| inside(table, found));
    by_tree(found, (row, column), |_| Ok((root, tree, at)))
}

/// The cell by the rows of the tree, where the table has no interface for it.
fn by_tree(
    found: Result<Root>,
    (row, column): (u64, u64),
    tree: impl FnOnce(Error) -> Result<(Root, RawTree, u32)>,
) -> Result<Root> {
    let error = match found {
        Err(error) if error.kind_name() == Some("no_table_interface") => error,
        other => return other,
    };
    let (root, tree, at) = tree(error.clone())?;
    let rows = cells_of(&tree, at);
    if rows.is_empty() {
        return Err(error);
    }
    let cell = usize::try_from(row).ok().and_then(|r| rows.get(r)?.get(usize::try_from(column).ok()?).copied());
    let cell = cell.ok_or_else(|| {
        Error::before(Code::ElementNotFound, "the table's tree has no such cell")
            .kind("no_such_cell")
            .detail("row_count", rows.len())
            .suggest("Its tree may hold only the rows that are near the screen: scroll, and ask again.")
    })?;
    Ok(placed(&root, &tree, cell))
}

/// An element of a window's tree as a root of its own.
fn placed(root: &Root, tree: &RawTree, at: u32) -> Root {
    let mut path: Vec<u32> = tree.ancestors_or_self(at).skip(1).collect();
    path.reverse();
    let mut above = root.above.clone();
    let index = |at: u32| if at == 0 { root.index } else { tree.node(at).index };
    above.extend(path.iter().map(|p| Link { handle: tree.node(*p).handle.clone(), index: index(*p) }));
    Root { handle: tree.node(at).handle.clone(), above, index: index(at), ..root.clone() }
}

/// An element of a snapshot and what it stands in, the nearest first: one of them may be a table.
pub(super) fn tables_at(map: &RefMap, link: u32) -> Vec<Root> {
    let mut above = map.chain(link);
    let mut out = Vec::new();
    // The application itself is none.
    while let Some(own) = above.pop().filter(|_| !above.is_empty() && out.len() <= LEVELS) {
        let (process, source) = (map.process.clone(), map.source.clone());
        out.push(Root { handle: own.handle, above: above.clone(), index: own.index, process, source, below: None });
    }
    out
}

/// What the first of several elements says that is a table; the first error where none is.
pub(super) fn first_with<T>(tables: Vec<Root>, ask: impl Fn(&Root) -> Result<T>) -> Result<T> {
    let mut first = None;
    for table in &tables {
        match ask(table) {
            Err(error) if error.kind_name() == Some("no_table_interface") => _ = first.get_or_insert(error),
            answer => return answer,
        }
    }
    Err(first.unwrap_or_else(crate::act::ready::torn))
}

/// The only table that a window shows, with the window's tree and its place in there.
pub(super) fn shown_table(platform: &dyn Platform, root: &Root, deadline: Deadline) -> Result<(Root, RawTree, u32)> {
    let tree = platform.read_tree(&root.handle, &root.above, &root.process, &ReadPlan::contract(deadline))?;
    let at = only_table(&tree).map_err(|error| {
        let source = &root.source;
        let error = error.detail("window", json!({"id": source.window_id, "title": source.window_title}));
        source.others_json().into_iter().fold(error, |e, others| e.detail("other_windows", others))
    })?;
    Ok((placed(root, &tree, at), tree, at))
}

/// Whether this is a table by its role.
pub(super) fn is_table(tree: &RawTree, at: u32) -> bool {
    matches!(tree.node(at).facts.role.known(), Some(Role::Table | Role::Grid | Role::Outline))
}

/// The only table: the one that is virtual, where there are several.
fn only_table(tree: &RawTree) -> Result<u32> {
    let shown = |at: &u32| {
        let away = tree.node(*at).facts.states.known().is_some_and(|s| s.has(State::Hidden));
        is_table(tree, *at) && !away
    };
    let all: Vec<u32> = (0..tree.nodes.len() as u32).filter(shown).collect();
    let large: Vec<u32> = all.iter().copied().filter(|at| tree.node(*at).cut == Some(Cut::Virtual)).collect();
    let left = if large.is_empty() { &all } else { &large };
    match left[..] {
        [one] => Ok(one),
        [] => Err(Error::before(Code::ElementNotFound, "the window shows no table").kind("no_table").suggest(
            "Another window may: name it with --window-id ('list-windows' shows ids). Or give the table's ref: \
                 'table REF', 'snapshot --root REF --cell B7'.",
        )),
        _ => {
            let name = |at: &u32| json!({"name": name_of(&tree.node(*at).facts).into_known().map(|n| n.text)});
            let named: Vec<Value> = left.iter().take(MAX_NAMED).map(name).collect();
            Err(Error::before(Code::AmbiguousTarget, "the window shows several tables")
                .kind("several_candidates")
                .detail("candidate_count", left.len())
                .detail("candidates", named)
                .suggest("Name the table by its ref: --root REF --cell B7."))
        }
    }
}
