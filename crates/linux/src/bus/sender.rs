//! The one place that sends: many calls in flight, each under the deadline. A late reply is dropped.

use super::call::Call;
use super::flight::Flight;
use super::place;
use super::reply::{self, CallError, Reply};
use agent_desktop_core::deadline::Deadline;
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout_at};
use zbus::{Connection, Message, MessageStream, message::Type};

/// By these atk-bridge comes to count who sends them among its clients, until the sender leaves the bus (`spi_atk_add_client`).
const BEFRIENDS: &[&str] = &["GetItems", "GetApplicationBusAddress", "RegisterEvent"];
/// Signals kept for a listener that is slower than the application.
const SIGNALS: usize = 4_096;

/// A signal that a match rule asked for.
#[derive(Clone, Debug)]
pub struct Signal(pub Message);

/// A call that was posted and not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(u32);

/// What arrives while listening.
#[derive(Debug)]
pub enum Incoming {
    /// The answer to a posted call.
    Reply(Ticket, Result<Reply, CallError>),
    /// A signal.
    Signal(Signal),
}

/// What ended a wait.
#[derive(Debug)]
pub enum Next {
    /// Something arrived here.
    Came(Incoming),
    /// Somebody else had something.
    Woken,
}

/// Something that answers calls: the bus, or recorded replies in tests.
pub trait Wire {
    /// Sends all calls and gives their answers in the same order.
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>>;

    /// The same for reads of many elements of one application, each of which may fail alone: where the application
    /// answers and a few of the calls don't come back, they are given up as late before the deadline ([`super::patience`]).
    fn sweep(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        self.flight(calls, deadline)
    }

    /// Sends one call.
    fn call(&self, call: Call, deadline: Deadline) -> Result<Reply, CallError> {
        self.flight(vec![call], deadline).pop().unwrap_or(Err(CallError::Late { sent: false }))
    }
}

impl<W: Wire + ?Sized> Wire for Arc<W> {
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        (**self).flight(calls, deadline)
    }

    fn sweep(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        (**self).sweep(calls, deadline)
    }
}

/// One connection and everything that is under way on it.
pub struct Sender {
    runtime: Arc<Runtime>,
    to_bus: bool,
    /// While this is set nothing is sent by which an application comes to count us among its clients.
    stranger: AtomicBool,
    pump: Mutex<Pump>,
}

pub(super) struct Pump {
    connection: Connection,
    stream: MessageStream,
    listening: bool,
    tickets: HashSet<u32>,
    queue: VecDeque<Incoming>,
    pub(super) broken: Option<String>,
}

impl Pump {
    /// Keeps what a listener waits for; anything else (late replies, unasked signals, calls to us) is dropped.
    pub(super) fn keep(&mut self, message: Message) {
        match message.message_type() {
            Type::Signal if self.listening && self.queue.len() < SIGNALS => {
                self.queue.push_back(Incoming::Signal(Signal(message)));
            }
            Type::MethodReturn | Type::Error => {
                let serial = message.header().reply_serial().map(|s| s.get());
                if let Some(serial) = serial.filter(|s| self.tickets.remove(s)) {
                    self.queue.push_back(Incoming::Reply(Ticket(serial), reply::outcome(message)));
                }
            }
            _ => {}
        }
    }

    /// The next thing that a listener waits for, before `until`.
    async fn incoming(&mut self, until: Instant) -> Option<Incoming> {
        loop {
            if let Some(first) = self.queue.pop_front() {
                return Some(first);
            }
            let message = self.next(until).await?;
            self.keep(message);
        }
    }

    /// The next message before `until`; none when the time is over or the connection is.
    pub(super) async fn next(&mut self, until: Instant) -> Option<Message> {
        match timeout_at(until, self.stream.next()).await {
            Ok(Some(Ok(message))) => Some(message),
            Ok(Some(Err(e))) => {
                self.broken = Some(e.to_string());
                None
            }
            Ok(None) => {
                self.broken = Some("the connection was closed".to_owned());
                None
            }
            Err(_) => None,
        }
    }
}

