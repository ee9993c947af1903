//! Linux: joins the desktop that is meant, and keeps private ones.

use agent_desktop_core::command::{self, Emitted, Host};
use agent_desktop_core::error::{Code, Delivery, Error, Result, echo};
use agent_desktop_core::platform::{Clipboard, Platform};
use agent_desktop_linux::LinuxPlatform;
use agent_desktop_linux::clipboard::{OWNER, XClipboard};
use agent_desktop_linux::desktop::environment::is_foreign;
use agent_desktop_linux::desktop::{
    self, DesktopEnv, DesktopError, Desktops, Geometry, Home, Listed, Record, Session, StartOptions, SupervisorCommand,
};
use agent_desktop_linux::input::HOLDER;
use agent_desktop_linux::overlay::OVERLAY;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

/// The hidden sub-command that becomes the supervisor of a private desktop.
const SUPERVISOR: &str = "__desktop-supervisor";
/// Selects the one running graphical session of this user.
const AUTO: &str = "auto";

/// This machine.
pub struct Machine;

impl Host for Machine {
    fn open(&self, desktop: Option<&str>) -> Result<Box<dyn Platform>> {
        join(env_of(desktop)?)
    }

    fn clipboard(&self, desktop: Option<&str>) -> Result<Box<dyn Clipboard>> {
        let env = env_of(desktop)?;
        let clipboard = XClipboard::of(|name| variable(env.as_ref(), name), env.clone(), std::env::current_exe().ok());
        Ok(Box::new(clipboard))
    }

    fn emit(&self, line: &Value) -> Emitted {
        if crate::output::emit(line) { Emitted::Printed } else { Emitted::Closed }
    }

    fn is_interrupted(&self) -> bool {
        crate::signals::came()
    }

    fn desktops(&self) -> Option<&dyn command::Desktops> {
        Some(self)
    }
}

/// The environment of another desktop than our own.
fn env_of(desktop: Option<&str>) -> Result<Option<DesktopEnv>> {
    Ok(match desktop {
        None => None,
        Some(AUTO) => Some(only_session(desktop::auto())?),
        Some(id) => Some(Desktops::for_user().and_then(|d| d.env_of(id)).map_err(|e| structured(&e))?),
    })
}

/// A variable of that desktop, or of our own environment.
fn variable(env: Option<&DesktopEnv>, name: &str) -> Option<String> {
    let own = std::env::var(name).ok();
    match env {
        // What belongs to the session that we were started from must not reach into another.
        Some(env) => env.get(name).map(str::to_owned).or(own.filter(|_| !is_foreign(name, env.home))),
        None => own,
    }
}

/// Joins the desktop of this environment, or the one that our own variables name.
fn join(env: Option<DesktopEnv>) -> Result<Box<dyn Platform>> {
    let platform = LinuxPlatform::join_with(|name| variable(env.as_ref(), name))?;
    Ok(Box::new(platform.started_inside(env).with_program(std::env::current_exe().ok())))
}

/// The graphical session that `auto` means: the only one. Private desktops have ids and count only where nothing
/// else runs.
fn only_session(mut sessions: Vec<Session>) -> Result<DesktopEnv> {
    if sessions.iter().any(|s| s.private.is_none()) {
        sessions.retain(|s| s.private.is_none());
    }
    match &sessions[..] {
        [session] => Ok(DesktopEnv { set: session.env.clone(), home: Home::Keep }),
        [] => Err(Error::before(Code::PlatformNotSupported, "this user has no running graphical session")
            .kind("no_desktop")
            .suggest(
                "'agent-desktop desktop run -- CMD' runs a command on a private desktop; 'desktop start' keeps one.",
            )),
        several => {
            let rows: Vec<Value> = several.iter().map(session_json).collect();
            Err(Error::before(Code::AmbiguousTarget, "this user has several running graphical sessions")
                .kind("several_candidates")
                .detail("candidate_count", rows.len())
                .detail("candidates", rows)
                .suggest("Use --desktop ID for a private desktop, or set the variables of the session that you mean."))
        }
    }
}

fn session_json(session: &Session) -> Value {
    let mut out = json!({"env": session.env, "processes": session.processes});
    if let (Some(id), Some(map)) = (&session.private, out.as_object_mut()) {
        map.insert("desktop".into(), json!(id));
    }
    out
}

impl command::Desktops for Machine {
    fn start(&self, screen: (u32, u32)) -> Result<Value> {
        let started = options(screen).and_then(|o| Desktops::for_user()?.start(&o)).map_err(|e| structured(&e))?;
        let mut out = record_json(&started.record);
        if let Some(map) = out.as_object_mut() {
            map.insert("env".into(), json!(started.record.env.set));
        }
        Ok(out)
    }

    fn list(&self) -> Result<Value> {
        let rows = Desktops::for_user().and_then(|d| d.list()).map_err(|e| structured(&e))?;
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| match row {
                Listed::Starting { id } => json!({"id": id, "state": "starting"}),
                Listed::Running(record) => record_json(record),
            })
            .collect();
        Ok(json!({"desktops": rows}))
    }

    fn stop(&self, id: &str) -> Result<Value> {
        Desktops::for_user().and_then(|d| d.stop(id)).map_err(|e| structured(&e))?;
        Ok(json!({"id": id, "stopped": true}))
    }

    fn run(&self, command: &[String], screen: (u32, u32)) -> std::result::Result<i32, (Error, i32)> {
        let argv: Vec<OsString> = command.iter().map(OsString::from).collect();
        options(screen)
            .and_then(|o| Desktops::for_user()?.run(&o, &argv))
            .map_err(|e| (structured(&e), e.run_exit_code()))
    }
}

