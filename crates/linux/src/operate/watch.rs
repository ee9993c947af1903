//! A subscription to one application's events, made before the dispatch, and the wait for reply and effects at once
//! (decisions D5).

use super::event::{Event, INTERFACES, Says, Scene, WANTED, around, classify, is_final, strong, surface};
use super::offer::at;
use crate::atspi::interface::ACCESSIBLE;
use crate::atspi::role::native as n;
use crate::bus::{Body, Bus, Call, CallError, Incoming, Object, Reply, Sender, Ticket, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::platform::{Effect, EffectKind, Watch};
use std::sync::Arc;

/// After a strong effect, how long the reply may stay away before it counts as pending, in milliseconds. Handlers
/// that run a modal dialog reply when it is closed (FINDINGS §4b "DoAction and modal dialogs").
const PENDING_MS: u64 = 250;
/// After a lesser effect, how long a greater one may follow, in milliseconds.
const NEARER_MS: u64 = 40;
/// Time for asking what something is that began to show, in milliseconds.
const LOOK_MS: u64 = 200;
/// While neither answer nor event comes, how often is looked for a window that came without one, in milliseconds.
const QUIET_MS: u64 = 1_000;
/// Time for that look, in milliseconds: it may have to find out first that the bus has gone silent.
const LISTED_MS: u64 = 600;
/// Parents that are asked for.
const LOOK_UP: usize = 6;
/// Effects that are kept.
const KEPT: usize = 64;
/// Events that are still taken when the time is up: those that had been queued.
const LATE: usize = 256;
/// For how long an application that answers nobody is waited for beyond the window, in milliseconds: GTK 3 builds a
/// preferences dialog in a quarter of a second on a loaded machine, and shows it then (seen in galculator).
const BUSY_MS: u64 = 1_000;
/// An answer that comes sooner, in milliseconds, is that of an application that had nothing to do.
const IDLE_MS: u128 = 15;
/// Objects whose showing is looked into, for one action.
const LOOKS: usize = 8;

/// What came of one call.
#[derive(Debug)]
pub enum Sent {
    /// The answer.
    Answer(Result<Reply, CallError>),
    /// No answer yet, but a strong effect.
    Pending,
    /// No answer by the deadline.
    Silent,
}

/// The subscription.
pub struct Watcher {
    bus: Arc<Bus>,
    app: Arc<str>,
    rules: Vec<String>,
    scene: Scene,
    window_ms: u64,
    seen: Vec<Effect>,
    looks: usize,
    /// Whether the last call was answered: an application that owes one is known to be at work.
    answered: bool,
    /// Where writes go, where it isn't the bus.
    line: Option<Arc<Sender>>,
    /// Whether windows may come without any event: see [`Watcher::listed`].
    counts_windows: bool,
}

impl Watcher {
    /// Match rules for the application, and listening. What the registry has to be asked stands in
    /// [`Watcher::registrations`], so that it can fly with other calls.
    pub fn subscribe(bus: Arc<Bus>, target: &Object, window_ms: u64, deadline: Deadline) -> Self {
        let rule = |interface| format!("type='signal',sender='{}',interface='{interface}'", target.bus);
        let rules: Vec<String> = INTERFACES.iter().map(rule).collect();
        // Without the subscription the action can still be verified by reading: a failure here is no reason to stop.
        let _ = bus.a11y().listen(&rules, deadline);
        let scene = Scene {
            target: target.path.to_string(),
            root: Object::root_of(target.bus.clone()).path.to_string(),
            ..Scene::default()
        };
        Self {
            bus,
            app: target.bus.clone(),
            rules,
            scene,
            window_ms,
            seen: Vec::new(),
            looks: 0,
            answered: false,
            line: None,
            counts_windows: false,
        }
    }

    /// Calls that ask the registry to have this application announce its events. The registry replies after it has
    /// told the applications, so that a later action finds them informed.
    pub fn registrations(&self) -> Vec<Call> {
        let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/registry");
        let body = |event: &&str| Body::Register((*event).to_owned(), Vec::new(), self.app.to_string());
        WANTED.iter().map(|e| Call::with(&registry, "org.a11y.atspi.Registry", "RegisterEvent", body(e))).collect()
    }

    /// What is known before the action.
    pub fn scene(&mut self) -> &mut Scene {
        &mut self.scene
    }

    /// Has writes go over a line of their own, where there is one. `counts` where the windows are to be looked at as well.
    pub fn write_over(&mut self, line: Option<Arc<Sender>>, counts: bool) {
        (self.line, self.counts_windows) = (line, counts);
    }

    /// Sends one call and waits for its answer, or for a strong effect while the answer stays away. A late answer is
    /// dropped.
    pub fn send(&mut self, call: &Call, deadline: Deadline) -> Sent {
        let (line, bus) = (self.line.clone(), self.bus.clone());
        let to = line.as_deref().unwrap_or(bus.a11y());
        let ticket = match to.post(call, deadline) {
            Ok(ticket) => ticket,
            Err(e) => return Sent::Answer(Err(e)),
        };
        self.answered = false;
        // An application that was silent on the bus doesn't hear whom to tell of events.
        let blind = bus.is_direct(&self.app);
        let mut pending: Option<Deadline> = None;
        let mut late = 0;
        loop {
            let until = pending.map_or(deadline, |p| p.min(deadline));
            let pause = match (pending.is_none(), blind) {
                (true, true) => until.within_ms(PENDING_MS),
                (true, false) if self.counts_windows => until.within_ms(QUIET_MS),
                _ => until,
            };
            let came = match &line {
                None => bus.a11y().next(pause).map(|came| (came, true)),
                Some(line) => line.next_of(bus.a11y(), pause).map(|(came, on_bus)| (came, !on_bus)),
            };
            match came {
                Some((Incoming::Reply(t, answer), true)) if t == ticket => {
                    self.answered = answer.is_ok();
                    return Sent::Answer(answer);
                }
                Some((Incoming::Reply(..), _)) => {}
                Some((Incoming::Signal(signal), _)) => {
                    self.take(Event::read(&signal), deadline);
                    if pending.is_none() && self.seen.iter().any(strong) {
                        pending = Some(Deadline::after_ms(PENDING_MS));
                    }
                    // Events that never end must not hold up the deadline.
                    late += usize::from(until.passed());
                    if late > LATE {
                        to.forget(ticket);
                        return if pending.is_some() { Sent::Pending } else { Sent::Silent };
                    }
                }
                None if to.is_broken() || bus.a11y().is_broken() => {
                    // The connection is gone: what was sent may have landed.
                    let why = match line {
                        None => "the connection to the bus was lost",
                        Some(_) => "the connection to the application was lost",
                    };
                    return Sent::Answer(Err(CallError::Broken { sent: true, why: why.to_owned() }));
                }
                None if until.passed() => {
                    to.forget(ticket);
                    return if pending.is_some() { Sent::Pending } else { Sent::Silent };
                }
                None => {
                    self.listed(deadline);
                    if self.seen.iter().any(strong) {
                        pending = Some(Deadline::after_ms(PENDING_MS));
                    }
                }
            }
        }
    }

    /// Sends one call for whose answer nobody waits: over the bus, which keeps it when we are gone, where the application
    /// hears that.
    pub fn post(&self, call: &Call, deadline: Deadline) {
        let line = self.line.as_deref().filter(|_| self.bus.is_direct(&self.app));
        let to = line.unwrap_or(self.bus.a11y());
        if let Ok(ticket) = to.post(call, deadline) {
            to.forget(ticket);
        }
    }

    /// Looks for a window that wasn't there before, where no event told of one.
    fn listed(&mut self, deadline: Deadline) {
        if !self.counts_windows || self.scene.windows.is_empty() {
            return;
        }
        let ask = Call::new(&Object::root_of(self.app.clone()), ACCESSIBLE, "GetChildren");
        let now = self.bus.call(ask, deadline.within_ms(LISTED_MS)).and_then(|r| r.objects()).unwrap_or_default();
        if now.iter().any(|o| !o.is_null() && !self.scene.windows.contains(&*o.path)) {
            let what = "window listed".to_owned();
            self.seen.push(Effect { kind: EffectKind::SurfaceAppeared, what, of_target: false });
        }
    }

    /// Takes what comes for so long, or until something opened: the effects are seen within the window all the same.
    pub fn linger(&mut self, ms: u64, deadline: Deadline) {
        self.take_until(deadline.within_ms(ms), None);
        self.window_ms = self.window_ms.saturating_sub(ms);
    }

    /// Takes what comes until the time is up, something opened, or this call was answered; whether it was.
    fn take_until(&mut self, until: Deadline, answer: Option<Ticket>) -> bool {
        let mut late = 0;
        while late <= LATE && !self.seen.iter().any(is_final) {
            match self.bus.a11y().next(until) {
                Some(Incoming::Signal(signal)) => self.take(Event::read(&signal), Deadline::after_ms(LOOK_MS)),
                Some(Incoming::Reply(ticket, _)) if Some(ticket) == answer => return true,
                Some(Incoming::Reply(..)) => {}
                None => break,
            }
            late += usize::from(until.passed());
        }
        false
    }

    fn take(&mut self, event: Option<Event>, deadline: Deadline) {
        let Some(event) = event else { return };
        let effect = match classify(&event, &self.scene) {
            Says::Nothing => return,
            Says::Effect(effect) => effect,
            Says::Shown(path) => self.look(path, deadline),
            Says::ParentExpanded(path) => {
                let object = Object::new(self.app.clone(), path);
                let role = self.bus.call(Call::new(&object, ACCESSIBLE, "GetRole"), deadline.within_ms(LOOK_MS));
                around(role.and_then(|r| r.uint()).ok())
            }
        };
        if self.seen.len() < KEPT && !self.seen.contains(&effect) {
            self.seen.push(effect);
        }
    }

    /// Asks what it is that began to show, and what it hangs on.
    fn look(&mut self, path: String, deadline: Deadline) -> Effect {
        self.looks += 1;
        if self.looks > LOOKS {
            return surface(None, &[], &self.scene);
        }
        let until = deadline.within_ms(LOOK_MS);
        let mut object = Object::new(self.app.clone(), path);
        let answers = self
            .bus
            .flight(vec![Call::new(&object, ACCESSIBLE, "GetRole"), Call::get(&object, ACCESSIBLE, "Parent")], until);
        let role = at(&answers, 0).and_then(|r| r.uint()).ok();
        let mut parent = at(&answers, 1).and_then(|r| r.object_property());
        let mut chain = Vec::new();
        let plain = surface(role, &[], &self.scene);
        // Whose it is matters where the target opens something.
        let may_be = strong(&plain) || matches!(role, Some(n::LIST | n::LIST_BOX));
        while let (true, Ok(up)) = (may_be && self.scene.opens && chain.len() < LOOK_UP, &parent) {
            if up.is_null() || up.path == object.path {
                break;
            }
            object = up.clone();
            chain.push(up.path.to_string());
            if *up.path == *self.scene.target || *up.path == *self.scene.root {
                break;
            }
            parent = self.bus.call(Call::get(&object, ACCESSIBLE, "Parent"), until).and_then(|r| r.object_property());
        }
        surface(role, &chain, &self.scene)
    }
}

impl Watch for Watcher {
    fn effects(&mut self, end: Deadline) -> Vec<Effect> {
        let mut until = end;
        let mut late = 0;
        loop {
            // Events that never end must not hold up the deadline.
            late += usize::from(until.passed());
            if late > LATE {
                return std::mem::take(&mut self.seen);
            }
            // What was queued is taken at once. A surface ends the wait, anything less shortens it to a pause: a menu
            // button says first that it is pressed, and then opens; a dialog that is built says much before it shows.
            if self.seen.iter().any(is_final) {
                until = until.within_ms(0);
            } else if !self.seen.is_empty() {
                until = end.within_ms(NEARER_MS);
            }
            match self.bus.a11y().next(until) {
                Some(Incoming::Signal(signal)) => self.take(Event::read(&signal), Deadline::after_ms(LOOK_MS)),
                Some(Incoming::Reply(..)) => {}
                None => {
                    if !self.seen.iter().any(is_final) {
                        self.listed(Deadline::after_ms(LISTED_MS));
                    }
                    return std::mem::take(&mut self.seen);
                }
            }
        }
    }

    fn window_ms(&self) -> u64 {
        self.window_ms
    }

    fn overtime(&mut self, deadline: Deadline) -> Vec<Effect> {
        let end = deadline.within_ms(BUSY_MS);
        let root = Object::root_of(self.app.clone());
        while self.answered && !end.passed() && !self.seen.iter().any(is_final) {
            let asked = std::time::Instant::now();
            let Ok(ticket) = self.bus.a11y().post(&Call::new(&root, ACCESSIBLE, "GetRole"), end) else { break };
            let answered = self.take_until(end, Some(ticket));
            self.bus.a11y().forget(ticket);
            if !answered || asked.elapsed().as_millis() < IDLE_MS {
                break;
            }
            // What it was at shows right after.
            self.take_until(end.within_ms(NEARER_MS), None);
        }
        std::mem::take(&mut self.seen)
    }
}

impl Drop for Watcher {
    /// Nobody waits for this; a closing connection does the same.
    fn drop(&mut self) {
        let soon = Deadline::after_ms(50);
        let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/registry");
        for event in WANTED {
            let body = Body::Text((*event).to_owned());
            let call = Call::with(&registry, "org.a11y.atspi.Registry", "DeregisterEvent", body);
            if let Ok(ticket) = self.bus.a11y().post(&call, soon) {
                self.bus.a11y().forget(ticket);
            }
        }
        self.bus.a11y().unlisten(&self.rules, soon);
    }
}

/// What stands for a subscription where nothing was sent.
pub struct NoWatch;

impl Watch for NoWatch {
    fn effects(&mut self, _until: Deadline) -> Vec<Effect> {
        Vec::new()
    }

    fn window_ms(&self) -> u64 {
        0
    }
}
