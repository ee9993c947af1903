//! The Linux adapter of agent-desktop.

pub mod atspi;
pub mod bus;
mod capture;
pub mod clipboard;
pub mod desktop;
pub mod input;
mod listen;
pub mod operate;
pub mod outcome;
pub mod overlay;
pub mod platform;
pub mod process;
mod programs;
mod status;
mod traits;
mod windows;
pub mod x11;

pub use platform::LinuxPlatform;
