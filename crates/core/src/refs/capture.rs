//! From a raw tree to saved refs: links interned once, proofs by grade (decisions D1).

use super::entry::{Entry, LinkRow, Proof, RefMap, RowProof, Witness, digest};
use super::witness::{Telling, Witnesses};
use crate::evidence::Evidence;
use crate::tree::name::{description_of, stable_name};
use crate::tree::raw::{Grade, Link, RawTree};
use crate::vocab::role::Role;
use std::collections::HashMap;

/// Saves refs of one tree into a map. For a drill the map already holds the refs of the snapshot, and
/// `root_link` is the link of the drilled element; otherwise the chain above the root is added first.
pub struct Capture<'m> {
    map: &'m mut RefMap,
    /// Link of a raw node, once interned.
    interned: HashMap<u32, u32>,
    /// Link of the element above the tree's root.
    above: Option<u32>,
    /// How the tree's root is told again: everything below it depends on that, too. What tells the item in which a
    /// drilled element stands lies outside the drilled tree.
    base: Proof,
}

impl<'m> Capture<'m> {
    /// Starts saving a tree read below a fresh root.
    pub fn fresh(map: &'m mut RefMap, tree: &RawTree) -> Self {
        let mut above = None;
        for link in &tree.above {
            map.links.push(LinkRow { parent: above, link: link.clone() });
            above = Some(map.links.len() as u32 - 1);
        }
        Self { map, interned: HashMap::new(), above, base: Proof::Address }
    }

    /// Starts saving a tree whose root is an element saved before.
    pub fn drill(map: &'m mut RefMap, root_link: u32) -> Self {
        Self { map, interned: HashMap::from([(0, root_link)]), above: None, base: Proof::Address }
    }

    /// Says that the tree was read below a ref of another snapshot.
    pub fn below(mut self, of: &RefMap, number: u32) -> Self {
        self.base = match of.entries.get(&number).map(|e| e.proof.clone()) {
            None => Proof::Unread,
            Some(Proof::Witnessed { mut witnesses, mut row }) => {
                witnesses.iter_mut().for_each(|w| w.link = self.import(of, w.link));
                if let Some(row) = &mut row {
                    row.cell = self.import(of, row.cell);
                    row.others.iter_mut().for_each(|o| *o = self.import(of, *o));
                }
                Proof::Witnessed { witnesses, row }
            }
            Some(other) => other,
        };
        self
    }

    /// A link of another snapshot with its chain.
    fn import(&mut self, of: &RefMap, link: u32) -> u32 {
        let mut parent = None;
        for link in of.chain(link) {
            self.map.links.push(LinkRow { parent, link });
            parent = Some(self.map.links.len() as u32 - 1);
        }
        parent.unwrap_or_default()
    }

    /// Saves these nodes under these numbers. Nodes whose role is not known are skipped. Returns whether some
    /// ref of the `slot` grade stays unproven because what would prove it could not be read.
    pub fn save(&mut self, tree: &RawTree, numbered: &[(u32, u32)], root_ref: Option<u32>) -> bool {
        let mut finder = Witnesses::new(tree);
        let mut unproven = false;
        if let Some(root) = root_ref {
            self.base = self.map.entries.get(&root).map_or(Proof::Unread, |e| e.proof.clone());
        }
        for &(number, node) in numbered {
            let facts = &tree.node(node).facts;
            let Some(role) = facts.role.known().copied().filter(|r| *r != Role::Unknown) else { continue };
            let link = self.link(tree, node);
            let proof = match facts.grade {
                Grade::Follows => Proof::Address,
                Grade::Slot => self.slot_proof(tree, finder.tell(node)),
            };
            let proof = both(&self.base, proof);
            unproven |= proof == Proof::Unread;
            let entry = Entry {
                link,
                role,
                name: stable_name(facts).into_known(),
                description: description_of(facts).into_known(),
                native_id: facts.native_id.known().cloned(),
                label_sources: facts.label_sources.clone(),
                page_signs: facts.in_page.then(|| facts.page_signs.clone()),
                states: facts.states.known().copied().unwrap_or_default(),
                capabilities: facts.capabilities.known().copied().unwrap_or_default(),
                secure: facts.secure,
                grade: facts.grade,
                proof,
                plan: facts.plan,
                root_ref,
            };
            self.map.entries.insert(number, entry);
            self.map.next = self.map.next.max(number + 1);
        }
        unproven
    }

