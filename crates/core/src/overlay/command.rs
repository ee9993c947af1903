//! `cursor-overlay` (spec 2 §55).

use super::{Cursor, Settings};
use crate::command::Context;
use crate::command::session::{CursorOverlay, OverlayOperation};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Error, Result};
use crate::session::Sessions;
use serde_json::{Value, json};

/// How long the renderer may take to come up, or to end, in milliseconds.
const RENDERER_MS: u64 = 3_000;

/// `cursor-overlay`.
pub fn run(context: &Context, args: &CursorOverlay) -> Answer {
    let id = context.session().ok_or_else(|| {
        Error::invalid("the cursor overlay belongs to a session")
            .kind("session_required")
            .suggest("Give --session or AGENT_DESKTOP_SESSION; 'session start' makes one.")
    })?;
    match args.operation {
        OverlayOperation::Enable => enable(context, id, args),
        OverlayOperation::Disable => disable(context, id),
    }
}

fn enable(context: &Context, id: &str, args: &CursorOverlay) -> Answer {
    let settings = Settings::asked(args);
    let manifest = change(context, id, Some(json!(settings)))?;
    // With a cursor for each agent, one without a name shows that the renderer is there, where no agent is named.
    let agent = context.agent().filter(|_| settings.multi_agent).map(str::to_owned);
    let cursor = Cursor { session: manifest, agent, settings };
    let platform = context.platform()?;
    let shown = platform.overlay_step(&cursor.step(None, None, false), Deadline::after_ms(RENDERER_MS));
    let mut out =
        json!({"session_id": cursor.session, "enabled": true, "rendered": shown.is_ok(), "cursor": cursor.settings});
    if let Err(error) = shown {
        out["reason"] = json!({"code": error.code(), "kind": error.kind_name(), "message": error.to_string()});
    }
    Ok(out)
}

fn disable(context: &Context, id: &str) -> Answer {
    let session = change(context, id, None)?;
    let stopped = end(context, &session);
    Ok(json!({"session_id": session, "enabled": false, "stopped": stopped}))
}

/// Ends the session's renderer on this desktop, where there is one; says whether one ran.
pub(crate) fn end(context: &Context, session: &str) -> bool {
    let Ok(platform) = context.platform() else { return false };
    platform.overlay_end(session, Deadline::after_ms(RENDERER_MS)).unwrap_or_else(|error| {
        tracing::warn!(session, %error, "the agent's cursor could not be ended; it ends by itself once it is idle");
        false
    })
}

/// Writes the settings into the session's manifest; answers with its id.
fn change(context: &Context, id: &str, cursor: Option<Value>) -> Result<String> {
    let mut ended = false;
    let manifest = Sessions::of(context.state_root()).change(id, |manifest| {
        ended = manifest.ended_at.is_some();
        if !ended {
            manifest.cursor = cursor;
        }
    })?;
    if ended {
        return Err(Error::invalid("the session has ended")
            .kind("session_ended")
            .suggest("'session start' makes a new one."));
    }
    Ok(manifest.session_id)
}
