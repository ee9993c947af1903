//! The supervisor: one process that owns a private desktop. It starts the parts, reports, and ends everything when it is
//! told to, when its lifeline ends or when the X server or the bus does.

use super::ending;
use super::environment::{self, DesktopEnv};
use super::error::DesktopError;
use super::options::{Home, Request};
use super::programs;
use super::readiness::{self, Line};
use super::record::{self, ProcessRef, Record};
use super::runtime_dir::write_private;
use crate::process::{spawn, tree};
use crate::x11::xauth;
use rustix::process::WaitOptions;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::{SignalKind, signal};

/// What the supervisor tells its starter, as one line of JSON on standard output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Ready(Box<Record>),
    Failed(DesktopError),
}

/// How often a window manager that ended is started again.
const MANAGER_RESTARTS: u32 = 3;

/// A started part of the desktop.
struct Part {
    process: ProcessRef,
    log: PathBuf,
}

/// The hidden sub-command. `dir` is the desktop's directory, prepared by the starter. Returns the process's exit code.
///
/// Call it on the main thread of a process that has nothing else to do: children are told to end with this thread.
/// Standard output takes the report, standard input is the lifeline if the request says so.
pub fn supervisor_main(dir: &Path) -> i32 {
    // Fails only for the leader of a process group, which is as detached as is wanted then.
    let _ = rustix::process::setsid();
    // Orphans of the desktop come to us, so that their end can be waited for.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let started = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => record::request(dir)
            .and_then(|request| Desktop::start(dir, request, &runtime))
            .map(|desktop| (desktop, runtime)),
        Err(e) => Err(DesktopError::io("make a runtime", &e)),
    };
    let (desktop, runtime) = match started {
        Ok(all) => all,
        Err(e) => {
            end(dir);
            let _ = tell(&Report::Failed(e));
            return 1;
        }
    };
    let record = desktop.record.clone();
    // Nobody there to hear it: the starter was killed, and nobody would know of this desktop.
    if tell(&Report::Ready(Box::new(record))).is_ok() {
        runtime.block_on(desktop.watch());
    }
    end(dir);
    0
}

/// Writes the report and lets go of the pipe, so that the starter sees its end.
fn tell(report: &Report) -> io::Result<()> {
    let mut out = io::stdout();
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()?;
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(())
}

/// Ends every process of the desktop and removes its directory.
fn end(dir: &Path) {
    let us = std::process::id() as i32;
    let (Some(desktops), Some(id)) = (dir.parent(), dir.file_name().and_then(|n| n.to_str())) else { return };
    let stopper: Option<ProcessRef> = record::load(dir, record::STOPPER);
    // Whoever asked for the stop may sit in the desktop; it is to live until it has its answer.
    let spared = |pid: i32| pid == us || stopper.as_ref().is_some_and(|s| s.pid == pid && !s.is_dead());
    let find = || {
        reap();
        let mut found = tree::descendants(us);
        found.extend(ending::marked(desktops).into_iter().filter(|(_, i)| i == id).map(|(p, _)| p));
        found
    };
    let left = ending::end_all(find, spared, ending::GRACE);
    if !left.is_empty() {
        tracing::warn!(?left, "processes of the desktop did not end");
    }
    if let Some(r) = record::load::<Record>(dir, record::READY) {
        ending::remove_x_socket(r.env.get("DISPLAY").unwrap_or_default(), &r.display_server);
    }
    let dead = desktops.join(format!(".dead-{id}-{us}"));
    if std::fs::rename(dir, &dead).is_ok() {
        let _ = std::fs::remove_dir_all(&dead);
    }
}

/// Collects all children that have ended; returns their ids.
fn reap() -> Vec<i32> {
    let mut ended = Vec::new();
    while let Ok(Some((pid, _))) = rustix::process::wait(WaitOptions::NOHANG) {
        ended.push(pid.as_raw_nonzero().get());
    }
    ended
}

struct Desktop {
    record: Record,
    dir: PathBuf,
    lifeline: bool,
    bus: i32,
    manager: Option<(programs::Program, PathBuf, i32)>,
}

