//! Reading the clipboard: asks its owner, waits no longer than it deserves, and takes nothing that isn't whole.

use super::atoms::Atoms;
use super::display_failed;
use super::events::{hidden_window, next, server_time};
use super::offers::{GNOME_FILES, KDE_CUT, PNG, STRING, URI_LIST, UTF8_STRING};
use super::text::{self, Encoding};
use crate::process::names::names;
use crate::x11::{Connection, X11Error};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::clipboard::{IMAGE_MAX_BYTES, TEXT_MAX_BYTES};
use agent_desktop_core::platform::{Clip, ClipKind, Clipping};
use std::time::{Duration, Instant};
use x11rb::NONE;
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::Event;
use x11rb::protocol::res::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, GetPropertyReply, Property, Timestamp,
    Window,
};

/// An owner that says nothing for so long is given up.
const SILENCE_MS: u64 = 5_000;
/// For the server's own answers, which may be large.
const SERVER: Duration = Duration::from_secs(10);
/// Formats that one owner may offer.
const MAX_TARGETS: usize = 1_024;
/// A new owner may come in between so often.
const TRIES: usize = 4;

/// Why a conversion brought nothing.
#[derive(Debug)]
enum Failure {
    /// The owner said nothing in time.
    Silent,
    /// The owner ended or was replaced before it sent anything.
    Gone,
    /// The owner ended while it was sending.
    Torn,
    /// There is more than is taken: so many bytes, or at least.
    TooLarge { bytes: usize, limit: usize },
    /// What came is not what it is said to be.
    Invalid(String),
    /// The server.
    Server(X11Error),
}

impl<E: Into<X11Error>> From<E> for Failure {
    fn from(e: E) -> Failure {
        Failure::Server(e.into())
    }
}

/// What came.
struct Value {
    type_: Atom,
    bytes: Vec<u8>,
}

/// Reads the content as the first of these kinds that there is.
pub fn read(x: &Connection, kinds: &[ClipKind], deadline: Deadline) -> Result<Clipping, Error> {
    let ready = || -> Result<(Atoms, Window), X11Error> { Ok((Atoms::new(x.raw())?.reply()?, hidden_window(x)?)) };
    let (a, window) = ready().map_err(|e| display_failed(&e))?;
    for _ in 0..TRIES {
        x.set_deadline(Instant::now() + SERVER);
        let reader = match Reader::of_owner(x, &a, window, deadline) {
            Ok(Some(reader)) => reader,
            Ok(None) => return Ok(Clipping::default()),
            Err(e) => return Err(display_failed(&e)),
        };
        match reader.read(kinds) {
            Ok(found) => return Ok(found),
            // Another may own it now.
            Err(Failure::Gone) => {}
            Err(Failure::Silent) if !reader.still_owns() => {}
            Err(failure) => return Err(reader.error(failure)),
        }
    }
    Err(Error::before(Code::ActionFailed, "the clipboard changed hands again and again while it was read")
        .kind("clipboard_replaced")
        .suggest("Read it again."))
}

struct Reader<'x> {
    x: &'x Connection,
    a: &'x Atoms,
    window: Window,
    owner: Window,
    time: Timestamp,
    deadline: Deadline,
}

