//! The adapter as core sees it.

use crate::atspi::frames::Screen;
use crate::atspi::interface as i;
use crate::atspi::origin::Origins;
use crate::atspi::toolkit::Toolkit;
use crate::atspi::{apps, frames, read};
use crate::bus::join::describe;
use crate::bus::{Bus, Call, Object, Peers, Wire};
use crate::desktop::DesktopEnv;
use crate::x11::{self, X11Error, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::{App, ReadPlan, Responsive, Window};
use agent_desktop_core::tree::raw::{Handle, Link, RawTree};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the X server may take: it is local and answers at once, or is beyond use.
const X_MS: u64 = 1_000;
/// What it has at least, however little time the caller has left.
const X_LEAST_MS: u64 = 150;

/// How old a look at the X server's windows may be that serves two lists of one command. An application that doesn't
/// answer makes more than this of the pause between them, and is looked at again.
const MOMENT: Duration = Duration::from_millis(100);

/// How long joining may take.
const JOIN_MS: u64 = 5_000;

/// One Linux desktop: its buses, and its X server where it has one.
pub struct LinuxPlatform {
    pub(crate) bus: Arc<Bus>,
    display: Option<(String, Option<PathBuf>)>,
    x: Mutex<Option<x11::Connection>>,
    looked: Mutex<Option<(Instant, Vec<X11Window>)>>,
    toolkits: Mutex<HashMap<Arc<str>, Toolkit>>,
    pub(crate) peers: Peers,
    inside: Option<DesktopEnv>,
    program: Option<PathBuf>,
    /// Whether the X server was asked for its windows last and did not answer in time.
    x_late: AtomicBool,
    /// Whether a question was unanswered since the applications were listed last.
    x_missed: AtomicBool,
}

impl LinuxPlatform {
    /// Joins the desktop that this process's environment names.
    pub fn join() -> Result<Self, Error> {
        Self::join_with(|name| std::env::var(name).ok())
    }

    /// Joins the desktop that these variables name: a private desktop's, another session's.
    pub fn join_with(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        let bus = Arc::new(Bus::join_with(&set, Deadline::after_ms(JOIN_MS))?);
        Ok(Self {
            bus,
            display: x11::connection::display_of(set),
            x: Mutex::new(None),
            looked: Mutex::new(None),
            toolkits: Mutex::new(HashMap::new()),
            peers: Peers::default(),
            inside: None,
            program: None,
            x_late: AtomicBool::new(false),
            x_missed: AtomicBool::new(false),
        })
    }

    /// The same, remembering the private desktop or the session that these variables belong to: what is started must
    /// start there, not in the session of our own environment.
    #[must_use]
    pub fn started_inside(mut self, env: Option<DesktopEnv>) -> Self {
        self.inside = env;
        self
    }

    /// The same, knowing the program whose hidden sub-commands serve as helpers: the holder of input, the owner of
    /// the clipboard.
    #[must_use]
    pub fn with_program(mut self, program: Option<PathBuf>) -> Self {
        self.program = program;
        self
    }

    /// The program that has the hidden sub-commands.
    pub(crate) fn program(&self) -> Result<&Path, Error> {
        self.program.as_deref().ok_or_else(|| {
            Error::before(Code::PlatformNotSupported, "this library has no program for its helper processes")
                .kind("not_available")
        })
    }

    /// The display and the file with its cookie, for helper processes.
    pub(crate) fn display(&self) -> Option<(&str, Option<&Path>)> {
        self.display.as_ref().map(|(display, authority)| (display.as_str(), authority.as_deref()))
    }

    pub(crate) fn inside(&self) -> Option<&DesktopEnv> {
        self.inside.as_ref()
    }

    /// Asks the X server something; none where there is none.
    pub(crate) fn with_x<T>(&self, deadline: Deadline, ask: impl FnOnce(&x11::Connection) -> T) -> Option<T> {
        let (display, authority) = self.display.as_ref()?;
        let end = deadline.within_ms(X_MS).instant();
        let mut held = self.x.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = x11::connect(display, authority.as_deref(), end).ok();
        }
        let connection = held.as_ref()?;
        connection.set_deadline(end);
        Some(ask(connection))
    }

    /// Asks the X server something that may fail. A connection that failed is not used again.
    pub(crate) fn ask_x<T>(
        &self,
        deadline: Deadline,
        ask: impl FnOnce(&x11::Connection) -> Result<T, X11Error>,
    ) -> Result<T, X11Error> {
        self.wait_for_x(deadline.within_ms(X_MS), ask)
    }

    /// The same where somebody else than the X server is waited for, on its connection.
    pub(crate) fn wait_for_x<T>(
        &self,
        deadline: Deadline,
        ask: impl FnOnce(&x11::Connection) -> Result<T, X11Error>,
    ) -> Result<T, X11Error> {
        let (display, authority) =
            self.display.as_ref().ok_or_else(|| X11Error::Unsupported { what: "display here".to_owned() })?;
        let end = deadline.instant();
        let mut held = self.x.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match held.take() {
            Some(connection) => connection,
            None => x11::connect(display, authority.as_deref(), end)?,
        };
        connection.set_deadline(end);
        let answer = ask(&connection);
        if !matches!(answer, Err(X11Error::Timeout | X11Error::Disconnected { .. })) {
            *held = Some(connection);
        }
        answer
    }

    /// The accessibility bus.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// The managed windows of the X server; none where there is no X server to ask.
    pub fn x_windows(&self, deadline: Deadline) -> Option<Vec<X11Window>> {
        let (display, authority) = self.display.as_ref()?;
        // What others took of the time is not the display's lateness.
        let end = deadline.max(Deadline::after_ms(X_LEAST_MS)).within_ms(X_MS).instant();
        let mut held = self.x.lock().unwrap_or_else(PoisonError::into_inner);
        self.x_late.store(false, Ordering::Relaxed);
        if held.is_none() {
            match x11::connect(display, authority.as_deref(), end) {
                Ok(connection) => *held = Some(connection),
                Err(error) => {
                    self.note_late(&error);
                    return None;
                }
            }
        }
        let connection = held.as_ref()?;
        connection.set_deadline(end);
        match x11::windows(connection) {
            Ok(all) => Some(all),
            Err(error) => {
                self.note_late(&error);
                // After a timeout the connection is not to be used again.
                *held = None;
                None
            }
        }
    }

    fn note_late(&self, error: &x11::X11Error) {
        let late = matches!(error, x11::X11Error::Timeout);
        self.x_late.store(late, Ordering::Relaxed);
        self.x_missed.fetch_or(late, Ordering::Relaxed);
    }

    /// Whether the X server left a question unanswered since the applications were listed last.
    pub(crate) fn x_was_missed(&self) -> bool {
        self.x_missed.load(Ordering::Relaxed)
    }

    /// Whether the X server left the last question for its windows unanswered: then no window seen proves none.
    pub(crate) fn x_is_late(&self) -> bool {
        self.x_late.load(Ordering::Relaxed)
    }

    /// As [`Self::x_windows`], and kept for the list of windows that follows a list of applications at once.
    pub(crate) fn look(&self, deadline: Deadline) -> Option<Vec<X11Window>> {
        self.x_missed.store(false, Ordering::Relaxed);
        let seen = self.x_windows(deadline);
        let kept = seen.clone().map(|windows| (Instant::now(), windows));
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        seen
    }

    /// What the last [`Self::look`] saw, once, where that was a moment ago; else a look of its own.
    pub(crate) fn just_looked(&self, deadline: Deadline) -> Option<Vec<X11Window>> {
        let seen = self.looked.lock().unwrap_or_else(PoisonError::into_inner).take();
        match seen {
            Some((at, windows)) if at.elapsed() < MOMENT => Some(windows),
            _ => self.x_windows(deadline),
        }
    }

    /// The toolkit of the application that owns a connection, asked once.
    pub(crate) fn toolkit(&self, bus_name: &Arc<str>, deadline: Deadline) -> Result<Toolkit, Error> {
        if let Some(known) = self.known_toolkit(bus_name) {
            return Ok(known);
        }
        let calls = toolkit_calls(bus_name);
        let answers = self.bus.flight(calls.to_vec(), deadline);
        let toolkit = toolkit_of(&answers)?;
        self.learn(bus_name.clone(), toolkit);
        Ok(toolkit)
    }

    pub(crate) fn known_toolkit(&self, bus_name: &str) -> Option<Toolkit> {
        self.toolkits.lock().unwrap_or_else(PoisonError::into_inner).get(bus_name).copied()
    }

    pub(crate) fn learn(&self, bus_name: Arc<str>, toolkit: Toolkit) {
        self.toolkits.lock().unwrap_or_else(PoisonError::into_inner).insert(bus_name, toolkit);
    }

    pub(crate) fn list_apps(&self, windows: &[X11Window], deadline: Deadline) -> Result<Vec<App>, Error> {
        let listed = apps::list(&self.bus, windows, deadline)?;
        for l in &listed {
            if let (Some(toolkit), Some(root)) = (l.toolkit, l.app.root.as_ref().and_then(Object::from_handle)) {
                self.learn(root.bus, toolkit);
            }
        }
        Ok(listed.into_iter().map(|l| l.app).collect())
    }

    pub(crate) fn list_windows(&self, apps: &[App], windows: Option<&[X11Window]>, deadline: Deadline) -> Vec<Window> {
        let asked: Vec<(&App, Option<Toolkit>)> = apps
            .iter()
            .map(|a| {
                let root = a.root.as_ref().and_then(Object::from_handle);
                // One that was silent in the list isn't asked again there.
                let toolkit = root.filter(|_| a.responsive == Responsive::Yes).and_then(|o| self.known_toolkit(&o.bus));
                (a, toolkit)
            })
            .collect();
        let tops = frames::tops(&self.bus, &asked, deadline);
        let screen = windows.map_or(Screen::None, Screen::X11);
        let each = |((app, toolkit), tops)| frames::of_app(app, toolkit, tops, screen);
        asked.into_iter().zip(tops).flat_map(each).collect()
    }

    pub(crate) fn tree(&self, root: &Handle, above: &[Link], pid: u32, plan: &ReadPlan) -> Result<RawTree, Error> {
        let object = object(root)?;
        let toolkit = self.toolkit(&object.bus, plan.deadline)?;
        let popover = |extents| self.popover_origin(extents, pid, plan.deadline);
        let origins = if plan.bounds && toolkit.extents_are_of_window() {
            let below = above.get(1..).unwrap_or_default().iter().filter_map(|l| Object::from_handle(&l.handle));
            let line: Vec<Object> = below.chain([object.clone()]).collect();
            let (window, inner) = line.split_first().map_or((&object, &[][..]), |(w, inner)| (w, inner));
            Origins { root: self.origin_of(window, inner, pid, plan.deadline).0, popover: &popover }
        } else {
            Origins::unasked()
        };
        let line = self.peers.line(&self.bus, &object.bus, toolkit.offers_a_line(), plan.deadline);
        read::read_tree(&line, toolkit, object, above, plan, &origins)
    }
}

