//! `--wait-for` and `--wait-for-gone`: after a command, wait for an element of its window, and answer with the window as
//! it then is (spec 2 "Global flags"). Matched as `find` matches; what could not be read is neither there nor gone.

use super::ear::{Ear, Of};
use super::{passes, until_described};
use crate::command::observe::Snapshot;
use crate::command::pointer::DragEnd;
use crate::command::{Command, Context, Globals};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Delivery, Error, Result};
use crate::observe::{saved, snapshot};
use crate::platform::ProcessKey;
use crate::query::ask::{Ask, Query};
use crate::query::matcher::search;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Time limit of the two waits, in milliseconds.
pub const TIMEOUT_MS: u64 = 30_000;
/// Time for a last look at the window when the wait has failed, in milliseconds.
const DIAGNOSTIC_MS: u64 = 600;

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    text: String,
    query: Query,
    gone: bool,
    timeout_ms: u64,
}

impl Selector {
    /// The selector of the command's flags, where there is one. `role:text`, split at the first colon; either may be
    /// left out, and then so may the colon after the role.
    pub fn of(globals: &Globals) -> Result<Option<Self>> {
        let (text, gone) = match (&globals.wait_for, &globals.wait_for_gone) {
            (Some(text), _) => (text, false),
            (None, Some(text)) => (text, true),
            (None, None) => return Ok(None),
        };
        let (role, words) = match text.split_once(':') {
            Some((role, words)) => (Some(role).filter(|r| !r.trim().is_empty()), Some(words)),
            None => (Some(text.as_str()), None),
        };
        let query = Ask { role, text: words, ..Ask::default() }
            .query()
            .map_err(|e| e.suggest("A selector is role:text, role, or :text, like button:Submit, button, :Saved."))?;
        let timeout_ms = globals.wait_timeout.unwrap_or(TIMEOUT_MS);
        Ok(Some(Self { text: text.clone(), query, gone, timeout_ms }))
    }

    fn unmet(&self) -> &'static str {
        if self.gone { "selector-gone" } else { "selector" }
    }
}

/// Waits where the command looks; `done` is what the command answered, for all but `snapshot`.
pub fn wait(context: &Context, selector: &Selector, command: &Command, done: Option<Value>) -> Answer {
    let look = match command {
        Command::Snapshot(args) => Ok(args.clone()),
        other => window_of(context, other),
    };
    let answer = look.and_then(|look| until(context, selector, &look, done.as_ref()));
    let Some(done) = done else { return answer };
    match answer {
        Ok(Value::Object(mut map)) => {
            map.insert("after_action".into(), done);
            Ok(Value::Object(map))
        }
        Ok(other) => Ok(other),
        // The action has run: whatever failed since, what is known of its delivery stands.
        Err(error) => {
            let delivery = serde_json::from_value(done["disposition"]["delivery"].clone()).unwrap_or(Delivery::Unknown);
            Err(error.with_delivery(delivery).detail("after_action", done))
        }
    }
}

/// The window that an action's wait looks at: that of its ref, else what `press` names, else the active one.
fn window_of(context: &Context, command: &Command) -> Result<Snapshot> {
    let reference = match command {
        Command::Hover(args) => args.ref_id.as_ref(),
        Command::Drag(args) => match args.wait_for_scope.unwrap_or(DragEnd::To) {
            DragEnd::From => args.from.as_ref(),
            DragEnd::To => args.to.as_ref(),
        },
        Command::Press(args) => {
            return Ok(Snapshot {
                app: args.app.clone(),
                window_id: args.window_id.clone().or_else(|| args.expect_window.clone()),
                ..Snapshot::default()
            });
        }
        other => other.ref_action().map(crate::command::act::RefAction::ref_id),
    };
    let Some(reference) = reference else { return Ok(Snapshot::default()) };
    let map = saved::load(context, &reference.parse()?.snapshot)?;
    Ok(Snapshot { window_id: Some(map.source.window_id), ..Snapshot::default() })
}

