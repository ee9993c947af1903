//! Signals of a process that must not end before it has released what it pressed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

/// SIGTERM as a descriptor that becomes readable; SIGINT, SIGHUP and SIGPIPE mean nothing from now on.
#[derive(Debug)]
pub struct Termination {
    fd: OwnedFd,
}

impl Termination {
    /// Call it once, on the only thread.
    ///
    /// # Errors
    /// The system's.
    pub fn listen() -> io::Result<Self> {
        // SAFETY: the set is a local value that sigemptyset fills before it is read; the descriptor that signalfd
        // answers with is new and nobody else's.
        unsafe {
            for ignored in [libc::SIGINT, libc::SIGHUP, libc::SIGPIPE] {
                libc::signal(ignored, libc::SIG_IGN);
            }
            let mut set = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTERM);
            if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Self { fd: OwnedFd::from_raw_fd(fd) }) }
        }
    }
}

impl AsFd for Termination {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
