//! The command's side of held input: finds the keeper or starts one, and cleans up after one that was killed.

use super::keeper::{Start, presses, releases};
use super::kept::{self, Files, Record};
use super::play::start;
use super::talk::{Answer, Ask, Heard, Lines, Place, Progress, left_ms, played, say};
use super::{KEEP, holder::UNDOING};
use crate::LinuxPlatform;
use crate::x11;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery, Error};
use agent_desktop_core::platform::Platform as _;
use agent_desktop_core::platform::input::{Guard, Held, Hold, Played, Release};
use agent_desktop_core::state::private;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a keeper may take to answer beyond the work itself.
const ANSWER: Duration = Duration::from_secs(2);
/// How long a keeper that lives and can't be reached may take: it is just starting, or just ending.
const CHANGING: Duration = Duration::from_millis(1_000);
const POLL: Duration = Duration::from_millis(10);

pub fn hold(
    platform: &LinuxPlatform,
    hold: &Hold,
    session: Option<&str>,
    limit_ms: u64,
    guard: &Guard,
    deadline: Deadline,
) -> Result<Played, Error> {
    let desktop = platform.desktop_id()?;
    let files = Files::of(&desktop)?;
    let place = platform.place(&files)?;
    let left_over = recover(&files, &place)?;
    let ask = Ask::Hold {
        hold: hold.clone(),
        session: session.map(str::to_owned),
        limit_ms,
        guard: guard.clone(),
        left_ms: left_ms(deadline),
    };
    // A keeper that ends just now is followed by another one.
    for _ in 0..3 {
        if let Some(talk) = reach(&files)? {
            if let Some(answer) = put(talk, &ask, deadline)? {
                return pressed(answer, hold, left_over);
            }
            continue;
        }
        start_keeper(platform, &desktop, &files, &place, deadline)?;
    }
    Err(silent())
}

fn pressed(answer: Answer, hold: &Hold, left_over: bool) -> Result<Played, Error> {
    match answer {
        Answer::Played { progress, stopped, release } => {
            let release = if left_over && release == Release::Complete { Release::Posted } else { release };
            Ok(played(presses(hold).len(), progress, stopped.as_ref(), release))
        }
        Answer::Already => Err(Error::before(Code::ActionFailed, "this is held down already")
            .kind("already_held")
            .suggest("'status' lists what is held; release it first.")),
        other => Err(nonsense(&other)),
    }
}

pub fn release(
    platform: &LinuxPlatform,
    hold: &Hold,
    session: Option<&str>,
    deadline: Deadline,
) -> Result<Played, Error> {
    let files = Files::of(&platform.desktop_id()?)?;
    let place = platform.place(&files)?;
    let left_over = recover(&files, &place)?;
    let ask = Ask::Release { hold: hold.clone(), session: session.map(str::to_owned) };
    let answer = match ask_living(&files, &ask, deadline)? {
        Some(answer) => answer,
        None => Answer::NotHeld,
    };
    match answer {
        Answer::Played { progress, stopped, release } => {
            Ok(played(releases(hold), progress, stopped.as_ref(), release))
        }
        // Its keeper was killed, and we have just released it.
        Answer::NotHeld if left_over => {
            let progress = Progress { delivered: releases(hold), touched: true, uncertain: false };
            Ok(played(releases(hold), progress, None, Release::Posted))
        }
        Answer::NotHeld => Err(Error::before(Code::ActionFailed, "this is not held down by you")
            .kind("not_held")
            .suggest("'status' lists what is held, and by which session.")),
        other => Err(nonsense(&other)),
    }
}

pub fn list(platform: &LinuxPlatform, deadline: Deadline) -> Result<Vec<Held>, Error> {
    let files = Files::of(&platform.desktop_id()?)?;
    // Without a display nothing can be held.
    let Ok(place) = platform.place(&files) else { return Ok(Vec::new()) };
    recover(&files, &place)?;
    listed(ask_living(&files, &Ask::List, deadline)?)
}

pub fn release_all(platform: &LinuxPlatform, session: Option<&str>, deadline: Deadline) -> Result<Vec<Held>, Error> {
    let files = Files::of(&platform.desktop_id()?)?;
    let Ok(place) = platform.place(&files) else { return Ok(Vec::new()) };
    recover(&files, &place)?;
    listed(ask_living(&files, &Ask::ReleaseAll { session: session.map(str::to_owned) }, deadline)?)
}

fn listed(answer: Option<Answer>) -> Result<Vec<Held>, Error> {
    match answer {
        None => Ok(Vec::new()),
        Some(Answer::Held(all)) => Ok(all),
        Some(other) => Err(nonsense(&other)),
    }
}

