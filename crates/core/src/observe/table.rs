//! `table`: rows and columns as data, from the table's own interface; where it publishes none, from rows and cells in its
//! tree.

use super::cell::{first_with, is_table, shown_table, tables_at};
use super::locate::{self, Root};
use super::saved;
use crate::command::Context;
use crate::command::observe::{TABLE_COLUMNS, Table};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::evidence::{Cause, Evidence};
use crate::platform::{Platform, ReadPlan, TableAsk, TablePart};
use crate::refs::entry::RefMap;
use crate::refs::id::RefId;
use crate::refs::resolve::Purpose;
use crate::tree::name::{name_of, value_of};
use crate::tree::raw::RawTree;
use crate::vocab::role::Role;
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};

/// Runs `table`.
pub fn table(context: &Context, args: &Table) -> Answer {
    let deadline = Deadline::after_ms(args.timeout());
    let platform = context.platform()?;
    let ask = TableAsk { rows: args.rows()?, columns: args.columns()?, usual_columns: TABLE_COLUMNS };
    let (part, source) = match &args.ref_id {
        Some(text) => at_ref(context, platform, &text.parse()?, &ask, deadline)?,
        None => {
            let root = locate::root(platform, args.scope(), Surface::Window, deadline)?;
            let (table, tree, at) = shown_table(platform, &root, deadline)?;
            by_interface(platform.table_part(&table.handle, &ask, deadline), |error| {
                rows_of(&tree, at, &ask).ok_or_else(|| not_a_table(error))
            })?
        }
    };
    let mut part = part;
    let empty = trim(&mut part, args.rows.is_none(), args.columns.is_none());
    let mut out = data(args.ref_id.as_ref().map(|r| r.0.as_str()), &part, source);
    if source == "tree" {
        // Toolkits without a table interface keep a part of a long list in their tree.
        out.insert("more_rows".into(), json!("unknown"));
    }
    if !empty.is_empty() {
        out.insert("empty".into(), Value::Object(empty));
    }
    Ok(Value::Object(out))
}

/// Leaves out what was read at the end of a large table and holds nothing, where no range was asked for: a sheet has
/// millions of empty cells. What was left out is told. A cell that could not be read is not empty.
fn trim(part: &mut TablePart, rows: bool, columns: bool) -> Map<String, Value> {
    let holds =
        |cell: &Evidence<String>| !matches!(cell, Evidence::Absent) && cell.known().is_none_or(|t| !t.is_empty());
    let mut empty = Map::new();
    let mut told = |what: &str, from: u64, to: u64| {
        if from < to {
            empty.insert(what.into(), json!({"start": from, "end": to}));
        }
    };
    if rows && part.row_count > part.rows.end && part.columns.start < part.columns.end {
        let kept = part.cells.iter().rposition(|row| row.iter().any(holds)).map_or(1, |last| last + 1);
        part.cells.truncate(kept);
        let end = part.rows.start + part.cells.len() as u64;
        told("rows", end, part.rows.end);
        part.rows.end = end;
    }
    if columns && part.column_count > part.columns.end && part.headers.is_empty() {
        let last = part.cells.iter().filter_map(|row| row.iter().rposition(holds)).max();
        let kept = last.map_or(1, |last| last + 1);
        part.cells.iter_mut().for_each(|row| row.truncate(kept));
        let end = part.columns.end.min(part.columns.start + kept as u64);
        told("columns", end, part.columns.end);
        part.columns.end = end;
    }
    empty
}

/// The table's own word, or that of its tree where it has no interface for it; and which of them it is.
fn by_interface(
    answer: Result<TablePart>,
    by_tree: impl FnOnce(Error) -> Result<TablePart>,
) -> Result<(TablePart, &'static str)> {
    match answer {
        Err(error) if error.kind_name() == Some("no_table_interface") => Ok((by_tree(error)?, "tree")),
        answer => Ok((answer?, "table")),
    }
}