impl Desktop {
    fn start(dir: &Path, request: Request, runtime: &tokio::runtime::Runtime) -> Result<Desktop, DesktopError> {
        let own = ProcessRef::own().map_err(|e| DesktopError::io("read our own process", &e))?;
        record::store(dir, record::OWNER, &own)?;
        let limit = Duration::from_millis(request.limit_ms);
        let end = Instant::now() + limit;
        let late = |step: &str| DesktopError::StartTimeout { step: step.to_owned(), limit_ms: request.limit_ms };
        let manager = programs::window_manager(&request.window_manager)?;
        let (server, bus) = (programs::require(programs::DISPLAY_SERVER)?, programs::require(programs::BUS)?);
        make_directories(dir, request.home).map_err(|e| DesktopError::io("make the desktop's directories", &e))?;

        let authority = dir.join("Xauthority");
        write_private(&authority, &xauth::Entry::any_display(&record::random::<16>()?).to_bytes())
            .map_err(|e| DesktopError::io("write the authority file", &e))?;

        // The server has the marks but no display yet.
        let locale = ["LC_ALL", "LANG"].iter().find_map(|n| std::env::var(n).ok().filter(|v| !v.is_empty()));
        let env_at = |display: &str| environment::base(&request.id, dir, display, request.home, locale.as_deref());
        let mut before = env_at("");
        before.set.remove("DISPLAY");
        let (server, number) = with_pipe("display", end, &late, |pipe| {
            let mut c = Command::new(&server);
            c.arg("-displayfd").arg(pipe).args(["-screen", "0"]).arg(request.geometry.to_string());
            c.arg("-auth").arg(&authority).args(["-nolisten", "tcp", "-noreset"]);
            c.args(["+extension", "RANDR", "+extension", "COMPOSITE"]);
            (c, &before, dir.join("log/display"))
        })?;
        let display = format!(":{number}");

        let mut env = env_at(&display);
        let (bus, address) = with_pipe("bus", end, &late, |pipe| {
            let mut c = Command::new(&bus);
            c.args(["--session", "--nofork", "--nopidfile"]);
            c.arg(format!("--address=unix:path={}", dir.join("run/bus").display()));
            c.arg(format!("--print-address={pipe}"));
            (c, &env, dir.join("log/bus"))
        })?;
        env.set.insert("DBUS_SESSION_BUS_ADDRESS".to_owned(), address.clone());

        let started = match &manager {
            Some((program, path)) => Some(start_manager(program, path, &env, dir)?),
            None => None,
        };
        let accessibility_bus = runtime.block_on(readiness::accessibility(&address, end)).map_err(|e| match e {
            DesktopError::StartTimeout { .. } => late("accessibility"),
            // The bus knows why, for instance that this user has no entry in the user database.
            DesktopError::StartFailed { step, reason } => DesktopError::StartFailed {
                step,
                reason: format!("{reason}\n{}", readiness::log_tail(&bus.log)).trim_end().to_owned(),
            },
            other => other,
        })?;
        if let Some(part) = &started {
            let ready = readiness::window_manager(&display, &authority, end, || {
                reap();
                !part.process.is_dead()
            });
            match ready {
                Ok(true) => {}
                Ok(false) if part.process.is_dead() => {
                    return Err(DesktopError::failed(
                        "window_manager",
                        format!("it ended at once\n{}", readiness::log_tail(&part.log)),
                    ));
                }
                Ok(false) | Err(crate::x11::X11Error::Timeout) => return Err(late("window_manager")),
                Err(e) => return Err(DesktopError::failed("window_manager", e.to_string())),
            }
        }
        let record = Record {
            id: request.id.clone(),
            geometry: request.geometry,
            window_manager: manager.as_ref().map(|(m, _)| m.program.to_owned()),
            supervisor: own,
            display_server: server.process,
            accessibility_bus,
            ready_at: std::time::SystemTime::UNIX_EPOCH.elapsed().map(|d| d.as_secs()).unwrap_or_default(),
            env,
        };
        record::store(dir, record::READY, &record)?;
        let manager = manager.zip(started).map(|((program, path), part)| (program, path, part.process.pid));
        Ok(Desktop { record, dir: dir.to_owned(), lifeline: request.lifeline, bus: bus.process.pid, manager })
    }

