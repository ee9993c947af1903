//! Many calls under way on one connection: which goes next, and which answer belongs to which. A flight may be halted and
//! gone on with: what was sent stays sent, and its answer is still taken.

use super::call::Call;
use super::patience::Patience;
use super::reply::{self, CallError, Reply};
use super::sender::{Pump, Sender};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use tokio::time::Instant;
use zbus::message::Type;

/// Calls in flight for one destination. The rate no longer grows from about 100 on (FINDINGS §3 "Calls per second").
const WINDOW: usize = 128;

/// Calls and what came of them so far.
pub(super) struct Flight {
    calls: Vec<Call>,
    answers: Vec<Option<Result<Reply, CallError>>>,
    waiting: HashMap<u32, usize>,
    lanes: Lanes,
    open: usize,
    patience: Option<Patience>,
}

impl Flight {
    /// Nothing is sent yet.
    pub(super) fn new(calls: Vec<Call>) -> Self {
        Self {
            answers: calls.iter().map(|_| None).collect(),
            waiting: HashMap::with_capacity(calls.len().min(WINDOW * 4)),
            lanes: Lanes::new(&calls),
            open: calls.len(),
            patience: None,
            calls,
        }
    }

    /// The same for reads of many elements of one application, each of which may fail alone (see [`super::patience`]).
    pub(super) fn patient(calls: Vec<Call>) -> Self {
        let patience = Patience::of(&calls);
        Self { patience, ..Self::new(calls) }
    }

    /// Whether elements that never answer are given up.
    pub(super) fn is_patient(&self) -> bool {
        self.patience.is_some()
    }

    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether every call has what it will get.
    pub(super) fn is_over(&self) -> bool {
        self.open == 0
    }

    /// Asks more, and gives the places of what was added.
    pub(super) fn add(&mut self, calls: Vec<Call>) -> Range<usize> {
        let from = self.calls.len();
        for call in calls {
            self.lanes.add(&call);
            self.calls.push(call);
            self.answers.push(None);
            self.open += 1;
        }
        from..self.calls.len()
    }

    /// Sends and takes answers until all are there, or the time is up.
    pub(super) async fn run(&mut self, sender: &Sender, pump: &mut Pump, until: Instant) {
        self.run_for(0..self.calls.len(), sender, pump, until).await;
    }

    /// The same until these are answered; answers to the others are taken meanwhile.
    pub(super) async fn run_for(&mut self, wanted: Range<usize>, sender: &Sender, pump: &mut Pump, until: Instant) {
        // How far all are answered: looked at once each, not all of them before every message.
        let mut wanted = wanted;
        loop {
            while wanted.start < wanted.end && self.answers[wanted.start].is_some() {
                wanted.start += 1;
            }
            if self.open == 0 || wanted.is_empty() {
                break;
            }
            while let Some(at) = self.lanes.take() {
                match sender.put(pump, &self.calls[at], until).await {
                    Ok(serial) => {
                        self.waiting.insert(serial, at);
                        if let Some(patience) = &mut self.patience {
                            patience.sent(serial);
                        }
                    }
                    // Not this time, perhaps when it is gone on with.
                    Err(CallError::Late { sent: false }) => {
                        self.lanes.back(at);
                        break;
                    }
                    Err(e) => self.answer(at, Err(e)),
                }
            }
            if self.open == 0 {
                break;
            }
            let quiet = self.patience.as_ref().and_then(Patience::until).filter(|end| *end < until);
            let Some(message) = pump.next(quiet.unwrap_or(until)).await else {
                let (Some(patience), Some(_), None) = (&mut self.patience, quiet, &pump.broken) else { break };
                if !patience.is_over() {
                    continue;
                }
                // Nothing came for long: whether anybody is there.
                match sender.put(pump, &patience.question(), until).await {
                    Ok(serial) => patience.asked(serial),
                    Err(_) => break,
                }
                continue;
            };
            let serial = match message.message_type() {
                Type::MethodReturn | Type::Error => message.header().reply_serial().map(|s| s.get()),
                _ => None,
            };
            if self.is_there(serial) {
                continue;
            }
            match serial.and_then(|s| self.waiting.remove(&s)) {
                Some(at) => self.answer(at, reply::outcome(message)),
                None => pump.keep(message),
            }
        }
    }

    /// Whether this is the answer to the question whether the application is there: then what was sent before is given up.
    fn is_there(&mut self, serial: Option<u32>) -> bool {
        let (Some(patience), Some(serial)) = (&mut self.patience, serial) else { return false };
        if !patience.answered(serial) {
            return false;
        }
        let gone: Vec<u32> = self.waiting.keys().copied().filter(|sent| patience.given_up(*sent)).collect();
        patience.settled();
        for at in gone.iter().filter_map(|serial| self.waiting.remove(serial)).collect::<Vec<_>>() {
            self.answer(at, Err(CallError::Late { sent: true }));
        }
        true
    }

    fn answer(&mut self, at: usize, answer: Result<Reply, CallError>) {
        self.answers[at] = Some(answer);
        self.lanes.done(at);
        self.open -= 1;
    }

