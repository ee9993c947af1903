//! Types text exactly: by the layout's own keys where it has them, by borrowed keys for all else.
//!
//! An application looks a key's symbol up when it comes to the event, in the layout of *that* moment. So a borrowed key
//! keeps its symbol until the window is known to have taken the keys from its queue: it has answered a ping
//! (`_NET_WM_PING`) that went in behind them (GTK), or has stored the time of the last key (`_NET_WM_USER_TIME`; Qt
//! lists the ping and doesn't answer it, measured with 5.15 and 6.4). A window that does neither gets a pause.

use super::debt::Lifted;
use super::kept;
use super::player::{Listener, Player};
use super::talk::Stop;
use crate::process::spawn::poll_readable;
use crate::x11::keymap::{self, Stroke};
use crate::x11::property::words;
use crate::x11::{X11Error, keysym, xtest};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    WindowClass,
};

/// After so many characters the window must have taken them, so that a hung one isn't filled with text.
const PACE: usize = 200;
/// Where the command watches: it is asked after each of so many characters, and then always after so many. Fields that
/// hand the focus on are short: codes, dates, numbers of cards.
const WATCHED_SINGLY: usize = 16;
const WATCHED_PACE: usize = 32;
/// How long a window that answers no pings gets to take borrowed keys from its queue.
const BLIND_MS: u64 = 150;
/// How often a wait looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// How long a window may take to answer the first ping before it counts as one that answers none.
const PROBE_MS: u64 = 300;
/// How long the end of a text without borrowed keys waits for the window.
const COURTESY_MS: u64 = 100;
/// What a window that doesn't tell gets to deal with its keys before it is looked whether it still has the focus.
const UNHEARD: Duration = Duration::from_millis(5);
/// What a new window gets to take the focus.
const NEW_WINDOW: Duration = Duration::from_millis(100);
/// So that the last key has a time of its own.
const TICK: Duration = Duration::from_millis(2);

/// How it is known that a window has taken its keys from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ear {
    /// It answers pings.
    Pong,
    /// It stores the time of its last key in this window's property.
    UserTime(u32),
    /// It isn't known.
    Deaf,
}

/// What one keystroke types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Return.
    Return,
    /// Tab.
    Tab,
    /// A character.
    Char(char),
}

/// The keystrokes of a text: line ends of any kind are Return.
pub fn units(text: &str) -> impl Iterator<Item = Unit> {
    let mut before = '\0';
    text.chars().filter_map(move |c| {
        let second_half = c == '\n' && before == '\r';
        before = c;
        match c {
            '\n' if second_half => None,
            '\n' | '\r' => Some(Unit::Return),
            '\t' => Some(Unit::Tab),
            c => Some(Unit::Char(c)),
        }
    })
}

