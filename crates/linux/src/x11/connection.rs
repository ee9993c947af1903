//! A connection to a local X server that never waits longer than it was allowed to.

use super::error::X11Error;
use super::xauth;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::Screen;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;

/// A stream whose waits end at a deadline with `TimedOut`.
#[derive(Debug)]
pub struct DeadlineStream {
    inner: DefaultStream,
    end: Arc<Mutex<Instant>>,
}

impl Stream for DeadlineStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        let end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            let mut fds = [PollFd::from_borrowed_fd(self.inner.as_fd(), flags)];
            match rustix::event::poll(&mut fds, Some(&timeout)) {
                Ok(0) if left.is_zero() => return Err(io::ErrorKind::TimedOut.into()),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn read(&self, buf: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.inner.read(buf, fds)
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.inner.write(buf, fds)
    }

    fn write_vectored(&self, bufs: &[IoSlice<'_>], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.inner.write_vectored(bufs, fds)
    }
}

impl AsRawFd for DeadlineStream {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

/// A connection to one display.
#[derive(Debug)]
pub struct Connection {
    raw: RustConnection<DeadlineStream>,
    screen: usize,
    end: Arc<Mutex<Instant>>,
}

impl Connection {
    /// x11rb's connection, for requests of any kind.
    pub fn raw(&self) -> &RustConnection<DeadlineStream> {
        &self.raw
    }

    /// The display's screen.
    pub fn screen(&self) -> &Screen {
        // The index was checked when the connection was made.
        &self.raw.setup().roots[self.screen]
    }

    /// The number of the display's screen.
    pub fn screen_number(&self) -> usize {
        self.screen
    }

    /// The root window.
    pub fn root(&self) -> u32 {
        self.screen().root
    }

    /// Until when later requests and replies may take. After a timeout x11rb's connection is not to be used again.
    pub fn set_deadline(&self, end: Instant) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// The socket, for waiting on events together with something else.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.raw.stream().inner.as_fd()
    }
}

/// Connects to a local display such as `:99` or `:0.0`.
///
/// `authority` is the file named by XAUTHORITY; without one, or without a cookie in it for this display, the server is
/// asked without a cookie. Everything, later reads included, ends at `end` until [`Connection::set_deadline`] moves it.
///
/// # Errors
/// `BadDisplay` also for displays of other machines, `NoServer`, `Refused`, `Timeout`.
pub fn connect(display: &str, authority: Option<&Path>, end: Instant) -> Result<Connection, X11Error> {
    let (number, screen) =
        local_display(display).ok_or_else(|| X11Error::BadDisplay { display: display.to_owned() })?;
    let no_server = |e: io::Error| X11Error::NoServer { display: display.to_owned(), reason: e.to_string() };
    let (stream, _) = DefaultStream::from_unix_stream(open_socket(number).map_err(no_server)?).map_err(no_server)?;
    let cookie = authority.and_then(|p| xauth::read_cookie(p, number).ok().flatten());
    let name = if cookie.is_some() { xauth::MAGIC_COOKIE.as_bytes().to_owned() } else { Vec::new() };
    let end = Arc::new(Mutex::new(end));
    let stream = DeadlineStream { inner: stream, end: Arc::clone(&end) };
    let raw = RustConnection::connect_to_stream_with_auth_info(stream, screen, name, cookie.unwrap_or_default())
        .map_err(|e| X11Error::connecting(display, e))?;
    if raw.setup().roots.len() <= screen {
        return Err(X11Error::BadDisplay { display: display.to_owned() });
    }
    Ok(Connection { raw, screen, end })
}

/// The display that these variables name, and the file with its cookie.
pub fn display_of(variable: impl Fn(&str) -> Option<String>) -> Option<(String, Option<PathBuf>)> {
    let set = |name: &str| variable(name).filter(|v| !v.is_empty());
    let authority =
        set("XAUTHORITY").map(PathBuf::from).or_else(|| set("HOME").map(|h| PathBuf::from(h).join(".Xauthority")));
    set("DISPLAY").map(|d| (d, authority))
}

/// The server's socket: the file first, then the abstract name that a server without a writable /tmp uses.
pub(crate) fn open_socket(number: u16) -> io::Result<UnixStream> {
    use std::os::linux::net::SocketAddrExt;
    let path = format!("/tmp/.X11-unix/X{number}");
    UnixStream::connect(&path).or_else(|e| {
        std::os::unix::net::SocketAddr::from_abstract_name(&path)
            .and_then(|a| UnixStream::connect_addr(&a))
            .map_err(|_| e)
    })
}

/// Number and screen of a display of this machine: `:N`, `:N.S`, `unix:N`. `None` for anything else (`host:10.0`).
pub(crate) fn local_display(name: &str) -> Option<(u16, usize)> {
    let (host, rest) = name.rsplit_once(':')?;
    if !(host.is_empty() || host == "unix") {
        return None;
    }
    let (number, screen) = rest.split_once('.').unwrap_or((rest, "0"));
    Some((number.parse().ok()?, screen.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_displays_of_this_machine() {
        assert_eq!(local_display(":0"), Some((0, 0)));
        assert_eq!(local_display(":99.1"), Some((99, 1)));
        assert_eq!(local_display("unix:7"), Some((7, 0)));
        for bad in ["", "0", ":", "localhost:10.0", ":x", ":1.x", "wayland-0", ":70000"] {
            assert_eq!(local_display(bad), None, "{bad}");
        }
    }

    #[test]
    fn errors_are_typed() {
        let end = Instant::now() + Duration::from_secs(1);
        assert!(matches!(connect("nonsense", None, end), Err(X11Error::BadDisplay { .. })));
        assert!(matches!(connect(":64999", None, end), Err(X11Error::NoServer { .. })));
    }
}
