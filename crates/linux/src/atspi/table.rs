//! Parts of tables and of texts, asked of the interfaces that have them: never the whole, and never a walk (a sheet of
//! LibreOffice Calc has 2^20 rows).

use super::flight::clip;
use super::interface as i;
use super::native::Field;
use super::role::native as n;
use super::toolkit::{CellSource, Toolkit};
use crate::bus::join::describe;
use crate::bus::{Body, Call, CallError, Object, Reply, Wire};
use crate::outcome::read::{Asked, classify};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::Evidence;
use agent_desktop_core::platform::{TableAsk, TablePart, TextPart};
use agent_desktop_core::tree::raw::Link;
use std::ops::Range;

type Answer = Result<Reply, CallError>;

/// Bytes of one cell's text at most.
const MAX_CELL: usize = 4_096;
/// Levels below a cell in which its text is looked for: GTK 4 and pages put a label into it.
const LEVELS: usize = 3;
/// Children of one element of a cell that are looked at.
const MAX_INSIDE: usize = 16;
/// The marker of an embedded object in a text.
const EMBEDDED: char = '\u{fffc}';

fn int(n: u64) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// Why a read that has to be answered was not.
fn unanswered(error: &CallError, lacking: Lacking) -> Error {
    let refused = match error {
        CallError::Late { .. } => Error::before(Code::AppUnresponsive, "the application does not answer")
            .kind("application_silent")
            .retry_after(1_000)
            .suggest("Wait until the application responds again."),
        CallError::Broken { .. } => Error::before(Code::AppUnresponsive, "the connection to the application was lost")
            .kind("application_silent")
            .retry_after(1_000),
        _ => lacking.error().suggest("Read it with 'snapshot --root REF', or 'get REF --property text'."),
    };
    refused.platform(describe(error))
}

/// What an element doesn't publish.
#[derive(Clone, Copy)]
enum Lacking {
    Text,
    Table,
    Cells,
}

impl Lacking {
    fn error(self) -> Error {
        let none = |what: &str| Error::before(Code::ActionNotSupported, format!("the element publishes no {what}"));
        match self {
            Lacking::Text => none("text that can be read in parts").kind("no_text_interface"),
            Lacking::Table => none("table").kind("no_table_interface"),
            Lacking::Cells => none("cells by row and column").kind("no_table_interface"),
        }
    }
}

/// A part of a text, in the characters of the `Text` interface.
pub fn text_part(
    wire: &dyn Wire,
    target: &Object,
    toolkit: Toolkit,
    range: &Range<u64>,
    deadline: Deadline,
) -> Result<TextPart, Error> {
    let interfaces = interfaces(wire, target, deadline).map_err(|e| unanswered(&e, Lacking::Text))?;
    if !interfaces.has(i::Interfaces::TEXT) {
        return Err(unanswered(&CallError::Invalid("no Text interface".to_owned()), Lacking::Text));
    }
    let count = wire.call(Field::Characters.call(target), deadline).and_then(|r| r.int_property());
    let length = count.map_err(|e| unanswered(&e, Lacking::Text))?;
    let length = u64::try_from(length).unwrap_or(0);
    let range = range.start.min(length)..range.end.min(length);
    if range.is_empty() {
        return Ok(TextPart { text: String::new(), range, length });
    }
    // Where UTF-16 units are counted, the units beside the part say whether it begins or ends inside of a character.
    let read = match toolkit.qt() {
        true => range.start.saturating_sub(1)..(range.end + 1).min(length),
        false => range.clone(),
    };
    let ask = Call::with(target, i::TEXT, "GetText", Body::Ints(int(read.start), int(read.end)));
    let text = wire.call(ask, deadline).and_then(|r| r.text()).map_err(|e| unanswered(&e, Lacking::Text))?;
    let (text, range) = if toolkit.qt() { whole_characters(text, &read, range) } else { (text, range) };
    let text = if toolkit.pads_wide_characters() { without_padding(&text, range.start > 0) } else { text };
    Ok(TextPart { text, range, length })
}

