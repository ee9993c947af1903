//! Applications that are silent on the bus and answer on a direct line.
//!
//! atk-bridge (GTK 3, LibreOffice, Firefox, Chromium) doesn't take a message from a connection while an earlier one of the
//! same connection is still being handled. A handler that runs a modal dialog (`gtk_dialog_run`) so silences the bus for
//! everybody until the dialog is closed, while a new direct connection answers at once (finding L4-4). The application can't
//! be asked for its address then, but the place is a convention: `$XDG_RUNTIME_DIR/at-spi2-socket-PID` for root, for all others
//! `socket` in a directory `at-spi2-XXXXXX` there, which the kernel's tables tell from those of other applications. It listens from
//! the first time that anybody asked for the address, which each read of a tree does (see [`super::Peers`]).
//!
//! The line is to the same process, or there is none: the bus names the process of the unique name, the kernel the
//! process that listens at the socket (`SO_PEERCRED`). Object paths, bus names and chains are the same on both.

use super::call::{Body, Call, Object};
use super::flight::Flight;
use super::join::QUEUE;
use super::reply::{CallError, Reply};
use super::sender::{Pump, Sender};
use agent_desktop_core::deadline::Deadline;
use futures_util::future::{join, join_all};
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout_at};
use zbus::connection::Builder as ConnectionBuilder;

/// How long an application may stay silent on the bus before its direct line is tried: as long as lists allow, but never
/// more than a third of what is left, so that there is time to ask again.
const SILENCE: Duration = Duration::from_millis(500);
/// How long connecting may take. A stopped process lets itself be connected and never answers.
const CONNECT: Duration = Duration::from_millis(200);
/// After a direct line wasn't to be had, how long it isn't tried again.
const AGAIN: Duration = Duration::from_secs(2);

type Answers = Vec<Result<Reply, CallError>>;

/// The direct lines of one desktop's silent applications.
pub(super) struct Directs {
    directory: Option<PathBuf>,
    held: Mutex<HashMap<Arc<str>, Held>>,
}

enum Held {
    Line(Arc<Sender>),
    /// None was to be had at that time.
    Nothing(Instant),
}

/// What goes over one direct line, with the places of the calls in the whole flight.
struct Aside {
    name: Arc<str>,
    line: Arc<Sender>,
    places: Vec<usize>,
    flight: Flight,
}

