//! The application's own cache: structure, role, name, description, states and interfaces of everything in one
//! reply (FINDINGS §3 "Bulk reads"). It answers for what it holds consistently; the walk answers for the rest.

use super::interface::{self as i, Interfaces};
use super::native::Native;
use super::state::Native as States;
use super::toolkit::Toolkit;
use crate::bus::{Call, Object, Reply, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use zbus::zvariant::ObjectPath;

type Reference<'a> = (&'a str, ObjectPath<'a>);
type Item<'a> = (Reference<'a>, Reference<'a>, Reference<'a>, i32, i32, Vec<&'a str>, &'a str, u32, &'a str, Vec<u32>);

/// What the cache says about one application.
#[derive(Debug, Default)]
pub struct Cache {
    facts: HashMap<Box<str>, Native>,
    children: HashMap<Box<str>, Vec<(i32, Box<str>)>>,
}

impl Cache {
    /// Asks for the cache of the application that owns this object. None where the toolkit's isn't good or it doesn't
    /// come in time: the walk then reads everything.
    pub fn read(wire: &dyn Wire, of: &Object, toolkit: Toolkit, deadline: Deadline) -> Option<Self> {
        if !toolkit.cache_is_good() {
            return None;
        }
        let mut calls = Vec::with_capacity(2);
        if toolkit.cache_wants_a_knock() {
            // Answered in order, so that the cache is on when it is asked for.
            calls.push(Call::new(&Object::root_of(of.bus.clone()), i::APPLICATION, "GetApplicationBusAddress"));
        }
        calls.push(Call::new(&Object::new(of.bus.clone(), "/org/a11y/atspi/cache"), i::CACHE, "GetItems"));
        let reply = wire.flight(calls, deadline).pop()?.ok()?;
        Self::parse(&reply, &of.bus)
    }

    /// The items of one reply that belong to this connection.
    pub fn parse(reply: &Reply, bus: &Arc<str>) -> Option<Self> {
        let body = reply.0.body();
        let items: Vec<Item<'_>> = body.deserialize().ok()?;
        let mut cache = Self::default();
        for ((owner, path), _, (parent_owner, parent), index, count, interfaces, name, role, description, states) in
            items
        {
            if *owner != **bus {
                continue;
            }
            let words = |at: usize| u64::from(states.get(at).copied().unwrap_or(0));
            let native = Native {
                role: Evidence::Known(role),
                name: Evidence::Known(name.to_owned()),
                description: Evidence::Known(description.to_owned()),
                states: Evidence::Known(States(words(0) | words(1) << 32)),
                interfaces: Evidence::Known(Interfaces::parse(&interfaces)),
                child_count: u64::try_from(count).map_or(Evidence::Unknown(Cause::NotRead), Evidence::Known),
                answered: true,
                ..Native::default()
            };
            if *parent_owner == **bus {
                cache.children.entry(parent.as_str().into()).or_default().push((index, path.as_str().into()));
            }
            cache.facts.insert(path.as_str().into(), native);
        }
        Some(cache)
    }

    /// What is cached about the object.
    pub fn facts(&self, object: &Object) -> Option<&Native> {
        self.facts.get(&object.path)
    }

    /// The children of the object, in order, where the cache is consistent: as many as the object counts, with the
    /// indices that they must have. `Parent` lies (FINDINGS §4b), so anything else is asked of the object itself.
    pub fn children(&self, object: &Object) -> Option<Vec<Object>> {
        let native = self.facts.get(&object.path)?;
        // Children of these are made on demand and missing here (FINDINGS §3).
        if native.states_or_none().has(States::MANAGES_DESCENDANTS) {
            return None;
        }
        let count = *native.child_count.known()?;
        let mut listed: Vec<&(i32, Box<str>)> =
            self.children.get(&object.path).map(|v| v.iter().collect()).unwrap_or_default();
        if listed.len() as u64 != count {
            return None;
        }
        listed.sort_by_key(|(index, _)| *index);
        let in_order = listed.iter().enumerate().all(|(at, (index, _))| i64::from(*index) == at as i64);
        in_order.then(|| listed.into_iter().map(|(_, path)| Object::new(object.bus.clone(), path.clone())).collect())
    }

    /// The object and what is cached below it, as far as it has children to be asked for, so many levels deep.
    /// A guess at what a read will need, no more: what stands where is the parents' to say.
    pub fn parents_below(&self, top: &Object, depth: usize, most: u64) -> Vec<Object> {
        let mut out = Vec::new();
        let mut seen: HashSet<&str> = HashSet::from([&*top.path]);
        let mut level: Vec<&str> = vec![&*top.path];
        for _ in 0..depth {
            let mut next = Vec::new();
            for path in level {
                let Some(native) = self.facts.get(path) else { continue };
                if native.child_count.known().is_some_and(|c| (1..=most).contains(c)) {
                    out.push(Object::new(top.bus.clone(), path));
                }
                let children = self.children.get(path).into_iter().flatten();
                next.extend(children.map(|(_, child)| &**child).filter(|child| seen.insert(child)));
            }
            level = next;
        }
        out
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::reply::tests::reply;

    fn path(p: &str) -> ObjectPath<'_> {
        ObjectPath::try_from(p).unwrap()
    }

    fn item<'a>(at: &'a str, parent: &'a str, index: i32, count: i32) -> Item<'a> {
        let r = |p: &'a str| (":1.5", path(p));
        (r(at), r("/root"), r(parent), index, count, vec![i::ACTION], "n", 43, "", vec![1 << 30, 0])
    }

    fn cache(items: Vec<Item<'_>>) -> Cache {
        Cache::parse(&reply(&items), &Arc::from(":1.5")).unwrap()
    }

    fn object(p: &str) -> Object {
        Object::new(":1.5", p)
    }

    #[test]
    fn consistent_children_need_no_call() {
        let c = cache(vec![item("/a", "/root", 0, 2), item("/c", "/a", 1, 0), item("/b", "/a", 0, 0)]);
        assert_eq!(c.children(&object("/a")), Some(vec![object("/b"), object("/c")]));
        assert_eq!(c.children(&object("/b")), Some(vec![]));
        assert!(c.facts(&object("/b")).unwrap().interfaces_or_none().has(Interfaces::ACTION));
    }

    #[test]
    fn lying_parents_and_holes_are_asked_for() {
        // A page that names another parent: both lists are wrong by one.
        let c = cache(vec![
            item("/a", "/root", 0, 2),
            item("/b", "/a", 0, 0),
            item("/t", "/a", 5, 0),
            item("/p", "/t", 0, 0),
        ]);
        assert_eq!(c.children(&object("/a")), None, "indices don't fit");
        assert_eq!(c.children(&object("/t")), None, "one more than it counts");
        let c = cache(vec![item("/a", "/root", 0, 2), item("/b", "/a", 0, -1)]);
        assert_eq!(c.children(&object("/a")), None, "one is missing");
        assert_eq!(c.children(&object("/b")), None, "count unknown");
        assert_eq!(c.children(&object("/elsewhere")), None);
    }

    #[test]
    fn parents_are_guessed_whatever_their_counts_say() {
        let c = cache(vec![
            item("/a", "/root", 0, 2),
            item("/b", "/a", 0, 1),
            item("/c", "/b", 7, 1),
            item("/huge", "/a", 1, 9_999),
            item("/other", "/root", 1, 3),
        ]);
        assert_eq!(c.parents_below(&object("/a"), 9, 100), [object("/a"), object("/b"), object("/c")]);
        assert_eq!(c.parents_below(&object("/a"), 2, 100), [object("/a"), object("/b")]);
        assert_eq!(c.parents_below(&object("/elsewhere"), 9, 100), []);
    }

    #[test]
    fn another_signature_is_no_cache() {
        assert!(Cache::parse(&reply(&Vec::<(String, u32)>::new()), &Arc::from(":1.5")).is_none());
    }
}
