//! Windows, applications and surfaces, and what came and went between two looks.

use super::{Lines, fields, silence};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::observe::list::window_json;
use crate::observe::target::{app_summary, unresponsive};
use crate::platform::apps::surface_json;
use crate::platform::{App, Platform, ProcessKey, ProcessLife, Responsive, SurfaceInfo, Window};
use crate::vocab::surface::Surface;
use serde_json::json;
use std::collections::HashMap;

/// What one look saw.
pub struct Desktop {
    of: Option<ProcessKey>,
    apps: Vec<App>,
    pub windows: Vec<Window>,
    surfaces: Vec<SurfaceInfo>,
    /// Whether the layers of the process that is looked at alone were seen once.
    layers_known: bool,
    active: Option<Window>,
    /// The processes that did not answer.
    silent: Vec<ProcessKey>,
}

impl Desktop {
    /// Looks at the desktop, or at one process alone.
    pub fn look(platform: &dyn Platform, of: Option<ProcessKey>, deadline: Deadline) -> Result<Self> {
        let mut apps = platform.apps(deadline)?;
        // One that has just ended may still be listed; its end is told once.
        apps.retain(|app| !ended(platform, &app.process));
        if let Some(process) = &of {
            apps.retain(|app| app.process == *process);
        }
        let windows = if apps.is_empty() { Vec::new() } else { platform.windows(&apps, deadline)? };
        silence::whole(platform)?;
        let mut surfaces = Vec::new();
        if of.is_some() {
            for app in apps.iter().filter(|app| app.root.is_some() && app.responsive == Responsive::Yes) {
                surfaces.extend(platform.surfaces(app, deadline)?.into_iter().filter(is_layer));
            }
        }
        let active = windows.iter().find(|w| w.focused.says_yes()).cloned();
        let silent = silence::silent(&apps, &windows);
        let layers_known = silent.is_empty();
        Ok(Self { of, apps, windows, surfaces, layers_known, active, silent })
    }

    /// The process that is looked at alone.
    pub fn of(&self) -> Option<ProcessKey> {
        self.of.clone()
    }

    /// Makes this look and the one before comparable: what is silent is as it was before, and what was silent was then
    /// as it is now.
    ///
    /// Windows that were known by the window system alone have other ids now: which, is the answer.
    pub fn settle(&mut self, before: &mut Self) -> Vec<(String, String)> {
        let renamed = silence::recover(&mut before.windows, &before.silent, &self.windows, &self.silent);
        silence::carry(&mut self.windows, &before.windows, &self.silent);
        if self.of.is_some() {
            match (before.silent.is_empty(), self.silent.is_empty()) {
                (_, false) => self.surfaces.clone_from(&before.surfaces),
                (false, true) if !before.layers_known => before.surfaces.clone_from(&self.surfaces),
                _ => {}
            }
            self.layers_known = before.layers_known || self.silent.is_empty();
        }
        // A silent application's window keeps the id that it is known by.
        if let Some(active) = &mut self.active
            && self.silent.contains(&active.process)
            && let Some(known) = self.windows.iter().find(|w| w.key.is_some() && w.key == active.key)
        {
            active.clone_from(known);
        }
        if !silence::moved(before.active.as_ref(), self.active.as_ref(), &self.silent) && self.active.is_none() {
            self.active.clone_from(&before.active);
        }
        renamed
    }

    /// The applications that did not answer.
    pub fn unanswered(&self) -> Vec<&App> {
        self.apps.iter().filter(|app| self.silent.contains(&app.process)).collect()
    }

    /// Whether this process did not answer.
    pub fn is_silent(&self, process: &ProcessKey) -> bool {
        self.silent.contains(process)
    }

    /// Whether the process that was named has ended.
    pub fn target_ended(&self, platform: &dyn Platform) -> bool {
        self.of.as_ref().is_some_and(|process| ended(platform, process))
    }

