//! What is said between a command and the processes that press for it: lines of JSON.

use super::debt::Debt;
use super::guard::Found;
use crate::x11::X11Error;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery, Error};
use agent_desktop_core::platform::input::{Guard, Held, Hold, Played, Release, Stroke};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Instant;

/// The display that is meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Its name.
    pub display: String,
    /// The file with its cookie.
    pub authority: Option<PathBuf>,
    /// The record of held input.
    pub kept: PathBuf,
}

/// A sequence to play.
#[derive(Debug, Serialize, Deserialize)]
pub struct Score {
    /// Where.
    pub place: Place,
    /// What.
    pub strokes: Vec<Stroke>,
    /// What must hold.
    pub guard: Guard,
    /// How long it may take, in milliseconds.
    pub left_ms: u64,
    /// Whether to ask in the middle of a text, and wait for a [`Verdict`].
    pub watched: bool,
}

/// The answer to [`Line::Asks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Go on.
    Go,
    /// Undo and end.
    Halt,
}

/// What a player says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// From now on this must be undone. Said before the events that make it so.
    Owes(Debt),
    /// The display acknowledged so many events of the sequence.
    Done(Progress),
    /// The window has taken what was sent: shall it go on?
    Asks(Progress),
    /// The sequence is over and nothing is owed, as far as `release` says.
    Ended {
        /// How far it came.
        progress: Progress,
        /// Why it stopped early.
        stopped: Option<Stop>,
        /// What became of what was down.
        release: Release,
    },
}

/// How far a sequence came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Events acknowledged.
    pub delivered: usize,
    /// Whether anything but motion was sent.
    pub touched: bool,
    /// Whether something was sent that is not acknowledged.
    pub uncertain: bool,
}

/// What is asked of the keeper of held input.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Press and keep.
    Hold {
        /// What.
        hold: Hold,
        /// For which session.
        session: Option<String>,
        /// For how long at most.
        limit_ms: u64,
        /// What must hold for the press.
        guard: Guard,
        /// How long the press may take.
        left_ms: u64,
    },
    /// Let go.
    Release {
        /// Of what.
        hold: Hold,
        /// Whose.
        session: Option<String>,
    },
    /// What is held?
    List,
    /// Let go of everything, or of one session's.
    ReleaseAll {
        /// Whose.
        session: Option<String>,
    },
}

/// What the keeper answers. Its first line says that it is there: what was asked before that did not arrive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Go on.
    Here,
    /// A press or a release.
    Played {
        /// How far it came.
        progress: Progress,
        /// Why it stopped early.
        stopped: Option<Stop>,
        /// What became of what was down.
        release: Release,
    },
    /// It is held already.
    Already,
    /// It is not held.
    NotHeld,
    /// What is held, or was until now.
    Held(Vec<Held>),
    /// Not everything could be let go of.
    Failed(String),
}

/// Why a sequence ended early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Another window has the keyboard, or none.
    NotInFront(Option<Found>),
    /// Another window lies at the pointer, or none.
    Covered(Option<Found>),
    /// Another process's popup holds the keyboard.
    Grabbed(Option<Found>),
    /// The window is gone, or belongs to another process now.
    Gone,
    /// The window takes no events from its queue.
    Silent,
    /// The time was over.
    Late,
    /// The command that wanted it is gone, or the system ends us.
    Told,
    /// The command looked, and wants no more of it.
    Halted,
    /// The pointer is not where it was sent.
    Confined,
    /// There is no way to press this.
    NoKey(String),
    /// The display failed.
    Display(String),
}

impl From<X11Error> for Stop {
    fn from(e: X11Error) -> Self {
        Stop::Display(e.to_string())
    }
}

