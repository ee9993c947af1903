//! `--wait-for` and `--wait-for-gone`: after a command, wait for an element of its windows, and answer with the window as
//! it then is (spec 2 "Global flags"). Matched as `find` matches, but for what is not shown; what could not be read is
//! neither there nor gone.

use super::ear::{Ear, Of};
use super::place::Place;
use super::{passes, until_described, view};
use crate::command::globals::WaitView;
use crate::command::observe::Snapshot;
use crate::command::{Command, Context, Globals};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Delivery, Error, Result};
use crate::observe::locate::Root;
use crate::observe::snapshot;
use crate::platform::ProcessKey;
use crate::query::ask::{Ask, Query};
use crate::query::matcher::search;
use crate::query::result::brief_json;
use crate::tree::closed::away;
use crate::tree::raw::RawTree;
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::time::Instant;

/// Time limit of the two waits, in milliseconds.
pub const TIMEOUT_MS: u64 = 30_000;
/// Time for a last look at the window when the wait has failed, in milliseconds.
const DIAGNOSTIC_MS: u64 = 600;
/// Time at least for each further window of a look, in milliseconds.
const NEXT_WINDOW_MS: u64 = 500;

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

    /// Whether it is waited for that nothing matches any more.
    pub fn gone(&self) -> bool {
        self.gone
    }

    fn unmet(&self) -> &'static str {
        if self.gone { "selector-gone" } else { "selector" }
    }
}

/// What the flags say that belong to one command: whether it takes them, and whether they make sense.
///
/// # Errors
/// `INVALID_ARGS`; nothing has run.
pub fn admit(command: &Command, globals: &Globals) -> Result<()> {
    let spec = command.spec();
    Selector::of(globals)?;
    if globals.waits() && !spec.waits {
        return Err(Error::invalid(format!("{} doesn't take --wait-for and --wait-for-gone", spec.name)));
    }
    let Command::Snapshot(args) = command else { return Ok(()) };
    if args.root.is_some() && globals.waits() {
        return Err(Error::invalid("--root and --wait-for exclude each other"));
    }
    if globals.wait_view.is_some() {
        return Err(Error::invalid("--wait-view belongs to actions; snapshot has -i, --format and --budget-tokens"));
    }
    Ok(())
}

/// Waits for what `snapshot` is to show.
pub fn wait_to_see(context: &Context, selector: &Selector, args: &Snapshot) -> Answer {
    until(context, selector, &Place::only(args.clone()), None)
}

/// Waits for what an action brings; `done` is what it answered.
pub(crate) fn wait_after(context: &Context, selector: &Selector, place: Result<Place>, done: Value) -> Answer {
    let view = context.globals().wait_view.unwrap_or_default();
    match place.and_then(|place| until(context, selector, &place, Some(view))) {
        Ok(Value::Object(mut map)) => {
            map.insert("after_action".into(), done);
            Ok(Value::Object(map))
        }
        Ok(other) => Ok(other),
        // The action has run: whatever failed since, what is known of its delivery stands.
        Err(error) => {
            // An application that ran already says what of the command had no effect.
            let error = done["suggestion"].as_str().into_iter().fold(error, |e, text| e.suggest(text));
            Err(error.with_delivery(delivered(&done)).detail("after_action", done))
        }
    }
}

/// What an action's answer says of its delivery. `launch` says nothing: it started something, unless that ran already.
fn delivered(done: &Value) -> Delivery {
    match done.get("disposition") {
        Some(disposition) => serde_json::from_value(disposition["delivery"].clone()).unwrap_or(Delivery::Unknown),
        None => Delivery::DeliveredUnverified,
    }
}

/// What the last look saw that is worth telling of a wait in vain.
#[derive(Default)]
struct Seen {
    /// Matches that are not shown.
    hidden: Cell<usize>,
    /// Elements that were to be gone.
    still_there: RefCell<Vec<Value>>,
}

/// Elements that were to be gone and are named, at most.
const MAX_TOLD: usize = 5;

