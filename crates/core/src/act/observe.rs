//! `--observe`: what changed in the acted-on window, read right before the lease is taken and again when the action has
//! been read back and the application's events have gone quiet. An observation that fails says so in its own place; it
//! never changes what is said of the action.

use crate::command::Context;
use crate::deadline::Deadline;
use crate::error::{Code, Delivery, Error};
use crate::observe::changes::Changes;
use crate::observe::locate::{self, Root};
use crate::observe::saved;
use crate::observe::snapshot::{compared, keep};
use crate::platform::apps::surface_json;
use crate::platform::{App, Live, Platform, ProcessKey, ProcessLife, ReadPlan, Responsive, SurfaceInfo, Window};
use crate::refs::baseline::Baseline;
use crate::refs::entry::{Entry, RefMap, Source};
use crate::tree::present::{Options, present};
use crate::tree::raw::{Facts, Handle, Link};
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

/// Time for one read of the window, in milliseconds.
const READ_MS: u64 = 2_000;
/// How long the application must announce nothing until the window is read again, in milliseconds.
const QUIET_MS: u64 = 80;
/// How long is waited for that at most, in milliseconds.
const SETTLE_MS: u64 = 600;
/// How long a process that answers no more may take to end, and the pause between two looks, in milliseconds.
const ENDING_MS: u64 = 300;
const ENDING_POLL_MS: u64 = 20;

/// Reads a window around one action.
pub struct Observer<'a> {
    context: &'a Context,
    /// The snapshot that the caller knows, where the action is on a ref of one.
    map: Option<&'a RefMap>,
    target: Result<Target, Error>,
    /// Whether no reader may stay connected while the input is delivered: GTK 3 asks the accessibility registry about
    /// each key where it knows of a reader, and hangs in that where a dialog runs inside an action's handler (measured).
    apart: bool,
    before: RefCell<Option<Result<Before, Error>>>,
}

/// The window that is read.
struct Target {
    app: App,
    window: Link,
    above: Link,
    process: ProcessKey,
    source: Source,
    /// The element that is acted on, else the window.
    element: Handle,
}

/// The window right before the action.
struct Before {
    app: App,
    window: Link,
    above: Link,
    base: Baseline,
    options: Options,
    windows: Vec<Window>,
    surfaces: Vec<SurfaceInfo>,
}

impl<'a> Observer<'a> {
    /// For an action on this entry.
    pub fn new(context: &'a Context, map: &'a RefMap, entry: &'a Entry) -> Self {
        Self { context, map: Some(map), target: of_entry(map, entry), apart: false, before: RefCell::new(None) }
    }

    /// For input to a window, where that can be told.
    pub fn of_window(context: &'a Context, window: Result<Window, Error>) -> Self {
        Self { context, map: None, target: window.and_then(of_window), apart: true, before: RefCell::new(None) }
    }

    /// Reads the window as it is now; the last look before the dispatch counts.
    pub fn look(&self) {
        let before = self.read_before();
        self.before.replace(Some(before));
    }

    fn read_before(&self) -> Result<Before, Error> {
        let own;
        let platform = match self.apart {
            true => {
                own = self.context.platform_apart()?;
                own.as_ref()
            }
            false => self.context.platform()?,
        };
        let deadline = Deadline::after_ms(READ_MS);
        let target = self.target.as_ref().map_err(Clone::clone)?;
        let (app, window, above) = (target.app.clone(), target.window.clone(), target.above.clone());
        let store = saved::store(self.context)?;
        let kept = self.map.and_then(|map| store.load_baseline(&map.snapshot_id).ok());
        // Whatever the caller's snapshot left out: what an action brings is often a text.
        let options = compared(&Options::default());
        let windows = platform.windows(std::slice::from_ref(&app), deadline)?;
        let surfaces = platform.surfaces(&app, deadline)?;
        let plan = ReadPlan { bounds: options.include_bounds, ..ReadPlan::contract(deadline) };
        let above_window = std::slice::from_ref(&above);
        let tree = platform.read_tree(&window.handle, above_window, &target.process, &plan)?;
        let mut base = Baseline::of(&tree, &present(&tree, &options), &[], &options);
        // What goes is named by the ref that the caller may know it by.
        let known: HashMap<_, u32> =
            kept.iter().flat_map(|k| &k.rows).filter_map(|row| Some((&row.handle, row.number?))).collect();
        for row in &mut base.rows {
            row.number = known.get(&row.handle).copied();
        }
        Ok(Before { app, window, above, base, options, windows, surfaces })
    }

    /// What changed since [`Self::look`], where that was called: `observed_changes`.
    pub fn changes(&self) -> Option<Value> {
        let before = self.before.take()?;
        let read = before.and_then(|before| self.read_after(&before));
        Some(match read {
            Ok(mut told) => {
                if let (true, Some(map)) = (self.process_ended(false), told.as_object_mut()) {
                    map.insert("process_ended".into(), json!(true));
                }
                told
            }
            // Its silence is that of the dead: everything that it showed has gone with it.
            Err(_) if self.process_ended(true) => {
                json!({"process_ended": true, "window_closed": true, "complete": true})
            }
            Err(error) => failed(&error),
        })
    }

