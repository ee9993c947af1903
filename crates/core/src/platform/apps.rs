//! Applications, windows and surfaces of one desktop.

use super::not_supported;
use super::observe::ProcessKey;
use super::windows::WindowKey;
use crate::deadline::Deadline;
use crate::error::{Delivery, Error};
use crate::evidence::Evidence;
use crate::geometry::Rect;
use crate::tree::raw::{Handle, Link};
use crate::vocab::surface::Surface;
use serde::Serialize;

/// Where an application shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presentation {
    /// It has windows.
    Foreground,
    /// It has none.
    Background,
}

/// Whether an application answered within the liveness deadline (decisions D4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Responsive {
    /// It answered.
    Yes,
    /// It stayed silent.
    No,
}

/// One running application.
#[derive(Clone, Debug, PartialEq)]
pub struct App {
    /// The name printed (`name`).
    pub name: String,
    /// Every name `--app` matches, the printed one included (decisions D10).
    pub names: Vec<String>,
    /// The process.
    pub process: ProcessKey,
    /// Bundle or desktop-entry id.
    pub bundle_id: Option<String>,
    /// Whether it has windows, where known.
    pub presentation: Option<Presentation>,
    /// Whether it answered.
    pub responsive: Responsive,
    /// Its own element, above its windows; none where it publishes no tree.
    pub root: Option<Handle>,
}

/// One window.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Printed id (`w-…`).
    pub id: String,
    /// Title; empty where it has none.
    pub title: String,
    /// Name of its application.
    pub app_name: String,
    /// The process.
    pub process: ProcessKey,
    /// The window system's identity of it; none where the window system doesn't say which of its windows this is.
    pub key: Option<WindowKey>,
    /// Bounds on the screen.
    pub bounds: Evidence<Rect>,
    /// Whether it is the active window.
    pub focused: Evidence<bool>,
    /// Whether it is on the screen.
    pub visible: Evidence<bool>,
    /// Whether it is iconified.
    pub minimized: Evidence<bool>,
    /// Whether it fills the screen.
    pub maximized: Evidence<bool>,
    /// Whether it is fullscreen.
    pub fullscreen: Evidence<bool>,
    /// Whether it blocks other windows of its application.
    pub modal: Evidence<bool>,
    /// Whether its application answered.
    pub responsive: Responsive,
    /// Its tree's root; none where it publishes no tree.
    pub root: Option<Handle>,
    /// The chain from the application's element down to, but without, the root.
    pub above: Vec<Link>,
    /// Index of the root among the application's children.
    pub index: u32,
    /// Why there is no tree and what to do, where `root` is none.
    pub no_tree_reason: Option<String>,
}

/// One surface of an application (spec 1 §9).
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceInfo {
    /// Printed id.
    pub id: String,
    /// Its kind.
    pub kind: Surface,
    /// Its title.
    pub title: Option<String>,
    /// How many items it lists.
    pub item_count: Option<u64>,
    /// Root of its tree.
    pub root: Handle,
    /// Chain above the root.
    pub above: Vec<Link>,
    /// Index of the root in its parent.
    pub index: u32,
    /// The window it belongs to, where known.
    pub window_id: Option<String>,
}

/// A window that an application put on the screen by itself, beside what the window manager knows: a menu, a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Popup {
    /// Its bounds on the screen.
    pub bounds: Rect,
    /// Whether the window system says that it is a menu.
    #[serde(skip)]
    pub menu: bool,
}

/// One display.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisplayInfo {
    /// Its id.
    pub id: String,
    /// Its bounds.
    pub bounds: Rect,
    /// Whether it is the primary one.
    pub is_primary: bool,
    /// Scale factor.
    pub scale: f64,
}

/// What `launch` asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchRequest {
    /// Desktop-entry id, display name, executable on the search path, or path.
    pub app: String,
    /// Arguments of the caller.
    pub args: Vec<String>,
    /// Environment of the caller.
    pub env: Vec<(String, String)>,
    /// Working directory.
    pub cwd: Option<String>,
    /// DevTools port to ask for, where wanted: 0 is a free port.
    pub cdp: Option<u16>,
}

/// A process that `launch` started.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// The process started; wrappers may hand over to a descendant.
    pub process: ProcessKey,
    /// The DevTools port that was asked for.
    pub cdp_port: Option<u16>,
    /// `chromium` where the application is Chromium-based.
    pub renderer: Option<&'static str>,
}

