//! Virtual containers: what of them can be seen, and where cells stand (decisions D6, FINDINGS §2 "LibreOffice Calc").

use super::flight::Subject;
use super::interface as i;
use super::native::Field;
use super::role::native as n;
use super::toolkit::{CellSource, Toolkit};
use super::tree::Node;
use crate::bus::{Body, Call, CallError, Object, Reply, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::Evidence;

/// Visible cells listed at most.
const MAX_CELLS: i64 = 800;

/// The visible children of a huge container, with their indices. Empty where the container doesn't say what is
/// visible: nothing is guessed.
pub fn visible(wire: &dyn Wire, grid: &Object, toolkit: Toolkit, deadline: Deadline) -> Vec<(u32, Object)> {
    let Some((first, last)) = corners(wire, grid, deadline) else { return Vec::new() };
    let Some(((top, left), (bottom, right))) = positions(wire, grid, &first, &last, toolkit, deadline) else {
        return Vec::new();
    };
    let (top, bottom) = (top.min(bottom), top.max(bottom));
    let (left, right) = (left.min(right), left.max(right));
    let mut places = Vec::new();
    'rows: for row in top..=bottom {
        for column in left..=right {
            if places.len() as i64 >= MAX_CELLS {
                break 'rows;
            }
            places.push((row, column));
        }
    }
    let int = |v: i64| i32::try_from(v).unwrap_or(i32::MAX);
    let at = |&(r, c): &(i64, i64)| Call::with(grid, i::TABLE, "GetAccessibleAt", Body::Ints(int(r), int(c)));
    let index = |&(r, c): &(i64, i64)| Call::with(grid, i::TABLE, "GetIndexAt", Body::Ints(int(r), int(c)));
    let calls: Vec<Call> = places.iter().map(at).chain(places.iter().map(index)).collect();
    let answers = wire.flight(calls, deadline);
    let (cells, indices) = answers.split_at(places.len());
    let one = |(cell, index): (&Result<Reply, CallError>, &Result<Reply, CallError>)| {
        let object = cell.as_ref().ok()?.object().ok().filter(|o| !o.is_null())?;
        let index = index.as_ref().ok().and_then(|r| r.int().ok()).and_then(|k| u32::try_from(k).ok())?;
        Some((index, object))
    };
    cells.iter().zip(indices).filter_map(one).collect()
}

/// The objects in the first and the last corner of what the container shows.
fn corners(wire: &dyn Wire, grid: &Object, deadline: Deadline) -> Option<(Object, Object)> {
    let (x, y, width, height) = wire.call(Field::Extents.call(grid), deadline).ok()?.extents().ok()?;
    if width < 4 || height < 4 {
        return None;
    }
    let hit = |dx: i32, dy: i32| Call::with(grid, i::COMPONENT, "GetAccessibleAtPoint", Body::Point(x + dx, y + dy, 0));
    // A container may end in an empty margin: corners further in stand in for one that hits nothing.
    let inset = |part: i32| (width - 3 - width * part / 8, height - 3 - height * part / 8);
    let mut calls = vec![hit(2, 2), hit(width / 8, height / 8)];
    calls.extend((0..4).map(inset).map(|(dx, dy)| hit(dx, dy)));
    let answers: Vec<Option<Object>> = wire
        .flight(calls, deadline)
        .into_iter()
        .map(|a| a.ok().and_then(|r| r.object().ok()).filter(|o| !o.is_null() && o != grid))
        .collect();
    let first = answers[..2].iter().flatten().next()?.clone();
    let last = answers[2..].iter().flatten().next()?.clone();
    Some((first, last))
}

/// Row and column.
type Cell = (i64, i64);

fn positions(
    wire: &dyn Wire,
    grid: &Object,
    first: &Object,
    last: &Object,
    toolkit: Toolkit,
    deadline: Deadline,
) -> Option<(Cell, Cell)> {
    let index = |o: &Object| Call::new(o, i::ACCESSIBLE, "GetIndexInParent");
    let calls = vec![Field::Cell.call(first), Field::Cell.call(last), index(first), index(last)];
    let answers = wire.flight(calls, deadline);
    let cell = |k: usize| {
        let (row, column) = answers[k].as_ref().ok()?.ints_property().ok()?;
        Some((i64::from(row), i64::from(column)))
    };
    if let (CellSource::Cell, Some(a), Some(b)) = (toolkit.cell_source(), cell(0), cell(1)) {
        return Some((a, b));
    }
    let child = |k: usize| u32::try_from(answers[k].as_ref().ok()?.int().ok()?).ok();
    let mut both = cells_at(wire, &[(grid, child(2)?), (grid, child(3)?)], toolkit, deadline).into_iter();
    Some((both.next()?.into_known()?, both.next()?.into_known()?))
}