fn until(context: &Context, selector: &Selector, args: &Snapshot, done: Option<&Value>) -> Answer {
    let begun = Instant::now();
    let describe = |error: Error| {
        let error = error.detail("selector", selector.text.as_str()).detail("gone", selector.gone);
        match last_view(context, args) {
            Some(id) => error.detail("snapshot_id", id),
            None => error,
        }
    };
    let named = args.app.is_some() || args.window_id.is_some();
    let of = match (&args.app, &args.window_id) {
        (Some(name), _) => Of::App(name.clone()),
        (None, Some(id)) => window_process(context, id).map_or(Of::Desktop, Of::Process),
        (None, None) => Of::Active,
    };
    let mut ear = Ear::open(context, of);
    let answer = until_described(&mut ear, selector.timeout_ms, selector.unmet(), describe, passes, |deadline| {
        match look(context, selector, args, deadline) {
            // Where its window is gone, so is the element. Without a name nobody knows which window is meant.
            Err(e) if selector.gone && named && matches!(e.code(), Code::WindowNotFound | Code::AppNotFound) => {
                Ok(Some(json!({"gone": true, "target_absent": true})))
            }
            other => other,
        }
    });
    let mut answer = answer?;
    if let Some(map) = answer.as_object_mut() {
        map.insert("matched_selector".into(), json!(selector.text));
        map.insert("elapsed_ms".into(), json!(begun.elapsed().as_millis() as u64));
    } else if done.is_some() {
        answer = json!({"outline": answer, "matched_selector": selector.text});
    }
    Ok(answer)
}

/// The process of a window by its id, where it is there.
fn window_process(context: &Context, id: &str) -> Option<ProcessKey> {
    let platform = context.platform().ok()?;
    let deadline = Deadline::after_ms(DIAGNOSTIC_MS);
    let windows = platform.windows(&platform.apps(deadline).ok()?, deadline).ok()?;
    windows.into_iter().find(|w| w.id == id).map(|w| w.process)
}

/// One look: the window as it is, where the selector holds.
fn look(context: &Context, selector: &Selector, args: &Snapshot, deadline: Deadline) -> Result<Option<Value>> {
    let (root, tree) = snapshot::read(context, args, deadline)?;
    let found = search(&selector.query, &tree);
    let holds = if selector.gone { found.matches.is_empty() } else { !found.matches.is_empty() };
    // A match is one, whatever else there is; absence is proven only by a complete read.
    if selector.gone && holds && !(found.complete() && tree.complete()) {
        return Err(Error::before(Code::Timeout, "the window could not be read completely").kind("locator_incomplete"));
    }
    if !holds {
        return Ok(None);
    }
    let mut answer = snapshot::show(context, args, root, tree, deadline)?;
    if let (true, Some(map)) = (selector.gone, answer.as_object_mut()) {
        map.insert("gone".into(), json!(true));
    }
    Ok(Some(answer))
}

/// A snapshot of the window as it is when the wait has failed, for the caller to look into.
fn last_view(context: &Context, args: &Snapshot) -> Option<String> {
    let args = Snapshot { format: None, ..args.clone() };
    let deadline = Deadline::after_ms(DIAGNOSTIC_MS);
    let (root, tree) = snapshot::read(context, &args, deadline).ok()?;
    let shown: Map<String, Value> =
        serde_json::from_value(snapshot::show(context, &args, root, tree, deadline).ok()?).ok()?;
    shown.get("snapshot_id").and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Selector> {
        Selector::of(&Globals { wait_for: Some(text.into()), ..Globals::default() }).map(|s| s.unwrap())
    }

    #[test]
    fn a_selector_is_a_role_a_text_or_both() {
        assert!(of("button:Submit").unwrap().query.role.is_some());
        assert!(of("button").unwrap().query.text.is_none());
        assert!(of(":Saved!").unwrap().query.role.is_none());
        assert_eq!(of(":Time: 5").unwrap().query, Ask { text: Some("Time: 5"), ..Ask::default() }.query().unwrap());
        for bad in ["", ":", "button:", "no-such-role", "no-such-role:x", " : "] {
            assert_eq!(of(bad).unwrap_err().code(), Code::InvalidArgs, "{bad:?}");
        }
    }

    #[test]
    fn the_flags_say_what_is_waited_for() {
        assert_eq!(Selector::of(&Globals::default()).unwrap(), None);
        let globals = Globals { wait_for_gone: Some("button".into()), wait_timeout: Some(7), ..Globals::default() };
        let selector = Selector::of(&globals).unwrap().unwrap();
        assert_eq!((selector.gone, selector.timeout_ms), (true, 7));
    }
}
