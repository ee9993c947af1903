//! The adapter's side of core's traits: each method hands over to the room that knows.

use crate::atspi::{identity, surfaces, table};
use crate::platform::{LinuxPlatform, object};
use crate::process::{self, Token};
use crate::programs;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::{
    App, Apps, CloseRequest, Closed, DisplayInfo, Hit, LaunchRequest, Launched, Observe, Popup, Probe, ProbeRequest,
    ProcessKey, ProcessLife, ReadPlan, SurfaceInfo, TableAsk, TablePart, TextPart, Window,
};
use agent_desktop_core::tree::raw::{Handle, Link, RawTree};
use agent_desktop_core::vocab::surface::Surface;
use std::ops::Range;

impl Observe for LinuxPlatform {
    fn read_tree(
        &self,
        root: &Handle,
        above: &[Link],
        process: &ProcessKey,
        plan: &ReadPlan,
    ) -> Result<RawTree, Error> {
        self.tree(root, above, process.pid, plan)
    }

    fn probe(&self, request: &ProbeRequest<'_>, deadline: Deadline) -> Probe {
        identity::probe(self, request, deadline)
    }

    fn process_life(&self, process: &ProcessKey) -> ProcessLife {
        process_life(process)
    }

    fn selection(&self, target: &Handle, deadline: Deadline) -> Evidence<Vec<String>> {
        crate::operate::selected(self, target, deadline)
    }

    fn hit_test(&self, target: &Handle, points: &[Point], deadline: Deadline) -> Vec<Hit> {
        crate::atspi::hit::test(self, target, points, deadline)
    }

    fn text_part(&self, target: &Handle, range: &Range<u64>, deadline: Deadline) -> Result<TextPart, Error> {
        let object = object(target)?;
        let toolkit = self.toolkit(&object.bus, deadline)?;
        table::text_part(&*self.bus, &object, toolkit, range, deadline)
    }

    fn table_part(&self, target: &Handle, ask: &TableAsk, deadline: Deadline) -> Result<TablePart, Error> {
        let object = object(target)?;
        let toolkit = self.toolkit(&object.bus, deadline)?;
        table::table_part(&*self.bus, &object, toolkit, ask, deadline)
    }

    fn cell_at(&self, table: &Handle, row: u64, column: u64, deadline: Deadline) -> Result<Link, Error> {
        let object = object(table)?;
        let toolkit = self.toolkit(&object.bus, deadline)?;
        table::cell_at(&*self.bus, &object, toolkit, (row, column), deadline)
    }
}

/// Whether the process of this generation runs, from the kernel.
pub(crate) fn process_life(key: &ProcessKey) -> ProcessLife {
    let (Ok(pid), Ok(token)) = (i32::try_from(key.pid), key.instance.parse::<Token>()) else {
        return ProcessLife::Unknown(Cause::Fault("this is no process of the Linux adapter".to_owned()));
    };
    match process::alive(pid, &token) {
        process::Liveness::Alive => ProcessLife::Alive,
        process::Liveness::Gone => ProcessLife::Gone,
        process::Liveness::OtherGeneration => ProcessLife::OtherGeneration,
        process::Liveness::Unknown => ProcessLife::Unknown(Cause::Denied),
    }
}

impl Apps for LinuxPlatform {
    fn apps(&self, deadline: Deadline) -> Result<Vec<App>, Error> {
        let windows = self.look(deadline).unwrap_or_default();
        self.list_apps(&windows, deadline)
    }

    fn windows(&self, apps: &[App], deadline: Deadline) -> Result<Vec<Window>, Error> {
        let windows = self.just_looked(deadline);
        let all = self.list_windows(apps, windows.as_deref(), deadline);
        if all.is_empty() && self.x_is_late() {
            return Err(Error::before(Code::Timeout, "the display did not answer in time: no window seen proves none")
                .kind("display_late")
                .retry_after(500));
        }
        Ok(all)
    }

    fn active_window(&self, deadline: Deadline) -> Result<Option<Window>, Error> {
        let windows = self.x_windows(deadline);
        let mut apps = self.list_apps(windows.as_deref().unwrap_or_default(), deadline)?;
        // Where the window system says which process is active, nobody else is asked.
        let active = windows.iter().flatten().find(|w| w.is_active).and_then(|w| w.pid);
        if let Some(pid) = active {
            apps.retain(|a| i32::try_from(a.process.pid) == Ok(pid));
        }
        let all = self.list_windows(&apps, windows.as_deref(), deadline);
        let mut focused = all.into_iter().filter(|w| w.focused.says_yes());
        // Two that claim it are none.
        let only = focused.next().filter(|_| focused.next().is_none());
        if only.is_none() && self.x_is_late() {
            return Err(Error::before(
                Code::Timeout,
                "the display did not answer in time: which window is active is not known",
            )
            .kind("display_late")
            .retry_after(500));
        }
        Ok(only)
    }

    fn surfaces(&self, app: &App, deadline: Deadline) -> Result<Vec<SurfaceInfo>, Error> {
        surfaces::open(self, app, deadline)
    }

    fn popups(&self, process: &ProcessKey, deadline: Deadline) -> Evidence<Vec<Popup>> {
        surfaces::popups(self, process, deadline)
    }

    fn may_publish(&self, process: &ProcessKey) -> bool {
        crate::atspi::toolkit::may_publish(process.pid)
    }

    fn names_of(&self, process: &ProcessKey) -> Vec<String> {
        programs::names_of(process)
    }

    fn launch(&self, request: &LaunchRequest, _: Deadline) -> Result<Launched, Error> {
        programs::launch(self, request)
    }

    fn runs(&self, process: &ProcessKey, path: &str) -> Option<bool> {
        programs::runs(process, path)
    }

    fn display_answered(&self) -> bool {
        !self.x_was_missed()
    }

    fn launch_names(&self, app: &str) -> Result<Vec<String>, Error> {
        programs::launch_names(app)
    }

    fn starting(&self, name: &str) -> bool {
        programs::starting(name)
    }

    fn young(&self, process: &ProcessKey) -> bool {
        programs::young(process)
    }

    fn close(&self, app: &App, request: CloseRequest, deadline: Deadline) -> Result<Closed, Error> {
        programs::close(self, app, request, deadline)
    }

    fn descendants(&self, process: &ProcessKey) -> Vec<ProcessKey> {
        programs::descendants(process)
    }

    fn displays(&self, deadline: Deadline) -> Result<Vec<DisplayInfo>, Error> {
        crate::windows::displays(self, deadline)
    }

    fn supported_surfaces(&self) -> Vec<Surface> {
        surfaces::SUPPORTED.to_vec()
    }
}
