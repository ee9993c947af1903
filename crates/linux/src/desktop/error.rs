//! What can go wrong with a private desktop, with the facts a caller needs to say it.

use serde::{Deserialize, Serialize};
use std::{fmt, io, path::Path};

/// Failure of a desktop command. It travels from the supervisor to the starter as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DesktopError {
    /// A program that the desktop is made of isn't installed.
    MissingProgram {
        /// Name of the executable.
        program: String,
        /// Debian's and Ubuntu's package that holds it.
        package: String,
    },
    /// A directory of ours can't be trusted or used: somebody else's, a link, open to others.
    PermissionDenied {
        /// The directory.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No desktop of this user has that id.
    NoSuchDesktop {
        /// The id that was asked for.
        id: String,
    },
    /// The desktop exists but hasn't finished starting.
    NotReady {
        /// Its id.
        id: String,
    },
    /// A value that can't be used, for instance a screen size.
    InvalidOption {
        /// Which option.
        option: String,
        /// What was wrong.
        reason: String,
    },
    /// A part of the desktop ended or refused while it was started.
    StartFailed {
        /// Which part: `display`, `bus`, `accessibility`, `window_manager`, `supervisor`.
        step: String,
        /// What happened, with the last lines of that part's log.
        reason: String,
    },
    /// A part of the desktop was not ready in time.
    StartTimeout {
        /// Which part, as in `StartFailed`.
        step: String,
        /// The whole start's limit in milliseconds.
        limit_ms: u64,
    },
    /// Something outlived the stop.
    StopFailed {
        /// The desktop.
        id: String,
        /// Process ids that are still there.
        survivors: Vec<i32>,
        /// What could not be done.
        reason: String,
    },
    /// `run`: the command can't be executed.
    Command {
        /// The program as given.
        program: String,
        /// No such file.
        not_found: bool,
        /// The system's words.
        reason: String,
    },
    /// Any other failure of the system.
    Io {
        /// What was being done.
        doing: String,
        /// The system's words.
        reason: String,
    },
}

impl DesktopError {
    /// Wraps an error of the system with what was being done.
    pub(crate) fn io(doing: impl Into<String>, error: &io::Error) -> DesktopError {
        DesktopError::Io { doing: doing.into(), reason: error.to_string() }
    }

    pub(crate) fn denied(path: &Path, reason: impl Into<String>) -> DesktopError {
        DesktopError::PermissionDenied { path: path.display().to_string(), reason: reason.into() }
    }

    pub(crate) fn failed(step: &str, reason: impl Into<String>) -> DesktopError {
        DesktopError::StartFailed { step: step.to_owned(), reason: reason.into() }
    }

    /// Exit code of `desktop run` for this failure: 127 no such command, 126 it can't be executed, 125 the desktop itself.
    pub fn run_exit_code(&self) -> i32 {
        match self {
            DesktopError::Command { not_found: true, .. } => 127,
            DesktopError::Command { .. } => 126,
            _ => 125,
        }
    }
}

impl fmt::Display for DesktopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DesktopError::MissingProgram { program, package } => {
                write!(f, "{program} is not installed (package {package})")
            }
            DesktopError::PermissionDenied { path, reason } => write!(f, "{path} can't be used: {reason}"),
            DesktopError::NoSuchDesktop { id } => write!(f, "there is no desktop {id:?}"),
            DesktopError::NotReady { id } => write!(f, "desktop {id} is still starting"),
            DesktopError::InvalidOption { option, reason } => write!(f, "{option}: {reason}"),
            DesktopError::StartFailed { step, reason } => write!(f, "the desktop did not start: {step}: {reason}"),
            DesktopError::StartTimeout { step, limit_ms } => {
                write!(f, "the desktop did not start: {step} was not ready within {limit_ms} ms")
            }
            DesktopError::StopFailed { id, survivors, reason } => {
                write!(f, "desktop {id} did not end: {reason} (processes left: {survivors:?})")
            }
            DesktopError::Command { program, reason, .. } => write!(f, "can't execute {program:?}: {reason}"),
            DesktopError::Io { doing, reason } => write!(f, "{doing}: {reason}"),
        }
    }
}

impl std::error::Error for DesktopError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_the_pipe() {
        let e = DesktopError::MissingProgram { program: "Xvfb".into(), package: "xvfb".into() };
        let text = serde_json::to_string(&e).unwrap();
        assert!(text.contains("\"missing_program\""));
        assert_eq!(serde_json::from_str::<DesktopError>(&text).unwrap(), e);
        assert_eq!(e.run_exit_code(), 125);
    }
}
