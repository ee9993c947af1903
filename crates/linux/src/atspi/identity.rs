//! stub
use agent_desktop_core::platform::{Probe, ProbeRequest};
use agent_desktop_core::deadline::Deadline;
pub fn probe(_p: &crate::LinuxPlatform, _r: &ProbeRequest<'_>, _d: Deadline) -> Probe { unimplemented!() }