impl<'x> Reader<'x> {
    /// `None`: nobody owns the clipboard.
    fn of_owner(
        x: &'x Connection,
        a: &'x Atoms,
        window: Window,
        deadline: Deadline,
    ) -> Result<Option<Reader<'x>>, X11Error> {
        let owner = x.raw().get_selection_owner(a.CLIPBOARD)?.reply()?.owner;
        if owner == NONE {
            return Ok(None);
        }
        // Its end is an event then. A window that is gone already is found out by silence and asked after.
        let mask = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
        if let Err(e) = x.raw().change_window_attributes(owner, &mask)?.check() {
            let e = X11Error::from(e);
            if !e.is_gone() {
                return Err(e);
            }
        }
        // Later than the owner took it, or it would have to refuse.
        let time = server_time(x, a, window, SERVER)?;
        Ok(Some(Reader { x, a, window, owner, time, deadline }))
    }

    fn read(&self, kinds: &[ClipKind]) -> Result<Clipping, Failure> {
        let (formats, atoms) = self.targets()?;
        let atom = |name: &str| formats.iter().position(|f| f == name).map(|at| atoms[at]);
        let mut clip = None;
        for kind in kinds {
            clip = match kind {
                ClipKind::Text => self.text(&formats, &atom)?,
                ClipKind::Image => match atom(PNG) {
                    Some(png) => self.convert(png, IMAGE_MAX_BYTES)?.map(|v| Clip::Png(v.bytes)),
                    None => None,
                },
                ClipKind::FileUrls => self.files(&atom)?,
            };
            if clip.is_some() {
                break;
            }
        }
        Ok(Clipping { clip, formats })
    }

    /// The formats that the owner offers. One that doesn't know the question is asked for text.
    fn targets(&self) -> Result<(Vec<String>, Vec<Atom>), Failure> {
        let Some(value) = self.convert(self.a.TARGETS, MAX_TARGETS * 4)? else {
            let names = [UTF8_STRING, STRING].map(str::to_owned).to_vec();
            return Ok((names, vec![self.a.UTF8_STRING, AtomEnum::STRING.into()]));
        };
        let words = value.bytes.chunks_exact(4).map(|w| u32::from_ne_bytes([w[0], w[1], w[2], w[3]]));
        let mut asked = Vec::new();
        for atom in words {
            asked.push((atom, self.x.raw().get_atom_name(atom)?));
        }
        let (mut names, mut atoms) = (Vec::new(), Vec::new());
        for (atom, cookie) in asked {
            match cookie.reply() {
                Ok(reply) => {
                    names.push(String::from_utf8_lossy(&reply.name).into_owned());
                    atoms.push(atom);
                }
                // A number that is no atom.
                Err(x11rb::errors::ReplyError::X11Error(_)) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok((names, atoms))
    }

    fn text(&self, formats: &[String], atom: &dyn Fn(&str) -> Option<Atom>) -> Result<Option<Clip>, Failure> {
        for (name, encoding) in text::formats(formats) {
            let Some(target) = atom(name) else { continue };
            let Some(value) = self.convert(target, TEXT_MAX_BYTES)? else { continue };
            // The owner may answer in another encoding than was asked for, and the type says so.
            let encoding = if value.type_ == self.a.UTF8_STRING { Encoding::Utf8 } else { encoding };
            if !matches!(encoding, Encoding::Utf16) && value.type_ != target && !self.is_text(value.type_) {
                continue;
            }
            return text::decode(&value.bytes, encoding).map(|t| Some(Clip::Text(t))).map_err(Failure::Invalid);
        }
        Ok(None)
    }

    fn is_text(&self, type_: Atom) -> bool {
        type_ == self.a.UTF8_STRING || type_ == u32::from(AtomEnum::STRING)
    }

    fn files(&self, atom: &dyn Fn(&str) -> Option<Atom>) -> Result<Option<Clip>, Failure> {
        let text = |target: Option<Atom>| -> Result<Option<String>, Failure> {
            let Some(target) = target else { return Ok(None) };
            let Some(value) = self.convert(target, TEXT_MAX_BYTES)? else { return Ok(None) };
            text::decode(&value.bytes, Encoding::Utf8).map(Some).map_err(Failure::Invalid)
        };
        let (gnome, mut cut) = text(atom(GNOME_FILES))?.map(|t| text::gnome_files(&t)).unwrap_or_default();
        let listed = text(atom(URI_LIST))?.map(|t| text::uri_list(&t)).unwrap_or_default();
        let urls = if listed.is_empty() { gnome } else { listed };
        if cut.is_none() {
            cut = text(atom(KDE_CUT))?.map(|t| t.trim_end_matches('\0').trim() == "1");
        }
        Ok((!urls.is_empty()).then_some(Clip::Files { urls, cut }))
    }

    /// The content in one format, whole. `None`: the owner doesn't have it in this format.
    fn convert(&self, target: Atom, limit: usize) -> Result<Option<Value>, Failure> {
        let (raw, property) = (self.x.raw(), self.a.AGENT_DESKTOP_CLIPBOARD);
        raw.delete_property(self.window, property)?;
        raw.convert_selection(self.window, self.a.CLIPBOARD, target, property, self.time)?;
        loop {
            match self.event()? {
                None => return Err(Failure::Silent),
                Some(Event::SelectionNotify(e)) if e.requestor == self.window && e.target == target => {
                    if e.property == NONE {
                        // The server says so as well where the owner ended just now.
                        return if self.still_owns() { Ok(None) } else { Err(Failure::Gone) };
                    }
                    return self.received(limit).map(Some);
                }
                Some(Event::DestroyNotify(e)) if e.window == self.owner => return Err(Failure::Gone),
                Some(_) => {}
            }
        }
    }

    /// What stands in our property, or comes through it piece by piece.
    fn received(&self, limit: usize) -> Result<Value, Failure> {
        let head = self.property(0, false)?;
        if head.type_ != self.a.INCR {
            return self.take(head.bytes_after as usize, limit);
        }
        let announced = self.property(1, false)?.value32().and_then(|mut v| v.next()).unwrap_or(0) as usize;
        if announced > limit {
            return Err(Failure::TooLarge { bytes: announced, limit });
        }
        // Its deletion starts the transfer.
        self.x.raw().delete_property(self.window, self.a.AGENT_DESKTOP_CLIPBOARD)?;
        let mut whole = Value { type_: NONE, bytes: Vec::with_capacity(announced) };
        loop {
            match self.event()? {
                None => return Err(if self.lives() { Failure::Silent } else { Failure::Torn }),
                Some(Event::PropertyNotify(e))
                    if e.window == self.window
                        && e.atom == self.a.AGENT_DESKTOP_CLIPBOARD
                        && e.state == Property::NEW_VALUE =>
                {
                    let size = self.property(0, false)?;
                    if size.type_ == NONE {
                        // Seen already: the event of the announcement itself, or of a piece that was replaced.
                        continue;
                    }
                    let piece =
                        self.take(size.bytes_after as usize, limit - whole.bytes.len()).map_err(|e| match e {
                            Failure::TooLarge { bytes, .. } => {
                                Failure::TooLarge { bytes: whole.bytes.len() + bytes, limit }
                            }
                            other => other,
                        })?;
                    if piece.bytes.is_empty() {
                        return Ok(whole);
                    }
                    whole.type_ = piece.type_;
                    whole.bytes.extend_from_slice(&piece.bytes);
                }
                Some(Event::DestroyNotify(e)) if e.window == self.owner => return Err(Failure::Torn),
                Some(_) => {}
            }
        }
    }

    /// Takes the property of this size and deletes it.
    fn take(&self, bytes: usize, limit: usize) -> Result<Value, Failure> {
        if bytes > limit {
            return Err(Failure::TooLarge { bytes, limit });
        }
        let reply = self.property(u32::try_from(bytes / 4 + 1).unwrap_or(u32::MAX), true)?;
        if reply.bytes_after != 0 || reply.value.len() != bytes {
            return Err(Failure::Invalid("it changed while it was read".to_owned()));
        }
        Ok(Value { type_: reply.type_, bytes: reply.value })
    }

    fn property(&self, words: u32, delete: bool) -> Result<GetPropertyReply, Failure> {
        let property = self.a.AGENT_DESKTOP_CLIPBOARD;
        self.x.set_deadline(Instant::now() + SERVER);
        Ok(self.x.raw().get_property(delete, self.window, property, AtomEnum::ANY, 0, words)?.reply()?)
    }

    fn event(&self) -> Result<Option<Event>, X11Error> {
        next(self.x, self.deadline.within_ms(SILENCE_MS).instant())
    }

    fn still_owns(&self) -> bool {
        self.x.set_deadline(Instant::now() + SERVER);
        let ask =
            || -> Result<Window, X11Error> { Ok(self.x.raw().get_selection_owner(self.a.CLIPBOARD)?.reply()?.owner) };
        ask().is_ok_and(|owner| owner == self.owner)
    }

    fn lives(&self) -> bool {
        self.x.set_deadline(Instant::now() + SERVER);
        let ask = || -> Result<(), X11Error> {
            self.x.raw().get_window_attributes(self.owner)?.reply()?;
            Ok(())
        };
        ask().is_ok()
    }

    /// The owner's process as the server knows it.
    fn pid(&self) -> Option<u32> {
        let raw = self.x.raw();
        raw.extension_information(res::X11_EXTENSION_NAME).ok().flatten()?;
        let spec = res::ClientIdSpec { client: self.owner, mask: res::ClientIdMask::LOCAL_CLIENT_PID };
        let reply = raw.res_query_client_ids(&[spec]).ok()?.reply().ok()?;
        reply.ids.into_iter().find_map(|i| i.value.first().copied()).filter(|pid| *pid != 0)
    }

    fn error(&self, failure: Failure) -> Error {
        let error = match failure {
            Failure::Server(e) => return display_failed(&e),
            Failure::Silent => {
                Error::before(Code::AppUnresponsive, "the application that has the clipboard does not answer")
                    .kind("application_silent")
                    .retry_after(1_000)
                    .suggest("Wait until the application responds again, or set the clipboard anew.")
            }
            Failure::Gone | Failure::Torn => {
                return Error::before(
                    Code::ActionFailed,
                    "the application that had the clipboard ended before all of it had arrived; nothing of it is shown",
                )
                .kind("clipboard_owner_gone")
                .suggest("Copy it again.");
            }
            Failure::TooLarge { bytes, limit } => {
                Error::before(Code::ActionFailed, format!("the clipboard has {bytes} bytes or more; {limit} are read"))
                    .kind("clipboard_too_large")
                    .detail("bytes", bytes)
                    .detail("limit", limit)
                    .suggest("Have the application save it to a file instead.")
            }
            Failure::Invalid(why) => {
                Error::before(Code::ActionFailed, format!("the clipboard's content can't be used: {why}"))
                    .kind("clipboard_content_invalid")
            }
        };
        let Some(pid) = self.pid() else { return error };
        let error = error.detail("pid", pid);
        match i32::try_from(pid).ok().and_then(|pid| names(pid).best().map(str::to_owned)) {
            Some(app) => error.detail("app", app),
            None => error,
        }
    }
}