/// The first character that no keystroke types.
pub fn untypable(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// How a unit is typed.
#[derive(Clone, Copy, Debug)]
enum Way {
    Own(Stroke),
    /// By a place on a borrowed key: its number.
    Borrowed(usize),
}

impl<L: Listener> Player<'_, L> {
    pub(super) fn text(&mut self, text: &str) -> Result<(), Stop> {
        if let Some(c) = untypable(text) {
            return Err(Stop::NoKey(format!("U+{:04X}", u32::from(c))));
        }
        self.typed = 0;
        let own_down = self.lift_modifiers()?;
        let typed = self.type_all(text);
        // A stop leaves all of it to whoever pays the debt.
        typed?;
        if !self.debt.mapped.is_empty() {
            keymap::clear(self.x, &self.debt.mapped)?;
            xtest::sync(self.x)?;
            self.debt.mapped.clear();
        }
        if let Some((affect, locked)) = self.debt.locks.take() {
            keymap::set_locked(self.x, affect, locked)?;
            xtest::sync(self.x)?;
        }
        self.debt.press_again(self.x, Some(&self.place.kept))?;
        self.debt.lifted.clear();
        self.owe()?;
        for key in own_down {
            self.key_down(key)?;
        }
        Ok(())
    }

    /// Lets go of every modifier and lock that would make other characters; answers with those of our own sequence.
    fn lift_modifiers(&mut self) -> Result<Vec<u8>, Stop> {
        let down = xtest::keys_down(self.x)?;
        let kept = kept::keys(&self.place.kept);
        let (own, others): (Vec<u8>, Vec<u8>) =
            down.into_iter().filter(|k| self.map.modifiers_of(*k) != 0).partition(|k| self.debt.keys.contains(k));
        for key in &own {
            self.key_up(*key)?;
        }
        if !others.is_empty() {
            self.debt.lifted = others.iter().map(|key| Lifted { key: *key, kept: kept.contains(key) }).collect();
            self.owe()?;
            for key in &others {
                self.sent(|x| xtest::key(x, *key, false))?;
            }
            xtest::sync(self.x)?;
            self.others.retain(|k| !others.contains(k));
        }
        let state = keymap::state(self.x)?;
        let change = (state.locked | state.latched) & !self.num_lock();
        if change != 0 {
            self.debt.locks = Some((change, state.locked & change));
            self.owe()?;
            keymap::set_locked(self.x, change, 0)?;
            xtest::sync(self.x)?;
        }
        Ok(own)
    }

    /// The bit of Num Lock, which changes the keypad only and stays.
    fn num_lock(&self) -> u8 {
        const NUM_LOCK: u32 = 0xff7f;
        self.map.key_of(&[NUM_LOCK]).map_or(0, |key| self.map.modifiers_of(key))
    }

    fn type_all(&mut self, text: &str) -> Result<(), Stop> {
        let state = keymap::state(self.x)?;
        let spare = self.map.spare();
        let shift = self.map.keys_for(keymap::SHIFT).is_some();
        let places = spare.len() * if shift { 2 } else { 1 };
        let mut own: HashMap<Unit, Option<Stroke>> = HashMap::new();
        let mut batch: Vec<Way> = Vec::new();
        let mut borrowed: Vec<char> = Vec::new();
        let mut number: HashMap<char, usize> = HashMap::new();
        for unit in units(text) {
            let found = *own.entry(unit).or_insert_with(|| match unit {
                Unit::Return => self.map.find(|s| s == 0xff0d, state.group, state.locked),
                Unit::Tab => self.map.find(|s| s == 0xff09, state.group, state.locked),
                Unit::Char(c) => self.map.find_char(c, state.group, state.locked),
            });
            match (found, unit) {
                (Some(stroke), _) => batch.push(Way::Own(stroke)),
                (None, Unit::Return | Unit::Tab) => return Err(Stop::NoKey(format!("{unit:?}"))),
                (None, Unit::Char(c)) => {
                    if places == 0 {
                        return Err(Stop::NoKey(c.to_string()));
                    }
                    if !number.contains_key(&c) {
                        if borrowed.len() == places {
                            self.type_batch(&batch, &borrowed, &spare)?;
                            batch.clear();
                            borrowed.clear();
                            number.clear();
                        }
                        number.insert(c, borrowed.len());
                        borrowed.push(c);
                    }
                    batch.push(Way::Borrowed(number[&c]));
                }
            }
        }
        self.type_batch(&batch, &borrowed, &spare)?;
        // Who watches has the window's word already.
        if borrowed.is_empty() && !self.listener.watches() {
            self.ping(COURTESY_MS)?;
        }
        Ok(())
    }

    /// Types what one set of borrowed keys serves.
    fn type_batch(&mut self, batch: &[Way], borrowed: &[char], spare: &[u8]) -> Result<(), Stop> {
        // The first half of the places is without Shift: short texts need none.
        let count = spare.len();
        let stroke = |place: usize| match spare.get(place) {
            Some(key) => Stroke { keycode: *key, modifiers: 0 },
            None => Stroke { keycode: spare.get(place - count).copied().unwrap_or_default(), modifiers: keymap::SHIFT },
        };
        let strokes: Vec<Stroke> = batch
            .iter()
            .map(|way| match way {
                Way::Own(stroke) => *stroke,
                Way::Borrowed(place) => stroke(*place),
            })
            .collect();
        // Announced once for all: each is down only between two requests of one write.
        let before = self.debt.keys.clone();
        let mut codes: Vec<u8> = strokes.iter().map(|s| s.keycode).collect();
        codes.sort_unstable();
        codes.dedup();
        self.debt.keys.extend(codes.iter().filter(|k| !self.others.contains(k)));
        if !borrowed.is_empty() {
            let keys: Vec<(u8, Option<[u32; 2]>)> = spare
                .iter()
                .take(borrowed.len())
                .enumerate()
                .map(|(place, key)| {
                    let plain = borrowed.get(place).map_or(keysym::NONE, |c| keysym::of_char(*c));
                    (*key, Some([plain, borrowed.get(place + count).map_or(plain, |c| keysym::of_char(*c))]))
                })
                .collect();
            for (key, _) in &keys {
                if !self.debt.mapped.contains(key) {
                    self.debt.mapped.push(*key);
                }
            }
            self.owe()?;
            keymap::assign(self.x, &keys)?;
            xtest::sync(self.x)?;
        } else {
            self.owe()?;
        }
        let mut level = 0;
        let mut rest = &strokes[..];
        while !rest.is_empty() {
            let watched = self.listener.watches();
            // Asked between the chunks: after the last character the focus may go wherever it does.
            if watched && self.windows_changed()? {
                self.still_on(NEW_WINDOW)?;
                self.sentry.check_front()?;
            }
            if watched && self.typed > 0 {
                self.listener.ask(self.progress, self.end)?;
            }
            if watched && self.typed == 1 && self.ear == Some(Ear::Deaf) {
                self.ear = Some(self.user_time_soon()?);
            }
            let known = if watched || !borrowed.is_empty() || rest.len() >= PACE { self.ear()? } else { Ear::Deaf };
            let pace = match known {
                _ if !watched => PACE,
                // A window that doesn't tell gets a pause each time.
                Ear::Deaf if self.typed > 0 && !borrowed.is_empty() => WATCHED_PACE,
                _ if self.typed < WATCHED_SINGLY => 1,
                _ => WATCHED_PACE,
            };
            let (chunk, after) = rest.split_at(pace.min(rest.len()));
            rest = after;
            let settle = watched || !borrowed.is_empty() || chunk.len() == PACE;
            let ear = if settle { known } else { Ear::Deaf };
            let mut since = None;
            for (at, stroke) in chunk.iter().enumerate() {
                self.level(&mut level, stroke.modifiers)?;
                if settle && at + 1 == chunk.len() && matches!(ear, Ear::UserTime(_)) {
                    std::thread::sleep(TICK);
                    since = Some(self.server_time()?);
                }
                self.character(stroke.keycode)?;
                self.typed += 1;
            }
            match (ear, since) {
                _ if !settle => {}
                (Ear::Pong, _) if self.ping(u64::MAX)? => {}
                (Ear::Pong, _) => return Err(Stop::Silent),
                (Ear::UserTime(window), Some(since)) => {
                    self.taken(window, since)?;
                    // Taken is not yet dealt with.
                    if watched {
                        self.still_on(UNHEARD)?;
                    }
                }
                _ if borrowed.is_empty() && watched => self.still_on(UNHEARD)?,
                _ if borrowed.is_empty() => {}
                _ => self.still_on(Duration::from_millis(BLIND_MS))?,
            }
        }
        self.level(&mut level, 0)?;
        self.debt.keys = before;
        self.owe()
    }

    /// Whether windows have come or gone since this was last asked: a dialog that opens gets the focus only once its
    /// window manager has come to it.
    fn windows_changed(&mut self) -> Result<bool, Stop> {
        let asked = self.x.raw().query_tree(self.x.root()).map_err(X11Error::from)?;
        let mut now = asked.reply().map_err(X11Error::from)?.children;
        now.sort_unstable();
        let changed = self.typed > 0 && now != self.windows;
        self.windows = now;
        Ok(changed)
    }

    /// Holds exactly these modifier bits.
    fn level(&mut self, now: &mut u8, wanted: u8) -> Result<(), Stop> {
        for key in self.map.keys_for(*now & !wanted).unwrap_or_default() {
            self.key_up(key)?;
        }
        for key in self.map.keys_for(wanted & !*now).unwrap_or_default() {
            self.key_down(key)?;
        }
        *now = wanted;
        Ok(())
    }

    /// One character, with nobody else's request between the check of the guard and the key.
    fn character(&mut self, keycode: u8) -> Result<(), Stop> {
        self.x.raw().grab_server().map_err(X11Error::from)?;
        let mut front = self.sentry.check_front();
        if front.is_ok() && self.sentry.has_moved() && self.listener.watches() {
            // A popup of its own has the keyboard now. Others must be able to go on meanwhile.
            self.x.raw().ungrab_server().map_err(X11Error::from)?;
            xtest::sync(self.x)?;
            self.listener.ask(self.progress, self.end)?;
            self.x.raw().grab_server().map_err(X11Error::from)?;
            front = self.sentry.check_front();
        }
        let sent = match front {
            Ok(()) => self.sent(|x| xtest::key(x, keycode, true).and_then(|()| xtest::key(x, keycode, false))),
            Err(stop) => Err(stop),
        };
        self.x.raw().ungrab_server().map_err(X11Error::from)?;
        xtest::sync(self.x)?;
        sent?;
        self.acknowledged(2)?;
        self.still_on(Duration::ZERO)
    }

    /// How this window tells. Asked once for a sequence, while nothing is in its queue.
    fn ear(&mut self) -> Result<Ear, Stop> {
        if let Some(ear) = self.ear {
            return Ok(ear);
        }
        let ear = if self.ping(PROBE_MS)? { Ear::Pong } else { self.user_time()? };
        self.ear = Some(ear);
        Ok(ear)
    }

    /// Waits until the window has taken the keys that were sent, so that a borrowed one may be given back.
    pub(super) fn consumed(&mut self) -> Result<(), Stop> {
        match self.ear()? {
            Ear::Pong if self.ping(u64::MAX)? => Ok(()),
            Ear::Pong => Err(Stop::Silent),
            // What the window stores of its last key's time is older than this wait.
            Ear::UserTime(_) | Ear::Deaf => self.still_on(Duration::from_millis(BLIND_MS)),
        }
    }

    /// Sends a ping and waits for its answer. Whether it came.
    fn ping(&mut self, at_most_ms: u64) -> Result<bool, Stop> {
        let Some(window) = self.sentry.receiver()? else { return Ok(false) };
        let atoms = self.sentry.ping_atoms()?;
        let raw = self.x.raw();
        let listed = raw.get_property(false, window, atoms.protocols, AtomEnum::ATOM, 0, 64).map_err(X11Error::from)?;
        let listed = match listed.reply().map_err(X11Error::from) {
            Ok(reply) => words(Some(&reply)).contains(&atoms.ping),
            Err(e) if e.is_gone() => return Err(Stop::Gone),
            Err(e) => return Err(e.into()),
        };
        if !listed {
            return Ok(false);
        }
        let listen = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        raw.change_window_attributes(self.x.root(), &listen).map_err(X11Error::from)?;
        let message = ClientMessageEvent::new(32, window, atoms.protocols, [atoms.ping, atoms.token, window, 0, 0]);
        let sent = raw.send_event(false, window, EventMask::NO_EVENT, message).map_err(X11Error::from)?;
        match sent.check().map_err(X11Error::from) {
            Err(e) if e.is_gone() => return Err(Stop::Gone),
            other => other?,
        }
        let root = self.x.root();
        let patience = Instant::now().checked_add(Duration::from_millis(at_most_ms)).unwrap_or(self.end).min(self.end);
        let answer = self.event(patience, |event| match event {
            Event::ClientMessage(m) => {
                let data = m.data.as_data32();
                (m.window == root && data[0] == atoms.ping && data[1] == atoms.token).then_some(())
            }
            _ => None,
        })?;
        let deaf = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
        self.x.raw().change_window_attributes(self.x.root(), &deaf).map_err(X11Error::from)?;
        Ok(answer.is_some())
    }

    /// The next event of a kind, by a time.
    fn event<T>(&mut self, by: Instant, wanted: impl Fn(&Event) -> Option<T>) -> Result<Option<T>, Stop> {
        loop {
            while let Some(event) = self.x.raw().poll_for_event().map_err(X11Error::from)? {
                if let Some(found) = wanted(&event) {
                    return Ok(Some(found));
                }
            }
            if Instant::now() >= by {
                return Ok(None);
            }
            self.listener.wait(Duration::ZERO)?;
            poll_readable(self.x.socket(), (Instant::now() + LOOK).min(by))
                .map_err(|e| Stop::Display(e.to_string()))?;
        }
    }

    /// The window whose property has the time of the last key, where there is one.
    fn user_time(&self) -> Result<Ear, Stop> {
        let Some(window) = self.sentry.receiver()? else { return Ok(Ear::Deaf) };
        let asked = self.atom(b"_NET_WM_USER_TIME_WINDOW")?;
        let other = self.property(window, asked)?.filter(|w| *w != 0);
        let kept = other.unwrap_or(window);
        let stored = self.property(kept, self.atom(b"_NET_WM_USER_TIME")?)?.is_some();
        Ok(if stored || other.is_some() { Ear::UserTime(kept) } else { Ear::Deaf })
    }

    /// The same, once the first key is on its way: there is no such property before a window's first key.
    fn user_time_soon(&mut self) -> Result<Ear, Stop> {
        let by = Instant::now() + Duration::from_millis(COURTESY_MS);
        loop {
            let ear = self.user_time()?;
            if ear != Ear::Deaf || Instant::now() >= by {
                return Ok(ear);
            }
            self.still_on(TICK)?;
        }
    }

    /// Waits until the window has taken a key that was pressed at this time or later.
    fn taken(&mut self, window: u32, since: u32) -> Result<(), Stop> {
        let name = self.atom(b"_NET_WM_USER_TIME")?;
        loop {
            let time = self.property(window, name)?;
            // The server's milliseconds start again after 49 days.
            if time.is_some_and(|t| t.wrapping_sub(since) < u32::MAX / 2) {
                return Ok(());
            }
            match self.still_on(Duration::from_millis(1)) {
                Err(Stop::Late) => return Err(Stop::Silent),
                other => other?,
            }
        }
    }

    /// The server's time, by a change of a property of a window of our own.
    fn server_time(&mut self) -> Result<u32, Stop> {
        let raw = self.x.raw();
        let own = match self.own {
            Some(own) => own,
            None => {
                let own = raw.generate_id().map_err(X11Error::from)?;
                let listen = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
                let made = raw.create_window(0, own, self.x.root(), 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &listen);
                made.map_err(X11Error::from)?.check().map_err(X11Error::from)?;
                own
            }
        };
        self.own = Some(own);
        let name = u32::from(AtomEnum::WM_NAME);
        raw.change_property(PropMode::APPEND, own, name, u32::from(AtomEnum::STRING), 8, 0, &[])
            .map_err(X11Error::from)?;
        xtest::sync(self.x)?;
        let time = self.event(self.end, |event| match event {
            Event::PropertyNotify(p) if p.window == own => Some(p.time),
            _ => None,
        })?;
        time.ok_or(Stop::Late)
    }

    fn atom(&self, name: &[u8]) -> Result<u32, Stop> {
        Ok(self.x.raw().intern_atom(false, name).map_err(X11Error::from)?.reply().map_err(X11Error::from)?.atom)
    }

    /// The first number of a property.
    fn property(&self, window: u32, name: u32) -> Result<Option<u32>, Stop> {
        let asked = self.x.raw().get_property(false, window, name, AtomEnum::ANY, 0, 1).map_err(X11Error::from)?;
        match asked.reply().map_err(X11Error::from) {
            Ok(reply) => Ok(words(Some(&reply)).first().copied()),
            Err(e) if e.is_gone() => Err(Stop::Gone),
            Err(e) => Err(e.into()),
        }
    }
}
