//! Keys for an application with a modal dialog of GTK 3: nobody may be a client of its atk-bridge meanwhile.
//!
//! A dialog that was opened by an action over D-Bus (`DoAction`) may run inside of that call (`gtk_dialog_run`). The connection
//! on which the call came can't be taken up again before the dialog is closed. While anybody is a client of atk-bridge it asks
//! the registry about each key in a loop of its own that takes up all its connections; libdbus then waits on that one for the
//! end of the call that is further up on the same stack, and the application hangs for good (seen in mousepad with gdb;
//! docs/linux-input.md). Without a client it doesn't ask, and all is well.
//!
//! A client is who sent it `GetItems` or `GetApplicationBusAddress` over the bus, or had an event registered, and hasn't left
//! the bus since. So we leave it before the keys, and come back under another name. Of the messages that one connection
//! gets the bus keeps the order: once the application has answered our new name it has taken note that the old one is gone.
//! Where it doesn't answer, the call that opened the dialog came over the bus: who its clients are it can't be told any more.
//! Most buses tell who they are: atk-bridge has each one's departure announced (`GetAllMatchRules`).

use crate::LinuxPlatform;
use crate::bus::{Call, Object, Wire as _};
use crate::process::Token;
use crate::x11::{self, X11Error, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::input::{Guard, Stroke};
use agent_desktop_core::platform::observe::ProcessKey;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask};

/// Time for finding out, in milliseconds.
const LOOK_MS: u64 = 3_000;
/// How long the application may take to answer on the bus, in milliseconds.
const ANSWER_MS: u64 = 1_000;
/// While it takes note that we are gone, how often is looked.
const AGAIN: Duration = Duration::from_millis(10);
/// Why keys are refused where we are not the only one.
const LISTENED: &str = "it has another client on the accessibility bus (a screen reader, a running 'watch'), or had one when it went silent";
/// How long it may take to come to the last key.
const TAKEN: Duration = Duration::from_secs(2);
/// How long after the keys nothing is asked where no window says that it has taken them.
const PAUSE: Duration = Duration::from_millis(150);
/// Stands where the time stands in a ping of ours, and comes back.
const TOKEN: u32 = 0xad5e_0000;

/// Windows whose applications must come to the last key before anything else is done; empty where there is no such.
pub type Careful = Vec<u32>;

/// Whether this is one that a key snooper sees.
pub fn is_key(stroke: &Stroke) -> bool {
    matches!(stroke, Stroke::Key { .. } | Stroke::Modifier { .. } | Stroke::Text(_))
}

/// Sees to it that no client of ours is left with an application that might hang in a key.
///
/// # Errors
/// `ACTION_FAILED` / `keys_would_hang_application`: it doesn't answer on the bus, or somebody else is its client. Nothing was sent.
pub fn before_keys(platform: &LinuxPlatform, keys: bool, guard: &Guard) -> Result<Careful, Error> {
    if !keys {
        return Ok(Vec::new());
    }
    let deadline = Deadline::after_ms(LOOK_MS);
    let meant = guard.front.as_ref().and_then(|front| i32::try_from(front.process.pid).ok());
    let modal = |w: &X11Window| w.modal && w.viewable && w.pid.is_some() && (meant.is_none() || w.pid == meant);
    // Without a display no key is sent either.
    let Some(windows) = platform.x_windows(deadline) else {
        let pid = meant.unwrap_or_default();
        let known = platform.display().is_some();
        return if known { Err(refusal(platform, pid, "its windows can't be read")) } else { Ok(Vec::new()) };
    };
    let windows: Vec<X11Window> = windows.into_iter().filter(modal).collect();
    let pids: HashSet<i32> = windows.iter().filter_map(|w| w.pid).filter(|pid| has_bridge(*pid)).collect();
    if pids.is_empty() {
        return Ok(Vec::new());
    }
    let refused = |pid: i32, why: &str| refusal(platform, pid, why);
    let first = pids.iter().next().copied().unwrap_or_default();
    platform.peers.close();
    if platform.bus.become_a_stranger(deadline).is_err() {
        platform.bus.make_friends();
        return Err(refused(first, "the accessibility bus could not be left"));
    }
    for pid in &pids {
        let names = names(platform, *pid, deadline)
            .ok_or_else(|| refused(*pid, "the application can't be found on the accessibility bus"))?;
        let free = match clients(platform, &names, deadline) {
            Some(free) => free,
            None => hears(platform, &names, deadline).and_then(|()| unheard(platform, deadline)),
        };
        free.map_err(|why| refused(*pid, why))?;
    }
    Ok(windows.iter().filter(|w| w.pid.is_some_and(|pid| pids.contains(&pid))).map(|w| w.client).collect())
}

/// Lets everything be sent again, once the keys have been taken.
pub fn after_keys(platform: &LinuxPlatform, careful: Careful) {
    if careful.is_empty() {
        return;
    }
    if careful.into_iter().any(|window| !taken(platform, window)) {
        std::thread::sleep(PAUSE);
    }
    platform.bus.make_friends();
}

/// Whether the process has loaded atk-bridge; one that can't be looked into may have.
fn has_bridge(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).map_or(true, |maps| maps.contains("libatk-bridge"))
}

