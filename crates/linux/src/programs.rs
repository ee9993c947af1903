//! Starting and ending applications: the adapter's side of `launch` and `close-app`.

use crate::atspi::windows::is_counted;
use crate::bus::{Body, Call, Object, Wire as _};
use crate::platform::LinuxPlatform;
use crate::process::launch::{self, LaunchError, LaunchOptions};
use crate::process::{self, Token, chromium, desktop_entry, spawn, tree};
use crate::x11::{self, WindowType, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery, Error, echo};
use agent_desktop_core::platform::{
    App, CloseRequest, CloseStep, Closed, LaunchRequest, Launched, ProcessKey, ProcessLife,
};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long switching trees on may take, in milliseconds.
const SWITCH_MS: u64 = 2_000;
/// How long an application may take to close its windows and to end, before one that has no window left is asked the
/// way a process without windows is: it may still be saving.
const CLOSE_WAIT: Duration = Duration::from_secs(5);
const TERM_WAIT: Duration = Duration::from_secs(3);
/// How long a dialog must stand before it counts as what keeps the application open.
const STANDS: Duration = Duration::from_millis(600);
/// A process younger than this may still be on its way to the accessibility bus.
const STARTING: Duration = Duration::from_secs(20);

/// Programs without which the session ends (decisions D10 "Protected from close-app").
const PROTECTED: &[&str] = &[
    "Xorg",
    "Xvfb",
    "Xwayland",
    "Xephyr",
    "openbox",
    "xfwm4",
    "metacity",
    "mutter",
    "gnome-shell",
    "kwin_x11",
    "kwin_wayland",
    "sway",
    "labwc",
    "weston",
    "i3",
    "marco",
    "muffin",
    "dbus-daemon",
    "dbus-broker",
    "dbus-broker-launch",
    "at-spi-bus-launcher",
    "at-spi2-registryd",
    "gnome-session-binary",
    "xfce4-session",
    "plasmashell",
    "startplasma-x11",
    "startplasma-wayland",
    "systemd",
    "systemd-logind",
    "init",
    "lightdm",
    "gdm",
    "gdm3",
    "sddm",
];

fn entries() -> BTreeMap<String, desktop_entry::Entry> {
    desktop_entry::all(&desktop_entry::directories(|name| std::env::var(name).ok()))
}

/// Names by which `--app` would find what `launch` starts.
pub fn launch_names(app: &str) -> Result<Vec<String>, Error> {
    let mut names = vec![app.strip_suffix(".desktop").unwrap_or(app).to_owned()];
    let file = |path: &std::path::Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    if app.contains('/') {
        names.extend(file(std::path::Path::new(app)));
    }
    // What can't be started has no further names; starting it says why.
    if let Ok(plan) = launch::find(app, &[], &entries()) {
        names.extend(plan.entry_id);
        names.extend(process::names::of_command(&plan.program.to_string_lossy(), &plan.args));
    }
    names.dedup();
    Ok(names)
}

/// Starts an application, with what it needs to publish its tree.
pub fn launch(platform: &LinuxPlatform, request: &LaunchRequest) -> Result<Launched, Error> {
    let plan = launch::find(&request.app, &request.args, &entries()).map_err(|e| structured(&e))?;
    let is_chromium = chromium::is_chromium(&plan.program);
    let mut plan = plan;
    if let Some(port) = request.cdp {
        if plan.args.iter().any(|a| a.starts_with("--remote-debugging-")) {
            return Err(Error::invalid("--cdp and a --remote-debugging switch of your own exclude each other")
                .kind("cdp_switch_conflict"));
        }
        if !is_chromium {
            return Err(Error::invalid(format!(
                "{} is not Chromium-based: it has no DevTools endpoint",
                echo(&request.app)
            ))
            .kind("cdp_not_chromium"));
        }
        plan.args.insert(0, format!("--remote-debugging-port={port}"));
    }
    switch_trees_on(platform);
    let options = LaunchOptions {
        env: request.env.iter().cloned().collect(),
        directory: request.cwd.as_ref().map(PathBuf::from),
        desktop: platform.inside().cloned(),
    };
    let mut started = launch::launch(&plan, &options).map_err(|e| structured(&e))?;
    let Some(token) = started.token.clone() else {
        let status = started.ended().map(|s| s.to_string()).unwrap_or_default();
        return Err(Error::new(
            Code::AppUnresponsive,
            Delivery::DeliveredUnverified,
            "the application was started and ended at once",
        )
        .kind("process_ended")
        .platform(status));
    };
    Ok(Launched {
        process: ProcessKey { pid: started.pid.unsigned_abs(), instance: token.to_string() },
        cdp_port: request.cdp,
        renderer: is_chromium.then_some("chromium"),
    })
}

