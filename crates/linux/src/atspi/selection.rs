//! stub
use agent_desktop_core::{tree::raw::Handle, evidence::Evidence, deadline::Deadline};
pub fn selected(_p: &crate::LinuxPlatform, _t: &Handle, _d: Deadline) -> Evidence<Vec<String>> { Evidence::Absent }
