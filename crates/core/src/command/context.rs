//! What a command runs in: where its state is kept, which desktop it speaks to, what it may do.

use super::globals::Globals;
use crate::act::DEFAULT_CHAIN_TIMEOUT_MS;
use crate::deadline::Deadline;
use crate::debug::Seen;
use crate::error::{Code, Error, Result, echo};
use crate::platform::{Clipboard, Platform, Policy};
use crate::policy::{Fence, Rules};
use crate::session::{Attached, Manifest, Sessions};
use crate::trace::Recorder;
use crate::wait::event::Baseline;
use serde_json::Value;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The state root itself; must be absolute.
pub const ENV_HOME: &str = "AGENT_DESKTOP_HOME";
/// Session, where `--session` is not given.
pub const ENV_SESSION: &str = "AGENT_DESKTOP_SESSION";
/// Agent, where `--agent-id` is not given.
pub const ENV_AGENT: &str = "AGENT_DESKTOP_AGENT_ID";
/// Desktop, where `--desktop` is not given.
pub const ENV_DESKTOP: &str = "AGENT_DESKTOP_DESKTOP";
/// Deadline of an action once it was dispatched.
pub const ENV_CHAIN_TIMEOUT: &str = "AGENT_DESKTOP_CHAIN_TIMEOUT_MS";
/// Directory of the state below the home directory.
pub const STATE_DIR: &str = ".agent-desktop";

/// Looks up a variable of the environment.
pub type Env = Box<dyn Fn(&str) -> Option<OsString>>;

/// Private desktops, as a platform offers them (decisions D2).
pub trait Desktops {
    /// Starts one; answers with its id and how to use it.
    fn start(&self, screen: (u32, u32)) -> Result<Value>;

    /// Those that run.
    fn list(&self) -> Result<Value>;

    /// Ends one with everything in it.
    fn stop(&self, id: &str) -> Result<Value>;

    /// Runs a command in a desktop of its own, its output passed through; answers with its exit code. An error
    /// comes with the exit code that stands for it: 125 the desktop did not start, 126 the command can't be
    /// executed, 127 there is no such command.
    fn run(&self, command: &[String], screen: (u32, u32)) -> std::result::Result<i32, (Error, i32)>;
}

/// What the face knows about this machine: how to open the adapter, only when a command needs it.
pub trait Host {
    /// Opens the adapter for a desktop: an id, `auto`, or none for the session's own.
    fn open(&self, desktop: Option<&str>) -> Result<Box<dyn Platform>>;

    /// Opens no more of that desktop than its clipboard, which needs no accessibility.
    fn clipboard(&self, desktop: Option<&str>) -> Result<Box<dyn Clipboard>> {
        self.open(desktop).map(|platform| platform as Box<dyn Clipboard>)
    }

    /// Prints a line before the answer, where the face can.
    fn emit(&self, line: &Value) -> Emitted {
        let _ = line;
        Emitted::NoStream
    }

    /// Whether the program was told to end: a command that runs until then answers with what it has.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Private desktops, where the platform has them.
    fn desktops(&self) -> Option<&dyn Desktops> {
        None
    }
}

/// What the commands of a batch share: the desktop is joined once.
struct Machine {
    host: Box<dyn Host>,
    platform: OnceCell<Result<Box<dyn Platform>>>,
    rules: OnceCell<Result<Option<Rules>>>,
    /// One for each session: events of a process are numbered through.
    recorders: RefCell<HashMap<Option<String>, Rc<Recorder>>>,
    env: Env,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emitted {
    /// It was printed.
    Printed,
    /// Nobody reads any more.
    Closed,
    /// This face, or this place in a batch, has one answer and no lines before it.
    NoStream,
}

/// What a command runs in.
pub struct Context {
    machine: Rc<Machine>,
    globals: Globals,
    state_root: PathBuf,
    session: Option<String>,
    agent: Option<String>,
    desktop: Option<String>,
    attached: OnceCell<Option<Attached>>,
    recorder: OnceCell<Rc<Recorder>>,
    baseline: RefCell<Option<Baseline>>,
    in_batch: bool,
    /// When the whole of which this is a part has to be done.
    end: Cell<Option<Deadline>>,
    seen: Seen,
}

impl Context {
    /// Checks state root, session, agent and desktop; touches neither disk nor desktop beyond that.
    pub fn new(globals: Globals, env: Env, host: Box<dyn Host>) -> Result<Self> {
        let state_root = state_root(&env)?;
        globals.validate()?;
        let session = token(&env, globals.session.as_deref(), "--session", ENV_SESSION)?;
        let agent = token(&env, globals.agent_id.as_deref(), "--agent-id", ENV_AGENT)?;
        let desktop = token(&env, globals.desktop.as_deref(), "--desktop", ENV_DESKTOP)?;
        let machine = Rc::new(Machine {
            host,
            platform: OnceCell::new(),
            rules: OnceCell::new(),
            recorders: RefCell::default(),
            env,
        });
        Ok(Self {
            machine,
            globals,
            state_root,
            session,
            agent,
            desktop,
            attached: OnceCell::new(),
            recorder: OnceCell::new(),
            baseline: RefCell::default(),
            in_batch: false,
            end: Cell::default(),
            seen: Seen::default(),
        })
    }