/// Releases what a keeper left down that was killed. Whether there was something.
///
/// # Errors
/// Where it could not be released: it is still down.
pub fn recover(files: &Files, place: &Place) -> Result<bool, Error> {
    if !files.record.exists() {
        return Ok(false);
    }
    let Some(_nobody) = files.no_keeper()? else { return Ok(false) };
    // Read again: the keeper may have let go and ended in between.
    let Some(record) = kept::read(&files.record) else { return Ok(false) };
    let failed = |why: String| {
        Error::new(Code::ActionFailed, Delivery::NotDelivered, "keys that a killed process held could not be released")
            .kind("release_uncertain")
            .platform(why)
    };
    let end = Instant::now() + UNDOING;
    let x = x11::connect(&place.display, place.authority.as_deref(), end).map_err(|e| failed(e.to_string()))?;
    x11::keymap::enable(&x).map_err(|e| failed(e.to_string()))?;
    for debt in record.debts.iter().rev() {
        debt.pay(&x, None).map_err(|e| failed(e.to_string()))?;
    }
    kept::write(&files.record, &Record::default())?;
    let _ = std::fs::remove_file(&files.socket);
    Ok(true)
}

/// A line to the keeper, once it has said that it is there.
struct Talk {
    stream: UnixStream,
    lines: Lines<UnixStream>,
}

/// The keeper; none where none lives.
///
/// # Errors
/// Where one lives and can't be reached.
fn reach(files: &Files) -> Result<Option<Talk>, Error> {
    let end = Instant::now() + CHANGING;
    loop {
        if let Ok(stream) = UnixStream::connect(&files.socket) {
            let _ = stream.set_write_timeout(Some(ANSWER));
            if let Ok(copy) = stream.try_clone() {
                let mut lines = Lines::new(copy);
                match lines.next::<Answer>(Instant::now() + ANSWER) {
                    Heard::Line(Answer::Here) => return Ok(Some(Talk { stream, lines })),
                    // It ended; nothing was asked yet.
                    Heard::End => {}
                    Heard::Nothing | Heard::Line(_) => return Err(silent()),
                }
            }
        }
        if files.no_keeper()?.is_some() {
            return Ok(None);
        }
        if Instant::now() >= end {
            return Err(silent());
        }
        std::thread::sleep(POLL);
    }
}

/// Asks. None where the keeper ended before it was asked.
fn put(mut talk: Talk, ask: &Ask, deadline: Deadline) -> Result<Option<Answer>, Error> {
    if say(&mut talk.stream, ask).is_err() {
        return Ok(None);
    }
    let end = deadline.instant().max(Instant::now()) + ANSWER;
    match talk.lines.next::<Answer>(end) {
        Heard::Line(answer) => Ok(Some(answer)),
        Heard::End | Heard::Nothing => Err(silent().with_delivery(Delivery::DeliveryUncertain)),
    }
}

fn ask_living(files: &Files, ask: &Ask, deadline: Deadline) -> Result<Option<Answer>, Error> {
    for _ in 0..3 {
        let Some(talk) = reach(files)? else { return Ok(None) };
        if let Some(answer) = put(talk, ask, deadline)? {
            return Ok(Some(answer));
        }
    }
    Err(silent())
}

fn start_keeper(
    platform: &LinuxPlatform,
    desktop: &str,
    files: &Files,
    place: &Place,
    deadline: Deadline,
) -> Result<(), Error> {
    let _starting = private::lock(&files.starting, deadline.left().max(CHANGING))?;
    // Somebody else may have started one while we waited for the lock.
    if files.no_keeper()?.is_none() {
        return Ok(());
    }
    let mut child = start(platform.program()?, KEEP)?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return Err(failed()) };
    say(&mut stdin, &Start { desktop: desktop.to_owned(), place: place.clone() }).map_err(|_| failed())?;
    match Lines::new(stdout).next::<Answer>(Instant::now() + ANSWER + UNDOING) {
        Heard::Line(Answer::Here) => {
            // It outlives this command; in a process that serves many it must not stay a zombie.
            std::thread::spawn(move || child.wait());
            Ok(())
        }
        _ => {
            let _ = child.kill();
            let _ = child.wait();
            Err(failed())
        }
    }
}

fn failed() -> Error {
    Error::before(Code::Internal, "the process that holds input could not be started").kind("holder_failed")
}

fn silent() -> Error {
    Error::before(Code::Timeout, "the process that holds input does not answer")
        .kind("holder_silent")
        .suggest("What is held is let go of after its time at the latest.")
}

fn nonsense(answer: &Answer) -> Error {
    let why = match answer {
        Answer::Failed(why) => why.clone(),
        other => format!("{other:?}"),
    };
    Error::new(Code::ActionFailed, Delivery::DeliveryUncertain, "held input could not be let go of")
        .kind("release_uncertain")
        .platform(why)
}
