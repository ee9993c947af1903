//! Which standard streams the caller left open. Rust's start-up opens `/dev/null` in the place of a closed one: a closed
//! standard input would then read as an empty text, and an answer would vanish as if it had been written.

/// Whether standard input is open.
pub fn input_is_open() -> bool {
    was_open(0)
}

/// Whether standard output is open.
pub fn output_is_open() -> bool {
    was_open(1)
}

#[cfg(target_os = "linux")]
mod before_start {
    use std::sync::atomic::{AtomicU8, Ordering};

    /// A bit for each of the first three descriptors that was closed when the program was loaded.
    static CLOSED: AtomicU8 = AtomicU8::new(0);

    /// Run by the loader before Rust's own start-up, which would hide what was closed.
    // SAFETY: the section holds pointers to functions of this type, called once, before any other thread exists.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for fd in 0..3 {
            // SAFETY: the descriptor is only asked for its flags; one that is closed answers with an error.
            let fd_is_open = rustix::io::fcntl_getfd(unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) }).is_ok();
            if !fd_is_open {
                CLOSED.fetch_or(1 << fd, Ordering::Relaxed);
            }
        }
    }

    pub fn was_open(fd: u8) -> bool {
        CLOSED.load(Ordering::Relaxed) & (1 << fd) == 0
    }
}
#[cfg(target_os = "linux")]
use before_start::was_open;

#[cfg(not(target_os = "linux"))]
fn was_open(_: u8) -> bool {
    true
}
