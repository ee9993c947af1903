//! The engine: one task that owns the tree, the faults and the log, and takes one message at a time.

mod calls;
mod changes;
mod commands;
mod counts;
mod events;
mod faults;
mod reads;
mod writes;

use crate::call::{Call, Reply};
use crate::link::{Link, Out};
use crate::oplog::OpLog;
use crate::scenario::{Scenario, TimerStart};
use crate::steps::{Placeholders, Step};
use crate::tree::{Idx, Tree};
use crate::wire::Body;
use counts::Counts;
use faults::FaultState;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use zbus::MessageStream;
use zbus::message::Message;

/// Path on which the engine calls itself through the bus to know that all before has arrived.
const FENCE_PATH: &str = "/fence";

/// Sending end of the engine's queue.
pub type Inbox = UnboundedSender<Msg>;

/// What the engine is told.
#[derive(Debug)]
pub enum Msg {
    /// A D-Bus message.
    Incoming {
        /// Connection.
        link: usize,
        /// The message.
        message: Message,
    },
    /// A connection ended.
    Closed {
        /// Connection.
        link: usize,
    },
    /// A client joined the private socket.
    Private {
        /// Application.
        app: usize,
        /// Its messages.
        stream: Box<MessageStream>,
    },
    /// Delayed steps are due.
    Steps(Vec<Step>),
    /// A late reply is due.
    Due(u64),
    /// A timer runs.
    Timer {
        /// Which.
        number: usize,
        /// How many runs came before.
        runs: u64,
    },
    /// A line came through the control socket.
    Control {
        /// The line.
        line: String,
        /// Where the answer goes.
        answer: oneshot::Sender<Value>,
    },
    /// A fence came back through the bus.
    Fenced {
        /// Where the answer goes.
        answer: oneshot::Sender<Value>,
    },
    /// End.
    Quit,
}

/// A reply that is still owed.
#[derive(Debug)]
struct Owed {
    call: Call,
    node: Option<Idx>,
    /// What will be answered; `None`: the write takes effect then, and its own reply is sent.
    reply: Option<Reply>,
    /// Line of the write in the log, where it is one.
    log_line: Option<u64>,
    /// Sent when this node is removed.
    until_removed: Option<String>,
}

/// What an application does about calls.
#[derive(Debug, Default)]
struct Presence {
    /// Calls since clients can see it.
    calls: u64,
    /// Set while it hangs: what came in.
    held: Option<Vec<Call>>,
    /// Whether it hangs for the bus alone.
    only_bus: bool,
    /// Address of its private socket.
    private_address: Option<String>,
    /// Somebody listens to events.
    has_listener: bool,
    /// `GetItems` as it was at start.
    frozen_cache: Option<Body>,
}

/// The engine.
#[derive(Debug)]
pub struct Engine {
    tree: Tree,
    scenario: Scenario,
    faults: Vec<FaultState>,
    links: Vec<Option<Link>>,
    presence: Vec<Presence>,
    counts: Counts,
    log: OpLog,
    inbox: Inbox,
    owed: HashMap<u64, Owed>,
    next_owed: u64,
    ready: bool,
    written: bool,
    quit: bool,
}

impl Engine {
    /// An engine for a scenario, without connections yet.
    pub fn new(mut scenario: Scenario, log: OpLog, inbox: Inbox) -> Result<Self, String> {
        let tree = crate::build::tree(&scenario)?;
        for app in &mut scenario.applications {
            app.children.clear();
        }
        let presence = tree.apps.iter().map(|_| Presence::default()).collect();
        let faults = FaultState::all(&scenario)?;
        Ok(Self {
            faults,
            tree,
            scenario,
            links: Vec::new(),
            presence,
            counts: Counts::default(),
            log,
            inbox,
            owed: HashMap::new(),
            next_owed: 0,
            ready: false,
            written: false,
            quit: false,
        })
    }

    /// Number of application objects.
    pub fn app_count(&self) -> usize {
        self.tree.apps.len()
    }

    /// Whether an application offers a private socket.
    pub fn wants_private(&self, app: usize) -> bool {
        self.tree.apps.get(app).is_some_and(|a| a.spec.p2p)
    }

    /// Takes a bus connection into service.
    pub fn join(&mut self, app: usize, stream: MessageStream, bus_name: String) {
        self.tree.apps[app].bus_name = bus_name;
        self.add_link(app, stream, true);
    }

    /// Says where an application's private socket is.
    pub fn set_private_address(&mut self, app: usize, address: String) {
        self.presence[app].private_address = Some(address);
    }

