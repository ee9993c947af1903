//! Where a wait after a command looks: the window that was acted on, then the other windows of its process. What an
//! action brings often stands in a window of its own.

use crate::command::observe::Snapshot;
use crate::command::{Command, Context};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::observe::locate::{Root, of_window};
use crate::observe::saved;
use crate::observe::target::{Scope, find_any_window};
use crate::platform::{App, Platform, ProcessKey, Responsive, Window};
use crate::refs::id::RefId;
use crate::vocab::surface::Surface;
use serde_json::{Value, json};
use std::cell::RefCell;

/// Time for a look at the windows before the command, in milliseconds.
const BEFORE_MS: u64 = 500;

/// Where a wait looks.
pub(crate) struct Place {
    /// The window that the command was about, as a snapshot would name it; none where it is not there yet.
    pub own: Option<Snapshot>,
    /// The process whose other windows are looked at as well.
    pub process: Option<ProcessKey>,
    /// Its application objects, once they are known.
    apps: RefCell<Vec<App>>,
    /// The windows that it had before the command; none where they could not be listed.
    before: Option<Vec<Window>>,
}

impl Place {
    /// Only the window that these arguments name.
    pub fn only(own: Snapshot) -> Self {
        Self { own: Some(own), process: None, apps: RefCell::default(), before: None }
    }

    /// Where a wait after this action looks, found before the action runs: for a ref its own window, for `press` the one
    /// it names, else the active one.
    ///
    /// # Errors
    /// Where the ref's snapshot can't be read; the action itself fails then, too.
    pub fn of_action(context: &Context, command: &Command) -> Result<Self> {
        let reference = match command {
            Command::Hover(args) => args.ref_id.as_ref(),
            Command::Drag(args) => args.scoped(),
            other => other.ref_action().map(crate::command::act::RefAction::ref_id),
        };
        if let Some(reference) = reference {
            return Self::of_ref(context, &reference.parse()?);
        }
        let own = match command {
            Command::Press(args) => Snapshot {
                app: args.app.clone(),
                window_id: args.window_id.clone().or_else(|| args.expect_window.clone()),
                ..Snapshot::default()
            },
            _ => Snapshot::default(),
        };
        let mut place = Self::only(own);
        if let Ok(platform) = context.platform() {
            let deadline = Deadline::after_ms(BEFORE_MS);
            let scope = place.own.as_ref().map(Snapshot::scope).unwrap_or_default();
            let window = match scope {
                Scope { app: None, window_id: None } => platform.active_window(deadline).ok().flatten(),
                scope => find_any_window(platform, scope, None, deadline).ok(),
            };
            place.process = window.map(|w| w.process);
            place.note(platform, deadline);
        }
        Ok(place)
    }

    fn of_ref(context: &Context, id: &RefId) -> Result<Self> {
        let map = saved::load(context, &id.snapshot)?;
        let mut place = Self::only(Snapshot { window_id: Some(map.source.window_id.clone()), ..Snapshot::default() });
        place.process = Some(map.process.clone());
        if let Some(app) = map.entries.get(&id.number).and_then(|entry| map.application(entry.link)) {
            place.apps.replace(vec![app]);
        }
        if let Ok(platform) = context.platform() {
            place.note(platform, Deadline::after_ms(BEFORE_MS));
        }
        Ok(place)
    }

    /// Where a wait after `launch` looks: the windows of what it answered with. What is to be gone needs a window of its
    /// own: where there is none yet, the one that the application shows.
    pub fn of_launched(done: &Value, gone: bool) -> Self {
        let window = done["window"]["id"].as_str().map(str::to_owned);
        let app = done["app"].as_str().map(str::to_owned).filter(|_| gone && window.is_none());
        let process = done["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        let instance = done["process_instance"].as_str();
        Self {
            own: (window.is_some() || app.is_some()).then(|| Snapshot {
                app,
                window_id: window,
                ..Snapshot::default()
            }),
            process: process.zip(instance).map(|(pid, instance)| ProcessKey { pid, instance: instance.into() }),
            apps: RefCell::default(),
            // Of what ran already nobody noted the windows; of what was started they are no news.
            before: None,
        }
    }

    /// Notes which windows there are before the command.
    fn note(&mut self, platform: &dyn Platform, deadline: Deadline) {
        self.before = self.windows(platform, deadline).ok();
    }

    /// All windows of the process.
    fn windows(&self, platform: &dyn Platform, deadline: Deadline) -> Result<Vec<Window>> {
        let Some(process) = &self.process else { return Ok(Vec::new()) };
        if self.apps.borrow().is_empty() {
            let apps = platform.apps(deadline)?;
            self.apps.replace(apps.into_iter().filter(|app| app.process == *process).collect());
        }
        let apps = self.apps.borrow().clone();
        if apps.is_empty() { Ok(Vec::new()) } else { platform.windows(&apps, deadline) }
    }

    fn is_new(&self, window: &Window) -> bool {
        // A window of an application that doesn't answer is listed under the window system's id.
        let same = |w: &Window| w.id == window.id || (w.key.is_some() && w.key == window.key);
        let untold = |w: &Window| {
            (w.responsive == Responsive::No || window.responsive == Responsive::No)
                && (w.key.is_none() || window.key.is_none())
        };
        self.before.as_ref().is_some_and(|before| !before.iter().any(|w| same(w) || untold(w)))
    }

    /// The roots of the other windows of the process: those that are new first, then the others in the order of the list.
    /// A window without a tree has none.
    ///
    /// # Errors
    /// Where they can't be listed.
    pub fn others(&self, platform: &dyn Platform, own: Option<&str>, deadline: Deadline) -> Result<Vec<Root>> {
        let mut windows = self.windows(platform, deadline)?;
        windows.retain(|w| Some(w.id.as_str()) != own && w.root.is_some());
        windows.sort_by_key(|w| !self.is_new(w));
        Ok(windows.into_iter().filter_map(|w| of_window(w, Surface::Window).ok()).collect())
    }

    /// Windows of the process that were not there before the command: `{id, title}`. None where that is not known.
    pub fn opened(&self, platform: &dyn Platform, deadline: Deadline) -> Option<Vec<Value>> {
        self.before.as_ref()?;
        let windows = self.windows(platform, deadline).ok()?;
        let new = windows.iter().filter(|w| self.is_new(w));
        Some(new.map(|w| json!({"id": w.id, "title": w.title})).collect())
    }
}
