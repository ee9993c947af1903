//! `launch`: start or attach, and say what is there. The absence of a window is a fact, not an error.

use super::cdp;
use crate::command::Context;
use crate::command::windows::Launch;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Delivery, Error, Result, echo};
use crate::observe::list::window_json;
use crate::observe::target::{app_summary, display_late, matches};
use crate::platform::{App, LaunchRequest, Launched, Platform, ProcessKey, ProcessLife, Responsive, Window};
use crate::windows;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// How long a new application is waited for until it shows a window with a tree. One without windows is
/// answered after that.
pub const WINDOW_WAIT: Duration = Duration::from_secs(10);
/// How long a window without a tree must be there until it is answered, where the application can publish none.
const TREELESS_WAIT: Duration = Duration::from_secs(2);
/// Why a window that was started here has no tree, where its toolkit could have one: everything was done for it.
const STARTED_TREELESS: &str = "it was started with accessibility on and has published no tree so far: its toolkit \
    publishes none, or it is still starting; use --window-id with press, screenshot and the pointer commands";
/// Pause between looks.
const POLL: Duration = Duration::from_millis(50);

/// `launch`.
pub fn launch(context: &Context, args: &Launch) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(args.timeout());
    let names = platform.launch_names(&args.app)?;
    let apps = platform.apps(deadline)?;
    // A path means that very program; where nobody can tell, its name does.
    let is_it = |app: &App| !args.app.contains('/') || platform.runs(&app.process, &args.app) != Some(false);
    let running: Vec<App> =
        apps.into_iter().filter(|app| names.iter().any(|name| matches(name, app)) && is_it(app)).collect();
    if running.is_empty() && !platform.display_answered() {
        // It may run, known to the window system alone: a second one would be started.
        return Err(display_late());
    }
    if !running.is_empty() {
        return attach(platform, args, &running, &names, deadline);
    }
    let cdp_port = args.cdp.map(cdp::reserve).transpose()?;
    let request = LaunchRequest {
        app: args.app.clone(),
        args: args.arg.clone(),
        env: args.env_pairs()?,
        cwd: args.cwd.clone(),
        cdp: cdp_port,
    };
    let launched = platform.launch(&request, deadline)?;
    let probe_budget = cdp_port.map(|_| cdp::budget(deadline.left()));
    let window_deadline =
        Deadline::after(WINDOW_WAIT.min(deadline.left().saturating_sub(probe_budget.unwrap_or_default())));
    let (process, app, mut window) = appear(platform, &launched, &names, &is_it, window_deadline)?;
    if let Some(window) = window.as_mut().filter(|w| w.root.is_none() && w.responsive == Responsive::Yes)
        && app.as_ref().is_some_and(|app| app.root.is_none())
        && platform.may_publish(&window.process)
    {
        window.no_tree_reason = Some(STARTED_TREELESS.into());
    }
    if args.activate {
        let apps: Vec<App> = app.iter().cloned().collect();
        let shown = activate(platform, window, &apps, deadline)
            // It was started: a repetition would meet a running application.
            .map_err(|error| started(error).detail("pid", process.pid))?;
        window = Some(shown);
    }
    let mut out = answer(args, &process, app.as_ref(), window.as_ref());
    if let Some(renderer) = launched.renderer {
        out.insert("renderer".into(), json!(renderer));
    }
    if let (Some(port), Some(budget)) = (launched.cdp_port.or(cdp_port), probe_budget) {
        out.insert("cdp".into(), cdp::probe(port, &process, budget.min(deadline.left().max(cdp::ATTEMPT)))?);
    }
    if window.is_none() {
        let seconds = WINDOW_WAIT.as_secs();
        out.insert(
            "suggestion".into(),
            json!(format!("It shows no window after {seconds} s at most. 'wait --window TITLE' waits for one.")),
        );
    }
    Ok(Value::Object(out))
}

fn answer(args: &Launch, process: &ProcessKey, app: Option<&App>, window: Option<&Window>) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("app".into(), json!(app.map_or(args.app.as_str(), |a| a.name.as_str())));
    out.insert("pid".into(), json!(process.pid));
    out.insert("process_instance".into(), json!(process.instance));
    if let Some(window) = window {
        out.insert("window".into(), window_json(window));
    }
    out
}

