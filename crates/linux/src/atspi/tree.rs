//! Reading a window's tree: structure level by level, from the application's cache where that is good, else by calls
//! in flight; then the details that the plan asks for (architecture: the read plan). Nothing is invented: a child is
//! listed because its parent listed it, or because the cache agrees with the parent's own count.

use super::cache::Cache;
use super::flight::{self, Subject};
use super::interface as i;
use super::labels;
use super::native::{BASIC, Field, Native};
use super::pages::{self, Page};
use super::state::Native as States;
use super::toolkit::Toolkit;
use super::visibility::Above;
use super::{grid, wants};
use crate::bus::{Call, CallError, Object, Reply, Wire};
use crate::outcome::read::{Asked, ReadOutcome, classify};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::platform::ReadPlan;
use agent_desktop_core::tree::raw::{Cut, Link};
use std::collections::{HashMap, HashSet};

/// One node of a tree under construction.
#[derive(Clone, Debug)]
pub struct Node {
    /// Parent's place in the list.
    pub parent: Option<usize>,
    /// Index among the parent's children.
    pub index: u32,
    /// Children's places in the list.
    pub children: Vec<usize>,
    /// Why children are missing.
    pub cut: Option<Cut>,
    /// Depth below the root.
    pub depth: usize,
    /// What its ancestors say.
    pub above: Above,
    /// What is known of the page that begins here.
    pub page: Option<Page>,
    /// What tells of the page in which it stands.
    pub signs: Vec<Object>,
    /// Its address, where that isn't the object that was read: a place.
    pub place: Option<Object>,
}

/// A line on which one silent element doesn't cost all of the time.
struct Sweep<'a>(&'a dyn Wire);

impl Wire for Sweep<'_> {
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        self.0.sweep(calls, deadline)
    }
}

/// A tree under construction: parents stand before their children.
pub struct Walk<'a> {
    wire: Sweep<'a>,
    toolkit: Toolkit,
    plan: &'a ReadPlan,
    cache: Option<Cache>,
    /// Structure.
    pub nodes: Vec<Node>,
    /// Facts, in the same order.
    pub subjects: Vec<Subject>,
    seen: HashSet<Object>,
    edges: usize,
    text: usize,
    grids: bool,
    /// What the root's ancestors say.
    top: Above,
    /// Child lists that were asked for before their turn.
    listed: HashMap<Object, Result<Reply, CallError>>,
}

impl<'a> Walk<'a> {
    /// Begins at a root. The cache is asked for here.
    pub fn new(wire: &'a dyn Wire, toolkit: Toolkit, plan: &'a ReadPlan, root: Object) -> Self {
        // A third of the budget: if it stays away, the walk needs the rest.
        let third = plan.deadline.within_ms(u64::try_from(plan.deadline.left().as_millis() / 3).unwrap_or(u64::MAX));
        let cache = Cache::read(wire, &root, toolkit, third);
        let mut walk = Self {
            wire: Sweep(wire),
            toolkit,
            plan,
            cache,
            nodes: Vec::new(),
            subjects: Vec::new(),
            seen: HashSet::new(),
            edges: 0,
            text: 0,
            grids: true,
            top: Above::default(),
            listed: HashMap::new(),
        };
        walk.add(root, None, 0, 0);
        walk
    }

    /// Says where the root stands: what its ancestors say holds below it, too, as when a window is read from its top. In a
    /// page or an item of a recycling list addresses follow the slot; where that can't be read, they are taken to.
    pub fn stand_below(&mut self, above: &[Link]) {
        // A window stands below its application alone, which says nothing.
        if above.len() < 2 {
            return;
        }
        let subject = |l: &Link| Some(Subject { object: Object::from_handle(&l.handle)?, native: Native::default() });
        let mut ancestors: Vec<Subject> = above.iter().filter_map(subject).collect();
        let fields = |at: usize| {
            // The application itself has no place on the screen.
            let place = (at > 0).then_some(Field::Extents);
            [Field::Role, Field::States, Field::Name].into_iter().chain(place).map(move |f| (at, f))
        };
        let jobs = (0..ancestors.len()).flat_map(fields).collect();
        flight::read(self.wire.0, self.toolkit, &mut ancestors, jobs, self.plan.deadline);
        let unread = ancestors.len() != above.len() || ancestors.iter().any(|a| a.native.role_number().is_none());
        let said = ancestors.iter().fold(Above::default(), |said, a| said.under(&a.native, self.toolkit));
        self.top = if unread { Above { in_web: true, in_item: true, rows_follow: false, ..said } } else { said };
    }

