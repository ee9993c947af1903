//! Is this still the element the ref was given for, in its place? The judge of decisions D1: pure over what one
//! probe answered. A contradiction refuses; evidence that can't be read is never a match.

use super::capture::known_text;
use super::entry::{Entry, Proof, RefMap, digest};
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::evidence::{Cause, Evidence};
use crate::platform::{ChainEdge, Live, Observe, Presence, Probe, ProbeRequest, ProcessLife, WitnessProbe};
use crate::tree::name::stable_name;
use crate::tree::raw::{Facts, Handle};
use serde_json::json;

/// What the resolved element is for: a read may meet a renamed element, a write may not (decisions D1, step 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `get`, `is`, `wait`, a drill.
    Read,
    /// An action.
    Write,
}

/// How the element was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// By its address, in its place.
    Retained,
    /// By its neighbours' texts as well.
    Witnessed,
}

impl Told {
    /// The value of `details.identity`.
    pub fn token(self) -> &'static str {
        match self {
            Told::Retained => "retained",
            Told::Witnessed => "witnessed",
        }
    }
}

/// The label at capture, and now.
pub type Renamed = (Option<String>, Option<String>);

/// Evidence that could not be read: of what, and why.
type Open = (&'static str, Cause);

/// A proven element.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The element with the facts that the proof read.
    pub live: Live,
    /// How it was told.
    pub told: Told,
    /// The label at capture and now, where a read met a renamed element.
    pub renamed: Option<Renamed>,
}

/// Refuses refs that can't be proven before anything is read (spec 1 §4).
pub fn admissible(entry: &Entry) -> Result<(), Error> {
    match entry.proof {
        Proof::Address | Proof::Witnessed { .. } => Ok(()),
        Proof::NotUnique => Err(Error::before(
            Code::AmbiguousTarget,
            "nothing told this element from an equal one in a sibling item when it was captured",
        )
        .kind("identity_not_unique")
        .detail("cause", "equal_siblings")
        .suggest("Act on a unique control instead, for example after filtering or opening the item.")),
        Proof::Unread => Err(Error::before(
            Code::AmbiguousTarget,
            "what would tell this element from its siblings could not be read when it was captured",
        )
        .kind("identity_not_unique")
        .detail("cause", "evidence_unread")
        .suggest("Take a new snapshot, with a longer --timeout-ms if it was incomplete.")),
    }
}

/// Everything one resolution of an entry reads.
pub struct Question {
    edges: Vec<ChainEdge>,
    /// Whether each edge is one of the element's own chain; the others lead to witnesses only.
    own: Vec<bool>,
    witnesses: Vec<WitnessProbe>,
    digests: Vec<u64>,
    /// The element's cell first, where the item is a table row.
    cells: Vec<Handle>,
    column: Option<i64>,
    target: Handle,
    window: Option<Handle>,
}

impl Question {
    /// The question for an entry.
    pub fn new(map: &RefMap, entry: &Entry) -> Option<Self> {
        let handle = |l: u32| map.links.get(l as usize).map(|r| r.link.handle.clone());
        let mut links: Vec<u32> = map.outwards(entry.link).collect();
        let (mut witnesses, mut digests, mut cells, mut column) = (Vec::new(), Vec::new(), Vec::new(), None);
        if let Proof::Witnessed { witnesses: kept, row } = &entry.proof {
            for w in kept {
                links.extend(map.outwards(w.link));
                witnesses.push(WitnessProbe { handle: handle(w.link)?, source: w.source });
                digests.push(w.digest);
            }
            if let Some(row) = row {
                cells.push(handle(row.cell)?);
                for other in &row.others {
                    cells.push(handle(*other)?);
                }
                column = Some(row.column);
            }
        }
        let chain_links: Vec<u32> = map.outwards(entry.link).collect();
        links.sort_unstable();
        links.dedup();
        let own = links.iter().map(|l| chain_links.contains(l)).collect();
        let mut edges = Vec::with_capacity(links.len());
        for l in links {
            let row = map.links.get(l as usize)?;
            let parent = match row.parent {
                Some(p) => Some(handle(p)?),
                None => None,
            };
            edges.push(ChainEdge { parent, child: row.link.clone() });
        }
        let chain = map.chain(entry.link);
        let window = chain.get(1).or(chain.first()).map(|l| l.handle.clone());
        Some(Self { edges, own, witnesses, digests, cells, column, target: handle(entry.link)?, window })
    }

