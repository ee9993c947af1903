//! Start, list, stop and sweep: what the `desktop` commands do.

use super::ending;
use super::environment::DesktopEnv;
use super::error::DesktopError;
use super::options::{Request, StartOptions};
use super::programs;
use super::readiness::{self, Line};
use super::record::{self, ProcessRef, Record};
use super::runtime_dir::RuntimeDir;
use super::supervisor::Report;
use crate::process::spawn;
use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs::File, io};

/// How long a stop waits for the supervisor before it is killed: its own graces and a reserve.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// After this time a directory that was never published is a leftover.
const UNPUBLISHED_LIMIT: Duration = Duration::from_secs(120);

/// The private desktops of this user.
#[derive(Debug, Clone)]
pub struct Desktops {
    dir: RuntimeDir,
}

/// A desktop that was started.
#[derive(Debug)]
pub struct Started {
    /// Everything about it.
    pub record: Record,
    /// For a desktop that lives only as long as its starter: dropping this ends the desktop.
    pub(crate) lifeline: Option<OwnedFd>,
}

impl Started {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// What programs in it get.
    pub fn env(&self) -> &DesktopEnv {
        &self.record.env
    }
}

/// One row of [`Desktops::list`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Listed {
    /// Being started.
    Starting {
        /// Its id.
        id: String,
    },
    /// Running.
    Running(Box<Record>),
}

impl Listed {
    /// The desktop's id.
    pub fn id(&self) -> &str {
        match self {
            Listed::Starting { id } => id,
            Listed::Running(r) => &r.id,
        }
    }
}

impl Desktops {
    /// Those in the user's own directory.
    ///
    /// # Errors
    /// `PermissionDenied` when the directory can't be trusted.
    pub fn for_user() -> Result<Desktops, DesktopError> {
        Desktops::below(&RuntimeDir::for_user()?)
    }

    /// Those in `desktops/` of another directory. Calls for one directory never touch desktops of another.
    pub fn below(runtime: &RuntimeDir) -> Result<Desktops, DesktopError> {
        Ok(Desktops { dir: runtime.subdir("desktops")? })
    }

    /// Starts a desktop and returns when it is ready. It lives until it is stopped.
    ///
    /// # Errors
    /// `MissingProgram`, `PermissionDenied`, `InvalidOption`, `StartFailed`, `StartTimeout`, `Io`. After an error
    /// nothing of it is left.
    pub fn start(&self, options: &StartOptions) -> Result<Started, DesktopError> {
        self.start_with(options, false)
    }

    pub(crate) fn start_with(&self, options: &StartOptions, lifeline: bool) -> Result<Started, DesktopError> {
        self.sweep()?;
        // Asked here as well, so that the most frequent refusal costs no process.
        programs::require(programs::DISPLAY_SERVER)?;
        programs::require(programs::BUS)?;
        programs::window_manager(&options.window_manager)?;
        let id = self.publish(options, lifeline)?;
        self.spawn(&id, options, lifeline).inspect_err(|_| {
            let _ = self.end(&id);
        })
    }

    /// Makes the directory with its request and owner under a hidden name, then gives it its id: a sweep that runs at the
    /// same time sees a complete directory or none.
    fn publish(&self, options: &StartOptions, lifeline: bool) -> Result<String, DesktopError> {
        let io = |doing: &str| {
            let doing = format!("{doing} in {}", self.dir.path().display());
            move |e: io::Error| DesktopError::io(doing, &e)
        };
        let id = record::new_id()?;
        let hidden = self.dir.path().join(format!(".new-{id}"));
        std::fs::DirBuilder::new().mode(0o700).create(&hidden).map_err(io("make a directory"))?;
        let request = Request {
            id: id.clone(),
            geometry: options.geometry,
            window_manager: options.window_manager.clone(),
            home: options.home,
            limit_ms: u64::try_from(options.limit.as_millis()).unwrap_or(u64::MAX),
            lifeline,
        };
        let made = ProcessRef::own()
            .map_err(io("read our own process"))
            .and_then(|own| record::store(&hidden, record::OWNER, &own))
            .and_then(|()| record::store(&hidden, record::REQUEST, &request))
            // A directory of that name would have to be empty to be replaced, and none is.
            .and_then(|()| std::fs::rename(&hidden, self.dir.path().join(&id)).map_err(io("publish a directory")));
        match made {
            Ok(()) => Ok(id),
            Err(e) => {
                let _ = std::fs::remove_dir_all(&hidden);
                Err(e)
            }
        }
    }