/// It runs already: nothing is started, and nothing that was asked for beside that is passed over in silence.
fn attach(platform: &dyn Platform, args: &Launch, running: &[App], names: &[String], deadline: Deadline) -> Answer {
    let mut pids: Vec<u32> = running.iter().map(|app| app.process.pid).collect();
    pids.dedup();
    if args.cdp.is_some() {
        return Err(Error::before(
            Code::ActionFailed,
            "it runs already, and a running application can't be given a DevTools endpoint",
        )
        .kind("cdp_requires_fresh_launch")
        .detail("pids", pids)
        .suggest("Close it first with close-app, then launch it with --cdp."));
    }
    if args.no_attach {
        return Err(Error::before(Code::ActionFailed, format!("{} runs already", echo(&args.app)))
            .kind("already_running")
            .detail("pids", pids)
            .suggest("Leave --no-attach out to use the running one."));
    }
    let app = &running[0];
    if running.iter().any(|other| other.process != app.process) {
        let candidates: Vec<Value> = running.iter().map(app_summary).collect();
        return Err(Error::before(
            Code::AmbiguousTarget,
            format!("several running applications are {}", echo(&args.app)),
        )
        .kind("several_candidates")
        .detail("candidate_count", candidates.len())
        .detail("candidates", candidates)
        .suggest("Use --window-id with an id from list-windows instead."));
    }
    let windows = platform.windows(running, deadline)?;
    // What publishes its tree, answers, and is past its start stays in the background without a window.
    let at_rest = app.root.is_some() && app.responsive == Responsive::Yes && !platform.young(&app.process);
    let mut out = if windows.is_empty() && at_rest {
        again(platform, args, app, names, deadline)?
    } else {
        let mut window = first_window(&windows).cloned();
        if args.activate {
            window = Some(activate(platform, window, running, deadline)?);
        }
        let mut out = answer(args, &app.process, Some(app), window.as_ref());
        if window.is_none() {
            let hint =
                "It runs and shows no window yet. 'wait --window TITLE' waits for one; launch it again if none comes.";
            out.insert("suggestion".into(), json!(hint));
        }
        out
    };
    out.insert("attached".into(), json!(true));
    if !args.arg.is_empty() || !args.env.is_empty() || args.cwd.is_some() {
        out.insert(
            "suggestion".into(),
            json!("It ran already: --arg, --env and --cwd had no effect. Close it first to start it with them."),
        );
    }
    Ok(Value::Object(out))
}

/// Brings the application's window forward, waiting for one until the deadline.
fn activate(platform: &dyn Platform, window: Option<Window>, apps: &[App], deadline: Deadline) -> Result<Window> {
    let mut window = window;
    while window.as_ref().is_none_or(|w| w.key.is_none()) && deadline.left() > POLL {
        std::thread::sleep(POLL);
        let listed = platform.windows(apps, deadline).unwrap_or_default();
        window = first_window(&listed).cloned().or(window);
    }
    let window = window.ok_or_else(|| {
        Error::before(Code::Timeout, "it runs and showed no window that could be brought forward")
            .kind("no_window_to_activate")
            .retry_after(1_000)
            .suggest("'wait --window TITLE' waits longer; leave --activate out where it has none.")
    })?;
    windows::activate(platform, &window, deadline)
}

/// The error of something that came after a start: not to be repeated as if nothing had happened.
fn started(error: Error) -> Error {
    if error.delivery() == Delivery::NotDelivered { error.with_delivery(Delivery::DeliveredUnverified) } else { error }
}

