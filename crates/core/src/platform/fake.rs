//! An in-memory desktop for pure tests of core's rules: one application with one tree, scripted answers to writes,
//! and a log of everything that was sent.

use super::*;
use crate::deadline::Deadline;
use crate::error::{Code, Error};
use crate::evidence::{Cause, Evidence};
use crate::tree::name::{stable_description, stable_name};
use crate::tree::raw::{Facts, Handle, Link, RawNode, RawTree};
use crate::vocab::surface::Surface;
use serde_json::json;
use std::cell::RefCell;
use std::collections::VecDeque;

/// What happens when a rung is dispatched.
pub type OnDispatch = Box<dyn FnOnce(&mut RawTree) -> (WriteOutcome, Vec<Effect>)>;

/// What a sequence does to the tree.
pub type OnPlay = Box<dyn Fn(&[Stroke], &mut RawTree)>;

/// A change of the tree.
pub type Change = Box<dyn FnOnce(&mut RawTree)>;

/// What the window manager does with a request.
pub type OnChange = Box<dyn FnOnce(&mut Evidence<WindowState>) -> WriteOutcome>;

/// What the window manager does when it is waited for.
pub type OnCatchUp = Box<dyn FnOnce(&mut Evidence<WindowState>) -> Evidence<bool>>;

/// The desktop.
pub struct Fake {
    /// The application's tree now.
    pub tree: RefCell<RawTree>,
    /// Whether the process runs.
    pub life: RefCell<ProcessLife>,
    /// Rungs proposed for any action.
    pub rungs: RefCell<Vec<Rung>>,
    /// Answers to dispatches, in order; none left is a test error.
    pub script: RefCell<VecDeque<OnDispatch>>,
    /// Labels of the rungs that were sent.
    pub sent: RefCell<Vec<String>>,
    /// Whether the application's tree is gone although its process lives.
    pub left_the_bus: RefCell<bool>,
    /// Changes applied after so many probes: something happens between the look and the act.
    pub after_probes: RefCell<Option<(usize, Change)>>,
    /// Whether the application stays silent.
    pub silent: RefCell<bool>,
    /// Whether the process ends with the next dispatch.
    pub dies: RefCell<bool>,
    /// Sequences that were played, with their guards.
    pub played: RefCell<Vec<(Vec<Stroke>, Guard)>>,
    /// What a sequence does to the tree.
    pub on_play: RefCell<Option<OnPlay>>,
    /// After how many events every sequence ends early, where it does.
    pub stops_after: RefCell<Option<usize>>,
    /// What is held.
    pub held: RefCell<Vec<Held>>,
    /// The window that is topmost everywhere, where it is not ours.
    pub above: RefCell<Option<WindowKey>>,
    /// The one window's state, as read next.
    pub window: RefCell<Evidence<WindowState>>,
    /// What the window manager does with requests, in order; none left: nothing, without a word.
    pub manager: RefCell<VecDeque<OnChange>>,
    /// Requests that were sent.
    pub requests: RefCell<Vec<WindowChange>>,
    /// What the window manager does when it is waited for, in order; none left: there is nothing to tell.
    pub catches_up: RefCell<VecDeque<OnCatchUp>>,
}

impl Fake {
    /// A desktop with this tree.
    pub fn new(tree: RawTree) -> Self {
        Self {
            tree: RefCell::new(tree),
            life: RefCell::new(ProcessLife::Alive),
            rungs: RefCell::new(vec![Self::rung("press")]),
            script: RefCell::default(),
            sent: RefCell::default(),
            after_probes: RefCell::default(),
            left_the_bus: RefCell::default(),
            silent: RefCell::new(false),
            dies: RefCell::new(false),
            played: RefCell::default(),
            on_play: RefCell::new(None),
            stops_after: RefCell::default(),
            held: RefCell::default(),
            above: RefCell::default(),
            window: RefCell::new(Evidence::Absent),
            manager: RefCell::default(),
            requests: RefCell::default(),
            catches_up: RefCell::default(),
        }
    }

    /// The one process.
    pub fn process() -> ProcessKey {
        ProcessKey { pid: 42, instance: "boot-1".into() }
    }

    /// The window system's identity of the one window.
    pub fn key() -> WindowKey {
        WindowKey { id: "7".into(), process: Self::process() }
    }

