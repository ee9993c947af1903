//! `wait --event`: a window, an application or a surface came or went, or another window is active: what a look finds
//! compared with a baseline (spec 1 §10). In a batch the baseline is taken before the entry that precedes the wait.

use super::ear::{Ear, Of};
use super::until_described;
use crate::command::Context;
use crate::command::wait::{EventKind, Wait};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result, echo};
use crate::observe::list::window_json;
use crate::observe::target::{app_summary, find_app, matches};
use crate::platform::apps::surface_json;
use crate::platform::{App, Platform, ProcessKey, ProcessLife, SurfaceInfo, Window};
use crate::watch::{is_layer, silence};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashSet;

/// Time for taking a baseline, in milliseconds.
const BASELINE_MS: u64 = 3_000;

/// What is there.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    apps: Vec<App>,
    windows: Vec<Window>,
    surfaces: Vec<SurfaceInfo>,
    active: Option<Window>,
    /// The processes of the application that was named, where it was there.
    named: Vec<ProcessKey>,
    /// Ids that windows of then have now.
    renamed: Vec<(String, String)>,
    /// Who was silent: of that, what isn't here is not known to be gone, and what is has other ids.
    silent: Vec<ProcessKey>,
}

impl Baseline {
    /// What is there before something happens.
    ///
    /// # Errors
    /// Where it can't be found out: then nothing that comes later could be told from what was there.
    pub fn capture(context: &Context, args: &Wait) -> Result<Self> {
        let kind = args.event.ok_or_else(|| Error::invalid("only --event has a baseline"))?;
        Self::take(context.platform()?, args, kind, &[], Deadline::after_ms(BASELINE_MS))
    }

    /// `known` are processes that were meant before: an application that has gone silent is listed by its process's
    /// name, which may be another one.
    fn take(
        platform: &dyn Platform,
        args: &Wait,
        kind: EventKind,
        known: &[ProcessKey],
        deadline: Deadline,
    ) -> Result<Self> {
        let apps = platform.apps(deadline)?;
        let meant = |app: &&App| known.contains(&app.process) || args.app.as_ref().is_some_and(|n| matches(n, app));
        let named: Vec<App> = apps.iter().filter(meant).cloned().collect();
        let mut out = Self { named: named.iter().map(|app| app.process.clone()).collect(), ..Self::default() };
        match kind {
            EventKind::AppLaunched | EventKind::AppTerminated => {}
            EventKind::WindowOpened | EventKind::WindowClosed => {
                // Of an application that isn't there, no window is.
                if args.app.is_none() {
                    out.windows = platform.windows(&apps, deadline)?;
                } else if !named.is_empty() {
                    out.windows = platform.windows(&named, deadline)?;
                }
            }
            EventKind::FocusChanged => out.active = platform.active_window(deadline)?,
            EventKind::SurfaceAppeared | EventKind::SurfaceDismissed => {
                let of = match (&args.app, known) {
                    // The application that was active when the wait began, whichever is active now.
                    (None, []) => find_app(platform, None, deadline)?,
                    _ => named.clone(),
                };
                out.named = of.iter().map(|app| app.process.clone()).collect();
                for app in &of {
                    out.surfaces.extend(platform.surfaces(app, deadline)?.into_iter().filter(is_layer));
                }
            }
        }
        silence::whole(platform)?;
        let whose = if named.is_empty() { &apps } else { &named };
        out.silent = silence::silent(whose, &out.windows);
        out.apps = apps;
        Ok(out)
    }
}

/// `wait --event`.
pub fn wait(context: &Context, args: &Wait, kind: EventKind) -> Answer {
    // The ear is open before the baseline: what changes right after it is heard.
    let ear = ear(context, args);
    let before = match context.take_baseline() {
        Some(before) => before,
        None => Baseline::capture(context, args)?,
    };
    wait_with(context, args, kind, before, ear)
}

fn ear<'a>(context: &'a Context, args: &Wait) -> Ear<'a> {
    let of = match (&args.app, args.event) {
        (_, Some(EventKind::AppLaunched | EventKind::AppTerminated)) => Of::Desktop,
        (Some(name), _) => Of::App(name.clone()),
        (None, Some(EventKind::SurfaceAppeared | EventKind::SurfaceDismissed)) => Of::Active,
        (None, _) => Of::Desktop,
    };
    Ear::open(context, of)
}

fn wait_with(context: &Context, args: &Wait, kind: EventKind, mut before: Baseline, mut ear: Ear<'_>) -> Answer {
    let platform = context.platform()?;
    let counts = json!({"windows": before.windows.len(), "apps": before.apps.len(), "surfaces": before.surfaces.len()});
    // Who did not answer at some time: what happened in it then was not seen.
    let unseen: RefCell<Vec<Value>> = RefCell::default();
    let see = |look: &Baseline| {
        for app in look.apps.iter().filter(|app| look.silent.contains(&app.process)) {
            let row = app_summary(app);
            if !unseen.borrow().contains(&row) {
                unseen.borrow_mut().push(row);
            }
        }
    };
    see(&before);
    if let (EventKind::WindowClosed, Some(id)) = (kind, &args.window_id)
        && before.silent.is_empty()
        && !before.windows.iter().any(|w| w.id == *id)
    {
        return Err(Error::before(Code::WindowNotFound, format!("there is no window {} that could close", echo(id)))
            .suggest("'agent-desktop list-windows' shows ids."));
    }
    let describe = |error: Error| {
        let error = error.detail("event", json!(kind)).detail("baseline_counts", counts.clone());
        let error = args.app.iter().fold(error, |e, name| e.detail("app", name.as_str()));
        match unseen.take() {
            rows if rows.is_empty() => error,
            rows => error.detail("unresponsive", rows).suggest(
                "Some applications did not answer all the time: what happened in them is not known. Look again.",
            ),
        }
    };
    until_described(&mut ear, args.timeout(), "event", describe, super::passes, |deadline| {
        let mut now = Baseline::take(platform, args, kind, &before.named, deadline)?;
        see(&now);
        let renamed = silence::recover(&mut before.windows, &before.silent, &now.windows, &now.silent);
        before.renamed.extend(renamed);
        before.silent.retain(|process| now.silent.contains(process));
        silence::carry(&mut now.windows, &before.windows, &now.silent);
        let found = change(platform, args, kind, &before, &now);
        if found.is_none() {
            replaced(platform, kind, &before, &now)?;
        }
        Ok(found.map(|event| json!({"found": true, "event": event})))
    })
}

