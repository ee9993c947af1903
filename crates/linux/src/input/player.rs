//! Plays a sequence, one acknowledged event after the other.

use super::debt::Debt;
use super::guard::Sentry;
use super::talk::{Line, Place, Progress, Stop};
use crate::x11::keymap::{self, Keymap};
use crate::x11::{Connection, X11Error, keysym, xtest};
use agent_desktop_core::command::values::Button;
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::input::{Guard, Stroke};
use agent_desktop_core::vocab::key::{Key, Modifier};
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::ConnectionExt as _;

/// Buttons of the wheel: up, down, left, right.
const WHEEL: [u8; 4] = [4, 5, 6, 7];

/// How long the pointer may be kept still by a window manager.
const THAW: Duration = Duration::from_millis(1_000);

/// After so many looks at a pointer that has not arrived it is sent there again.
const LOOKS: u32 = 10;

/// Who listens to a player, and may end it.
pub trait Listener {
    /// Hears what is owed and what is done, before and after each event.
    ///
    /// # Errors
    /// Where nobody is there to hear it: nothing more may be pressed then.
    fn tell(&mut self, line: &Line) -> Result<(), Stop>;

    /// Whether it wants to be asked in the middle of texts.
    fn watches(&self) -> bool {
        false
    }

    /// Asks whether to go on, and waits for the answer until `end`.
    ///
    /// # Errors
    /// `Halted` where not, `Told`, `Late`.
    fn ask(&mut self, progress: Progress, end: Instant) -> Result<(), Stop> {
        let _ = (progress, end);
        Ok(())
    }

    /// Waits so long, or until it is to stop.
    ///
    /// # Errors
    /// `Told`.
    fn wait(&mut self, span: Duration) -> Result<(), Stop>;
}

/// A key of the sequence that is down.
#[derive(Clone, Debug)]
struct Pressed {
    key: Key,
    keycode: u8,
    /// Pressed by us; else it was down already and stays so.
    ours: bool,
    /// Modifiers pressed for its symbol only.
    helpers: Vec<u8>,
}

/// Plays one sequence.
pub struct Player<'a, L> {
    pub(super) x: &'a Connection,
    pub(super) sentry: Sentry<'a>,
    pub(super) listener: L,
    pub(super) map: Keymap,
    pub(super) debt: Debt,
    pub(super) progress: Progress,
    /// Keys that were down before we came, and stay.
    pub(super) others: Vec<u8>,
    pub(super) end: Instant,
    pub(super) place: &'a Place,
    /// How the window tells that it has taken its keys, once that was found out.
    pub(super) ear: Option<super::text::Ear>,
    /// A window of our own, for the server's time.
    pub(super) own: Option<u32>,
    /// How many characters of the text are typed.
    pub(super) typed: usize,
    /// The windows that there were at the last look, sorted.
    pub(super) windows: Vec<u32>,
    /// Where the sequence has put the pointer.
    aimed: Option<(i16, i16)>,
    down: Vec<Pressed>,
    /// Every key that the sequence needed down, whoever pressed it.
    used: Vec<u8>,
}

impl<'a, L: Listener> Player<'a, L> {
    /// Ready to play; nothing is sent yet.
    ///
    /// # Errors
    /// Where the display lacks what is needed.
    pub fn new(x: &'a Connection, place: &'a Place, end: Instant, listener: L) -> Result<Self, Stop> {
        xtest::enable(x)?;
        keymap::enable(x)?;
        Ok(Self {
            x,
            sentry: Sentry::new(x)?,
            listener,
            map: keymap::read(x)?,
            debt: Debt::default(),
            progress: Progress::default(),
            others: xtest::keys_down(x)?,
            end,
            place,
            ear: None,
            own: None,
            typed: 0,
            windows: Vec::new(),
            aimed: None,
            down: Vec::new(),
            used: Vec::new(),
        })
    }

    /// How far it came.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// What is owed now, and every key that is needed down, whoever pressed it.
    pub fn owed(&self) -> (Debt, Vec<u8>) {
        (self.debt.clone(), self.used.clone())
    }

    /// Plays all of it.
    ///
    /// # Errors
    /// Why it stopped; what is owed then is still owed.
    pub fn play(&mut self, strokes: &[Stroke], guard: &Guard) -> Result<(), Stop> {
        self.sentry.begin(guard)?;
        for stroke in strokes {
            self.still_on(Duration::ZERO)?;
            match stroke {
                Stroke::Move(point) => self.go_to(*point)?,
                Stroke::Button { button, down } => self.button(number(*button), *down)?,
                Stroke::Wheel { dy, dx } => self.wheel(*dy, *dx)?,
                Stroke::Modifier { modifier, down } => self.modifier(*modifier, *down)?,
                Stroke::Key { key, down: true } => self.press(*key)?,
                Stroke::Key { key, down: false } => self.let_go(*key)?,
                Stroke::Text(text) => self.text(text)?,
                Stroke::Pause(ms) => self.still_on(Duration::from_millis(*ms))?,
                Stroke::Expect(guard) => {
                    self.ear = None;
                    self.sentry.expect(guard)?;
                }
            }
        }
        Ok(())
    }

