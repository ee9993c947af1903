//! `desktop run -- CMD`: a desktop for one command.

use super::error::DesktopError;
use super::manage::Desktops;
use super::options::StartOptions;
use rustix::process::{Pid, Signal};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

impl Desktops {
    /// Starts a desktop, runs the command in it with our own stdin, stdout and stderr, ends the desktop, and returns the
    /// command's exit code (128 + n when signal n ended it).
    ///
    /// The command stays in our process group, so a terminal's job control reaches it. SIGTERM is passed on to it;
    /// SIGINT, SIGQUIT and SIGHUP as well unless the terminal has sent them to the whole group already. The desktop ends
    /// even when we are killed.
    ///
    /// # Errors
    /// As for [`Desktops::start`], and `Command` when the command can't be executed;
    /// [`DesktopError::run_exit_code`] says with which code to exit then.
    pub fn run(&self, options: &StartOptions, argv: &[OsString]) -> Result<i32, DesktopError> {
        let Some((program, args)) = argv.split_first() else {
            return Err(DesktopError::InvalidOption {
                option: "command".to_owned(),
                reason: "no command was given".to_owned(),
            });
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| DesktopError::io("make a runtime", &e))?;
        let _context = runtime.enter();
        // From here on signals wait for us: a start that was begun is finished and then ended in order.
        let mut signals = Signals::new().map_err(|e| DesktopError::io("listen for signals", &e))?;
        let started = self.start_with(options, true)?;
        let mut command = Command::new(program);
        command.args(args);
        started.env().apply(&mut command);
        let result = match command.spawn() {
            Ok(child) => runtime
                .block_on(signals.wait(child))
                .map(exit_code)
                .map_err(|e| DesktopError::io("wait for the command", &e)),
            Err(e) => Err(DesktopError::Command {
                program: program.to_string_lossy().into_owned(),
                not_found: e.kind() == io::ErrorKind::NotFound,
                reason: e.to_string(),
            }),
        };
        let ended = self.end_started(started);
        // The command's own result is what was asked for; a failed end is told only when there is nothing else to tell.
        match (result, ended) {
            (Ok(code), Err(e)) => {
                tracing::warn!(error = %e, "the desktop did not end in order");
                Ok(code)
            }
            (result, _) => result,
        }
    }

    fn end_started(&self, started: super::Started) -> Result<(), DesktopError> {
        let id = started.id().to_owned();
        drop(started.lifeline);
        match self.stop(&id) {
            // The end of the lifeline was faster.
            Err(DesktopError::NoSuchDesktop { .. }) => Ok(()),
            other => other,
        }
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|n| 128 + n)).unwrap_or(1)
}

struct Signals {
    child: Stream,
    forwarded: [(Signal, Stream); 4],
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            child: signal(SignalKind::child())?,
            forwarded: [
                (Signal::TERM, signal(SignalKind::terminate())?),
                (Signal::INT, signal(SignalKind::interrupt())?),
                (Signal::QUIT, signal(SignalKind::quit())?),
                (Signal::HUP, signal(SignalKind::hangup())?),
            ],
        })
    }

    /// Waits for the child, passing signals on to it.
    async fn wait(&mut self, mut child: Child) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            let [term, int, quit, hup] = &mut self.forwarded;
            let sig = tokio::select! {
                _ = self.child.recv() => continue,
                _ = term.1.recv() => term.0,
                _ = int.1.recv() => int.0,
                _ = quit.1.recv() => quit.0,
                _ = hup.1.recv() => hup.0,
            };
            if sig != Signal::TERM && in_foreground() {
                continue;
            }
            // The child is not collected yet, so the id is still its own.
            if let Some(pid) = Pid::from_raw(child.id() as i32) {
                let _ = rustix::process::kill_process(pid, sig);
            }
        }
    }
}

/// We are in the foreground group of our terminal: what its keys send reaches the command without us, and a second
/// SIGINT means "at once" to many programs.
fn in_foreground() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    rustix::termios::tcgetpgrp(&terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        assert_eq!(exit_code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(exit_code(ExitStatus::from_raw(15)), 143);
        assert_eq!(exit_code(ExitStatus::from_raw(0)), 0);
    }
}
