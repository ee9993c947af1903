//! The Linux adapter of agent-desktop.

pub mod atspi;
pub mod bus;
pub mod desktop;
pub mod operate;
pub mod outcome;
pub mod process;
pub mod x11;
