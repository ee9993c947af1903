//! Desktop entries (freedesktop.org Desktop Entry Specification 1.5): the files that describe applications.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// An application's desktop entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id without `.desktop`, for instance `org.gnome.Calculator`; sub-directories join with `-`.
    pub id: String,
    /// The file.
    pub path: PathBuf,
    /// `Name` without a locale.
    pub name: String,
    /// `Name[…]` of all locales.
    pub localized_names: Vec<String>,
    /// `Exec` after the escapes of strings, before quoting and field codes.
    pub exec: Option<String>,
    /// `TryExec`: the entry counts only when this program is there.
    pub try_exec: Option<String>,
    /// `Path`: the working directory.
    pub working_directory: Option<PathBuf>,
    /// `Icon`.
    pub icon: Option<String>,
    /// `Terminal`: it has no window of its own.
    pub terminal: bool,
    /// `NoDisplay`: not shown in menus.
    pub no_display: bool,
    /// `Hidden`: to be treated as if there was no such file, here and in directories of lower rank.
    pub hidden: bool,
    /// `StartupWMClass`: class of its windows.
    pub window_class: Option<String>,
}

impl Entry {
    /// The display name is the wanted one, in any locale and without case.
    pub fn is_named(&self, wanted: &str) -> bool {
        let wanted = wanted.to_lowercase();
        std::iter::once(&self.name).chain(&self.localized_names).any(|n| n.to_lowercase() == wanted)
    }
}

/// Parses a file's text. `None` when it isn't an application's entry or has no name.
pub fn parse(id: &str, path: &Path, text: &str) -> Option<Entry> {
    let mut values: HashMap<&str, String> = HashMap::new();
    let mut localized_names = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with('[') {
            if inside {
                break; // actions follow
            }
            inside = line.trim_end() == "[Desktop Entry]";
        } else if inside
            && !line.starts_with('#')
            && let Some((key, value)) = line.split_once('=')
        {
            let (key, value) = (key.trim_end(), unescape(value.trim()));
            if key.starts_with("Name[") {
                localized_names.push(value);
            } else {
                values.entry(key).or_insert(value);
            }
        }
    }
    if values.get("Type").map(String::as_str) != Some("Application") {
        return None;
    }
    let yes = |key| values.get(key).is_some_and(|v| v == "true");
    let (terminal, no_display, hidden) = (yes("Terminal"), yes("NoDisplay"), yes("Hidden"));
    let mut take = |key| values.remove(key).filter(|v| !v.is_empty());
    Some(Entry {
        id: id.to_owned(),
        path: path.to_owned(),
        name: take("Name")?,
        localized_names,
        exec: take("Exec"),
        try_exec: take("TryExec"),
        working_directory: take("Path").map(PathBuf::from),
        icon: take("Icon"),
        terminal,
        no_display,
        hidden,
        window_class: take("StartupWMClass"),
    })
}

/// The escapes of values of type string: `\s \n \t \r \\`. Any other one stays for the rules of `Exec`.
fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('s') => out.push(' '),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('\\') => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// Splits `Exec` into arguments: spaces separate; in double quotes a backslash escapes `"`, `` ` ``, `$` and `\`.
///
/// # Errors
/// The reason, when a quote isn't closed or nothing is there.
pub fn split_exec(exec: &str) -> Result<Vec<String>, String> {
    let (mut args, mut at, mut started) = (Vec::new(), String::new(), false);
    let mut chars = exec.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => {
                if started {
                    args.push(std::mem::take(&mut at));
                }
                started = false;
            }
            '"' => {
                started = true;
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some(e @ ('"' | '`' | '$' | '\\')) => at.push(e),
                            Some(other) => at.extend(['\\', other]),
                            None => return Err("a quote is not closed".to_owned()),
                        },
                        Some(other) => at.push(other),
                        None => return Err("a quote is not closed".to_owned()),
                    }
                }
            }
            other => {
                started = true;
                at.push(other);
            }
        }
    }
    if started {
        args.push(at);
    }
    if args.is_empty() { Err("it is empty".to_owned()) } else { Ok(args) }
}

