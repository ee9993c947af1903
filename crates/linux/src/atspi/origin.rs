//! Where on the screen a toolkit's coordinates begin that counts from the window (GTK 4): in the content of the very
//! X11 window that the element is drawn in, which for an open popover is one of its own.

use super::native::Field;
use super::windows::{self as x_windows, Frame};
use crate::LinuxPlatform;
use crate::bus::{Object, Wire};
use crate::x11::{self, X11Window};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};

/// x, y, width, height as the toolkit says them.
pub type Extents = (i32, i32, i32, i32);

/// Where coordinates begin, for the elements of one window.
pub struct Origins<'a> {
    /// For what is drawn in the window itself, or in the popover that the root of the read stands in.
    pub root: Evidence<(f64, f64)>,
    /// For what is drawn in an open popover with these extents.
    pub popover: &'a dyn Fn(Extents) -> Evidence<(f64, f64)>,
}

impl Origins<'_> {
    /// Where nothing was asked, or the toolkit counts from the screen.
    pub fn unasked() -> Self {
        Self { root: Evidence::Unknown(Cause::NotRead), popover: &|_| Evidence::Unknown(Cause::NotRead) }
    }
}

fn unknown<T>(why: &str) -> Evidence<T> {
    Evidence::Unknown(Cause::Fault(why.to_owned()))
}

impl LinuxPlatform {
    /// Where the content of the window with this root begins on the screen.
    pub(crate) fn origin(&self, root: &Object, pid: u32, deadline: Deadline) -> Evidence<(f64, f64)> {
        let Some(all) = self.x_windows(deadline) else { return Evidence::Unknown(Cause::NotRead) };
        let own: Vec<&X11Window> =
            all.iter().filter(|w| w.pid == i32::try_from(pid).ok() && x_windows::is_counted(w)).collect();
        let answers = self.bus.flight(vec![Field::Name.call(root), Field::Extents.call(root)], deadline);
        let title = answers.first().and_then(|a| a.as_ref().ok()?.text_property().ok()).unwrap_or_default();
        let Some((x, y, width, height)) = answers.get(1).and_then(|a| a.as_ref().ok()?.extents().ok()) else {
            return unknown("the window does not say how large it is");
        };
        let window = match own.as_slice() {
            [only] => *only,
            _ => {
                let extents = Some((i32::MIN, i32::MIN, width, height));
                match x_windows::matched(&[Frame { title, extents }], &own).first() {
                    Some(Some(w)) => own[*w],
                    _ => return unknown("the window's place on the screen is unknown"),
                }
            }
        };
        match x_windows::content(window, (width, height)) {
            Some((left, top)) => Evidence::Known((left - f64::from(x), top - f64::from(y))),
            None => unknown("the window's size on the screen is not the one that the application says"),
        }
    }

    /// Where coordinates begin for what is drawn in an open popover with these extents: by the one window of its
    /// process of that size that the window manager leaves alone.
    pub(crate) fn popover_origin(&self, extents: Extents, pid: u32, deadline: Deadline) -> Evidence<(f64, f64)> {
        let (x, y, width, height) = extents;
        if width <= 0 || height <= 0 {
            return unknown("the popover isn't open");
        }
        let Ok(popups) = self.ask_x(deadline, x11::popups) else { return Evidence::Unknown(Cause::NotRead) };
        let own = popups.iter().filter(|w| w.pid == i32::try_from(pid).ok());
        let mut fit = own.filter_map(|w| x_windows::content(w, (width, height)));
        match (fit.next(), fit.next()) {
            (Some((left, top)), None) => Evidence::Known((left - f64::from(x), top - f64::from(y))),
            (None, _) => unknown("no window on the screen is the popover's"),
            _ => unknown("several windows on the screen may be the popover's"),
        }
    }

    /// The same for an element of a window; `inner` are the steps from below the window down to the element itself.
    /// With it comes the popover that it is drawn in, where it is in one.
    pub(crate) fn origin_of(
        &self,
        window: &Object,
        inner: &[Object],
        pid: u32,
        deadline: Deadline,
    ) -> (Evidence<(f64, f64)>, Option<Object>) {
        let Some(toolkit) = self.known_toolkit(&window.bus) else { return (Evidence::Unknown(Cause::NotRead), None) };
        let fields = [Field::Role, Field::Name, Field::Extents];
        let calls = inner.iter().flat_map(|o| fields.map(|f| f.call(o))).collect();
        let answers = self.bus.flight(calls, deadline);
        for (object, said) in inner.iter().zip(answers.chunks(fields.len())).rev() {
            let [Ok(role), Ok(name), extents] = said else {
                return (unknown("what the element is drawn in is unknown"), None);
            };
            let (Ok(role), Ok(name)) = (role.uint(), name.text_property()) else {
                return (unknown("what the element is drawn in is unknown"), None);
            };
            if !toolkit.has_window_of_its_own(role, &name) {
                continue;
            }
            let extents = extents.as_ref().ok().and_then(|e| e.extents().ok());
            return match extents {
                Some(e) => (self.popover_origin(e, pid, deadline), Some(object.clone())),
                None => (unknown("the popover does not say how large it is"), None),
            };
        }
        (self.origin(window, pid, deadline), None)
    }
}