    /// Tells what is different from before.
    pub fn tell_since(&self, platform: &dyn Platform, before: &Self, lines: &mut Lines<'_>) {
        for app in self.apps.iter().filter(|a| !before.apps.iter().any(|b| b.process == a.process)) {
            lines.tell("app-launched", fields([("app", app_summary(app))]));
        }
        let had: HashMap<&str, &Window> = before.windows.iter().map(|w| (w.id.as_str(), w)).collect();
        for window in &self.windows {
            match had.get(window.id.as_str()) {
                None => lines.tell("window-opened", fields([("window", window_json(window))])),
                // Where only the tree tells titles, none may be one that could not be read.
                Some(was)
                    if was.title != window.title
                        && (window.key.is_some() || !(window.title.is_empty() || was.title.is_empty())) =>
                {
                    let window_id = json!(window.id);
                    lines.tell(
                        "title-changed",
                        fields([("window_id", window_id), ("was", json!(was.title)), ("now", json!(window.title))]),
                    );
                }
                Some(_) => {}
            }
        }
        for surface in self.surfaces.iter().filter(|s| !before.surfaces.iter().any(|b| b.id == s.id)) {
            lines.tell("surface-appeared", fields([("surface", surface_json(surface))]));
        }
        for surface in
            before.surfaces.iter().filter(|s| self.silent.is_empty() && !self.surfaces.iter().any(|n| n.id == s.id))
        {
            lines.tell("surface-dismissed", fields([("surface", surface_json(surface))]));
        }
        for window in before.windows.iter().filter(|w| !self.windows.iter().any(|n| n.id == w.id)) {
            // Of a silent application nothing is known to be gone (decisions D4), but of an ended process all is.
            if !self.silent.contains(&window.process) || ended(platform, &window.process) {
                lines.tell("window-closed", fields([("window", super::super::observe::target::summary(window))]));
            }
        }
        for app in before.apps.iter().filter(|a| ended(platform, &a.process)) {
            lines.tell("app-terminated", fields([("app", app_summary(app))]));
        }
        if silence::moved(before.active.as_ref(), self.active.as_ref(), &self.silent) {
            let window = self.active.as_ref().map_or(serde_json::Value::Null, window_json);
            lines.tell("focus-changed", fields([("window", window)]));
        }
        self.tell_silence(platform, before, lines);
    }

    /// Who stopped answering, and who answers again. What happens in between is not seen.
    pub fn tell_silence(&self, platform: &dyn Platform, before: &Self, lines: &mut Lines<'_>) {
        for app in self.unanswered().into_iter().filter(|app| !before.silent.contains(&app.process)) {
            self.tell_unreadable(app, lines);
        }
        for process in before.silent.iter().filter(|p| !self.silent.contains(p) && !ended(platform, p)) {
            if let Some(app) = self.apps.iter().find(|app| app.process == *process) {
                lines.tell("readable", fields([("app", app_summary(app))]));
            }
        }
    }

    /// Says of everybody who doesn't answer that it is so.
    pub fn tell_unanswered(&self, lines: &mut Lines<'_>) {
        for app in self.unanswered() {
            self.tell_unreadable(app, lines);
        }
    }

    fn tell_unreadable(&self, app: &App, lines: &mut Lines<'_>) {
        let error = unresponsive(&[(app.name.as_str(), app.process.pid)]).to_json();
        lines.unseen = true;
        lines.tell("unreadable", fields([("app", app_summary(app)), ("error", error)]));
    }
}

/// Whether the surface comes and goes by itself: windows and the focus are told as such.
pub fn is_layer(surface: &SurfaceInfo) -> bool {
    !matches!(surface.kind, Surface::Window | Surface::Focused)
}

fn ended(platform: &dyn Platform, process: &ProcessKey) -> bool {
    matches!(platform.process_life(process), ProcessLife::Gone | ProcessLife::OtherGeneration)
}
