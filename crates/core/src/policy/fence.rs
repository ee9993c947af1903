//! A platform that knows only permitted applications. Every method of the platform stands here, so that a new one can't
//! be forgotten: what reads or operates an application asks the rules first.

use super::Rules;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::evidence::{Cause, Evidence};
use crate::geometry::{Point, Rect};
use crate::platform::{
    Action, App, Apps, Capture, ChangeScope, Changes, Clip, ClipKind, Clipboard, Clipping, CloseRequest, Closed,
    CursorStep, Dispatch, DisplayInfo, Guard, Held, Hit, Hold, Input, LaunchRequest, Launched, Listening, Live,
    Observe, Operate, Overlay, Pixels, Platform, Played, Popup, Presence, Probe, ProbeRequest, ProcessKey, ProcessLife,
    ReadPlan, Rung, Stroke, SurfaceInfo, TableAsk, TablePart, TextPart, Watch, Window, WindowChange, WindowKey,
    WindowPicture, WindowState, Windows, WriteOutcome,
};
use crate::tree::raw::{Handle, Link, RawTree};
use crate::vocab::key::Combo;
use crate::vocab::surface::Surface;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// Time for finding out which application a process is, in milliseconds.
const ASK_MS: u64 = 1_500;

/// The platform within the rules.
pub struct Fence {
    inner: Box<dyn Platform>,
    rules: Rules,
    /// Whether a process is permitted, as far as it was asked.
    known: RefCell<HashMap<ProcessKey, bool>>,
}

impl Fence {
    /// Puts the rules around a platform.
    pub fn new(inner: Box<dyn Platform>, rules: Rules) -> Self {
        Self { inner, rules, known: RefCell::default() }
    }

    fn learn(&self, apps: &[App]) {
        let mut known = self.known.borrow_mut();
        for app in apps {
            // A process that registered an empty and a full object has the names of both.
            let entry = known.entry(app.process.clone()).or_insert(false);
            *entry |= self.rules.permits(app);
        }
    }

    fn permits(&self, process: &ProcessKey) -> bool {
        if let Some(known) = self.known.borrow().get(process) {
            return *known;
        }
        if self.rules.permits_names(&self.inner.names_of(process)) {
            self.known.borrow_mut().insert(process.clone(), true);
            return true;
        }
        if let Ok(apps) = self.inner.apps(Deadline::after_ms(ASK_MS)) {
            self.learn(&apps);
        }
        // Who is not listed is nobody that was permitted.
        self.known.borrow().get(process).copied().unwrap_or(false)
    }

    fn check(&self, process: &ProcessKey) -> Result<()> {
        if self.permits(process) {
            return Ok(());
        }
        Err(self.rules.denied("the application").detail("pid", process.pid))
    }

    fn check_window(&self, window: &WindowKey) -> Result<()> {
        self.check(&window.process)
    }

    /// A guard names only permitted windows.
    fn check_guard(&self, guard: &Guard) -> Result<()> {
        guard.front.iter().chain(&guard.under).try_for_each(|key| self.check_window(key))
    }

    /// The window that has the keyboard, to be held to it.
    fn keyboard(&self, guard: &mut Guard, deadline: Deadline) -> Result<()> {
        if guard.front.is_none() {
            guard.front = self.active_window(deadline)?.and_then(|window| window.key);
        }
        match &guard.front {
            Some(_) => Ok(()),
            None => Err(self.rules.denied("the keyboard of a window that nobody can name")),
        }
    }

    /// The window at a point, to be held to it.
    fn place(&self, guard: &mut Guard, point: Option<Point>, deadline: Deadline) -> Result<()> {
        if guard.under.is_some() {
            return Ok(());
        }
        match point.map_or(Evidence::Absent, |p| self.inner.window_at(p, deadline)) {
            Evidence::Known(key) => {
                self.check_window(&key)?;
                guard.under = Some(key);
                Ok(())
            }
            _ => Err(self.rules.denied("what is at this point")),
        }
    }

