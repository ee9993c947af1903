//! Finding and joining: the session bus, and through it the accessibility bus.

use super::call::{Body, Call, Object};
use super::direct::Directs;
use super::flight::Flight;
use super::peer;
use super::place;
use super::reply::{CallError, Reply};
use super::sender::{Sender, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use std::sync::{Arc, OnceLock};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout_at};
use zbus::Connection;
use zbus::connection::Builder as ConnectionBuilder;

/// Messages that wait for us before the bus has to hold them. Two full windows.
pub(super) const QUEUE: usize = 256;

/// How long an application may take to say where it listens, in milliseconds.
const ADDRESS_MS: u64 = 200;

/// Joining takes at most this long, whatever the command's own deadline is.
const JOIN_MS: u64 = 5_000;

/// The buses of one desktop.
pub struct Bus {
    runtime: Arc<Runtime>,
    session: Sender,
    a11y: Sender,
    id: OnceLock<String>,
    directs: Directs,
    address: String,
}

/// `no_desktop`: what is missing, and the way out (decisions D12).
pub fn no_desktop(what: &str, detail: impl Into<String>) -> Error {
    Error::before(Code::PlatformNotSupported, what)
        .kind("no_desktop")
        .suggest(
            "Run inside a graphical session of the same user, or start a private desktop: \
             'agent-desktop desktop run -- CMD'.",
        )
        .platform(detail)
}

impl Bus {
    /// Joins the desktop that the environment names.
    pub fn join(deadline: Deadline) -> Result<Self, Error> {
        Self::join_with(&|name| std::env::var(name).ok().filter(|v| !v.is_empty()), deadline)
    }

    /// Joins the desktop that these variables name.
    pub fn join_with(variable: &dyn Fn(&str) -> Option<String>, deadline: Deadline) -> Result<Self, Error> {
        let deadline = deadline.within_ms(JOIN_MS);
        let runtime = Builder::new_current_thread().enable_all().build().map(Arc::new).map_err(|e| {
            Error::before(Code::Internal, "the adapter's runtime could not be started").platform(e.to_string())
        })?;
        let session = connect_any(&runtime, &session_addresses(variable), true, deadline)
            .map_err(|why| no_desktop("there is no session bus to speak to", why))?;
        let call = Call::new(&Object::new("org.a11y.Bus", "/org/a11y/bus"), "org.a11y.Bus", "GetAddress");
        let address = session
            .call(call, deadline)
            .and_then(|r| r.text())
            .map_err(|e| no_desktop("the session has no accessibility bus", describe(&e)))?;
        let a11y = connect_any(&runtime, &split_addresses(&address), true, deadline)
            .map_err(|why| no_desktop("the accessibility bus can't be joined", why))?;
        let directs = Directs::in_directory(variable);
        Ok(Self { runtime, session, a11y, id: OnceLock::new(), directs, address })
    }

    /// The session bus.
    pub fn session(&self) -> &Sender {
        &self.session
    }

    /// The accessibility bus.
    pub fn a11y(&self) -> &Sender {
        &self.a11y
    }

    /// A direct connection to one application (FINDINGS §3 "p2p").
    pub fn peer(&self, address: &str, deadline: Deadline) -> Result<Sender, CallError> {
        connect_any(&self.runtime, &split_addresses(address), false, deadline)
            .map_err(|why| CallError::Broken { sent: false, why })
    }

    /// A line of its own for the writes of one action; none where the application offers none or doesn't take it at
    /// once. `pid` is the process that the bus names as the owner of `name`.
    ///
    /// GTK 3 doesn't take a second message from a connection whose first one still runs in a handler, and a handler may
    /// run a modal dialog: the bus would be silent for everybody until the dialog is closed, this line alone is.
    pub fn line_for_writes(&self, name: &Arc<str>, pid: u32, deadline: Deadline) -> Option<Arc<Sender>> {
        if !self.directs.listens(pid) && !self.is_direct(name) {
            // Being asked for its address makes it listen.
            let _ = self.call(peer::address(name), deadline.within_ms(ADDRESS_MS));
        }
        self.directs.line_for_writes(&self.runtime, &self.a11y, name, pid, deadline)
    }

    /// Leaves the accessibility bus and comes back as somebody whom no application knows, and who sends nothing by which one
    /// would come to know him until [`Bus::make_friends`]. Subscriptions are gone with the old name; direct lines are closed.
    ///
    /// # Errors
    /// Where the bus can't be joined again; the old connection stays then.
    pub fn become_a_stranger(&self, deadline: Deadline) -> Result<(), CallError> {
        let new = connection_any(&self.runtime, &split_addresses(&self.address), true, deadline)
            .map_err(|why| CallError::Broken { sent: false, why })?;
        self.a11y.stay_a_stranger(true);
        self.a11y.change_over(new);
        self.directs.close();
        Ok(())
    }

    /// From now on everything may be sent again.
    pub fn make_friends(&self) {
        self.a11y.stay_a_stranger(false);
    }