fn until(context: &Context, selector: &Selector, place: &Place, view: Option<WaitView>) -> Answer {
    let begun = Instant::now();
    let seen = Seen::default();
    let describe = |error: Error| {
        let error = error.detail("selector", selector.text.as_str()).detail("gone", selector.gone);
        let error = if selector.gone { error.detail("wanted", "gone") } else { error };
        let hidden = seen.hidden.get();
        let error = if hidden > 0 { error.detail("hidden_matches", hidden) } else { error };
        let error = match seen.still_there.take() {
            rows if rows.is_empty() => error,
            rows => error.detail("still_there", rows),
        };
        told(context, place, error)
    };
    let own = place.own.as_ref();
    let (app, window_id) = own.map_or((None, None), |own| (own.app.as_ref(), own.window_id.as_ref()));
    let named = app.is_some() || window_id.is_some();
    let of = match (&place.process, app, window_id) {
        // Without a name nobody knows which window it will be.
        (Some(process), ..) if named || own.is_none() => Of::Process(process.clone()),
        (_, Some(name), _) => Of::App(name.clone()),
        (_, None, Some(id)) => window_process(context, id).map_or(Of::Desktop, Of::Process),
        (_, None, None) => Of::Active,
    };
    let mut ear = Ear::open(context, of);
    let left = context.time_left_ms();
    let timeout_ms = left.map_or(selector.timeout_ms, |left| selector.timeout_ms.min(left));
    let answer = until_described(&mut ear, timeout_ms, selector.unmet(), describe, passes, |deadline| {
        match look(context, selector, place, view, deadline, &seen) {
            // Where its window is gone, so is the element. Without a name nobody knows which window is meant.
            Err(e) if selector.gone && named && matches!(e.code(), Code::WindowNotFound | Code::AppNotFound) => {
                Ok(Some(json!({"gone": true, "target_absent": true})))
            }
            other => other,
        }
    });
    let mut answer = answer.map_err(|error| match timeout_ms < selector.timeout_ms {
        true => error.detail("limited_by", "batch"),
        false => error,
    })?;
    if let Some(map) = answer.as_object_mut() {
        map.insert("matched_selector".into(), json!(selector.text));
        map.insert("elapsed_ms".into(), json!(begun.elapsed().as_millis() as u64));
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

/// One look: the window as it is, where the selector holds. A match may stand in any window of the process, the own one
/// first; what is to be gone is looked for in the own one only.
fn look(
    context: &Context,
    selector: &Selector,
    place: &Place,
    view: Option<WaitView>,
    deadline: Deadline,
    seen: &Seen,
) -> Result<Option<Value>> {
    seen.hidden.set(0);
    seen.still_there.take();
    let own = place.own.clone().unwrap_or_default();
    let mut own_id = own.window_id.clone();
    let mut failed = None;
    if place.own.is_some() {
        match snapshot::read(context, &own, deadline) {
            Ok((root, tree)) => {
                own_id = Some(root.source.window_id.clone());
                if let Some(answer) = judge(context, selector, &own, view, (root, tree), deadline, seen)? {
                    return Ok(Some(answer));
                }
            }
            Err(error) if selector.gone || !passes(&error) => return Err(error),
            Err(error) => failed = Some(error),
        }
    }
    if !selector.gone && place.process.is_some() {
        let platform = context.platform()?;
        for root in place.others(platform, own_id.as_deref(), deadline)? {
            // A window that was large must not leave the next one without time.
            let deadline = deadline.max(Deadline::after_ms(NEXT_WINDOW_MS));
            let args = Snapshot { app: None, window_id: Some(root.source.window_id.clone()), ..own.clone() };
            match snapshot::read_root(context, &args, root, deadline) {
                Ok(read) => {
                    if let Some(answer) = judge(context, selector, &args, view, read, deadline, seen)? {
                        return Ok(Some(answer));
                    }
                }
                Err(error) => failed = failed.or(Some(error).filter(passes)),
            }
        }
    }
    failed.map_or(Ok(None), Err)
}

/// Whether the selector holds in a window that was read, and how it is answered then.
fn judge(
    context: &Context,
    selector: &Selector,
    args: &Snapshot,
    view: Option<WaitView>,
    (root, tree): (Root, RawTree),
    deadline: Deadline,
    seen: &Seen,
) -> Result<Option<Value>> {
    let found = search(&selector.query, &tree);
    // What isn't shown is no match: closed menus and pages that are not in view are in many trees all the time.
    let shown: Vec<u32> = found.matches.iter().copied().filter(|at| !away(&tree, *at)).collect();
    seen.hidden.set(seen.hidden.get() + found.matches.len() - shown.len());
    if selector.gone {
        if !shown.is_empty() {
            let rows = shown.iter().take(MAX_TOLD).map(|at| brief_json(&tree, *at, None, ""));
            seen.still_there.replace(rows.collect());
            return Ok(None);
        }
        // Absence is proven only by a complete read.
        if !(found.complete() && tree.complete()) {
            return Err(
                Error::before(Code::Timeout, "the window could not be read completely").kind("locator_incomplete")
            );
        }
        let mut answer = view::show(context, args, view, root, tree, deadline, &[])?;
        if let Some(map) = answer.as_object_mut() {
            map.insert("gone".into(), json!(true));
        }
        return Ok(Some(answer));
    }
    // What nobody could tell to be shown is no match either; one that is, is one, whatever else there is.
    let sure: Vec<u32> = shown.into_iter().filter(|at| tree.node(*at).facts.states.settled()).collect();
    if sure.is_empty() {
        return Ok(None);
    }
    view::show(context, args, view, root, tree, deadline, &sure).map(Some)
}

/// What can be told of a wait in vain: the window as it is now, and the windows that have opened meanwhile.
fn told(context: &Context, place: &Place, error: Error) -> Error {
    let error = match place.own.as_ref().and_then(|own| last_view(context, own)) {
        Some(id) => error.detail("snapshot_id", id),
        None => error,
    };
    let platform = context.platform().ok();
    let opened = platform.and_then(|platform| place.opened(platform, Deadline::after_ms(DIAGNOSTIC_MS)));
    match opened {
        Some(opened) if !opened.is_empty() => {
            let id = opened[0]["id"].as_str().unwrap_or_default().to_owned();
            error.detail("windows_opened", opened).suggest(format!(
                "A window of the application has opened meanwhile: look at it with 'snapshot --window-id {id}'. Don't repeat the action."
            ))
        }
        Some(_) => error.suggest(
            "No window of the application has opened since. 'find' in snapshot_id's window shows what is there; a dialog of another program stands in list-windows.",
        ),
        None => error,
    }
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
