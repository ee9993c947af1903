//! The programs a private desktop is made of, and where they come from.

use super::error::DesktopError;
use super::options::WindowManager;
use std::path::{Path, PathBuf};

/// A program with the package that holds it on Debian and Ubuntu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Executable.
    pub program: &'static str,
    /// Package.
    pub package: &'static str,
    /// Arguments it is always started with.
    pub args: &'static [&'static str],
}

/// The X server.
pub const DISPLAY_SERVER: Program = Program { program: "Xvfb", package: "xvfb", args: &[] };
/// The session bus.
pub const BUS: Program = Program { program: "dbus-daemon", package: "dbus", args: &[] };
/// The accessibility bus, which the session bus starts.
pub const ACCESSIBILITY: Program = Program { program: "at-spi-bus-launcher", package: "at-spi2-core", args: &[] };

/// Window managers in order of preference: the smallest and most predictable first. All were seen to manage windows
/// headlessly except metacity.
pub const WINDOW_MANAGERS: [Program; 4] = [
    Program { program: "openbox", package: "openbox", args: &["--sm-disable"] },
    Program { program: "xfwm4", package: "xfwm4", args: &["--compositor=off"] },
    Program { program: "metacity", package: "metacity", args: &["--sm-disable"] },
    Program { program: "mutter", package: "mutter", args: &["--x11", "--sm-disable"] },
];

/// Where a program of that name is: PATH first, then the usual places, for callers with a bare PATH such as cron.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/usr/games"];
    std::env::split_paths(&path)
        .filter(|d| d.is_absolute())
        .chain(usual.map(PathBuf::from))
        .map(|d| d.join(name))
        .find(|p| is_executable(p))
}

/// A regular file that this user may execute.
pub fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Finds it or says what to install.
pub fn require(program: Program) -> Result<PathBuf, DesktopError> {
    find(program.program).ok_or_else(|| missing(program))
}

pub(crate) fn missing(program: Program) -> DesktopError {
    DesktopError::MissingProgram { program: program.program.to_owned(), package: program.package.to_owned() }
}

/// The window manager to start; `None` when none is wanted.
pub fn window_manager(wanted: &WindowManager) -> Result<Option<(Program, PathBuf)>, DesktopError> {
    choose(wanted, find)
}

fn choose(
    wanted: &WindowManager,
    find: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Option<(Program, PathBuf)>, DesktopError> {
    let candidates: Vec<Program> = match wanted {
        WindowManager::None => return Ok(None),
        WindowManager::Auto => WINDOW_MANAGERS.to_vec(),
        WindowManager::Named(name) => {
            // Re-parsed: a request may have been built without `from_str`.
            name.parse::<WindowManager>()?;
            WINDOW_MANAGERS.into_iter().filter(|w| w.program == name).collect()
        }
    };
    let first = candidates.first().copied().unwrap_or(WINDOW_MANAGERS[0]);
    candidates.into_iter().find_map(|w| find(w.program).map(|p| Some((w, p)))).ok_or_else(|| missing(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_installed_one() {
        let only = |have: &'static str| move |n: &str| (n == have).then(|| PathBuf::from("/x").join(n));
        let auto = WindowManager::Auto;
        assert_eq!(choose(&auto, only("mutter")).unwrap().unwrap().0.program, "mutter");
        assert_eq!(choose(&WindowManager::None, only("")).unwrap(), None);
        assert_eq!(choose(&auto, only("")), Err(missing(WINDOW_MANAGERS[0])));
        let named = WindowManager::Named("xfwm4".into());
        assert_eq!(choose(&named, only("openbox")), Err(missing(WINDOW_MANAGERS[1])));
        assert_eq!(choose(&named, only("xfwm4")).unwrap().unwrap().0.program, "xfwm4");
        let odd = WindowManager::Named("sh".into());
        assert!(matches!(choose(&odd, only("sh")), Err(DesktopError::InvalidOption { .. })));
    }

    #[test]
    fn finds_the_shell() {
        assert!(is_executable(&find("sh").unwrap()));
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}
