//! What the adapter says about itself.

use crate::bus::CallError;
use crate::bus::join::describe;
use crate::platform::LinuxPlatform;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::Platform;
use serde_json::{Value, json};

/// How long the bus itself may take, in milliseconds.
const ID_MS: u64 = 2_000;

/// How applications are brought to publish their trees for good (FINDINGS §1).
const SWITCH_ON: &str = "Applications that start now publish no tree. 'agent-desktop launch' switches it on for what it \
    starts; for good: gsettings set org.gnome.desktop.interface toolkit-accessibility true. What runs already must be \
    started again.";

impl Platform for LinuxPlatform {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn desktop_id(&self) -> Result<String, Error> {
        self.bus.id(Deadline::after_ms(ID_MS)).map_err(|e| {
            Error::before(Code::Timeout, "the accessibility bus did not give its id")
                .kind("desktop_unknown")
                .platform(describe(&e))
        })
    }

    fn status_details(&self) -> Value {
        let known = |answer: Result<bool, CallError>| answer.map_or(Value::Null, Value::Bool);
        let (enabled, reader) = self.bus.status(Deadline::after_ms(ID_MS));
        let mut out = json!({"trees_published": known(enabled.clone()), "screen_reader": known(reader)});
        if let (Ok(false), Some(map)) = (enabled, out.as_object_mut()) {
            map.insert("suggestion".into(), json!(SWITCH_ON));
        }
        out
    }

    fn permissions(&self) -> Value {
        // AT-SPI has no grants: who reaches the bus may use it (spec 5).
        let state = json!({"state": "not_required"});
        json!({"accessibility": state, "screen_recording": state, "automation": state})
    }
}
