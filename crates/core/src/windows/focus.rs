//! Bringing exactly one window to the front, and proving that it is there (spec 1 §7 "Focus settle").

use super::settle::{self, Settled};
use super::{TARGET_MS, details, key_of, take_lease, updated};
use crate::act::report::AutoWait;
use crate::command::Context;
use crate::command::windows::FocusWindow;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Delivery, Error, Result};
use crate::observe::list::window_json;
use crate::observe::target::{Scope, find_any_window, summary};
use crate::platform::{Platform, Window, WindowChange, WindowKey, WindowState};
use serde_json::{Value, json};

/// How long is looked for the window that is in front instead, in milliseconds.
const OTHER_MS: u64 = 750;

/// A window that was proven to be in front.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Whether a request was sent. Where it wasn't, the window was in front already, and nothing was delivered.
    pub sent: bool,
    /// Its state, read as the proof.
    pub state: WindowState,
}

/// Brings exactly this window to the front and proves that it has the keyboard: it is the active window and the input
/// focus lies in it, in two reads in a row after a request, in one where it was in front already. One that did not come
/// forward is asked for once more. To be called under
/// the interaction lease. The deadline is that of the request; settling takes 750 ms at most from when the
/// window manager has taken it, which may take 5 s.
///
/// # Errors
/// - `WINDOW_NOT_FOUND` / `stale_window_id`, `ACTION_FAILED` / `window_state_unread`, `ACTION_NOT_SUPPORTED` /
///   `no_window_manager` and the like: nothing was sent.
/// - `ACTION_FAILED` / `window_not_focused`, `delivered_unverified`: the request was sent and the window is not in front.
/// - `ACTION_FAILED` / `window_gone`, `window_request_uncertain`: it ended, or the display did.
/// - `TIMEOUT` / `window_manager_silent`, `delivery_uncertain`: the window manager is hung or busy.
pub fn bring_to_front(platform: &dyn Platform, key: &WindowKey, deadline: Deadline) -> Result<Front> {
    let mut settled = settle::request(platform, key, &WindowChange::Focus, &in_front, deadline)?;
    let sent = !matches!(settled, Settled::Already(_));
    if matches!(settled, Settled::Otherwise(_)) {
        // A window that had just been opened may have taken the focus after the request (seen with mutter, which shows
        // new windows late). The same request again asks for nothing else.
        settled = settle::request(platform, key, &WindowChange::Focus, &in_front, deadline).unwrap_or(settled);
    }
    match settled {
        Settled::Already(state) => Ok(Front { sent, state }),
        Settled::AsAsked(state) => Ok(Front { sent: true, state }),
        Settled::Otherwise(state) => Err(settle::with_observed(not_focused(), &state)),
        Settled::Unread(cause) => Err(not_focused().platform(format!("{cause:?}"))),
        Settled::Ended => Err(settle::ended()),
    }
}

fn in_front(state: &WindowState) -> bool {
    state.focused && !state.minimized
}

fn not_focused() -> Error {
    Error::new(Code::ActionFailed, Delivery::DeliveredUnverified, "the window was asked to the front and is not there")
        .kind("window_not_focused")
        .suggest("A dialog of its application may be in front of it: 'agent-desktop list-windows' shows which window has the focus.")
}

/// `focus-window`.
pub fn focus(context: &Context, args: &FocusWindow) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(TARGET_MS);
    let scope = Scope { app: args.app.as_deref(), window_id: args.window_id.as_deref() };
    let window = find_any_window(platform, scope, args.title.as_deref(), deadline)?;
    let key = key_of(&window)?;
    let mut waited = AutoWait::default();
    let lease = take_lease(platform, deadline, &mut waited)?;
    let front = bring_to_front(platform, key, deadline);
    waited.lease_hold_ms = lease.held_ms();
    drop(lease);
    let front = front.map_err(|error| told(platform, &window, error))?;
    let mut details = details(&waited);
    if !front.sent {
        details.insert("already_satisfied".into(), json!(true));
    }
    Ok(json!({
        "focused": window_json(&updated(&window, &front.state)),
        "details": details,
        "disposition": delivery(&front).disposition(),
    }))
}

fn delivery(front: &Front) -> Delivery {
    if front.sent { Delivery::DeliveredVerified } else { Delivery::NotDelivered }
}

/// `launch --activate`: the window in front under the lease, and the window as it is then.
///
/// # Errors
/// As [`bring_to_front`].
pub fn activate(platform: &dyn Platform, window: &Window, deadline: Deadline) -> Result<Window> {
    let key = key_of(window)?;
    let lease = take_lease(platform, deadline, &mut AutoWait::default())?;
    let front = bring_to_front(platform, key, deadline);
    drop(lease);
    front.map(|front| updated(window, &front.state)).map_err(|error| told(platform, window, error))
}

/// The error with the window it is about, and the one that is in front instead.
fn told(platform: &dyn Platform, window: &Window, error: Error) -> Error {
    let error = error.detail("window", summary(window));
    if error.kind_name() != Some("window_not_focused") {
        return error;
    }
    let active: Value = match platform.active_window(Deadline::after_ms(OTHER_MS)) {
        Ok(Some(other)) => summary(&other),
        _ => return error,
    };
    error.detail("active", active)
}