/// A part of a text whose offsets count UTF-16 units, of what was read around it: without the halves of characters at its
/// ends, for which Qt puts a question mark.
fn whole_characters(text: String, read: &Range<u64>, wanted: Range<u64>) -> (String, Range<u64>) {
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() as u64 != read.end - read.start {
        return (text, wanted);
    }
    let second_half = |at: u64| {
        let at = usize::try_from(at - read.start).unwrap_or(usize::MAX);
        units.get(at).is_some_and(|u| (0xdc00..0xe000).contains(u))
    };
    let start = wanted.start + u64::from(second_half(wanted.start));
    let end = (wanted.end - u64::from(second_half(wanted.end))).max(start);
    let slice = usize::try_from(start - read.start).ok().zip(usize::try_from(end - read.start).ok());
    let part = slice.and_then(|(from, to)| units.get(from..to)).map(String::from_utf16_lossy);
    (part.unwrap_or_default(), start..end)
}

/// The text without the U+FEFF that Gecko puts behind each character of two UTF-16 units, also where the part begins
/// between the two.
fn without_padding(text: &str, inside: bool) -> String {
    let mut wide = inside;
    text.chars().filter(|c| !(std::mem::replace(&mut wide, *c > '\u{ffff}') && *c == '\u{feff}')).collect()
}

fn interfaces(wire: &dyn Wire, object: &Object, deadline: Deadline) -> Result<i::Interfaces, CallError> {
    wire.call(Field::Interfaces.call(object), deadline).and_then(|r| r.texts()).map(|t| i::Interfaces::parse(&t))
}

/// Rows and columns of a table, by its own word.
fn size(wire: &dyn Wire, table: &Object, deadline: Deadline) -> Result<(u64, u64), Error> {
    let no_table = |e: &CallError| unanswered(e, Lacking::Table);
    let interfaces = interfaces(wire, table, deadline).map_err(|e| no_table(&e))?;
    if !interfaces.has(i::Interfaces::TABLE) {
        return Err(no_table(&CallError::Invalid("no Table interface".to_owned())));
    }
    let calls = vec![Call::get(table, i::TABLE, "NRows"), Call::get(table, i::TABLE, "NColumns")];
    let mut counts = wire.flight(calls, deadline).into_iter().map(|a| a.and_then(|r| r.int_property()));
    let mut next = || counts.next().unwrap_or(Err(CallError::Late { sent: false }));
    let (rows, columns) = (next().map_err(|e| no_table(&e))?, next().map_err(|e| no_table(&e))?);
    Ok((u64::try_from(rows).unwrap_or(0), u64::try_from(columns).unwrap_or(0)))
}

/// A part of a table with the texts of its cells.
pub fn table_part(
    wire: &dyn Wire,
    table: &Object,
    toolkit: Toolkit,
    ask: &TableAsk,
    deadline: Deadline,
) -> Result<TablePart, Error> {
    let (row_count, column_count) = size(wire, table, deadline)?;
    let (rows, columns) = ask.within(row_count, column_count);
    let places = rows.clone().flat_map(|r| columns.clone().map(move |c| (r, c)));
    let at = |(r, c): (u64, u64)| Call::with(table, i::TABLE, "GetAccessibleAt", Body::Ints(int(r), int(c)));
    let found: Vec<Evidence<Object>> =
        wire.flight(places.map(at).collect(), deadline).into_iter().map(|a| object(a, toolkit)).collect();
    let texts = texts(wire, &found, toolkit, deadline);
    let width = usize::try_from(columns.end - columns.start).unwrap_or(0);
    let cells = if width == 0 { Vec::new() } else { texts.chunks(width).map(<[_]>::to_vec).collect() };
    let headers = headers(wire, table, toolkit, &columns, deadline);
    Ok(TablePart { row_count, column_count, rows, columns, headers, cells })
}

