//! The Linux adapter of agent-desktop.

pub mod bus;
