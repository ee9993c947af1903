//! Windows as the window system knows them: their identity, and requests to their manager (spec 1 §4 "Window
//! identity", spec 2 §38–43).

use super::not_supported;
use super::observe::ProcessKey;
use super::operate::WriteOutcome;
use crate::deadline::Deadline;
use crate::evidence::{Cause, Evidence};
use crate::geometry::Rect;
use serde::{Deserialize, Serialize};

/// A window's identity: the window system's own id, which may be used again, with the process generation that owned it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowKey {
    /// The window system's id, opaque to core.
    pub id: String,
    /// Its process.
    pub process: ProcessKey,
}

/// What is asked of the window manager.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowChange {
    /// To the front, with the keyboard.
    Focus,
    /// A new size of what `bounds` describes.
    Resize {
        /// Width.
        width: f64,
        /// Height.
        height: f64,
    },
    /// A new place of the upper left corner of what `bounds` describes.
    Move {
        /// Left edge.
        x: f64,
        /// Upper edge.
        y: f64,
    },
    /// Iconified.
    Minimize,
    /// As large as the screen allows.
    Maximize,
    /// Neither minimized nor maximized nor full screen.
    Restore,
}

/// A window's state, read from the window system.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowState {
    /// Bounds on the screen, as `list-windows` prints them.
    pub bounds: Rect,
    /// Whether it is the active window.
    pub focused: bool,
    /// Whether it is iconified.
    pub minimized: bool,
    /// Whether it fills the screen.
    pub maximized: bool,
    /// Whether it is fullscreen.
    pub fullscreen: bool,
    /// Whether it is on the screen, covered or not.
    pub visible: bool,
}

/// Requests to the window manager.
pub trait Windows {
    /// Sends one request, right after corroborating that the key still names a window of that process generation.
    /// `Refused` with `WINDOW_NOT_FOUND` where it doesn't. Verification is core's.
    fn change(&self, window: &WindowKey, change: &WindowChange, deadline: Deadline) -> WriteOutcome {
        let _ = (window, change, deadline);
        WriteOutcome::Refused(not_supported("window management"))
    }

    /// Waits until the window manager has worked off everything that it was asked before: only then what is read is its
    /// answer. `Known(false)` where it doesn't get there by the deadline, absent where nothing tells.
    fn manager_caught_up(&self, deadline: Deadline) -> Evidence<bool> {
        let _ = deadline;
        Evidence::Absent
    }

    /// The window's state now; absent where the key names no window any more.
    fn window_now(&self, window: &WindowKey, deadline: Deadline) -> Evidence<WindowState> {
        let _ = (window, deadline);
        Evidence::Unknown(Cause::NotRead)
    }
}
