//! AT-SPI event signals.

use super::Engine;
use crate::link;
use crate::read::cache;
use crate::scenario::{CacheMode, Events};
use crate::tree::{Idx, NULL_PATH};
use crate::wire::Body;

/// An event.
#[derive(Debug)]
pub struct Event<'a> {
    /// `Object` or `Window`.
    pub class: &'a str,
    /// Signal name.
    pub name: &'a str,
    /// First string.
    pub detail: &'a str,
    /// First number.
    pub detail1: i32,
    /// Second number.
    pub detail2: i32,
    /// The value it carries.
    pub any: Body,
}

impl<'a> Event<'a> {
    /// An event that carries nothing.
    pub fn plain(class: &'a str, name: &'a str) -> Self {
        Self { class, name, detail: "", detail1: 0, detail2: 0, any: Body::int(0) }
    }
}

impl Engine {
    /// Sends an event without particulars, unless events are sent on request only.
    pub(super) fn announce(&self, idx: Idx, class: &str, name: &str) {
        self.tell(idx, &Event::plain(class, name));
    }

    /// Sends an event because the tree changed.
    pub(super) fn tell(&self, idx: Idx, event: &Event<'_>) {
        let app = self.tree.node(idx).app;
        if self.tree.apps[app].spec.events == Events::Always {
            self.emit(idx, event);
        }
    }

    /// Sends an event whatever the scenario says about events.
    pub(super) fn emit(&self, idx: Idx, event: &Event<'_>) {
        let node = self.tree.node(idx);
        let app = &self.tree.apps[node.app];
        let is_qt = app.spec.toolkit.name == "Qt";
        let signature = if is_qt { "siiv(so)" } else { "siiva{sv}" };
        let body = Body::new(signature, |w| {
            w.string(event.detail.as_bytes());
            w.i32(event.detail1);
            w.i32(event.detail2);
            w.variant(&event.any);
            if is_qt {
                w.reference(&app.bus_name, &self.tree.node(app.root).path);
            } else {
                w.array(8, |_| {});
            }
        });
        let interface = format!("org.a11y.atspi.Event.{}", event.class);
        let message = link::signal(&node.path, &interface, event.name, &body);
        self.broadcast(node.app, message);
    }

    /// Says that a child came or went.
    pub(super) fn tell_child(&self, parent: Idx, child: Idx, index: usize, added: bool) {
        let (bus, path) = self.address(child);
        self.tell(
            parent,
            &Event {
                detail: if added { "add" } else { "remove" },
                detail1: i32::try_from(index).unwrap_or(i32::MAX),
                any: Body::reference(bus, path),
                ..Event::plain("Object", "ChildrenChanged")
            },
        );
        let node = self.tree.node(child);
        let app = &self.tree.apps[node.app];
        if app.spec.cache.mode != CacheMode::Gtk || app.spec.events != Events::Always {
            return;
        }
        let (name, body) = if added {
            let body = Body::new(cache::ITEM, |w| cache::item(w, &self.tree, child, index));
            ("AddAccessible", body)
        } else {
            ("RemoveAccessible", Body::reference(bus, path))
        };
        let message = link::signal(cache::PATH, "org.a11y.atspi.Cache", name, &body);
        self.broadcast(node.app, message);
    }

    /// Bus name and path of a node.
    fn address(&self, idx: Idx) -> (&str, &str) {
        let node = self.tree.node(idx);
        match self.tree.apps.get(node.app) {
            Some(app) => (&app.bus_name, &node.path),
            None => ("", NULL_PATH),
        }
    }

    /// Over the application's bus connection; private sockets carry no events.
    fn broadcast(&self, app: usize, message: zbus::Result<zbus::message::Message>) {
        if !self.ready {
            return;
        }
        match message {
            Ok(message) => {
                let link =
                    self.links.iter().position(|link| link.as_ref().is_some_and(|link| link.is_bus && link.app == app));
                if let Some(link) = link {
                    self.send(link, Ok(message));
                }
            }
            Err(error) => eprintln!("scripted-provider: an event can't be built: {error}"),
        }
    }
}