impl Sender {
    /// Takes over a connection. `to_bus` is false for a peer, whose messages carry no destination.
    pub(super) fn new(runtime: Arc<Runtime>, connection: Connection, to_bus: bool) -> Self {
        let stream = {
            let _inside = runtime.enter();
            MessageStream::from(&connection)
        };
        Self::with_stream(runtime, connection, stream, to_bus)
    }

    /// A direct connection of the same desktop.
    pub(super) fn peer(&self, connection: Connection) -> Self {
        let stream = MessageStream::from(&connection);
        Self::with_stream(self.runtime.clone(), connection, stream, false)
    }

    fn with_stream(runtime: Arc<Runtime>, connection: Connection, stream: MessageStream, to_bus: bool) -> Self {
        let (tickets, queue) = (HashSet::new(), VecDeque::new());
        let pump = Pump { connection, stream, listening: false, tickets, queue, broken: None };
        Self { runtime, to_bus, stranger: AtomicBool::new(false), pump: Mutex::new(pump) }
    }

    /// Goes on over another connection to the same bus, which has none of the rules and registrations of the one before;
    /// that one ends. What was posted there has no answer.
    pub(super) fn change_over(&self, connection: Connection) {
        let stream = {
            let _inside = self.runtime.enter();
            MessageStream::from(&connection)
        };
        let mut pump = self.pump();
        (pump.connection, pump.stream) = (connection, stream);
        pump.tickets.clear();
        pump.queue.clear();
        pump.broken = None;
    }

    /// Whether calls by which an application comes to count us among its clients are held back: they are late.
    pub(super) fn stay_a_stranger(&self, yes: bool) {
        self.stranger.store(yes, Ordering::Relaxed);
    }

    /// Our own unique name on this bus.
    pub fn unique_name(&self) -> Option<String> {
        self.pump().connection.unique_name().map(|n| n.to_string())
    }

    /// Taken before the runtime is entered: a thread that waits for it must not hold the runtime's driver.
    pub(super) fn pump(&self) -> MutexGuard<'_, Pump> {
        self.pump.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one message. A write that was begun is never cancelled: half a message would end the connection.
    pub(super) async fn put(&self, pump: &mut Pump, call: &Call, until: Instant) -> Result<u32, CallError> {
        if let Some(why) = &pump.broken {
            return Err(CallError::Broken { sent: false, why: why.clone() });
        }
        let held_back = self.stranger.load(Ordering::Relaxed) && BEFRIENDS.contains(&call.member);
        if held_back || Instant::now() >= until {
            return Err(CallError::Late { sent: false });
        }
        let message = call.message(self.to_bus).map_err(|e| CallError::Invalid(e.to_string()))?;
        let serial = message.primary_header().serial_num().get();
        // The other end takes messages off our hands even when the application sleeps; one that doesn't for this long
        // is beyond use, and so is the connection.
        let patience = until + std::time::Duration::from_millis(250);
        match timeout_at(patience, pump.connection.send(&message)).await {
            Ok(Ok(())) => Ok(serial),
            Ok(Err(e)) => Err(CallError::Broken { sent: true, why: e.to_string() }),
            Err(_) => {
                pump.broken = Some("the bus takes no more messages".to_owned());
                Err(CallError::Broken { sent: true, why: "the bus takes no more messages".to_owned() })
            }
        }
    }

    /// Sends a call without waiting for its answer, which [`Sender::next`] gives later.
    pub fn post(&self, call: &Call, deadline: Deadline) -> Result<Ticket, CallError> {
        if let Some(ask) = place::child(&call.object) {
            let object = place::object(self.call(ask, deadline))?;
            return self.post(&Call { object, ..call.clone() }, deadline);
        }
        let mut pump = self.pump();
        self.runtime.block_on(async {
            let serial = self.put(&mut pump, call, Instant::from_std(deadline.instant())).await?;
            pump.tickets.insert(serial);
            Ok(Ticket(serial))
        })
    }

