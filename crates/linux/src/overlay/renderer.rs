//! The renderer: a process that shows the cursors of one session on one desktop.

use super::cursor::Cursor;
use super::draw::Canvas;
use super::talk::{Answer, Ask, Start};
use crate::input::signals::Termination;
use crate::input::talk::{Heard, Lines, say};
use crate::x11::{self, X11Error, xtest};
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::CursorStep;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the display may take for anything.
const DISPLAY: Duration = Duration::from_secs(3);
/// How long one caller may take to say what it wants.
const CALLER: Duration = Duration::from_millis(300);
/// How often the renderer looks whether its socket is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long it stays without being asked for anything.
const UNUSED: Duration = Duration::from_secs(600);
/// Cursors of one session at most: each has windows.
const CURSORS: usize = 32;

/// A caller that waits until its cursor is there.
struct Waiting {
    stream: UnixStream,
    agent: String,
    until: Instant,
}

struct Renderer<'a> {
    canvas: Canvas<'a>,
    cursors: BTreeMap<String, Cursor>,
    waiting: Vec<Waiting>,
    used: Instant,
}

/// Serves until it is told to end.
pub fn main() -> i32 {
    let Ok(termination) = Termination::listen() else { return 1 };
    let mut lines = Lines::new(io::stdin());
    let Heard::Line(start) = lines.next::<Start>(Instant::now() + DISPLAY) else { return 1 };
    match serve(&start, &termination) {
        Ok(()) => 0,
        Err(why) => {
            let _ = say(&mut io::stdout().lock(), &Answer::Failed(why));
            1
        }
    }
}

fn serve(start: &Start, termination: &Termination) -> Result<(), String> {
    // Held to the end of this process, however it ends.
    let alive = start.files.no_renderer().map_err(|e| e.to_string())?;
    let _alive = alive.ok_or("another one runs")?;
    let x = x11::connect(&start.display, start.authority.as_deref(), Instant::now() + DISPLAY);
    let x = x.map_err(|e| e.to_string())?;
    let canvas = Canvas::new(&x).map_err(|e| e.to_string())?;
    let socket = &start.files.socket;
    let _ = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket).map_err(|e| e.to_string())?;
    listener.set_nonblocking(true).map_err(|e| e.to_string())?;
    say(&mut io::stdout().lock(), &Answer::Here).map_err(|e| e.to_string())?;
    // Whoever started us waits for no more.
    silence();
    let mut renderer = Renderer { canvas, cursors: BTreeMap::new(), waiting: Vec::new(), used: Instant::now() };
    // A display that is gone takes its windows along: nothing is left to be said.
    let own = socket.symlink_metadata().map_err(|e| e.to_string())?;
    let _ = renderer.run(&listener, termination, (socket, &own));
    if is_own(socket, &own) {
        start.files.remove();
    }
    Ok(())
}

/// Whether the socket is still the one that was made: another renderer may have made its own in its place.
fn is_own(socket: &Path, own: &Metadata) -> bool {
    socket.symlink_metadata().is_ok_and(|m| m.ino() == own.ino() && m.dev() == own.dev())
}

/// Closes the pipes to the command, so that nobody waits for their end.
fn silence() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

impl Renderer<'_> {
    fn run(
        &mut self,
        listener: &UnixListener,
        termination: &Termination,
        (socket, own): (&Path, &Metadata),
    ) -> Result<(), X11Error> {
        loop {
            let now = Instant::now();
            self.canvas.x.set_deadline(now + DISPLAY);
            for cursor in self.cursors.values_mut().filter(|c| c.next(now).is_some()) {
                cursor.draw(&self.canvas, now)?;
            }
            self.answer_those_there(now);
            if !is_own(socket, own) || now.saturating_duration_since(self.used) >= UNUSED {
                return Ok(());
            }
            let arrivals = self.waiting.iter().map(|w| w.until.saturating_duration_since(now));
            let wait = self.cursors.values().filter_map(|c| c.next(now)).chain(arrivals).min().unwrap_or(LOOK);
            let wait = wait.clamp(Duration::from_millis(1), LOOK);
            let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
            let mut fds = [
                PollFd::new(listener, PollFlags::IN),
                PollFd::from_borrowed_fd(termination.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.canvas.x.socket(), PollFlags::IN),
            ];
            match rustix::event::poll(&mut fds, Some(&timeout)) {
                Err(rustix::io::Errno::INTR) | Ok(0) => continue,
                Err(_) => return Ok(()),
                Ok(_) => {}
            }
            let [called, told, display] = fds.map(|f| !f.revents().is_empty());
            if told {
                return Ok(());
            }
            if display {
                use x11rb::connection::Connection as _;
                while self.canvas.x.raw().poll_for_event()?.is_some() {}
            }
            while called && let Ok((stream, _)) = listener.accept() {
                if self.hear(stream)? {
                    return Ok(());
                }
            }
        }
    }

    /// Takes what a caller asks; says whether it was to end.
    fn hear(&mut self, stream: UnixStream) -> Result<bool, X11Error> {
        let ours =
            rustix::net::sockopt::socket_peercred(&stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid());
        let ready = stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(CALLER)));
        let Ok(copy) = stream.try_clone() else { return Ok(false) };
        if !ours || ready.is_err() {
            return Ok(false);
        }
        self.used = Instant::now();
        match Lines::new(copy).next::<Ask>(Instant::now() + CALLER) {
            Heard::Line(Ask::Step(step)) => self.step(&step, stream)?,
            Heard::Line(Ask::End) => {
                let mut stream = stream;
                let _ = say(&mut stream, &Answer::Ending);
                return Ok(true);
            }
            Heard::End | Heard::Nothing => {}
        }
        Ok(false)
    }

    fn step(&mut self, step: &CursorStep, mut stream: UnixStream) -> Result<(), X11Error> {
        let agent = step.agent.clone().unwrap_or_default();
        let now = Instant::now();
        if !self.cursors.contains_key(&agent) {
            if self.cursors.len() >= CURSORS {
                let _ = say(&mut stream, &Answer::Failed("the session has too many cursors".into()));
                return Ok(());
            }
            let pointer = xtest::pointer(self.canvas.x)?;
            let at = Point { x: f64::from(pointer.root_x), y: f64::from(pointer.root_y) };
            self.cursors.insert(agent.clone(), Cursor::new(&self.canvas, at, now)?);
        }
        let Some(cursor) = self.cursors.get_mut(&agent) else { return Ok(()) };
        let until = cursor.step(&self.canvas, step, now)?;
        // Whoever waited for it to be elsewhere waits no more.
        for passed in self.waiting.iter_mut().filter(|w| w.agent == agent) {
            passed.until = now;
        }
        self.waiting.push(Waiting { stream, agent, until });
        Ok(())
    }

    fn answer_those_there(&mut self, now: Instant) {
        self.waiting.retain_mut(|waiting| {
            let still = now < waiting.until;
            if !still {
                let _ = say(&mut waiting.stream, &Answer::There);
            }
            still
        });
    }
}