    /// The context of a batch entry: the same desktop, agent and policy, its own session where it names one, its own waits.
    /// The flags that belong to one command (`--wait-for`, `--debug`) are not inherited.
    pub fn for_entry(&self, session: Option<&str>, waits: &Globals) -> Result<Self> {
        let session = match session {
            Some(id) => Some(checked("session", id.to_owned())?),
            None => self.session.clone(),
        };
        let globals = Globals {
            wait_for: waits.wait_for.clone(),
            wait_for_gone: waits.wait_for_gone.clone(),
            wait_timeout: waits.wait_timeout,
            wait_view: waits.wait_view,
            debug: false,
            screenshot: None,
            session: session.clone(),
            ..self.globals.clone()
        };
        Ok(Self {
            machine: self.machine.clone(),
            globals,
            state_root: self.state_root.clone(),
            session,
            agent: self.agent.clone(),
            desktop: self.desktop.clone(),
            attached: OnceCell::new(),
            recorder: OnceCell::new(),
            baseline: RefCell::default(),
            in_batch: true,
            end: Cell::default(),
            seen: Seen::default(),
        })
    }

    /// The adapter, opened with the first call.
    pub fn platform(&self) -> Result<&dyn Platform> {
        match self.machine.platform.get_or_init(|| self.open()) {
            Ok(platform) => Ok(platform.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }

    /// The adapter once more, for what must leave no connection behind: it ends with what is given out here.
    pub(crate) fn platform_apart(&self) -> Result<Box<dyn Platform>> {
        self.open()
    }

    fn open(&self) -> Result<Box<dyn Platform>> {
        let rules = self.rules()?;
        let platform = self.machine.host.open(self.desktop.as_deref())?;
        Ok(match rules {
            Some(rules) => Box::new(Fence::new(platform, rules.clone())),
            None => platform,
        })
    }

    /// A desktop on which nothing is permitted but letting go of what is held.
    pub fn platform_to_let_go(&self) -> Result<Box<dyn Platform>> {
        let platform = self.machine.host.open(self.desktop.as_deref())?;
        Ok(Box::new(Fence::new(platform, Rules::nothing())))
    }

    /// The clipboard, without the rest of the desktop.
    pub fn clipboard(&self) -> Result<Box<dyn Clipboard>> {
        if let Some(rules) = self.rules()? {
            rules.check_clipboard()?;
        }
        self.machine.host.clipboard(self.desktop.as_deref())
    }

    /// Prints a line before the answer, where there is somewhere to.
    pub fn emit(&self, line: &Value) -> Emitted {
        if self.in_batch { Emitted::NoStream } else { self.machine.host.emit(line) }
    }

    /// Whether the program was told to end.
    pub fn is_interrupted(&self) -> bool {
        self.machine.host.is_interrupted()
    }

    /// What the face knows about this machine.
    pub fn host(&self) -> &dyn Host {
        self.machine.host.as_ref()
    }

    /// Leaves what was there before the preceding entry of a batch for the wait that runs in this context.
    pub(crate) fn leave_baseline(&self, before: Baseline) {
        self.baseline.replace(Some(before));
    }

    /// What was left, once.
    pub(crate) fn take_baseline(&self) -> Option<Baseline> {
        self.baseline.take()
    }

    /// Says when the whole of which this is a part has to be done.
    pub(crate) fn end_by(&self, end: Deadline) {
        self.end.set(Some(end));
    }

    /// The time that the whole has left, where there is such a whole, in milliseconds.
    pub(crate) fn time_left_ms(&self) -> Option<u64> {
        self.end.get().map(|end| u64::try_from(end.left().as_millis()).unwrap_or(u64::MAX))
    }

    /// What may be touched in this run, where that is restricted (decisions D8).
    pub fn rules(&self) -> Result<Option<&Rules>> {
        let load = || Rules::load(&self.state_root, &self.globals.allow_app);
        match self.machine.rules.get_or_init(load) {
            Ok(rules) => Ok(rules.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }

    /// The flags that every command takes.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// What the caller permits.
    pub fn policy(&self) -> Policy {
        if self.globals.headed { Policy::Headed } else { Policy::Headless }
    }

    /// Where all state is kept.
    pub fn state_root(&self) -> &Path {
        &self.state_root
    }

    /// The session, where there is one.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The manifest of the session, where it has a sound one. The first call takes part in the session: it is live
    /// from then until this context is dropped.
    pub fn manifest(&self) -> Option<&Manifest> {
        let attached =
            self.attached.get_or_init(|| self.session().map(|id| Attached::to(&Sessions::of(&self.state_root), id)));
        attached.as_ref().and_then(|a| a.manifest.as_ref())
    }

    /// Where the events of this context's commands go: `--trace`, else the session's trace, else nowhere.
    pub fn trace(&self) -> &Recorder {
        let of_session = || {
            let mut all = self.machine.recorders.borrow_mut();
            all.entry(self.session.clone()).or_insert_with(|| Rc::new(Recorder::of(self))).clone()
        };
        self.recorder.get_or_init(of_session)
    }

    /// What a page for people shows of this command.
    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// The agent, where one is named.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The desktop that was asked for.
    pub fn desktop(&self) -> Option<&str> {
        self.desktop.as_deref()
    }

    /// Directory of the snapshots' namespace: the session's or the root.
    pub fn namespace_dir(&self) -> PathBuf {
        match &self.session {
            Some(id) => self.state_root.join("sessions").join(id),
            None => self.state_root.clone(),
        }
    }

    /// A variable of the environment.
    pub fn env(&self, name: &str) -> Option<OsString> {
        (self.machine.env)(name)
    }

    /// Time that a dispatched action has to finish.
    pub fn chain_timeout_ms(&self) -> Result<u64> {
        let Some(text) = self.env(ENV_CHAIN_TIMEOUT) else { return Ok(DEFAULT_CHAIN_TIMEOUT_MS) };
        text.to_str()
            .and_then(|t| t.trim().parse().ok())
            .filter(|ms| (1..=super::observe::MAX_TIMEOUT_MS).contains(ms))
            .ok_or_else(|| Error::invalid(format!("{ENV_CHAIN_TIMEOUT} must be a number of milliseconds, 1 to a day")))
    }
}

/// `--flag`, else the variable; 1 to 64 letters, digits, `-`, `_`. An empty variable is an error, not "none".
fn token(env: &Env, flag: Option<&str>, flag_name: &str, variable: &str) -> Result<Option<String>> {
    let (source, text) = match (flag, env(variable)) {
        (Some(text), _) => (flag_name, text.to_owned()),
        (None, None) => return Ok(None),
        (None, Some(text)) => {
            (variable, text.into_string().map_err(|_| Error::invalid(format!("{variable} is not valid UTF-8")))?)
        }
    };
    checked(source, text).map(Some)
}

fn checked(source: &str, text: String) -> Result<String> {
    let sound =
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if sound {
        return Ok(text);
    }
    Err(Error::invalid(format!("{source} must be 1 to 64 letters, digits, '-' or '_', not {}", echo(&text))))
}

fn state_root(env: &Env) -> Result<PathBuf> {
    let root = match env(ENV_HOME) {
        Some(value) => {
            let path = PathBuf::from(value);
            if !path.is_absolute() {
                return Err(Error::invalid(format!("{ENV_HOME} must be an absolute path")).kind("state_root"));
            }
            // A slash or a dot behind a link would have the link looked through.
            path.components().collect()
        }
        None => {
            let home = env("HOME").map(PathBuf::from).filter(|p| p.is_absolute()).or_else(std::env::home_dir);
            let home = home.filter(|p| p.is_absolute()).ok_or_else(|| {
                Error::invalid("there is no home directory to keep state in")
                    .kind("state_root")
                    .suggest(format!("Set {ENV_HOME} to an absolute path."))
            })?;
            home.join(STATE_DIR)
        }
    };
    check_owner(&root)?;
    Ok(root)
}

/// A state root that exists is a real directory of this user, or nothing runs (decisions D12).
fn check_owner(root: &Path) -> Result<()> {
    let Ok(meta) = std::fs::symlink_metadata(root) else { return Ok(()) };
    let refuse = |why: &str| {
        Err(Error::before(Code::PermDenied, format!("the state directory {why}"))
            .kind("state_root")
            .detail("state_root", root.to_string_lossy().into_owned())
            .suggest(format!("Set {ENV_HOME} to a directory of your own.")))
    };
    if !meta.is_dir() {
        return refuse("is not a real directory");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return refuse("belongs to another user");
        }
        if meta.mode() & 0o002 != 0 {
            return refuse("may be written by every user");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    struct NoHost;

    impl Host for NoHost {
        fn open(&self, _: Option<&str>) -> Result<Box<dyn Platform>> {
            Err(Error::before(Code::Internal, "opened"))
        }
    }

    fn context(globals: Globals, vars: &[(&str, &str)]) -> Result<Context> {
        let vars: HashMap<String, String> = vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        Context::new(globals, Box::new(move |name| vars.get(name).map(OsString::from)), Box::new(NoHost))
    }

    #[test]
    fn the_state_root_is_absolute_and_ours() {
        assert_eq!(
            context(Globals::default(), &[("HOME", "/h")]).unwrap().state_root(),
            Path::new("/h/.agent-desktop")
        );
        assert_eq!(
            context(Globals::default(), &[("AGENT_DESKTOP_HOME", "/no/x")]).unwrap().state_root(),
            Path::new("/no/x")
        );
        for bad in ["", "x", "./x", "~/x"] {
            let e = context(Globals::default(), &[("AGENT_DESKTOP_HOME", bad)]).err().unwrap();
            assert_eq!(e.code(), Code::InvalidArgs, "{bad}");
        }
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        for end in ["", "/", "/.", "//"] {
            let home = format!("{}{end}", link.display());
            let e = context(Globals::default(), &[("AGENT_DESKTOP_HOME", &home)]).err().unwrap();
            assert_eq!(e.code(), Code::PermDenied, "{home}");
        }
    }

    #[test]
    fn the_flag_beats_the_variable_and_empty_is_an_error() {
        let vars = [("HOME", "/h"), ("AGENT_DESKTOP_SESSION", "env")];
        assert_eq!(context(Globals::default(), &vars).unwrap().session(), Some("env"));
        let flag = Globals { session: Some("flag".into()), ..Globals::default() };
        let ctx = context(flag, &vars).unwrap();
        assert_eq!(ctx.namespace_dir(), Path::new("/h/.agent-desktop/sessions/flag"));
        assert!(context(Globals::default(), &[("HOME", "/h"), ("AGENT_DESKTOP_SESSION", "")]).is_err());
        for bad in ["", "a b", "../x", &"a".repeat(65)] {
            assert!(context(Globals { session: Some(bad.into()), ..Globals::default() }, &vars).is_err(), "{bad}");
        }
    }

    #[test]
    fn flags_that_belong_together() {
        let home = [("HOME", "/h")];
        let with = |g: Globals| context(g, &home).is_ok();
        assert!(!with(Globals { wait_timeout: Some(1), ..Globals::default() }));
        assert!(!with(Globals { debug: true, ..Globals::default() }));
        assert!(!with(Globals {
            wait_for: Some("button".into()),
            wait_for_gone: Some("button".into()),
            ..Globals::default()
        }));
        assert!(with(Globals::default()));
    }
}