    /// Leaves the cells of virtual containers unread: who looks for surfaces needs none.
    pub fn leave_grids(&mut self) {
        self.grids = false;
    }

    /// Figures for diagnostics.
    pub fn notes(&self) -> Vec<String> {
        let cached = self.cache.as_ref().map_or_else(|| "no cache".to_owned(), |c| format!("cache of {}", c.len()));
        vec![format!("{cached}, {} nodes", self.nodes.len())]
    }

    fn add(&mut self, object: Object, parent: Option<usize>, index: u32, depth: usize) -> usize {
        let at = self.nodes.len();
        let native = self.cache.as_ref().and_then(|c| c.facts(&object)).cloned().unwrap_or_default();
        self.seen.insert(object.clone());
        self.nodes.push(Node {
            parent,
            index,
            children: Vec::new(),
            cut: None,
            depth,
            above: Above::default(),
            page: None,
            signs: Vec::new(),
            place: None,
        });
        self.subjects.push(Subject { object, native });
        at
    }

    /// Reads the structure and every node's basic facts.
    pub fn structure(&mut self) {
        self.ask_ahead();
        let mut level = vec![0];
        while !level.is_empty() {
            self.basics(&level);
            let known = self.children_of(&level);
            let mut next = Vec::new();
            for (parent, children) in known {
                self.adopt(parent, children, &mut next);
            }
            level = next;
        }
    }

    /// Where only the parents' own lists count, the cache still says whose will be needed: all at once, not level by
    /// level.
    fn ask_ahead(&mut self) {
        let Some(cache) = self.cache.as_ref().filter(|_| !self.toolkit.cache_tells_children()) else { return };
        let parents = cache.parents_below(&self.subjects[0].object, self.plan.max_depth, self.plan.max_children as u64);
        let calls = parents.iter().map(|p| Call::new(p, i::ACCESSIBLE, "GetChildren")).collect();
        self.listed = parents.into_iter().zip(self.wire.flight(calls, self.plan.deadline)).collect();
    }

    fn basics(&mut self, level: &[usize]) {
        let mut jobs = Vec::new();
        for &at in level {
            let native = &self.subjects[at].native;
            if !native.answered {
                jobs.extend(BASIC.iter().map(|f| (at, *f)));
            } else if matches!(native.child_count, Evidence::Unknown(Cause::NotRead)) {
                jobs.push((at, Field::ChildCount));
            }
        }
        if level == [0] && self.toolkit.may_lack_ids() {
            jobs.push((0, Field::Id));
        }
        // Without the root there is no tree: it has all of the time.
        let wire: &dyn Wire = if level == [0] { self.wire.0 } else { &self.wire };
        flight::read(wire, self.toolkit, &mut self.subjects, jobs, self.plan.deadline);
        for &at in level {
            let above = match self.nodes[at].parent {
                Some(p) => self.nodes[p].above.under(&self.subjects[p].native, self.toolkit),
                None => self.top,
            };
            self.nodes[at].above = above;
        }
    }