    fn spawn(&self, id: &str, options: &StartOptions, lifeline: bool) -> Result<Started, DesktopError> {
        let failed =
            |e: io::Error| DesktopError::failed("supervisor", format!("{}: {e}", options.supervisor.program.display()));
        let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|e| failed(e.into()));
        let dir = self.dir.path().join(id);
        let log = File::options().create(true).append(true).open(dir.join("supervisor.log")).map_err(failed)?;
        let (report, report_end) = pipe()?;
        let (lifeline_end, keeper) = pipe()?;
        let mut command = Command::new(&options.supervisor.program);
        command.args(&options.supervisor.args).arg(&dir).current_dir("/");
        command.stdin(if lifeline { Stdio::from(lifeline_end) } else { Stdio::null() });
        command.stdout(report_end).stderr(log);
        spawn::close_descriptors(&mut command);
        let child = command.spawn().map_err(failed)?;
        let pid = child.id() as i32;
        // The command holds our copy of the pipe's other end.
        drop(command);
        // The supervisor keeps to the limit itself and then needs time to clean up.
        let line = readiness::first_line(report, Instant::now() + options.limit + STOP_LIMIT);
        let report = match &line {
            Line::Text(text) => serde_json::from_str::<Report>(text).ok(),
            _ => None,
        };
        match report {
            Some(Report::Ready(record)) => Ok(Started { record: *record, lifeline: lifeline.then_some(keeper) }),
            Some(Report::Failed(e)) => {
                spawn::wait_gone(pid, STOP_LIMIT);
                Err(e)
            }
            None => {
                let tail = readiness::log_tail(&dir.join("supervisor.log"));
                if line == Line::Late {
                    if let Ok(p) = ProcessRef::of(pid) {
                        ending::signal_process(&p, rustix::process::Signal::KILL);
                    }
                    spawn::wait_gone(pid, STOP_LIMIT);
                    let limit_ms = u64::try_from(options.limit.as_millis()).unwrap_or(u64::MAX);
                    return Err(DesktopError::StartTimeout { step: "supervisor".to_owned(), limit_ms });
                }
                spawn::wait_gone(pid, STOP_LIMIT);
                Err(DesktopError::failed("supervisor", format!("it ended without a report\n{tail}")))
            }
        }
    }

    /// All desktops, sorted by id, after a sweep.
    pub fn list(&self) -> Result<Vec<Listed>, DesktopError> {
        self.sweep()?;
        let mut rows: Vec<Listed> = self
            .ids()?
            .into_iter()
            .map(|id| match record::load::<Record>(&self.dir.path().join(&id), record::READY) {
                Some(r) => Listed::Running(Box::new(r)),
                None => Listed::Starting { id },
            })
            .collect();
        rows.sort_by(|a, b| a.id().cmp(b.id()));
        Ok(rows)
    }

    /// A running desktop by its id, without a sweep: this is what every command with a desktop asks.
    ///
    /// # Errors
    /// `NoSuchDesktop` also when its supervisor has died; `NotReady` while it is being started.
    pub fn get(&self, id: &str) -> Result<Record, DesktopError> {
        let unknown = || DesktopError::NoSuchDesktop { id: id.to_owned() };
        if !record::is_id(id) {
            return Err(unknown());
        }
        let dir = self.dir.path().join(id);
        let owner: ProcessRef = record::load(&dir, record::OWNER).ok_or_else(unknown)?;
        if owner.is_dead() {
            return Err(unknown());
        }
        record::load(&dir, record::READY).ok_or_else(|| DesktopError::NotReady { id: id.to_owned() })
    }

    /// The environment of a running desktop. Errors as for [`Desktops::get`].
    pub fn env_of(&self, id: &str) -> Result<DesktopEnv, DesktopError> {
        Ok(self.get(id)?.env)
    }

    /// Ends a desktop with all its processes and returns when nothing is left of it.
    ///
    /// # Errors
    /// `NoSuchDesktop`, `StopFailed`.
    pub fn stop(&self, id: &str) -> Result<(), DesktopError> {
        self.sweep()?;
        if !record::is_id(id) || !self.dir.path().join(id).is_dir() {
            return Err(DesktopError::NoSuchDesktop { id: id.to_owned() });
        }
        self.end(id)
    }

    fn end(&self, id: &str) -> Result<(), DesktopError> {
        let dir = self.dir.path().join(id);
        let owner: Option<ProcessRef> = record::load(&dir, record::OWNER);
        // While it is being started the owner may still be the starter, which is us or will see the end itself.
        let us = std::process::id() as i32;
        if let Some(owner) = owner.filter(|o| o.pid != us && !o.is_dead()) {
            // If we sit in the desktop ourselves, we are spared until we have answered.
            if let Ok(own) = ProcessRef::own() {
                let _ = record::store(&dir, record::STOPPER, &own);
            }
            ending::signal_process(&owner, rustix::process::Signal::TERM);
            if !spawn::wait_gone(owner.pid, STOP_LIMIT) {
                ending::signal_process(&owner, rustix::process::Signal::KILL);
                spawn::wait_gone(owner.pid, STOP_LIMIT);
            }
        }
        let survivors = ending::clear(self.dir.path(), id);
        if survivors.is_empty() && !dir.exists() {
            return Ok(());
        }
        let reason = if dir.exists() { "its directory can't be removed" } else { "processes outlived SIGKILL" };
        Err(DesktopError::StopFailed { id: id.to_owned(), survivors, reason: reason.to_owned() })
    }

    /// Clears away what killed supervisors left: directories, processes that carry their mark, locks of the X server.
    /// Returns the ids that were cleared.
    pub fn sweep(&self) -> Result<Vec<String>, DesktopError> {
        let mut cleared = Vec::new();
        for id in self.ids()? {
            let dir = self.dir.path().join(&id);
            let owner: Option<ProcessRef> = record::load(&dir, record::OWNER);
            // A directory is published with its owner: without one it is being removed or was damaged.
            if owner.as_ref().is_none_or(ProcessRef::is_dead) {
                if let Some(o) = owner {
                    spawn::collect(o.pid);
                }
                ending::clear(self.dir.path(), &id);
                cleared.push(id);
            }
        }
        // Marked processes whose directory is gone altogether.
        for (_, id) in ending::marked(self.dir.path()) {
            if record::is_id(&id) && !cleared.contains(&id) && !self.dir.path().join(&id).exists() {
                ending::clear(self.dir.path(), &id);
                cleared.push(id);
            }
        }
        self.remove_hidden();
        Ok(cleared)
    }

    /// Directories that were being made or removed by a process that was killed meanwhile.
    fn remove_hidden(&self) {
        let Ok(entries) = std::fs::read_dir(self.dir.path()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !(name.starts_with(".new-") || name.starts_with(".dead-")) {
                continue;
            }
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|m| m.elapsed().ok());
            if age.is_some_and(|a| a > UNPUBLISHED_LIMIT) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    fn ids(&self) -> Result<Vec<String>, DesktopError> {
        let entries = std::fs::read_dir(self.dir.path())
            .map_err(|e| DesktopError::io(format!("read {}", self.dir.path().display()), &e))?;
        Ok(entries.flatten().filter_map(|e| e.file_name().into_string().ok()).filter(|n| record::is_id(n)).collect())
    }
}
