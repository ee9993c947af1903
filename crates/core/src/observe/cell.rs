//! `snapshot --cell`: one cell of a table, asked for by row and column, so that a sheet of a million rows needs no walk
//! and the cell need not be on the screen.

use super::locate::{self, Root};
use super::saved;
use super::snapshot::{plan, show};
use crate::command::Context;
use crate::command::observe::Snapshot;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::platform::Platform;
use crate::refs::resolve::Purpose;
use crate::tree::name::name_of;
use crate::tree::raw::{Cut, Link, RawTree};
use crate::vocab::role::Role;
use crate::vocab::state::State;
use serde_json::{Value, json};

/// Tables that an error names at most.
const MAX_NAMED: usize = 10;

/// Runs `snapshot --cell`.
pub fn cell(context: &Context, args: &Snapshot, deadline: Deadline) -> Answer {
    let Some(wanted) = &args.cell else { return Err(Error::invalid("no cell is named")) };
    let (row, column) = wanted.parse()?;
    let platform = context.platform()?;
    saved::store(context)?;
    let table = table(context, platform, args, deadline)?;
    let found = platform.cell_at(&table.handle, row, column, deadline)?;
    let root = inside(table, found);
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

/// The table that is meant: the element of `--root`, or the only table of the window that is shown.
fn table(context: &Context, platform: &dyn Platform, args: &Snapshot, deadline: Deadline) -> Result<Root> {
    if let Some(text) = &args.root {
        let id = text.parse()?;
        let map = saved::load(context, &id.snapshot)?;
        let resolved = saved::resolve(platform, &map, id.number, Purpose::Read, deadline)?;
        let mut above = map.chain(crate::act::entry_of(&map, id.number)?.link);
        let index = above.pop().map_or(0, |own| own.index);
        let (process, source) = (map.process.clone(), map.source.clone());
        return Ok(Root { handle: resolved.live.handle, above, index, process, source, below: None });
    }
    let root = locate::root(platform, args.scope(), args.surface()?, deadline)?;
    let mut tree = platform.read_tree(&root.handle, &root.above, &root.process, &plan(args, deadline))?;
    if let Some(top) = tree.nodes.first_mut() {
        top.index = root.index;
    }
    let at = only_table(&tree)?;
    let mut above = root.above.clone();
    let mut path: Vec<u32> = tree.ancestors_or_self(at).skip(1).collect();
    path.reverse();
    above.extend(path.iter().map(|p| Link { handle: tree.node(*p).handle.clone(), index: tree.node(*p).index }));
    let node = tree.node(at);
    Ok(Root { handle: node.handle.clone(), above, index: node.index, ..root })
}

/// The only table: the one that is virtual, where there are several.
fn only_table(tree: &RawTree) -> Result<u32> {
    let shown = |at: &u32| {
        let facts = &tree.node(*at).facts;
        let away = facts.states.known().is_some_and(|s| s.has(State::Hidden));
        matches!(facts.role.known(), Some(Role::Table | Role::Grid | Role::Outline)) && !away
    };
    let all: Vec<u32> = (0..tree.nodes.len() as u32).filter(shown).collect();
    let large: Vec<u32> = all.iter().copied().filter(|at| tree.node(*at).cut == Some(Cut::Virtual)).collect();
    let left = if large.is_empty() { &all } else { &large };
    match left[..] {
        [one] => Ok(one),
        [] => Err(Error::before(Code::ElementNotFound, "the window shows no table")
            .kind("no_table")
            .suggest("Name the table by its ref: --root REF --cell B7.")),
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
