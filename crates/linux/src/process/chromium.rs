//! Chromium and what is built on it (Electron): they publish web content only when told so on the command line.

use std::path::{Path, PathBuf};

/// Publishes the whole tree. Without it only the window's outer nodes appear, whatever the accessibility bus says.
pub const FORCE_ACCESSIBILITY: &str = "--force-renderer-accessibility";
/// The sandbox refuses to work for root, and the program with it.
pub const NO_SANDBOX: &str = "--no-sandbox";

/// Files of which at least two stand beside every Chromium-based executable. One alone is no proof: `libffmpeg.so` and
/// `resources.pak` are used by others too.
const FILES: [&str; 5] =
    ["chrome_100_percent.pak", "resources.pak", "v8_context_snapshot.bin", "libffmpeg.so", "icudtl.dat"];

/// Whether this executable is Chromium-based: by the files beside it, or, for a wrapper script, beside what it starts.
pub fn is_chromium(executable: &Path) -> bool {
    let Ok(real) = executable.canonicalize() else { return false };
    real.parent().is_some_and(holds_chromium) || wrapped(&real).iter().any(|d| holds_chromium(d))
}

fn holds_chromium(dir: &Path) -> bool {
    FILES.iter().filter(|f| dir.join(f).is_file()).count() >= 2
}

/// Directories that a wrapper script may start its program from: those of the absolute paths in it, and the library
/// directories of its own name (`/usr/bin/chromium` starts `/usr/lib/chromium/chromium` by a variable).
fn wrapped(script: &Path) -> Vec<PathBuf> {
    use std::io::Read;
    let mut text = Vec::new();
    let read = std::fs::File::open(script).and_then(|f| f.take(64 * 1024).read_to_end(&mut text));
    if read.is_err() || !text.starts_with(b"#!") {
        return Vec::new();
    }
    let name = script.file_name().unwrap_or_default();
    let mut dirs: Vec<PathBuf> = ["/usr/lib", "/usr/lib64", "/opt", "/usr/local/lib", "/usr/share"]
        .iter()
        .map(|d| Path::new(d).join(name))
        .collect();
    let text = String::from_utf8_lossy(&text);
    let end = |c: char| c.is_whitespace() || "\"'`;|&()<>{}$=:,".contains(c);
    for path in text.split(end).filter(|p| p.starts_with('/') && p.len() > 1) {
        let path = Path::new(path);
        dirs.extend(path.parent().map(Path::to_owned));
        dirs.push(path.to_owned());
    }
    // A bin directory holds no program's own files.
    dirs.retain(|d| !matches!(d.to_str(), Some("/" | "/bin" | "/usr/bin" | "/usr/lib" | "/etc" | "/usr" | "/opt")));
    dirs.dedup();
    dirs
}

/// What to add to the arguments of an executable so that its tree appears; what stands there already isn't repeated.
pub fn extra_arguments(executable: &Path, args: &[String], root: bool) -> Vec<String> {
    if !is_chromium(executable) {
        return Vec::new();
    }
    let given = |flag: &str| args.iter().any(|a| a == flag || a.starts_with(&format!("{flag}=")));
    let mut extra = Vec::new();
    if !given(FORCE_ACCESSIBILITY) {
        extra.push(FORCE_ACCESSIBILITY.to_owned());
    }
    if root && !given(NO_SANDBOX) {
        extra.push(NO_SANDBOX.to_owned());
    }
    extra
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn by_the_files_beside_it_and_behind_a_wrapper() {
        let t = tempfile::tempdir().unwrap();
        let lib = t.path().join("lib");
        let bin = t.path().join("bin");
        std::fs::create_dir_all(&lib).unwrap();
        std::fs::create_dir_all(&bin).unwrap();
        let app = lib.join("app");
        std::fs::write(&app, "\u{7f}ELF").unwrap();
        std::fs::write(lib.join("resources.pak"), "").unwrap();
        assert!(!is_chromium(&app), "one file is no proof");
        std::fs::write(lib.join("icudtl.dat"), "").unwrap();
        assert!(is_chromium(&app));
        let link = bin.join("link");
        std::os::unix::fs::symlink(&app, &link).unwrap();
        assert!(is_chromium(&link));
        let wrapper = bin.join("wrapper");
        std::fs::write(&wrapper, format!("#!/bin/sh\nLIB='{}'\nexec \"$LIB/app\" \"$@\"\n", lib.display())).unwrap();
        assert!(is_chromium(&wrapper));
        std::fs::write(&wrapper, format!("#!/bin/sh\nexec {} \"$@\"\n", app.display())).unwrap();
        assert!(is_chromium(&wrapper));
        std::fs::write(&wrapper, "#!/bin/sh\nexec /usr/bin/true\n").unwrap();
        assert!(!is_chromium(&wrapper));
        assert!(!is_chromium(Path::new("/nonexistent")));
        let flags = |args: &[&str], root| extra_arguments(&app, &strings(args), root);
        assert_eq!(flags(&[], false), [FORCE_ACCESSIBILITY]);
        assert_eq!(flags(&["--force-renderer-accessibility=complete"], true), [NO_SANDBOX]);
        assert_eq!(extra_arguments(&wrapper, &[], true), Vec::<String>::new());
    }
}
