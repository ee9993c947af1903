//! Window commands: one request to the window manager, then reading back (spec 2 §37–43).
//!
//! What a window manager was asked for and what it did are two things: it answers nothing, may clamp, refuse, or do
//! something else. So every request is followed by reads of the same window until they agree with it twice, or the time
//! to settle is over.

mod change;
mod focus;
mod settle;
#[cfg(test)]
mod tests;

pub use change::{maximize, minimize, move_to, resize, restore};
pub use focus::{Front, activate, bring_to_front, focus};

use crate::act::lease::{self, Lease};
use crate::act::report::AutoWait;
use crate::command::Context;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::observe::target::summary;
use crate::platform::{Platform, Window, WindowKey, WindowState, not_supported};
use serde_json::{Map, Value, json};

/// How long finding the window and taking the lease may take, in milliseconds.
const TARGET_MS: u64 = 5_000;
/// How long listing displays may take, in milliseconds.
const DISPLAYS_MS: u64 = 3_000;

/// `list-displays`: the primary one first; the index is what `--screen` takes.
pub fn displays(context: &Context) -> Answer {
    let mut all = context.platform()?.displays(Deadline::after_ms(DISPLAYS_MS))?;
    all.sort_by_key(|display| !display.is_primary);
    Ok(json!(all))
}

/// The interaction lease of a desktop, for one request and the reads that follow it: another caller's request in
/// between would be taken for the window manager's refusal.
fn take_lease(platform: &dyn Platform, deadline: Deadline, waited: &mut AutoWait) -> Result<Lease> {
    let path = lease::path(&platform.desktop_id()?)?;
    Lease::take(&path, deadline, false, &mut waited.lease_contention_count)
}

/// The window system's identity of a window, or why requests can't be addressed to it.
pub fn key_of(window: &Window) -> Result<&WindowKey> {
    window.key.as_ref().ok_or_else(|| {
        // Bounds are asked of the window system alone: no answer means that there is none to ask.
        if matches!(window.bounds, Evidence::Unknown(_)) {
            return not_supported("window management");
        }
        Error::before(Code::AmbiguousTarget, "the window system does not tell which of its windows this is")
            .kind("window_not_identified")
            .detail("window", summary(window))
            .suggest("Windows of one application that are alike in title and size can't be told apart: close one, or give it another title.")
    })
}

/// The key names no window of that process any more.
fn stale(key: &WindowKey) -> Error {
    Error::before(Code::WindowNotFound, "the window is gone; its id may belong to another one now")
        .kind("stale_window_id")
        .detail("pid", key.process.pid)
        .suggest("'agent-desktop list-windows' shows what is open now.")
}

/// Nothing was asked of the window manager, because the window's state could not be read.
fn unread(cause: &crate::evidence::Cause) -> Error {
    Error::before(Code::ActionFailed, "the window's state could not be read; nothing was sent")
        .kind("window_state_unread")
        .platform(format!("{cause:?}"))
        .suggest("Retry; 'agent-desktop status' shows whether the display answers.")
}

/// A window's state as reports print it: the keys of `list-windows`.
fn state_json(state: &WindowState) -> Value {
    json!({
        "bounds": state.bounds,
        "is_focused": state.focused,
        "visible": state.visible,
        "minimized": state.minimized,
        "maximized": state.maximized,
        "fullscreen": state.fullscreen,
    })
}

/// The window as it was listed, with what was read since.
fn updated(window: &Window, state: &WindowState) -> Window {
    Window {
        bounds: Evidence::Known(state.bounds),
        focused: Evidence::Known(state.focused),
        visible: Evidence::Known(state.visible),
        minimized: Evidence::Known(state.minimized),
        maximized: Evidence::Known(state.maximized),
        fullscreen: Evidence::Known(state.fullscreen),
        ..window.clone()
    }
}

/// The details that every success carries.
fn details(waited: &AutoWait) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("auto_wait".into(), json!(waited));
    out
}
