//! Physical input: a sequence of events, guarded by what must be in front, and undone by another process where ours
//! dies in the middle of it (spec 1 §7 "Release guard", decisions D3).

use super::not_supported;
use super::windows::WindowKey;
use crate::command::values::Button;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::evidence::{Cause, Evidence};
use crate::geometry::Point;
use crate::vocab::key::{Combo, Key, Modifier};
use serde::{Deserialize, Serialize};

/// One step of a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stroke {
    /// The pointer goes to a point of the screen.
    Move(Point),
    /// A button goes down or up where the pointer is.
    Button {
        /// Which.
        button: Button,
        /// Down, else up.
        down: bool,
    },
    /// The wheel turns where the pointer is.
    Wheel {
        /// Steps; up is positive.
        dy: i32,
        /// Steps; left is positive.
        dx: i32,
    },
    /// A modifier goes down or up.
    Modifier {
        /// Which.
        modifier: Modifier,
        /// Down, else up.
        down: bool,
    },
    /// A key goes down or up.
    Key {
        /// Which.
        key: Key,
        /// Down, else up.
        down: bool,
    },
    /// Text is typed, each character exactly, whatever the layout.
    Text(String),
    /// Nothing for so many milliseconds.
    Pause(u64),
    /// From here on another guard holds; it is checked at once, and right before each event as ever.
    Expect(Guard),
}

/// What must hold right before each press of a key or button and each turn of the wheel. Where it doesn't, the sequence
/// stops and what it holds is released: a button where it was pressed, so that an aborted drag drops nothing elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// The window that must have the keyboard.
    pub front: Option<WindowKey>,
    /// The window that must be the topmost at the pointer's place, or one of its own popups.
    pub under: Option<WindowKey>,
}

/// What became of what was down when a sequence ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// The sequence let go of everything itself.
    Complete,
    /// It ended early; releases were posted and acknowledged by the display.
    Posted,
    /// It ended early; whether everything was released is not known.
    Uncertain,
}

/// What became of a sequence.
#[derive(Clone, Debug)]
pub struct Played {
    /// Events of the whole sequence.
    pub planned: usize,
    /// Events that the display acknowledged.
    pub delivered: usize,
    /// Whether anything but pointer motion may have reached an application: a key, a button, the wheel.
    pub touched: bool,
    /// Whether events beyond those acknowledged may have been delivered.
    pub uncertain: bool,
    /// Why it ended early; none where it was played to its end.
    pub stopped: Option<Error>,
    /// What became of what was down.
    pub release: Release,
}

/// What is to be held beyond the end of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Keys of a combination; a modifier alone is valid.
    Keys(Combo),
    /// A mouse button at a point.
    Button {
        /// Which.
        button: Button,
        /// Where.
        at: Point,
        /// Modifiers held with it.
        modifiers: Vec<Modifier>,
    },
}

/// One thing that is held now, as `status` lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// What.
    pub hold: Hold,
    /// The session that holds it.
    pub session: Option<String>,
    /// For how long, in milliseconds.
    pub held_ms: u64,
    /// After how long it is released by itself, in milliseconds.
    pub limit_ms: u64,
}

/// Physical input on one desktop.
pub trait Input {
    /// Plays a sequence to its end, or stops and releases. Called under the lease.
    ///
    /// # Errors
    /// Only where proven that nothing was delivered: no display, no way to type a character, a dead holder before
    /// the first event.
    fn play(&self, strokes: &[Stroke], guard: &Guard, deadline: Deadline) -> Result<Played, Error> {
        let _ = (strokes, guard, deadline);
        Err(not_supported("physical input"))
    }

    /// Plays as [`Input::play`] does, and asks in the middle of a text whether to go on: after each of its first
    /// characters, then every few dozen, and where another window of the same process has got the keyboard. Asked only
    /// once the window is known to have taken the keys from its queue, as far as it tells. An error of `still` ends the
    /// sequence there, and is its `stopped`.
    ///
    /// # Errors
    /// As [`Input::play`].
    fn play_while(
        &self,
        strokes: &[Stroke],
        guard: &Guard,
        deadline: Deadline,
        still: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Played, Error> {
        let _ = (strokes, guard, deadline, still);
        Err(not_supported("watched physical input"))
    }

    /// Where the pointer is.
    fn pointer(&self, deadline: Deadline) -> Evidence<Point> {
        let _ = deadline;
        Evidence::Unknown(Cause::NotRead)
    }

    /// The window that is topmost at a point; absent where only the desktop itself is.
    fn window_at(&self, point: Point, deadline: Deadline) -> Evidence<WindowKey> {
        let _ = (point, deadline);
        Evidence::Unknown(Cause::NotRead)
    }

    /// Whether the combination is dangerous on this desktop: it would end programs, the session or the display.
    fn dangerous(&self, combo: &Combo) -> bool {
        let _ = combo;
        false
    }

    /// Presses and holds beyond the end of this process, for `limit_ms` at most. The guard holds for the press.
    ///
    /// # Errors
    /// As [`Input::play`]; also where it is held already.
    fn hold(
        &self,
        hold: &Hold,
        session: Option<&str>,
        limit_ms: u64,
        guard: &Guard,
        deadline: Deadline,
    ) -> Result<Played, Error> {
        let _ = (hold, session, limit_ms, guard, deadline);
        Err(not_supported("held input"))
    }

    /// Releases what [`Input::hold`] pressed. For a button, the pointer goes to `at` first.
    ///
    /// # Errors
    /// Where it is not held.
    fn release(&self, hold: &Hold, session: Option<&str>, deadline: Deadline) -> Result<Played, Error> {
        let _ = (hold, session, deadline);
        Err(not_supported("held input"))
    }

    /// Everything that is held on this desktop now.
    ///
    /// # Errors
    /// Where the holder doesn't answer: nothing is known then.
    fn held(&self, deadline: Deadline) -> Result<Vec<Held>, Error> {
        let _ = deadline;
        Ok(Vec::new())
    }

    /// Releases everything that is held on this desktop, or by one session; answers with what was released.
    ///
    /// # Errors
    /// Where the holder doesn't answer.
    fn release_all(&self, session: Option<&str>, deadline: Deadline) -> Result<Vec<Held>, Error> {
        let _ = (session, deadline);
        Ok(Vec::new())
    }
}
