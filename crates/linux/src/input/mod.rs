//! Physical input: sequences run through a holder process, whose pipe's end means release (decisions D3).

use crate::LinuxPlatform;
use agent_desktop_core::platform::Input;
use std::ffi::OsString;

/// The hidden sub-command of the program that plays sequences and holds what is held.
pub const HOLDER: &str = "__input-holder";

impl Input for LinuxPlatform {}

/// Runs the holder; answers with its exit code.
pub fn holder_main(args: &[OsString]) -> i32 {
    let _ = args;
    2
}
