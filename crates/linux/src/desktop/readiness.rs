//! When is a part of the desktop ready? Each has its own sign; nothing sleeps for a fixed time.

use super::error::DesktopError;
use super::programs;
use crate::process::spawn::poll_readable;
use crate::x11;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ChangeWindowAttributesAux, ConnectionExt, EventMask};
use zbus::zvariant::Value;

/// What came through a readiness pipe.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The first line, without its end.
    Text(String),
    /// The writer ended without one.
    Ended,
    /// Nothing within the time.
    Late,
}

/// The first line that a child writes to the pipe.
pub(crate) fn first_line(pipe: OwnedFd, end: Instant) -> Line {
    let mut file = File::from(pipe);
    let mut text = Vec::new();
    loop {
        match poll_readable(file.as_fd(), end) {
            Ok(true) => {}
            Ok(false) => return Line::Late,
            Err(_) => return Line::Ended,
        }
        let mut buffer = [0; 512];
        match file.read(&mut buffer) {
            Ok(0) => return Line::Ended,
            Ok(n) => text.extend(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Line::Ended,
        }
        if let Some(n) = text.iter().position(|b| *b == b'\n') {
            return Line::Text(String::from_utf8_lossy(&text[..n]).trim().to_owned());
        }
    }
}

/// The last lines of a log, for an error's reason.
pub(crate) fn log_tail(log: &Path) -> String {
    let text = std::fs::read(log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// Waits until a window manager has announced itself: the root's `_NET_SUPPORTING_WM_CHECK` names a window that carries
/// the same property (EWMH). `still_there` is asked now and then.
pub(crate) fn window_manager(
    display: &str,
    authority: &Path,
    end: Instant,
    mut still_there: impl FnMut() -> bool,
) -> Result<bool, x11::X11Error> {
    let x = x11::connect(display, Some(authority), end)?;
    let check = x.raw().intern_atom(false, b"_NET_SUPPORTING_WM_CHECK")?.reply()?.atom;
    let watch = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    x.raw().change_window_attributes(x.root(), &watch)?.check()?;
    let window_in = |of: u32| -> Result<Option<u32>, x11::X11Error> {
        match x.raw().get_property(false, of, check, AtomEnum::WINDOW, 0, 1)?.reply() {
            Ok(p) => Ok(p.value32().and_then(|mut v| v.next())),
            // The window of a manager that has ended.
            Err(x11rb::errors::ReplyError::X11Error(_)) => Ok(None),
            Err(e) => Err(e.into()),
        }
    };
    loop {
        if let Some(w) = window_in(x.root())?
            && window_in(w)? == Some(w)
        {
            return Ok(true);
        }
        if !still_there() || Instant::now() >= end {
            return Ok(false);
        }
        // A change of a property wakes us at once; the manager's window may get its property later than the root,
        // and a manager that ended changes nothing, so look again soon in any case.
        if x.raw().poll_for_event()?.is_none() {
            let soon = end.min(Instant::now() + Duration::from_millis(20));
            let _ = poll_readable(x.socket(), soon);
        }
        while x.raw().poll_for_event()?.is_some() {}
    }
}

/// Brings accessibility up on a session bus: has the bus started, switches it on for toolkits that start later, and
/// waits for the registry. Returns the address of the accessibility bus.
pub(crate) async fn accessibility(session_bus: &str, end: Instant) -> Result<String, DesktopError> {
    let failed = |e: zbus::Error| match &e {
        zbus::Error::MethodError(name, ..)
            if matches!(
                name.as_str(),
                "org.freedesktop.DBus.Error.ServiceUnknown" | "org.freedesktop.DBus.Error.Spawn.FileInvalid"
            ) =>
        {
            programs::missing(programs::ACCESSIBILITY)
        }
        _ => DesktopError::failed("accessibility", e.to_string()),
    };
    let work = async {
        let bus = zbus::connection::Builder::address(session_bus)?.build().await?;
        let reply =
            bus.call_method(Some("org.a11y.Bus"), "/org/a11y/bus", Some("org.a11y.Bus"), "GetAddress", &()).await?;
        let address: String = reply.body().deserialize()?;
        // Before any application starts: Qt 6, Firefox and Chromium look once.
        bus.call_method(
            Some("org.a11y.Bus"),
            "/org/a11y/bus",
            Some("org.freedesktop.DBus.Properties"),
            "Set",
            &("org.a11y.Status", "IsEnabled", Value::from(true)),
        )
        .await?;
        let accessible = zbus::connection::Builder::address(address.as_str())?.build().await?;
        accessible
            .call_method(
                Some("org.a11y.atspi.Registry"),
                "/org/a11y/atspi/accessible/root",
                Some("org.freedesktop.DBus.Peer"),
                "Ping",
                &(),
            )
            .await?;
        Ok::<_, zbus::Error>(address)
    };
    match tokio::time::timeout_at(end.into(), work).await {
        Ok(done) => done.map_err(failed),
        Err(_) => Err(DesktopError::StartTimeout { step: "accessibility".to_owned(), limit_ms: 0 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_first_line_the_end_and_silence() {
        let soon = || Instant::now() + Duration::from_millis(30);
        let (r, w) = rustix::pipe::pipe().unwrap();
        let mut w = File::from(w);
        w.write_all(b"99\nmore").unwrap();
        assert_eq!(first_line(r, soon()), Line::Text("99".into()));
        let (r, w) = rustix::pipe::pipe().unwrap();
        let mut w = File::from(w);
        w.write_all(b"9").unwrap();
        drop(w);
        assert_eq!(first_line(r, soon()), Line::Ended);
        let (r, _w) = rustix::pipe::pipe().unwrap();
        assert_eq!(first_line(r, soon()), Line::Late);
    }
}
