//! The Linux adapter of agent-desktop.

pub mod desktop;
pub mod process;
pub mod x11;
