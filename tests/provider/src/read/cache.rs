//! org.a11y.atspi.Cache.

use crate::names;
use crate::scenario::{CacheMode, id_matches};
use crate::tree::{Idx, NULL_PATH, Tree};
use crate::wire::{Body, Writer};

/// Path of the cache object.
pub const PATH: &str = "/org/a11y/atspi/cache";

/// Signature of one GTK-style item.
pub const ITEM: &str = "((so)(so)(so)iiassusau)";

/// Body of `GetItems`; `None` without a cache.
pub fn items(tree: &Tree, app: usize) -> Option<Body> {
    let spec = &tree.apps[app].spec.cache;
    match spec.mode {
        CacheMode::None => None,
        CacheMode::QtEmpty => Some(Body::new("a((so)(so)(so)a(so)assusau)", |w| {
            w.array(8, |_| {});
        })),
        CacheMode::Gtk => Some(Body::new(&format!("a{ITEM}"), |w| {
            w.array(8, |w| {
                // Level by level through the child lists: orphans aren't in a cache.
                let mut queue = vec![(tree.apps[app].root, 0usize)];
                let mut next = 0;
                while let Some(&(idx, index)) = queue.get(next) {
                    next += 1;
                    let node = tree.node(idx);
                    queue.extend(node.children.iter().enumerate().map(|(i, c)| (*c, i)));
                    if !spec.omit.iter().any(|pattern| id_matches(pattern, &node.id)) {
                        item(w, tree, idx, index);
                    }
                }
            });
        })),
    }
}

/// One item, as `GetItems` and `AddAccessible` carry it.
pub fn item(w: &mut Writer, tree: &Tree, idx: Idx, index: usize) {
    let node = tree.node(idx);
    let app = &tree.apps[node.app];
    w.align(8);
    w.reference(&app.bus_name, &node.path);
    w.reference(&app.bus_name, &tree.node(app.root).path);
    match node.parent {
        Some(parent) => w.reference(&app.bus_name, &tree.node(parent).path),
        None if app.desktop.0.is_empty() => w.reference("", NULL_PATH),
        None => w.reference(&app.desktop.0, &app.desktop.1),
    }
    w.i32(node.index.unwrap_or_else(|| i32::try_from(index).unwrap_or(-1)));
    w.i32(tree.claimed_count(idx));
    w.array(4, |w| {
        for name in names::interfaces_in(node.interfaces) {
            w.string(format!("org.a11y.atspi.{name}").as_bytes());
        }
    });
    let name = app.spec.cache.stale.get(&node.id).unwrap_or(&node.name);
    w.string(name.as_bytes());
    w.u32(node.role);
    w.string(node.description.as_bytes());
    w.array(4, |w| {
        w.u32(node.states as u32);
        w.u32((node.states >> 32) as u32);
    });
}