fn object(answer: Answer, toolkit: Toolkit) -> Evidence<Object> {
    match answer.and_then(|r| r.object()) {
        Ok(object) if object.is_null() => Evidence::Absent,
        Ok(object) => Evidence::Known(object),
        Err(e) => classify(&e, toolkit, Asked::Optional).evidence(),
    }
}

/// The texts of cells, each as it is shown.
fn texts(wire: &dyn Wire, cells: &[Evidence<Object>], toolkit: Toolkit, deadline: Deadline) -> Vec<Evidence<String>> {
    let mut out: Vec<Evidence<String>> = cells.iter().map(|c| c.as_ref().map(|_| String::new())).collect();
    // What is still to be read of: the cell, and the element that may hold its text.
    let mut open: Vec<(usize, Object)> =
        cells.iter().enumerate().filter_map(|(at, c)| Some((at, c.known()?.clone()))).collect();
    // A sheet's cells are named by their place; their content is their text.
    let mut named = !toolkit.cells_are_places();
    for level in 0..=LEVELS {
        if named {
            let answers = wire.flight(open.iter().map(|(_, o)| Field::Name.call(o)).collect(), deadline);
            let names = decoded(answers, |r| r.text_property(), toolkit);
            open = put(&mut out, open, names);
        }
        named = true;
        let fields = |(_, o): &(usize, Object)| [Field::Role.call(o), Field::Interfaces.call(o)];
        let asked: Vec<Answer> = wire.flight(open.iter().flat_map(fields).collect(), deadline);
        // The text of a field for passwords is never asked for.
        let (open_roles, sets): (Vec<_>, Vec<_>) = asked
            .chunks(2)
            .map(|a| (a[0].as_ref().ok().and_then(|r| r.uint().ok()), a[1].as_ref().ok().and_then(|r| r.texts().ok())))
            .unzip();
        let secret = |at: usize| open_roles[at].is_none_or(|role| role == n::PASSWORD_TEXT);
        let has: Vec<bool> = sets
            .iter()
            .enumerate()
            .map(|(at, set)| {
                !secret(at) && set.as_ref().is_some_and(|t| i::Interfaces::parse(t).has(i::Interfaces::TEXT))
            })
            .collect();
        let (with, without): (Vec<_>, Vec<_>) = open.into_iter().zip(has).partition(|(_, has)| *has);
        let with: Vec<(usize, Object)> = with.into_iter().map(|(o, _)| o).collect();
        let (with, lengths, silent) = counted(wire, with, toolkit, &mut out, deadline);
        let all = |at: usize| Call::with(&with[at].1, i::TEXT, "GetText", Body::Ints(0, lengths[at]));
        let answers = wire.flight((0..with.len()).map(all).collect(), deadline);
        let read = decoded(answers, |r| r.text(), toolkit);
        open = put(&mut out, with, read);
        open.extend(silent);
        open.extend(without.into_iter().map(|(o, _)| o));
        if level == LEVELS || toolkit.cells_are_places() || open.is_empty() {
            break;
        }
        let lists = wire.flight(open.iter().map(|(_, o)| Field::ChildCount.call(o)).collect(), deadline);
        let few = |a: &Answer| {
            a.as_ref().ok().and_then(|r| r.int_property().ok()).is_some_and(|n| (1..=MAX_INSIDE as i64).contains(&n))
        };
        open = open.into_iter().zip(&lists).filter(|(_, a)| few(a)).map(|(o, _)| o).collect();
        let calls = open.iter().map(|(_, o)| Call::new(o, i::ACCESSIBLE, "GetChildren")).collect();
        let inside = wire.flight(calls, deadline);
        open = open
            .into_iter()
            .zip(inside)
            .flat_map(|((at, _), list)| {
                let children = list.and_then(|r| r.objects()).unwrap_or_default();
                children.into_iter().map(move |child| (at, child))
            })
            .collect();
    }
    out
}