/// What happened, where it did.
fn change(platform: &dyn Platform, args: &Wait, kind: EventKind, before: &Baseline, now: &Baseline) -> Option<Value> {
    let event = |key: &str, value: Value| Some(json!({"kind": kind, key: value}));
    let title = args.window.as_ref().map(|t| t.to_lowercase());
    let meant = |w: &&Window| {
        title.as_ref().is_none_or(|t| w.title.to_lowercase().contains(t))
            && args
                .window_id
                .as_ref()
                .is_none_or(|id| *id == w.id || before.renamed.contains(&(id.clone(), w.id.clone())))
    };
    let app_meant = |app: &&App| args.app.as_ref().is_none_or(|name| matches(name, app));
    match kind {
        EventKind::WindowOpened => {
            let had: HashSet<&str> = before.windows.iter().map(|w| w.id.as_str()).collect();
            let new = now.windows.iter().filter(meant).find(|w| !had.contains(w.id.as_str()))?;
            event("window", window_json(new))
        }
        EventKind::WindowClosed => {
            let have: HashSet<&str> = now.windows.iter().map(|w| w.id.as_str()).collect();
            let gone = before.windows.iter().filter(meant).find(|w| {
                // Of a silent application nothing is known to be gone (decisions D4), but of an ended process all is.
                !have.contains(w.id.as_str()) && (!now.silent.contains(&w.process) || ended(platform, &w.process))
            })?;
            event(
                "window",
                json!({"id": gone.id, "title": gone.title, "app_name": gone.app_name, "pid": gone.process.pid}),
            )
        }
        EventKind::AppLaunched => {
            let had: HashSet<&ProcessKey> = before.apps.iter().map(|a| &a.process).collect();
            let new = now.apps.iter().filter(app_meant).find(|a| !had.contains(&a.process))?;
            event("app", app_summary(new))
        }
        EventKind::AppTerminated => {
            let gone = before.apps.iter().filter(app_meant).find(|a| ended(platform, &a.process))?;
            event("app", app_summary(gone))
        }
        EventKind::FocusChanged => {
            if !silence::moved(before.active.as_ref(), now.active.as_ref(), &now.silent) {
                return None;
            }
            // Where a window or application is named, only that it gets the focus is meant.
            let of_app = |w: &Window| {
                args.app.is_none()
                    || now.named.contains(&w.process)
                    || now.apps.iter().any(|a| a.process == w.process && app_meant(&a))
            };
            let named = args.app.is_some() || args.window.is_some() || args.window_id.is_some();
            match &now.active {
                Some(window) if meant(&window) && of_app(window) => event("window", window_json(window)),
                None if !named => event("window", Value::Null),
                _ => None,
            }
        }
        EventKind::SurfaceAppeared => {
            let had: HashSet<&str> = before.surfaces.iter().map(|s| s.id.as_str()).collect();
            let new = now.surfaces.iter().find(|s| !had.contains(s.id.as_str()))?;
            event("surface", surface_json(new))
        }
        EventKind::SurfaceDismissed => {
            let have: HashSet<&str> = now.surfaces.iter().map(|s| s.id.as_str()).collect();
            let gone = before.surfaces.iter().find(|s| !have.contains(s.id.as_str()) && now.silent.is_empty())?;
            event("surface", surface_json(gone))
        }
    }
}

fn ended(platform: &dyn Platform, process: &ProcessKey) -> bool {
    matches!(platform.process_life(process), ProcessLife::Gone | ProcessLife::OtherGeneration)
}

/// The application that was named has ended, and what it was asked for can't happen in it any more; another process that
/// carries its name has no such baseline.
fn replaced(platform: &dyn Platform, kind: EventKind, before: &Baseline, now: &Baseline) -> Result<()> {
    let of_app = matches!(kind, EventKind::SurfaceAppeared | EventKind::SurfaceDismissed | EventKind::WindowClosed);
    let all_ended = !before.named.is_empty() && before.named.iter().all(|process| ended(platform, process));
    if !of_app || !all_ended {
        return Ok(());
    }
    let pids: Vec<u32> = before.named.iter().map(|p| p.pid).collect();
    let others: Vec<u32> = now.named.iter().map(|p| p.pid).filter(|pid| !pids.contains(pid)).collect();
    Err(Error::before(Code::AppNotFound, "the application ended while its event was waited for")
        .kind("process_changed")
        .detail("was_pids", pids)
        .detail("pids", others)
        .not_retryable()
        .suggest("Look again from the beginning: refs and baselines of the ended process mean nothing now."))
}
