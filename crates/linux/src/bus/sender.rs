//! The one place that sends: many calls in flight, each under the deadline. A late reply is dropped.

use super::call::Call;
use super::patience::Patience;
use super::place;
use super::reply::{self, CallError, Reply};
use agent_desktop_core::deadline::Deadline;
use futures_util::StreamExt;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout_at};
use zbus::{Connection, Message, MessageStream, message::Type};

/// Calls in flight for one destination. The rate no longer grows from about 100 on (FINDINGS §3 "Calls per second").
const WINDOW: usize = 128;

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
    connection: Connection,
    to_bus: bool,
    pump: Mutex<Pump>,
}

struct Pump {
    stream: MessageStream,
    listening: bool,
    tickets: HashSet<u32>,
    queue: VecDeque<Incoming>,
    broken: Option<String>,
}

impl Pump {
    /// Keeps what a listener waits for; anything else (late replies, unasked signals, calls to us) is dropped.
    fn keep(&mut self, message: Message) {
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

    /// The next message before `until`; none when the time is over or the connection is.
    async fn next(&mut self, until: Instant) -> Option<Message> {
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
        let pump = Pump { stream, listening: false, tickets: HashSet::new(), queue: VecDeque::new(), broken: None };
        Self { runtime, connection, to_bus, pump: Mutex::new(pump) }
    }

    /// Our own unique name on this bus.
    pub fn unique_name(&self) -> Option<String> {
        self.connection.unique_name().map(|n| n.to_string())
    }

    /// Taken before the runtime is entered: a thread that waits for it must not hold the runtime's driver.
    fn pump(&self) -> MutexGuard<'_, Pump> {
        self.pump.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one message. A write that was begun is never cancelled: half a message would end the connection.
    async fn put(&self, pump: &mut Pump, call: &Call, until: Instant) -> Result<u32, CallError> {
        if let Some(why) = &pump.broken {
            return Err(CallError::Broken { sent: false, why: why.clone() });
        }
        if Instant::now() >= until {
            return Err(CallError::Late { sent: false });
        }
        let message = call.message(self.to_bus).map_err(|e| CallError::Invalid(e.to_string()))?;
        let serial = message.primary_header().serial_num().get();
        // The other end takes messages off our hands even when the application sleeps; one that doesn't for this long
        // is beyond use, and so is the connection.
        let patience = until + std::time::Duration::from_millis(250);
        match timeout_at(patience, self.connection.send(&message)).await {
            Ok(Ok(())) => Ok(serial),
            Ok(Err(e)) => Err(CallError::Broken { sent: true, why: e.to_string() }),
            Err(_) => {
                pump.broken = Some("the bus takes no more messages".to_owned());
                Err(CallError::Broken { sent: true, why: "the bus takes no more messages".to_owned() })
            }
        }
    }

    async fn fly(
        &self,
        pump: &mut Pump,
        calls: &[Call],
        mut patience: Option<Patience>,
        deadline: Deadline,
    ) -> Vec<Result<Reply, CallError>> {
        let until = Instant::from_std(deadline.instant());
        let mut answers: Vec<Option<Result<Reply, CallError>>> = calls.iter().map(|_| None).collect();
        let mut waiting: HashMap<u32, usize> = HashMap::with_capacity(calls.len().min(WINDOW * 4));
        let mut lanes = Lanes::new(calls);
        let mut open = calls.len();
        while open > 0 {
            while let Some(at) = lanes.take() {
                match self.put(pump, &calls[at], until).await {
                    Ok(serial) => {
                        waiting.insert(serial, at);
                        if let Some(patience) = &mut patience {
                            patience.sent(serial);
                        }
                    }
                    Err(e) => {
                        answers[at] = Some(Err(e));
                        lanes.done(at);
                        open -= 1;
                    }
                }
            }
            if open == 0 {
                break;
            }
            let quiet = patience.as_ref().and_then(Patience::until).filter(|end| *end < until);
            let Some(message) = pump.next(quiet.unwrap_or(until)).await else {
                let (Some(patience), Some(_), None) = (&mut patience, quiet, &pump.broken) else { break };
                if !patience.is_over() {
                    continue;
                }
                // Nothing came for long: whether anybody is there.
                match self.put(pump, &patience.question(), until).await {
                    Ok(serial) => patience.asked(serial),
                    Err(_) => break,
                }
                continue;
            };
            let serial = reply_serial(&message);
            if let (Some(patience), Some(serial)) = (&mut patience, serial)
                && patience.answered(serial)
            {
                // It is, and has handled what was sent before.
                waiting.retain(|sent, at| {
                    let gone = patience.given_up(*sent);
                    if gone {
                        answers[*at] = Some(Err(CallError::Late { sent: true }));
                        lanes.done(*at);
                        open -= 1;
                    }
                    !gone
                });
                patience.settled();
                continue;
            }
            match serial.and_then(|s| waiting.remove(&s)) {
                Some(at) => {
                    answers[at] = Some(reply::outcome(message));
                    lanes.done(at);
                    open -= 1;
                }
                None => pump.keep(message),
            }
        }
        let sent: HashSet<usize> = waiting.into_values().collect();
        let broken = pump.broken.clone();
        let missing = |at: usize| match &broken {
            Some(why) => CallError::Broken { sent: sent.contains(&at), why: why.clone() },
            None => CallError::Late { sent: sent.contains(&at) },
        };
        answers.into_iter().enumerate().map(|(at, a)| a.unwrap_or_else(|| Err(missing(at)))).collect()
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
        self.runtime.block_on(async {
            loop {
                if let Some(first) = pump.queue.pop_front() {
                    return Some(first);
                }
                let message = pump.next(Instant::from_std(until.instant())).await?;
                pump.keep(message);
            }
        })
    }
}

impl Wire for Sender {
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        let mut pump = self.pump();
        place::flight(calls, |calls| self.runtime.block_on(self.fly(&mut pump, &calls, None, deadline)))
    }