/// The table of a ref: the element itself, or what it stands in.
fn at_ref(
    context: &Context,
    platform: &dyn Platform,
    id: &RefId,
    ask: &TableAsk,
    deadline: Deadline,
) -> Result<(TablePart, &'static str)> {
    let map = saved::load(context, &id.snapshot)?;
    saved::resolve(platform, &map, id.number, Purpose::Read, deadline)?;
    let link = crate::act::entry_of(&map, id.number)?.link;
    let answer = first_with(tables_at(&map, link), |table| platform.table_part(&table.handle, ask, deadline));
    by_interface(answer, |error| {
        let (_, tree, at) = around(platform, &map, link, deadline, error.clone())?;
        rows_of(&tree, at, ask).ok_or_else(|| not_a_table(error))
    })
}

/// The window around an element, with the nearest table in it by its role.
pub(super) fn around(
    platform: &dyn Platform,
    map: &RefMap,
    link: u32,
    deadline: Deadline,
    error: Error,
) -> Result<(Root, RawTree, u32)> {
    let chain = map.chain(link);
    let (Some([above, window]), Some(own)) = (chain.get(..2), chain.last()) else { return Err(not_a_table(error)) };
    let lines = std::slice::from_ref(above);
    let tree = platform.read_tree(&window.handle, lines, &map.process, &ReadPlan::contract(deadline))?;
    if !tree.complete() {
        return Err(Error::before(Code::Timeout, "the table's rows could not be read completely")
            .kind("table_incomplete")
            .suggest("Retry with a longer --timeout-ms."));
    }
    let at = (0..tree.nodes.len() as u32).find(|at| tree.node(*at).handle == own.handle);
    let at = at.map(|at| tree.ancestors_or_self(at).find(|a| is_table(&tree, *a)).unwrap_or(at));
    let root = Root {
        handle: window.handle.clone(),
        above: vec![above.clone()],
        index: window.index,
        process: map.process.clone(),
        source: map.source.clone(),
        below: None,
    };
    at.map(|at| (root, tree, at)).ok_or_else(|| not_a_table(error))
}

fn not_a_table(error: Error) -> Error {
    error.suggest("Give the ref of a cell or row of a table, or name its window with --app: its only table is read.")
}

fn data(reference: Option<&str>, part: &TablePart, source: &str) -> Map<String, Value> {
    let mut out = Map::new();
    if let Some(reference) = reference {
        out.insert("ref".into(), json!(reference));
    }
    out.insert("row_count".into(), json!(part.row_count));
    out.insert("column_count".into(), json!(part.column_count));
    let range = |r: &std::ops::Range<u64>| json!({"start": r.start, "end": r.end});
    out.insert("range".into(), json!({"rows": range(&part.rows), "columns": range(&part.columns)}));
    out.insert("rows".into(), json!(part.rows.end - part.rows.start));
    out.insert("columns".into(), json!(part.columns.end - part.columns.start));
    if !part.headers.is_empty() {
        out.insert("headers".into(), json!(part.headers));
    }
    let mut unread = 0;
    let mut text = |cell: &Evidence<String>| match cell {
        Evidence::Known(text) => json!(text),
        Evidence::Absent => Value::Null,
        Evidence::Unknown(_) => {
            unread += 1;
            Value::Null
        }
    };
    let cells: Vec<Vec<Value>> = part.cells.iter().map(|row| row.iter().map(&mut text).collect()).collect();
    out.insert("cells".into(), json!(cells));
    out.insert("complete".into(), json!(unread == 0));
    if unread > 0 {
        // A cell that was not read is no empty one.
        out.insert("unread".into(), json!(unread));
    }
    out.insert("source".into(), json!(source));
    out
}

/// Rows are the elements that hold cells. The roles don't tell headers from cells: a row of headers is a row here.
pub(super) fn cells_of(tree: &RawTree, top: u32) -> Vec<Vec<u32>> {
    let is_cell = |at: &u32| tree.node(*at).facts.role.known() == Some(&Role::Cell);
    let row = |at: u32| tree.node(at).children.iter().copied().filter(is_cell).collect::<Vec<u32>>();
    tree.subtree(top).map(row).filter(|cells| !cells.is_empty()).collect()
}

