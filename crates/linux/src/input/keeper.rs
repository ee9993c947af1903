//! The keeper: a process that owns held input on one desktop, and lets go of it on request, after its time, when it is
//! told to end, or when its socket goes. It ends when nothing is held.

use super::debt::Debt;
use super::holder::UNDOING;
use super::kept::{self, Files, Record};
use super::player::{Listener, Player};
use super::signals::Termination;
use super::talk::{Answer, Ask, Heard, Line, Lines, Place, Progress, Stop, say};
use crate::x11::{self, Connection, xtest};
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::input::{Guard, Held, Hold, Release, Stroke};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long one caller may take to say or hear something.
const CALLER: Duration = Duration::from_millis(1_500);
/// How often the keeper looks whether its socket is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long a keeper waits for its first press.
const IDLE: Duration = Duration::from_secs(5);

/// What a keeper is started with: the first line of its input.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    /// The desktop's id.
    pub desktop: String,
    /// The display.
    pub place: Place,
}

/// Something that is held.
struct Entry {
    hold: Hold,
    session: Option<String>,
    since: Instant,
    limit: Duration,
    debt: Debt,
    /// Keys that must be down for it, whoever pressed them.
    used: Vec<u8>,
}

struct Keeper<'a> {
    x: &'a Connection,
    place: &'a Place,
    entries: Vec<Entry>,
    /// Until when the first press may come.
    idle: Instant,
}

/// Serves until nothing is held any more.
pub fn keep() -> i32 {
    let Ok(termination) = Termination::listen() else { return 1 };
    let mut lines = Lines::new(io::stdin());
    let Heard::Line(start) = lines.next::<Start>(Instant::now() + IDLE) else { return 1 };
    let Ok(files) = Files::of(&start.desktop) else { return 1 };
    // Held to the end of this process, however it ends: it is what says that a keeper lives.
    let Ok(Some(alive)) = files.no_keeper() else { return 3 };
    let Ok(x) = x11::connect(&start.place.display, start.place.authority.as_deref(), Instant::now() + UNDOING) else {
        return 4;
    };
    let _ = std::fs::remove_file(&files.socket);
    let Ok(listener) = open(&files.socket) else { return 5 };
    let _ = say(&mut io::stdout().lock(), &Answer::Here);
    let mut keeper = Keeper { x: &x, place: &start.place, entries: Vec::new(), idle: Instant::now() + IDLE };
    let code = keeper.serve(listener, &termination, &files.socket);
    drop(alive);
    code
}