    fn slot_proof(&mut self, tree: &RawTree, telling: Telling) -> Proof {
        match telling {
            Telling::NoItem => Proof::Address,
            Telling::NotUnique => Proof::NotUnique,
            Telling::Unread => Proof::Unread,
            Telling::Witnesses { texts, row } => Proof::Witnessed {
                witnesses: texts
                    .into_iter()
                    .map(|t| Witness { link: self.link(tree, t.node), source: t.source, digest: digest(&t.text) })
                    .collect(),
                row: row.map(|r| RowProof {
                    cell: self.link(tree, r.cell),
                    column: r.column,
                    others: r.others.into_iter().map(|o| self.link(tree, o)).collect(),
                }),
            },
        }
    }

    /// The link of a node, its ancestors' links added on the way; each is stored once.
    fn link(&mut self, tree: &RawTree, node: u32) -> u32 {
        let path: Vec<u32> = tree.ancestors_or_self(node).take_while(|n| !self.interned.contains_key(n)).collect();
        let mut parent = path
            .last()
            .map_or(Some(node), |top| tree.node(*top).parent)
            .and_then(|known| self.interned.get(&known).copied())
            .or(self.above);
        for &at in path.iter().rev() {
            let raw = tree.node(at);
            self.map.links.push(LinkRow { parent, link: Link { handle: raw.handle.clone(), index: raw.index } });
            let link = self.map.links.len() as u32 - 1;
            self.interned.insert(at, link);
            parent = Some(link);
        }
        self.interned.get(&node).copied().unwrap_or_default()
    }
}

/// What proves an element inside another one that needs a proof itself.
fn both(outer: &Proof, own: Proof) -> Proof {
    match (outer, own) {
        (Proof::Address, own) => own,
        (Proof::Witnessed { .. }, own @ (Proof::NotUnique | Proof::Unread)) => own,
        (outer, Proof::Address) => outer.clone(),
        (Proof::Witnessed { witnesses: a, row: ra }, Proof::Witnessed { witnesses: mut b, row: rb }) => {
            if ra.is_some() && rb.is_some() {
                // Two tables, one inside the other: only one row can be compared.
                return Proof::NotUnique;
            }
            for witness in a {
                if !b.contains(witness) {
                    b.push(witness.clone());
                }
            }
            Proof::Witnessed { witnesses: b, row: rb.or_else(|| ra.clone()) }
        }
        (outer, _) => outer.clone(),
    }
}

/// Removes the refs below a drilled element: their numbers are never used again, so an old one is `STALE_REF`.
/// Refs outside, and the drilled root, stay.
pub fn drop_below(map: &mut RefMap, root: u32) {
    let Some(root_link) = map.entries.get(&root).map(|e| e.link) else { return };
    let below: Vec<u32> = map
        .entries
        .iter()
        .filter(|(number, entry)| **number != root && map.outwards(entry.link).skip(1).any(|l| l == root_link))
        .map(|(number, _)| *number)
        .collect();
    for number in below {
        map.entries.remove(&number);
    }
    sweep(map);
}

