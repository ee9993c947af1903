//! A machine without an adapter: what needs no desktop works, the rest says that it doesn't.

use agent_desktop_core::command::Host;
use agent_desktop_core::error::Result;
use agent_desktop_core::platform::{Platform, not_supported};
use std::ffi::OsString;

/// This machine.
pub struct Machine;

impl Host for Machine {
    fn open(&self, _: Option<&str>) -> Result<Box<dyn Platform>> {
        Err(not_supported("this operating system"))
    }
}

/// There are no helpers here.
pub fn hidden(_: &str, _: &[OsString]) -> Option<i32> {
    None
}
