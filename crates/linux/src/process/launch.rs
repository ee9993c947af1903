//! Finding an application and starting it so that it publishes its tree and outlives us.

use super::desktop_entry::{self, Entry};
use super::{Token, chromium, spawn};
use crate::desktop::DesktopEnv;
use crate::desktop::programs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, io};

/// Why an application can't be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchError {
    /// Nothing has that id, name, program name or path.
    NotFound {
        /// What was asked for.
        query: String,
    },
    /// Several entries have that display name.
    Ambiguous {
        /// What was asked for.
        query: String,
        /// Their ids; each can be launched by it.
        candidates: Vec<String>,
    },
    /// The entry is there, but its program isn't installed.
    MissingProgram {
        /// The program.
        program: String,
        /// The entry.
        entry: String,
    },
    /// The entry can't be used.
    BadEntry {
        /// The entry.
        entry: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The path is no executable file.
    NotExecutable {
        /// The path.
        path: String,
    },
    /// The working directory isn't one.
    BadDirectory {
        /// The path.
        path: String,
    },
    /// The system refused to start it.
    Spawn {
        /// The program.
        program: String,
        /// The system's words.
        reason: String,
    },
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::NotFound { query } => write!(f, "no application {query:?}"),
            LaunchError::Ambiguous { query, candidates } => {
                write!(f, "several applications are called {query:?}: {}", candidates.join(", "))
            }
            LaunchError::MissingProgram { program, entry } => {
                write!(f, "{program:?}, which {entry} starts, is not installed")
            }
            LaunchError::BadEntry { entry, reason } => write!(f, "desktop entry {entry}: {reason}"),
            LaunchError::NotExecutable { path } => write!(f, "{path:?} is not an executable file"),
            LaunchError::BadDirectory { path } => write!(f, "{path:?} is not a directory"),
            LaunchError::Spawn { program, reason } => write!(f, "can't start {program:?}: {reason}"),
        }
    }
}

impl std::error::Error for LaunchError {}

/// What would be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The executable file.
    pub program: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<String>,
    /// Working directory that the entry asks for.
    pub directory: Option<PathBuf>,
    /// The desktop entry's id.
    pub entry_id: Option<String>,
    /// The entry's display name, else the program's name.
    pub name: String,
}

/// How to start it.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    /// Variables to set, after everything else.
    pub env: BTreeMap<String, String>,
    /// Working directory; else the entry's, else the home directory inside.
    pub directory: Option<PathBuf>,
    /// The private desktop to start it in; else the session of our own environment.
    pub desktop: Option<DesktopEnv>,
}

/// Finds an application: a path (anything with `/`), a desktop-entry id (with or without `.desktop`), a display name
/// without case, an executable on PATH; the first way that finds something counts. `args` are added to its own arguments.
///
/// `entries` are those of [`desktop_entry::all`].
///
/// # Errors
/// `NotFound`, `Ambiguous`, `MissingProgram`, `BadEntry`, `NotExecutable`.
pub fn find(query: &str, args: &[String], entries: &BTreeMap<String, Entry>) -> Result<Plan, LaunchError> {
    if query.contains('/') {
        return by_path(Path::new(query), args);
    }
    let id = query.strip_suffix(".desktop").unwrap_or(query);
    // Ids are compared as they are first: two may differ by case only.
    let by_id = entries.get(id).or_else(|| entries.values().find(|e| e.id.eq_ignore_ascii_case(id)));
    if let Some(entry) = by_id {
        return by_entry(entry, args);
    }
    let mut named: Vec<&Entry> = entries.values().filter(|e| e.is_named(query)).collect();
    // An entry that no menu shows counts only when no other has the name.
    if named.iter().any(|e| !e.no_display) {
        named.retain(|e| !e.no_display);
    }
    match named.as_slice() {
        [] => {}
        [entry] => return by_entry(entry, args),
        several => {
            return Err(LaunchError::Ambiguous {
                query: query.to_owned(),
                candidates: several.iter().map(|e| e.id.clone()).collect(),
            });
        }
    }
    let not_found = || LaunchError::NotFound { query: query.to_owned() };
    let program = if query.is_empty() { None } else { programs::find(query) }.ok_or_else(not_found)?;
    Ok(plan(program, args.to_vec(), query.to_owned()))
}

fn plan(program: PathBuf, args: Vec<String>, name: String) -> Plan {
    Plan { program, args, directory: None, entry_id: None, name }
}

