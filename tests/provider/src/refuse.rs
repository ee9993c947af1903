//! How toolkits refuse: unknown objects, methods and properties, and objects that were removed.

use crate::call::{Call, Reply};
use crate::names;
use crate::scenario::DeadAnswer;
use crate::tree::{App, Node, TextState};

const UNKNOWN_OBJECT: &str = "org.freedesktop.DBus.Error.UnknownObject";
const UNKNOWN_METHOD: &str = "org.freedesktop.DBus.Error.UnknownMethod";
const UNKNOWN_INTERFACE: &str = "org.freedesktop.DBus.Error.UnknownInterface";
const INVALID_ARGS: &str = "org.freedesktop.DBus.Error.InvalidArgs";

/// A path that no object has, or had.
pub fn no_object(app: &App, call: &Call) -> Reply {
    let path = &call.path;
    match app.dead_answer() {
        DeadAnswer::Gtk4 => Reply::error(UNKNOWN_METHOD, &format!("Object does not exist at path “{path}”")),
        DeadAnswer::Qt if call.property.is_some() => {
            Reply::error(UNKNOWN_INTERFACE, &format!("Interface '{}' was not found in object {path}", call.meant().0))
        }
        DeadAnswer::Qt => Reply::error(UNKNOWN_OBJECT, &format!("No such object path '{path}'")),
        _ => Reply::error(
            UNKNOWN_OBJECT,
            &format!(
                "Method \"{}\" with signature \"\" on interface \"{}\" doesn't exist",
                call.member, call.interface
            ),
        ),
    }
}

/// A method or property that a living object doesn't have.
pub fn no_member(app: &App, call: &Call) -> Reply {
    let (interface, member) = call.meant();
    match (app.dead_answer(), call.property.is_some()) {
        // Qt's answer to an unknown method is the same as to an unknown object.
        (DeadAnswer::Qt, false) => Reply::error(UNKNOWN_OBJECT, &format!("No such object path '{}'", call.path)),
        (DeadAnswer::Gtk4, true) => {
            Reply::error(INVALID_ARGS, &format!("No such interface “{interface}” on object at path {}", call.path))
        }
        (DeadAnswer::Gtk4, false) => {
            Reply::error(UNKNOWN_METHOD, &format!("No such interface “{interface}” on object at path {}", call.path))
        }
        (_, true) => Reply::error(UNKNOWN_INTERFACE, &format!("No property {member} of {interface}")),
        (_, false) => {
            Reply::error(UNKNOWN_METHOD, &format!("Method \"{member}\" on interface \"{interface}\" doesn't exist"))
        }
    }
}

/// Leaves of a removed node what its toolkit leaves; false when it no longer answers at all.
pub fn leave_remains(answer: DeadAnswer, node: &mut Node) -> bool {
    match answer {
        DeadAnswer::Gtk3Defunct => {
            node.states = names::state_bit("defunct").map_or(0, |bit| 1 << bit);
        }
        DeadAnswer::Gtk3Tombstone => {
            node.states = 0;
            node.name.clear();
            node.description.clear();
            node.children.clear();
            node.extra_children.clear();
            node.child_count = None;
            node.parent_says = Some("null".into());
            node.text = node.text.take().map(|_| TextState::default());
        }
        _ => return false,
    }
    true
}