    /// Asks it.
    pub fn ask(&self, map: &RefMap, entry: &Entry, bounds: bool, on: &dyn Observe, deadline: Deadline) -> Probe {
        let request = ProbeRequest {
            process: &map.process,
            target: &self.target,
            label_sources: &entry.label_sources,
            page_signs: entry.page_signs.as_deref(),
            role: entry.role,
            edges: &self.edges,
            witnesses: &self.witnesses,
            cells: &self.cells,
            bounds,
            plan: entry.plan,
        };
        on.probe(&request, deadline)
    }

    /// Judges the answer. The order is that of decisions D1; the first contradiction refuses.
    pub fn judge(&self, map: &RefMap, entry: &Entry, probe: Probe, purpose: Purpose) -> Result<Resolved, Error> {
        match probe.process {
            ProcessLife::Alive | ProcessLife::Unknown(_) => {}
            ProcessLife::Gone => return Err(absent("the application has ended")),
            ProcessLife::OtherGeneration => {
                return Err(absent("the application has ended; its process id now belongs to another one"));
            }
        }
        let facts = match probe.element {
            Presence::Dead(answer) => return Err(absent("the element is gone").platform(answer)),
            Presence::Unknown(_) if probe.silent => return Err(unresponsive(map)),
            Presence::Unknown(cause) => return Err(unknown("the element did not answer", &cause)),
            Presence::Live(facts) => *facts,
        };
        let mut open: Vec<Open> = Vec::new();
        if let ProcessLife::Unknown(cause) = probe.process {
            open.push(("process", cause));
        }
        self.same_kind(entry, &facts, &mut open)?;
        self.in_place(&probe.edges, &mut open)?;
        self.same_item(&probe.witnesses, &probe.cells, &mut open)?;
        let renamed = self.same_label(entry, &facts, purpose, &mut open)?;
        if let Some((what, cause)) = open.first() {
            return Err(unknown(&format!("its {what} could not be read"), cause));
        }
        let told = if matches!(entry.proof, Proof::Witnessed { .. }) { Told::Witnessed } else { Told::Retained };
        let live =
            Live { handle: self.target.clone(), process: map.process.clone(), window: self.window.clone(), facts };
        Ok(Resolved { live, told, renamed })
    }

    fn same_kind(&self, entry: &Entry, facts: &Facts, open: &mut Vec<Open>) -> Result<(), Error> {
        match &facts.role {
            Evidence::Known(role) if *role == entry.role => {}
            Evidence::Known(_) | Evidence::Absent => {
                return Err(stale("the element at this address has another role now").kind("retained_object_stale"));
            }
            Evidence::Unknown(cause) => open.push(("role", cause.clone())),
        }
        match (&entry.native_id, &facts.native_id) {
            (Some(was), Evidence::Known(now)) if was == now => {}
            (Some(_), Evidence::Known(_) | Evidence::Absent) => {
                return Err(
                    stale("the element at this address has another identifier now").kind("retained_object_stale")
                );
            }
            (Some(_), Evidence::Unknown(cause)) => open.push(("identifier", cause.clone())),
            // An identifier that appeared later contradicts nothing.
            (None, _) => {}
        }
        Ok(())
    }