impl Directs {
    /// The lines of a desktop whose sockets lie where these variables say (GLib's `g_get_user_runtime_dir`).
    pub(super) fn in_directory(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let cache = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let directory = variable("XDG_RUNTIME_DIR").map(PathBuf::from).or_else(cache);
        Self { directory, held: Mutex::new(HashMap::new()) }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Arc<str>, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all lines.
    pub(super) fn close(&self) {
        self.held().clear();
    }

    pub(super) fn is_held(&self, name: &str) -> bool {
        matches!(self.held().get(name), Some(Held::Line(_)))
    }

    /// Sends calls to the bus, and to direct lines what belongs there. Reads only: they may be asked twice.
    pub(super) fn flight(&self, runtime: &Runtime, bus: &Sender, mut flight: Flight, deadline: Deadline) -> Answers {
        let until = Instant::from_std(deadline.instant());
        let halt = (Instant::now() + SILENCE.min(deadline.left() / 3)).min(until);
        let mut pump = bus.pump();
        let asked = flight.len();
        let mut asides = self.asides(&mut flight, None);
        go_on(runtime, &mut flight, bus, &mut pump, &mut asides, halt);
        let silent: Vec<Arc<str>> = flight.silent().into_iter().filter(|name| self.may_try(name)).collect();
        if !silent.is_empty() && pump.broken.is_none() {
            let soon = until.min(Instant::now() + CONNECT.min(deadline.left() / 2));
            let mut lines = runtime.block_on(self.find(&mut flight, bus, &mut pump, &silent, soon));
            lines.retain(|(name, line)| answers(runtime, name, line, soon));
            // What has answered on the bus by now was slow, and not silent.
            runtime.block_on(flight.run(bus, &mut pump, Instant::now()));
            let still = flight.silent();
            let mut held = self.held();
            held.extend(silent.into_iter().map(|name| (name, Held::Nothing(Instant::now()))));
            lines.retain(|(name, _)| still.contains(name));
            held.extend(lines.into_iter().map(|(name, line)| (name, Held::Line(Arc::new(line)))));
            drop(held);
            asides.extend(self.asides(&mut flight, Some(&still)));
        }
        if !flight.is_over() || asides.iter().any(|a| !a.flight.is_over()) {
            go_on(runtime, &mut flight, bus, &mut pump, &mut asides, until);
        }
        for aside in asides {
            let answers = aside.flight.end(&aside.line.pump());
            // A line that gave nothing is no better than the bus, which is asked again the next time.
            if answers.iter().all(|a| matches!(a, Err(CallError::Late { .. } | CallError::Broken { .. }))) {
                self.held().remove(&aside.name);
            }
            flight.put_in(aside.places, answers);
        }
        let mut answers = flight.end(&pump);
        answers.truncate(asked);
        answers
    }

    /// Moves what is for applications with a direct line out of the flight; of these names alone, where they are given.
    fn asides(&self, flight: &mut Flight, only: Option<&[Arc<str>]>) -> Vec<Aside> {
        let held = self.held();
        let lines = held.iter().filter_map(|(name, held)| match held {
            Held::Line(line) => Some((name, line)),
            Held::Nothing(_) => None,
        });
        lines
            .filter(|(name, _)| only.is_none_or(|only| only.contains(name)))
            .map(|(name, line)| {
                let (places, calls) = flight.withdraw(name);
                let flight = if flight.is_patient() { Flight::patient(calls) } else { Flight::new(calls) };
                Aside { name: name.clone(), line: line.clone(), places, flight }
            })
            .filter(|aside| !aside.places.is_empty())
            .collect()
    }

    fn may_try(&self, name: &str) -> bool {
        match self.held().get(name) {
            Some(Held::Line(_)) => false,
            Some(Held::Nothing(since)) => since.elapsed() >= AGAIN,
            None => true,
        }
    }

    /// Connects to those of these applications that take a direct connection, all at once.
    async fn find(
        &self,
        flight: &mut Flight,
        bus: &Sender,
        pump: &mut Pump,
        names: &[Arc<str>],
        until: Instant,
    ) -> Vec<(Arc<str>, Sender)> {
        let asked = flight.add(names.iter().map(|name| owner(name)).collect());
        flight.run_for(asked.clone(), bus, pump, until).await;
        let connecting = names.iter().zip(asked).filter_map(|(name, at)| {
            let pid = flight.answer_at(at)?.as_ref().ok()?.uint().ok()?;
            Some(async move { Some((name.clone(), self.connect(bus, pid, until).await?)) })
        });
        join_all(connecting).await.into_iter().flatten().collect()
    }

    /// A new connection to this process; none where nothing of ours listens, or another process.
    async fn connect(&self, like: &Sender, pid: u32, until: Instant) -> Option<Sender> {
        let path = self.socket(pid)?;
        let stream = timeout_at(until, UnixStream::connect(&path)).await.ok()?.ok()?;
        if !is_of(&stream, pid) {
            return None;
        }
        let building = async { ConnectionBuilder::unix_stream(stream).max_queued(QUEUE).p2p().build().await };
        let connection = timeout_at(until, building).await.ok()?.ok()?;
        Some(like.peer(connection))
    }

    /// Whether the process listens for direct connections.
    pub(super) fn listens(&self, pid: u32) -> bool {
        self.socket(pid).is_some()
    }

    /// Where the process listens, if a socket of our own user lies there.
    fn socket(&self, pid: u32) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        let path = directory.join(format!("at-spi2-socket-{pid}"));
        if is_our_socket(&path) {
            return Some(path);
        }
        listening(directory, pid).into_iter().find(|path| is_our_socket(path))
    }

    /// See [`super::Bus::line_for_writes`].
    pub(super) fn line_for_writes(
        &self,
        runtime: &Runtime,
        bus: &Sender,
        name: &Arc<str>,
        pid: u32,
        deadline: Deadline,
    ) -> Option<Arc<Sender>> {
        let until = Instant::from_std(deadline.instant()).min(Instant::now() + CONNECT);
        if let Some(line) = runtime.block_on(self.connect(bus, pid, until)) {
            return Some(Arc::new(line));
        }
        // Where the bus is known to be silent, what is written there would land when the dialog is closed. The line
        // that is held may be silent after the write: it isn't asked again.
        match self.held().remove(name)? {
            Held::Line(line) => Some(line),
            Held::Nothing(_) => None,
        }
    }
}