/// Toolkits publish their trees only when this was set before they started (FINDINGS §1). Best effort: a tree that is
/// not there is told of later, with the reason.
fn switch_trees_on(platform: &LinuxPlatform) {
    let deadline = Deadline::after_ms(SWITCH_MS);
    if platform.bus.status(deadline).0 == Ok(true) {
        return;
    }
    let status = Object::new("org.a11y.Bus", "/org/a11y/bus");
    let call = Call::with(
        &status,
        "org.freedesktop.DBus.Properties",
        "Set",
        Body::SetBool("org.a11y.Status", "IsEnabled", true),
    );
    if let Err(e) = platform.bus.session().call(call, deadline) {
        tracing::warn!("trees could not be switched on: {}", crate::bus::join::describe(&e));
    }
}

fn starts_with(path: &std::path::Path, wanted: &[u8; 2]) -> bool {
    let mut first = [0; 2];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *wanted
}

/// Whether a process runs the program at this path: by the file that is executed, or by a script among the arguments.
pub fn runs(process: &ProcessKey, path: &str) -> Option<bool> {
    let wanted = std::fs::canonicalize(path).ok()?;
    let proc = PathBuf::from("/proc").join(process.pid.to_string());
    let executable = std::fs::read_link(proc.join("exe")).ok()?;
    let line = std::fs::read(proc.join("cmdline")).ok()?;
    let script = line
        .split(|b| *b == 0)
        .take(8)
        .filter_map(|arg| std::str::from_utf8(arg).ok())
        .any(|arg| arg.starts_with('/') && std::fs::canonicalize(arg).is_ok_and(|file| file == wanted));
    let is_it = executable == wanted || script;
    // What a wrapper script starts is another file.
    let wrapper = || starts_with(&wanted, b"#!");
    if is_it || !wrapper() { Some(is_it) } else { None }
}

/// Whether a process of this name was started a moment ago and may not be on the bus yet.
pub fn starting(name: &str) -> bool {
    let us = rustix::process::geteuid().as_raw();
    let wanted = name.trim();
    tree::pids().into_iter().any(|pid| {
        tree::owner(pid) == Some(us)
            && process::names(pid).matches(wanted)
            && process::stat::read(pid).is_ok_and(|s| !s.is_dead())
            && age(pid).is_some_and(|age| age < STARTING)
    })
}

/// Whether this process was started a moment ago.
pub fn young(key: &ProcessKey) -> bool {
    i32::try_from(key.pid).is_ok_and(|pid| age(pid).is_some_and(|age| age < STARTING))
}

/// What the process table calls a process of this generation.
pub fn names_of(key: &ProcessKey) -> Vec<String> {
    let alive = crate::traits::process_life(key) == ProcessLife::Alive;
    let Some(pid) = i32::try_from(key.pid).ok().filter(|_| alive) else { return Vec::new() };
    process::names::names(pid).all().into_iter().map(str::to_owned).collect()
}

/// How long a process has been running.
fn age(pid: i32) -> Option<Duration> {
    let stat = process::stat::read(pid).ok()?;
    let uptime: f64 = std::fs::read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
    let started = stat.start_ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
    Some(Duration::from_secs_f64((uptime - started).max(0.0)))
}

/// The processes below one, itself included.
pub fn descendants(key: &ProcessKey) -> Vec<ProcessKey> {
    let mut all = vec![key.clone()];
    let Ok(pid) = i32::try_from(key.pid) else { return all };
    for below in tree::descendants(pid) {
        if let Ok(token) = Token::of(below) {
            all.push(ProcessKey { pid: below.unsigned_abs(), instance: token.to_string() });
        }
    }
    all
}

