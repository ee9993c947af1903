//! The holder: a process that plays one sequence for a command, and undoes it where the command dies. Its input's end
//! is the command's end. The X server releases nothing for a client that dies (FINDINGS §6, decisions D3).

use super::debt::Debt;
use super::player::{Listener, Player};
use super::signals::Termination;
use super::talk::{Heard, Line, Lines, Progress, Score, Stop, Verdict, say};
use crate::x11::{self, Connection};
use agent_desktop_core::platform::input::Release;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How long the sequence itself may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(5);
/// How long undoing may take beyond the deadline.
pub const UNDOING: Duration = Duration::from_secs(3);

/// For how long a stalled display is waited for with releases in its queue.
const LINGERING: Duration = Duration::from_secs(600);
/// How long it may take over its queue once it answers.
const WORKED_OFF: Duration = Duration::from_secs(1);

/// Plays the sequence on standard input.
pub fn play() -> i32 {
    let Ok(termination) = Termination::listen() else { return 1 };
    let mut lines = Lines::new(io::stdin());
    let Heard::Line(score) = lines.next::<Score>(Instant::now() + ARRIVAL) else { return 1 };
    let end = Instant::now() + Duration::from_millis(score.left_ms);
    let mut pipe = Pipe { termination, lines, watched: score.watched, told: false };
    let x = match x11::connect(&score.place.display, score.place.authority.as_deref(), end + UNDOING) {
        Ok(x) => x,
        Err(e) => return ended(&mut pipe, Progress::default(), Some(e.into()), Release::Complete),
    };
    let (progress, stopped, debt) = match Player::new(&x, &score.place, end, &mut pipe) {
        Ok(mut player) => {
            let stopped = player.play(&score.strokes, &score.guard).err();
            (player.progress(), stopped, player.owed().0)
        }
        Err(stop) => (Progress::default(), Some(stop), Debt::default()),
    };
    let release = settle(&x, &debt, &score);
    let code = ended(&mut pipe, progress, stopped, release);
    if release == Release::Uncertain {
        linger(&x);
    }
    code
}

/// Stays until a stalled display has gone on: the releases lie in its queue, and it drops the queue of a client that
/// is gone.
fn linger(x: &Connection) {
    let end = Instant::now() + LINGERING;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match rustix::event::poll(&mut [PollFd::from_borrowed_fd(x.socket(), PollFlags::IN)], Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return,
            // Its first answer after all, or its end; what lies behind is worked off in no time.
            Ok(_) => return std::thread::sleep(WORKED_OFF),
        }
    }
}

/// Undoes what is owed at the end.
fn settle(x: &Connection, debt: &Debt, score: &Score) -> Release {
    if debt.is_nothing() {
        return Release::Complete;
    }
    x.set_deadline(Instant::now() + UNDOING);
    match debt.pay(x, Some(&score.place.kept)) {
        // A sequence that ends with something down is undone like one that stopped.
        Ok(()) => Release::Posted,
        Err(_) => Release::Uncertain,
    }
}

fn ended(pipe: &mut Pipe, progress: Progress, stopped: Option<Stop>, release: Release) -> i32 {
    let code = i32::from(stopped.is_some());
    let _ = pipe.tell(&Line::Ended { progress, stopped, release });
    code
}

/// The pipes to the command.
struct Pipe {
    termination: Termination,
    lines: Lines<io::Stdin>,
    /// Whether the command wants to be asked.
    watched: bool,
    told: bool,
}

impl Listener for &mut Pipe {
    fn tell(&mut self, line: &Line) -> Result<(), Stop> {
        (**self).tell(line)
    }

    fn watches(&self) -> bool {
        self.watched
    }

    fn ask(&mut self, progress: Progress, end: Instant) -> Result<(), Stop> {
        (**self).tell(&Line::Asks(progress))?;
        if !self.readable(end)? {
            return Err(Stop::Late);
        }
        match self.lines.next::<Verdict>(end) {
            Heard::Line(Verdict::Go) => Ok(()),
            Heard::Line(Verdict::Halt) => Err(Stop::Halted),
            Heard::Nothing => Err(Stop::Late),
            Heard::End => {
                self.told = true;
                Err(Stop::Told)
            }
        }
    }

    fn wait(&mut self, span: Duration) -> Result<(), Stop> {
        // Unless it was asked, nothing is said on the input: whatever makes it readable is its end.
        if self.readable(Instant::now() + span)? {
            self.told = true;
            return Err(Stop::Told);
        }
        Ok(())
    }
}

impl Pipe {
    /// Waits for the input, by a time.
    ///
    /// # Errors
    /// `Told`, where the system ends us.
    fn readable(&mut self, end: Instant) -> Result<bool, Stop> {
        loop {
            if self.told {
                return Err(Stop::Told);
            }
            let left = end.saturating_duration_since(Instant::now());
            let stdin = io::stdin();
            let mut fds =
                [PollFd::new(&stdin, PollFlags::IN), PollFd::from_borrowed_fd(self.termination.as_fd(), PollFlags::IN)];
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            let polled = rustix::event::poll(&mut fds, Some(&timeout));
            let [input, termination] = fds.map(|f| !f.revents().is_empty());
            match polled {
                Ok(0) if left.is_zero() => return Ok(false),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) if input && !termination => return Ok(true),
                Ok(_) | Err(_) => self.told = true,
            }
        }
    }

    fn tell(&mut self, line: &Line) -> Result<(), Stop> {
        say(&mut io::stdout().lock(), line).map_err(|_| {
            self.told = true;
            Stop::Told
        })
    }
}