/// The object of a handle that core kept for us.
pub(crate) fn object(handle: &Handle) -> Result<Object, Error> {
    Object::from_handle(handle).ok_or_else(|| Error::before(Code::Internal, "this is no address of the Linux adapter"))
}

/// The calls whose answers tell the toolkit.
pub(crate) fn toolkit_calls(bus_name: &Arc<str>) -> [Call; 3] {
    let root = Object::root_of(bus_name.clone());
    [
        Call::get(&root, i::APPLICATION, "ToolkitName"),
        Call::get(&root, i::APPLICATION, "Version"),
        Call::get(&root, i::ACCESSIBLE, "Name"),
    ]
}

/// The toolkit by the answers to [`toolkit_calls`].
pub(crate) fn toolkit_of(answers: &[Result<crate::bus::Reply, crate::bus::CallError>]) -> Result<Toolkit, Error> {
    use crate::bus::CallError;
    let text = |at: usize| match answers.get(at) {
        Some(Ok(reply)) => Ok(reply.text_property().unwrap_or_default()),
        Some(Err(e @ (CallError::Late { .. } | CallError::Broken { .. }))) => Err(e.clone()),
        _ => Ok(String::new()),
    };
    match (text(0), text(1), text(2)) {
        (Ok(name), Ok(version), Ok(application)) => Ok(Toolkit::of(&name, &version, &application)),
        (Err(e), _, _) | (_, Err(e), _) | (_, _, Err(e)) => {
            Err(Error::before(Code::AppUnresponsive, "the application does not answer")
                .kind("application_silent")
                .retry_after(1_000)
                .suggest("Wait until the application responds again, or raise --timeout-ms.")
                .platform(describe(&e)))
        }
    }
}
