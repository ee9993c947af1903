//! Private desktops: an X server, a window manager, a session bus and an accessibility bus of our own, each set under one
//! supervisor process; and the running graphical sessions of this user.
//!
//! Layout of the per-user directory: `desktops/ID/` with `owner.json` (who keeps it alive), `request.json` (what was
//! asked for), `desktop.json` (written when everything is ready), `Xauthority`, `home/`, `run/`, `log/`.

mod ending;
pub mod environment;
pub mod error;
pub mod manage;
pub mod options;
pub mod programs;
mod readiness;
pub mod record;
mod run;
pub mod runtime_dir;
pub mod sessions;
mod supervisor;

pub use environment::{DesktopEnv, MARKER, SELECTOR};
pub use error::DesktopError;
pub use manage::{Desktops, Listed, Started};
pub use options::{Geometry, Home, StartOptions, SupervisorCommand, WindowManager};
pub use record::Record;
pub use runtime_dir::RuntimeDir;
pub use sessions::{Session, auto};
pub use supervisor::supervisor_main;