/// Starts a program that runs without a window once more, as a second click on its icon would: the one that runs is told,
/// and shows its window. The caller's arguments are left out, as always where it runs already.
fn again(
    platform: &dyn Platform,
    args: &Launch,
    app: &App,
    names: &[String],
    deadline: Deadline,
) -> Result<Map<String, Value>> {
    let request = LaunchRequest { app: args.app.clone(), ..LaunchRequest::default() };
    let launched = platform.launch(&request, deadline)?;
    let until = Deadline::after(WINDOW_WAIT.min(deadline.left()));
    let (process, shown, mut window) = appear(platform, &launched, names, &|_| true, until)?;
    let app = shown.as_ref().unwrap_or(app);
    if args.activate {
        window = Some(activate(platform, window, std::slice::from_ref(app), deadline).map_err(started)?);
    }
    let mut out = answer(args, &process, Some(app), window.as_ref());
    let why = "it ran without a window";
    out.insert("details".into(), json!({"started_again": {"pid": launched.process.pid, "reason": why}}));
    if window.is_none() {
        out.insert(
            "suggestion".into(),
            json!("It runs in the background and showed no window when it was started again. 'close-app' ends it."),
        );
    }
    Ok(out)
}

/// The window to answer with. Nothing but its size tells a program's main window from its tool windows where it
/// publishes no tree.
fn first_window(windows: &[Window]) -> Option<&Window> {
    let area = |w: &&Window| w.bounds.known().map_or(0, |b| (b.width * b.height) as u64);
    windows
        .iter()
        .find(|w| w.root.is_some() && w.focused.says_yes())
        .or_else(|| windows.iter().find(|w| w.root.is_some()))
        .or_else(|| windows.iter().find(|w| w.focused.says_yes()))
        .or_else(|| windows.iter().rev().max_by_key(area))
}

/// Waits until the new application shows a window with a tree, or the time is up, or its process has ended.
fn appear(
    platform: &dyn Platform,
    launched: &Launched,
    names: &[String],
    is_it: &dyn Fn(&App) -> bool,
    deadline: Deadline,
) -> Result<(ProcessKey, Option<App>, Option<Window>)> {
    let mut seen: (Option<App>, Option<Window>) = (None, None);
    let mut treeless_since: Option<Instant> = None;
    loop {
        // A launcher hands over to a descendant, or to a process that a service manager starts under its name.
        let own = platform.descendants(&launched.process);
        let apps = platform.apps(deadline).unwrap_or_default();
        let ours: Vec<App> = apps
            .into_iter()
            .filter(|app| own.contains(&app.process) || (names.iter().any(|name| matches(name, app)) && is_it(app)))
            .collect();
        if !ours.is_empty() {
            let windows = platform.windows(&ours, deadline).unwrap_or_default();
            let window = first_window(&windows).cloned();
            let app = window
                .as_ref()
                .and_then(|w| ours.iter().find(|app| app.process == w.process))
                .or_else(|| ours.iter().find(|app| app.root.is_some()))
                .or_else(|| ours.first())
                .cloned();
            seen = (app, window);
        } else if platform.process_life(&launched.process) == ProcessLife::Gone
            && own.len() <= 1
            && !names.iter().any(|name| platform.starting(name))
        {
            return Err(Error::new(
                Code::AppUnresponsive,
                Delivery::DeliveredUnverified,
                "it was started and its process has ended",
            )
            .kind("process_ended")
            .detail("pid", launched.process.pid)
            .suggest("Start it in a terminal to see why it ends."));
        }
        let ready = seen.1.as_ref().is_some_and(|w| w.root.is_some());
        // The splash screen of a launcher whose program is on its way.
        let more_comes = |w: &Window| own.iter().any(|p| *p != w.process && platform.may_publish(p));
        let treeless = |w: &Window| {
            !more_comes(w)
                && seen.0.as_ref().is_some_and(|app| app.root.is_none())
                && w.responsive == Responsive::Yes
                && !platform.may_publish(&w.process)
        };
        // A launcher's own window may go before the application shows the real one: it must stay.
        treeless_since = match seen.1.as_ref().is_some_and(treeless) {
            true => treeless_since.or_else(|| Some(Instant::now())),
            false => None,
        };
        let ready = ready || treeless_since.is_some_and(|since| since.elapsed() >= TREELESS_WAIT);
        if ready || deadline.left() <= POLL {
            let process = match (&seen.0, &seen.1) {
                (_, Some(window)) => window.process.clone(),
                (Some(app), None) => app.process.clone(),
                (None, None) => launched.process.clone(),
            };
            return Ok((process, seen.0, seen.1));
        }
        std::thread::sleep(POLL);
    }
}