    /// Waits, and stops where the time is over or the command is gone.
    pub(super) fn still_on(&mut self, span: Duration) -> Result<(), Stop> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left < span || left.is_zero() {
            self.listener.wait(left)?;
            return Err(Stop::Late);
        }
        self.listener.wait(span)
    }

    fn go_to(&mut self, point: Point) -> Result<(), Stop> {
        // A pixel reaches from its number to below the next: 1279.6 is the last one of 1280.
        let whole = |n: f64| if n.is_finite() { n.floor().clamp(-32_768.0, 32_767.0) as i16 } else { i16::MIN };
        let place = (whole(point.x), whole(point.y));
        self.aimed = Some(place);
        self.progress.uncertain = true;
        xtest::motion(self.x, place)?;
        xtest::sync(self.x)?;
        self.acknowledged(1)?;
        // A window manager that looks at a click first keeps the pointer still until it has decided (openbox).
        let by = Instant::now() + THAW;
        let mut looks = 0;
        loop {
            let now = xtest::pointer(self.x)?;
            if (now.root_x, now.root_y) == place {
                return Ok(());
            }
            if Instant::now() >= by {
                return Err(Stop::Confined);
            }
            self.still_on(Duration::from_millis(2))?;
            looks += 1;
            if looks % LOOKS == 0 {
                // Somebody else moves it as well.
                xtest::motion(self.x, place)?;
            }
        }
    }

    fn button(&mut self, button: u8, down: bool) -> Result<(), Stop> {
        if down {
            let at = xtest::pointer(self.x)?;
            self.debt.buttons.push((button, self.aimed.unwrap_or((at.root_x, at.root_y))));
            self.owe()?;
            let pressed = self.guarded(|x| xtest::button(x, button, true));
            if matches!(pressed, Err(Stop::NotInFront(_) | Stop::Covered(_) | Stop::Gone | Stop::Confined)) {
                self.debt.buttons.retain(|(b, _)| *b != button);
            }
            pressed?;
        } else {
            self.x.raw().grab_server().map_err(X11Error::from)?;
            // Where somebody else has moved the pointer meanwhile, the drop still falls where it was aimed at; and it is
            // let go of in any case.
            let aimed = self.aim_again();
            let sent = self.sent(|x| xtest::button(x, button, false));
            self.x.raw().ungrab_server().map_err(X11Error::from)?;
            xtest::sync(self.x)?;
            sent?;
            self.debt.buttons.retain(|(b, _)| *b != button);
            self.owe()?;
            aimed?;
        }
        self.acknowledged(1)
    }

    fn wheel(&mut self, dy: i32, dx: i32) -> Result<(), Stop> {
        let turns = [(dy > 0, dy, 0), (dy < 0, dy, 1), (dx > 0, dx, 2), (dx < 0, dx, 3)];
        for (_, count, which) in turns.into_iter().filter(|(on, ..)| *on) {
            for _ in 0..count.unsigned_abs() {
                self.still_on(Duration::ZERO)?;
                let button = WHEEL[which];
                self.guarded(|x| xtest::button(x, button, true).and_then(|()| xtest::button(x, button, false)))?;
                self.acknowledged(2)?;
            }
        }
        Ok(())
    }

    fn modifier(&mut self, modifier: Modifier, down: bool) -> Result<(), Stop> {
        let keycode =
            self.map.key_of(keysym::of_modifier(modifier)).ok_or_else(|| Stop::NoKey(modifier.name().to_owned()))?;
        if down {
            self.used.push(keycode);
            self.key_down(keycode)?;
        } else {
            self.used.retain(|k| *k != keycode);
            self.key_up(keycode)?;
        }
        self.acknowledged(1)
    }

    fn press(&mut self, key: Key) -> Result<(), Stop> {
        let (keycode, bits) = self.key(key)?;
        let mut helpers = Vec::new();
        let held = self.held_bits()?;
        for helper in self.map.keys_for(bits & !held).unwrap_or_default() {
            self.key_down(helper)?;
            helpers.push(helper);
        }
        let ours = !self.others.contains(&keycode);
        if !ours {
            // It is held by somebody: let go of it for this stroke, and leave it down at the end.
            self.sent(|x| xtest::key(x, keycode, false))?;
            self.guarded(|x| xtest::key(x, keycode, true))?;
        } else {
            self.key_down(keycode)?;
        }
        self.used.push(keycode);
        self.down.push(Pressed { key, keycode, ours, helpers });
        self.acknowledged(1)
    }

    fn let_go(&mut self, key: Key) -> Result<(), Stop> {
        let Some(at) = self.down.iter().rposition(|p| p.key == key) else { return self.acknowledged(1) };
        let pressed = self.down.remove(at);
        if pressed.ours {
            self.key_up(pressed.keycode)?;
        }
        for helper in pressed.helpers.iter().rev() {
            self.key_up(*helper)?;
        }
        self.used.retain(|k| *k != pressed.keycode);
        if self.debt.mapped.contains(&pressed.keycode) {
            self.consumed()?;
        }
        self.acknowledged(1)
    }

    /// The key and the modifiers that it takes; where the layout has none, a spare key gets the symbol.
    fn key(&mut self, key: Key) -> Result<(u8, u8), Stop> {
        let state = keymap::state(self.x)?;
        // Caps Lock is no reason to look for another key: the combination is meant, not the letter.
        let locked = state.locked & !keymap::LOCK;
        let wanted = keysym::of_key(key);
        let found = match key {
            Key::Character(c) => self.map.find_char(c, state.group, locked),
            _ => self.map.find(|symbol| symbol == wanted, state.group, locked),
        };
        if let Some(stroke) = found {
            return Ok((stroke.keycode, stroke.modifiers));
        }
        let spare = self.map.spare();
        let keycode = spare.iter().rev().find(|k| !self.debt.mapped.contains(k)).copied();
        let keycode = keycode.ok_or_else(|| Stop::NoKey(key.name()))?;
        self.debt.mapped.push(keycode);
        self.owe()?;
        keymap::assign(self.x, &[(keycode, Some([wanted, wanted]))])?;
        xtest::sync(self.x)?;
        Ok((keycode, 0))
    }

    /// The modifier bits that keys hold down now.
    fn held_bits(&self) -> Result<u8, Stop> {
        Ok(xtest::keys_down(self.x)?.iter().fold(0, |bits, k| bits | self.map.modifiers_of(*k)))
    }

    /// Presses a key unless somebody has it down already.
    pub(super) fn key_down(&mut self, keycode: u8) -> Result<(), Stop> {
        if self.others.contains(&keycode) || self.debt.keys.contains(&keycode) {
            return Ok(());
        }
        self.debt.keys.push(keycode);
        self.owe()?;
        let pressed = self.guarded(|x| xtest::key(x, keycode, true));
        if matches!(pressed, Err(Stop::NotInFront(_) | Stop::Covered(_) | Stop::Gone)) {
            // It was not even sent.
            self.debt.keys.retain(|k| *k != keycode);
        }
        pressed
    }

    /// Releases a key that we pressed.
    pub(super) fn key_up(&mut self, keycode: u8) -> Result<(), Stop> {
        if !self.debt.keys.contains(&keycode) {
            return Ok(());
        }
        self.sent(|x| xtest::key(x, keycode, false))?;
        xtest::sync(self.x)?;
        self.progress.uncertain = false;
        self.debt.keys.retain(|k| *k != keycode);
        self.owe()
    }

    /// Puts the pointer back where the sequence has put it, if anybody has moved it since. Under the server's grab.
    fn aim_again(&self) -> Result<(), Stop> {
        let Some(place) = self.aimed else { return Ok(()) };
        let at = |x: &Connection| xtest::pointer(x).map(|now| (now.root_x, now.root_y));
        if at(self.x)? == place {
            return Ok(());
        }
        xtest::motion(self.x, place)?;
        if at(self.x)? == place { Ok(()) } else { Err(Stop::Confined) }
    }

    /// Checks the guard and sends, with nobody else's request in between: no window can come to the front, or come to
    /// lie at the pointer, after the check and before the event.
    fn guarded(&mut self, send: impl Fn(&Connection) -> Result<(), X11Error>) -> Result<(), Stop> {
        self.x.raw().grab_server().map_err(X11Error::from)?;
        let checked = self.aim_again().and_then(|()| self.sentry.check());
        let sent = match checked {
            Ok(()) => self.sent(send),
            Err(stop) => Err(stop),
        };
        self.x.raw().ungrab_server().map_err(X11Error::from)?;
        xtest::sync(self.x)?;
        self.progress.uncertain = false;
        sent
    }

    pub(super) fn sent(&mut self, send: impl Fn(&Connection) -> Result<(), X11Error>) -> Result<(), Stop> {
        self.progress.touched = true;
        self.progress.uncertain = true;
        Ok(send(self.x)?)
    }

    /// So many events have been carried out, by a round trip.
    pub(super) fn acknowledged(&mut self, events: usize) -> Result<(), Stop> {
        self.progress.delivered += events;
        self.progress.uncertain = false;
        self.listener.tell(&Line::Done(self.progress))
    }

    /// Says what is owed from now on.
    pub(super) fn owe(&mut self) -> Result<(), Stop> {
        self.listener.tell(&Line::Owes(self.debt.clone()))
    }
}

fn number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}

/// How many events a sequence has: what an application can be sent. A character is a press and a release; modifiers
/// that its key takes don't count.
pub fn planned(strokes: &[Stroke]) -> usize {
    let one = |stroke: &Stroke| match stroke {
        Stroke::Move(_) | Stroke::Button { .. } | Stroke::Modifier { .. } | Stroke::Key { .. } => 1,
        Stroke::Wheel { dy, dx } => 2 * (dy.unsigned_abs() as usize + dx.unsigned_abs() as usize),
        Stroke::Text(text) => 2 * super::text::units(text).count(),
        Stroke::Pause(_) | Stroke::Expect(_) => 0,
    };
    strokes.iter().map(one).sum()
}