/// Ends an application. Its windows are asked first, unless it is forced; a process that has none left gets SIGTERM.
pub fn close(platform: &LinuxPlatform, app: &App, request: CloseRequest, deadline: Deadline) -> Result<Closed, Error> {
    let key = &app.process;
    let pid = i32::try_from(key.pid).map_err(|_| Error::invalid("this is no process of this machine"))?;
    refuse_protected(pid)?;
    let mut closed = Closed { steps: Vec::new(), closed: false, delivery: Delivery::NotDelivered };
    if request.force {
        signal(key, pid, rustix::process::Signal::TERM, "SIGTERM", &mut closed)?;
        if !gone(pid, TERM_WAIT, deadline) {
            signal(key, pid, rustix::process::Signal::KILL, "SIGKILL", &mut closed)?;
        }
        closed.closed = gone(pid, TERM_WAIT, deadline);
    } else {
        // A display that doesn't answer has said of no window that it isn't there: without asking, work would be lost.
        let before: Vec<X11Window> = managed(platform, deadline)?.into_iter().filter(|w| w.pid == Some(pid)).collect();
        let asked = ask_windows(platform, key, pid, deadline, &mut closed)?;
        let patience = Deadline::after(CLOSE_WAIT).min(deadline);
        let mut question = Question::new(before);
        loop {
            if gone(pid, Duration::from_millis(100), patience) {
                closed.closed = true;
                break;
            }
            if asked > 0 && !patience.passed() {
                if question.stands(&windows_of(platform, pid, patience)) {
                    break;
                }
                continue;
            }
            let left = platform.x_windows(deadline).is_none_or(|all| all.iter().any(|w| w.pid == Some(pid)));
            if !left || asked == 0 {
                signal(key, pid, rustix::process::Signal::TERM, "SIGTERM", &mut closed)?;
                closed.closed = gone(pid, TERM_WAIT, deadline);
            }
            break;
        }
    }
    closed.delivery = if closed.closed { Delivery::DeliveredVerified } else { Delivery::DeliveredUnverified };
    Ok(closed)
}

/// The managed windows; none where there is no display at all.
fn managed(platform: &LinuxPlatform, deadline: Deadline) -> Result<Vec<X11Window>, Error> {
    match platform.x_windows(deadline) {
        Some(all) => Ok(all),
        None if platform.display().is_some() => Err(display_late()),
        None => Ok(Vec::new()),
    }
}

fn display_late() -> Error {
    Error::before(Code::Timeout, "the display did not answer: the application's windows could not be asked to close")
        .kind("display_late")
        .retry_after(500)
        .suggest("Retry when the display answers; --force ends the application without asking.")
}

fn windows_of(platform: &LinuxPlatform, pid: i32, deadline: Deadline) -> Vec<X11Window> {
    let all = platform.x_windows(deadline).unwrap_or_default();
    all.into_iter().filter(|w| w.pid == Some(pid)).collect()
}

/// A dialog that keeps an application open: one that has come up since its windows were asked to close, or one that
/// was modal before, so that nothing else is answered.
struct Question {
    before: Vec<X11Window>,
    standing: Option<(Vec<u32>, Instant)>,
}

impl Question {
    fn new(before: Vec<X11Window>) -> Self {
        Self { before, standing: None }
    }

    /// Whether the same dialogs have been standing there for long enough. Also a progress window is one while it stands:
    /// what it asks or says is for the caller to read.
    fn stands(&mut self, now: &[X11Window]) -> bool {
        let was = |w: &X11Window| self.before.iter().any(|b| b.client == w.client);
        let is_dialog = |w: &X11Window| w.modal || w.window_type == WindowType::Dialog || w.transient_for.is_some();
        let asks = |w: &&X11Window| w.viewable && is_counted(w) && if was(w) { w.modal } else { is_dialog(w) };
        let dialogs: Vec<u32> = now.iter().filter(asks).map(|w| w.client).collect();
        if dialogs.is_empty() {
            self.standing = None;
            return false;
        }
        match &self.standing {
            Some((same, since)) if *same == dialogs => since.elapsed() >= STANDS,
            _ => {
                self.standing = Some((dialogs, Instant::now()));
                false
            }
        }
    }
}

fn gone(pid: i32, limit: Duration, deadline: Deadline) -> bool {
    spawn::wait_gone(pid, limit.min(deadline.left()))
}