/// Elements of cells: the cell's place in the list, and the element.
type Open = Vec<(usize, Object)>;

/// How many characters the texts of elements have, those that have any; an end beyond that makes LibreOffice answer with
/// nothing. Elements without characters come back apart.
fn counted(
    wire: &dyn Wire,
    open: Open,
    toolkit: Toolkit,
    out: &mut [Evidence<String>],
    deadline: Deadline,
) -> (Open, Vec<i32>, Open) {
    let answers = wire.flight(open.iter().map(|(_, o)| Field::Characters.call(o)).collect(), deadline);
    let (mut with, mut lengths, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    for ((at, object), answer) in open.into_iter().zip(answers) {
        match answer.and_then(|r| r.int_property()) {
            Ok(n) if n > 0 => {
                with.push((at, object));
                lengths.push(i32::try_from(n.min(MAX_CELL as i64)).unwrap_or(i32::MAX));
            }
            Ok(_) => silent.push((at, object)),
            Err(e) => out[at] = classify(&e, toolkit, Asked::Optional).evidence(),
        }
    }
    (with, lengths, silent)
}

fn decoded(
    answers: Vec<Answer>,
    decode: impl Fn(&Reply) -> Result<String, CallError>,
    toolkit: Toolkit,
) -> Vec<Evidence<String>> {
    let one = |answer: Answer| match answer.and_then(|r| decode(&r)) {
        Ok(mut text) => {
            clip(&mut text, MAX_CELL);
            Evidence::Known(text.replace(EMBEDDED, "").trim().to_owned())
        }
        Err(e) => classify(&e, toolkit, Asked::Optional).evidence(),
    };
    answers.into_iter().map(one).collect()
}

/// Adds texts to their cells; what said nothing stays open.
fn put(out: &mut [Evidence<String>], open: Vec<(usize, Object)>, read: Vec<Evidence<String>>) -> Vec<(usize, Object)> {
    let mut left = Vec::new();
    for ((at, object), text) in open.into_iter().zip(read) {
        match (text, &mut out[at]) {
            (Evidence::Known(text), _) if text.is_empty() => left.push((at, object)),
            (Evidence::Known(text), Evidence::Known(all)) => {
                if !all.is_empty() {
                    all.push(' ');
                }
                all.push_str(&text);
            }
            // A part that could not be read leaves the whole unknown.
            (Evidence::Unknown(cause), slot) => *slot = Evidence::Unknown(cause),
            (Evidence::Absent, _) => left.push((at, object)),
            (Evidence::Known(_), _) => {}
        }
    }
    left
}

/// The headers of columns; empty where there are none.
fn headers(
    wire: &dyn Wire,
    table: &Object,
    toolkit: Toolkit,
    columns: &Range<u64>,
    deadline: Deadline,
) -> Vec<Option<String>> {
    // A sheet's columns have letters. Qt answers for descriptions alone.
    if toolkit.cells_are_places() {
        return Vec::new();
    }
    let ask = |member| columns.clone().map(move |c| Call::with(table, i::TABLE, member, Body::Int(int(c))));
    let said = |text: String| Some(text.trim().to_owned()).filter(|t| !t.is_empty());
    let described = wire.flight(ask("GetColumnDescription").collect(), deadline);
    let mut out: Vec<Option<String>> =
        described.into_iter().map(|a| a.and_then(|r| r.text()).ok().and_then(said)).collect();
    if toolkit.cell_source() != CellSource::Counts && out.iter().any(Option::is_none) {
        let objects = wire.flight(ask("GetColumnHeader").collect(), deadline);
        let found: Vec<Evidence<Object>> = objects.into_iter().map(|a| object(a, toolkit)).collect();
        for (slot, text) in out.iter_mut().zip(texts(wire, &found, toolkit, deadline)) {
            *slot = slot.take().or(text.into_known().and_then(said));
        }
    }
    if out.iter().all(Option::is_none) { Vec::new() } else { out }
}

/// One cell as a child of its table.
pub fn cell_at(
    wire: &dyn Wire,
    table: &Object,
    toolkit: Toolkit,
    (row, column): (u64, u64),
    deadline: Deadline,
) -> Result<Link, Error> {
    let (rows, columns) = size(wire, table, deadline)?;
    let none = || {
        Error::before(Code::ElementNotFound, "the table has no such cell")
            .kind("no_such_cell")
            .detail("row_count", rows)
            .detail("column_count", columns)
            .suggest("The table's size is in details.")
    };
    if row >= rows || column >= columns {
        return Err(none());
    }
    let place = || Body::Ints(int(row), int(column));
    let calls = vec![
        Call::with(table, i::TABLE, "GetIndexAt", place()),
        Call::with(table, i::TABLE, "GetAccessibleAt", place()),
    ];
    let mut answers = wire.flight(calls, deadline).into_iter();
    let mut next = || answers.next().unwrap_or(Err(CallError::Late { sent: false }));
    let unread = |e: CallError| unanswered(&e, Lacking::Cells);
    let index = next().and_then(|r| r.int()).map_err(unread)?;
    let object = next().and_then(|r| r.object()).map_err(unread)?;
    if object.is_null() {
        return Err(none());
    }
    // LibreOffice Calc computes the index in 32 bits: from row 131,072 of 16,384 columns it is negative, or another
    // cell's. The cell is there, but no child has its address.
    let beyond = row.saturating_mul(columns).saturating_add(column) > i32::MAX as u64;
    let index = u32::try_from(index).ok().filter(|_| !(beyond && toolkit.cells_are_places()));
    let index = index.ok_or_else(|| out_of_reach(row))?;
    let object = if toolkit.cells_are_places() { Object::placed(table, index) } else { object };
    Ok(Link { handle: object.handle(), index })
}

/// A cell that is there, and that nothing addresses.
fn out_of_reach(row: u64) -> Error {
    Error::before(Code::ActionNotSupported, "the cell is there, but the application gives no address for it")
        .kind("cell_out_of_reach")
        .not_retryable()
        .suggest(format!("Read it with 'table --rows {row}..{}'.", row.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_no_halves_of_characters() {
        // "a😀b" counts four: what is read is one more on either side, with a question mark for a half.
        let part = |text: &str, read, wanted| whole_characters(text.to_owned(), &read, wanted);
        assert_eq!(part("a\u{1f600}b", 0..4, 1..3), ("\u{1f600}".to_owned(), 1..3));
        assert_eq!(part("\u{1f600}b", 1..4, 2..4), ("b".to_owned(), 3..4));
        assert_eq!(part("a\u{1f600}", 0..3, 0..2), ("a".to_owned(), 0..1));
        assert_eq!(part("?b", 2..4, 3..4), ("b".to_owned(), 3..4));
        assert_eq!(part("\u{1f600}", 1..3, 2..2), (String::new(), 3..3));
        assert_eq!(part("plain", 0..5, 1..4), ("lai".to_owned(), 1..4));
    }

    #[test]
    fn padding_is_taken_off_where_a_part_begins_in_it() {
        assert_eq!(without_padding("\u{feff}b\u{1f600}\u{feff}c", true), "b\u{1f600}c");
        assert_eq!(without_padding("\u{feff}b", false), "\u{feff}b");
    }

    #[test]
    fn parts_of_a_cell_are_joined_and_what_is_unread_is_not_empty() {
        let object = || Object::new(":1.4", "/c");
        let known = |t: &str| Evidence::Known(t.to_owned());
        let mut out = vec![known(""), known("")];
        let late = Evidence::Unknown(agent_desktop_core::evidence::Cause::Late);
        let open = vec![(0, object()), (0, object()), (1, object())];
        let left = put(&mut out, open, vec![known("go"), known("7"), late.clone()]);
        assert!(left.is_empty());
        assert_eq!(out, [known("go 7"), late]);
    }
}