    /// Whether an application was silent on the bus and answers on its direct line.
    pub fn is_direct(&self, name: &str) -> bool {
        self.directs.is_held(name)
    }

    /// The accessibility bus's own id: the desktop that handles belong to (decisions D1).
    pub fn id(&self, deadline: Deadline) -> Result<String, CallError> {
        if let Some(id) = self.id.get() {
            return Ok(id.clone());
        }
        let id = self.a11y.call(Self::id_call(), deadline)?.text()?;
        Ok(self.id.get_or_init(|| id).clone())
    }

    /// The call that asks for it, to go with others.
    pub(crate) fn id_call() -> Call {
        Call::driver("GetId", Body::None)
    }

    /// Takes the answer to [`Self::id_call`]; one that failed is asked for again when the id is needed.
    pub(crate) fn learn_id(&self, answer: Option<Result<Reply, CallError>>) {
        if let Some(id) = answer.and_then(|a| a.ok()?.text().ok()) {
            self.id.get_or_init(|| id);
        }
    }

    /// Whether trees are published: `org.a11y.Status` (FINDINGS §1), as `IsEnabled` and `ScreenReaderEnabled`.
    pub fn status(&self, deadline: Deadline) -> (Result<bool, CallError>, Result<bool, CallError>) {
        let status = Object::new("org.a11y.Bus", "/org/a11y/bus");
        let get = |property| Call::get(&status, "org.a11y.Status", property);
        let mut answers = self.session.flight(vec![get("IsEnabled"), get("ScreenReaderEnabled")], deadline).into_iter();
        let mut next =
            || answers.next().unwrap_or(Err(CallError::Late { sent: false })).and_then(|r| r.bool_property());
        (next(), next())
    }
}

impl Wire for Bus {
    /// Reads only: what an application leaves unanswered on the bus is asked again on its direct line.
    fn flight(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        place::flight(calls, |calls| self.directs.flight(&self.runtime, &self.a11y, Flight::new(calls), deadline))
    }

    fn sweep(&self, calls: Vec<Call>, deadline: Deadline) -> Vec<Result<Reply, CallError>> {
        place::flight(calls, |calls| self.directs.flight(&self.runtime, &self.a11y, Flight::patient(calls), deadline))
    }
}

/// An error in words, for diagnostics.
pub fn describe(e: &CallError) -> String {
    match e {
        CallError::Late { .. } => "no reply in time".to_owned(),
        CallError::Remote { name, message } => format!("{name}: {message}"),
        CallError::Malformed(why) | CallError::Invalid(why) | CallError::Broken { why, .. } => why.clone(),
    }
}

/// Where the session bus listens: what the environment says, else the place that the login manager uses.
fn session_addresses(variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    if let Some(address) = variable("DBUS_SESSION_BUS_ADDRESS") {
        return split_addresses(&address);
    }
    variable("XDG_RUNTIME_DIR")
        .map(|dir| format!("{dir}/bus"))
        .filter(|path| std::path::Path::new(path).exists())
        .map(|path| vec![format!("unix:path={path}")])
        .unwrap_or_default()
}

/// The single addresses of an address list.
fn split_addresses(list: &str) -> Vec<String> {
    list.split(';').map(str::trim).filter(|a| !a.is_empty()).map(str::to_owned).collect()
}

fn connect_any(
    runtime: &Arc<Runtime>,
    addresses: &[String],
    to_bus: bool,
    deadline: Deadline,
) -> Result<Sender, String> {
    let connection = connection_any(runtime, addresses, to_bus, deadline)?;
    Ok(Sender::new(runtime.clone(), connection, to_bus))
}

fn connection_any(
    runtime: &Arc<Runtime>,
    addresses: &[String],
    to_bus: bool,
    deadline: Deadline,
) -> Result<Connection, String> {
    let until = Instant::from_std(deadline.instant());
    let mut why = "no address is known".to_owned();
    for address in addresses {
        let connecting = async {
            let mut builder = ConnectionBuilder::address(address.as_str())?.max_queued(QUEUE);
            if !to_bus {
                builder = builder.p2p();
            }
            builder.build().await
        };
        match runtime.block_on(async { timeout_at(until, connecting).await }) {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(e)) => why = format!("{address}: {e}"),
            Err(_) => why = format!("{address}: no answer in time"),
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_addresses_are_split() {
        assert_eq!(
            split_addresses("unix:path=/a,guid=1;unix:abstract=/b;"),
            ["unix:path=/a,guid=1", "unix:abstract=/b"]
        );
        assert!(split_addresses("").is_empty());
    }

    #[test]
    fn no_desktop_names_the_way_out() {
        let e = no_desktop("x", "y");
        assert_eq!(e.kind_name(), Some("no_desktop"));
        assert!(e.to_json()["suggestion"].as_str().unwrap().contains("agent-desktop desktop run -- "));
    }
}
