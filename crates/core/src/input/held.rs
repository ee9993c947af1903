//! Keys and buttons that stay down beyond the end of a command (decisions D3).

use super::keyboard::{active, not_dangerous};
use super::place::{expected, on_a_display};
use super::report::{self, stopped};
use super::stage::{LEASE_WAIT_MS, Stage, held_json};
use crate::command::Context;
use crate::command::keyboard::{KeyDown, KeyUp, limit};
use crate::command::pointer::{MouseDown, MouseUp};
use crate::command::values::modifiers;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::Result;
use crate::overlay;
use crate::platform::{Guard, Hold, Played};
use crate::policy::POLICY_FILE;
use crate::vocab::key::Combo;
use serde_json::{Map, Value, json};

/// `key-down`.
pub fn key_down(context: &Context, args: &KeyDown) -> Answer {
    let platform = context.platform()?;
    let combo = Combo::parse(&args.combo)?;
    not_dangerous(platform, &combo, args.force)?;
    let deadline = Deadline::after_ms(LEASE_WAIT_MS);
    let front = match expected(platform, args.expect_window.as_deref(), deadline)? {
        Some(key) => Some(key),
        None => active(platform, deadline)?,
    };
    down(context, "key-down", Hold::Keys(combo), &Guard { front, under: None }, limit(args.limit_ms)?, deadline)
}

/// `key-up`.
pub fn key_up(context: &Context, args: &KeyUp) -> Answer {
    up(context, "key-up", Hold::Keys(Combo::parse(&args.combo)?))
}

/// `mouse-down`.
pub fn mouse_down(context: &Context, args: &MouseDown) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(LEASE_WAIT_MS);
    let at = args.xy.parse()?;
    on_a_display(platform, at, deadline)?;
    let guard = Guard { front: None, under: expected(platform, args.expect_window.as_deref(), deadline)? };
    let hold = Hold::Button { button: args.button.unwrap_or_default(), at, modifiers: modifiers(&args.modifiers)? };
    let deadline = deadline.later(overlay::to_point(context, platform, at, true));
    down(context, "mouse-down", hold, &guard, limit(args.limit_ms)?, deadline)
}

/// `mouse-up`.
pub fn mouse_up(context: &Context, args: &MouseUp) -> Answer {
    let platform = context.platform()?;
    let at = args.xy.parse()?;
    on_a_display(platform, at, Deadline::after_ms(LEASE_WAIT_MS))?;
    let hold = Hold::Button { button: args.button.unwrap_or_default(), at, modifiers: modifiers(&args.modifiers)? };
    overlay::to_point(context, platform, at, false);
    up(context, "mouse-up", hold)
}

fn down(context: &Context, action: &str, hold: Hold, guard: &Guard, limit_ms: u64, deadline: Deadline) -> Answer {
    let platform = context.platform()?;
    let stage = Stage::take(context, platform, deadline)?;
    let played =
        platform.hold(&hold, context.session(), limit_ms, guard, Deadline::after_ms(context.chain_timeout_ms()?))?;
    answer(action, &hold, &played, stage.auto_wait(), Some(limit_ms))
}

fn up(context: &Context, action: &str, hold: Hold) -> Answer {
    let own;
    let platform = match context.platform() {
        Err(error) if error.kind_name() == Some(POLICY_FILE) => {
            own = context.platform_to_let_go()?;
            own.as_ref()
        }
        platform => platform?,
    };
    let stage = Stage::take(context, platform, Deadline::after_ms(LEASE_WAIT_MS))?;
    let played = platform.release(&hold, context.session(), Deadline::after_ms(context.chain_timeout_ms()?))?;
    answer(action, &hold, &played, stage.auto_wait(), None)
}

fn answer(action: &str, hold: &Hold, played: &Played, auto_wait: Value, limit_ms: Option<u64>) -> Answer {
    if let Some(error) = stopped(played) {
        return Err(error);
    }
    let (target, requested) = match hold {
        Hold::Keys(combo) => (json!({"kind": "keyboard"}), json!({"combo": combo.name()})),
        Hold::Button { button, at, modifiers } => (
            super::pointer::pointer_target(*at),
            json!({"x": at.x, "y": at.y, "button": button, "modifiers": modifiers}),
        ),
    };
    let mut out = Map::new();
    out.insert("action".into(), json!(action));
    out.insert("target".into(), target);
    out.insert("requested".into(), requested);
    out.insert("steps".into(), json!([report::step(action, false)]));
    let mut details = json!({"auto_wait": auto_wait, "delivered_events": played.delivered});
    if let (Some(limit_ms), Some(map)) = (limit_ms, details.as_object_mut()) {
        map.insert("released_after_ms".into(), json!(limit_ms));
    }
    out.insert("details".into(), details);
    out.insert("disposition".into(), report::delivery(played).disposition());
    Ok(Value::Object(out))
}

/// What is held, as `status` lists it; with `release`, everything is let go first and listed as released.
pub fn status(context: &Context, release: bool) -> Result<Value> {
    let own;
    let platform = match context.platform() {
        Err(error) if release && error.kind_name() == Some(POLICY_FILE) => {
            own = context.platform_to_let_go()?;
            own.as_ref()
        }
        platform => platform?,
    };
    let deadline = Deadline::after_ms(2_000);
    let released = if release { platform.release_all(None, deadline)? } else { Vec::new() };
    let held = platform.held(deadline)?;
    let rows = |list: &[crate::platform::Held]| list.iter().map(held_json).collect::<Vec<_>>();
    let mut out = json!({"held": rows(&held)});
    if let (true, Some(map)) = (release, out.as_object_mut()) {
        map.insert("released".into(), json!(rows(&released)));
    }
    Ok(out)
}
