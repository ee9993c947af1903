//! Pictures of windows and of the screen.

use crate::LinuxPlatform;
use crate::process;
use crate::traits::process_life;
use crate::x11::capture::{self, Failure, Picture};
use crate::x11::{self, Rect as XRect, X11Error, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::geometry::Rect;
use agent_desktop_core::platform::{Capture, Pixels, ProcessLife, WindowKey, WindowPicture};

/// Time at least for the look at the window after its picture, in milliseconds.
const LAST_LOOK_MS: u64 = 100;

impl Capture for LinuxPlatform {
    fn capture_window(&self, window: &WindowKey, deadline: Deadline) -> Result<WindowPicture, Error> {
        let found = self.corroborated(window, deadline)?;
        if found.minimized || !found.viewable {
            return Err(not_viewable(&found));
        }
        let x = self.own_connection(deadline)?;
        let shadow = found.gtk_frame_extents.unwrap_or_default();
        let shoot = || capture::window(&x, found.client, shadow, deadline.instant());
        // A window may show the very colour by chance; another colour tells.
        let picture = match shoot() {
            Err(Failure::NotRepainted) if !deadline.passed() => shoot(),
            other => other,
        };
        let picture = picture.map_err(|failure| failed(failure, &found))?;
        // A stopped application hasn't painted what was uncovered since: the screen may still show the cover there.
        if picture.of_screen && found.pid.and_then(process::stat::is_stopped) == Some(true) {
            return Err(failed(Failure::NotRepainted, &found));
        }
        // The id may have gone to another window while the server was asked. A picture that was taken in time is not lost
        // to this last look.
        self.corroborated(window, deadline.max(Deadline::after_ms(LAST_LOOK_MS)))?;
        Ok(shown(picture))
    }

    fn capture_area(&self, area: Rect, deadline: Deadline) -> Result<Pixels, Error> {
        let x = self.own_connection(deadline)?;
        let whole = |v: f64| v.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32;
        let size = |v: f64| v.clamp(0.0, f64::from(u32::MAX)) as u32;
        let wanted = XRect {
            x: whole(area.x.floor()),
            y: whole(area.y.floor()),
            width: size(area.width.ceil()),
            height: size(area.height.ceil()),
        };
        let rgba = capture::area(&x, wanted).map_err(|failure| match failure {
            Failure::OffScreen => Error::before(Code::ActionFailed, "the area is not on the screen any more")
                .kind("changed_during_capture")
                .suggest("'agent-desktop list-displays' shows what the screen is now."),
            Failure::X(error) => broken(&error),
            other => Error::before(Code::Internal, format!("the screen could not be read: {other:?}")),
        })?;
        Ok(Pixels { width: wanted.width, height: wanted.height, rgba })
    }
}

impl LinuxPlatform {
    /// A connection for one picture: whatever is asked of the server for it ends with the connection.
    fn own_connection(&self, deadline: Deadline) -> Result<x11::Connection, Error> {
        let none = || {
            Error::before(Code::PlatformNotSupported, "there is no X display to take pictures of")
                .kind("no_desktop")
                .suggest(
                    "Run inside a graphical session, or start a private desktop: 'agent-desktop desktop run -- CMD'.",
                )
        };
        let (display, authority) = self.display().ok_or_else(none)?;
        x11::connect(display, authority, deadline.instant()).map_err(|e| none().platform(e.to_string()))
    }

    /// The window that a key names, still owned by the process generation that the key says.
    fn corroborated(&self, key: &WindowKey, deadline: Deadline) -> Result<X11Window, Error> {
        let all = self.x_windows(deadline).ok_or_else(|| {
            Error::before(Code::Timeout, "the X server did not list its windows in time").retry_after(1_000)
        })?;
        let named = all.into_iter().find(|w| key.id.parse() == Ok(w.client));
        let owned = |w: &X11Window| w.pid.is_none_or(|pid| u32::try_from(pid) == Ok(key.process.pid));
        let gone = |why: &str| {
            Error::before(Code::WindowNotFound, format!("the window is gone: {why}"))
                .suggest("'agent-desktop list-windows' shows what is open.")
        };
        let window = named.ok_or_else(|| gone("the X server does not list it"))?;
        if !owned(&window) {
            return Err(gone("its id belongs to another process now"));
        }
        match process_life(&key.process) {
            ProcessLife::Alive | ProcessLife::Unknown(_) => Ok(window),
            ProcessLife::Gone | ProcessLife::OtherGeneration => Err(gone("its process has ended")),
        }
    }
}

fn shown(picture: Picture) -> WindowPicture {
    let Picture { rgba, bounds, popups, .. } = picture;
    WindowPicture {
        pixels: Pixels { width: bounds.width, height: bounds.height, rgba },
        bounds: rect(bounds),
        popups: popups.into_iter().map(rect).collect(),
    }
}

fn rect(r: XRect) -> Rect {
    Rect { x: r.x.into(), y: r.y.into(), width: r.width.into(), height: r.height.into() }
}

fn not_viewable(window: &X11Window) -> Error {
    let (what, todo) = if window.minimized {
        ("it is minimized", "Show it first: 'agent-desktop restore --window-id ID'.")
    } else if window.on_current_workspace == Some(false) {
        ("it is on another workspace", "Show it first: 'agent-desktop focus-window --window-id ID'.")
    } else {
        ("it is not on the screen", "'agent-desktop list-windows' shows its state; restore or focus it first.")
    };
    Error::before(Code::ActionFailed, format!("the window has no picture: {what}"))
        .kind("window_not_viewable")
        .detail("minimized", window.minimized)
        .suggest(todo)
}

fn failed(failure: Failure, window: &X11Window) -> Error {
    let refused = |message: &str| Error::before(Code::ActionFailed, message);
    match failure {
        Failure::X(error) if error.is_gone() => {
            Error::before(Code::WindowNotFound, "the window closed while its picture was taken")
        }
        Failure::X(error) => broken(&error),
        Failure::NotViewable => not_viewable(window),
        Failure::Covered => {
            refused("the window is covered, and the X server can't give the content of covered windows")
                .kind("window_covered")
                .suggest("Bring it to the front first: 'agent-desktop focus-window --window-id ID'.")
        }
        Failure::NotRepainted => {
            refused("a part of the window was not in view, and its application did not paint it when asked")
                .kind("window_not_repainted")
                .suggest("The application is busy or stopped: try again later, or bring the window to the front.")
        }
        Failure::Changed | Failure::OffScreen => {
            refused("the window moved or changed its size while its picture was taken")
                .kind("changed_during_capture")
                .suggest("Take the picture again.")
        }
        Failure::Busy => Error::before(Code::Timeout, "another picture was being taken on this display")
            .kind("capture_busy")
            .retry_after(500),
    }
}

fn broken(error: &X11Error) -> Error {
    let because = |code| Error::before(code, "the X server gave no picture").platform(error.to_string());
    match error {
        X11Error::Timeout => because(Code::Timeout).kind("capture_failed").retry_after(1_000),
        X11Error::Unsupported { .. } => because(Code::PlatformNotSupported).kind("picture_not_supported"),
        _ => because(Code::Internal).kind("capture_failed"),
    }
}