    /// A semantic rung.
    pub fn rung(label: &str) -> Rung {
        Rung {
            label: label.into(),
            mechanism: Mechanism::SemanticApi,
            needs: Policy::Headless,
            unheard: false,
            key: 0,
            argument: String::new(),
        }
    }

    /// Scripts the answer to the next dispatch.
    pub fn answer(&self, f: impl FnOnce(&mut RawTree) -> (WriteOutcome, Vec<Effect>) + 'static) {
        self.script.borrow_mut().push_back(Box::new(f));
    }

    fn find<T>(&self, handle: &Handle, f: impl FnOnce(&RawTree, &RawNode) -> T) -> Option<T> {
        let tree = self.tree.borrow();
        tree.nodes.iter().find(|n| n.handle == *handle).map(|n| f(&tree, n))
    }

    fn facts(&self, handle: &Handle) -> Option<Facts> {
        self.find(handle, |_, n| n.facts.clone())
    }
}

impl Observe for Fake {
    fn read_tree(&self, _: &Handle, _: &[Link], _: &ProcessKey, _: &ReadPlan) -> Result<RawTree, Error> {
        Ok(self.tree.borrow().clone())
    }

    fn probe(&self, request: &ProbeRequest<'_>, _: Deadline) -> Probe {
        let due = matches!(&*self.after_probes.borrow(), Some((0, _)));
        if due {
            if let Some((_, change)) = self.after_probes.take() {
                change(&mut self.tree.borrow_mut());
            }
        } else if let Some((left, _)) = &mut *self.after_probes.borrow_mut() {
            *left -= 1;
        }
        let silent = *self.silent.borrow();
        let element = match self.facts(request.target) {
            _ if silent => Presence::Unknown(Cause::Late),
            Some(facts) => Presence::Live(Box::new(facts)),
            None => Presence::Dead("no such object".into()),
        };
        let edge = |e: &ChainEdge| {
            let Some(parent) = &e.parent else { return Evidence::Known(true) };
            self.find(parent, |tree, p| p.children.iter().any(|c| tree.node(*c).handle == e.child.handle))
                .map_or(Evidence::Unknown(Cause::Gone), Evidence::Known)
        };
        let witness = |w: &WitnessProbe| match self.facts(&w.handle) {
            None => Evidence::Absent,
            Some(f) if w.source == TextSource::OwnText => f.own_text,
            Some(f) if w.source == TextSource::Description => stable_description(&f),
            Some(f) => stable_name(&f),
        };
        Probe {
            process: self.life.borrow().clone(),
            element,
            edges: request.edges.iter().map(edge).collect(),
            witnesses: request.witnesses.iter().map(witness).collect(),
            cells: request.cells.iter().map(|c| self.facts(c).map_or(Evidence::Absent, |f| f.cell)).collect(),
            silent,
        }
    }

    fn process_life(&self, _: &ProcessKey) -> ProcessLife {
        self.life.borrow().clone()
    }

    fn selection(&self, _: &Handle, _: Deadline) -> Evidence<Vec<String>> {
        Evidence::Absent
    }
}

struct Seen(Vec<Effect>);

impl Watch for Seen {
    fn effects(&mut self, _: Deadline) -> Vec<Effect> {
        std::mem::take(&mut self.0)
    }

    fn window_ms(&self) -> u64 {
        1
    }
}

impl Operate for Fake {
    fn rungs(&self, _: &Live, _: &Action, _: Deadline) -> Result<Vec<Rung>, Error> {
        Ok(self.rungs.borrow().clone())
    }

    fn watch(&self, _: &Live, _: Deadline) -> Box<dyn Watch> {
        Box::new(Seen(Vec::new()))
    }

    fn dispatch(&self, _: &Live, _: &Action, rung: &Rung, _: Deadline) -> Dispatch {
        self.sent.borrow_mut().push(rung.label.clone());
        if self.dies.take() {
            *self.life.borrow_mut() = ProcessLife::Gone;
        }
        let scripted = self.script.borrow_mut().pop_front();
        let (outcome, effects) = match scripted {
            Some(f) => f(&mut self.tree.borrow_mut()),
            None => {
                (WriteOutcome::Refused(Error::before(Code::Internal, "the test scripted no such dispatch")), Vec::new())
            }
        };
        Dispatch { outcome, watch: Box::new(Seen(effects)) }
    }
}

