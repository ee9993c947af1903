//! One resolution's reads (decisions D1): the element again, the chain downwards, the witnesses, the process. Almost
//! everything is asked in one flight, since the recorded chain and the plan of the capture are known; only what the element
//! has come to offer since then costs a second one, as in a tree's read: to ask for what an element lacks makes some
//! toolkits complain. What moved costs two more.

use self::edge::{Edge, unless_answered};
use super::compose::{Place, compose, label_text, wants_child_labels};
use super::flight::{self, Subject};
use super::interface as i;
use super::native::{BASIC, Field, Label, Native};
use super::pages::{self, Page};
use super::role::native as n;
use super::toolkit::{CellSource, Toolkit};
use super::visibility::Above;
use super::wants::blank;
use super::{grid, wants};
use crate::LinuxPlatform;
use crate::bus::{Body, Call, CallError, Object, Reply, Wire};
use crate::platform::{toolkit_calls, toolkit_of};
use crate::traits::process_life;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::platform::{ChainEdge, Presence, Probe, ProbeRequest, ProcessLife, TextSource};
use agent_desktop_core::tree::name::{stable_description, stable_name};
use agent_desktop_core::tree::raw::{Facts, Handle};
use std::collections::HashMap;

/// What is asked of witnesses and label sources beside the basic facts: what text may be in.
const TEXTUAL: &[Field] = &[Field::Characters];

/// Texts of witnesses are compared by digest, so all of them counts, up to the contract's limit for one field.
const MAX_TEXT: usize = 64 * 1024;

type Answer = Result<Reply, CallError>;

/// What a resolution asks, with the answers as they come.
struct Reads<'a> {
    wire: &'a dyn Wire,
    request: &'a ProbeRequest<'a>,
    toolkit: Toolkit,
    deadline: Deadline,
    /// The target, then label sources, then witnesses, then ancestors of the target.
    subjects: Vec<Subject>,
    labels: std::ops::Range<usize>,
    witnesses: std::ops::Range<usize>,
    ancestors: std::ops::Range<usize>,
    signs: std::ops::Range<usize>,
    page: Option<Page>,
    edges: Vec<Edge>,
    parent: Answer,
    answered: bool,
}

/// Everything that one resolution needs.
pub fn probe(platform: &LinuxPlatform, request: &ProbeRequest<'_>, deadline: Deadline) -> Probe {
    let process = process_life(request.process);
    let Some(target) = Object::from_handle(request.target) else {
        return unreadable(request, process, "this is no address of the Linux adapter");
    };
    let known = platform.known_toolkit(&target.bus);
    let mut reads = match Reads::new(&platform.bus, request, target, known, deadline) {
        Ok(reads) => reads,
        Err(why) => return unreadable(request, process, why),
    };
    reads.first(known.is_none());
    if known.is_none() && reads.answered {
        platform.learn(reads.subjects[0].object.bus.clone(), reads.toolkit);
    }
    reads.second();
    reads.page();
    reads.follow();
    reads.moved_edges();
    let element = reads.element(platform, request.bounds);
    let cells = reads.cells();
    Probe {
        process,
        element,
        edges: reads.edges.iter().map(|e| e.holds.clone()).collect(),
        witnesses: reads.witness_texts(),
        cells,
        silent: !reads.answered,
    }
}

fn unreadable(request: &ProbeRequest<'_>, process: ProcessLife, why: &str) -> Probe {
    let fault = || Cause::Fault(why.to_owned());
    Probe {
        process,
        element: Presence::Unknown(fault()),
        edges: vec![Evidence::Unknown(fault()); request.edges.len()],
        witnesses: vec![Evidence::Unknown(fault()); request.witnesses.len()],
        cells: vec![Evidence::Unknown(fault()); request.cells.len()],
        silent: false,
    }
}

/// The target's ancestors, nearest first, by the recorded edges.
fn chain(edges: &[ChainEdge], target: &Handle) -> Vec<Handle> {
    let parents: HashMap<&Handle, &Handle> =
        edges.iter().filter_map(|e| Some((&e.child.handle, e.parent.as_ref()?))).collect();
    let mut out = Vec::new();
    let mut at = target;
    while let Some(parent) = parents.get(at).filter(|_| out.len() <= edges.len()) {
        out.push((*parent).clone());
        at = parent;
    }
    out
}

