//! The process that owns the clipboard: takes it, says so, and answers every paste until somebody else owns it or the
//! display ends.

use super::atoms::Atoms;
use super::events::{before, hidden_window, next, server_time};
use super::offers::{self, STRING};
use super::start::Ack;
use super::transfer::Transfers;
use super::{display_failed, frame};
use crate::x11::{self, Connection, X11Error};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery, Error};
use agent_desktop_core::platform::Clip;
use rustix::process::{Resource, Rlimit};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use x11rb::connection::{Connection as _, RequestConnection};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, EventMask, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
    SelectionRequestEvent, Timestamp, Window,
};
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{CURRENT_TIME, NONE};

/// For taking the clipboard.
const TAKE: Duration = Duration::from_secs(5);
/// The display is all that the owner lives for: however slow it is, it is waited for.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// The most that one piece carries: small enough that the server copies it at once, whatever it would allow.
const PIECE: usize = 1024 * 1024;
/// Of two that take it at once, the one whose time is earlier may have to try again.
const TRIES: usize = 3;
/// Pairs of one MULTIPLE request.
const MAX_PAIRS: u32 = 256;

/// Runs the owner: the content comes on standard input, the acknowledgement goes to standard output. Answers with the
/// process's exit code.
pub fn main(args: &[OsString]) -> i32 {
    if !args.is_empty() {
        return 2;
    }
    // What is in the clipboard may be a password: no image of this process on the disk.
    let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let Ok(clip) = frame::read(io::stdin().lock()) else {
        return acknowledge(&Ack::Failed { step: "content".to_owned(), reason: "it was cut".to_owned() }, 1);
    };
    let own = connect().and_then(|x| Owner::take(x, &clip).map_err(|e| ("own", e)));
    drop(clip);
    let mut owner = match own {
        Ok(Some(owner)) => owner,
        Ok(None) => return acknowledge(&Ack::Replaced, 1),
        Err((step, e)) => return acknowledge(&Ack::Failed { step: step.to_owned(), reason: e.to_string() }, 1),
    };
    // The clipboard is ours, and what it held before is gone: it is served also where the command was killed meanwhile,
    // or it would hold neither.
    acknowledge(&Ack::Owned { pid: std::process::id() }, 0);
    let _ = detach();
    i32::from(owner.serve().is_err())
}

fn connect() -> Result<Connection, (&'static str, X11Error)> {
    let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let display = set("DISPLAY").unwrap_or_default();
    let authority = set("XAUTHORITY").map(PathBuf::from);
    x11::connect(&display, authority.as_deref(), Instant::now() + TAKE).map_err(|e| ("connect", e))
}

/// Tells the one who started us. Answers with `code`, or 1 where nobody listens.
fn acknowledge(ack: &Ack, code: i32) -> i32 {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", ack.line()).and_then(|()| out.flush()) {
        Ok(()) => code,
        Err(_) => 1,
    }
}

/// Nothing of the starter's stays open.
fn detach() -> io::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

/// A target, the type of what it gives, and that.
type Served = (Atom, Atom, Rc<[u8]>);

struct Owner {
    x: Connection,
    a: Atoms,
    window: Window,
    since: Timestamp,
    offers: Vec<Served>,
    transfers: Transfers,
}