    /// Whether the process has ended. One that has left the desktop may take a moment until it has.
    fn process_ended(&self, expected: bool) -> bool {
        let (Ok(target), Ok(platform)) = (&self.target, self.context.platform()) else { return false };
        let until = Deadline::after_ms(if expected { ENDING_MS } else { 0 });
        loop {
            if matches!(platform.process_life(&target.process), ProcessLife::Gone | ProcessLife::OtherGeneration) {
                return true;
            }
            if until.passed() {
                return false;
            }
            std::thread::sleep(until.left().min(Duration::from_millis(ENDING_POLL_MS)));
        }
    }

    fn read_after(&self, before: &Before) -> Result<Value, Error> {
        let platform = self.context.platform()?;
        let target = self.target.as_ref().map_err(Clone::clone)?;
        settle(platform, target);
        let deadline = Deadline::after_ms(READ_MS);
        let mut out = Map::new();
        let mut windows = platform.windows(std::slice::from_ref(&before.app), deadline)?;
        let surfaces = platform.surfaces(&before.app, deadline)?;
        let plan = ReadPlan { bounds: before.options.include_bounds, ..ReadPlan::contract(deadline) };
        let above = std::slice::from_ref(&before.above);
        match platform.read_tree(&before.window.handle, above, &target.process, &plan) {
            Ok(tree) => {
                let mut root = root(target, before, &windows);
                locate::within(platform, &mut root, &tree, deadline)?;
                let kept = keep(self.context, root, tree, &before.options)?;
                let source = &kept.map.source;
                out.insert("window".into(), json!({"id": source.window_id, "title": source.window_title}));
                out.insert("snapshot_id".into(), json!(kept.map.snapshot_id));
                out.insert("ref_count".into(), json!(kept.numbered.len()));
                Changes::new(&before.base, self.map, &kept, true).insert_into(&mut out);
            }
            // The window went: there is nothing left to compare, and that is what changed.
            Err(error) if error.code() == Code::WindowNotFound => {
                out.insert("window_closed".into(), json!(true));
                out.insert("complete".into(), json!(true));
                // It may have gone since the windows were listed.
                windows = platform.windows(std::slice::from_ref(&before.app), deadline)?;
            }
            Err(error) => return Err(error),
        }
        let brief = |w: &Window| json!({"id": w.id, "title": w.title});
        let lacks = |list: &[Window], w: &Window| !list.iter().any(|other| other.id == w.id);
        let opened: Vec<Value> = windows.iter().filter(|w| lacks(&before.windows, w)).map(brief).collect();
        // The window system may still list what its application has given up.
        let given_up = |w: &Window| out.contains_key("window_closed") && w.root.as_ref() == Some(&before.window.handle);
        let closed = before.windows.iter().filter(|w| lacks(&windows, w) || given_up(w)).map(brief);
        let closed: Vec<Value> = closed.collect();
        let new = |s: &&SurfaceInfo| !before.surfaces.iter().any(|other| other.root == s.root);
        let shown: Vec<Value> = surfaces.iter().filter(new).map(surface_json).collect();
        for (key, list) in [("windows_opened", opened), ("windows_closed", closed), ("surfaces_opened", shown)] {
            if !list.is_empty() {
                out.insert(key.into(), list.into());
            }
        }
        Ok(Value::Object(out))
    }
}

fn of_entry(map: &RefMap, entry: &Entry) -> Result<Target, Error> {
    let chain = map.chain(entry.link);
    let (Some(above), Some(window)) = (chain.first().cloned(), chain.get(1).cloned()) else {
        return Err(Error::before(Code::ActionNotSupported, "the element stands in no window"));
    };
    let app = map.application(entry.link).ok_or_else(super::ready::torn)?;
    let element = chain.last().map_or_else(|| window.handle.clone(), |own| own.handle.clone());
    Ok(Target { app, window, above, process: map.process.clone(), source: map.source.clone(), element })
}

fn of_window(window: Window) -> Result<Target, Error> {
    let root = locate::of_window(window, Surface::Window)?;
    let above = root.above.first().cloned();
    let above = above.ok_or_else(|| Error::before(Code::ActionNotSupported, "the window stands in no application"))?;
    let own = Link { handle: root.handle, index: root.index };
    let window = root.above.get(1).cloned().unwrap_or(own);
    let app = App {
        name: root.source.app.clone(),
        names: Vec::new(),
        process: root.process.clone(),
        bundle_id: None,
        presentation: None,
        responsive: Responsive::Yes,
        root: Some(above.handle.clone()),
    };
    let element = window.handle.clone();
    Ok(Target { app, window, above, process: root.process, source: root.source, element })
}

