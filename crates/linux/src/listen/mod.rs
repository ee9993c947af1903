//! Ears: the accessibility registry announces what applications say about their elements, the bus who comes and goes, the
//! X server its windows. Nothing is read here; a look is worth while, that is all that is said.

mod windows;

use crate::bus::{Body, Bus, Call, Incoming, Next, Object};
use crate::operate::event;
use crate::platform::LinuxPlatform;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::{Apps as _, ChangeScope, Changes, Listening, ProcessKey};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

/// What the registry is asked to have announced by all applications: windows only, since everything that is announced
/// costs the application work.
const OF_ALL: &[&str] = &["window:create", "window:destroy", "window:activate", "window:deactivate"];
/// Besides [`event::WANTED`], of the one application.
const OF_ONE: &[&str] = &["window:deactivate", "object:bounds-changed", "object:visible-data-changed"];
/// Who comes to the bus and who goes.
const OWNERS: &str =
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged'";
/// Time for taking everything back, in milliseconds.
const CLOSE_MS: u64 = 50;

/// One open ear.
struct Ear {
    bus: Arc<Bus>,
    rules: Vec<String>,
    events: Vec<&'static str>,
    windows: UnboundedReceiver<()>,
}

impl Changes for LinuxPlatform {
    fn listen(&self, scope: &ChangeScope, deadline: Deadline) -> Result<Box<dyn Listening + '_>, Error> {
        let mut rules = vec![OWNERS.to_owned()];
        let mut events: Vec<&'static str> = Vec::new();
        let mut asks = Vec::new();
        let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/registry");
        let mut ask = |event: &'static str, app: &str| {
            let body = Body::Register(event.to_owned(), Vec::new(), app.to_owned());
            asks.push(Call::with(&registry, "org.a11y.atspi.Registry", "RegisterEvent", body));
            events.push(event);
        };
        match scope {
            ChangeScope::Desktop => {
                rules.push("type='signal',interface='org.a11y.atspi.Event.Window'".to_owned());
                OF_ALL.iter().for_each(|event| ask(event, ""));
            }
            ChangeScope::Process(process) => {
                for name in self.names_on_bus(process, deadline)? {
                    let of = |interface| format!("type='signal',sender='{name}',interface='{interface}'");
                    rules.extend(event::INTERFACES.iter().map(of));
                    event::WANTED.iter().chain(OF_ONE).for_each(|event| ask(event, &name));
                }
            }
        }
        let silent = |e: crate::bus::CallError| {
            Error::before(Code::AppUnresponsive, "the accessibility bus announces nothing").platform(format!("{e:?}"))
        };
        self.bus.a11y().listen(&rules, deadline).map_err(silent)?;
        // The registry replies after it has told the applications.
        for answer in crate::bus::Wire::flight(self.bus.a11y(), asks, deadline) {
            answer.map_err(silent)?;
        }
        let windows = windows::watch(self.display());
        Ok(Box::new(Ear { bus: self.bus.clone(), rules, events, windows }))
    }
}

impl LinuxPlatform {
    /// The names under which a process is on the accessibility bus.
    pub(crate) fn names_on_bus(&self, process: &ProcessKey, deadline: Deadline) -> Result<Vec<Arc<str>>, Error> {
        let apps = self.apps(deadline)?;
        let own = apps.iter().filter(|app| app.process == *process).filter_map(|app| app.root.as_ref());
        Ok(own.filter_map(Object::from_handle).map(|object| object.bus).collect())
    }
}

impl Listening for Ear {
    fn next(&mut self, until: Deadline) -> bool {
        loop {
            match self.bus.a11y().next_or(&mut self.windows, until) {
                Some(Next::Came(Incoming::Signal(_)) | Next::Woken) => return true,
                Some(Next::Came(Incoming::Reply(..))) => {}
                None => {
                    // A connection that is lost announces nothing more, and must not be asked again at once.
                    if self.bus.a11y().is_broken() {
                        std::thread::sleep(until.left());
                    }
                    return false;
                }
            }
        }
    }

    fn drain(&mut self) {
        let now = Deadline::after_ms(0);
        while self.bus.a11y().next_or(&mut self.windows, now).is_some() {}
    }
}

impl Drop for Ear {
    /// Nobody waits for this; a closing connection does the same.
    fn drop(&mut self) {
        let soon = Deadline::after_ms(CLOSE_MS);
        let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/registry");
        self.events.sort_unstable();
        self.events.dedup();
        for event in &self.events {
            let call =
                Call::with(&registry, "org.a11y.atspi.Registry", "DeregisterEvent", Body::Text((*event).to_owned()));
            if let Ok(ticket) = self.bus.a11y().post(&call, soon) {
                self.bus.a11y().forget(ticket);
            }
        }
        self.bus.a11y().unlisten(&self.rules, soon);
    }
}
