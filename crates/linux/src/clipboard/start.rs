//! Starting the owner: detached from everything of ours, and believed only when it says that it has the clipboard.

use super::{OWNER, frame, no_display};
use crate::desktop::DesktopEnv;
use crate::desktop::environment::{DIRECTORY, MARKER};
use crate::process::spawn;
use crate::x11::X11Error;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery, Error};
use agent_desktop_core::platform::Clip;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

/// Longest acknowledgement.
const MAX_LINE: u64 = 4_096;

/// What the owner says once, as one line of JSON.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ack {
    /// It owns the clipboard, read back from the server.
    Owned {
        /// Its process.
        pid: u32,
    },
    /// Somebody else took the clipboard at the same time.
    Replaced,
    /// It never had it.
    Failed {
        /// Where: `content`, `connect`, `own`.
        step: String,
        /// The system's words.
        reason: String,
    },
}

impl Ack {
    /// The line, without its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Starts an owner of this content and waits until it has the clipboard.
pub fn start(
    program: &Path,
    (display, authority): (&str, Option<&Path>),
    inside: Option<&DesktopEnv>,
    clip: &Clip,
    deadline: Deadline,
) -> Result<(), Error> {
    let failed = |e: io::Error| {
        Error::before(Code::ActionFailed, "the process that would own the clipboard could not be started")
            .kind("clipboard_owner_failed")
            .platform(e.to_string())
    };
    let mut command = Command::new(program);
    command.arg(OWNER).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // It may live for days: of the caller's variables it keeps none that it doesn't need.
    command.env_clear().env("DISPLAY", display);
    if let Some(authority) = authority {
        command.env("XAUTHORITY", authority);
    }
    // By these a private desktop finds what belongs to it when it ends.
    for name in [MARKER, DIRECTORY] {
        let value = match inside {
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
    let mut child = command.spawn().map_err(failed)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    // The one between ended at once.
    let _ = child.wait();
    let (Some(input), Some(output)) = (input, output) else {
        return Err(failed(io::ErrorKind::BrokenPipe.into()));
    };
    // A failed write says only that it ended: its own words come on the other pipe.
    let _ = send(clip, input, deadline);
    let mut line = Vec::new();
    let mut output = output;
    loop {
        match spawn::poll_readable(output.as_fd(), deadline.instant()) {
            Ok(true) => {}
            Ok(false) => return Err(uncertain("the process that is to own the clipboard said nothing in time")),
            Err(e) => return Err(uncertain("its pipe broke").platform(e.to_string())),
        }
        let mut some = [0; 512];
        match output.read(&mut some) {
            Ok(0) => break,
            Ok(n) => line.extend_from_slice(&some[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(uncertain("its pipe broke").platform(e.to_string())),
        }
        if line.contains(&b'\n') || line.len() as u64 > MAX_LINE {
            break;
        }
    }
    match serde_json::from_slice(&line) {
        Ok(Ack::Owned { .. }) => Ok(()),
        Ok(Ack::Replaced) => Err(Error::new(
            Code::ActionFailed,
            Delivery::DeliveryUncertain,
            "somebody else took the clipboard at the same time",
        )
        .kind("clipboard_replaced")
        .suggest("Read the clipboard before setting it again.")),
        Ok(Ack::Failed { step, reason }) if step == "connect" => Err(no_display(&X11Error::Disconnected { reason })),
        Ok(Ack::Failed { step, reason }) => {
            let error =
                if step == "content" { failed(io::ErrorKind::BrokenPipe.into()) } else { uncertain("it failed") };
            Err(error.platform(reason))
        }
        Err(_) => Err(uncertain("the process that is to own the clipboard ended without a word")),
    }
}

/// Writes the content, no longer than until the deadline: an owner that was stopped reads nothing.
fn send(clip: &Clip, input: ChildStdin, deadline: Deadline) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&input)?;
    rustix::fs::fcntl_setfl(&input, flags | OFlags::NONBLOCK)?;
    frame::write(clip, io::BufWriter::new(Until { input, deadline }))
}

struct Until {
    input: ChildStdin,
    deadline: Deadline,
}

impl Write for Until {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.input.write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            let left = self.deadline.left();
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            let mut fds = [PollFd::from_borrowed_fd(self.input.as_fd(), PollFlags::OUT)];
            match poll(&mut fds, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn uncertain(what: &str) -> Error {
    Error::new(Code::ActionFailed, Delivery::DeliveryUncertain, format!("the clipboard may not be set: {what}"))
        .kind("clipboard_owner_failed")
        .suggest("Read the clipboard before setting it again.")
}

/// The started process is no child of ours but of the one that adopts orphans: a caller that lives long collects
/// nothing, and its end takes nothing along.
pub(crate) fn orphan(command: &mut Command) {
    // SAFETY: between fork and exec only async-signal-safe calls are made: fork and _exit.
    unsafe {
        command.pre_exec(|| match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(()),
            _ => libc::_exit(0),
        })
    };
}
