//! Which window or application a command means (spec 1 §2 "Window selection", decisions D4, D10, D12). The choice
//! itself is pure; the functions at the end ask the platform and wait for an application that is just starting.

use crate::deadline::Deadline;
use crate::error::{Code, Error, Result, echo};
use crate::platform::{App, Platform, Presentation, ProcessKey, Responsive, Window};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::Duration;

/// Candidates that an error lists at most.
const MAX_CANDIDATES: usize = 20;
/// Pause between looks at an application that is starting or silent.
const POLL: Duration = Duration::from_millis(50);

/// `--app` and `--window-id` as given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope<'a> {
    /// Application by name.
    pub app: Option<&'a str>,
    /// Window by id.
    pub window_id: Option<&'a str>,
}

/// Whether `--app NAME` means this application: one of its names as a whole, case-insensitively.
pub fn matches(name: &str, app: &App) -> bool {
    let wanted = name.trim().to_lowercase();
    std::iter::once(&app.name).chain(&app.names).any(|n| n.trim().to_lowercase() == wanted)
}

/// The name that a running application has, where none has the one that was given: what `launch` takes may be the name
/// of a desktop entry, and the program in it runs under its own.
pub fn known_as<'n>(platform: &dyn Platform, name: &'n str, apps: &[App]) -> Cow<'n, str> {
    let runs = |name: &str| apps.iter().any(|app| matches(name, app));
    if runs(name) {
        return Cow::Borrowed(name);
    }
    let names = platform.launch_names(name).unwrap_or_default();
    names.into_iter().find(|other| runs(other)).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// The application objects of the one process that a name means: usually one, where a process registered an
/// empty and a full object both.
pub fn pick_app(name: &str, apps: &[App]) -> Result<Vec<App>> {
    let all: Vec<&App> = apps.iter().filter(|app| matches(name, app)).collect();
    if all.is_empty() {
        return Err(no_such_app(name, apps));
    }
    // A wrapper script or launcher process that carries the name shows nothing that could be meant.
    let shows = |app: &&App| app.root.is_some() || app.presentation == Some(Presentation::Foreground);
    let showing: Vec<&App> = all.iter().copied().filter(shows).collect();
    let chosen = if showing.is_empty() { all } else { showing };
    if chosen.iter().any(|app| app.process != chosen[0].process) {
        let candidates: Vec<Value> = chosen.iter().map(|app| app_summary(app)).collect();
        return Err(ambiguous(format!("several applications are called {}", echo(name)), candidates)
            .suggest("Use --window-id with an id from list-windows."));
    }
    Ok(chosen.into_iter().cloned().collect())
}

/// The window that a scope means, among these applications and their windows. Without `--app` and `--window-id`
/// it is the focused one. It has a tree and its application answers, or this is an error that says why not.
pub fn pick_window(scope: Scope<'_>, apps: &[App], windows: &[Window]) -> Result<Window> {
    usable(pick_any_window(scope, apps, windows)?)
}

/// The same choice for what needs no tree: windows of silent applications and windows without a tree count too.
pub fn pick_any_window(scope: Scope<'_>, apps: &[App], windows: &[Window]) -> Result<Window> {
    let window = match scope {
        Scope { window_id: Some(id), app } => by_id(id, app, apps, windows)?,
        Scope { app: Some(name), .. } => by_app(name, apps, windows)?,
        Scope { .. } => focused(apps, windows)?,
    };
    Ok(window.clone())
}

/// The window whose title contains this text, within a scope that may name an application, a window, or neither.
fn pick_titled(title: &str, scope: Scope<'_>, apps: &[App], windows: &[Window]) -> Result<Window> {
    let wanted = title.to_lowercase();
    let own = scope.app.map(|name| pick_app(name, apps)).transpose()?;
    let left: Vec<&Window> = windows
        .iter()
        .filter(|w| own.as_ref().is_none_or(|apps| apps[0].process == w.process))
        .filter(|w| scope.window_id.is_none_or(|id| w.id == id))
        .filter(|w| w.title.to_lowercase().contains(&wanted))
        .collect();
    if left.is_empty() {
        return Err(silent_member(apps, "").or_else(|| silent_window(windows)).unwrap_or_else(|| {
            Error::before(Code::WindowNotFound, format!("no such window has {} in its title", echo(title)))
                .suggest("'agent-desktop list-windows' shows titles and ids.")
        }));
    }
    narrowed(left, || format!("several windows have {} in their title", echo(title))).cloned()
}

