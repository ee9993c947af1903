//! The command's side of a sequence: starts the holder, listens, and undoes what a dead holder left down.

use super::debt::Debt;
use super::held;
use super::holder::UNDOING;
use super::kept::Files;
use super::player::planned;
use super::talk::{Heard, Line, Lines, Place, Progress, Score, Stop, Verdict, left_ms, played, say};
use super::{HOLDER, PLAY, text};
use crate::LinuxPlatform;
use crate::process::spawn;
use crate::x11;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::Platform as _;
use agent_desktop_core::platform::input::{Guard, Played, Release, Stroke};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a process that has said its last may take to end.
const LEAVING: Duration = Duration::from_millis(500);

/// Whether to go on, asked with the number of events acknowledged.
pub type Still<'a> = &'a mut dyn FnMut(usize) -> Result<(), Error>;

/// Plays by a holder; where there is a `still`, it is asked in the middle of texts.
///
/// # Errors
/// Where proven that nothing was delivered.
pub fn play(
    platform: &LinuxPlatform,
    strokes: &[Stroke],
    guard: &Guard,
    deadline: Deadline,
    still: Option<Still<'_>>,
) -> Result<Played, Error> {
    for stroke in strokes {
        if let Stroke::Text(typed) = stroke
            && let Some(c) = text::untypable(typed)
        {
            return Err(Error::invalid("the text has a control character that no key types")
                .kind("untypable_character")
                .detail("character", format!("U+{:04X}", u32::from(c))));
        }
    }
    let program = platform.program()?;
    let files = Files::of(&platform.desktop_id()?)?;
    let place = platform.place(&files)?;
    let left_over = held::recover(&files, &place)?;
    let mut child = start(program, PLAY)?;
    let count = planned(strokes);
    let score = Score {
        place: place.clone(),
        strokes: strokes.to_vec(),
        guard: guard.clone(),
        left_ms: left_ms(deadline),
        watched: still.is_some(),
    };
    let mut heard = listen(&mut child, &score, deadline, still);
    if heard.release == Release::Uncertain {
        // It stays until a stalled display has taken its releases; it ends by itself.
        std::thread::spawn(move || child.wait());
    } else {
        leave(child);
    }
    if let Some(undo) = heard.undo.take() {
        heard.release = undo_for_it(&place, &undo);
    }
    if heard.nothing {
        return Err(Error::before(Code::Internal, "the process that sends input ended before it sent any")
            .kind("holder_failed"));
    }
    if left_over && heard.release == Release::Complete {
        heard.release = Release::Posted;
    }
    let mut played = played(count, heard.progress, heard.stopped.as_ref(), heard.release);
    if let (Some(Stop::Halted), Some(reason), Some(stopped)) = (heard.stopped, heard.reason, &mut played.stopped) {
        *stopped = reason.with_delivery(stopped.delivery());
    }
    Ok(played)
}

/// What was heard of a holder.
struct Report {
    progress: Progress,
    stopped: Option<Stop>,
    release: Release,
    /// What it owed when it died.
    undo: Option<Debt>,
    /// It died before it sent anything.
    nothing: bool,
    /// Why it was told not to go on.
    reason: Option<Error>,
}

fn listen(child: &mut Child, score: &Score, deadline: Deadline, mut still: Option<Still<'_>>) -> Report {
    let mut report = Report {
        progress: Progress::default(),
        stopped: None,
        release: Release::Complete,
        undo: None,
        nothing: false,
        reason: None,
    };
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        report.nothing = true;
        return report;
    };
    let asked = say(&mut stdin, score);
    let mut lifeline = Some(stdin);
    let mut lines = Lines::new(stdout);
    let mut debt = Debt::default();
    let mut begun = false;
    let mut end = deadline.instant() + UNDOING + Duration::from_secs(1);
    if asked.is_err() {
        lifeline = None;
    }
    loop {
        match lines.next::<Line>(end) {
            Heard::Line(Line::Owes(now)) => {
                begun = true;
                debt = now;
            }
            Heard::Line(Line::Done(now)) => {
                begun = true;
                report.progress = now;
            }
            Heard::Line(Line::Asks(now)) => {
                report.progress = now;
                report.reason = still.as_mut().and_then(|still| still(now.delivered).err());
                let verdict = if report.reason.is_some() { Verdict::Halt } else { Verdict::Go };
                // A holder that hears nothing more undoes and ends.
                if lifeline.as_mut().is_none_or(|stdin| say(stdin, &verdict).is_err()) {
                    lifeline = None;
                }
            }
            Heard::Line(Line::Ended { progress, stopped, release }) => {
                (report.progress, report.stopped, report.release) = (progress, stopped, release);
                return report;
            }
            // It hangs. The end of its input tells it to undo; what doesn't end then is ended.
            Heard::Nothing if lifeline.take().is_some() => end = Instant::now() + UNDOING,
            Heard::Nothing | Heard::End => {
                let _ = child.kill();
                let _ = child.wait();
                report.nothing = !begun;
                if begun {
                    report.progress.uncertain = true;
                    report.stopped = Some(Stop::Told);
                    report.undo = Some(debt);
                }
                return report;
            }
        }
    }
}

/// Undoes by our own connection what a dead holder owed.
fn undo_for_it(place: &Place, debt: &Debt) -> Release {
    let end = Instant::now() + UNDOING;
    let paid = x11::connect(&place.display, place.authority.as_deref(), end).and_then(|x| {
        // The server carries out what a client had sent before it died; nothing may come after our releases.
        x11::xtest::sync(&x)?;
        x11::keymap::enable(&x)?;
        debt.pay(&x, Some(&place.kept))
    });
    if paid.is_ok() { Release::Posted } else { Release::Uncertain }
}

/// This program again, in a session of its own; nothing of ours leaks into it.
///
/// # Errors
/// Where it can't be started.
pub fn start(program: &Path, what: &str) -> Result<Child, Error> {
    let mut command = Command::new(program);
    command.args([HOLDER, what]).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    spawn::close_descriptors(&mut command);
    spawn::own_session(&mut command);
    command.spawn().map_err(|e: io::Error| {
        Error::before(Code::Internal, "the process that sends input could not be started")
            .kind("holder_failed")
            .platform(e.to_string())
    })
}

/// Collects a process that has said its last.
pub fn leave(mut child: Child) {
    drop(child.stdin.take());
    if let Ok(pid) = i32::try_from(child.id())
        && !spawn::wait_gone(pid, LEAVING)
    {
        let _ = child.kill();
    }
    let _ = child.try_wait();
}
