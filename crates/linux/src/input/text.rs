//! Types text exactly: by the layout's own keys where it has them, by borrowed keys for all else.
//!
//! An application looks a key's symbol up when it comes to the event, in the layout of *that* moment. So a borrowed key
//! keeps its symbol until the window has answered a ping (`_NET_WM_PING`) that went into its queue behind the keys.

use super::debt::Lifted;
use super::kept;
use super::player::{Listener, Player};
use super::talk::Stop;
use crate::process::spawn::poll_readable;
use crate::x11::keymap::{self, Stroke};
use crate::x11::{X11Error, keysym, xtest};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask};

/// After so many characters the window must have taken them, so that a hung one isn't filled with text.
const PACE: usize = 200;
/// How long a window that answers no pings gets to take borrowed keys from its queue.
const BLIND_MS: u64 = 150;
/// How often a wait looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// How long the end of a text without borrowed keys waits for the window.
const COURTESY_MS: u64 = 500;

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
        if borrowed.is_empty() { self.ping(COURTESY_MS, false) } else { Ok(()) }
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
            let keys: Vec<(u8, [u32; 2])> = spare
                .iter()
                .take(borrowed.len())
                .enumerate()
                .map(|(place, key)| {
                    let plain = borrowed.get(place).map_or(keysym::NONE, |c| keysym::of_char(*c));
                    // A lone capital would be taken for the pair of its small letter and itself.
                    (*key, [plain, borrowed.get(place + count).map_or(plain, |c| keysym::of_char(*c))])
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
        for chunk in strokes.chunks(PACE) {
            for stroke in chunk {
                self.level(&mut level, stroke.modifiers)?;
                self.character(stroke.keycode)?;
            }
            if chunk.len() == PACE {
                self.ping(u64::MAX, borrowed.is_empty())?;
            }
        }
        self.level(&mut level, 0)?;
        if !borrowed.is_empty() {
            self.ping(u64::MAX, false)?;
        }
        self.debt.keys = before;
        self.owe()
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

    /// One character. The check of the guard is the round trip that acknowledges the one before.
    fn character(&mut self, keycode: u8) -> Result<(), Stop> {
        self.sentry.check_front()?;
        self.sent(|x| xtest::key(x, keycode, true).and_then(|()| xtest::key(x, keycode, false)))?;
        xtest::sync(self.x)?;
        self.acknowledged(2)?;
        self.still_on(Duration::ZERO)
    }

    /// Waits until the window has taken everything from its queue that was sent before. A window that answers no
    /// pings gets a while, unless `skip_blind`.
    fn ping(&mut self, at_most_ms: u64, skip_blind: bool) -> Result<(), Stop> {
        let Some(window) = self.sentry.receiver()? else { return self.blind(skip_blind) };
        let atoms = self.sentry.ping_atoms()?;
        let raw = self.x.raw();
        let listed = raw.get_property(false, window, atoms.protocols, AtomEnum::ATOM, 0, 64).map_err(X11Error::from)?;
        let listed = match listed.reply().map_err(X11Error::from) {
            Ok(reply) => crate::x11::property::words(Some(&reply)).contains(&atoms.ping),
            Err(e) if e.is_gone() => return Err(Stop::Gone),
            Err(e) => return Err(e.into()),
        };
        if !listed {
            return self.blind(skip_blind || at_most_ms != u64::MAX);
        }
        let listen = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        raw.change_window_attributes(self.x.root(), &listen).map_err(X11Error::from)?;
        let token = atoms.token;
        let message = ClientMessageEvent::new(32, window, atoms.protocols, [atoms.ping, token, window, 0, 0]);
        let sent = raw.send_event(false, window, EventMask::NO_EVENT, message).map_err(X11Error::from)?;
        match sent.check().map_err(X11Error::from) {
            Err(e) if e.is_gone() => return Err(Stop::Gone),
            other => other?,
        }
        let patience = Instant::now().checked_add(Duration::from_millis(at_most_ms)).unwrap_or(self.end).min(self.end);
        let mut answered = false;
        while !answered {
            while let Some(event) = raw.poll_for_event().map_err(X11Error::from)? {
                if let Event::ClientMessage(m) = event {
                    let data = m.data.as_data32();
                    answered |= m.window == self.x.root() && data[0] == atoms.ping && data[1] == token;
                }
            }
            if answered {
                break;
            }
            if Instant::now() >= patience {
                if at_most_ms != u64::MAX {
                    break;
                }
                return Err(Stop::Silent);
            }
            self.listener.wait(Duration::ZERO)?;
            poll_readable(self.x.socket(), (Instant::now() + LOOK).min(patience))
                .map_err(|e| Stop::Display(e.to_string()))?;
        }
        let deaf = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
        raw.change_window_attributes(self.x.root(), &deaf).map_err(X11Error::from)?;
        Ok(())
    }

    fn blind(&mut self, skip: bool) -> Result<(), Stop> {
        if skip { Ok(()) } else { self.still_on(Duration::from_millis(BLIND_MS)) }
    }
}