    /// Returns when the desktop is to end.
    async fn watch(mut self) {
        let signals = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
            signal(SignalKind::hangup()),
            signal(SignalKind::child()),
        );
        let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup), Ok(mut child)) = signals else { return };
        let lifeline = self.lifeline.then(lifeline).flatten();
        let mut restarts = MANAGER_RESTARTS;
        loop {
            // Before waiting: a part may have ended before the signal was listened for.
            let ended = reap();
            if self.essential_ended(&ended) || !self.keep_manager(&ended, &mut restarts) {
                return;
            }
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hangup.recv() => return,
                () = ended_lifeline(lifeline.as_ref()) => return,
                _ = child.recv() => {}
            }
        }
    }

    fn essential_ended(&self, ended: &[i32]) -> bool {
        ended.contains(&self.bus)
            || ended.contains(&self.record.display_server.pid)
            || self.record.display_server.is_dead()
    }

    /// Starts an ended window manager again. `false`: it has ended too often, the desktop is of no use any more.
    fn keep_manager(&mut self, ended: &[i32], restarts: &mut u32) -> bool {
        let Some((program, path, pid)) = &mut self.manager else { return true };
        if !ended.contains(pid) {
            return true;
        }
        if *restarts == 0 {
            return false;
        }
        *restarts -= 1;
        match start_manager(program, path, &self.record.env, &self.dir) {
            Ok(part) => {
                *pid = part.process.pid;
                true
            }
            Err(_) => false,
        }
    }
}

/// Standard input as something that can be waited for.
fn lifeline() -> Option<Receiver> {
    Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned().ok()?).ok()
}

/// Returns when the other end is closed; never without a lifeline.
async fn ended_lifeline(pipe: Option<&Receiver>) {
    let Some(pipe) = pipe else { return std::future::pending().await };
    while pipe.readable().await.is_ok() {
        match pipe.try_read(&mut [0; 64]) {
            Ok(1..) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

fn make_directories(dir: &Path, home: Home) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut make = std::fs::DirBuilder::new();
    make.mode(0o700).recursive(true);
    make.create(dir.join("run"))?;
    make.create(dir.join("log"))?;
    if home == Home::Private {
        for below in [".config", ".cache", ".local/share", ".local/state"] {
            make.create(dir.join("home").join(below))?;
        }
    }
    Ok(())
}

fn start_manager(program: &programs::Program, path: &Path, env: &DesktopEnv, dir: &Path) -> Result<Part, DesktopError> {
    let mut c = Command::new(path);
    c.args(program.args);
    start_part("window_manager", c, env, dir.join("log/window_manager"), None)
}

/// Starts a part that writes one line to a pipe when it is ready, and waits for the line.
fn with_pipe<'a>(
    step: &str,
    end: Instant,
    late: &impl Fn(&str) -> DesktopError,
    prepare: impl FnOnce(String) -> (Command, &'a DesktopEnv, PathBuf),
) -> Result<(Part, String), DesktopError> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|e| DesktopError::io("make a pipe", &e.into()))?;
    let (command, env, log) = prepare(write.as_raw_fd().to_string());
    let part = start_part(step, command, env, log, Some(&write))?;
    // With our copy closed, the end of the child is the end of the pipe.
    drop(write);
    match readiness::first_line(read, end) {
        Line::Text(text) if !text.is_empty() => Ok((part, text)),
        Line::Late => Err(late(step)),
        _ => Err(DesktopError::failed(step, format!("it ended\n{}", readiness::log_tail(&part.log)))),
    }
}

fn start_part(
    step: &str,
    mut command: Command,
    env: &DesktopEnv,
    log: PathBuf,
    keep: Option<&std::os::fd::OwnedFd>,
) -> Result<Part, DesktopError> {
    let failed = |e: io::Error| DesktopError::failed(step, format!("{}: {e}", command_name(&log)));
    let out = File::options().create(true).append(true).open(&log).map_err(failed)?;
    command.stdin(Stdio::null()).stdout(out.try_clone().map_err(failed)?).stderr(out);
    env.apply(&mut command);
    spawn::close_descriptors(&mut command);
    if let Some(fd) = keep {
        spawn::keep_descriptor(&mut command, fd);
    }
    spawn::die_with_us(&mut command);
    let child = command.spawn().map_err(failed)?;
    let pid = child.id() as i32;
    // A child that has ended already has no token; the pipe or the check that follows says so.
    let process = ProcessRef::of(pid)
        .map_err(|_| DesktopError::failed(step, format!("it ended at once\n{}", readiness::log_tail(&log))))?;
    Ok(Part { process, log })
}

fn command_name(log: &Path) -> String {
    log.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}
