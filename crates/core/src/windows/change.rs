//! Resizing, moving, minimizing, maximizing, restoring (spec 2 §39–43).

use super::settle::{self, Settled};
use super::{TARGET_MS, details, key_of, state_json, take_lease};
use crate::act::report::AutoWait;
use crate::command::Context;
use crate::command::windows::{Maximize, Minimize, MoveWindow, ResizeWindow, Restore};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Delivery, Error, Result};
use crate::observe::target::{Scope, find_any_window};
use crate::platform::{Window, WindowChange, WindowState};
use serde_json::{Map, Value, json};

/// `resize-window`.
pub fn resize(context: &Context, args: &ResizeWindow) -> Answer {
    let change = WindowChange::Resize { width: args.width, height: args.height };
    run(context, args.scope(), "resize-window", &change, json!({"width": args.width, "height": args.height}))
}

/// `move-window`.
pub fn move_to(context: &Context, args: &MoveWindow) -> Answer {
    let change = WindowChange::Move { x: args.x, y: args.y };
    run(context, args.scope(), "move-window", &change, json!({"x": args.x, "y": args.y}))
}

/// `minimize`.
pub fn minimize(context: &Context, args: &Minimize) -> Answer {
    run(context, args.scope(), "minimize", &WindowChange::Minimize, json!({"minimized": true}))
}

/// `maximize`.
pub fn maximize(context: &Context, args: &Maximize) -> Answer {
    run(context, args.scope(), "maximize", &WindowChange::Maximize, json!({"maximized": true, "minimized": false}))
}

/// `restore`.
pub fn restore(context: &Context, args: &Restore) -> Answer {
    let requested = json!({"minimized": false, "maximized": false, "fullscreen": false});
    run(context, args.scope(), "restore", &WindowChange::Restore, requested)
}

/// Whether the window is as asked. Windows lie on whole pixels.
pub(super) fn holds(change: &WindowChange, state: &WindowState) -> bool {
    let same = |is: f64, asked: f64| (is - asked.round()).abs() < 0.5;
    match *change {
        WindowChange::Focus => state.focused && !state.minimized,
        WindowChange::Resize { width, height } => {
            same(state.bounds.width, width) && same(state.bounds.height, height) && !state.minimized
        }
        WindowChange::Move { x, y } => same(state.bounds.x, x) && same(state.bounds.y, y) && !state.minimized,
        WindowChange::Minimize => state.minimized,
        WindowChange::Maximize => state.maximized && !state.minimized,
        WindowChange::Restore => !state.minimized && !state.maximized && !state.fullscreen,
    }
}

fn run(context: &Context, scope: Scope<'_>, action: &str, change: &WindowChange, requested: Value) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(TARGET_MS);
    let window = find_any_window(platform, scope, None, deadline)?;
    let key = key_of(&window)?;
    let mut waited = AutoWait::default();
    let lease = take_lease(platform, deadline, &mut waited)?;
    let settled = settle::request(platform, key, change, &|state| holds(change, state), deadline);
    waited.lease_hold_ms = lease.held_ms();
    drop(lease);
    let target = target(&window);
    let settled = settled.map_err(|error| error.detail("window", target.clone()))?;
    report(action, target, requested, change, settled, details(&waited))
}

/// The target of a report.
fn target(window: &Window) -> Value {
    json!({
        "kind": "window",
        "id": window.id,
        "title": window.title,
        "app_name": window.app_name,
        "pid": window.process.pid,
    })
}

pub(super) fn report(
    action: &str,
    target: Value,
    requested: Value,
    change: &WindowChange,
    settled: Settled,
    mut details: Map<String, Value>,
) -> Result<Value> {
    let (observed, delivery, verified) = match settled {
        Settled::Already(state) => {
            details.insert("already_satisfied".into(), json!(true));
            (Some(state), Delivery::NotDelivered, None)
        }
        Settled::AsAsked(state) => (Some(state), Delivery::DeliveredVerified, Some(true)),
        Settled::Otherwise(state) => return Err(refused(action, target, requested, change, &state)),
        Settled::Unread(_) => {
            details.insert("verification_scope".into(), json!("unavailable"));
            details.insert("verification_reason".into(), json!("insufficient_evidence"));
            (None, Delivery::DeliveredUnverified, None)
        }
        Settled::Ended => return Err(settle::ended().detail("window", target)),
    };
    let mut out = Map::new();
    out.insert("action".into(), json!(action));
    out.insert("target".into(), target);
    out.insert("requested".into(), requested);
    if let Some(state) = &observed {
        out.insert("observed".into(), state_json(state));
    }
    if delivery != Delivery::NotDelivered {
        let mut step = json!({"label": "window_manager_request", "outcome": "succeeded"});
        if let (Some(verified), Some(step)) = (verified, step.as_object_mut()) {
            step.insert("verified".into(), json!(verified));
        }
        out.insert("steps".into(), json!([step]));
    }
    out.insert("details".into(), Value::Object(details));
    out.insert("disposition".into(), delivery.disposition());
    Ok(Value::Object(out))
}

/// The window manager did something else, or nothing.
fn refused(action: &str, target: Value, requested: Value, change: &WindowChange, state: &WindowState) -> Error {
    let suggestion = match change {
        WindowChange::Resize { .. } | WindowChange::Move { .. } if state.minimized => {
            "The window is minimized: restore it first."
        }
        WindowChange::Resize { .. } | WindowChange::Move { .. } if state.maximized || state.fullscreen => {
            "The window fills the screen: restore it first."
        }
        WindowChange::Resize { .. } => {
            "Applications set a smallest and a largest size, dialogs often a fixed one. details.observed is what it has now."
        }
        WindowChange::Move { .. } => "Window managers keep windows on the screen. details.observed is where it is now.",
        _ => "Not every window can be changed this way: dialogs often can't. details.observed is what it is now.",
    };
    let error = Error::new(
        Code::ActionFailed,
        Delivery::DeliveredUnverified,
        format!("the window manager was asked for {action}, and the window is otherwise"),
    )
    .kind("window_manager_refused")
    .detail("window", target)
    .detail("requested", requested)
    .suggest(suggestion);
    settle::with_observed(error, state)
}
