//! stub
use agent_desktop_core::{vocab::surface::Surface, platform::{App, SurfaceInfo}, error::Error, deadline::Deadline};
pub const SUPPORTED: &[Surface] = &[Surface::Window];
pub fn open(_p: &crate::LinuxPlatform, _a: &App, _d: Deadline) -> Result<Vec<SurfaceInfo>, Error> { Ok(Vec::new()) }
