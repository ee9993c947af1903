//! Virtual containers: what of them can be seen, and where cells stand (decisions D6, FINDINGS §2 "LibreOffice Calc").

use super::flight::Subject;
use super::interface as i;
use super::native::Field;
use super::role::native as n;
use super::toolkit::Toolkit;
use super::tree::Node;
use crate::bus::{Body, Call, Object, Wire};
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
    let one = |(cell, index): (&Result<crate::bus::Reply, _>, &Result<crate::bus::Reply, _>)| {
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
    if let (false, Some(a), Some(b)) = (toolkit.cell_by_table(), cell(0), cell(1)) {
        return Some((a, b));
    }
    let child = |k: usize| answers[k].as_ref().ok()?.int().ok();
    let (a, b) = (child(2)?, child(3)?);
    let ask = |member: &'static str, k: i32| Call::with(grid, i::TABLE, member, Body::Int(k));
    let calls =
        vec![ask("GetRowAtIndex", a), ask("GetColumnAtIndex", a), ask("GetRowAtIndex", b), ask("GetColumnAtIndex", b)];
    let got: Vec<i64> =
        wire.flight(calls, deadline).into_iter().map(|r| r.ok()?.int().ok().map(i64::from)).collect::<Option<_>>()?;
    got.iter().all(|v| *v >= 0).then_some(((got[0], got[1]), (got[2], got[3])))
}

/// The call by which a table says where its child stands.
pub fn cell_call(table: &Object, index: u32) -> Call {
    Call::with(table, i::TABLE, "GetRowColumnExtentsAtIndex", Body::Int(i32::try_from(index).unwrap_or(i32::MAX)))
}

/// Row and column in the answer to [`cell_call`].
pub fn cell_of(reply: &crate::bus::Reply) -> Option<Cell> {
    let (found, row, column, _, _, _): (bool, i32, i32, i32, i32, bool) = reply.read("cell extents").ok()?;
    (found && row >= 0 && column >= 0).then_some((i64::from(row), i64::from(column)))
}

/// Fills in row and column of cells that can't say it themselves.
pub fn cells_by_table(wire: &dyn Wire, toolkit: Toolkit, nodes: &[Node], subjects: &mut [Subject], deadline: Deadline) {
    if !toolkit.cell_by_table() {
        return;
    }
    let cells: Vec<(usize, usize)> = (0..nodes.len())
        .filter(|at| subjects[*at].native.role_number() == Some(n::TABLE_CELL))
        .filter_map(|at| Some((at, nodes[at].parent?)))
        .filter(|(_, p)| subjects[*p].native.interfaces_or_none().has(i::Interfaces::TABLE))
        .collect();
    let calls = cells.iter().map(|(at, p)| cell_call(&subjects[*p].object, nodes[*at].index)).collect();
    for ((at, _), answer) in cells.into_iter().zip(wire.flight(calls, deadline)) {
        subjects[at].native.cell = match answer {
            Ok(reply) => cell_of(&reply).map_or(Evidence::Absent, Evidence::Known),
            Err(e) => crate::outcome::read::classify(&e, toolkit, crate::outcome::read::Asked::Optional).evidence(),
        };
    }
}