fn names(platform: &LinuxPlatform, pid: i32, deadline: Deadline) -> Option<Vec<Arc<str>>> {
    let process = ProcessKey { pid: u32::try_from(pid).ok()?, instance: Token::of(pid).ok()?.to_string() };
    platform.names_on_bus(&process, deadline).ok()
}

/// Whether the application has no client, as far as the bus knows; none where the bus doesn't tell. For each client
/// atk-bridge asks the bus to say when it goes, and takes that back when it takes the client from its list.
fn clients(platform: &LinuxPlatform, names: &[Arc<str>], deadline: Deadline) -> Option<Result<(), &'static str>> {
    let patience = deadline.within_ms(ANSWER_MS);
    let of_client = |rule: &String| rule.contains("member='NameOwnerChanged'") && rule.contains("arg0=':");
    loop {
        let bus = Object::new("org.freedesktop.DBus", "/org/freedesktop/DBus");
        let ask = Call::new(&bus, "org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules");
        let all = platform.bus.a11y().call(ask, deadline).ok()?;
        let all = all.read::<HashMap<String, Vec<String>>>("match rules").ok()?;
        if !names.iter().filter_map(|name| all.get(&**name)).flatten().any(of_client) {
            return Some(Ok(()));
        }
        if patience.passed() {
            return Some(Err(LISTENED));
        }
        std::thread::sleep(AGAIN);
    }
}

/// Whether the application answers on the bus, and so has taken note of who left it.
fn hears(platform: &LinuxPlatform, names: &[Arc<str>], deadline: Deadline) -> Result<(), &'static str> {
    for name in names {
        let ask = Call::new(&Object::root_of(name.clone()), "org.a11y.atspi.Accessible", "GetRole");
        // Over the bus itself, not over a direct line.
        if platform.bus.a11y().call(ask, deadline.within_ms(ANSWER_MS)).is_err() {
            return Err("it doesn't answer on the accessibility bus: a call that came over it runs the dialog");
        }
    }
    Ok(())
}

/// Whether nobody has events registered; we have none. The best that can be known where the bus doesn't tell.
fn unheard(platform: &LinuxPlatform, deadline: Deadline) -> Result<(), &'static str> {
    let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/registry");
    let ask = Call::new(&registry, "org.a11y.atspi.Registry", "GetRegisteredEvents");
    let reply = platform.bus.a11y().call(ask, deadline.within_ms(ANSWER_MS));
    match reply.and_then(|reply| reply.read::<Vec<(String, String)>>("registered events")) {
        Ok(events) if events.is_empty() => Ok(()),
        Ok(_) => Err(LISTENED),
        Err(_) => Err("whether it has other clients can't be told"),
    }
}

fn refusal(platform: &LinuxPlatform, pid: i32, why: &str) -> Error {
    platform.bus.make_friends();
    Error::before(Code::ActionFailed, "a key could hang the application for good: its modal dialog may run inside an action")
        .kind("keys_would_hang_application")
        .detail("pid", pid)
        .detail("reason", why)
        .suggest(
            "Use what needs no key: 'set-value REF TEXT' fills in a field, 'click REF' presses a button. Or close the dialog by \
             its button and open it by its key ('press ctrl+o').",
        )
}

/// Whether the window has come to what was sent behind the keys; one that is gone has.
fn taken(platform: &LinuxPlatform, window: u32) -> bool {
    let Some((display, authority)) = platform.display() else { return false };
    let end = Instant::now() + TAKEN;
    x11::connect(display, authority, end).and_then(|x| pinged(&x, window, end)).unwrap_or(false)
}

fn pinged(x: &x11::Connection, window: u32, end: Instant) -> Result<bool, X11Error> {
    let raw = x.raw();
    let (protocols, ping) = (raw.intern_atom(false, b"WM_PROTOCOLS")?, raw.intern_atom(false, b"_NET_WM_PING")?);
    let (protocols, ping) = (protocols.reply()?.atom, ping.reply()?.atom);
    let gone = |e: X11Error| if e.is_gone() { Ok(true) } else { Err(e) };
    match raw.get_property(false, window, protocols, AtomEnum::ATOM, 0, 64)?.reply() {
        Ok(listed) if listed.value32().is_some_and(|mut atoms| atoms.any(|a| a == ping)) => {}
        Ok(_) => return Ok(false),
        Err(e) => return gone(e.into()),
    }
    let token = TOKEN | (std::process::id() & 0xffff);
    let listen = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
    raw.change_window_attributes(x.root(), &listen)?;
    let message = ClientMessageEvent::new(32, window, protocols, [ping, token, window, 0, 0]);
    if let Err(e) = raw.send_event(false, window, EventMask::NO_EVENT, message)?.check() {
        return gone(e.into());
    }
    x.set_deadline(end);
    loop {
        match raw.wait_for_event()? {
            Event::ClientMessage(m) if m.window == x.root() => {
                let data = m.data.as_data32();
                if data[0] == ping && data[1] == token {
                    return Ok(true);
                }
            }
            Event::DestroyNotify(d) if d.window == window => return Ok(true),
            Event::UnmapNotify(u) if u.window == window => return Ok(true),
            _ => {}
        }
    }
}