/// Row and column of children of tables, by their index: from the table itself, or from its counts.
pub fn cells_at(
    wire: &dyn Wire,
    places: &[(&Object, u32)],
    toolkit: Toolkit,
    deadline: Deadline,
) -> Vec<Evidence<Cell>> {
    if toolkit.cell_source() == CellSource::Counts {
        let mut tables: Vec<Object> = Vec::new();
        for (table, _) in places {
            if !tables.contains(table) {
                tables.push((*table).clone());
            }
        }
        let layouts = layouts(wire, &tables, toolkit, deadline);
        let of = |table: &Object| tables.iter().position(|t| t == table).map_or(&Evidence::Absent, |at| &layouts[at]);
        return places.iter().map(|(table, index)| cell_at(of(table), *index)).collect();
    }
    let ask = |&(table, index): &(&Object, u32)| {
        let index = Body::Int(i32::try_from(index).unwrap_or(i32::MAX));
        ["GetRowAtIndex", "GetColumnAtIndex"].map(|member| Call::with(table, i::TABLE, member, index.clone()))
    };
    let answers = wire.flight(places.iter().flat_map(ask).collect(), deadline);
    let one = |pair: &[Result<Reply, CallError>]| {
        let int = |k: usize| pair[k].clone().and_then(|r| r.int()).map(i64::from);
        match (int(0), int(1)) {
            (Ok(row), Ok(column)) if row >= 0 && column >= 0 => Evidence::Known((row, column)),
            (Ok(_), Ok(_)) => Evidence::Absent,
            (Err(e), _) | (_, Err(e)) => {
                crate::outcome::read::classify(&e, toolkit, crate::outcome::read::Asked::Optional).evidence()
            }
        }
    };
    answers.chunks(2).map(one).collect()
}

/// How a table without cell interfaces counts its children: row by row, headers among them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    columns: u64,
    /// Whether the first row is one of headers, and whether each row begins with one.
    header_row: bool,
    header_column: bool,
}

impl Layout {
    /// From what the table says: rows, columns, children, and the role of its first child. None where they don't fit
    /// together: nothing is guessed.
    fn of(rows: u64, columns: u64, children: u64, first: u32) -> Option<Self> {
        let fits = |h: u64, v: u64| rows.checked_add(h)?.checked_mul(columns.checked_add(v)?);
        let is = |h: u64, v: u64| fits(h, v) == Some(children);
        let (header_row, header_column) = match first {
            n::TABLE_CELL | n::LIST_ITEM | n::TREE_ITEM => is(0, 0).then_some((false, false))?,
            n::TABLE_ROW_HEADER | n::ROW_HEADER => is(0, 1).then_some((false, true))?,
            // The corner may be of any role; a column header stands first where there is none.
            n::TABLE_COLUMN_HEADER | n::COLUMN_HEADER if is(1, 0) => (true, false),
            _ => is(1, 1).then_some((true, true))?,
        };
        (columns > 0).then_some(Self { columns, header_row, header_column })
    }

    /// Row and column of the child with this index; none for a header.
    fn cell(&self, index: u32) -> Option<Cell> {
        let width = self.columns + u64::from(self.header_column);
        let (row, column) = (u64::from(index) / width, u64::from(index) % width);
        let row = row.checked_sub(u64::from(self.header_row))?;
        let column = column.checked_sub(u64::from(self.header_column))?;
        Some((i64::try_from(row).ok()?, i64::try_from(column).ok()?))
    }
}