/// The window as the root of a snapshot.
fn root(target: &Target, before: &Before, windows: &[Window]) -> Root {
    let mut source = target.source.clone();
    // A ref from a menu or popover: the window around it is what is read.
    if let Some(window) = windows.iter().find(|w| w.root.as_ref() == Some(&before.window.handle)) {
        source.window_id.clone_from(&window.id);
        source.window_title.clone_from(&window.title);
        source.surface = Surface::Window;
    }
    Root {
        handle: before.window.handle.clone(),
        above: vec![before.above.clone()],
        index: before.window.index,
        process: target.process.clone(),
        source,
        below: None,
    }
}

/// Waits until the application announces nothing for a while.
fn settle(platform: &dyn Platform, target: &Target) {
    let live =
        Live { handle: target.element.clone(), process: target.process.clone(), window: None, facts: Facts::default() };
    let end = Deadline::after_ms(SETTLE_MS);
    let mut watch = platform.watch(&live, end);
    // Pages draw later than others; what was seen of the action before is not waited for again.
    let mut quiet = QUIET_MS.max(watch.window_ms() * 2 / 5);
    while !watch.effects(end.within_ms(quiet)).is_empty() && !end.passed() {
        quiet = QUIET_MS;
    }
}

fn failed(error: &Error) -> Value {
    let mut told = json!({"code": error.code(), "message": error.message()});
    if let Some(kind) = error.kind_name() {
        told["kind"] = json!(kind);
    }
    json!({"complete": false, "error": told})
}

/// Adds an observation to an action's answer. An error that says that nothing was delivered gets none.
pub fn add(answer: Result<Value, Error>, changes: impl FnOnce() -> Option<Value>) -> Result<Value, Error> {
    match answer {
        Ok(mut data) => {
            if let Some(changes) = changes()
                && let Some(map) = data.as_object_mut()
            {
                if let Some(details) = map.get_mut("details").and_then(Value::as_object_mut) {
                    agree(details, &changes);
                }
                map.insert("observed_changes".into(), changes);
            }
            Ok(data)
        }
        Err(error) if error.delivery() == Delivery::NotDelivered => Err(error),
        Err(error) => Err(match changes() {
            Some(changes) => error.detail("observed_changes", changes),
            None => error,
        }),
    }
}

/// An effect that nobody saw in time is one where the observation saw it: the answer must not say both. What is said of
/// delivery stays: an effect elsewhere proves nothing (decisions D5).
fn agree(details: &mut Map<String, Value>, changes: &Value) {
    if !matches!(details.get("effect").and_then(Value::as_str), Some("none_observed" | "unknown")) {
        return;
    }
    let any = |key: &str| changes[key].as_array().is_some_and(|list| !list.is_empty());
    let ended = changes["process_ended"] == true;
    let effect = if ended {
        details.insert("process_ended".into(), json!(true));
        "process_ended"
    } else if any("windows_opened") || any("surfaces_opened") {
        "surface_appeared"
    } else if changes["window_closed"] == true {
        "gone"
    } else if ["windows_closed", "added", "removed", "changed", "moved", "replaced"].into_iter().any(any) {
        "changed_elsewhere"
    } else {
        return;
    };
    details.insert("effect".into(), json!(effect));
    details.insert("what".into(), json!("observed_changes"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_that_the_observation_saw_is_not_said_to_be_none() {
        let told = |effect: &str, changes: Value| {
            let data = add(Ok(json!({"details": {"effect": effect}})), || Some(changes)).unwrap();
            data["details"]["effect"].as_str().unwrap().to_owned()
        };
        assert_eq!(told("none_observed", json!({"window_closed": true})), "gone");
        assert_eq!(told("none_observed", json!({"windows_opened": [{"id": "w"}], "changed": [1]})), "surface_appeared");
        assert_eq!(told("unknown", json!({"changed": [1]})), "changed_elsewhere");
        assert_eq!(told("none_observed", json!({"changed": [], "complete": true})), "none_observed");
        assert_eq!(told("target_changed", json!({"window_closed": true})), "target_changed");
        assert_eq!(told("none_observed", json!({"process_ended": true, "window_closed": true})), "process_ended");
    }

    #[test]
    fn an_observation_never_changes_what_is_said_of_the_action() {
        let failure = || Some(failed(&Error::before(Code::Timeout, "late").kind("k")));
        let data = add(Ok(json!({"action": "click"})), failure).unwrap();
        assert_eq!(data["observed_changes"]["complete"], false);
        assert_eq!(data["observed_changes"]["error"]["kind"], "k");
        let uncertain = Error::new(Code::Timeout, Delivery::DeliveryUncertain, "no reply").kind("chain_deadline");
        let error = add(Err(uncertain), failure).unwrap_err();
        assert_eq!((error.code(), error.delivery()), (Code::Timeout, Delivery::DeliveryUncertain));
        assert_eq!(error.kind_name(), Some("chain_deadline"));
        assert!(error.details().contains_key("observed_changes"));
    }

    #[test]
    fn where_nothing_was_delivered_nothing_is_read() {
        let error = add(Err(Error::before(Code::StaleRef, "gone")), || panic!("read")).unwrap_err();
        assert!(!error.details().contains_key("observed_changes"));
    }
}