fn by_path(path: &Path, args: &[String]) -> Result<Plan, LaunchError> {
    let shown = path.display().to_string();
    if path.extension().is_some_and(|e| e == "desktop") {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(path).map_err(|_| LaunchError::NotFound { query: shown.clone() })?;
        let entry = desktop_entry::parse(&id, path, &String::from_utf8_lossy(&bytes));
        let reason = "it does not describe an application".to_owned();
        return by_entry(&entry.ok_or(LaunchError::BadEntry { entry: shown, reason })?, args);
    }
    if !path.exists() {
        return Err(LaunchError::NotFound { query: shown });
    }
    if !programs::is_executable(path) {
        return Err(LaunchError::NotExecutable { path: shown });
    }
    // A relative path would be looked for in the new working directory.
    let program = std::path::absolute(path).map_err(|_| LaunchError::NotExecutable { path: shown })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(plan(program, args.to_vec(), name))
}

fn by_entry(entry: &Entry, args: &[String]) -> Result<Plan, LaunchError> {
    let bad = |reason: String| LaunchError::BadEntry { entry: entry.id.clone(), reason };
    let missing = |program: &str| LaunchError::MissingProgram { program: program.to_owned(), entry: entry.id.clone() };
    if entry.terminal {
        return Err(bad("it runs in a terminal and has no window of its own".to_owned()));
    }
    if let Some(needed) = entry.try_exec.as_deref().filter(|p| locate(p).is_none()) {
        return Err(missing(needed));
    }
    let mut line = desktop_entry::command_line(entry, args).map_err(bad)?.into_iter();
    let program = line.next().unwrap_or_default();
    Ok(Plan {
        program: locate(&program).ok_or_else(|| missing(&program))?,
        args: line.collect(),
        directory: entry.working_directory.clone(),
        entry_id: Some(entry.id.clone()),
        name: entry.name.clone(),
    })
}

fn locate(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        Some(PathBuf::from(program)).filter(|p| programs::is_executable(p))
    } else {
        programs::find(program)
    }
}

/// A started application.
#[derive(Debug)]
pub struct Launched {
    /// Its process id. Wrappers may start another process that has the windows.
    pub pid: i32,
    /// Its generation; `None` when it had ended before it could be read.
    pub token: Option<Token>,
    /// The arguments with what was added.
    pub args: Vec<String>,
    child: std::process::Child,
}

impl Launched {
    /// How it ended, if it has. Exit code 0 soon after the start often means that a running instance took over.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for an early end; `None`: it still runs when the time is over.
    pub fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + limit;
        let pid = rustix::process::Pid::from_raw(self.pid)?;
        match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            Ok(fd) => {
                use std::os::fd::AsFd;
                let _ = spawn::poll_readable(fd.as_fd(), end);
            }
            Err(_) => {
                while self.ended().is_none() && Instant::now() < end {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        self.ended()
    }
}

/// Starts it: own session, no descriptor of ours, nothing on its standard streams, accessibility switched on for its
/// toolkit. It outlives us.
///
/// # Errors
/// `Spawn`, `BadDirectory`.
pub fn launch(plan: &Plan, options: &LaunchOptions) -> Result<Launched, LaunchError> {
    let root = rustix::process::geteuid().is_root();
    // Before the entry's own arguments: after them they could be taken for a document.
    let mut args = chromium::extra_arguments(&plan.program, &plan.args, root);
    args.extend(plan.args.iter().cloned());
    let mut command = Command::new(&plan.program);
    command.args(&args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(desktop) = &options.desktop {
        desktop.apply(&mut command);
    }
    for (name, value) in ACCESSIBLE {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.envs(&options.env);
    if let Some(directory) = directory(plan, options) {
        if !directory.is_dir() {
            return Err(LaunchError::BadDirectory { path: directory.display().to_string() });
        }
        command.current_dir(directory);
    }
    spawn::close_descriptors(&mut command);
    spawn::own_session(&mut command);
    let child = command.spawn().map_err(|e: io::Error| LaunchError::Spawn {
        program: plan.program.display().to_string(),
        reason: e.to_string(),
    })?;
    let pid = child.id() as i32;
    Ok(Launched { pid, token: Token::of(pid).ok(), args, child })
}

/// What decides whether a toolkit publishes its tree. `AT_SPI_BUS_ADDRESS` keeps Qt 6.4 from registering; the two before
/// it switch GTK 3 and GTK 4 off; a stale starter's variables would name the wrong entry.
const ACCESSIBLE: [(&str, Option<&str>); 7] = [
    ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", Some("1")),
    ("QT_ACCESSIBILITY", Some("1")),
    ("NO_AT_BRIDGE", None),
    ("GTK_A11Y", None),
    ("AT_SPI_BUS_ADDRESS", None),
    ("GIO_LAUNCHED_DESKTOP_FILE", None),
    ("GIO_LAUNCHED_DESKTOP_FILE_PID", None),
];

fn directory(plan: &Plan, options: &LaunchOptions) -> Option<PathBuf> {
    let inside = options.desktop.as_ref().and_then(|d| d.get("HOME")).map(PathBuf::from);
    options.directory.clone().or_else(|| plan.directory.clone()).or(inside)
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
