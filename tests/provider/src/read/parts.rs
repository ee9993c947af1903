//! The small interfaces: Action, Value, Selection, Table, TableCell.

use super::{Answer, View, ok};
use crate::call::{Call, Reply};
use crate::names;
use crate::tree::Idx;
use crate::wire::Body;

/// Value's properties.
pub const VALUE_PROPERTIES: &[&str] = &["MinimumValue", "MaximumValue", "MinimumIncrement", "CurrentValue", "Text"];
/// Table's properties.
pub const TABLE_PROPERTIES: &[&str] = &["NRows", "NColumns"];
/// TableCell's properties.
pub const CELL_PROPERTIES: &[&str] = &["ColumnSpan", "RowSpan", "Position", "Table"];

/// org.a11y.atspi.Action, reading.
pub fn action(view: &mut View<'_>, call: &Call) -> Answer {
    let actions = &view.node().actions;
    match call.member.as_str() {
        "GetName" | "GetLocalizedName" => Some(call.args::<(i32,)>().map(|(index,)| {
            let name = usize::try_from(index).ok().and_then(|i| actions.get(i));
            Reply::Ok(Body::string(name.map_or("", String::as_str)))
        })),
        "GetDescription" | "GetKeyBinding" => ok(Body::string("")),
        "GetActions" => ok(Body::new("a(sss)", |w| {
            w.array(8, |w| {
                for name in actions {
                    w.align(8);
                    w.string(name.as_bytes());
                    w.string(b"");
                    w.string(b"");
                }
            });
        })),
        _ => None,
    }
}

/// org.a11y.atspi.Selection, reading.
pub fn selection(view: &mut View<'_>, call: &Call) -> Answer {
    match call.member.as_str() {
        "GetSelectedChild" => Some(call.args::<(i32,)>().map(|(number,)| {
            let child = usize::try_from(number).ok().and_then(|n| selected(view).nth(n));
            Reply::Ok(view.reference(child))
        })),
        "IsChildSelected" => Some(call.args::<(i32,)>().map(|(index,)| {
            let child = usize::try_from(index).ok().and_then(|i| view.node().children.get(i).copied());
            let is = child.is_some_and(|child| selected(view).any(|other| other == child));
            Reply::Ok(Body::boolean(is))
        })),
        _ => None,
    }
}

fn selected<'a>(view: &'a View<'_>) -> impl Iterator<Item = Idx> + 'a {
    let bit = names::state_bit("selected").map_or(0u64, |bit| 1 << bit);
    let children = view.node().children.iter().copied();
    children.filter(move |child| view.tree.node(*child).states & bit != 0)
}

/// org.a11y.atspi.Table, reading.
pub fn table(view: &mut View<'_>, call: &Call) -> Answer {
    let columns = view.node().table.map_or(1, |[_, columns]| columns.max(1));
    match call.member.as_str() {
        "GetAccessibleAt" => Some(call.args::<(i32, i32)>().map(|(row, column)| {
            let mut cells = view.node().children.iter();
            let cell = cells.find(|cell| view.tree.node(**cell).cell == Some([row, column]));
            Reply::Ok(view.reference(cell.copied()))
        })),
        "GetIndexAt" => Some(
            call.args::<(i32, i32)>()
                .map(|(row, column)| Reply::Ok(Body::int(row.wrapping_mul(columns).wrapping_add(column)))),
        ),
        "GetRowAtIndex" => Some(call.args::<(i32,)>().map(|(index,)| Reply::Ok(Body::int(index / columns)))),
        "GetColumnAtIndex" => Some(call.args::<(i32,)>().map(|(index,)| Reply::Ok(Body::int(index % columns)))),
        _ => None,
    }
}

/// Properties of all of them.
pub fn property(view: &View<'_>, interface: &str, name: &str) -> Option<Body> {
    let node = view.node();
    let double = |value: f64| Some(Body::new("d", |w| w.f64(value)));
    match (interface, name) {
        ("Action", "NActions") => Some(Body::int(i32::try_from(node.actions.len()).ok()?)),
        ("Value", "CurrentValue") => double(node.value?.current),
        ("Value", "MinimumValue") => double(node.value?.minimum),
        ("Value", "MaximumValue") => double(node.value?.maximum),
        ("Value", "MinimumIncrement") => double(node.value?.increment),
        ("Value", "Text") => Some(Body::string("")),
        ("Selection", "NSelectedChildren") => Some(Body::int(i32::try_from(selected(view).count()).ok()?)),
        ("Table", "NRows") => Some(Body::int(node.table?[0])),
        ("Table", "NColumns") => Some(Body::int(node.table?[1])),
        ("TableCell", "RowSpan" | "ColumnSpan") => Some(Body::int(1)),
        ("TableCell", "Position") => {
            let [row, column] = node.cell?;
            Some(Body::new("(ii)", |w| {
                w.align(8);
                w.i32(row);
                w.i32(column);
            }))
        }
        ("TableCell", "Table") => Some(view.reference(node.parent)),
        _ => None,
    }
}