    /// Whether what is at a point may be reached: a permitted window, or the desktop itself.
    fn reaches(&self, point: Option<Point>, deadline: Deadline) -> Result<()> {
        let Some(at) = point else { return Ok(()) };
        match self.inner.window_at(at, deadline) {
            Evidence::Known(key) => self.check_window(&key),
            Evidence::Absent => Ok(()),
            Evidence::Unknown(_) => Err(self.rules.denied("what is at this point")),
        }
    }

    /// The sequence with a guard wherever something could reach another application.
    fn within(&self, strokes: &[Stroke], guard: &Guard, deadline: Deadline) -> Result<(Vec<Stroke>, Guard)> {
        self.check_guard(guard)?;
        let mut first = guard.clone();
        if strokes.iter().any(|s| matches!(s, Stroke::Key { .. } | Stroke::Text(_))) {
            self.keyboard(&mut first, deadline)?;
        }
        let (mut out, mut now, mut point) = (Vec::with_capacity(strokes.len()), first.clone(), None);
        for stroke in strokes {
            match stroke {
                Stroke::Move(to) => point = Some(*to),
                Stroke::Expect(next) => {
                    self.check_guard(next)?;
                    now = next.clone();
                }
                Stroke::Button { down: true, .. } | Stroke::Wheel { .. } if now.under.is_none() => {
                    let at = point.or_else(|| self.inner.pointer(deadline).into_known());
                    self.place(&mut now, at, deadline)?;
                    out.push(Stroke::Expect(now.clone()));
                }
                // A drop reaches whatever is there.
                Stroke::Button { down: false, .. } => self.reaches(point, deadline)?,
                _ => {}
            }
            out.push(stroke.clone());
        }
        // Hovering reaches an application as well.
        self.reaches(point, deadline)?;
        Ok((out, first))
    }
}

impl Platform for Fence {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn desktop_id(&self) -> Result<String> {
        self.inner.desktop_id()
    }

    fn status_details(&self) -> Value {
        self.inner.status_details()
    }

    fn permissions(&self) -> Value {
        self.inner.permissions()
    }

    fn admits(&self, process: &ProcessKey) -> Result<()> {
        self.check(process)
    }
}

impl Observe for Fence {
    fn read_tree(&self, root: &Handle, above: &[Link], process: &ProcessKey, plan: &ReadPlan) -> Result<RawTree> {
        self.check(process)?;
        self.inner.read_tree(root, above, process, plan)
    }

    fn probe(&self, request: &ProbeRequest<'_>, deadline: Deadline) -> Probe {
        if self.permits(request.process) {
            return self.inner.probe(request, deadline);
        }
        // Refs are refused when they are loaded; this is the second wall.
        Probe {
            process: ProcessLife::Unknown(Cause::NotRead),
            element: Presence::Unknown(Cause::NotRead),
            edges: vec![Evidence::Unknown(Cause::NotRead); request.edges.len()],
            witnesses: vec![Evidence::Unknown(Cause::NotRead); request.witnesses.len()],
            cells: vec![Evidence::Unknown(Cause::NotRead); request.cells.len()],
            silent: false,
        }
    }

    fn process_life(&self, process: &ProcessKey) -> ProcessLife {
        self.inner.process_life(process)
    }

    fn selection(&self, target: &Handle, deadline: Deadline) -> Evidence<Vec<String>> {
        self.inner.selection(target, deadline)
    }

    fn text_part(&self, target: &Handle, range: &Range<u64>, deadline: Deadline) -> Result<TextPart> {
        self.inner.text_part(target, range, deadline)
    }

    fn table_part(&self, target: &Handle, ask: &TableAsk, deadline: Deadline) -> Result<TablePart> {
        self.inner.table_part(target, ask, deadline)
    }

    fn cell_at(&self, table: &Handle, row: u64, column: u64, deadline: Deadline) -> Result<Link> {
        self.inner.cell_at(table, row, column, deadline)
    }

    fn hit_test(&self, target: &Handle, points: &[Point], deadline: Deadline) -> Vec<Hit> {
        self.inner.hit_test(target, points, deadline)
    }
}

// Elements come from trees and refs of permitted applications only.
impl Operate for Fence {
    fn rungs(&self, target: &Live, action: &Action, deadline: Deadline) -> Result<Vec<Rung>> {
        self.inner.rungs(target, action, deadline)
    }