    fn in_place(&self, edges: &[Evidence<bool>], open: &mut Vec<Open>) -> Result<(), Error> {
        if edges.len() != self.edges.len() {
            open.push(("place", Cause::NotRead));
        }
        // The element's own place first: a witness that moved says less.
        let (own, others): (Vec<_>, Vec<_>) = edges.iter().zip(&self.own).partition(|(_, own)| **own);
        for (edge, own) in own.into_iter().chain(others) {
            match edge {
                Evidence::Known(true) => {}
                Evidence::Known(false) | Evidence::Absent | Evidence::Unknown(Cause::Gone) if !own => {
                    return Err(other_item());
                }
                Evidence::Known(false) | Evidence::Absent => {
                    return Err(
                        stale("the element lives but no longer stands where it was seen").kind("retained_object_stale")
                    );
                }
                Evidence::Unknown(Cause::Gone) => {
                    return Err(stale("a container of the element is gone").kind("retained_object_stale"));
                }
                Evidence::Unknown(cause) => open.push(("place", cause.clone())),
            }
        }
        Ok(())
    }

    fn same_item(
        &self,
        texts: &[Evidence<String>],
        cells: &[Evidence<(i64, i64)>],
        open: &mut Vec<Open>,
    ) -> Result<(), Error> {
        let changed = other_item;
        if texts.len() != self.digests.len() || cells.len() != self.cells.len() {
            open.push(("context", Cause::NotRead));
        }
        for (text, was) in texts.iter().zip(&self.digests) {
            match text {
                Evidence::Known(now) if digest(now) == *was => {}
                Evidence::Known(_) | Evidence::Absent | Evidence::Unknown(Cause::Gone) => return Err(changed()),
                Evidence::Unknown(cause) => open.push(("context", cause.clone())),
            }
        }
        let mut row = None;
        for (at, cell) in cells.iter().enumerate() {
            match cell {
                Evidence::Known((_, c)) if at == 0 && Some(*c) != self.column => return Err(changed()),
                Evidence::Known((r, _)) if *row.get_or_insert(*r) == *r => {}
                Evidence::Known(_) | Evidence::Absent | Evidence::Unknown(Cause::Gone) => return Err(changed()),
                Evidence::Unknown(cause) => open.push(("row", cause.clone())),
            }
        }
        Ok(())
    }

    fn same_label(
        &self,
        entry: &Entry,
        facts: &Facts,
        purpose: Purpose,
        open: &mut Vec<Open>,
    ) -> Result<Option<Renamed>, Error> {
        let now = stable_name(facts);
        if let Evidence::Unknown(cause) = &now {
            open.push(("label", cause.clone()));
            return Ok(None);
        }
        let (was, now) = (entry.name.as_deref(), known_text(&now));
        if was.map(digest) == now.map(digest) {
            return Ok(None);
        }
        match purpose {
            Purpose::Read => Ok(Some((was.map(str::to_owned), now.map(str::to_owned)))),
            Purpose::Write => Err(stale("the element is in its place but has another label now")
                .kind("label_changed")
                .detail("renamed", json!({"was": was, "now": now}))
                .suggest("Take a new snapshot and decide whether the new label is still what you want.")),
        }
    }
}

fn stale(message: &str) -> Error {
    Error::before(Code::StaleRef, message).suggest("Take a new snapshot and use its ref.")
}

fn other_item() -> Error {
    stale(
        "a text that told the element has changed, beside it or its description: this place may show another item now",
    )
    .kind("context_changed")
}

fn absent(message: &str) -> Error {
    stale(message).kind("saved_ref_absent")
}

fn unknown(message: &str, cause: &Cause) -> Error {
    Error::before(Code::Timeout, format!("the element can't be proven to be the same: {message}"))
        .kind("resolution_identity_unknown")
        .detail("cause", json!(cause))
        .retry_after(250)
        .suggest("Retry; if it stays so, take a new snapshot.")
}

