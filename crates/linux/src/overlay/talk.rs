//! What is said between a command and the renderer: lines of JSON; and the files by which they find each other.

use agent_desktop_core::act::lease;
use agent_desktop_core::error::Error;
use agent_desktop_core::platform::CursorStep;
use agent_desktop_core::state::private;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// What a renderer is started with: the first line of its input.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    /// Its files.
    pub files: Files,
    /// The display.
    pub display: String,
    /// The file with its cookie.
    pub authority: Option<PathBuf>,
}

/// What is asked of a renderer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Show a cursor and take it somewhere.
    Step(CursorStep),
    /// End.
    End,
}

/// What it answers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is up.
    Here,
    /// The cursor is where it was sent.
    There,
    /// It ends.
    Ending,
    /// It can't.
    Failed(String),
}

/// The files of one session's renderer on one desktop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Files {
    /// Its socket.
    pub socket: PathBuf,
    /// Locked by it as long as it lives, however it ends.
    pub alive: PathBuf,
    /// Locked while one is being started.
    pub starting: PathBuf,
}

impl Files {
    /// The files of this session on the desktop with this id.
    ///
    /// # Errors
    /// Where the runtime directory can't be used.
    pub fn of(desktop: &str, session: &str) -> Result<Self, Error> {
        // A blank stands in no id: other pairs have other names.
        let file = |extension| lease::file_of("overlay", &format!("{session} {desktop}"), extension);
        Ok(Self { socket: file("sock")?, alive: file("alive")?, starting: file("lock")? })
    }

    /// Removes them, at the end of the renderer that has them: sessions come and go, and each has files of its own. Whoever
    /// comes in that moment starts another renderer, and of two the one whose socket is gone ends.
    pub fn remove(&self) {
        for path in [&self.socket, &self.starting, &self.alive] {
            let _ = std::fs::remove_file(path);
        }
    }

    /// The proof that no renderer lives, as long as it is kept.
    ///
    /// # Errors
    /// Where the file can't be opened or locked.
    pub fn no_renderer(&self) -> Result<Option<File>, Error> {
        let file = private::lock_file(&self.alive)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(private::io_error("lock the file of the overlay", &self.alive, &e)),
        }
    }
}