/// The window itself where it can be read, else why it can't.
pub fn usable(window: Window) -> Result<Window> {
    if window.root.is_some() && window.responsive == Responsive::Yes {
        return Ok(window);
    }
    if window.responsive == Responsive::No {
        return Err(unresponsive(&[(window.app_name.as_str(), window.process.pid)]));
    }
    let reason = window.no_tree_reason.clone().unwrap_or_else(|| "its application publishes no tree".into());
    Err(Error::before(Code::ActionNotSupported, format!("the window has no accessibility tree: {reason}"))
        .kind("window_without_accessibility_element")
        .detail("window", summary(&window))
        .detail("reason", reason)
        .suggest(
            "The reason says what to do. 'agent-desktop status' says whether applications publish their tree here.",
        ))
}

fn by_id<'w>(id: &str, app: Option<&str>, apps: &[App], windows: &'w [Window]) -> Result<&'w Window> {
    let Some(window) = windows.iter().find(|w| w.id == id) else {
        return Err(silent_member(apps, "").or_else(|| silent_window(windows)).unwrap_or_else(|| {
            Error::before(Code::WindowNotFound, format!("there is no window {}", echo(id)))
                .suggest("'agent-desktop list-windows' shows ids.")
        }));
    };
    match app {
        Some(name) if !apps.iter().any(|a| a.process == window.process && matches(name, a)) => Err(Error::before(
            Code::WindowNotFound,
            format!("window {} belongs to another application than {}", echo(id), echo(name)),
        )
        .detail("window", summary(window))),
        _ => Ok(window),
    }
}

fn by_app<'w>(name: &str, apps: &[App], windows: &'w [Window]) -> Result<&'w Window> {
    let app = pick_app(name, apps)?;
    let left: Vec<&Window> = windows.iter().filter(|w| w.process == app[0].process).collect();
    if left.is_empty() {
        if app.iter().any(|a| a.responsive == Responsive::No) {
            return Err(unresponsive(&[(app[0].name.as_str(), app[0].process.pid)]));
        }
        return Err(Error::before(Code::AppNotFound, format!("{} has no window", echo(name)))
            .kind("app_without_window")
            .detail("app", app_summary(&app[0]))
            .suggest("'agent-desktop list-windows' shows what is open."));
    }
    narrowed(left, || format!("{} has several windows", echo(name)))
}

/// The one that is meant among several: a visible one, the focused one, one with a tree (spec 1 §2).
fn narrowed(mut left: Vec<&Window>, several: impl Fn() -> String) -> Result<&Window> {
    // Each step keeps what it is sure of; one that would leave nothing says nothing.
    let steps: [fn(&&Window) -> bool; 3] = [|w| w.visible.says_yes(), |w| w.focused.says_yes(), |w| w.root.is_some()];
    for step in steps {
        if left.len() == 1 {
            break;
        }
        let kept: Vec<&Window> = left.iter().copied().filter(step).collect();
        if !kept.is_empty() {
            left = kept;
        }
    }
    match left[..] {
        [window] => Ok(window),
        _ => Err(ambiguous(several(), left.iter().map(|w| summary(w)).collect())
            .suggest("Use --window-id with one of the candidates' ids.")),
    }
}

fn focused<'w>(apps: &[App], windows: &'w [Window]) -> Result<&'w Window> {
    let focused: Vec<&Window> = windows.iter().filter(|w| w.focused.says_yes()).collect();
    match focused[..] {
        [window] => Ok(window),
        [] => Err(silent_member(apps, "").unwrap_or_else(no_active_window)),
        _ => Err(ambiguous("several windows say they are focused", focused.iter().map(|w| summary(w)).collect())
            .suggest("Use --window-id with one of the candidates' ids.")),
    }
}

/// No `--app` and no window is active.
pub fn no_active_window() -> Error {
    Error::before(Code::WindowNotFound, "no window is active")
        .kind("no_active_window")
        .suggest("Name one: 'agent-desktop list-windows' shows ids for --window-id and names for --app.")
}

fn ambiguous(message: impl Into<String>, mut candidates: Vec<Value>) -> Error {
    let count = candidates.len();
    candidates.truncate(MAX_CANDIDATES);
    Error::before(Code::AmbiguousTarget, message)
        .kind("several_candidates")
        .detail("candidate_count", count)
        .detail("candidates", candidates)
}

fn no_such_app(name: &str, apps: &[App]) -> Error {
    silent_member(apps, &format!("; none of the others is called {}", echo(name))).unwrap_or_else(|| {
        Error::before(Code::AppNotFound, format!("no running application is called {}", echo(name)))
            .suggest("'agent-desktop list-apps' shows names; 'agent-desktop launch APP' starts one.")
    })
}