fn record_json(record: &Record) -> Value {
    let mut out = json!({
        "id": record.id,
        "state": "running",
        "width": record.geometry.width,
        "height": record.geometry.height,
        "ready_at": record.ready_at,
    });
    if let Some(map) = out.as_object_mut() {
        if let Some((display, _)) = record.env.display() {
            map.insert("display".into(), json!(display));
        }
        if let Some(manager) = &record.window_manager {
            map.insert("window_manager".into(), json!(manager));
        }
    }
    out
}

fn options((width, height): (u32, u32)) -> std::result::Result<StartOptions, DesktopError> {
    let program = std::env::current_exe()
        .map_err(|e| DesktopError::Io { doing: "find our own executable".into(), reason: e.to_string() })?;
    let mut options = StartOptions::new(SupervisorCommand { program, args: vec![SUPERVISOR.into()] });
    let side = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    options.geometry = Geometry { width: side(width), height: side(height), ..Geometry::default() };
    Ok(options)
}

/// The structured error: which of the 16 codes, and what to do.
fn structured(error: &DesktopError) -> Error {
    let message = error.to_string();
    match error {
        DesktopError::MissingProgram { program, package } => Error::before(Code::PlatformNotSupported, message)
            .kind("missing_program")
            .detail("program", program.as_str())
            .detail("package", package.as_str())
            .suggest(format!("Install {package} with your package manager.")),
        DesktopError::PermissionDenied { path, .. } => {
            Error::before(Code::PermDenied, message).kind("foreign_directory").detail("path", path.as_str())
        }
        DesktopError::NoSuchDesktop { id } => Error::invalid(format!("there is no desktop {} of yours", echo(id)))
            .kind("no_such_desktop")
            .suggest("'agent-desktop desktop list' shows ids; 'agent-desktop desktop start' makes one."),
        DesktopError::NotReady { .. } => Error::before(Code::Timeout, message).kind("desktop_not_ready"),
        DesktopError::InvalidOption { .. } => Error::invalid(message),
        DesktopError::StartFailed { step, .. } => {
            Error::before(Code::ActionFailed, message).kind("desktop_start_failed").detail("step", step.as_str())
        }
        DesktopError::StartTimeout { step, limit_ms } => Error::before(Code::Timeout, message)
            .kind("desktop_start_timeout")
            .detail("step", step.as_str())
            .detail("timeout_ms", *limit_ms),
        DesktopError::StopFailed { survivors, .. } => {
            Error::new(Code::ActionFailed, Delivery::DeliveryUncertain, message)
                .kind("desktop_stop_failed")
                .detail("survivors", survivors.clone())
        }
        DesktopError::Command { not_found, .. } => {
            let error = Error::invalid(message);
            if *not_found { error.kind("command_not_found") } else { error.kind("command_not_executable") }
        }
        DesktopError::Io { .. } => Error::before(Code::Internal, message).kind("desktop_io"),
    }
}

/// Runs a hidden sub-command of the program: the helpers that other products ship as files of their own.
pub fn hidden(name: &str, args: &[OsString]) -> Option<i32> {
    match (name, args) {
        (SUPERVISOR, [dir]) => Some(desktop::supervisor_main(Path::new(dir))),
        (HOLDER, args) => Some(agent_desktop_linux::input::holder_main(args)),
        (OVERLAY, []) => Some(agent_desktop_linux::overlay::renderer_main()),
        (OWNER, args) => Some(agent_desktop_linux::clipboard::owner_main(args)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(display: &str, private: Option<&str>) -> Session {
        Session {
            env: [("DISPLAY".to_owned(), display.to_owned())].into(),
            private: private.map(str::to_owned),
            processes: 1,
        }
    }

    #[test]
    fn auto_joins_the_only_session_and_lists_several() {
        let chosen = |sessions| only_session(sessions).map(|env| env.set["DISPLAY"].clone());
        assert_eq!(chosen(vec![session(":1", None)]).unwrap(), ":1");
        assert_eq!(chosen(vec![session(":1", None), session(":2", Some("d1"))]).unwrap(), ":1");
        assert_eq!(chosen(vec![session(":2", Some("d1"))]).unwrap(), ":2");
        let e = chosen(vec![session(":1", None), session(":3", None)]).unwrap_err();
        assert_eq!((e.code(), e.details()["candidate_count"].as_u64()), (Code::AmbiguousTarget, Some(2)));
        assert_eq!(chosen(vec![]).unwrap_err().kind_name(), Some("no_desktop"));
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let e = structured(&DesktopError::MissingProgram { program: "Xvfb".into(), package: "xvfb".into() });
        assert_eq!((e.code(), e.kind_name()), (Code::PlatformNotSupported, Some("missing_program")));
        assert_eq!(e.details()["package"], "xvfb");
    }
}
