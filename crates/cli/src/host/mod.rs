//! The machine that the program runs on: its adapter, its private desktops, its hidden sub-commands.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::{Machine, hidden};

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Machine, hidden};