/// A list with a silent member proves no absence (decisions D4).
fn silent_member(apps: &[App], more: &str) -> Option<Error> {
    let silent: Vec<(&str, u32)> = apps
        .iter()
        .filter(|app| app.responsive == Responsive::No)
        .map(|app| (app.name.as_str(), app.process.pid))
        .collect();
    if silent.is_empty() { None } else { Some(silent_error(&silent, more)) }
}

/// The same about a list in which what may be a window did not answer.
fn silent_window(windows: &[Window]) -> Option<Error> {
    let silent: Vec<(&str, u32)> = windows
        .iter()
        .filter(|w| w.responsive == Responsive::No)
        .map(|w| (w.app_name.as_str(), w.process.pid))
        .collect();
    if silent.is_empty() { None } else { Some(silent_error(&silent, "")) }
}

/// `APP_UNRESPONSIVE` about these applications.
pub fn unresponsive(silent: &[(&str, u32)]) -> Error {
    silent_error(silent, "")
}

fn silent_error(silent: &[(&str, u32)], more: &str) -> Error {
    let rows: Vec<Value> = silent.iter().map(|(name, pid)| json!({"name": name, "pid": pid})).collect();
    let names: Vec<String> = silent.iter().take(3).map(|(name, _)| echo(name)).collect();
    Error::before(Code::AppUnresponsive, format!("{} does not answer{more}", names.join(", ")))
        .kind("application_silent")
        .detail("unresponsive", rows)
        .suggest("It is busy, stopped or hung. Try again, or 'agent-desktop close-app NAME --force'.")
}

/// A window in an error's list of candidates.
pub fn summary(window: &Window) -> Value {
    let mut out = json!({
        "id": window.id, "title": window.title, "app_name": window.app_name, "pid": window.process.pid,
    });
    if let (Some(map), Some(focused)) = (out.as_object_mut(), window.focused.known()) {
        map.insert("is_focused".into(), json!(focused));
    }
    out
}

/// An application in an error's list of candidates.
pub fn app_summary(app: &App) -> Value {
    json!({"name": app.name, "pid": app.process.pid, "process_instance": app.process.instance})
}

/// Asks the platform for the one window that a scope means. Waits, within the deadline and a reserve for reading,
/// for an application that is just starting, and until the deadline for one that stays silent.
pub fn find_window(platform: &dyn Platform, scope: Scope<'_>, deadline: Deadline) -> Result<Window> {
    find_window_among(platform, scope, deadline).map(|(window, _)| window)
}

/// The same, with the other visible windows that the name of an application could have meant as well.
pub fn find_window_among(
    platform: &dyn Platform,
    scope: Scope<'_>,
    deadline: Deadline,
) -> Result<(Window, Vec<Window>)> {
    wait_for_window(platform, scope, deadline, &|| look_for_window(platform, scope, deadline))
}

/// The same for what needs no tree (see [`pick_any_window`]), also by a part of the title.
pub fn find_any_window(
    platform: &dyn Platform,
    scope: Scope<'_>,
    title: Option<&str>,
    deadline: Deadline,
) -> Result<Window> {
    wait_for_window(platform, scope, deadline, &|| look_for_any_window(platform, scope, title, deadline))
}

fn wait_for_window<T>(
    platform: &dyn Platform,
    scope: Scope<'_>,
    deadline: Deadline,
    look: &dyn Fn() -> Result<T>,
) -> Result<T> {
    let reserve = deadline.left() / 3;
    loop {
        let answer = look();
        let Err(error) = answer else { return answer };
        let again = match (error.code(), scope.app) {
            // A command on one application has its own deadline, not that of lists.
            (Code::AppUnresponsive, _) => is_ours(&error, platform, scope),
            (Code::AppNotFound | Code::ActionNotSupported, Some(name)) => {
                platform.starting(name) || first_window_may_come(&error, platform)
            }
            _ => false,
        };
        if !again || deadline.left() <= reserve + POLL {
            return Err(error);
        }
        std::thread::sleep(POLL);
    }
}

