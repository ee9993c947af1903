//! Answers to everything that only reads.

mod accessible;
mod application;
pub mod cache;
mod component;
mod parts;
pub mod text;

use crate::call::{Call, Reply};
use crate::names;
use crate::tree::{App, Idx, NULL_PATH, Node, Tree};
use crate::wire::Body;

/// How faults bend a read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tweak {
    /// References are null.
    pub null_ref: bool,
    /// Claimed child count.
    pub child_count: Option<i32>,
    /// The child list ends with the parent.
    pub cycle: bool,
    /// States are DEFUNCT only.
    pub defunct: bool,
    /// Parent is null.
    pub parent_null: bool,
}

/// What a read sees.
#[derive(Debug)]
pub struct View<'a> {
    /// All nodes.
    pub tree: &'a mut Tree,
    /// The node that was called.
    pub idx: Idx,
    /// Bent how.
    pub tweak: Tweak,
}

impl View<'_> {
    fn node(&self) -> &Node {
        self.tree.node(self.idx)
    }

    fn app(&self) -> &App {
        &self.tree.apps[self.node().app]
    }

    /// Bus name and path of a node.
    fn address(&self, idx: Idx) -> (&str, &str) {
        let node = self.tree.node(idx);
        (&self.tree.apps[node.app].bus_name, &node.path)
    }

    /// A reference to a node, or to nothing.
    fn reference(&self, idx: Option<Idx>) -> Body {
        match idx {
            Some(idx) if !self.tweak.null_ref => {
                let (bus, path) = self.address(idx);
                Body::reference(bus, path)
            }
            _ => Body::reference("", NULL_PATH),
        }
    }

    /// The child list as this node shows it.
    fn children(&self) -> Vec<Idx> {
        let mut children = self.tree.shown_children(self.idx);
        if self.tweak.cycle {
            children.extend(self.node().parent);
        }
        children
    }

    fn child_count(&self) -> i32 {
        self.tweak.child_count.unwrap_or_else(|| self.tree.claimed_count(self.idx) + i32::from(self.tweak.cycle))
    }
}

/// Answers a method; `None` when the object doesn't have it.
pub fn method(view: &mut View<'_>, interface: &str, call: &Call) -> Option<Reply> {
    if !has(view, interface) {
        return None;
    }
    let answer = match interface {
        "Accessible" => accessible::method(view, call),
        "Application" => application::method(view, call),
        "Component" => component::method(view, call),
        "Text" => text::method(view, call),
        "Action" => parts::action(view, call),
        "Selection" => parts::selection(view, call),
        "Table" => parts::table(view, call),
        _ => None,
    };
    answer.map(|result| result.unwrap_or_else(|error| error))
}

/// Value of a property, not yet a variant; `None` when the object doesn't have it.
pub fn property(view: &mut View<'_>, interface: &str, name: &str) -> Option<Body> {
    if !has(view, interface) {
        return None;
    }
    match interface {
        "Accessible" => accessible::property(view, name),
        "Application" => application::property(view, name),
        "Text" => text::property(view, name),
        _ => parts::property(view, interface, name),
    }
}

/// Every property of an interface, for `GetAll`.
pub fn all_properties(view: &mut View<'_>, interface: &str) -> Option<Body> {
    let names: &[&str] = match interface {
        "Accessible" => accessible::PROPERTIES,
        "Application" => application::PROPERTIES,
        "Text" => text::PROPERTIES,
        "Action" => &["NActions"],
        "Value" => parts::VALUE_PROPERTIES,
        "Selection" => &["NSelectedChildren"],
        "Table" => parts::TABLE_PROPERTIES,
        "TableCell" => parts::CELL_PROPERTIES,
        "Component" | "EditableText" => &[],
        _ => return None,
    };
    if !has(view, interface) {
        return None;
    }
    let values: Vec<(&str, Body)> =
        names.iter().filter_map(|name| property(view, interface, name).map(|body| (*name, body))).collect();
    Some(Body::new("a{sv}", |w| {
        w.array(8, |w| {
            for (name, body) in &values {
                w.align(8);
                w.string(name.as_bytes());
                w.variant(body);
            }
        });
    }))
}

/// Whether the object serves an interface.
pub fn has(view: &View<'_>, interface: &str) -> bool {
    names::interface_bit(interface).is_some_and(|bit| view.node().interfaces & (1 << bit) != 0)
}

type Answer = Option<Result<Reply, Reply>>;

fn ok(body: Body) -> Answer {
    Some(Ok(Reply::Ok(body)))
}