    /// Unique names that were asked and from which nothing at all has come.
    pub(super) fn silent(&self) -> Vec<Arc<str>> {
        let answered: HashSet<&str> =
            self.calls.iter().zip(&self.answers).filter(|(_, a)| a.is_some()).map(|(c, _)| &*c.object.bus).collect();
        let mut out: Vec<Arc<str>> = Vec::new();
        for at in self.waiting.values() {
            let name = &self.calls[*at].object.bus;
            if name.starts_with(':') && !answered.contains(&**name) && !out.contains(name) {
                out.push(name.clone());
            }
        }
        out
    }

    /// Takes back what was asked of one destination and is unanswered, with the places in this flight.
    pub(super) fn withdraw(&mut self, name: &str) -> (Vec<usize>, Vec<Call>) {
        let open: Vec<usize> = (0..self.calls.len())
            .filter(|at| self.answers[*at].is_none() && *self.calls[*at].object.bus == *name)
            .collect();
        self.waiting.retain(|_, at| *self.calls[*at].object.bus != *name);
        self.lanes.clear(name);
        self.open -= open.len();
        let calls = open.iter().map(|at| self.calls[*at].clone()).collect();
        (open, calls)
    }

    /// The answer at this place, once it is there.
    pub(super) fn answer_at(&self, at: usize) -> Option<&Result<Reply, CallError>> {
        self.answers.get(at)?.as_ref()
    }

    /// Puts in answers to what was withdrawn.
    pub(super) fn put_in(&mut self, at: Vec<usize>, answers: Vec<Result<Reply, CallError>>) {
        for (at, answer) in at.into_iter().zip(answers) {
            self.answers[at] = Some(answer);
        }
    }

    /// The answers in the order of the calls (those of [`Flight::add`] last); what has none is late, or went with the connection.
    pub(super) fn end(self, pump: &Pump) -> Vec<Result<Reply, CallError>> {
        let sent: HashSet<usize> = self.waiting.into_values().collect();
        let missing = |at: usize| match &pump.broken {
            Some(why) => CallError::Broken { sent: sent.contains(&at), why: why.clone() },
            None => CallError::Late { sent: sent.contains(&at) },
        };
        self.answers.into_iter().enumerate().map(|(at, a)| a.unwrap_or_else(|| Err(missing(at)))).collect()
    }
}

/// Which call goes next: in order, but no destination has more than its window in flight, so that a silent
/// application holds up nobody else (decisions D4).
#[derive(Default)]
struct Lanes {
    names: HashMap<Arc<str>, usize>,
    lane_of: Vec<usize>,
    queues: Vec<VecDeque<usize>>,
    flying: Vec<usize>,
}

impl Lanes {
    fn new(calls: &[Call]) -> Self {
        let mut lanes = Self::default();
        calls.iter().for_each(|call| lanes.add(call));
        lanes
    }

    fn add(&mut self, call: &Call) {
        let lane = match self.names.get(&call.object.bus) {
            Some(lane) => *lane,
            None => {
                self.names.insert(call.object.bus.clone(), self.queues.len());
                self.queues.push(VecDeque::new());
                self.flying.push(0);
                self.queues.len() - 1
            }
        };
        self.queues[lane].push_back(self.lane_of.len());
        self.lane_of.push(lane);
    }

    fn take(&mut self) -> Option<usize> {
        let lane = (0..self.queues.len()).find(|&l| self.flying[l] < WINDOW && !self.queues[l].is_empty())?;
        self.flying[lane] += 1;
        self.queues[lane].pop_front()
    }

    fn done(&mut self, at: usize) {
        self.flying[self.lane_of[at]] -= 1;
    }

    /// One that was taken and not sent.
    fn back(&mut self, at: usize) {
        self.done(at);
        self.queues[self.lane_of[at]].push_front(at);
    }

    /// Nothing of this destination is to be sent any more, nor waited for.
    fn clear(&mut self, name: &str) {
        if let Some(lane) = self.names.get(name) {
            self.queues[*lane].clear();
            self.flying[*lane] = 0;
        }
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

    #[test]
    fn what_is_silent_is_withdrawn_and_nothing_else() {
        let call = |bus: &str| Call::new(&Object::root_of(bus), "i.i", "M");
        let mut flight = Flight::new(vec![call(":1.1"), call(":1.2"), call(":1.1"), call(":1.2"), call("org.x")]);
        while let Some(at) = flight.lanes.take() {
            flight.waiting.insert(u32::try_from(at).unwrap(), at);
        }
        assert_eq!(flight.silent().len(), 2, "a well-known name is the bus's own or a service: {:?}", flight.silent());
        flight.waiting.remove(&1);
        flight.answer(1, Err(CallError::Malformed("it speaks".to_owned())));
        assert_eq!(flight.silent(), [Arc::from(":1.1")]);
        let (at, calls) = flight.withdraw(":1.1");
        assert_eq!((at.clone(), calls.len()), (vec![0, 2], 2));
        assert!(flight.silent().is_empty());
        flight.put_in(at, vec![Err(CallError::Malformed("a".into())), Err(CallError::Malformed("b".into()))]);
        assert_eq!(flight.open, 2);
        let added = flight.add(vec![call("org.x")]);
        assert_eq!((added, flight.lanes.take()), (5..6, Some(5)));
    }
}
