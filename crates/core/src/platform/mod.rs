//! What core asks of an operating system: small synchronous traits. An adapter answers with evidence and
//! native outcomes; every rule stays in core. Methods of optional traits default to "not supported".

pub mod apps;
pub mod capture;
pub mod changes;
pub mod clipboard;
#[cfg(test)]
pub mod fake;
pub mod input;
pub mod observe;
pub mod operate;
pub mod overlay;
pub mod windows;

pub use apps::{
    App, Apps, CloseRequest, CloseStep, Closed, DisplayInfo, LaunchRequest, Launched, Popup, Presentation, Responsive,
    SurfaceInfo, Window,
};
pub use capture::{Capture, Pixels, WindowPicture};
pub use changes::{ChangeScope, Changes, Listening};
pub use clipboard::{Clip, ClipKind, Clipboard, Clipping};
pub use input::{Guard, Held, Hold, Input, Played, Release, Stroke};
pub use observe::{
    ChainEdge, Hit, Observe, Presence, Probe, ProbeRequest, ProcessKey, ProcessLife, ReadPlan, TableAsk, TablePart,
    TextPart, TextSource, WitnessProbe,
};
pub use operate::{
    Action, Direction, Dispatch, Effect, EffectKind, Live, Mechanism, Operate, Policy, Rung, Watch, WriteOutcome,
};
pub use overlay::{CursorLook, CursorStep, Overlay};
pub use windows::{WindowChange, WindowKey, WindowState, Windows};

use crate::error::{Code, Error};
use serde_json::Value;

/// One operating system's desktop, as an adapter offers it.
pub trait Platform: Observe + Operate + Apps + Input + Windows + Capture + Clipboard + Changes + Overlay {
    /// The platform's short name as `status` prints it (`linux`, `macos`, `windows`).
    fn name(&self) -> &'static str;

    /// The desktop that this adapter speaks to: a lasting id (on a private or foreign desktop another one).
    /// Refs and the interaction lease belong to it.
    fn desktop_id(&self) -> Result<String, Error>;

    /// Facts for `status` beside the contract's: whether trees are published, what is held, and how to mend it.
    fn status_details(&self) -> Value {
        Value::Null
    }

    /// Whether the rules of this run let the process be read and operated (decisions D8): `POLICY_DENIED` where not.
    fn admits(&self, process: &ProcessKey) -> Result<(), Error> {
        let _ = process;
        Ok(())
    }

    /// `permissions`: accessibility, screen recording, automation, each `{state, suggestion?}`.
    fn permissions(&self) -> Value;
}

/// The error for a command, surface or policy that this adapter does not have.
pub fn not_supported(what: &str) -> Error {
    Error::before(Code::PlatformNotSupported, format!("{what} is not available on this platform"))
        .kind("not_available")
        .suggest("Run 'agent-desktop status' to see what this platform offers.")
}
