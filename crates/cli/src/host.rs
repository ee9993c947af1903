//! The machine that the program runs on: its adapter, its private desktops, its hidden sub-commands.

use agent_desktop_core::command::{Desktops, Host};
use agent_desktop_core::error::Result;
use agent_desktop_core::platform::{Platform, not_supported};
use serde_json::Value;
use std::ffi::OsString;

/// This machine.
pub struct Machine;

impl Host for Machine {
    fn open(&self, desktop: Option<&str>) -> Result<Box<dyn Platform>> {
        let _ = desktop;
        Err(not_supported("this operating system"))
    }

    fn desktops(&self) -> Option<&dyn Desktops> {
        None
    }
}

/// Runs a hidden sub-command of the program: the helpers that other products ship as files of their own.
pub fn hidden(name: &str, args: &[OsString]) -> Option<i32> {
    let _ = (name, args);
    None
}

/// A snapshot's or a search's answer as an outline.
pub fn outline(name: &str, data: &Value) -> String {
    let _ = name;
    data.to_string()
}
