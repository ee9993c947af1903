//! The Linux adapter of agent-desktop.

pub mod atspi;
pub mod bus;
pub mod desktop;
pub mod operate;
pub mod outcome;
pub mod platform;
pub mod process;
mod programs;
mod traits;
mod writes;
pub mod x11;

pub use platform::LinuxPlatform;
