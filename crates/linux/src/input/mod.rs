//! Physical input: sequences run through a holder process, whose pipe's end means release (decisions D3).
//!
//! ```text
//! command ─ play() ─▶ holder (one sequence) ─▶ XTEST         command ─ hold() ─▶ keeper (held input) ─▶ XTEST
//! ```
//! Both are this program again, under a hidden sub-command, each in a session of its own.

mod dangerous;
mod debt;
mod guard;
mod held;
mod holder;
mod keeper;
mod kept;
mod play;
mod player;
pub(crate) mod signals;
mod stranger;
pub(crate) mod talk;
mod text;

use crate::LinuxPlatform;
use crate::process::Token;
use crate::x11::{X11Error, keymap, xtest};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::Input;
use agent_desktop_core::platform::input::{Guard, Held, Hold, Played, Stroke};
use agent_desktop_core::platform::observe::ProcessKey;
use agent_desktop_core::platform::windows::WindowKey;
use agent_desktop_core::vocab::key::{Combo, Key};
use std::ffi::OsString;
use talk::Place;
use x11rb::protocol::xproto::ConnectionExt as _;

/// The hidden sub-command of the program that plays sequences and holds what is held.
pub const HOLDER: &str = "__input-holder";
/// The key that is L on a keyboard of the United States: code 38 of the kernel, 8 more for X.
const L_KEY: u8 = 46;
/// How long the layout may take to be read for the sake of a dangerous combination, in milliseconds.
const DANGER_MS: u64 = 1_000;
/// Its argument for one sequence.
const PLAY: &str = "play";
/// Its argument for held input.
const KEEP: &str = "keep";

impl Input for LinuxPlatform {
    fn play(&self, strokes: &[Stroke], guard: &Guard, deadline: Deadline) -> Result<Played, Error> {
        let keys = stranger::before_keys(self, strokes.iter().any(stranger::is_key), guard)?;
        let played = play::play(self, strokes, guard, deadline, None);
        stranger::after_keys(self, keys);
        played
    }

    fn play_while(
        &self,
        strokes: &[Stroke],
        guard: &Guard,
        deadline: Deadline,
        still: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Played, Error> {
        let keys = stranger::before_keys(self, strokes.iter().any(stranger::is_key), guard)?;
        let played = play::play(self, strokes, guard, deadline, Some(still));
        stranger::after_keys(self, keys);
        played
    }

    fn pointer(&self, deadline: Deadline) -> Evidence<Point> {
        let asked = self.with_x(deadline, xtest::pointer);
        evidence(asked).map(|p| Point { x: f64::from(p.root_x), y: f64::from(p.root_y) })
    }

    fn window_at(&self, point: Point, deadline: Deadline) -> Evidence<WindowKey> {
        let asked = self.with_x(deadline, |x| -> Result<Option<(u32, Option<u32>)>, X11Error> {
            let (at_x, at_y) = (point.x.floor() as i16, point.y.floor() as i16);
            // The server's own rule for where a click goes, with shaped windows and such that let clicks through.
            let top = x.raw().translate_coordinates(x.root(), x.root(), at_x, at_y)?.reply()?.child;
            if top == 0 {
                return Ok(None);
            }
            let tree = guard::Tree::new(x)?;
            let client = tree.client_in(top)?;
            Ok(Some((client, tree.pid(client)?)))
        });
        match evidence(asked) {
            Evidence::Known(Some((client, Some(pid)))) => match i32::try_from(pid).map(Token::of) {
                Ok(Ok(token)) => Evidence::Known(WindowKey {
                    id: client.to_string(),
                    process: ProcessKey { pid, instance: token.to_string() },
                }),
                _ => Evidence::Unknown(Cause::Fault("the window's process can't be read".to_owned())),
            },
            Evidence::Known(Some((_, None))) => {
                Evidence::Unknown(Cause::Fault("the window's process is unknown".to_owned()))
            }
            Evidence::Known(None) | Evidence::Absent => Evidence::Absent,
            Evidence::Unknown(cause) => Evidence::Unknown(cause),
        }
    }

    fn dangerous(&self, combo: &Combo) -> bool {
        dangerous::dangerous(combo) || self.is_another_letter_of_a_dangerous_key(combo)
    }

    fn hold(
        &self,
        hold: &Hold,
        session: Option<&str>,
        limit_ms: u64,
        guard: &Guard,
        deadline: Deadline,
    ) -> Result<Played, Error> {
        let keys = stranger::before_keys(self, true, guard)?;
        let played = held::hold(self, hold, session, limit_ms, guard, deadline);
        stranger::after_keys(self, keys);
        played
    }

    fn release(&self, hold: &Hold, session: Option<&str>, deadline: Deadline) -> Result<Played, Error> {
        // Letting go is not to be refused.
        let keys = stranger::before_keys(self, true, &Guard::default()).unwrap_or_default();
        let played = held::release(self, hold, session, deadline);
        stranger::after_keys(self, keys);
        played
    }

    fn held(&self, deadline: Deadline) -> Result<Vec<Held>, Error> {
        held::list(self, deadline)
    }

    fn release_all(&self, session: Option<&str>, deadline: Deadline) -> Result<Vec<Held>, Error> {
        let keys = stranger::before_keys(self, true, &Guard::default()).unwrap_or_default();
        let released = held::release_all(self, session, deadline);
        stranger::after_keys(self, keys);
        released
    }
}

fn evidence<T>(asked: Option<Result<T, X11Error>>) -> Evidence<T> {
    match asked {
        Some(Ok(answer)) => Evidence::Known(answer),
        Some(Err(X11Error::Timeout)) => Evidence::Unknown(Cause::Late),
        Some(Err(e)) => Evidence::Unknown(Cause::Fault(e.to_string())),
        None => Evidence::Unknown(Cause::NotRead),
    }
}

impl LinuxPlatform {
    /// Whether the character stands on the key of a dangerous one: desktops look at the key, on any layout of theirs.
    fn is_another_letter_of_a_dangerous_key(&self, combo: &Combo) -> bool {
        let Some(Key::Character(c)) = combo.key else { return false };
        let latin = Combo { key: Some(Key::Character('l')), ..combo.clone() };
        if !dangerous::dangerous(&latin) {
            return false;
        }
        let on_key = self.with_x(Deadline::after_ms(DANGER_MS), |x| {
            keymap::enable(x)?;
            Ok::<bool, X11Error>(keymap::read(x)?.shares_a_key(c, 'l', L_KEY))
        });
        matches!(on_key, Some(Ok(true)))
    }

    /// The display, for a process that presses.
    fn place(&self, files: &kept::Files) -> Result<Place, Error> {
        let (display, authority) = self.display().ok_or_else(|| {
            Error::before(Code::PlatformNotSupported, "this desktop has no X display to send input to")
                .kind("not_available")
        })?;
        Ok(Place {
            display: display.to_owned(),
            authority: authority.map(ToOwned::to_owned),
            kept: files.record.clone(),
        })
    }
}

/// Runs the holder or the keeper; answers with its exit code.
pub fn holder_main(args: &[OsString]) -> i32 {
    match args.first().and_then(|a| a.to_str()) {
        Some(PLAY) => holder::play(),
        Some(KEEP) => keeper::keep(),
        _ => 64,
    }
}
