//! Pictures of windows and of the screen.

use crate::LinuxPlatform;
use agent_desktop_core::platform::Capture;

impl Capture for LinuxPlatform {}