impl Apps for Fake {
    fn apps(&self, _: Deadline) -> Result<Vec<App>, Error> {
        let app = App {
            name: "fake".into(),
            names: Vec::new(),
            process: Fake::process(),
            bundle_id: None,
            presentation: None,
            responsive: crate::platform::Responsive::Yes,
            root: (!*self.left_the_bus.borrow()).then(|| Handle::new("app")),
        };
        Ok(vec![app])
    }

    fn windows(&self, _: &[App], _: Deadline) -> Result<Vec<Window>, Error> {
        let only = Window {
            id: "w-1".into(),
            title: "fake".into(),
            app_name: "fake".into(),
            process: Fake::process(),
            key: Some(Fake::key()),
            bounds: Evidence::Absent,
            focused: Evidence::Known(true),
            visible: Evidence::Known(true),
            minimized: Evidence::Known(self.window.borrow().known().is_some_and(|w| w.minimized)),
            maximized: Evidence::Known(false),
            fullscreen: Evidence::Known(false),
            modal: Evidence::Known(false),
            responsive: crate::platform::Responsive::Yes,
            root: Some(Handle::new("app")),
            above: Vec::new(),
            index: 0,
            no_tree_reason: None,
        };
        Ok(vec![only])
    }

    fn displays(&self, _: Deadline) -> Result<Vec<DisplayInfo>, Error> {
        let bounds = crate::geometry::Rect { x: 0.0, y: 0.0, width: 1280.0, height: 800.0 };
        Ok(vec![DisplayInfo { id: "screen".into(), bounds, is_primary: true, scale: 1.0 }])
    }

    fn active_window(&self, _: Deadline) -> Result<Option<Window>, Error> {
        Ok(None)
    }

    fn surfaces(&self, _: &App, _: Deadline) -> Result<Vec<SurfaceInfo>, Error> {
        Ok(Vec::new())
    }

    fn supported_surfaces(&self) -> Vec<Surface> {
        vec![Surface::Window]
    }
}

impl Input for Fake {
    fn play(&self, strokes: &[Stroke], guard: &Guard, _: Deadline) -> Result<Played, Error> {
        self.played.borrow_mut().push((strokes.to_vec(), guard.clone()));
        let planned = strokes.len();
        if let Some(delivered) = *self.stops_after.borrow() {
            let stopped = Error::before(Code::ActionFailed, "covered").kind("window_covered");
            let touched = strokes[..delivered.min(planned)].iter().any(|s| !matches!(s, Stroke::Move(_)));
            let release = Release::Posted;
            return Ok(Played { planned, delivered, touched, uncertain: false, stopped: Some(stopped), release });
        }
        if let Some(change) = &*self.on_play.borrow() {
            change(strokes, &mut self.tree.borrow_mut());
        }
        let release = Release::Complete;
        Ok(Played { planned, delivered: planned, touched: true, uncertain: false, stopped: None, release })
    }

    fn play_while(
        &self,
        strokes: &[Stroke],
        guard: &Guard,
        deadline: Deadline,
        still: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Played, Error> {
        let mut played = self.play(strokes, guard, deadline)?;
        if played.stopped.is_none() {
            played.stopped = still(played.delivered).err();
        }
        Ok(played)
    }

    fn window_at(&self, _: crate::geometry::Point, _: Deadline) -> Evidence<WindowKey> {
        Evidence::Known(self.above.borrow().clone().unwrap_or_else(Self::key))
    }

    fn held(&self, _: Deadline) -> Result<Vec<Held>, Error> {
        Ok(self.held.borrow().clone())
    }
}

impl Windows for Fake {
    fn change(&self, _: &WindowKey, change: &WindowChange, _: Deadline) -> WriteOutcome {
        self.requests.borrow_mut().push(*change);
        match self.manager.borrow_mut().pop_front() {
            Some(act) => act(&mut self.window.borrow_mut()),
            None => WriteOutcome::Accepted,
        }
    }

    fn manager_caught_up(&self, _: Deadline) -> Evidence<bool> {
        let next = self.catches_up.borrow_mut().pop_front();
        next.map_or(Evidence::Absent, |act| act(&mut self.window.borrow_mut()))
    }

    fn window_now(&self, _: &WindowKey, _: Deadline) -> Evidence<WindowState> {
        self.window.borrow().clone()
    }
}

impl Capture for Fake {}

impl Changes for Fake {}

impl Clipboard for Fake {}

impl super::Overlay for Fake {}

impl Platform for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn desktop_id(&self) -> Result<String, Error> {
        Ok("fake-desktop".into())
    }

    fn permissions(&self) -> Value {
        json!({})
    }
}