    /// The child lists of one level: from the cache, from the parents, or from what of a grid can be seen.
    fn children_of(&mut self, level: &[usize]) -> Vec<(usize, Vec<(u32, Object)>)> {
        let mut lists = Vec::new();
        let mut asked = Vec::new();
        let mut indexed = Vec::new();
        for &at in level {
            let subject = &self.subjects[at];
            let count = match (&subject.native.child_count, &subject.native.dead) {
                (_, Some(_)) => {
                    self.nodes[at].cut = Some(Cut::Gone);
                    continue;
                }
                (Evidence::Known(count), _) => *count,
                (Evidence::Unknown(cause), _) => {
                    self.nodes[at].cut = Some(cut_for(cause));
                    continue;
                }
                (Evidence::Absent, _) => 0,
            };
            if count == 0 {
                continue;
            }
            if self.nodes[at].depth >= self.plan.max_depth {
                self.nodes[at].cut = Some(Cut::Limit);
            } else if let Some(children) = self.cached_children(&subject.object) {
                lists.push((at, numbered(children)));
            } else if count <= self.plan.max_children as u64 {
                asked.push(at);
            } else if count > HUGE || subject.native.states_or_none().has(States::MANAGES_DESCENDANTS) {
                // GetChildren here freezes the application for good (FINDINGS §2 "LibreOffice Calc").
                if self.grids {
                    lists.push((at, grid::visible(&self.wire, &subject.object, self.toolkit, self.plan.deadline)));
                }
                self.nodes[at].cut = Some(Cut::Virtual);
            } else {
                indexed.push(at);
            }
        }
        let mut answers: Vec<(usize, Result<Reply, CallError>)> = Vec::with_capacity(asked.len());
        asked.retain(|at| match self.listed.remove(&self.subjects[*at].object) {
            Some(answer) => {
                answers.push((*at, answer));
                false
            }
            None => true,
        });
        let calls =
            asked.iter().map(|at| Call::new(&self.subjects[*at].object, i::ACCESSIBLE, "GetChildren")).collect();
        answers.extend(asked.into_iter().zip(self.wire.flight(calls, self.plan.deadline)));
        for (at, answer) in answers {
            match answer.and_then(|r| r.objects()) {
                Ok(children) => {
                    let children: Vec<_> = numbered(children);
                    // The list is the later word.
                    self.subjects[at].native.child_count = Evidence::Known(children.len() as u64);
                    lists.push((at, children));
                }
                Err(error) => self.nodes[at].cut = Some(cut_of(&error, self.toolkit)),
            }
        }
        for at in indexed {
            self.nodes[at].cut = Some(Cut::Limit);
            lists.push((at, self.first_children(at)));
        }
        lists
    }

    fn cached_children(&self, object: &Object) -> Option<Vec<Object>> {
        self.cache.as_ref().filter(|_| self.toolkit.cache_tells_children())?.children(object)
    }

    /// As many children as the limit allows, one by one: the whole list may be too long to ask for.
    fn first_children(&self, at: usize) -> Vec<(u32, Object)> {
        let object = &self.subjects[at].object;
        let limit = u32::try_from(self.plan.max_children).unwrap_or(u32::MAX);
        let call = |k: u32| {
            let index = i32::try_from(k).unwrap_or(i32::MAX);
            Call::with(object, i::ACCESSIBLE, "GetChildAtIndex", crate::bus::Body::Int(index))
        };
        let answers = self.wire.flight((0..limit).map(call).collect(), self.plan.deadline);
        let ok = |(k, a): (u32, Result<crate::bus::Reply, CallError>)| Some((k, a.ok()?.object().ok()?));
        (0..limit).zip(answers).filter_map(ok).collect()
    }

    fn adopt(&mut self, parent: usize, children: Vec<(u32, Object)>, next: &mut Vec<usize>) {
        let depth = self.nodes[parent].depth + 1;
        for (listed, (index, object)) in children.into_iter().enumerate() {
            if object.is_null() {
                continue;
            }
            if listed >= self.plan.max_children
                || self.nodes.len() >= self.plan.max_nodes
                || self.edges >= self.plan.max_edges
            {
                self.nodes[parent].cut = Some(Cut::Limit);
                return;
            }
            self.edges += 1;
            if self.seen.contains(&object) {
                self.nodes[parent].cut.get_or_insert(Cut::Cycle);
                continue;
            }
            let at = self.add(object, Some(parent), index, depth);
            if self.toolkit.cells_are_places() && self.nodes[parent].cut == Some(Cut::Virtual) {
                self.nodes[at].place = Some(Object::placed(&self.subjects[parent].object, index));
            }
            self.nodes[parent].children.push(at);
            next.push(at);
        }
    }