/// The socket. Its directory is closed to others already; the callers' user is asked for as well.
fn open(socket: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(socket)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Keeper<'_> {
    fn serve(&mut self, mut listener: UnixListener, termination: &Termination, socket: &Path) -> i32 {
        let Ok(mut own) = socket.symlink_metadata() else { return 5 };
        loop {
            self.x.set_deadline(Instant::now() + UNDOING);
            if !self.expire() {
                return 6;
            }
            if self.entries.is_empty() && Instant::now() >= self.idle {
                // Nobody finds the socket any more; whoever has come already is still served.
                let _ = std::fs::remove_file(socket);
                self.answer_all(&listener);
                if self.entries.is_empty() {
                    return 0;
                }
                // Held again by one that came last: it was told so, and must be found to let go of it.
                match open(socket).and_then(|new| Ok((new, socket.symlink_metadata()?))) {
                    Ok((new, meta)) => (listener, own) = (new, meta),
                    Err(_) => return if self.let_go_of_all() { 0 } else { 6 },
                }
            }
            let there = socket.symlink_metadata().is_ok_and(|m| m.ino() == own.ino() && m.dev() == own.dev());
            if !there {
                return if self.let_go_of_all() { 0 } else { 6 };
            }
            let next =
                self.entries.iter().map(|e| e.since + e.limit).chain((self.entries.is_empty()).then_some(self.idle));
            let wait = next.map(|at| at.saturating_duration_since(Instant::now())).min().unwrap_or(LOOK).min(LOOK);
            let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
            let mut fds = [
                PollFd::new(&listener, PollFlags::IN),
                PollFd::from_borrowed_fd(termination.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.x.socket(), PollFlags::IN),
            ];
            match rustix::event::poll(&mut fds, Some(&timeout)) {
                Err(rustix::io::Errno::INTR) | Ok(0) => continue,
                Err(_) => return if self.let_go_of_all() { 0 } else { 6 },
                Ok(_) => {}
            }
            let [called, told, display] = fds.map(|f| !f.revents().is_empty());
            if told {
                return if self.let_go_of_all() { 0 } else { 6 };
            }
            if display {
                use x11rb::connection::Connection as _;
                self.x.set_deadline(Instant::now() + UNDOING);
                loop {
                    match self.x.raw().poll_for_event() {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        // The display is gone, and all keys with it.
                        Err(_) => {
                            let _ = std::fs::remove_file(socket);
                            let _ = kept::write(&self.place.kept, &Record::default());
                            return 0;
                        }
                    }
                }
            }
            if called {
                self.answer_all(&listener);
            }
        }
    }

    fn answer_all(&mut self, listener: &UnixListener) {
        while let Ok((stream, _)) = listener.accept() {
            let ours =
                rustix::net::sockopt::socket_peercred(&stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid());
            if ours {
                let _ = self.answer(stream);
            }
        }
    }

    fn answer(&mut self, stream: UnixStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(CALLER))?;
        let mut out = stream.try_clone()?;
        say(&mut out, &Answer::Here)?;
        let mut lines = Lines::new(stream);
        let Heard::Line(ask) = lines.next::<Ask>(Instant::now() + CALLER) else { return Ok(()) };
        let answer = match ask {
            Ask::Hold { hold, session, limit_ms, guard, left_ms } => {
                self.hold(hold, session, Duration::from_millis(limit_ms), &guard, Duration::from_millis(left_ms))
            }
            Ask::Release { hold, session } => self.release(&hold, session.as_deref()),
            Ask::List => Answer::Held(self.held(|_| true)),
            Ask::ReleaseAll { session } => self.release_all(session.as_deref()),
        };
        if self.entries.is_empty() {
            self.idle = Instant::now();
        }
        say(&mut out, &answer)
    }

    fn hold(&mut self, hold: Hold, session: Option<String>, limit: Duration, guard: &Guard, left: Duration) -> Answer {
        if self.entries.iter().any(|e| same(&e.hold, &hold)) {
            return Answer::Already;
        }
        let end = Instant::now() + left;
        self.x.set_deadline(end + UNDOING);
        let record = Recorder { path: &self.place.kept, before: self.entries.iter().map(|e| e.debt.clone()).collect() };
        let mut player = match Player::new(self.x, self.place, end, record) {
            Ok(player) => player,
            Err(stop) => return stopped(Progress::default(), stop, Release::Complete),
        };
        let outcome = player.play(&presses(&hold), guard);
        let (progress, (debt, used)) = (player.progress(), player.owed());
        match outcome {
            Ok(()) => {
                self.entries.push(Entry { hold, session, since: Instant::now(), limit, debt, used });
                let _ = self.record();
                Answer::Played { progress, stopped: None, release: Release::Complete }
            }
            Err(stop) => {
                let paid = debt.pay(self.x, None).is_ok();
                if paid {
                    let _ = self.record();
                }
                stopped(progress, stop, if paid { Release::Posted } else { Release::Uncertain })
            }
        }
    }

    fn release(&mut self, hold: &Hold, session: Option<&str>) -> Answer {
        let found = self.entries.iter().position(|e| same(&e.hold, hold) && e.session.as_deref() == session);
        let Some(at) = found else { return Answer::NotHeld };
        if let (Hold::Button { at: to, .. }, Some(entry)) = (hold, self.entries.get_mut(at)) {
            // Here it is to be let go of, not where it was pressed.
            let place = (to.x.floor() as i16, to.y.floor() as i16);
            entry.debt.buttons.iter_mut().for_each(|(_, at)| *at = place);
        }
        let events = releases(hold);
        let progress = Progress { delivered: events, touched: true, uncertain: false };
        match self.let_go(at) {
            Ok(()) => Answer::Played { progress, stopped: None, release: Release::Complete },
            Err(stop) => stopped(Progress { delivered: 0, touched: true, uncertain: true }, stop, Release::Uncertain),
        }
    }

    fn release_all(&mut self, session: Option<&str>) -> Answer {
        let meant = |e: &Entry| session.is_none() || e.session.as_deref() == session;
        let held = self.held(meant);
        while let Some(at) = self.entries.iter().rposition(meant) {
            if let Err(stop) = self.let_go(at) {
                return Answer::Failed(format!("{stop:?}"));
            }
        }
        Answer::Held(held)
    }

    fn held(&self, meant: impl Fn(&Entry) -> bool) -> Vec<Held> {
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        self.entries
            .iter()
            .filter(|e| meant(e))
            .map(|e| Held {
                hold: e.hold.clone(),
                session: e.session.clone(),
                held_ms: ms(e.since.elapsed()),
                limit_ms: ms(e.limit),
            })
            .collect()
    }

    /// Lets go of what is past its time. Whether that could be done.
    fn expire(&mut self) -> bool {
        while let Some(at) = self.entries.iter().position(|e| e.since.elapsed() >= e.limit) {
            if self.let_go(at).is_err() {
                return false;
            }
            self.idle = Instant::now();
        }
        true
    }

    fn let_go_of_all(&mut self) -> bool {
        while !self.entries.is_empty() {
            if self.let_go(self.entries.len() - 1).is_err() {
                return false;
            }
        }
        true
    }

    /// Lets go of one, and only then forgets it. A key that another one needs passes to that one.
    fn let_go(&mut self, at: usize) -> Result<(), Stop> {
        let _lock = kept::lock(&self.place.kept).map_err(|e| Stop::Display(e.message().to_owned()))?;
        self.x.set_deadline(Instant::now() + UNDOING);
        let mut entry = self.entries.remove(at);
        let mut mine = Vec::new();
        for key in std::mem::take(&mut entry.debt.keys) {
            match self.entries.iter_mut().find(|e| e.used.contains(&key)) {
                Some(heir) => heir.debt.keys.push(key),
                None => mine.push(key),
            }
        }
        entry.debt.keys = mine;
        let paid = pay(self.x, &entry.debt);
        if let Err(e) = paid {
            self.entries.push(entry);
            return Err(e);
        }
        self.record()
    }

    fn record(&self) -> Result<(), Stop> {
        let debts = self.entries.iter().map(|e| e.debt.clone()).collect();
        kept::write(&self.place.kept, &Record { debts }).map_err(|e| Stop::Display(e.message().to_owned()))
    }
}

