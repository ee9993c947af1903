//! The clipboard: read from its owner, and owned by a process of ours that outlives the command.

use crate::LinuxPlatform;
use agent_desktop_core::platform::Clipboard;
use std::ffi::OsString;

/// The hidden sub-command of the program that owns the clipboard until somebody else does.
pub const OWNER: &str = "__clipboard-owner";

impl Clipboard for LinuxPlatform {}

/// Runs the owner; answers with its exit code.
pub fn owner_main(args: &[OsString]) -> i32 {
    let _ = args;
    2
}