impl Stop {
    /// The error that core and callers see.
    pub fn error(&self) -> Error {
        let failed = |message: &str| Error::before(Code::ActionFailed, message);
        let naming = |error: Error, found: &Option<Found>| match found {
            Some(found) => error
                .detail("found", serde_json::json!({"x11_window": found.window, "app": found.app, "pid": found.pid})),
            None => error.detail("found", serde_json::Value::Null),
        };
        match self {
            Stop::NotInFront(found) => {
                naming(failed("the window does not have the keyboard").kind("window_not_in_front"), found)
                    .suggest("Look which window is in front ('list-windows'), bring yours there, then decide again.")
            }
            Stop::Covered(found) => naming(failed("something else lies at that point").kind("window_covered"), found)
                .suggest("Take a new snapshot: a dialog or another window came in between."),
            Stop::Grabbed(found) => {
                let error = failed("a popup of another application holds the keyboard: keys would go there")
                    .kind("keyboard_grabbed")
                    .suggest(
                        "Close that popup first (its application's window, then press escape), or act without keys.",
                    );
                naming(error, found)
            }
            Stop::Gone => Error::before(Code::WindowNotFound, "the window is gone").kind("stale_window_id"),
            Stop::Silent => Error::before(Code::AppUnresponsive, "the window takes no input from its queue")
                .kind("application_silent"),
            Stop::Late => Error::before(Code::Timeout, "the input did not end in time").kind("input_deadline"),
            // The command has the reason, and says that instead.
            Stop::Halted => failed("the input was ended before its end").kind("input_interrupted"),
            Stop::Told => failed("the input was interrupted").kind("input_interrupted"),
            Stop::Confined => failed("the pointer did not go where it was sent")
                .kind("pointer_confined")
                .suggest("The point lies outside of the screen, or an application confines the pointer."),
            Stop::NoKey(what) => Error::before(Code::ActionNotSupported, "this can't be typed on this keyboard")
                .kind("untypable_character")
                .detail("character", what.as_str()),
            Stop::Display(why) => {
                failed("the display failed during the input").kind("x11_fault").platform(why.as_str())
            }
        }
    }
}

/// The result that core sees.
pub fn played(planned: usize, progress: Progress, stopped: Option<&Stop>, release: Release) -> Played {
    let delivery = match progress {
        Progress { touched: false, uncertain: false, .. } => Delivery::NotDelivered,
        Progress { uncertain: true, .. } => Delivery::DeliveryUncertain,
        _ => Delivery::DeliveredUnverified,
    };
    Played {
        planned,
        delivered: progress.delivered,
        touched: progress.touched,
        uncertain: progress.uncertain,
        stopped: stopped.map(|s| s.error().with_delivery(delivery)),
        release,
    }
}

/// What came of waiting for a line.
#[derive(Debug)]
pub enum Heard<T> {
    /// A line.
    Line(T),
    /// The other side has closed.
    End,
    /// Nothing in time.
    Nothing,
}

/// Lines from a pipe or socket, each by a time.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    kept: Vec<u8>,
}

impl<R: Read + AsFd> Lines<R> {
    /// Lines from here.
    pub fn new(from: R) -> Self {
        Self { from, kept: Vec::new() }
    }

    /// The next line. What is no line of ours counts as the end: nothing after it can be trusted.
    pub fn next<T: for<'de> Deserialize<'de>>(&mut self, end: Instant) -> Heard<T> {
        loop {
            if let Some(at) = self.kept.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.kept.drain(..=at).collect();
                return serde_json::from_slice(&line).map_or(Heard::End, Heard::Line);
            }
            match crate::process::spawn::poll_readable(self.from.as_fd(), end) {
                Ok(true) => {}
                Ok(false) => return Heard::Nothing,
                Err(_) => return Heard::End,
            }
            let mut buffer = [0; 8192];
            match self.from.read(&mut buffer) {
                Ok(0) => return Heard::End,
                Ok(n) => self.kept.extend_from_slice(buffer.get(..n).unwrap_or_default()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Heard::End,
            }
        }
    }
}

/// One line.
///
/// # Errors
/// Where the other side is gone.
pub fn say(to: &mut impl io::Write, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    to.write_all(&bytes)?;
    to.flush()
}

/// What is left of a deadline, in milliseconds.
pub fn left_ms(deadline: Deadline) -> u64 {
    u64::try_from(deadline.left().as_millis()).unwrap_or(u64::MAX)
}
