//! Surfaces: UI layers that are observed apart from the window (spec 1 §9).

use super::vocabulary;

vocabulary! {
    /// A UI layer. The first seven belong to an application, the others to a shell.
    Surface {
        Window = "window", Focused = "focused", Menu = "menu", Menubar = "menubar", Sheet = "sheet",
        Popover = "popover", Alert = "alert", Desktop = "desktop", Taskbar = "taskbar",
        SystemTray = "system-tray", SystemTrayOverflow = "system-tray-overflow",
        QuickSettings = "quick-settings", NotificationCenter = "notification-center", Toolbar = "toolbar",
        Dock = "dock", Spotlight = "spotlight", MenuBarExtras = "menu-bar-extras", StartMenu = "start-menu",
        ActionCenter = "action-center",
    }
}

impl Surface {
    /// The surface that a caller names; hyphen or underscore, case-insensitive.
    pub fn from_query(text: &str) -> Option<Self> {
        Self::from_token(&text.trim().to_ascii_lowercase().replace('_', "-"))
    }

    /// Whether the surface belongs to an application rather than to a shell.
    pub fn of_application(self) -> bool {
        self <= Surface::Alert
    }
}