/// The command line of an entry: field codes are replaced, deprecated ones removed.
///
/// `operands` are what the caller wants opened or passed: they stand where the entry has `%f %F %u %U`, else at the end.
/// With `%f` or `%u` (one file only) all of them are passed there too: the caller asked for it.
///
/// # Errors
/// The reason, when `Exec` is missing, malformed, or has a code that the specification doesn't know.
pub fn command_line(entry: &Entry, operands: &[String]) -> Result<Vec<String>, String> {
    let exec = entry.exec.as_deref().ok_or("it has no Exec line")?;
    let (mut args, mut placed) = (Vec::new(), false);
    for arg in split_exec(exec)? {
        match arg.as_str() {
            "%f" | "%F" | "%u" | "%U" => {
                args.extend_from_slice(operands);
                placed = true;
            }
            "%i" => {
                if let Some(icon) = &entry.icon {
                    args.extend(["--icon".to_owned(), icon.clone()]);
                }
            }
            "%d" | "%D" | "%n" | "%N" | "%v" | "%m" => {}
            _ => args.push(expand(&arg, entry)?),
        }
    }
    if !placed {
        args.extend_from_slice(operands);
    }
    if args.first().is_none_or(String::is_empty) { Err("it names no program".to_owned()) } else { Ok(args) }
}

fn expand(arg: &str, entry: &Entry) -> Result<String, String> {
    let mut out = String::with_capacity(arg.len());
    let mut chars = arg.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some('c') => out.push_str(&entry.name),
            Some('k') => out.push_str(&entry.path.to_string_lossy()),
            // Inside another argument a file can't be passed; without one the code is empty.
            Some('f' | 'F' | 'u' | 'U' | 'i' | 'd' | 'D' | 'n' | 'N' | 'v' | 'm') => {}
            Some(other) => return Err(format!("it has the unknown field code %{other}")),
            None => return Err("it ends with a single %".to_owned()),
        }
    }
    Ok(out)
}

/// The directories with entries, the most important first: XDG_DATA_HOME, then XDG_DATA_DIRS.
pub fn directories(variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let set = |name| variable(name).filter(|v| !v.is_empty());
    let own =
        set("XDG_DATA_HOME").map(PathBuf::from).or_else(|| set("HOME").map(|h| PathBuf::from(h).join(".local/share")));
    let shared = set("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".to_owned());
    let mut found: Vec<PathBuf> = Vec::new();
    // Relative paths are invalid in these variables (XDG Base Directory Specification).
    for dir in own.into_iter().chain(shared.split(':').map(PathBuf::from)).filter(|d| d.is_absolute()) {
        let dir = dir.join("applications");
        if !found.contains(&dir) {
            found.push(dir);
        }
    }
    found
}

/// All entries below the directories by id. An id in a more important directory hides the same one elsewhere, also when
/// the entry is `Hidden` there.
pub fn all(directories: &[PathBuf]) -> BTreeMap<String, Entry> {
    let mut found = BTreeMap::new();
    for dir in directories {
        let mut files = Vec::new();
        collect(dir, "", 0, &mut files);
        for (id, path) in files {
            if found.contains_key(&id) {
                continue;
            }
            let text = std::fs::read(&path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
            if let Some(entry) = parse(&id, &path, &text) {
                found.insert(id, entry);
            }
        }
    }
    found.retain(|_, e| !e.hidden);
    found
}

fn collect(dir: &Path, prefix: &str, depth: u8, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        if let Some(stem) = name.strip_suffix(".desktop") {
            files.push((format!("{prefix}{stem}"), path));
        } else if depth < 4 && path.is_dir() {
            collect(&path, &format!("{prefix}{name}-"), depth + 1, files);
        }
    }
}

#[cfg(test)]
#[path = "desktop_entry_tests.rs"]
mod tests;