impl<'a> Reads<'a> {
    fn new(
        wire: &'a dyn Wire,
        request: &'a ProbeRequest<'a>,
        target: Object,
        toolkit: Option<Toolkit>,
        deadline: Deadline,
    ) -> Result<Self, &'static str> {
        let object = |h: &Handle| Object::from_handle(h).ok_or("an address of the chain is none of the Linux adapter");
        let subject = |object: Object| Subject { object, native: Native::default() };
        let mut subjects = vec![subject(target)];
        let mut range = |handles: Vec<&Handle>| -> Result<std::ops::Range<usize>, &'static str> {
            let start = subjects.len();
            for handle in handles {
                subjects.push(subject(object(handle)?));
            }
            Ok(start..subjects.len())
        };
        let ancestors = chain(request.edges, request.target);
        let labels = range(request.label_sources.iter().collect())?;
        let witnesses = range(request.witnesses.iter().map(|w| &w.handle).collect())?;
        let ancestors = range(ancestors.iter().collect())?;
        let signs = range(request.page_signs.into_iter().flatten().collect())?;
        let edges = request.edges.iter().map(|e| {
            Ok(Edge {
                parent: e.parent.as_ref().map(object).transpose()?,
                child: object(&e.child.handle)?,
                index: e.child.index,
                holds: Evidence::Unknown(Cause::NotRead),
            })
        });
        Ok(Self {
            wire,
            request,
            toolkit: toolkit.unwrap_or(Toolkit::Other),
            deadline,
            edges: edges.collect::<Result<_, &'static str>>()?,
            subjects,
            labels,
            witnesses,
            ancestors,
            signs,
            page: None,
            parent: Err(CallError::Late { sent: false }),
            answered: false,
        })
    }

    /// The flight that asks everything whose address is known.
    fn first(&mut self, toolkit_unknown: bool) {
        let mut jobs: Vec<(usize, Field)> =
            BASIC.iter().copied().chain(wants::planned(self.request.plan)).map(|f| (0, f)).collect();
        for at in self.labels.clone().chain(self.witnesses.clone()) {
            jobs.extend(BASIC.iter().map(|f| (at, *f)));
        }
        let application = self.ancestors.end.checked_sub(1);
        for at in self.ancestors.clone() {
            jobs.extend([Field::Role, Field::States].map(|f| (at, f)));
            // The application itself has no place on the screen.
            if Some(at) != application {
                jobs.push((at, Field::Extents));
            }
        }
        for at in self.signs.clone() {
            jobs.extend(pages::SIGN.iter().map(|f| (at, *f)));
        }
        let mut calls: Vec<Call> = jobs.iter().map(|(at, f)| f.call(&self.subjects[*at].object)).collect();
        let target = &self.subjects[0].object;
        calls.push(Call::get(target, i::ACCESSIBLE, "Parent"));
        calls.extend(self.edges.iter().map(Edge::call));
        if toolkit_unknown {
            calls.extend(toolkit_calls(&target.bus));
        }
        let mut answers = self.wire.flight(calls, self.deadline).into_iter();
        let fields: Vec<Answer> = answers.by_ref().take(jobs.len()).collect();
        self.parent = answers.next().unwrap_or(Err(CallError::Late { sent: false }));
        let edges: Vec<Answer> = answers.by_ref().take(self.edges.len()).collect();
        let rest: Vec<Answer> = answers.collect();
        if toolkit_unknown && let Ok(toolkit) = toolkit_of(&rest) {
            self.toolkit = toolkit;
        }
        // Which toolkit it is decides what an error means.
        for ((at, field), answer) in jobs.into_iter().zip(fields) {
            self.subjects[at].native.take(field, answer, self.toolkit);
        }
        let pid = self.request.process.pid;
        for (edge, answer) in self.edges.iter_mut().zip(edges) {
            edge.holds = edge.judge(answer, pid, self.toolkit);
        }
        self.answered = self.subjects.iter().any(|s| s.native.answered);
    }

    /// The details that the read plan asks for, now that it is known what the elements are.
    fn second(&mut self) {
        if !self.answered {
            return;
        }
        // What was worth reading at capture has been asked already.
        let asked: Vec<Field> = wants::planned(self.request.plan).collect();
        // Whether the application has ids was known then.
        self.subjects[0].native.has_ids &= asked.contains(&Field::Id) || !self.toolkit.may_lack_ids();
        let above = self.above();
        let wanted = wants::wanted(&self.subjects[0].native, self.toolkit, above, self.request.bounds);
        let mut jobs: Vec<(usize, Field)> = wanted.into_iter().filter(|f| !asked.contains(f)).map(|f| (0, f)).collect();
        for at in self.labels.clone().chain(self.witnesses.clone()) {
            if self.subjects[at].native.interfaces_or_none().has(i::Interfaces::TEXT) {
                jobs.extend(TEXTUAL.iter().map(|f| (at, *f)));
            }
        }
        for (at, field) in &jobs {
            self.subjects[*at].native.await_field(*field);
        }
        flight::read(self.wire, self.toolkit, &mut self.subjects, jobs, self.deadline);
    }

    /// Texts and names of actions, whose number is known now, and labels that are new.
    fn follow(&mut self) {
        let wanted = wants::wanted(&self.subjects[0].native, self.toolkit, self.above(), self.request.bounds);
        self.subjects[0].native.keep(&wanted);
        let mut jobs = Vec::new();
        for (at, subject) in self.subjects.iter().enumerate() {
            if self.ancestors.contains(&at) || self.signs.contains(&at) {
                continue;
            }
            // What a secure field holds is not even read.
            let secure = wants::known_secure(&subject.native, self.toolkit);
            let may = |f: &Field| !(secure && matches!(f, Field::Text(_)));
            jobs.extend(
                flight::followers(&subject.native, self.toolkit, MAX_TEXT).into_iter().filter(may).map(|f| (at, f)),
            );
        }
        flight::read(self.wire, self.toolkit, &mut self.subjects, jobs, self.deadline);
        let toolkit = self.toolkit;
        let known: HashMap<Object, Evidence<String>> = self
            .labels
            .clone()
            .map(|at| {
                (
                    self.subjects[at].object.clone(),
                    gone_as_absent(&self.subjects[at].native, label_text(&self.subjects[at].native, toolkit)),
                )
            })
            .collect();
        if let Evidence::Known(list) = &mut self.subjects[0].native.labelled_by {
            for label in list.iter_mut() {
                if let Some(text) = known.get(&label.object) {
                    label.text = text.clone();
                }
            }
            flight::read_labels(self.wire, toolkit, list.iter_mut().collect(), self.deadline);
        }
        if wants_child_labels(&self.subjects[0].native, toolkit) {
            // GTK 4 buttons are labelled by the label inside them: a relation counts as one only where it is read at
            // capture, too, which is where the element has no name of its own.
            let related: Vec<Object> = match &self.subjects[0].native.labelled_by {
                Evidence::Known(list) if blank(&self.subjects[0].native, toolkit) => {
                    list.iter().map(|l| l.object.clone()).collect()
                }
                _ => Vec::new(),
            };
            let inside =
                self.labels.clone().map(|at| self.subjects[at].object.clone()).filter(|o| !related.contains(o));
            let text = |o: &Object| known.get(o).cloned().unwrap_or(Evidence::Absent);
            let labels = inside.map(|object| Label { text: text(&object), object }).collect();
            self.subjects[0].native.child_labels = Evidence::Known(labels);
        }
    }

    /// Edges that the recorded index does not confirm: the child says its index, or the parent lists its children.
    fn moved_edges(&mut self) {
        let open = |e: &Edge| e.parent.is_some() && e.holds.says_no();
        let moved: Vec<usize> = (0..self.edges.len()).filter(|at| open(&self.edges[*at])).collect();
        if moved.is_empty() {
            return;
        }
        let ask = |at: &usize| {
            let child = &self.edges[*at].child;
            [Call::new(child, i::ACCESSIBLE, "GetIndexInParent"), Call::get(child, i::ACCESSIBLE, "Parent")]
        };
        let answers = self.wire.flight(moved.iter().flat_map(ask).collect(), self.deadline);
        let mut again = Vec::new();
        for (&at, answer) in moved.iter().zip(answers.chunks(2)) {
            let edge = &mut self.edges[at];
            match answer[0].clone().and_then(|r| r.int()) {
                Ok(index) => {
                    let Ok(index) = u32::try_from(index) else { continue };
                    let parent = answer[1].as_ref().ok().and_then(|r| r.object_property().ok());
                    if self.toolkit.index_is_the_parents_word() && parent.is_some() && parent == edge.parent {
                        (edge.index, edge.holds) = (index, Evidence::Known(true));
                    } else if index != edge.index {
                        edge.index = index;
                        again.push(at);
                    }
                }
                Err(e) => edge.holds = unless_answered(&e, self.toolkit),
            }
        }
        let answers = self.wire.flight(again.iter().map(|at| self.edges[*at].call()).collect(), self.deadline);
        for (&at, answer) in again.iter().zip(answers) {
            self.edges[at].holds = self.edges[at].judge(answer, self.request.process.pid, self.toolkit);
        }
        self.listed_edges(moved.into_iter().filter(|at| self.edges[*at].holds.says_no()).collect());
    }

    /// The last word: the parent's own list, where it isn't huge.
    fn listed_edges(&mut self, open: Vec<usize>) {
        let count =
            |at: &usize| Field::ChildCount.call(self.edges[*at].parent.as_ref().unwrap_or(&self.edges[*at].child));
        let counts = self.wire.flight(open.iter().map(count).collect(), self.deadline);
        let short =
            |answer: &Answer| answer.as_ref().is_ok_and(|r| r.int_property().is_ok_and(|c| (1..=4_096).contains(&c)));
        let listed: Vec<usize> = open.iter().zip(&counts).filter(|(_, c)| short(c)).map(|(at, _)| *at).collect();
        let list = |at: &usize| {
            Call::new(self.edges[*at].parent.as_ref().unwrap_or(&self.edges[*at].child), i::ACCESSIBLE, "GetChildren")
        };
        let answers = self.wire.flight(listed.iter().map(list).collect(), self.deadline);
        for (&at, answer) in listed.iter().zip(answers) {
            let edge = &mut self.edges[at];
            edge.holds = match answer.and_then(|r| r.objects()) {
                Ok(children) => match children.iter().position(|c| *c == edge.child) {
                    Some(index) => {
                        edge.index = u32::try_from(index).unwrap_or(u32::MAX);
                        Evidence::Known(true)
                    }
                    None => Evidence::Known(false),
                },
                Err(e) => unless_answered(&e, self.toolkit),
            };
        }
    }

    /// Whether the page is shown in which the element stands.
    fn page(&mut self) {
        if self.request.page_signs.is_some() && self.answered {
            self.page = Some(pages::of_signs(self.wire, &self.subjects[self.signs.clone()], self.deadline));
        }
    }

    fn above(&self) -> Above {
        // Outermost first.
        let down = self.ancestors.clone().rev();
        let above = down.fold(Above::default(), |above, at| above.under(&self.subjects[at].native, self.toolkit));
        self.page.map_or(above, |page| above.on(page.unless_disabled(above)))
    }

    fn element(&mut self, platform: &LinuxPlatform, bounds: bool) -> Presence {
        let above = self.above();
        if let Some(answer) = dead(&self.subjects[0].native, &self.parent) {
            return Presence::Dead(answer);
        }
        let cause = match (&self.subjects[0].native.states, &self.subjects[0].native.role) {
            (Evidence::Unknown(c), _) | (_, Evidence::Unknown(c)) => Some(c.clone()),
            _ => None,
        };
        if let Some(cause) = cause {
            return if self.unowned() {
                Presence::Dead("the bus name has no owner".to_owned())
            } else {
                Presence::Unknown(cause)
            };
        }
        self.table_cell();
        if self.subjects[0].native.role_number() == Some(n::COMBO_BOX) && !self.toolkit.combo_name_is_value() {
            let shown = super::selection::of(self.wire, self.toolkit, &self.subjects[0].object, self.deadline);
            self.subjects[0].native.selected = match shown {
                Evidence::Known(all) => all.into_iter().next().map_or(Evidence::Absent, Evidence::Known),
                Evidence::Absent => Evidence::Absent,
                Evidence::Unknown(c) => Evidence::Unknown(c),
            };
        }
        if let Evidence::Known(entry) = &self.subjects[0].native.chosen {
            let texts = super::selection::entries(self.wire, self.toolkit, vec![entry.clone()], self.deadline);
            self.subjects[0].native.selected = texts.into_iter().next().unwrap_or(Evidence::Absent);
        }
        let top = self.ancestors.len() == 1;
        let origin = if bounds && self.toolkit.extents_are_of_window() {
            // Outermost first, without the application.
            let line = self.ancestors.clone().rev().skip(1).chain([0]).map(|at| self.subjects[at].object.clone());
            let line: Vec<Object> = line.collect();
            let (window, inner) = line.split_first().map_or((&self.subjects[0].object, &[][..]), |(w, i)| (w, i));
            platform.origin_of(window, inner, self.request.process.pid, self.deadline).0
        } else {
            Evidence::Unknown(Cause::NotRead)
        };
        let place = Place { toolkit: self.toolkit, above, top, origin, bounds };
        Presence::Live(Box::new(compose(&self.subjects[0].native, &place)))
    }

    /// A cell that can't say where it stands: its table says.
    fn table_cell(&mut self) {
        if self.toolkit.cell_source() == CellSource::Cell
            || self.subjects[0].native.role_number() != Some(n::TABLE_CELL)
        {
            return;
        }
        let target = self.subjects[0].object.clone();
        if let Some(cell) = self.cells_of(&[target]).pop() {
            self.subjects[0].native.cell = cell;
        }
    }

    /// Nothing came: whether anybody is there at all.
    fn unowned(&self) -> bool {
        let name = Body::Text(self.subjects[0].object.bus.to_string());
        self.wire
            .call(Call::driver("NameHasOwner", name), self.deadline.max(Deadline::after_ms(100)))
            .and_then(|r| r.bool())
            == Ok(false)
    }

    fn witness_texts(&self) -> Vec<Evidence<String>> {
        let text = |(at, witness): (usize, &agent_desktop_core::platform::WitnessProbe)| {
            let native = &self.subjects[at].native;
            if native.dead.is_some() || native.states_or_none().defunct() {
                return Evidence::Absent;
            }
            let facts = self.witness_facts(native);
            match witness.source {
                TextSource::OwnText => facts.own_text,
                TextSource::Name => stable_name(&facts),
                TextSource::Description => stable_description(&facts),
            }
        };
        self.witnesses.clone().zip(self.request.witnesses).map(text).collect()
    }

    fn witness_facts(&self, native: &Native) -> Facts {
        let mut native = native.clone();
        let wanted = wants::wanted(&native, self.toolkit, Above::default(), false);
        native.keep(&wanted);
        let place = Place {
            toolkit: self.toolkit,
            above: Above::default(),
            top: false,
            origin: Evidence::Unknown(Cause::NotRead),
            bounds: false,
        };
        compose(&native, &place)
    }

    fn cells(&self) -> Vec<Evidence<(i64, i64)>> {
        let objects: Vec<Object> = self.request.cells.iter().filter_map(Object::from_handle).collect();
        if objects.len() != self.request.cells.len() {
            return vec![Evidence::Absent; self.request.cells.len()];
        }
        self.cells_of(&objects)
    }

    fn cells_of(&self, objects: &[Object]) -> Vec<Evidence<(i64, i64)>> {
        let mut natives = vec![Native::default(); objects.len()];
        if self.toolkit.cell_source() == CellSource::Cell {
            let answers = self.wire.flight(objects.iter().map(|o| Field::Cell.call(o)).collect(), self.deadline);
            for (native, answer) in natives.iter_mut().zip(answers) {
                native.take(Field::Cell, answer, self.toolkit);
            }
            return natives.into_iter().map(|n| n.cell).collect();
        }
        let table_of: HashMap<&Object, (&Object, u32)> =
            self.edges.iter().filter_map(|e| Some((&e.child, (e.parent.as_ref()?, e.index)))).collect();
        let places: Vec<Option<(&Object, u32)>> = objects.iter().map(|o| table_of.get(o).copied()).collect();
        let known: Vec<(&Object, u32)> = places.iter().flatten().copied().collect();
        let mut found = grid::cells_at(self.wire, &known, self.toolkit, self.deadline).into_iter();
        places.iter().map(|p| p.and_then(|_| found.next()).unwrap_or(Evidence::Absent)).collect()
    }
}

/// A label that is gone says nothing any more; that is an answer.
fn gone_as_absent(native: &Native, text: Evidence<String>) -> Evidence<String> {
    if native.dead.is_some() { Evidence::Absent } else { text }
}

/// The answer that says that the element is dead (FINDINGS §4): an error, DEFUNCT, or a tombstone.
fn dead(native: &Native, parent: &Answer) -> Option<String> {
    if let Some(why) = &native.dead {
        return Some(why.clone());
    }
    let states = native.states.known()?;
    if states.defunct() {
        return Some("the element reports DEFUNCT".to_owned());
    }
    let orphan = parent.as_ref().ok().and_then(|r| r.object_property().ok()).is_some_and(|p| p.is_null());
    (states.is_empty() && orphan).then(|| "no states and no parent".to_owned())
}

mod edge;
#[cfg(test)]
mod tests;