/// The error for a silent application (decisions D4).
pub fn unresponsive(map: &RefMap) -> Error {
    Error::before(Code::AppUnresponsive, "the application did not answer")
        .kind("application_silent")
        .detail("pid", map.process.pid)
        .suggest("Wait and retry; 'list-apps' shows whether it answers again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{Presence, ProcessKey};
    use crate::refs::entry::{FORMAT, LinkRow, RowProof, Source, Witness};
    use crate::tree::fixture::node;
    use crate::tree::raw::{Grade, Link};
    use crate::vocab::native_id::{NativeId, NativeIdKind};
    use crate::vocab::role::Role;
    use crate::vocab::surface::Surface;
    use std::collections::BTreeMap;

    /// app, window, row, cell with a button, neighbour's cell.
    fn map(proof: Proof) -> RefMap {
        let row = |p: Option<u32>, h: &str, i| LinkRow { parent: p, link: Link { handle: Handle::new(h), index: i } };
        let entry = Entry {
            link: 2,
            role: Role::Button,
            name: Some("Delete".into()),
            description: None,
            native_id: Some(NativeId { kind: NativeIdKind::AxIdentifier, value: "del".into() }),
            label_sources: vec![],
            page_signs: None,
            states: Default::default(),
            capabilities: Default::default(),
            secure: false,
            grade: Grade::Slot,
            proof,
            plan: 0,
            root_ref: None,
        };
        RefMap {
            format: FORMAT,
            snapshot_id: "sabc".into(),
            desktop: "d".into(),
            process: ProcessKey { pid: 7, instance: "g".into() },
            source: Source {
                app: "a".into(),
                window_id: "w".into(),
                window_title: "t".into(),
                surface: Surface::Window,
                others: Vec::new(),
            },
            next: 2,
            links: vec![row(None, "app", 0), row(Some(0), "win", 1), row(Some(1), "btn", 0), row(Some(1), "lbl", 1)],
            entries: BTreeMap::from([(1, entry)]),
        }
    }

    fn witnessed() -> Proof {
        Proof::Witnessed {
            witnesses: vec![Witness {
                link: 3,
                source: crate::platform::TextSource::OwnText,
                digest: digest("Alice  Smith"),
            }],
            row: None,
        }
    }

    fn good() -> Probe {
        let facts = node(Role::Button).name("Delete").id("del").build().nodes.remove(0).facts;
        Probe {
            process: ProcessLife::Alive,
            element: Presence::Live(Box::new(facts)),
            edges: vec![Evidence::Known(true); 4],
            witnesses: vec![Evidence::Known("Alice Smith".into())],
            cells: vec![],
            silent: false,
        }
    }

    fn judge(probe: Probe, purpose: Purpose) -> Result<Resolved, Error> {
        let map = map(witnessed());
        assert!(map.sound());
        let entry = &map.entries[&1];
        Question::new(&map, entry).unwrap().judge(&map, entry, probe, purpose)
    }

    fn refusal(change: impl FnOnce(&mut Probe)) -> (Code, String) {
        let mut probe = good();
        change(&mut probe);
        let e = judge(probe, Purpose::Write).unwrap_err();
        assert_eq!(e.delivery(), crate::error::Delivery::NotDelivered);
        (e.code(), e.kind_name().unwrap_or_default().to_owned())
    }

    #[test]
    fn all_evidence_together_resolves() {
        let resolved = judge(good(), Purpose::Write).unwrap();
        assert_eq!(resolved.told, Told::Witnessed);
        assert_eq!(resolved.renamed, None);
    }

    #[test]
    fn each_contradiction_has_its_refusal() {
        let stale = |kind: &str| (Code::StaleRef, kind.to_owned());
        assert_eq!(refusal(|p| p.process = ProcessLife::Gone), stale("saved_ref_absent"));
        assert_eq!(refusal(|p| p.process = ProcessLife::OtherGeneration), stale("saved_ref_absent"));
        assert_eq!(refusal(|p| p.element = Presence::Dead("x".into())), stale("saved_ref_absent"));
        assert_eq!(refusal(|p| p.edges[2] = Evidence::Known(false)), stale("retained_object_stale"));
        assert_eq!(refusal(|p| p.edges[1] = Evidence::Unknown(Cause::Gone)), stale("retained_object_stale"));
        // A page that wrote the text beside the element anew made a new text node: that is the other item's text.
        assert_eq!(refusal(|p| p.edges[3] = Evidence::Known(false)), stale("context_changed"));
        assert_eq!(refusal(|p| p.edges[3] = Evidence::Unknown(Cause::Gone)), stale("context_changed"));
        assert_eq!(refusal(|p| p.witnesses[0] = Evidence::Known("Bob".into())), stale("context_changed"));
        assert_eq!(refusal(|p| p.witnesses[0] = Evidence::Absent), stale("context_changed"));
        let other = |f: fn(&mut Facts)| {
            refusal(move |p| {
                if let Presence::Live(facts) = &mut p.element {
                    f(facts);
                }
            })
        };
        assert_eq!(other(|f| f.role = Evidence::Known(Role::Link)), stale("retained_object_stale"));
        assert_eq!(other(|f| f.native_id = Evidence::Absent), stale("retained_object_stale"));
        assert_eq!(other(|f| f.names.native_title = Evidence::Known("Remove".into())), stale("label_changed"));
    }

    #[test]
    fn what_could_not_be_read_never_resolves_and_never_contradicts() {
        let open = (Code::Timeout, "resolution_identity_unknown".to_owned());
        assert_eq!(refusal(|p| p.process = ProcessLife::Unknown(Cause::Late)), open);
        assert_eq!(refusal(|p| p.element = Presence::Unknown(Cause::Late)), open);
        assert_eq!(refusal(|p| p.edges[0] = Evidence::Unknown(Cause::Late)), open);
        assert_eq!(refusal(|p| p.edges.clear()), open);
        assert_eq!(refusal(|p| p.witnesses[0] = Evidence::Unknown(Cause::Late)), open);
        assert_eq!(refusal(|p| p.witnesses.clear()), open);
        let silent = refusal(|p| {
            p.element = Presence::Unknown(Cause::Late);
            p.silent = true;
        });
        assert_eq!(silent.0, Code::AppUnresponsive);
        // A contradiction beside something unread is still a contradiction.
        let both = refusal(|p| {
            p.edges[0] = Evidence::Unknown(Cause::Late);
            p.witnesses[0] = Evidence::Known("Bob".into());
        });
        assert_eq!(both.1, "context_changed");
    }

    #[test]
    fn a_read_meets_a_renamed_element_and_says_so() {
        let mut probe = good();
        if let Presence::Live(f) = &mut probe.element {
            f.names.native_title = Evidence::Known("Pause".into());
        }
        let resolved = judge(probe, Purpose::Read).unwrap();
        assert_eq!(resolved.renamed, Some((Some("Delete".into()), Some("Pause".into()))));
    }

    #[test]
    fn a_cell_must_keep_its_column_and_its_row() {
        let row = Some(RowProof { cell: 2, column: 3, others: vec![3] });
        let Proof::Witnessed { witnesses, .. } = witnessed() else { unreachable!() };
        let map = map(Proof::Witnessed { witnesses, row });
        let entry = &map.entries[&1];
        let question = Question::new(&map, entry).unwrap();
        let with = |cells: [(i64, i64); 2]| {
            let probe = Probe { cells: cells.map(Evidence::Known).to_vec(), ..good() };
            question.judge(&map, entry, probe, Purpose::Write).map_err(|e| e.kind_name().unwrap_or("").to_owned())
        };
        assert!(with([(9, 3), (9, 0)]).is_ok(), "the whole row may move");
        assert_eq!(with([(9, 3), (8, 0)]).unwrap_err(), "context_changed");
        assert_eq!(with([(9, 4), (9, 0)]).unwrap_err(), "context_changed");
    }

    #[test]
    fn unproven_entries_are_refused_before_anything_is_read() {
        for proof in [Proof::NotUnique, Proof::Unread] {
            let map = map(proof);
            let e = admissible(&map.entries[&1]).unwrap_err();
            assert_eq!((e.code(), e.kind_name()), (Code::AmbiguousTarget, Some("identity_not_unique")));
        }
    }
}
