//! The keyboard without a ref (spec 2 §23): what has the focus receives it.

use super::place::expected;
use super::report::{self, stopped};
use super::stage::{LEASE_WAIT_MS, Stage, front};
use super::strokes;
use crate::act::observe::{self, Observer};
use crate::command::Context;
use crate::command::keyboard::Press;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::observe::target::{Scope, find_any_window, no_active_window};
use crate::platform::{Guard, Platform, Window, WindowKey};
use crate::vocab::key::Combo;
use crate::windows::key_of;
use serde_json::json;

/// `press`: explicit keyboard input. With `--app` that application's window comes to the front first; without, the
/// active window receives it, and no other that came to the front meanwhile.
pub fn press(context: &Context, args: &Press) -> Answer {
    if !args.observe {
        return press_with(context, args, None);
    }
    let window = context.platform().and_then(|platform| receiver(platform, args, Deadline::after_ms(LEASE_WAIT_MS)));
    let observer = Observer::of_window(context, window);
    observe::add(press_with(context, args, Some(&observer)), || observer.changes())
}

/// The window that will receive the keys: the one that is named, else the active one.
fn receiver(platform: &dyn Platform, args: &Press, deadline: Deadline) -> Result<Window> {
    let window_id = args.window_id.as_deref().or(args.expect_window.as_deref());
    match (Scope { app: args.app.as_deref(), window_id }) {
        Scope { app: None, window_id: None } => platform.active_window(deadline)?.ok_or_else(no_active_window),
        scope => find_any_window(platform, scope, None, deadline),
    }
}

fn press_with(context: &Context, args: &Press, observer: Option<&Observer<'_>>) -> Answer {
    let platform = context.platform()?;
    let combo = Combo::parse(&args.combo)?;
    not_dangerous(platform, &combo, args.force)?;
    let deadline = Deadline::after_ms(LEASE_WAIT_MS);
    let expected = expected(platform, args.expect_window.as_deref(), deadline)?;
    let scope = Scope { app: args.app.as_deref(), window_id: args.window_id.as_deref() };
    let named = if scope == Scope::default() {
        None
    } else {
        Some(key_of(&find_any_window(platform, scope, None, deadline)?)?.clone())
    };
    // Before the lease: a read of a large window would keep others waiting.
    if let Some(observer) = observer {
        observer.look();
    }
    let stage = Stage::take(context, platform, deadline)?;
    if let Some(key) = &named {
        front(platform, key, deadline)?;
    }
    let receiver = match expected.or(named) {
        Some(key) => Some(key),
        None => active(platform, deadline)?,
    };
    let guard = Guard { front: receiver, under: None };
    let strokes = strokes::chord(&combo);
    let played = platform.play(&strokes, &guard, Deadline::after_ms(context.chain_timeout_ms()?))?;
    if let Some(error) = stopped(&played) {
        return Err(error);
    }
    Ok(json!({
        "action": "press",
        "steps": [report::step(&format!("press {}", combo.name()), false)],
        "details": {"combo": combo.name(), "auto_wait": stage.auto_wait(), "delivered_events": played.delivered},
        "disposition": report::delivery(&played).disposition(),
    }))
}

/// The active window, where the window system says which; a combination must not be torn between two.
pub fn active(platform: &dyn Platform, deadline: Deadline) -> Result<Option<WindowKey>> {
    Ok(platform.active_window(deadline)?.and_then(|window| window.key))
}

/// Dangerous combinations need `--force` (spec 1 §7, decisions D10).
pub fn not_dangerous(platform: &dyn Platform, combo: &Combo, force: bool) -> Result<()> {
    // `delete` is the key before the caret; in the one combination that every system knows, either is meant.
    if force || !platform.dangerous(combo) {
        return Ok(());
    }
    Err(Error::before(Code::PolicyDenied, format!("{} may end a program, the session or the display", combo.name()))
        .kind("dangerous_combo")
        .detail("combo", combo.name())
        .suggest("Use a semantic action or close-app instead; --force only if your user wants exactly this."))
}