    /// Says what `Embed` returned.
    pub fn set_desktop(&mut self, app: usize, bus: String, path: String) {
        self.tree.apps[app].desktop = (bus, path);
    }

    /// Says that somebody already listens to events.
    pub fn set_listener(&mut self, app: usize) {
        self.presence[app].has_listener = true;
    }

    /// From here on calls count, hangs apply and timers run.
    pub fn set_ready(&mut self) {
        self.ready = true;
        for app in 0..self.app_count() {
            let spec = &self.tree.apps[app].spec;
            if spec.cache.frozen {
                self.presence[app].frozen_cache = crate::read::cache::items(&self.tree, app);
            }
            if let Some(hang) = spec.hang {
                self.presence[app].only_bus = hang.only_bus;
                self.presence[app].held = (hang.after_messages == 0).then(Vec::new);
            }
        }
        self.start_timers(TimerStart::Ready);
    }

    /// Handles what is waiting until `done` resolves; used while connecting.
    pub async fn serve_until<T>(&mut self, queue: &mut UnboundedReceiver<Msg>, done: impl Future<Output = T>) -> T {
        tokio::pin!(done);
        loop {
            tokio::select! {
                result = &mut done => return result,
                Some(message) = queue.recv() => self.handle(message),
            }
        }
    }

    /// Serves until told to end.
    pub async fn serve(&mut self, queue: &mut UnboundedReceiver<Msg>) {
        while !self.quit {
            match queue.recv().await {
                Some(message) => self.handle(message),
                None => break,
            }
        }
    }

    fn handle(&mut self, message: Msg) {
        match message {
            Msg::Incoming { link, message } => self.incoming(link, message),
            Msg::Closed { link } => {
                if let Some(gone) = self.links.get_mut(link).and_then(Option::take)
                    && gone.is_bus
                {
                    self.log.write("disconnected", json!({"app": self.app_name(gone.app)}));
                }
            }
            Msg::Private { app, stream } => {
                self.add_link(app, *stream, false);
            }
            Msg::Steps(steps) => self.run_steps(steps),
            Msg::Due(number) => self.pay(number),
            Msg::Timer { number, runs } => self.run_timer(number, runs),
            Msg::Control { line, answer } => self.command(&line, answer),
            Msg::Fenced { answer } => {
                let _ = answer.send(json!({
                    "ok": true,
                    "log_lines": self.log.sequence(),
                    "owed": self.owed.len(),
                    "held": self.presence.iter().filter_map(|p| p.held.as_ref()).map(Vec::len).sum::<usize>(),
                }));
            }
            Msg::Quit => self.quit = true,
        }
    }

    fn app_name(&self, app: usize) -> &str {
        self.tree.apps.get(app).map_or("", |a| &a.spec.name)
    }

    fn add_link(&mut self, app: usize, stream: MessageStream, is_bus: bool) {
        let number = self.links.len();
        let link = Link::start(stream, app, is_bus, number, self.inbox.clone());
        self.links.push(Some(link));
    }

    fn send(&self, link: usize, message: zbus::Result<Message>) {
        match (self.links.get(link).and_then(Option::as_ref), message) {
            (Some(link), Ok(message)) => link.send(Out::Message(message)),
            (None, _) => {}
            (_, Err(error)) => eprintln!("scripted-provider: a message can't be built: {error}"),
        }
    }

    /// Tells the engine something later.
    fn later(&self, after_ms: u64, message: Msg) {
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(after_ms)).await;
            let _ = inbox.send(message);
        });
    }

    fn start_timers(&mut self, start: TimerStart) {
        for (number, timer) in self.scenario.timers.iter().enumerate() {
            if timer.start == start {
                self.later(timer.after_ms, Msg::Timer { number, runs: 0 });
            }
        }
    }

    fn run_timer(&mut self, number: usize, runs: u64) {
        let Some(timer) = self.scenario.timers.get(number) else {
            return;
        };
        let steps = timer.steps.fill(&Placeholders {
            count: Some(if timer.down {
                timer.count_from.saturating_sub_unsigned(runs)
            } else {
                timer.count_from.saturating_add_unsigned(runs)
            }),
            ..Placeholders::default()
        });
        let runs = runs + 1;
        if let Some(every) = timer.every_ms
            && timer.times.is_none_or(|times| runs < times)
        {
            self.later(every.max(1), Msg::Timer { number, runs });
        }
        self.run_steps(steps);
    }
}