/// Whether an application without a window was started a moment ago: it may be on the bus under another name than
/// its process has, so that the name alone doesn't tell.
fn first_window_may_come(error: &Error, platform: &dyn Platform) -> bool {
    let Some(app) = error.details().get("app").filter(|_| error.kind_name() == Some("app_without_window")) else {
        return false;
    };
    let pid = app["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    pid.zip(app["process_instance"].as_str())
        .is_some_and(|(pid, instance)| platform.young(&ProcessKey { pid, instance: instance.to_owned() }))
}

/// Whether the silent application is the one that was asked for, so that waiting for it makes sense.
fn is_ours(error: &Error, platform: &dyn Platform, scope: Scope<'_>) -> bool {
    let names = || error.details().get("unresponsive").and_then(Value::as_array).into_iter().flatten();
    match scope {
        Scope { app: Some(name), .. } => {
            names().filter_map(|row| row["name"].as_str()).any(|n| n.to_lowercase() == name.trim().to_lowercase())
                || platform.starting(name)
        }
        // It may be the silent one's: absence is not proven, and the command has its own deadline.
        Scope { window_id: Some(_), .. } => true,
        _ => names().count() == 1,
    }
}

fn look_for_window(platform: &dyn Platform, scope: Scope<'_>, deadline: Deadline) -> Result<(Window, Vec<Window>)> {
    if scope == Scope::default() {
        return Ok((usable(platform.active_window(deadline)?.ok_or_else(no_active_window)?)?, Vec::new()));
    }
    let apps = platform.apps(deadline)?;
    let name = scope.app.map(|name| known_as(platform, name, &apps));
    let scope = Scope { app: name.as_deref(), ..scope };
    let windows = match scope {
        Scope { app: Some(name), window_id: None } => {
            platform.windows(&in_time(platform, pick_app(name, &apps), deadline)?, deadline)?
        }
        _ => platform.windows(&apps, deadline)?,
    };
    let window = in_time(platform, pick_window(scope, &apps, &windows), deadline)?;
    let also = |w: &&Window| w.process == window.process && w.id != window.id && w.visible.says_yes();
    let others = match scope.window_id {
        None => windows.iter().filter(also).take(MAX_CANDIDATES).cloned().collect(),
        Some(_) => Vec::new(),
    };
    Ok((window, others))
}

fn look_for_any_window(
    platform: &dyn Platform,
    scope: Scope<'_>,
    title: Option<&str>,
    deadline: Deadline,
) -> Result<Window> {
    if scope == Scope::default() && title.is_none() {
        return platform.active_window(deadline)?.ok_or_else(no_active_window);
    }
    let apps = platform.apps(deadline)?;
    let name = scope.app.map(|name| known_as(platform, name, &apps));
    let scope = Scope { app: name.as_deref(), ..scope };
    let windows = match scope {
        Scope { app: Some(name), window_id: None } => {
            platform.windows(&in_time(platform, pick_app(name, &apps), deadline)?, deadline)?
        }
        _ => platform.windows(&apps, deadline)?,
    };
    let answer = match title {
        Some(title) => pick_titled(title, scope, &apps, &windows),
        None => pick_any_window(scope, &apps, &windows),
    };
    in_time(platform, answer, deadline)
}

fn in_time<T>(platform: &dyn Platform, answer: Result<T>, deadline: Deadline) -> Result<T> {
    match answer {
        // Applications and windows that only the window system knows are missing from lists without it.
        Err(e) if !platform.display_answered() && matches!(e.code(), Code::AppNotFound | Code::WindowNotFound) => {
            Err(display_late())
        }
        // What was cut short proves no absence.
        Err(e) if deadline.passed() && matches!(e.code(), Code::AppNotFound | Code::WindowNotFound) => {
            Err(Error::before(Code::Timeout, "the windows could not be listed in time")
                .retry_after(1_000)
                .suggest("Retry with a longer --timeout-ms."))
        }
        answer => answer,
    }
}

/// The window system did not answer: what is missing is not known to be absent.
pub fn display_late() -> Error {
    Error::before(Code::Timeout, "the display did not answer in time: what is not listed may be there")
        .kind("display_late")
        .retry_after(500)
}

/// Asks the platform for the application that a name means, else for that of the active window.
pub fn find_app(platform: &dyn Platform, name: Option<&str>, deadline: Deadline) -> Result<Vec<App>> {
    let apps = platform.apps(deadline)?;
    match name {
        Some(name) => in_time(platform, pick_app(&known_as(platform, name, &apps), &apps), deadline),
        None => {
            let window = platform.active_window(deadline)?.ok_or_else(no_active_window)?;
            let own: Vec<App> = apps.into_iter().filter(|app| app.process == window.process).collect();
            if own.is_empty() { Err(no_active_window()) } else { Ok(own) }
        }
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
