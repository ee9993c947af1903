//! The Linux adapter of agent-desktop.

pub mod atspi;
pub mod bus;
pub mod desktop;
pub mod operate;
pub mod outcome;
pub mod platform;
pub mod process;
mod programs;
mod status;
mod traits;
pub mod x11;

pub use platform::LinuxPlatform;