/// Drops links that no entry needs any more, so that repeated drills don't let the file grow.
fn sweep(map: &mut RefMap) {
    let mut needed = vec![false; map.links.len()];
    let mut mark = |map: &RefMap, from: u32| {
        for l in map.outwards(from) {
            match needed.get_mut(l as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => break,
            }
        }
    };
    for entry in map.entries.values() {
        mark(map, entry.link);
        if let Proof::Witnessed { witnesses, row } = &entry.proof {
            witnesses.iter().for_each(|w| mark(map, w.link));
            if let Some(row) = row {
                mark(map, row.cell);
                row.others.iter().for_each(|o| mark(map, *o));
            }
        }
    }
    let mut renumbered = Vec::with_capacity(map.links.len());
    let mut kept = Vec::new();
    for (at, row) in std::mem::take(&mut map.links).into_iter().enumerate() {
        renumbered.push(kept.len() as u32);
        if needed.get(at).copied().unwrap_or(false) {
            let parent = row.parent.and_then(|p| renumbered.get(p as usize).copied());
            kept.push(LinkRow { parent, link: row.link });
        }
    }
    map.links = kept;
    let renumber = |l: &mut u32| *l = renumbered.get(*l as usize).copied().unwrap_or(u32::MAX);
    for entry in map.entries.values_mut() {
        renumber(&mut entry.link);
        if let Proof::Witnessed { witnesses, row } = &mut entry.proof {
            witnesses.iter_mut().for_each(|w| renumber(&mut w.link));
            if let Some(row) = row {
                renumber(&mut row.cell);
                row.others.iter_mut().for_each(&renumber);
            }
        }
    }
}

/// Evidence that a caller may compare: the known text, or none where there is none.
pub(crate) fn known_text(evidence: &Evidence<String>) -> Option<&str> {
    evidence.known().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refs::entry::{FORMAT, Source};
    use crate::tree::fixture::{Spec, node};
    use crate::vocab::surface::Surface;
    use std::collections::BTreeMap;

    fn row(person: &str) -> Spec {
        let text = node(Role::StaticText).slot().own_text(person);
        node(Role::Option).item().slot().child(text).child(node(Role::Button).slot().name("Delete"))
    }

    fn map() -> RefMap {
        RefMap {
            format: FORMAT,
            snapshot_id: "s1".into(),
            desktop: "d".into(),
            process: crate::platform::ProcessKey { pid: 1, instance: "a".into() },
            source: Source {
                app: "a".into(),
                window_id: "w".into(),
                window_title: "t".into(),
                surface: Surface::Window,
                others: Vec::new(),
            },
            next: 1,
            links: Vec::new(),
            entries: BTreeMap::new(),
        }
    }

    fn digests(map: &RefMap, number: u32) -> Vec<u64> {
        match &map.entries[&number].proof {
            Proof::Witnessed { witnesses, .. } => witnesses.iter().map(|w| w.digest).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_drill_into_a_row_keeps_what_tells_the_row() {
        let list = node(Role::Window).child(node(Role::List).children([row("Alice"), row("Bob")])).build();
        let bob = (0..list.nodes.len() as u32)
            .filter(|n| list.node(*n).facts.role == Evidence::Known(Role::Option))
            .nth(1)
            .unwrap();
        let mut drilled = map();
        Capture::fresh(&mut drilled, &list).save(&list, &[(1, bob)], None);
        assert_eq!(digests(&drilled, 1), [digest("Bob")]);
        let outer = drilled.clone();

        // Only the row is read: nothing in it says that it is one of several.
        let inside = row("Bob").build();
        let link = drilled.entries[&1].link;
        Capture::drill(&mut drilled, link).save(&inside, &[(2, 2)], Some(1));
        assert_eq!(digests(&drilled, 2), [digest("Bob")]);

        let mut found = map();
        Capture::fresh(&mut found, &inside).below(&outer, 1).save(&inside, &[(1, 2)], None);
        assert_eq!(digests(&found, 1), [digest("Bob")]);
        assert!(found.sound() && drilled.sound());
        let chain = |m: &RefMap, link: u32| m.chain(link).into_iter().map(|l| l.handle).collect::<Vec<_>>();
        let witness = |m: &RefMap, n: u32| match &m.entries[&n].proof {
            Proof::Witnessed { witnesses, .. } => witnesses[0].link,
            other => panic!("{other:?}"),
        };
        assert_eq!(chain(&found, witness(&found, 1)), chain(&outer, witness(&outer, 1)));
    }
}