    fn watch(&self, target: &Live, deadline: Deadline) -> Box<dyn Watch> {
        self.inner.watch(target, deadline)
    }

    fn dispatch(&self, target: &Live, action: &Action, rung: &Rung, deadline: Deadline) -> Dispatch {
        self.inner.dispatch(target, action, rung, deadline)
    }
}

impl Apps for Fence {
    /// All of them by name: whether one is permitted is known by that.
    fn apps(&self, deadline: Deadline) -> Result<Vec<App>> {
        let apps = self.inner.apps(deadline)?;
        self.learn(&apps);
        Ok(apps)
    }

    /// Those of permitted applications; the others are not asked. Where none of those named is permitted, that is said.
    fn windows(&self, apps: &[App], deadline: Deadline) -> Result<Vec<Window>> {
        let own: Vec<App> = apps.iter().filter(|app| self.permits(&app.process)).cloned().collect();
        if let (true, [first, ..]) = (own.is_empty(), apps)
            && apps.iter().all(|app| app.process == first.process)
        {
            return Err(self.rules.denied(&first.name).detail("pid", first.process.pid));
        }
        self.inner.windows(&own, deadline)
    }

    fn active_window(&self, deadline: Deadline) -> Result<Option<Window>> {
        match self.inner.active_window(deadline)? {
            Some(window) if !self.permits(&window.process) => {
                Err(self.rules.denied("the active window's application").detail("pid", window.process.pid))
            }
            window => Ok(window),
        }
    }

    fn surfaces(&self, app: &App, deadline: Deadline) -> Result<Vec<SurfaceInfo>> {
        self.check(&app.process)?;
        self.inner.surfaces(app, deadline)
    }

    fn popups(&self, process: &ProcessKey, deadline: Deadline) -> Evidence<Vec<Popup>> {
        if self.permits(process) { self.inner.popups(process, deadline) } else { Evidence::Unknown(Cause::NotRead) }
    }

    fn may_publish(&self, process: &ProcessKey) -> bool {
        self.inner.may_publish(process)
    }

    fn supported_surfaces(&self) -> Vec<Surface> {
        self.inner.supported_surfaces()
    }

    fn starting(&self, name: &str) -> bool {
        self.inner.starting(name)
    }

    fn young(&self, process: &ProcessKey) -> bool {
        self.inner.young(process)
    }

    fn names_of(&self, process: &ProcessKey) -> Vec<String> {
        self.inner.names_of(process)
    }

    /// What is started is known by the names that it is looked for with.
    fn launch(&self, request: &LaunchRequest, deadline: Deadline) -> Result<Launched> {
        let mut names = self.inner.launch_names(&request.app)?;
        names.push(request.app.clone());
        if !self.rules.permits_names(&names) {
            return Err(self.rules.denied(crate::error::echo(&request.app)));
        }
        let launched = self.inner.launch(request, deadline)?;
        self.known.borrow_mut().insert(launched.process.clone(), true);
        Ok(launched)
    }

    fn runs(&self, process: &ProcessKey, path: &str) -> Option<bool> {
        self.inner.runs(process, path)
    }

    fn display_answered(&self) -> bool {
        self.inner.display_answered()
    }

    fn launch_names(&self, app: &str) -> Result<Vec<String>> {
        self.inner.launch_names(app)
    }

    fn close(&self, app: &App, request: CloseRequest, deadline: Deadline) -> Result<Closed> {
        self.check(&app.process)?;
        self.inner.close(app, request, deadline)
    }

    fn descendants(&self, process: &ProcessKey) -> Vec<ProcessKey> {
        self.inner.descendants(process)
    }

    fn displays(&self, deadline: Deadline) -> Result<Vec<DisplayInfo>> {
        self.inner.displays(deadline)
    }
}

impl Input for Fence {
    fn play(&self, strokes: &[Stroke], guard: &Guard, deadline: Deadline) -> Result<Played> {
        let (strokes, guard) = self.within(strokes, guard, deadline)?;
        self.inner.play(&strokes, &guard, deadline)
    }

