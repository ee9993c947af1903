//! Windows, applications and surfaces, and what came and went between two looks.

use super::{Lines, fields};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::observe::list::window_json;
use crate::observe::target::app_summary;
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
    active: Option<String>,
    silent: bool,
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
        let mut surfaces = Vec::new();
        if of.is_some() {
            for app in apps.iter().filter(|app| app.root.is_some() && app.responsive == Responsive::Yes) {
                surfaces.extend(platform.surfaces(app, deadline)?.into_iter().filter(is_layer));
            }
        }
        let active = windows.iter().find(|w| w.focused.says_yes()).map(|w| w.id.clone());
        let silent = apps.iter().any(|app| app.responsive == Responsive::No)
            || windows.iter().any(|w| w.responsive == Responsive::No);
        Ok(Self { of, apps, windows, surfaces, active, silent })
    }

    /// The process that is looked at alone.
    pub fn of(&self) -> Option<ProcessKey> {
        self.of.clone()
    }

    /// The same where silent applications are as they were before.
    pub fn settled(mut self, before: &Self) -> Self {
        carry_silent(&mut self.windows, &before.windows);
        if self.silent && self.of.is_some() {
            self.surfaces.clone_from(&before.surfaces);
        }
        self
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
                Some(was) if was.title != window.title => {
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
        for surface in before.surfaces.iter().filter(|s| !self.silent && !self.surfaces.iter().any(|n| n.id == s.id)) {
            lines.tell("surface-dismissed", fields([("surface", surface_json(surface))]));
        }
        for window in before.windows.iter().filter(|w| !self.windows.iter().any(|n| n.id == w.id)) {
            // A list with a silent member proves no absence (decisions D4), but an ended process does.
            if !self.silent || ended(platform, &window.process) {
                lines.tell("window-closed", fields([("window", super::super::observe::target::summary(window))]));
            }
        }
        for app in before.apps.iter().filter(|a| ended(platform, &a.process)) {
            lines.tell("app-terminated", fields([("app", app_summary(app))]));
        }
        if self.active != before.active {
            let window = self.windows.iter().find(|w| Some(&w.id) == self.active.as_ref());
            lines.tell("focus-changed", fields([("window", window.map_or(serde_json::Value::Null, window_json))]));
        }
    }
}

/// Puts the windows of silent processes as they were before: an application that doesn't answer is listed by what the
/// window system knows of it, under other ids, and has opened and closed nothing by that.
pub fn carry_silent(now: &mut Vec<Window>, before: &[Window]) {
    let silent: Vec<ProcessKey> =
        now.iter().filter(|w| w.responsive == Responsive::No).map(|w| w.process.clone()).collect();
    let had = |process: &ProcessKey| before.iter().any(|w| w.process == *process);
    now.retain(|w| !silent.contains(&w.process) || !had(&w.process));
    now.extend(before.iter().filter(|w| silent.contains(&w.process)).cloned());
}

/// Whether the surface comes and goes by itself: windows and the focus are told as such.
pub fn is_layer(surface: &SurfaceInfo) -> bool {
    !matches!(surface.kind, Surface::Window | Surface::Focused)
}

fn ended(platform: &dyn Platform, process: &ProcessKey) -> bool {
    matches!(platform.process_life(process), ProcessLife::Gone | ProcessLife::OtherGeneration)
}
