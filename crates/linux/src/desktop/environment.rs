//! The environment inside a private desktop: nothing of another session gets in, and every process carries its mark.

use super::options::Home;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Every process of a desktop carries this variable with the desktop's id; by it leftovers are found.
pub const MARKER: &str = "AGENT_DESKTOP_DESKTOP_MARKER";
/// Where the desktop's directory is; with [`MARKER`] it tells desktops of different directories apart.
pub const DIRECTORY: &str = "AGENT_DESKTOP_DESKTOP_DIR";
/// Points any command of ours at a desktop.
pub const SELECTOR: &str = "AGENT_DESKTOP_DESKTOP";

/// Variables of a desktop, to be laid over the caller's environment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DesktopEnv {
    /// Variables to set.
    pub set: BTreeMap<String, String>,
    /// Which home programs see.
    pub home: Home,
}

impl DesktopEnv {
    /// The value of a variable that the desktop sets.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(String::as_str)
    }

    /// Prepares a command to run in the desktop: variables of other sessions go, the desktop's come.
    pub fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|n| is_foreign(n, self.home)) {
                command.env_remove(name);
            }
        }
        command.envs(&self.set)
    }

    /// Display and authority file, as [`crate::x11::connect`] takes them.
    pub fn display(&self) -> Option<(&str, Option<&Path>)> {
        Some((self.get("DISPLAY")?, self.get("XAUTHORITY").map(Path::new)))
    }
}

/// A variable that belongs to the session it was made in, or that keeps toolkits from publishing their trees.
///
/// `AT_SPI_BUS_ADDRESS` must never reach an application: with it Qt 6.4 doesn't register.
pub fn is_foreign(name: &str, home: Home) -> bool {
    match name {
        // System-wide search paths hold no session; some distributions can't find anything without them.
        "XDG_DATA_DIRS" | "XDG_CONFIG_DIRS" => false,
        "XDG_CONFIG_HOME" | "XDG_CACHE_HOME" | "XDG_DATA_HOME" | "XDG_STATE_HOME" => home == Home::Private,
        "DISPLAY"
        | "XAUTHORITY"
        | "WAYLAND_DISPLAY"
        | "WAYLAND_SOCKET"
        | "SESSION_MANAGER"
        | "DESKTOP_SESSION"
        | "NO_AT_BRIDGE"
        | "GTK_A11Y"
        | "GTK_MODULES"
        | "GDK_DISPLAY"
        | "QT_QPA_PLATFORMTHEME"
        | "QT_ACCESSIBILITY"
        | "DESKTOP_STARTUP_ID"
        | "WINDOWID"
        | "MOZ_ENABLE_WAYLAND"
        | "I3SOCK"
        | "SWAYSOCK" => true,
        _ => ["DBUS_", "XDG_", "AT_SPI_", "GNOME_", "KDE_", "GIO_LAUNCHED_"].iter().any(|p| name.starts_with(p)),
    }
}

/// What the supervisor knows when the display is up; the bus comes later.
pub(crate) fn base(id: &str, dir: &Path, display: &str, home: Home, locale: Option<&str>) -> DesktopEnv {
    let at = |name: &str| dir.join(name).display().to_string();
    let mut set: BTreeMap<String, String> = [
        (MARKER, id.to_owned()),
        (DIRECTORY, dir.display().to_string()),
        (SELECTOR, id.to_owned()),
        ("DISPLAY", display.to_owned()),
        ("XAUTHORITY", at("Xauthority")),
        ("XDG_RUNTIME_DIR", at("run")),
        ("XDG_SESSION_TYPE", "x11".to_owned()),
        ("XDG_CURRENT_DESKTOP", "X-AgentDesktop".to_owned()),
        ("GDK_BACKEND", "x11".to_owned()),
        ("QT_QPA_PLATFORM", "xcb".to_owned()),
        ("QT_ACCESSIBILITY", "1".to_owned()),
        // Qt 6 publishes its tree only when told so before it starts.
        ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1".to_owned()),
        ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
        // GTK 4's GL renderer on a software rasteriser can keep a window from appearing for many seconds.
        ("GSK_RENDERER", "cairo".to_owned()),
        ("GSETTINGS_BACKEND", "memory".to_owned()),
    ]
    .map(|(n, v)| (n.to_owned(), v))
    .into();
    if home == Home::Private {
        let home_dir = dir.join("home");
        for (name, below) in [
            ("HOME", ""),
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
        ] {
            let path = if below.is_empty() { home_dir.clone() } else { home_dir.join(below) };
            set.insert(name.to_owned(), path.display().to_string());
        }
    }
    // Without any locale toolkits fall back to ASCII and lose text.
    if locale.is_none_or(str::is_empty) {
        set.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    }
    DesktopEnv { set, home }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_another_session() {
        for name in
            ["DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS", "XDG_RUNTIME_DIR", "NO_AT_BRIDGE", "GTK_A11Y"]
        {
            assert!(is_foreign(name, Home::Private) && is_foreign(name, Home::Keep), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "CARGO_HOME", MARKER, SELECTOR] {
            assert!(!is_foreign(name, Home::Private), "{name}");
        }
        assert!(is_foreign("XDG_CONFIG_HOME", Home::Private));
        assert!(!is_foreign("XDG_CONFIG_HOME", Home::Keep));
    }

    #[test]
    fn home_is_private_unless_kept() {
        let e = base("d1", Path::new("/r/d1"), ":5", Home::Private, None);
        assert_eq!(e.get("HOME"), Some("/r/d1/home"));
        assert_eq!(e.get("XDG_CONFIG_HOME"), Some("/r/d1/home/.config"));
        assert_eq!(e.get("LANG"), Some("C.UTF-8"));
        assert_eq!(e.get("AT_SPI_BUS_ADDRESS"), None);
        assert_eq!(e.display(), Some((":5", Some(Path::new("/r/d1/Xauthority")))));
        let e = base("d1", Path::new("/r/d1"), ":5", Home::Keep, Some("de_DE.UTF-8"));
        assert_eq!((e.get("HOME"), e.get("LANG"), e.get(MARKER)), (None, None, Some("d1")));
    }
}
