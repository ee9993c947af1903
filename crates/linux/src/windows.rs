//! Requests to the window manager, and the window's state read back.

use crate::LinuxPlatform;
use agent_desktop_core::platform::Windows;

impl Windows for LinuxPlatform {}