impl Owner {
    /// Takes the clipboard and reads back that it is ours. `None`: somebody else took it at the same time.
    fn take(x: Connection, clip: &Clip) -> Result<Option<Owner>, X11Error> {
        let a = Atoms::new(x.raw())?.reply()?;
        let offers = intern(&x, offers::offers(clip))?;
        let window = hidden_window(&x)?;
        // A request's header and the property's fields need room as well.
        let piece = x.raw().maximum_request_bytes().saturating_sub(256).min(PIECE);
        for _ in 0..TRIES {
            let since = server_time(&x, &a, window, TAKE)?;
            x.raw().set_selection_owner(window, a.CLIPBOARD, since)?;
            if x.raw().get_selection_owner(a.CLIPBOARD)?.reply()?.owner == window {
                return Ok(Some(Owner { x, a, window, since, offers, transfers: Transfers::new(piece) }));
            }
            // Lost after it was ours, or never had: the next try asks with a later time.
            while let Some(event) = x.raw().poll_for_event()? {
                if matches!(event, Event::SelectionClear(e) if e.owner == window) {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Answers requests until the clipboard is somebody else's and all that was begun has arrived.
    fn serve(&mut self) -> Result<(), X11Error> {
        let mut ours = true;
        loop {
            self.x.set_deadline(Instant::now() + PATIENCE);
            let wake = self.transfers.expire(&self.x)?;
            if !ours && self.transfers.is_empty() {
                return Ok(());
            }
            let Some(event) = next(&self.x, wake.unwrap_or_else(|| Instant::now() + PATIENCE))? else { continue };
            match event {
                Event::SelectionRequest(e) => self.answer(&e)?,
                Event::SelectionClear(e) if e.owner == self.window && e.selection == self.a.CLIPBOARD => ours = false,
                Event::PropertyNotify(e) if e.state == x11rb::protocol::xproto::Property::DELETE => {
                    self.transfers.taken(&self.x, e.window, e.atom)?;
                }
                Event::DestroyNotify(e) => self.transfers.gone(e.window),
                // A requestor that ended before the server got to what we sent it.
                Event::Error(e) => self.transfers.gone(e.bad_value),
                _ => {}
            }
        }
    }

    fn answer(&mut self, e: &SelectionRequestEvent) -> Result<(), X11Error> {
        // Obsolete clients name no property: the target's own name is meant (ICCCM §2.2).
        let property = if e.property == NONE { e.target } else { e.property };
        // A request from before we owned it is about the owner before us.
        let in_time = e.time == CURRENT_TIME || !before(e.time, self.since);
        let done = e.selection == self.a.CLIPBOARD
            && in_time
            && if e.target == self.a.MULTIPLE {
                e.property != NONE && self.multiple(e.requestor, property)?
            } else {
                self.convert(e.requestor, e.target, property)?
            };
        let notify = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: e.time,
            requestor: e.requestor,
            selection: e.selection,
            target: e.target,
            property: if done { property } else { NONE },
        };
        self.x.raw().send_event(false, e.requestor, EventMask::NO_EVENT, notify)?;
        Ok(())
    }

    /// Whether the target could be put into the property.
    fn convert(&mut self, requestor: Window, target: Atom, property: Atom) -> Result<bool, X11Error> {
        let raw = self.x.raw();
        if target == self.a.TARGETS {
            let mut all = vec![self.a.TARGETS, self.a.TIMESTAMP, self.a.MULTIPLE];
            all.extend(self.offers.iter().map(|(target, ..)| *target));
            raw.change_property32(PropMode::REPLACE, requestor, property, AtomEnum::ATOM, &all)?;
            return Ok(true);
        }
        if target == self.a.TIMESTAMP {
            raw.change_property32(PropMode::REPLACE, requestor, property, AtomEnum::INTEGER, &[self.since])?;
            return Ok(true);
        }
        let Some((_, type_, bytes)) = self.offers.iter().find(|(t, ..)| *t == target) else { return Ok(false) };
        self.transfers.send(&self.x, &self.a, requestor, property, (*type_, bytes))?;
        Ok(true)
    }

    /// Several at once: pairs of target and property stand in the property. Those that can't be done are marked.
    fn multiple(&mut self, requestor: Window, property: Atom) -> Result<bool, X11Error> {
        let asked = self.x.raw().get_property(false, requestor, property, self.a.ATOM_PAIR, 0, MAX_PAIRS * 2)?;
        let Some(pairs) = unless_gone(asked.reply())? else { return Ok(false) };
        let mut pairs = x11::property::words(Some(&pairs));
        if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
            return Ok(false);
        }
        for pair in pairs.chunks_exact_mut(2) {
            let nested = pair[0] == self.a.MULTIPLE || pair[1] == NONE;
            if nested || !self.convert(requestor, pair[0], pair[1])? {
                // ICCCM says the target, toolkits look at the property: neither is left.
                pair.fill(NONE);
            }
        }
        self.x.raw().change_property32(PropMode::REPLACE, requestor, property, self.a.ATOM_PAIR, &pairs)?;
        Ok(true)
    }
}

/// The names as atoms, in one flight.
fn intern(x: &Connection, all: Vec<offers::Offer>) -> Result<Vec<Served>, X11Error> {
    let mut asked = HashMap::from([(STRING, None)]);
    for name in all.iter().flat_map(|o| [o.target, o.type_]).filter(|n| *n != STRING) {
        if !asked.contains_key(name) {
            asked.insert(name, Some(x.raw().intern_atom(false, name.as_bytes())?));
        }
    }
    let mut atoms = HashMap::new();
    for (name, cookie) in asked {
        let atom = match cookie {
            Some(cookie) => cookie.reply()?.atom,
            None => AtomEnum::STRING.into(),
        };
        atoms.insert(name, atom);
    }
    Ok(all.into_iter().filter_map(|o| Some((*atoms.get(o.target)?, *atoms.get(o.type_)?, o.bytes))).collect())
}

/// `None`: the server has something against this one window.
fn unless_gone<T>(reply: Result<T, x11rb::errors::ReplyError>) -> Result<Option<T>, X11Error> {
    match reply {
        Ok(reply) => Ok(Some(reply)),
        Err(x11rb::errors::ReplyError::X11Error(_)) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Takes the clipboard from whoever owns it, for nobody, and reads back that nobody has it.
pub fn clear(x: &Connection, deadline: Deadline) -> Result<(), Error> {
    let ready = || -> Result<(Atoms, Window), X11Error> { Ok((Atoms::new(x.raw())?.reply()?, hidden_window(x)?)) };
    let (a, window) = ready().map_err(|e| display_failed(&e))?;
    for _ in 0..TRIES {
        let now = server_time(x, &a, window, deadline.left().min(TAKE)).map_err(|e| display_failed(&e))?;
        let owner = || -> Result<Window, X11Error> {
            x.raw().set_selection_owner(NONE, a.CLIPBOARD, now)?;
            Ok(x.raw().get_selection_owner(a.CLIPBOARD)?.reply()?.owner)
        };
        match owner() {
            Ok(NONE) => return Ok(()),
            // Somebody was faster, with a later time.
            Ok(_) => {}
            Err(e) => return Err(display_failed(&e).with_delivery(Delivery::DeliveryUncertain)),
        }
    }
    Err(Error::new(
        Code::ActionFailed,
        Delivery::DeliveryUncertain,
        "somebody else took the clipboard while it was emptied",
    )
    .kind("clipboard_replaced")
    .suggest("Read the clipboard; a clipboard manager may be putting its last entry back."))
}
