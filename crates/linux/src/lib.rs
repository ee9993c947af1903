//! The Linux adapter of agent-desktop.

pub mod bus;
pub mod desktop;
pub mod process;
pub mod x11;
