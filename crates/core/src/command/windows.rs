//! Arguments of the commands for applications and windows.

use super::observe::{surface, timeout};
use super::values::{coordinate, extent, not_blank};
use crate::error::{Error, Result, echo};
use crate::observe::target::Scope;
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time limit of `launch`.
pub const LAUNCH_TIMEOUT_MS: u64 = 30_000;

/// Start an application, or attach to it where it runs.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Desktop-entry id, name, executable on the search path, or path.
    #[arg(value_name = "APP")]
    pub app: String,
    /// Time limit in milliseconds (default 30000).
    #[arg(long, value_name = "MS", visible_alias = "timeout-ms")]
    #[serde(alias = "timeout_ms")]
    pub timeout: Option<u64>,
    /// Argument for the application; repeatable.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    #[serde(default)]
    pub arg: Vec<String>,
    /// Environment variable for the application; repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    #[serde(default)]
    pub env: Vec<String>,
    /// Working directory of the application.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// Fail where it runs already.
    #[arg(long)]
    #[serde(default)]
    pub no_attach: bool,
    /// Bring it forward, waiting for its window where it has none yet.
    #[arg(long)]
    #[serde(default)]
    pub activate: bool,
    /// Open a DevTools endpoint on 127.0.0.1; without PORT or with 0 on a free one.
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    pub cdp: Option<u16>,
}

impl Launch {
    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout.unwrap_or(LAUNCH_TIMEOUT_MS)
    }

    /// The environment as pairs: keys `[A-Za-z_][A-Za-z0-9_]*`, each once.
    pub fn env_pairs(&self) -> Result<Vec<(String, String)>> {
        let mut out: Vec<(String, String)> = Vec::new();
        for entry in &self.env {
            let (key, value) = entry.split_once('=').ok_or_else(|| Error::invalid("--env must be KEY=VALUE"))?;
            let mut bytes = key.bytes();
            let sound = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
                && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !sound {
                return Err(Error::invalid(format!("{} is not the name of an environment variable", echo(key))));
            }
            if out.iter().any(|(k, _)| k == key) {
                return Err(Error::invalid(format!("--env {key} is given twice")));
            }
            out.push((key.to_owned(), value.to_owned()));
        }
        Ok(out)
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("APP", Some(&self.app))?;
        not_blank("--cwd", self.cwd.as_ref())?;
        timeout(self.timeout, LAUNCH_TIMEOUT_MS)?;
        if self.arg.iter().chain(&self.env).any(|text| text.contains('\0')) {
            return Err(Error::invalid("--arg and --env must not contain NUL"));
        }
        if self.cdp.is_some() {
            let conflict = self.arg.iter().find(|a| a.starts_with("--remote-debugging-"));
            if let Some(conflict) = conflict {
                let switch = conflict.split('=').next().unwrap_or_default();
                return Err(Error::invalid(format!("--cdp and --arg {} exclude each other", echo(switch)))
                    .kind("cdp_switch_conflict"));
            }
        }
        self.env_pairs().map(drop)
    }
}

/// Close an application: its windows are asked to close; a process that goes on without a window is then sent SIGTERM.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseApp {
    /// Application by name.
    #[arg(value_name = "APP")]
    pub app: String,
    /// End its process where it does not close by itself. Unsaved work is lost.
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
}

impl CloseApp {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("APP", Some(&self.app))
    }
}

/// List running applications.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListApps {
    /// Only those whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub app: Option<String>,
}

impl ListApps {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())
    }
}

/// List windows.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWindows {
    /// Only those of the application with this name.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
}

impl ListWindows {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())
    }
}

/// List displays, the primary one first.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDisplays {}

impl ListDisplays {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// Bring a window to the front and focus it.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FocusWindow {
    /// Window by id, from list-windows.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Application by name.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Window whose title contains this.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

impl FocusWindow {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--window-id", self.window_id.as_ref())?;
        not_blank("--app", self.app.as_ref())?;
        not_blank("--title", self.title.as_ref())?;
        if self.window_id.is_none() && self.app.is_none() && self.title.is_none() {
            return Err(Error::invalid("focus-window needs --window-id, --app or --title"));
        }
        Ok(())
    }
}

macro_rules! window_command {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident $flag:literal $check:ident),* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Application by name (default: the focused window).
            #[arg(long, value_name = "NAME")]
            pub app: Option<String>,
            /// Window by id, from list-windows.
            #[arg(long, value_name = "ID")]
            pub window_id: Option<String>,
            $($(#[$fmeta])* #[arg(long, allow_hyphen_values = true)] pub $field: f64,)*
        }

        impl $name {
            /// Which window.
            pub fn scope(&self) -> Scope<'_> {
                Scope { app: self.app.as_deref(), window_id: self.window_id.as_deref() }
            }

            /// The rules.
            pub fn validate(&self) -> Result<()> {
                not_blank("--app", self.app.as_ref())?;
                not_blank("--window-id", self.window_id.as_ref())?;
                $($check($flag, self.$field)?;)*
                Ok(())
            }
        }
    };
}

window_command! {
    /// Resize a window.
    ResizeWindow {
        /// New width.
        width "--width" extent,
        /// New height.
        height "--height" extent
    }
}
window_command! {
    /// Move a window.
    MoveWindow {
        /// New left edge.
        x "--x" coordinate,
        /// New top edge.
        y "--y" coordinate
    }
}
window_command! {
    /// Minimize a window.
    Minimize {}
}
window_command! {
    /// Maximize a window.
    Maximize {}
}
window_command! {
    /// Restore a minimized or maximized window.
    Restore {}
}

/// Open a surface of the desktop shell (needs --headed).
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSystemSurface {
    /// Surface, like notification-center or system-tray.
    #[arg(long, value_name = "KIND")]
    pub surface: String,
}

impl OpenSystemSurface {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        if surface(Some(&self.surface))?.of_application() {
            return Err(Error::invalid(format!("{} belongs to an application, not to the shell", echo(&self.surface))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(env: &[&str], arg: &[&str], cdp: Option<u16>) -> Launch {
        let list = |l: &[&str]| l.iter().map(|s| (*s).to_owned()).collect();
        Launch { app: "x".into(), env: list(env), arg: list(arg), cdp, ..Launch::default() }
    }

    #[test]
    fn environment_names_are_sound_and_single() {
        assert!(launch(&["A=1", "_b2="], &[], None).validate().is_ok());
        for bad in [&["1A=1"][..], &["A"], &["A=1", "A=2"], &["=1"], &["A-B=1"]] {
            assert!(launch(bad, &[], None).validate().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn cdp_excludes_the_switches_it_sets() {
        let e = launch(&[], &["--remote-debugging-port=9222"], Some(0)).validate().unwrap_err();
        assert_eq!(e.kind_name(), Some("cdp_switch_conflict"));
        assert!(launch(&[], &["--remote-debugging-port=9222"], None).validate().is_ok());
    }
}