fn rows_of(tree: &RawTree, top: u32, ask: &TableAsk) -> Option<TablePart> {
    let rows = cells_of(tree, top);
    let width = rows.iter().map(Vec::len).max()? as u64;
    let (row_range, columns) = ask.within(rows.len() as u64, width);
    let cut = |cells: &Vec<u32>| -> Vec<Evidence<String>> {
        let one = |c: u64| cells.get(c as usize).map_or(Evidence::Absent, |at| text_of(tree, *at));
        columns.clone().map(one).collect()
    };
    let wanted = rows.iter().skip(row_range.start as usize).take((row_range.end - row_range.start) as usize);
    Some(TablePart {
        row_count: rows.len() as u64,
        column_count: width,
        cells: wanted.map(cut).collect(),
        headers: Vec::new(),
        rows: row_range,
        columns,
    })
}

/// What a cell says: its value, its name, else the names of what is in it.
fn text_of(tree: &RawTree, at: u32) -> Evidence<String> {
    let own = |at: u32| {
        let facts = &tree.node(at).facts;
        match value_of(facts) {
            Evidence::Known(value) => Evidence::Known(value.to_owned()),
            Evidence::Unknown(cause) if cause != Cause::NotRead => Evidence::Unknown(cause),
            _ => name_of(facts).map(|n| n.text),
        }
    };
    if let known @ (Evidence::Known(_) | Evidence::Unknown(_)) = own(at) {
        return known;
    }
    let mut texts = Vec::new();
    for inner in tree.subtree(at).skip(1) {
        match own(inner) {
            Evidence::Known(text) => texts.push(text),
            Evidence::Unknown(cause) => return Evidence::Unknown(cause),
            Evidence::Absent => {}
        }
    }
    if texts.is_empty() { Evidence::Absent } else { Evidence::Known(texts.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::{Spec, node};

    fn row(texts: &[&str]) -> Spec {
        node(Role::Row).children(texts.iter().map(|t| node(Role::Cell).child(node(Role::StaticText).name(t))))
    }

    #[test]
    fn rows_in_the_tree_stand_in_for_the_interface() {
        let body = node(Role::Group).child(row(&["Ann", "7"])).child(row(&["Bob"])).child(row(&["Cy", "9"]));
        let tree = node(Role::Table).child(body).build();
        let ask = TableAsk { rows: 1..9, columns: None, usual_columns: 50 };
        let part = rows_of(&tree, 0, &ask).unwrap();
        let text = |t: &str| Evidence::Known(t.to_owned());
        assert_eq!((part.row_count, part.column_count, part.rows.clone()), (3, 2, 1..3));
        assert_eq!(part.cells, [vec![text("Bob"), Evidence::Absent], vec![text("Cy"), text("9")]]);
        assert!(rows_of(&node(Role::Group).child(node(Role::Button)).build(), 0, &ask).is_none());
    }

    #[test]
    fn what_is_empty_at_the_end_of_a_larger_table_is_told_instead_of_printed() {
        let text = |t: &str| Evidence::Known(t.to_owned());
        let part = |cells: Vec<Vec<Evidence<String>>>| TablePart {
            row_count: 9,
            column_count: 9,
            rows: 0..cells.len() as u64,
            columns: 0..3,
            headers: Vec::new(),
            cells,
        };
        let blank = || vec![text(""), text(""), Evidence::Absent];
        let mut some = part(vec![vec![text("a"), text(""), text("")], blank(), blank()]);
        let told = Value::Object(trim(&mut some, true, true));
        assert_eq!(told, json!({"rows": {"start": 1, "end": 3}, "columns": {"start": 1, "end": 3}}));
        assert_eq!((some.cells.clone(), some.rows.clone(), some.columns.clone()), (vec![vec![text("a")]], 0..1, 0..1));
        // Nothing is left out where a range was asked for, where a cell was not read, or where the table ends there.
        assert!(trim(&mut part(vec![blank(), blank()]), false, false).is_empty());
        let unread = || vec![text("a"), text(""), Evidence::Unknown(Cause::Late)];
        assert!(trim(&mut part(vec![unread(), unread()]), true, true).is_empty());
        let mut whole = part(vec![blank(), blank()]);
        (whole.row_count, whole.column_count) = (2, 3);
        assert!(trim(&mut whole, true, true).is_empty());
    }

    #[test]
    fn a_range_is_cut_to_the_table() {
        let ask = TableAsk { rows: 5..500, columns: Some(2..3), usual_columns: 50 };
        assert_eq!(ask.within(10, 2), (5..10, 2..2));
        assert_eq!(ask.within(3, 9), (3..3, 2..3));
    }
}
