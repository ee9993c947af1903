//! What can be asked of a private desktop.

use super::error::DesktopError;
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, fmt, path::PathBuf, str::FromStr, time::Duration};

/// How long a start may take, unless told otherwise.
pub const DEFAULT_START_LIMIT: Duration = Duration::from_secs(30);

/// Size of the one screen in pixels, and its depth in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Geometry {
    /// Width in pixels, 64 to 16384.
    pub width: u16,
    /// Height in pixels, 64 to 16384.
    pub height: u16,
    /// Bits per pixel: 16, 24 or 30.
    pub depth: u8,
}

impl Default for Geometry {
    fn default() -> Self {
        Geometry { width: 1280, height: 800, depth: 24 }
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.width, self.height, self.depth)
    }
}

impl From<Geometry> for String {
    fn from(g: Geometry) -> String {
        g.to_string()
    }
}

impl FromStr for Geometry {
    type Err = DesktopError;
    /// `WIDTHxHEIGHT` or `WIDTHxHEIGHTxDEPTH`.
    fn from_str(s: &str) -> Result<Geometry, DesktopError> {
        let bad = |reason: &str| DesktopError::InvalidOption {
            option: "geometry".to_owned(),
            reason: format!("{s:?}: {reason}"),
        };
        let parts: Vec<&str> = s.split('x').collect();
        let (width, height, depth) = match parts[..] {
            [w, h] => (w, h, "24"),
            [w, h, d] => (w, h, d),
            _ => return Err(bad("expected WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH")),
        };
        let side = |t: &str| match t.parse::<u16>() {
            Ok(n) if (64..=16384).contains(&n) => Ok(n),
            _ => Err(bad("width and height are 64 to 16384 pixels")),
        };
        let depth = match depth {
            "16" => 16,
            "24" => 24,
            "30" => 30,
            _ => return Err(bad("depth is 16, 24 or 30")),
        };
        Ok(Geometry { width: side(width)?, height: side(height)?, depth })
    }
}

impl TryFrom<String> for Geometry {
    type Error = DesktopError;
    fn try_from(s: String) -> Result<Geometry, DesktopError> {
        s.parse()
    }
}

/// Which window manager.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowManager {
    /// The first that is installed of openbox, xfwm4, metacity, mutter.
    #[default]
    Auto,
    /// One of those by name.
    Named(String),
    /// None: windows have no frames and no focus handling.
    None,
}

impl FromStr for WindowManager {
    type Err = DesktopError;
    /// `auto`, `none`, or a name that [`super::programs::WINDOW_MANAGERS`] knows.
    fn from_str(s: &str) -> Result<WindowManager, DesktopError> {
        match s {
            "auto" => Ok(WindowManager::Auto),
            "none" => Ok(WindowManager::None),
            name if super::programs::WINDOW_MANAGERS.iter().any(|w| w.program == name) => {
                Ok(WindowManager::Named(name.to_owned()))
            }
            other => Err(DesktopError::InvalidOption {
                option: "window manager".to_owned(),
                reason: format!(
                    "{other:?} is none of auto, none, {}",
                    super::programs::WINDOW_MANAGERS.map(|w| w.program).join(", ")
                ),
            }),
        }
    }
}

/// Which home directory programs in the desktop see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// An empty one that ends with the desktop: applications neither read nor change the user's configuration.
    #[default]
    Private,
    /// The user's own.
    Keep,
}

/// The command that becomes the supervisor; the desktop's directory is appended as its last argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorCommand {
    /// Our own executable.
    pub program: PathBuf,
    /// What selects the hidden sub-command.
    pub args: Vec<OsString>,
}

/// What [`super::Desktops::start`] needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartOptions {
    /// Size of the screen.
    pub geometry: Geometry,
    /// Window manager.
    pub window_manager: WindowManager,
    /// Home directory inside.
    pub home: Home,
    /// Limit of the whole start.
    pub limit: Duration,
    /// What to execute as supervisor.
    pub supervisor: SupervisorCommand,
}

impl StartOptions {
    /// The defaults: 1280x800x24, any window manager, private home.
    pub fn new(supervisor: SupervisorCommand) -> StartOptions {
        StartOptions {
            geometry: Geometry::default(),
            window_manager: WindowManager::Auto,
            home: Home::Private,
            limit: DEFAULT_START_LIMIT,
            supervisor,
        }
    }
}

/// What the starter tells the supervisor, as `request.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub id: String,
    pub geometry: Geometry,
    pub window_manager: WindowManager,
    pub home: Home,
    pub limit_ms: u64,
    /// The desktop ends when standard input of the supervisor does.
    pub lifeline: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry() {
        let g: Geometry = "1920x1080".parse().unwrap();
        assert_eq!(g, Geometry { width: 1920, height: 1080, depth: 24 });
        assert_eq!("64x64x16".parse::<Geometry>().unwrap().to_string(), "64x64x16");
        for bad in
            ["", "x", "1280", "1280x", "0x0", "63x64", "64x16385", "800x600x8", "800x600x24x1", "-1x5", "800 x600"]
        {
            assert!(matches!(bad.parse::<Geometry>(), Err(DesktopError::InvalidOption { .. })), "{bad}");
        }
    }

    #[test]
    fn window_manager() {
        assert_eq!("auto".parse::<WindowManager>().unwrap(), WindowManager::Auto);
        assert_eq!("none".parse::<WindowManager>().unwrap(), WindowManager::None);
        assert_eq!("openbox".parse::<WindowManager>().unwrap(), WindowManager::Named("openbox".into()));
        assert!("rm".parse::<WindowManager>().is_err());
    }
}
