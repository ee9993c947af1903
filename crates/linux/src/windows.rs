//! Requests to the window manager, and the window's state read back.

use crate::LinuxPlatform;
use crate::atspi::windows::bounds;
use crate::process::{Liveness, Token, alive};
use crate::x11::manage::{self, Manager, Request};
use crate::x11::{self, Connection, X11Error, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::geometry::Rect;
use agent_desktop_core::platform::{
    DisplayInfo, WindowChange, WindowKey, WindowState, Windows, WriteOutcome, not_supported,
};

impl Windows for LinuxPlatform {
    fn change(&self, window: &WindowKey, change: &WindowChange, deadline: Deadline) -> WriteOutcome {
        if self.display().is_none() {
            return WriteOutcome::Refused(not_supported("window management"));
        }
        // Where nothing was begun, no error can be one of a request that was sent.
        let mut begun = false;
        let done = self.ask_x(deadline, |x| {
            let Some(manager) = manage::manager(x)? else { return Ok(Err(no_manager())) };
            let requests = match corroborated(x, window)? {
                Some(now) => requests(change, &now),
                None => return Ok(Err(stale())),
            };
            let requests = match requests {
                Ok(requests) => requests,
                Err(error) => return Ok(Err(error)),
            };
            if let Some(lacks) = requests.iter().find_map(|r| manager.lacks(*r)) {
                return Ok(Err(lacking(lacks)));
            }
            for request in requests {
                // Right before each write: between two of them the window may end and its id go to another.
                let Some(now) = corroborated(x, window)? else {
                    return if begun { Err(ended_between()) } else { Ok(Err(stale())) };
                };
                begun = true;
                send(&manager, x, &now, request)?;
            }
            Ok(Ok(()))
        });
        match done {
            Ok(Ok(())) => WriteOutcome::Accepted,
            Ok(Err(error)) => WriteOutcome::Refused(error),
            Err(error) if begun => WriteOutcome::Uncertain(error.to_string()),
            Err(error) => WriteOutcome::Refused(fault(&error)),
        }
    }

    fn manager_caught_up(&self, deadline: Deadline) -> Evidence<bool> {
        let manager = match self.ask_x(deadline, manage::manager) {
            Ok(Some(manager)) => manager,
            Ok(None) => return Evidence::Absent,
            Err(error) => return Evidence::Unknown(Cause::Fault(error.to_string())),
        };
        match self.wait_for_x(deadline, |x| manager.catch_up(x)) {
            Ok(true) => Evidence::Known(true),
            Ok(false) => Evidence::Absent,
            Err(X11Error::Timeout) => Evidence::Known(false),
            Err(error) => Evidence::Unknown(Cause::Fault(error.to_string())),
        }
    }

    fn window_now(&self, window: &WindowKey, deadline: Deadline) -> Evidence<WindowState> {
        let read = self.ask_x(deadline, |x| {
            let Some(now) = corroborated(x, window)? else { return Ok(None) };
            let keyboard = now.is_active && manage::has_keyboard(x, now.client)?;
            Ok(Some(WindowState {
                bounds: bounds(&now),
                focused: keyboard,
                minimized: now.minimized,
                maximized: now.maximized,
                fullscreen: now.fullscreen,
                visible: now.viewable && !now.minimized,
            }))
        });
        match read {
            Ok(Some(state)) => Evidence::Known(state),
            Ok(None) => Evidence::Absent,
            Err(X11Error::Timeout) => Evidence::Unknown(Cause::Late),
            Err(error) => Evidence::Unknown(Cause::Fault(error.to_string())),
        }
    }
}

/// A window that ends while a request is sent to it makes the server say so: then nothing reached anybody.
fn send(manager: &Manager, x: &Connection, window: &X11Window, request: Request) -> Result<(), X11Error> {
    match manager.send(x, window, request) {
        Err(e) if e.is_gone() => Ok(()),
        other => other,
    }
}

/// The window as it is now, where the key still names it: the server's window with that id belongs to the process of the
/// key, in the same generation. Ids of windows and of processes are used again (spec 1 §4).
fn corroborated(x: &Connection, key: &WindowKey) -> Result<Option<X11Window>, X11Error> {
    let (Ok(client), Ok(pid), Ok(token)) =
        (key.id.parse::<u32>(), i32::try_from(key.process.pid), key.process.instance.parse::<Token>())
    else {
        return Ok(None);
    };
    let found = x11::windows(x)?.into_iter().find(|w| w.client == client);
    let Some(found) = found else { return Ok(None) };
    // The process after the window: one that ended in between is not taken for alive.
    match (found.pid, alive(pid, &token)) {
        (Some(owner), Liveness::Alive) if owner == pid => Ok(Some(found)),
        // Not knowing whose it is does not make it gone; nothing is sent either way.
        (None, _) | (_, Liveness::Unknown) => Err(X11Error::Unsupported { what: "process for this window".to_owned() }),
        _ => Ok(None),
    }
}

/// What is asked of the window manager, in order.
fn requests(change: &WindowChange, now: &X11Window) -> Result<Vec<Request>, Error> {
    // What is printed is what looks like the window: the client without the shadow that GTK draws around it.
    let shadow = now.gtk_frame_extents.unwrap_or_default();
    let mut out = Vec::new();
    match *change {
        WindowChange::Focus => out.push(Request::Activate),
        WindowChange::Resize { width, height } => {
            let side = |value: f64, more: u32| {
                let whole = value.round() + f64::from(more);
                if (1.0..=f64::from(i16::MAX)).contains(&whole) { Ok(whole as u32) } else { Err(beyond("size")) }
            };
            out.push(Request::Size {
                width: side(width, shadow.left + shadow.right)?,
                height: side(height, shadow.top + shadow.bottom)?,
            });
        }
        WindowChange::Move { x, y } => {
            let edge = |value: f64, less: u32| {
                let whole = value.round() - f64::from(less);
                let can = (f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&whole);
                if can { Ok(whole as i32) } else { Err(beyond("place")) }
            };
            out.push(Request::Place { x: edge(x, shadow.left)?, y: edge(y, shadow.top)? });
        }
        WindowChange::Minimize => out.push(Request::Iconify),
        WindowChange::Maximize => {
            if now.minimized {
                out.push(Request::Activate);
            }
            out.push(Request::Maximized(true));
        }
        WindowChange::Restore => {
            if now.minimized {
                out.push(Request::Activate);
            }
            if now.fullscreen {
                out.push(Request::NotFullscreen);
            }
            if now.maximized {
                out.push(Request::Maximized(false));
            }
        }
    }
    Ok(out)
}

fn beyond(what: &str) -> Error {
    Error::invalid(format!("no window can have this {what} on this display")).kind("window_geometry_out_of_range")
}

fn no_manager() -> Error {
    Error::before(Code::ActionNotSupported, "no window manager runs on this display: nobody would do it")
        .kind("no_window_manager")
        .suggest("Start one, for example openbox; private desktops of 'agent-desktop desktop' have one.")
}

fn lacking(what: &str) -> Error {
    Error::before(Code::ActionNotSupported, "the window manager does not do this")
        .kind("window_manager_lacks_request")
        .platform(format!("{what} is not in _NET_SUPPORTED"))
}

fn stale() -> Error {
    Error::before(Code::WindowNotFound, "the window is gone; its id may belong to another one now")
        .kind("stale_window_id")
        .suggest("'agent-desktop list-windows' shows what is open now.")
}

fn ended_between() -> X11Error {
    X11Error::Protocol { error: "Window".to_owned(), object: 0 }
}

fn fault(error: &X11Error) -> Error {
    match error {
        X11Error::Timeout => {
            Error::before(Code::Timeout, "the display did not answer in time").kind("display_late").retry_after(500)
        }
        other => Error::before(Code::ActionFailed, "the display could not be asked; nothing was sent")
            .kind("x11_fault")
            .platform(other.to_string()),
    }
}

/// The monitors, in the server's order.
pub(crate) fn displays(platform: &LinuxPlatform, deadline: Deadline) -> Result<Vec<DisplayInfo>, Error> {
    if platform.display().is_none() {
        return Err(not_supported("list-displays"));
    }
    let mut all = platform.ask_x(deadline, x11::displays).map_err(|error| fault(&error))?;
    all.sort_by_key(|display| !display.primary);
    Ok(all
        .into_iter()
        .map(|d| DisplayInfo {
            id: d.id,
            bounds: Rect {
                x: d.bounds.x.into(),
                y: d.bounds.y.into(),
                width: d.bounds.width.into(),
                height: d.bounds.height.into(),
            },
            is_primary: d.primary,
            scale: d.scale,
        })
        .collect())
}