/// Asks every window of the process to close; how many were asked.
fn ask_windows(
    platform: &LinuxPlatform,
    key: &ProcessKey,
    pid: i32,
    deadline: Deadline,
    closed: &mut Closed,
) -> Result<usize, Error> {
    let windows = managed(platform, deadline)?;
    let mut asked = 0;
    for window in windows.iter().filter(|w| w.pid == Some(pid) && w.transient_for.is_none()) {
        same_generation(key, closed)?;
        match platform.with_x(deadline, |x| x11::ask_to_close(x, window.client)) {
            Some(Ok(true)) => {
                asked += 1;
                closed.steps.push(CloseStep {
                    label: format!("WM_DELETE_WINDOW to {}", crate::atspi::frames::x11_id(window, key)),
                });
                closed.delivery = Delivery::DeliveredUnverified;
            }
            Some(Ok(false)) => {}
            None if asked == 0 => return Err(display_late()),
            None => {}
            Some(Err(e)) if e.is_gone() => {}
            Some(Err(e)) => {
                return Err(Error::new(
                    Code::ActionFailed,
                    Delivery::DeliveryUncertain,
                    "the window could not be asked to close",
                )
                .kind("x11_fault")
                .platform(e.to_string()));
            }
        }
    }
    Ok(asked)
}

/// Right before each write: the process is still the one that was meant (spec 1 §4).
fn same_generation(key: &ProcessKey, closed: &Closed) -> Result<(), Error> {
    use agent_desktop_core::platform::ProcessLife;
    match crate::traits::process_life(key) {
        ProcessLife::Alive => Ok(()),
        _ if closed.delivery != Delivery::NotDelivered => Ok(()),
        _ => Err(Error::before(Code::AppNotFound, "the application has ended").kind("process_ended")),
    }
}

fn signal(
    key: &ProcessKey,
    pid: i32,
    signal: rustix::process::Signal,
    label: &str,
    closed: &mut Closed,
) -> Result<(), Error> {
    same_generation(key, closed)?;
    let Some(target) = rustix::process::Pid::from_raw(pid) else {
        return Err(Error::invalid("this is no process of this machine"));
    };
    // A descriptor of the process can't come to mean another one.
    let sent = match rustix::process::pidfd_open(target, rustix::process::PidfdFlags::empty()) {
        Ok(fd) => same_generation(key, closed).map(|()| rustix::process::pidfd_send_signal(&fd, signal))?,
        Err(e) => Err(e),
    };
    match sent {
        Ok(()) => {
            closed.steps.push(CloseStep { label: label.to_owned() });
            closed.delivery = Delivery::DeliveredUnverified;
            Ok(())
        }
        Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(e) => Err(Error::new(Code::PermDenied, closed.delivery, format!("{label} could not be sent"))
            .kind("signal_refused")
            .platform(e.to_string())),
    }
}

fn refuse_protected(pid: i32) -> Result<(), Error> {
    let names = process::names(pid);
    let ours = pid == std::process::id() as i32 || tree::own_ancestors().contains(&pid);
    let named = names.all().iter().any(|n| PROTECTED.contains(n));
    if pid != 1 && !ours && !named {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} is protected: the session, or this command, needs it",
        echo(names.best().unwrap_or("it"))
    ))
    .kind("protected_process")
    .detail("pid", pid))
}

fn structured(error: &LaunchError) -> Error {
    let message = error.to_string();
    match error {
        LaunchError::NotFound { .. } => Error::before(Code::AppNotFound, message)
            .kind("application_not_installed")
            .suggest("Use a desktop-entry id, a display name, a program on PATH, or a path."),
        LaunchError::Ambiguous { candidates, .. } => Error::before(Code::AmbiguousTarget, message)
            .kind("several_candidates")
            .detail("candidate_count", candidates.len())
            .detail("candidates", candidates.clone())
            .suggest("Use one of the candidates' ids."),
        LaunchError::MissingProgram { program, entry } => Error::before(Code::AppNotFound, message)
            .kind("missing_program")
            .detail("program", program.clone())
            .detail("entry", entry.clone()),
        LaunchError::BadEntry { .. } => Error::before(Code::ActionFailed, message).kind("bad_desktop_entry"),
        LaunchError::NotExecutable { .. } => Error::before(Code::AppNotFound, message).kind("not_executable"),
        LaunchError::BadDirectory { .. } => Error::invalid(message).kind("bad_directory"),
        LaunchError::Spawn { .. } => Error::before(Code::ActionFailed, message).kind("spawn_failed"),
    }
}