    /// Reads the details that the plan asks for.
    pub fn details(&mut self) {
        let deadline = self.plan.deadline;
        let mut jobs = Vec::new();
        let has_ids = self.subjects[0].native.has_ids;
        for at in 0..self.nodes.len() {
            self.subjects[at].native.has_ids = has_ids;
            let native = &self.subjects[at].native;
            for field in wants::wanted(native, self.toolkit, self.nodes[at].above, self.plan.bounds) {
                self.subjects[at].native.await_field(field);
                jobs.push((at, field));
            }
        }
        flight::read(&self.wire, self.toolkit, &mut self.subjects, jobs, deadline);
        let mut jobs = Vec::new();
        for (at, subject) in self.subjects.iter().enumerate() {
            jobs.extend(
                flight::followers(&subject.native, self.toolkit, self.plan.max_text).into_iter().map(|f| (at, f)),
            );
        }
        flight::read(&self.wire, self.toolkit, &mut self.subjects, jobs, deadline);
        grid::place_cells(&self.wire, self.toolkit, &self.nodes, &mut self.subjects, deadline);
        self.limit_texts();
        self.pages();
        self.hide_below();
        labels::in_tree(&self.wire, self.toolkit, &self.nodes, &mut self.subjects, deadline);
    }

    /// Which of several pages in one place is shown, where states don't tell.
    fn pages(&mut self) {
        if !self.toolkit.pages_keep_their_place() {
            return;
        }
        for found in pages::of_tree(&self.wire, self.toolkit, &self.nodes, &self.subjects, self.plan.deadline) {
            let node = &mut self.nodes[found.at];
            (node.page, node.signs) = (Some(found.page.unless_disabled(node.above)), found.signs);
        }
    }

    /// What lies in a page that isn't shown isn't shown: extents, now read, told it of the page.
    fn hide_below(&mut self) {
        for at in 1..self.nodes.len() {
            let Some(p) = self.nodes[at].parent else { continue };
            let above = self.nodes[p].above.under(&self.subjects[p].native, self.toolkit);
            self.nodes[at].above = self.nodes[at].page.map_or(above, |page| above.on(page));
            if self.nodes[at].page.is_none() {
                self.nodes[at].signs = self.nodes[p].signs.clone();
            }
        }
    }

    /// The limits of text: each field, and all together (spec 1 §2).
    fn limit_texts(&mut self) {
        for (node, subject) in self.nodes.iter_mut().zip(&mut self.subjects) {
            let native = &mut subject.native;
            for text in [&mut native.name, &mut native.description, &mut native.text] {
                let Evidence::Known(held) = text else { continue };
                flight::clip(held, self.plan.max_text);
                self.text += held.len();
                if self.text > self.plan.max_total_text {
                    *text = Evidence::Unknown(Cause::NotRead);
                    node.cut.get_or_insert(Cut::Limit);
                }
            }
        }
    }
}

/// A child count that no list of elements has: a virtual container.
const HUGE: u64 = 100_000;

fn numbered(children: Vec<Object>) -> Vec<(u32, Object)> {
    (0u32..).zip(children).collect()
}

fn cut_for(cause: &Cause) -> Cut {
    match cause {
        Cause::Late | Cause::NotRead => Cut::Late,
        Cause::Gone => Cut::Gone,
        Cause::Denied => Cut::Fault("access denied".to_owned()),
        Cause::Fault(why) => Cut::Fault(why.clone()),
    }
}

fn cut_of(error: &CallError, toolkit: Toolkit) -> Cut {
    match classify(error, toolkit, Asked::Liveness) {
        ReadOutcome::Gone(_) => Cut::Gone,
        ReadOutcome::Retryable(cause) | ReadOutcome::Terminal(cause) => cut_for(&cause),
        ReadOutcome::Absent => Cut::Fault(crate::bus::join::describe(error)),
    }
}

/// Whether the root itself answered: without it there is no tree.
pub fn root_answered(native: &Native) -> bool {
    native.answered && native.dead.is_none() && native.role.settled() && native.states.settled()
}