/// The layouts of tables, in two flights. `Table.GetRowColumnExtentsAtIndex` would say it directly, but a Qt 6.4 table
/// with headers dies of it (seen in qt6ct: segmentation fault), so that only counts are asked for.
fn layouts(wire: &dyn Wire, tables: &[Object], toolkit: Toolkit, deadline: Deadline) -> Vec<Evidence<Layout>> {
    let ask = |t: &Object| {
        [Call::get(t, i::TABLE, "NRows"), Call::get(t, i::TABLE, "NColumns"), Field::ChildCount.call(t), first_child(t)]
    };
    let answers = wire.flight(tables.iter().flat_map(ask).collect(), deadline);
    let firsts: Vec<Option<Object>> =
        answers.chunks(4).map(|a| a[3].as_ref().ok()?.object().ok().filter(|o| !o.is_null())).collect();
    let roles = wire.flight(firsts.iter().flatten().map(|o| Field::Role.call(o)).collect(), deadline);
    let mut roles = roles.into_iter();
    let one = |(answers, first): (&[Result<Reply, CallError>], &Option<Object>)| {
        let role = first.as_ref().and_then(|_| roles.next()).map(|r| r.and_then(|r| r.uint()));
        let count = |k: usize| answers[k].clone().and_then(|r| r.int_property());
        let all = (count(0), count(1), count(2), role.unwrap_or(Err(CallError::Invalid("no first child".to_owned()))));
        match all {
            (Ok(rows), Ok(columns), Ok(children), Ok(first)) => {
                let positive = |v: i64| u64::try_from(v).ok();
                let layout = || Layout::of(positive(rows)?, positive(columns)?, positive(children)?, first);
                layout().map_or(Evidence::Absent, Evidence::Known)
            }
            (Err(e), ..) | (_, Err(e), ..) | (_, _, Err(e), _) | (.., Err(e)) => {
                crate::outcome::read::classify(&e, toolkit, crate::outcome::read::Asked::Optional).evidence()
            }
        }
    };
    answers.chunks(4).zip(&firsts).map(one).collect()
}

fn first_child(table: &Object) -> Call {
    Call::with(table, i::ACCESSIBLE, "GetChildAtIndex", Body::Int(0))
}

/// Row and column of a table's child.
fn cell_at(layout: &Evidence<Layout>, index: u32) -> Evidence<Cell> {
    match layout {
        Evidence::Known(layout) => layout.cell(index).map_or(Evidence::Absent, Evidence::Known),
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
    }
}

/// Fills in row and column of cells that can't say it themselves.
pub fn place_cells(wire: &dyn Wire, toolkit: Toolkit, nodes: &[Node], subjects: &mut [Subject], deadline: Deadline) {
    if toolkit.cell_source() == CellSource::Cell {
        return;
    }
    let is_cell = |at: &usize| subjects[*at].native.role_number() == Some(n::TABLE_CELL);
    let cells: Vec<(usize, usize)> = (0..nodes.len())
        .filter(is_cell)
        .filter_map(|at| Some((at, nodes[at].parent?)))
        .filter(|(_, p)| subjects[*p].native.interfaces_or_none().has(i::Interfaces::TABLE))
        .collect();
    let places: Vec<(&Object, u32)> = cells.iter().map(|(at, p)| (&subjects[*p].object, nodes[*at].index)).collect();
    let found = cells_at(wire, &places, toolkit, deadline);
    for ((at, _), cell) in cells.into_iter().zip(found) {
        subjects[at].native.cell = cell;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_counted_among_the_children() {
        // Four columns with a header row, as in qt6ct's tree.
        let tree = Layout::of(1, 4, 8, n::TABLE_COLUMN_HEADER).unwrap();
        assert_eq!(tree.cell(0), None);
        assert_eq!(tree.cell(6), Some((0, 2)));
        let plain = Layout::of(3, 2, 6, n::TABLE_CELL).unwrap();
        assert_eq!(plain.cell(3), Some((1, 1)));
        let both = Layout::of(2, 2, 9, n::PUSH_BUTTON).unwrap();
        assert_eq!((both.cell(3), both.cell(4)), (None, Some((0, 0))));
    }

    #[test]
    fn counts_that_do_not_fit_say_nothing() {
        assert_eq!(Layout::of(3, 2, 7, n::TABLE_CELL), None);
        assert_eq!(Layout::of(0, 0, 0, n::TABLE_CELL), None);
        assert_eq!(Layout::of(u64::MAX, 2, 6, n::TABLE_COLUMN_HEADER), None);
    }
}