fn pay(x: &Connection, debt: &Debt) -> Result<(), Stop> {
    debt.pay(x, None)?;
    Ok(xtest::sync(x)?)
}

fn stopped(progress: Progress, stop: Stop, release: Release) -> Answer {
    Answer::Played { progress, stopped: Some(stop), release }
}

/// Writes down what will be down before it is.
struct Recorder<'a> {
    path: &'a Path,
    before: Vec<Debt>,
}

impl Listener for Recorder<'_> {
    fn tell(&mut self, line: &Line) -> Result<(), Stop> {
        let Line::Owes(debt) = line else { return Ok(()) };
        let debts = self.before.iter().chain([debt]).cloned().collect();
        kept::write(self.path, &Record { debts }).map_err(|e| Stop::Display(e.message().to_owned()))
    }

    fn wait(&mut self, span: Duration) -> Result<(), Stop> {
        std::thread::sleep(span);
        Ok(())
    }
}

/// Whether two name the same thing: a button is one, wherever it is.
fn same(a: &Hold, b: &Hold) -> bool {
    match (a, b) {
        (Hold::Button { button: a, .. }, Hold::Button { button: b, .. }) => a == b,
        (Hold::Keys(a), Hold::Keys(b)) => {
            a.key == b.key
                && a.modifiers.len() == b.modifiers.len()
                && a.modifiers.iter().all(|m| b.modifiers.contains(m))
        }
        _ => false,
    }
}

/// The presses of a hold.
pub fn presses(hold: &Hold) -> Vec<Stroke> {
    let modifier = |m: &_| Stroke::Modifier { modifier: *m, down: true };
    match hold {
        Hold::Keys(combo) => {
            let key = combo.key.map(|key| Stroke::Key { key, down: true });
            combo.modifiers.iter().map(modifier).chain(key).collect()
        }
        Hold::Button { button, at: Point { x, y }, modifiers } => {
            let mut strokes = vec![Stroke::Move(Point { x: *x, y: *y })];
            strokes.extend(modifiers.iter().map(modifier));
            strokes.push(Stroke::Button { button: *button, down: true });
            strokes
        }
    }
}

/// How many events a release has.
pub fn releases(hold: &Hold) -> usize {
    presses(hold).len()
}
