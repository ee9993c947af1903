//! The agent's cursor on an X display: drawn by a process of its own, one for each session and desktop.
//!
//! ```text
//! command ─ overlay_step() ─▶ socket ─▶ renderer ─▶ shaped windows without an input area
//! ```
//! The renderer is this program again, under a hidden sub-command. It ends when it is told to, when nobody has used it for
//! long, when its socket goes, and with its display.

mod cursor;
mod draw;
mod renderer;
mod talk;

pub use renderer::main as renderer_main;

use crate::LinuxPlatform;
use crate::clipboard::start::orphan;
use crate::desktop::environment::{DIRECTORY, MARKER};
use crate::input::talk::{Heard, Lines, say};
use crate::process::spawn;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::{CursorStep, Overlay, Platform as _};
use agent_desktop_core::state::private;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;
use talk::{Answer, Ask, Files, Start};

/// The hidden sub-command of the program that shows cursors.
pub const OVERLAY: &str = "__overlay";

/// How often it is looked whether a renderer has ended.
const POLL: Duration = Duration::from_millis(10);

impl Overlay for LinuxPlatform {
    fn overlay_step(&self, step: &CursorStep, deadline: Deadline) -> Result<(), Error> {
        let files = Files::of(&self.desktop_id()?, &step.session)?;
        let stream = match UnixStream::connect(&files.socket) {
            Ok(stream) => stream,
            Err(_) => {
                start(self, &files, deadline)?;
                UnixStream::connect(&files.socket).map_err(|e| failed("it can't be reached").platform(e.to_string()))?
            }
        };
        match ask(stream, &Ask::Step(step.clone()), deadline)? {
            Answer::There => Ok(()),
            other => Err(failed(&format!("it answered {other:?}"))),
        }
    }

    fn overlay_end(&self, session: &str, deadline: Deadline) -> Result<bool, Error> {
        let files = Files::of(&self.desktop_id()?, session)?;
        let Ok(stream) = UnixStream::connect(&files.socket) else { return Ok(false) };
        ask(stream, &Ask::End, deadline)?;
        // It takes its files along; looking at the lock would make one again.
        while files.alive.exists() && files.no_renderer()?.is_none() {
            if deadline.passed() {
                return Err(failed("it does not end"));
            }
            std::thread::sleep(POLL);
        }
        Ok(true)
    }
}

fn ask(mut stream: UnixStream, ask: &Ask, deadline: Deadline) -> Result<Answer, Error> {
    let gone = |e: std::io::Error| failed("it is gone").platform(e.to_string());
    stream.set_write_timeout(Some(deadline.left().max(POLL))).map_err(gone)?;
    say(&mut stream, ask).map_err(gone)?;
    match Lines::new(stream).next::<Answer>(deadline.instant()) {
        Heard::Line(answer) => Ok(answer),
        Heard::End => Err(failed("it ended")),
        Heard::Nothing => Err(failed("it did not answer in time")),
    }
}

fn start(platform: &LinuxPlatform, files: &Files, deadline: Deadline) -> Result<(), Error> {
    let (display, authority) = platform.display().ok_or_else(|| failed("this desktop has no X display"))?;
    let _starting = private::lock(&files.starting, deadline.left())?;
    // Somebody else may have started one while we waited for the lock.
    if files.no_renderer()?.is_none() {
        return Ok(());
    }
    let mut command = Command::new(platform.program()?);
    command.arg(OVERLAY).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // It lives longer than the command: of the caller's variables it keeps none but those by which a private desktop finds
    // what belongs to it when it ends.
    command.env_clear();
    for name in [MARKER, DIRECTORY] {
        let value = match platform.inside() {
            Some(desktop) => desktop.get(name).map(str::to_owned),
            None => std::env::var(name).ok(),
        };
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    spawn::close_descriptors(&mut command);
    spawn::own_session(&mut command);
    orphan(&mut command);
    let broken = |e: std::io::Error| failed("it can't be started").platform(e.to_string());
    let mut child = command.spawn().map_err(broken)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    // The one between ended at once.
    let _ = child.wait();
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(failed("it has no pipes")) };
    let start =
        Start { files: files.clone(), display: display.to_owned(), authority: authority.map(ToOwned::to_owned) };
    say(&mut stdin, &start).map_err(broken)?;
    match Lines::new(stdout).next::<Answer>(deadline.instant()) {
        Heard::Line(Answer::Here) => Ok(()),
        Heard::Line(Answer::Failed(why)) => Err(failed(&why)),
        _ => Err(failed("it did not come up")),
    }
}

fn failed(why: &str) -> Error {
    Error::before(Code::ActionFailed, format!("the cursor's renderer failed: {why}")).kind("overlay_failed")
}
