//! `session`: start, end, list, gc. None of it needs a desktop.

use super::clean::Which;
use super::life::{last_activity, live};
use super::manifest::Wanted;
use super::{Artifacts, Found, Sessions, Switch, now_ms};
use crate::command::Context;
use crate::command::session::{Session, SessionOperation};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Error, Result};
use crate::input::stage::held_json;
use crate::overlay::{self, Settings};
use serde_json::{Map, Value, json};

/// How long the holder of keys and buttons may take to let go when a session ends, in milliseconds.
const RELEASE_MS: u64 = 1_000;

/// `session`.
pub fn run(context: &Context, args: &Session) -> Answer {
    let sessions = Sessions::of(context.state_root());
    match args.operation {
        SessionOperation::Start => start(context, &sessions, args),
        SessionOperation::End => end(context, &sessions, args.id.as_deref()),
        SessionOperation::List => list(&sessions),
        SessionOperation::Gc => {
            let which = Which { ended: args.ended, older_than: args.older_than };
            Ok(json!({"removed": sessions.collect(which, context.session())?}))
        }
    }
}

fn start(context: &Context, sessions: &Sessions, args: &Session) -> Answer {
    // Only the flag names the new session: a variable that is set for other commands must not.
    let manifest = sessions.create(
        context.state_root(),
        Wanted {
            id: context.globals().session.clone(),
            name: args.name.clone(),
            trace: if args.no_trace { Switch::Off } else { Switch::On },
            cursor: args.cursor.then(|| json!(Settings { multi_agent: args.multi_agent, ..Settings::default() })),
            artifacts: if args.screenshots { Artifacts::Full } else { Artifacts::Events },
        },
    )?;
    Ok(json!(manifest))
}

fn end(context: &Context, sessions: &Sessions, id: Option<&str>) -> Answer {
    let id = id
        .or(context.session())
        .ok_or_else(|| Error::invalid("which session?").suggest("Give its ID, --session or AGENT_DESKTOP_SESSION."))?;
    let mut already = false;
    let manifest = sessions.change(id, |manifest| {
        already = manifest.ended_at.is_some();
        manifest.ended_at.get_or_insert_with(now_ms);
    })?;
    let mut out = json!(manifest);
    if let Some(map) = out.as_object_mut() {
        if already {
            map.insert("already_ended".into(), json!(true));
        }
        overlay::end(context, id);
        let released = let_go(context, id);
        if !released.is_empty() {
            map.insert("released".into(), json!(released));
        }
    }
    Ok(out)
}

/// Keys and buttons that the session holds are released (decisions D3). Where there is no desktop, none are.
fn let_go(context: &Context, id: &str) -> Vec<Value> {
    let own;
    let platform = match context.platform() {
        Ok(platform) => platform,
        Err(_) => match context.platform_to_let_go() {
            Ok(closed) => {
                own = closed;
                own.as_ref()
            }
            Err(_) => return Vec::new(),
        },
    };
    match platform.release_all(Some(id), Deadline::after_ms(RELEASE_MS)) {
        Ok(released) => released.iter().map(held_json).collect(),
        Err(error) => {
            tracing::warn!(session = id, %error, "what the session holds down could not be released: see 'status'");
            Vec::new()
        }
    }
}

/// Oldest first; an id without a manifest counts from its last activity.
fn list(sessions: &Sessions) -> Answer {
    let mut rows: Vec<(u64, Value)> = Vec::new();
    for id in sessions.ids()? {
        rows.push(row(sessions, &id)?);
    }
    rows.sort_by_key(|(since, _)| *since);
    Ok(json!({"sessions": rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>()}))
}

fn row(sessions: &Sessions, id: &str) -> Result<(u64, Value)> {
    let dir = sessions.dir(id)?;
    let found = sessions.read(id);
    let state = match found {
        Found::Manifest(_) => "manifest",
        Found::Missing => "namespace",
        Found::Damaged => "damaged",
    };
    let manifest = found.manifest();
    let active = last_activity(&dir);
    let mut out = Map::new();
    out.insert("session_id".into(), json!(id));
    out.insert("kind".into(), json!(state));
    if let Some(Value::Object(fields)) = manifest.as_ref().map(|m| json!(m)) {
        out.extend(fields);
    }
    out.insert("last_activity".into(), json!(active));
    out.insert("live".into(), json!(live(&dir, manifest.as_ref())));
    Ok((manifest.map_or(active, |m| m.created_at), Value::Object(out)))
}
