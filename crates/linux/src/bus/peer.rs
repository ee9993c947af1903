//! Direct connections to applications that offer one (FINDINGS §3 "p2p"): half the cost of a call, since the bus does
//! not copy it. An optimisation of whole reads only; whatever fails goes over the bus.

use super::call::{Call, Object};
use super::join::Bus;
use super::reply::{CallError, Reply};
use super::sender::{Sender, Wire};
use agent_desktop_core::deadline::Deadline;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How long connecting may take: the socket is local, and the bus would do.
const CONNECT_MS: u64 = 200;

/// The direct connections that are held. An application that offered none is not asked again.
#[derive(Default)]
pub struct Peers {
    held: Mutex<HashMap<Arc<str>, Option<Arc<Sender>>>>,
}

impl Peers {
    /// The line to an application: direct where it offers that.
    pub fn line<'a>(&self, bus: &'a Bus, name: &Arc<str>, offers: bool, deadline: Deadline) -> Line<'a> {
        let peer = if offers { self.peer(bus, name, deadline.within_ms(CONNECT_MS)) } else { None };
        Line { bus, name: name.clone(), peer }
    }

    /// Closes all of them.
    pub fn close(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn peer(&self, bus: &Bus, name: &Arc<str>, deadline: Deadline) -> Option<Arc<Sender>> {
        if let Some(known) = self.held.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return known.clone();
        }
        let address = match bus.call(address(name), deadline) {
            Ok(reply) => reply.text().ok().filter(|a| a.starts_with("unix:")),
            // Late: perhaps the next time.
            Err(CallError::Late { .. } | CallError::Broken { .. }) => return None,
            Err(_) => None,
        };
        let peer = address.and_then(|a| bus.peer(&a, deadline).ok()).map(Arc::new);
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), peer.clone());
        peer
    }
}

/// The question where an application listens for direct connections. It doesn't listen before it is asked.
pub(super) fn address(name: &Arc<str>) -> Call {
    Call::new(&Object::root_of(name.clone()), "org.a11y.atspi.Application", "GetApplicationBusAddress")
}

/// Where calls to one application go.
pub struct Line<'a> {
    bus: &'a Bus,
    name: Arc<str>,
    peer: Option<Arc<Sender>>,
}

impl Line<'_> {
    /// Whether it is direct.
    pub fn is_direct(&self) -> bool {
        self.peer.is_some()
    }
}

impl Line<'_> {
    fn send(
        &self,
        calls: Vec<Call>,
        how: impl Fn(&dyn Wire, Vec<Call>) -> Vec<Result<Reply, CallError>>,
    ) -> Vec<Result<Reply, CallError>> {
        let own = calls.iter().all(|c| c.object.bus == self.name);
        let Some(peer) = self.peer.as_ref().filter(|_| own && !calls.is_empty()) else {
            return how(self.bus, calls);
        };
        let answers = how(&**peer, calls.clone());
        // Reads may be repeated: what a broken connection swallowed is asked over the bus.
        if answers.iter().any(|a| matches!(a, Err(CallError::Broken { .. }))) {
            return how(self.bus, calls);
        }
        answers
    }
}

impl Wire for Line<'_> {
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        self.send(calls, |wire, calls| wire.flight(calls, deadline))
    }

    fn sweep(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        self.send(calls, |wire, calls| wire.sweep(calls, deadline))
    }
}
