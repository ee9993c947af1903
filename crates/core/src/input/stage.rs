//! What every physical command does first: take the lease, and make sure that nobody else holds a key or button.

use crate::act::lease::{self, Lease};
use crate::command::Context;
use crate::deadline::Deadline;
use crate::error::{Code, Delivery, Error, Result};
use crate::platform::{Held, Hold, Platform, WindowKey};
use crate::windows::bring_to_front;
use serde_json::{Map, Value, json};

/// How long a command without a time limit of its own waits for the lease, in milliseconds.
pub const LEASE_WAIT_MS: u64 = 5_000;
/// How long the holder may take to say what it holds, in milliseconds.
const HELD_MS: u64 = 1_000;

/// The lease, taken for physical input.
pub struct Stage {
    lease: Lease,
    contention: u64,
}

impl Stage {
    /// Takes the lease of the platform's desktop for a command without a ref.
    pub fn take(context: &Context, platform: &dyn Platform, deadline: Deadline) -> Result<Self> {
        let mut contention = 0;
        let lease = Lease::take(&lease::path(&platform.desktop_id()?)?, deadline, false, &mut contention)?;
        nothing_held_by_others(platform, context.session())?;
        Ok(Self { lease, contention })
    }

    /// As `details.auto_wait` shows it.
    pub fn auto_wait(&self) -> Value {
        json!({"lease_contention_count": self.contention, "lease_hold_ms": self.lease.held_ms()})
    }
}

/// Brings the exact window to the front and proves it. Where that fails, the input itself was not delivered, whatever
/// became of the request to the window manager: asking again is harmless.
pub fn front(platform: &dyn Platform, key: &WindowKey, deadline: Deadline) -> Result<()> {
    bring_to_front(platform, key, deadline).map(drop).map_err(|error| error.with_delivery(Delivery::NotDelivered))
}

/// While something is held, physical input of another session is refused (decisions D3).
pub fn nothing_held_by_others(platform: &dyn Platform, session: Option<&str>) -> Result<()> {
    let held = platform.held(Deadline::after_ms(HELD_MS))?;
    let others: Vec<&Held> = held.iter().filter(|h| h.session.as_deref() != session).collect();
    let Some(longest) = others.iter().map(|h| h.limit_ms.saturating_sub(h.held_ms)).max() else { return Ok(()) };
    Err(Error::before(Code::Timeout, "another session holds a key or a button down")
        .kind("input_held")
        .detail("held", others.iter().map(|h| held_json(h)).collect::<Vec<_>>())
        .retry_after(longest.clamp(100, 5_000))
        .suggest("Wait until it is released, or release it with 'agent-desktop status --release'."))
}

/// One thing held, as answers show it.
pub fn held_json(held: &Held) -> Value {
    let mut out = Map::new();
    match &held.hold {
        Hold::Keys(combo) => {
            out.insert("kind".into(), json!("keys"));
            out.insert("combo".into(), json!(combo.name()));
        }
        Hold::Button { button, at, modifiers } => {
            out.insert("kind".into(), json!("button"));
            out.insert("button".into(), json!(button));
            out.insert("x".into(), json!(at.x));
            out.insert("y".into(), json!(at.y));
            if !modifiers.is_empty() {
                out.insert("modifiers".into(), json!(modifiers));
            }
        }
    }
    if let Some(session) = &held.session {
        out.insert("session".into(), json!(session));
    }
    out.insert("held_ms".into(), json!(held.held_ms));
    out.insert("limit_ms".into(), json!(held.limit_ms));
    Value::Object(out)
}
