//! stub
use agent_desktop_core::{tree::raw::Handle, platform::Hit, geometry::Point, deadline::Deadline};
pub fn test(_p: &crate::LinuxPlatform, _t: &Handle, points: &[Point], _d: Deadline) -> Vec<Hit> { vec![Hit::Unknown; points.len()] }
