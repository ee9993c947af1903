//! The clipboard of an X server: read from its owner, and owned by a process of ours that outlives the command.
//!
//! X has no place that keeps what was copied: whoever "has" the clipboard answers each paste itself (ICCCM §2). So a set
//! starts a process that owns it ([`owner`]) until somebody else does.

mod atoms;
mod events;
mod frame;
mod offers;
mod owner;
mod reader;
pub(crate) mod start;
mod text;
mod transfer;

use crate::LinuxPlatform;
use crate::bus::join::no_desktop;
use crate::desktop::DesktopEnv;
use crate::x11::{self, X11Error};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::{Clip, ClipKind, Clipboard, Clipping};
use std::path::{Path, PathBuf};

pub use owner::main as owner_main;

/// The hidden sub-command of the program that owns the clipboard until somebody else does.
pub const OWNER: &str = "__clipboard-owner";

/// How long the X server itself may take for one answer.
const SERVER_MS: u64 = 2_000;

/// The clipboard of one display. It needs no bus.
pub struct XClipboard {
    display: Option<(String, Option<PathBuf>)>,
    inside: Option<DesktopEnv>,
    program: Option<PathBuf>,
}

impl XClipboard {
    /// The clipboard of the display that these variables name; `inside` is the desktop that they belong to, `program`
    /// the one with [`OWNER`].
    pub fn of(
        variable: impl Fn(&str) -> Option<String>,
        inside: Option<DesktopEnv>,
        program: Option<PathBuf>,
    ) -> XClipboard {
        XClipboard { display: x11::connection::display_of(variable), inside, program }
    }

    fn display(&self) -> Result<(&str, Option<&Path>), Error> {
        let (name, authority) = self
            .display
            .as_ref()
            .ok_or_else(|| no_desktop("there is no X display whose clipboard could be used", "DISPLAY is not set"))?;
        Ok((name, authority.as_deref()))
    }

    fn connect(&self, deadline: Deadline) -> Result<x11::Connection, Error> {
        let (name, authority) = self.display()?;
        x11::connect(name, authority, deadline.within_ms(SERVER_MS).instant()).map_err(|e| no_display(&e))
    }
}

impl Clipboard for XClipboard {
    fn clip(&self, kinds: &[ClipKind], deadline: Deadline) -> Result<Clipping, Error> {
        reader::read(&self.connect(deadline)?, kinds, deadline)
    }

    fn set_clip(&self, clip: &Clip, deadline: Deadline) -> Result<(), Error> {
        let program = self.program.as_deref().ok_or_else(|| {
            Error::before(Code::PlatformNotSupported, "this library has no program that could own the clipboard")
                .kind("not_available")
        })?;
        start::start(program, self.display()?, self.inside.as_ref(), clip, deadline)
    }

    fn clear_clip(&self, deadline: Deadline) -> Result<(), Error> {
        owner::clear(&self.connect(deadline)?, deadline)
    }
}

impl LinuxPlatform {
    fn clipboard(&self) -> XClipboard {
        XClipboard {
            display: self.display().map(|(name, authority)| (name.to_owned(), authority.map(Path::to_owned))),
            inside: self.inside().cloned(),
            program: self.program().ok().map(Path::to_owned),
        }
    }
}

impl Clipboard for LinuxPlatform {
    fn clip(&self, kinds: &[ClipKind], deadline: Deadline) -> Result<Clipping, Error> {
        self.clipboard().clip(kinds, deadline)
    }

    fn set_clip(&self, clip: &Clip, deadline: Deadline) -> Result<(), Error> {
        self.clipboard().set_clip(clip, deadline)
    }

    fn clear_clip(&self, deadline: Deadline) -> Result<(), Error> {
        self.clipboard().clear_clip(deadline)
    }
}

/// The display can't be used at all.
fn no_display(e: &X11Error) -> Error {
    no_desktop("the X display can't be used", e.to_string())
}

/// The display failed in the middle of a read, or before anything was changed.
fn display_failed(e: &X11Error) -> Error {
    let code = if matches!(e, X11Error::Timeout) { Code::Timeout } else { Code::ActionFailed };
    Error::before(code, "the X server failed while its clipboard was used").kind("x11_fault").platform(e.to_string())
}
