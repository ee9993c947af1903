//! Starting children so that nothing of ours leaks into them.

use rustix::process::{Signal, WaitOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Nothing but descriptors 0, 1 and 2 reaches the child, whatever our own caller left open in us.
///
/// A pipe of the caller that lived on in a desktop's server would keep the caller waiting for its end for ever.
pub fn close_descriptors(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only async-signal-safe calls are made: close_range and fcntl.
    unsafe {
        command.pre_exec(|| {
            mark_all_close_on_exec();
            Ok(())
        })
    }
}

/// Own session: no controlling terminal, no signals from the caller's terminal.
pub fn own_session(command: &mut Command) -> &mut Command {
    // SAFETY: setsid is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        })
    }
}

/// The child gets SIGTERM when the *thread* that starts it ends, so call it on a thread that lives as long as the process.
///
/// SIGTERM and not SIGKILL: the X server then removes its lock file and socket.
pub fn die_with_us(command: &mut Command) -> &mut Command {
    let us = rustix::process::getpid();
    // SAFETY: prctl and getppid are async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            // The parent may have ended before the request was in place.
            if rustix::process::getppid() != Some(us) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(())
        })
    }
}

/// Lets one descriptor through [`close_descriptors`]; call it after that. The child knows it by the same number.
///
/// The caller keeps `fd` open until the child is started.
pub fn keep_descriptor<'a>(command: &'a mut Command, fd: &OwnedFd) -> &'a mut Command {
    let raw = fd.as_raw_fd();
    // SAFETY: fcntl is async-signal-safe; the descriptor is open in the forked copy because the caller keeps it open.
    unsafe {
        command.pre_exec(move || {
            rustix::io::fcntl_setfd(BorrowedFd::borrow_raw(raw), rustix::io::FdFlags::empty())?;
            Ok(())
        })
    }
}

fn mark_all_close_on_exec() {
    // SAFETY: no memory is passed; the call changes flags of descriptors only.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 {
        return;
    }
    // Kernels before 5.11.
    for raw in 3..4096 as RawFd {
        // SAFETY: a number that isn't open answers EBADF.
        let _ = rustix::io::fcntl_setfd(unsafe { BorrowedFd::borrow_raw(raw) }, rustix::io::FdFlags::CLOEXEC);
    }
}

/// Waits until the process has ended (a zombie has) or the time is over. `true`: it has ended.
///
/// If it was our own child it is collected as well.
pub fn wait_gone(pid: i32, limit: Duration) -> bool {
    let Some(p) = rustix::process::Pid::from_raw(pid) else { return true };
    let ended = match rustix::process::pidfd_open(p, rustix::process::PidfdFlags::empty()) {
        Ok(fd) => poll_readable(fd.as_fd(), Instant::now() + limit).unwrap_or(false),
        Err(rustix::io::Errno::SRCH) => true,
        // No pidfds here: ask again and again.
        Err(_) => {
            let end = Instant::now() + limit;
            loop {
                match super::stat::read(pid) {
                    Ok(s) if !s.is_dead() => {}
                    _ => break true,
                }
                if Instant::now() >= end {
                    break false;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    };
    if ended {
        collect(pid);
    }
    ended
}

/// Collects the process if it is an ended child of ours; anything else is left alone.
pub fn collect(pid: i32) {
    if let Some(p) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::waitpid(Some(p), WaitOptions::NOHANG);
    }
}

/// Waits until the descriptor is readable or at its end (`true`), or the time is over (`false`).
pub fn poll_readable(fd: BorrowedFd<'_>, end: Instant) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(e) => return Err(e.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn only_what_is_kept_reaches_the_child() {
        let (_r1, leaked) = rustix::pipe::pipe().unwrap();
        let (_r2, kept) = rustix::pipe::pipe().unwrap();
        let mut c = Command::new("sh");
        // The shell's own list: /proc/self would be that of a further child.
        c.args(["-c", "echo /proc/$$/fd/*"]).stdin(Stdio::null());
        close_descriptors(&mut c);
        keep_descriptor(&mut c, &kept);
        let out = String::from_utf8(c.output().unwrap().stdout).unwrap();
        let has = |fd: &OwnedFd| out.split_whitespace().any(|p| p.ends_with(&format!("/fd/{}", fd.as_raw_fd())));
        assert!(has(&kept), "{out}");
        assert!(!has(&leaked), "{out}");
    }

    #[test]
    fn waits_for_the_end_and_gives_up_in_time() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(!wait_gone(pid, Duration::from_millis(20)));
        child.kill().unwrap();
        assert!(wait_gone(pid, Duration::from_secs(10)));
        assert!(wait_gone(pid, Duration::ZERO));
        // Collected already; the handle only has to be told.
        let _ = child.wait();
    }
}