    fn sweep(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        let mut pump = self.pump();
        place::flight(calls, |calls| {
            let patience = Patience::of(&calls);
            self.runtime.block_on(self.fly(&mut pump, &calls, patience, deadline))
        })
    }
}

/// The serial of the call that a message answers.
fn reply_serial(message: &Message) -> Option<u32> {
    match message.message_type() {
        Type::MethodReturn | Type::Error => message.header().reply_serial().map(|s| s.get()),
        _ => None,
    }
}

/// Which call goes next: in order, but no destination has more than its window in flight, so that a silent
/// application holds up nobody else (decisions D4).
struct Lanes {
    lane_of: Vec<usize>,
    queues: Vec<VecDeque<usize>>,
    flying: Vec<usize>,
}

impl Lanes {
    fn new(calls: &[Call]) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut queues: Vec<VecDeque<usize>> = Vec::new();
        let mut lane_of = Vec::with_capacity(calls.len());
        for (at, call) in calls.iter().enumerate() {
            let lane = *names.entry(&*call.object.bus).or_insert_with(|| {
                queues.push(VecDeque::new());
                queues.len() - 1
            });
            queues[lane].push_back(at);
            lane_of.push(lane);
        }
        let flying = vec![0; queues.len()];
        Self { lane_of, queues, flying }
    }

    fn take(&mut self) -> Option<usize> {
        let lane = (0..self.queues.len()).find(|&l| self.flying[l] < WINDOW && !self.queues[l].is_empty())?;
        self.flying[lane] += 1;
        self.queues[lane].pop_front()
    }

    fn done(&mut self, at: usize) {
        self.flying[self.lane_of[at]] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Object;

    #[test]
    fn a_full_lane_lets_others_pass() {
        let call = |bus: &str| Call::new(&Object::root_of(bus), "i.i", "M");
        let mut calls: Vec<Call> = (0..WINDOW + 5).map(|_| call(":1.1")).collect();
        calls.push(call(":1.2"));
        let mut lanes = Lanes::new(&calls);
        let taken: Vec<usize> = std::iter::from_fn(|| lanes.take()).collect();
        assert_eq!(taken.len(), WINDOW + 1);
        assert_eq!(taken.last(), Some(&(WINDOW + 5)));
        lanes.done(0);
        assert_eq!(lanes.take(), Some(WINDOW));
        assert_eq!(lanes.take(), None);
    }
}