/// What `close-app` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseRequest {
    /// End it even if it does not agree.
    pub force: bool,
}

/// One step of closing, as taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseStep {
    /// What was done.
    pub label: String,
}

/// What closing did.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// Steps taken.
    pub steps: Vec<CloseStep>,
    /// Whether the process has verifiably ended.
    pub closed: bool,
    /// What is known about delivery.
    pub delivery: Delivery,
}

/// Applications, windows, surfaces.
pub trait Apps {
    /// All applications of this desktop, silent ones and ones without a tree included.
    fn apps(&self, deadline: Deadline) -> Result<Vec<App>, Error>;

    /// The windows of these applications, in one flight; silent applications are marked, not waited for.
    fn windows(&self, apps: &[App], deadline: Deadline) -> Result<Vec<Window>, Error>;

    /// The active window's process and id, where one is active.
    fn active_window(&self, deadline: Deadline) -> Result<Option<Window>, Error>;

    /// Surfaces that are open in the application now, besides its windows.
    fn surfaces(&self, app: &App, deadline: Deadline) -> Result<Vec<SurfaceInfo>, Error>;

    /// The popups of this process that the window system shows now, tooltips left out, whether or not a tree tells of
    /// them. Absent where no window system can be asked.
    fn popups(&self, process: &ProcessKey, deadline: Deadline) -> Evidence<Vec<Popup>> {
        let _ = (process, deadline);
        Evidence::Absent
    }

    /// Whether this process could still come to publish a tree. False only where it is certain that nothing in it
    /// publishes one.
    fn may_publish(&self, process: &ProcessKey) -> bool {
        let _ = process;
        true
    }

    /// The surfaces this adapter can serve.
    fn supported_surfaces(&self) -> Vec<Surface>;

    /// Whether a process that `--app NAME` would mean was started a moment ago and shows no tree yet, so that a
    /// short wait may help. Never true for a process that has been running for long.
    fn starting(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Whether this process was started a moment ago, so that its first window may still come.
    fn young(&self, process: &ProcessKey) -> bool {
        let _ = process;
        false
    }

    /// Names of a process that `--app` would match, as far as they are known without asking it.
    fn names_of(&self, process: &ProcessKey) -> Vec<String> {
        let _ = process;
        Vec::new()
    }

    /// Starts an application. Returns when its process runs. Its output is never ours.
    fn launch(&self, request: &LaunchRequest, deadline: Deadline) -> Result<Launched, Error> {
        let _ = (request, deadline);
        Err(not_supported("launch"))
    }

    /// Whether a process runs this program, given by its path; none where that can't be told.
    fn runs(&self, process: &ProcessKey, path: &str) -> Option<bool> {
        let _ = (process, path);
        None
    }

    /// Whether the window system answered when the last list was made. Where it didn't, windows that only it knows are
    /// missing, and no absence is proven.
    fn display_answered(&self) -> bool {
        true
    }

    /// Candidates for a name that `launch` would start, to attach to a running one.
    fn launch_names(&self, app: &str) -> Result<Vec<String>, Error> {
        Ok(vec![app.to_owned()])
    }

    /// Ends an application; refuses protected processes where the close happens (spec 1 §4).
    fn close(&self, app: &App, request: CloseRequest, deadline: Deadline) -> Result<Closed, Error> {
        let _ = (app, request, deadline);
        Err(not_supported("close-app"))
    }

    /// Process descendants of a process, the process itself included.
    fn descendants(&self, process: &ProcessKey) -> Vec<ProcessKey> {
        vec![process.clone()]
    }

    /// Displays, the primary one first.
    fn displays(&self, deadline: Deadline) -> Result<Vec<DisplayInfo>, Error> {
        let _ = deadline;
        Err(not_supported("list-displays"))
    }
}

/// A surface as answers print it: `{id, type, title?, item_count?}`.
pub fn surface_json(surface: &SurfaceInfo) -> serde_json::Value {
    let mut out = serde_json::json!({"id": surface.id, "type": surface.kind});
    if let Some(map) = out.as_object_mut() {
        if let Some(title) = surface.title.as_ref().filter(|t| !t.is_empty()) {
            map.insert("title".into(), title.as_str().into());
        }
        if let Some(count) = surface.item_count {
            map.insert("item_count".into(), count.into());
        }
    }
    out
}