    /// Forgets a posted call: its answer will be dropped.
    pub fn forget(&self, ticket: Ticket) {
        self.pump().tickets.remove(&ticket.0);
    }

    /// Asks the bus for signals and keeps them from now on. Rules are match rules of the D-Bus specification.
    /// They may be many: all are asked for in one flight.
    pub fn listen(&self, rules: &[String], deadline: Deadline) -> Result<(), CallError> {
        self.pump().listening = true;
        let calls = rules.iter().map(|r| Call::driver("AddMatch", super::Body::Text(r.clone()))).collect();
        self.flight(calls, deadline).into_iter().try_for_each(|a| a.map(drop))
    }

    /// Ends [`Sender::listen`]: signals are dropped again, and the rules are taken back without waiting.
    pub fn unlisten(&self, rules: &[String], deadline: Deadline) {
        {
            let mut pump = self.pump();
            pump.listening = false;
            pump.queue.retain(|i| matches!(i, Incoming::Reply(..)));
        }
        for rule in rules {
            let _ = self
                .post(&Call::driver("RemoveMatch", super::Body::Text(rule.clone())), deadline)
                .map(|t| self.forget(t));
        }
    }

    /// The next signal, or answer to a posted call, before `until`.
    pub fn next(&self, until: Deadline) -> Option<Incoming> {
        let mut pump = self.pump();
        self.runtime.block_on(pump.incoming(Instant::from_std(until.instant())))
    }

    /// The next signal, or answer to a posted call, before `until`, unless somebody else wakes us first. None when
    /// the time is over, or the connection is.
    pub fn next_or(&self, wake: &mut UnboundedReceiver<()>, until: Deadline) -> Option<Next> {
        let until = Instant::from_std(until.instant());
        let mut pump = self.pump();
        self.runtime.block_on(async {
            // Who can't wake us any more is not waited for.
            let woken = async {
                if wake.recv().await.is_none() {
                    std::future::pending::<()>().await;
                }
            };
            match select(pin!(pump.incoming(until)), pin!(woken)).await {
                Either::Left((came, _)) => came.map(Next::Came),
                Either::Right(((), _)) => Some(Next::Woken),
            }
        })
    }

    /// The next that comes here or on another connection of the same desktop, before `until`; the second says whether
    /// it came on the other one. None when the time is over, or when either connection is.
    pub fn next_of(&self, other: &Sender, until: Deadline) -> Option<(Incoming, bool)> {
        let until = Instant::from_std(until.instant());
        let (mut own, mut others) = (self.pump(), other.pump());
        self.runtime.block_on(async {
            // What was read and not taken stays in the queue: a wait may be dropped at any time.
            match select(pin!(own.incoming(until)), pin!(others.incoming(until))).await {
                Either::Left((came, _)) => Some((came?, false)),
                Either::Right((came, _)) => Some((came?, true)),
            }
        })
    }

    /// Whether this connection is beyond use.
    pub fn is_broken(&self) -> bool {
        self.pump().broken.is_some()
    }
}

impl Wire for Sender {
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        let until = Instant::from_std(deadline.instant());
        let mut pump = self.pump();
        place::flight(calls, |calls| {
            let mut flight = Flight::new(calls);
            self.runtime.block_on(flight.run(self, &mut pump, until));
            flight.end(&pump)
        })
    }

    fn sweep(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        let until = Instant::from_std(deadline.instant());
        let mut pump = self.pump();
        place::flight(calls, |calls| {
            let mut flight = Flight::patient(calls);
            self.runtime.block_on(flight.run(self, &mut pump, until));
            flight.end(&pump)
        })
    }
}
