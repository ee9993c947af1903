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

/// A proven element.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The element with the facts that the proof read.
    pub live: Live,
    /// How it was told.
    pub told: Told,
    /// The label at capture and now, where a read met a renamed element.
    pub renamed: Option<(Option<String>, Option<String>)>,
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
        links.sort_unstable();
        links.dedup();
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
        Some(Self { edges, witnesses, digests, cells, column, target: handle(entry.link)?, window })
    }

    /// Asks it.
    pub fn ask(&self, map: &RefMap, entry: &Entry, bounds: bool, on: &dyn Observe, deadline: Deadline) -> Probe {
        let request = ProbeRequest {
            process: &map.process,
            target: &self.target,
            label_sources: &entry.label_sources,
            role: entry.role,
            edges: &self.edges,
            witnesses: &self.witnesses,
            cells: &self.cells,
            bounds,
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
        let mut open: Vec<(&str, Cause)> = Vec::new();
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

    fn same_kind<'a>(&self, entry: &Entry, facts: &Facts, open: &mut Vec<(&'a str, Cause)>) -> Result<(), Error> {
        match &facts.role {
            Evidence::Known(role) if *role == entry.role => {}
            Evidence::Known(_) | Evidence::Absent => {
                return Err(stale("retained_object_stale", "the element at this address has another role now"));
            }
            Evidence::Unknown(cause) => open.push(("role", cause.clone())),
        }
        match (&entry.native_id, &facts.native_id) {
            (Some(was), Evidence::Known(now)) if was == now => {}
            (Some(_), Evidence::Known(_) | Evidence::Absent) => {
                return Err(stale("retained_object_stale", "the element at this address has another identifier now"));
            }
            (Some(_), Evidence::Unknown(cause)) => open.push(("identifier", cause.clone())),
            // An identifier that appeared later contradicts nothing.
            (None, _) => {}
        }
        Ok(())
    }

    fn in_place<'a>(&self, edges: &[Evidence<bool>], open: &mut Vec<(&'a str, Cause)>) -> Result<(), Error> {
        if edges.len() != self.edges.len() {
            open.push(("place", Cause::NotRead));
        }
        for edge in edges {
            match edge {
                Evidence::Known(true) => {}
                Evidence::Known(false) | Evidence::Absent => {
                    return Err(stale(
                        "retained_object_stale",
                        "the element lives but no longer stands where it was seen",
                    ));
                }
                Evidence::Unknown(Cause::Gone) => {
                    return Err(stale("retained_object_stale", "a container of the element is gone"));
                }
                Evidence::Unknown(cause) => open.push(("place", cause.clone())),
            }
        }
        Ok(())
    }

    fn same_item<'a>(
        &self,
        texts: &[Evidence<String>],
        cells: &[Evidence<(i64, i64)>],
        open: &mut Vec<(&'a str, Cause)>,
    ) -> Result<(), Error> {
        let changed = || {
            stale("context_changed", "the text beside the element has changed: this place may show another item now")
        };
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

    #[allow(clippy::type_complexity)]
    fn same_label<'a>(
        &self,
        entry: &Entry,
        facts: &Facts,
        purpose: Purpose,
        open: &mut Vec<(&'a str, Cause)>,
    ) -> Result<Option<(Option<String>, Option<String>)>, Error> {
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
            Purpose::Write => Err(stale("label_changed", "the element is in its place but has another label now")
                .detail("renamed", json!({"was": was, "now": now}))
                .suggest("Take a new snapshot and decide whether the new label is still what you want.")),
        }
    }
}

fn stale(kind: &str, message: &str) -> Error {
    Error::before(Code::StaleRef, message).kind(kind).suggest("Take a new snapshot and use its ref.")
}

fn absent(message: &str) -> Error {
    stale("saved_ref_absent", message)
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
        .kind("app_silent")
        .detail("pid", map.process.pid)
        .suggest("Wait and retry; 'list-apps' shows whether it answers again.")
}