    fn play_while(
        &self,
        strokes: &[Stroke],
        guard: &Guard,
        deadline: Deadline,
        still: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Played> {
        let (strokes, guard) = self.within(strokes, guard, deadline)?;
        self.inner.play_while(&strokes, &guard, deadline, still)
    }

    fn pointer(&self, deadline: Deadline) -> Evidence<Point> {
        self.inner.pointer(deadline)
    }

    fn window_at(&self, point: Point, deadline: Deadline) -> Evidence<WindowKey> {
        self.inner.window_at(point, deadline)
    }

    fn dangerous(&self, combo: &Combo) -> bool {
        self.inner.dangerous(combo)
    }

    fn hold(
        &self,
        hold: &Hold,
        session: Option<&str>,
        limit_ms: u64,
        guard: &Guard,
        deadline: Deadline,
    ) -> Result<Played> {
        let mut guard = guard.clone();
        self.check_guard(&guard)?;
        match hold {
            // What is held goes on by itself, into whatever window has the keyboard by then.
            Hold::Keys(combo) if combo.key.is_some() => {
                return Err(self.rules.denied("a key that repeats while it is held, in whichever window,"));
            }
            Hold::Keys(_) => self.keyboard(&mut guard, deadline)?,
            Hold::Button { at, .. } => self.place(&mut guard, Some(*at), deadline)?,
        }
        self.inner.hold(hold, session, limit_ms, &guard, deadline)
    }

    // Letting go is permitted; letting go of a button over another application drops something on it.
    fn release(&self, hold: &Hold, session: Option<&str>, deadline: Deadline) -> Result<Played> {
        if let Hold::Button { at, .. } = hold {
            self.reaches(Some(*at), deadline)?;
        }
        self.inner.release(hold, session, deadline)
    }

    fn held(&self, deadline: Deadline) -> Result<Vec<Held>> {
        self.inner.held(deadline)
    }

    fn release_all(&self, session: Option<&str>, deadline: Deadline) -> Result<Vec<Held>> {
        self.inner.release_all(session, deadline)
    }
}

impl Windows for Fence {
    fn change(&self, window: &WindowKey, change: &WindowChange, deadline: Deadline) -> WriteOutcome {
        match self.check_window(window) {
            Ok(()) => self.inner.change(window, change, deadline),
            Err(error) => WriteOutcome::Refused(error),
        }
    }

    fn manager_caught_up(&self, deadline: Deadline) -> Evidence<bool> {
        self.inner.manager_caught_up(deadline)
    }

    fn window_now(&self, window: &WindowKey, deadline: Deadline) -> Evidence<WindowState> {
        self.inner.window_now(window, deadline)
    }
}

impl Changes for Fence {
    /// What is heard says only that something changed.
    fn listen(&self, scope: &ChangeScope, deadline: Deadline) -> Result<Box<dyn Listening + '_>> {
        if let ChangeScope::Process(process) = scope {
            self.check(process)?;
        }
        self.inner.listen(scope, deadline)
    }
}

impl Capture for Fence {
    fn capture_window(&self, window: &WindowKey, deadline: Deadline) -> Result<WindowPicture> {
        self.check_window(window)?;
        self.inner.capture_window(window, deadline)
    }

    fn capture_area(&self, area: Rect, deadline: Deadline) -> Result<Pixels> {
        self.rules.check_screen()?;
        self.inner.capture_area(area, deadline)
    }
}

/// Nothing of an application is seen or touched.
impl Overlay for Fence {
    fn overlay_step(&self, step: &CursorStep, deadline: Deadline) -> Result<()> {
        self.inner.overlay_step(step, deadline)
    }

    fn overlay_end(&self, session: &str, deadline: Deadline) -> Result<bool> {
        self.inner.overlay_end(session, deadline)
    }
}

impl Clipboard for Fence {
    fn clip(&self, kinds: &[ClipKind], deadline: Deadline) -> Result<Clipping> {
        self.rules.check_clipboard()?;
        self.inner.clip(kinds, deadline)
    }

    fn set_clip(&self, clip: &Clip, deadline: Deadline) -> Result<()> {
        self.rules.check_clipboard()?;
        self.inner.set_clip(clip, deadline)
    }

    fn clear_clip(&self, deadline: Deadline) -> Result<()> {
        self.rules.check_clipboard()?;
        self.inner.clear_clip(deadline)
    }
}