/// Everything goes on at once until all is answered or the time is up.
fn go_on(runtime: &Runtime, flight: &mut Flight, bus: &Sender, pump: &mut Pump, asides: &mut [Aside], until: Instant) {
    let mut beside = Vec::with_capacity(asides.len());
    for Aside { line, flight, .. } in asides {
        beside.push((&**line, line.pump(), flight));
    }
    runtime.block_on(async {
        let beside = beside.iter_mut().map(|(line, pump, flight)| flight.run(line, pump, until));
        join(flight.run(bus, pump, until), join_all(beside)).await;
    });
}

/// Whether the application answers a question on this line.
fn answers(runtime: &Runtime, name: &Arc<str>, line: &Sender, until: Instant) -> bool {
    let ask = Call::new(&Object::root_of(name.clone()), "org.a11y.atspi.Accessible", "GetRole");
    let mut flight = Flight::new(vec![ask]);
    runtime.block_on(flight.run(line, &mut line.pump(), until));
    flight.answer_at(0).is_some_and(|a| !matches!(a, Err(CallError::Broken { .. })))
}

/// The question which process has this name on the bus.
pub fn owner(name: &str) -> Call {
    Call::driver("GetConnectionUnixProcessID", Body::Text(name.to_owned()))
}

/// Sockets in directories `at-spi2-*` of this one on which the process listens.
fn listening(directory: &Path, pid: u32) -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let begin = directory.join("at-spi2-");
    let begin = begin.to_string_lossy();
    let candidates: Vec<(u64, &str)> =
        table.lines().filter_map(listener).filter(|(_, p)| p.starts_with(&*begin)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let held: HashSet<String> = open
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
        .map(|link| link.to_string_lossy().into_owned())
        .collect();
    candidates.iter().filter(|(inode, _)| held.contains(&format!("socket:[{inode}]"))).map(|(_, p)| p.into()).collect()
}

/// Inode and path of a line of `/proc/net/unix`, where it is a socket that listens at a path (`__SO_ACCEPTCON`).
fn listener(line: &str) -> Option<(u64, &str)> {
    let mut words = line.split_ascii_whitespace();
    let listens = words.nth(3)? == "00010000";
    let inode = words.nth(2)?.parse().ok()?;
    let path = words.next().filter(|p| p.starts_with('/'))?;
    listens.then_some((inode, path))
}

fn is_our_socket(path: &Path) -> bool {
    let us = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket() && m.uid() == us)
}

/// Whether the process that listens at the other end is this one, run by our own user.
fn is_of(stream: &UnixStream, pid: u32) -> bool {
    let us = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|c| c.uid() == us && c.pid() == i32::try_from(pid).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_behind_the_socket_is_none() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let directory = std::env::temp_dir().join(format!("agent-desktop-direct-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let of = |name: &str| match name {
            "XDG_RUNTIME_DIR" => Some(directory.to_string_lossy().into_owned()),
            _ => None,
        };
        let directs = Directs::in_directory(&of);
        let us = std::process::id();
        assert_eq!(directs.socket(us), None, "nothing lies there");
        let path = directory.join(format!("at-spi2-socket-{us}"));
        std::fs::write(&path, "").unwrap();
        assert_eq!(directs.socket(us), None, "a file is no socket");
        std::fs::remove_file(&path).unwrap();
        runtime.block_on(async {
            let listener = tokio::net::UnixListener::bind(&path).unwrap();
            assert_eq!(directs.socket(us).as_deref(), Some(&*path));
            let (stream, _accepted) = join(UnixStream::connect(&path), listener.accept()).await;
            let stream = stream.unwrap();
            assert!(is_of(&stream, us));
            assert!(!is_of(&stream, us + 1), "it is this process that listens");
        });
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_kernel_tells_whose_socket_it_is() {
        let directory = std::env::temp_dir().join(format!("agent-desktop-listening-{}", std::process::id()));
        let own = directory.join("at-spi2-AB12CD");
        std::fs::create_dir_all(&own).unwrap();
        let us = std::process::id();
        assert!(listening(&directory, us).is_empty());
        let _listener = std::os::unix::net::UnixListener::bind(own.join("socket")).unwrap();
        assert_eq!(listening(&directory, us), [own.join("socket")]);
        assert!(listening(&directory, 1).is_empty(), "another process");
        assert_eq!(listener("0: 2 0 00000000 0001 03 77 /a/b"), None, "connected, not listening");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn without_a_runtime_directory_the_cache_is_the_place() {
        let of = |name: &str| (name == "HOME").then(|| "/home/a".to_owned());
        assert_eq!(Directs::in_directory(&of).directory, Some(PathBuf::from("/home/a/.cache")));
    }
}
