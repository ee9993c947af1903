//! The Linux adapter of agent-desktop.

pub mod atspi;
pub mod bus;
pub mod outcome;
