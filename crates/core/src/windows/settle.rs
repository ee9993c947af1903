//! Sending one request, and reading the window until it is as asked.

use super::{stale, state_json, unread};
use crate::deadline::Deadline;
use crate::error::{Code, Delivery, Error, Result};
use crate::evidence::{Cause, Evidence};
use crate::platform::{Platform, WindowChange, WindowKey, WindowState, WriteOutcome};
use std::time::Duration;

/// How long a window may take to be as asked (spec 1 §7 "Focus settle").
pub const SETTLE_MS: u64 = 750;
/// Pause between reads.
pub const POLL: Duration = Duration::from_millis(50);
/// Reads in a row that must agree.
pub const CONFIRMATIONS: u32 = 2;
/// Deadline of one read, in milliseconds.
const READ_MS: u64 = 1_000;
/// How long the window manager may take until it has worked off what it was asked, in milliseconds. Compositors on busy
/// machines without a graphics card were seen to take more than a second.
const MANAGER_MS: u64 = 5_000;

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// It was so already: nothing was sent.
    Already(WindowState),
    /// It was sent, and the window is as asked.
    AsAsked(WindowState),
    /// It was sent, and the window was read and is otherwise.
    Otherwise(WindowState),
    /// It was sent; what came of it could not be read.
    Unread(Cause),
    /// It was sent, and the window ended.
    Ended,
}

/// Sends a request unless the window is as asked, then reads until it is. Called under the lease. The deadline is that of
/// the sending; settling has its own time, which starts with the request.
///
/// # Errors
/// Where nothing was sent: the window is gone, its state can't be read, the window manager can't be asked. Where it may
/// have been sent and nobody knows: `delivery_uncertain`.
pub fn request(
    platform: &dyn Platform,
    key: &WindowKey,
    change: &WindowChange,
    holds: &dyn Fn(&WindowState) -> bool,
    deadline: Deadline,
) -> Result<Settled> {
    match platform.window_now(key, deadline.within_ms(READ_MS)) {
        Evidence::Absent => return Err(stale(key)),
        Evidence::Unknown(cause) => return Err(unread(&cause)),
        Evidence::Known(state) if holds(&state) => return Ok(Settled::Already(state)),
        Evidence::Known(_) => {}
    }
    match platform.change(key, change, deadline) {
        WriteOutcome::Accepted | WriteOutcome::Pending => {}
        WriteOutcome::Refused(error) => return Err(error),
        WriteOutcome::Absent(what) => {
            return Err(Error::before(Code::ActionNotSupported, "the window manager can't be asked for this")
                .kind("window_manager_lacks_request")
                .platform(what));
        }
        WriteOutcome::NoReply => return Err(uncertain()),
        WriteOutcome::Uncertain(native) => return Err(uncertain().platform(native)),
    }
    // The time to settle begins when the window manager has taken the request, and its verdict counts only when it has
    // nothing left to do: one that is busy has refused nothing.
    if platform.manager_caught_up(Deadline::after_ms(MANAGER_MS)) == Evidence::Known(false) {
        return match read_until(platform, key, holds, Deadline::after_ms(0)) {
            seen @ (Settled::AsAsked(_) | Settled::Ended) => Ok(seen),
            _ => Err(silent()),
        };
    }
    let seen = read_until(platform, key, holds, Deadline::after_ms(SETTLE_MS));
    if !matches!(seen, Settled::Otherwise(_)) {
        return Ok(seen);
    }
    match platform.manager_caught_up(Deadline::after_ms(MANAGER_MS)) {
        Evidence::Known(true) => Ok(read_until(platform, key, holds, Deadline::after_ms(0))),
        Evidence::Known(false) => Err(silent()),
        _ => Ok(seen),
    }
}

fn silent() -> Error {
    Error::new(Code::Timeout, Delivery::DeliveryUncertain, "the window manager has not taken the request in time")
        .kind("window_manager_silent")
        .suggest(
            "It is busy or hung, and may still do it: read the window's state with list-windows before anything else.",
        )
}

fn uncertain() -> Error {
    Error::new(Code::ActionFailed, Delivery::DeliveryUncertain, "the display failed while the request was sent")
        .kind("window_request_uncertain")
        .suggest("It may have been sent: read the window's state with list-windows before anything else.")
}

fn read_until(
    platform: &dyn Platform,
    key: &WindowKey,
    holds: &dyn Fn(&WindowState) -> bool,
    end: Deadline,
) -> Settled {
    // Window managers animate: what holds must hold of a window that no longer moves.
    let mut before: Option<WindowState> = None;
    let mut agreed = 0;
    loop {
        let seen = match platform.window_now(key, Deadline::after_ms(READ_MS)) {
            Evidence::Known(state) if holds(&state) => {
                agreed = if before.as_ref() == Some(&state) { agreed + 1 } else { 1 };
                // One that goes on moving beyond the time is as asked all the same.
                if agreed >= CONFIRMATIONS || (end.passed() && before.is_some()) {
                    return Settled::AsAsked(state);
                }
                before = Some(state);
                // Seen once at the very end: the second look is due all the same.
                std::thread::sleep(POLL);
                continue;
            }
            Evidence::Known(state) => Settled::Otherwise(state),
            Evidence::Absent => return Settled::Ended,
            Evidence::Unknown(cause) => Settled::Unread(cause),
        };
        (before, agreed) = (None, 0);
        if end.passed() {
            return seen;
        }
        std::thread::sleep(POLL);
    }
}

/// The window ended after the request.
pub fn ended() -> Error {
    Error::new(Code::ActionFailed, Delivery::DeliveredUnverified, "the window is gone after the request")
        .kind("window_gone")
        .suggest("'agent-desktop list-windows' shows what is open now.")
}

/// Adds what was read to an error.
pub fn with_observed(error: Error, state: &WindowState) -> Error {
    error.detail("observed", state_json(state))
}
