//! Processes: who is it, is it still the same one, who started it, how to start one.

pub mod chromium;
pub mod desktop_entry;
pub mod entry_id;
pub mod launch;
pub mod names;
pub mod spawn;
pub mod stat;
pub mod token;
pub mod tree;

pub use launch::{LaunchError, LaunchOptions, Launched, Plan};
pub use names::{Names, names};
pub use token::{Liveness, Token, alive};
