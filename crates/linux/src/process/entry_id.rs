//! Which desktop entry a running process belongs to.

use super::desktop_entry::{self, Entry};
use super::{names, tree};
use std::collections::BTreeMap;

/// The id of the process's desktop entry, without `.desktop`; `None` when nothing tells it.
///
/// What the starter said counts before what the entries' `Exec` lines suggest.
pub fn desktop_entry_id(pid: i32, entries: &BTreeMap<String, Entry>) -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    read("root/.flatpak-info")
        .and_then(|t| flatpak(&t))
        .or_else(|| read("cgroup").and_then(|t| systemd_scope(&t)))
        .or_else(|| launched(pid, &tree::environment(pid)?))
        .or_else(|| by_exec(&names::names(pid), entries))
}

/// Flatpak: `name=` of the group `[Application]`.
fn flatpak(info: &str) -> Option<String> {
    let group = info.split("[Application]").nth(1)?;
    let name = group.lines().take_while(|l| !l.starts_with('[')).find_map(|l| l.strip_prefix("name="))?;
    Some(name.trim().to_owned())
}

/// systemd's names for units of applications: `app[-LAUNCHER]-ID[@RANDOM].service` and `app[-LAUNCHER]-ID-RANDOM.scope`
/// (systemd.io/DESKTOP_ENVIRONMENTS).
fn systemd_scope(cgroup: &str) -> Option<String> {
    let unit = cgroup.lines().find_map(|l| l.rsplit('/').find(|p| p.starts_with("app-")))?;
    let id = match unit.strip_suffix(".service") {
        Some(s) => s.split('@').next()?.rsplit('-').next()?,
        None => unit.strip_suffix(".scope")?.rsplit_once('-')?.0.rsplit('-').next()?,
    };
    let id = unescape(id);
    // `app-` alone or a launcher without an id.
    (!id.is_empty() && id != "app").then_some(id)
}

/// systemd escapes bytes as `\xNN`.
fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        out.extend(rest.as_bytes()[..at].iter());
        match rest.get(at + 2..at + 4).and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &rest[at + 4..];
            }
            None => {
                out.extend(b"\\x");
                rest = &rest[at + 2..];
            }
        }
    }
    out.extend(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// GLib's launch variables. They are inherited by children, so the recorded process must be this one.
fn launched(pid: i32, env: &std::collections::HashMap<String, String>) -> Option<String> {
    let whose: i32 = env.get("GIO_LAUNCHED_DESKTOP_FILE_PID")?.parse().ok()?;
    let file = env.get("GIO_LAUNCHED_DESKTOP_FILE").filter(|_| whose == pid)?;
    // Below `applications/` sub-directories are joined with `-`.
    let name = file.rsplit_once("/applications/").map_or_else(|| file.rsplit('/').next(), |(_, n)| Some(n))?;
    Some(name.strip_suffix(".desktop")?.replace('/', "-"))
}

/// The one entry that starts a program of this name. Of several, the only one that menus show, else the only one that
/// starts it without options (others open its settings or a certain view); else nothing tells which it is.
fn by_exec(names: &names::Names, entries: &BTreeMap<String, Entry>) -> Option<String> {
    let fitting: Vec<(&Entry, bool)> = entries
        .values()
        .filter_map(|e| {
            let line = desktop_entry::split_exec(e.exec.as_deref()?).ok()?;
            let (program, args) = line.split_first()?;
            let plain = args.iter().all(|a| a.starts_with('%'));
            names.matches(program.rsplit('/').next().unwrap_or(program)).then_some((e, plain))
        })
        .collect();
    let only = |keep: &dyn Fn(&(&Entry, bool)) -> bool| {
        let mut left = fitting.iter().filter(|f| keep(f));
        left.next().filter(|_| left.next().is_none()).map(|(e, _)| e.id.clone())
    };
    only(&|_| true).or_else(|| only(&|(e, _)| !e.no_display)).or_else(|| only(&|(e, plain)| !e.no_display && *plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::Path;

    #[test]
    fn systemd_units() {
        for (unit, id) in [
            ("app-gnome-org.gnome.Calculator-4711.scope", Some("org.gnome.Calculator")),
            ("app-org.kde.kcalc-ab12.scope", Some("org.kde.kcalc")),
            ("app-KDE-org.kde.okular@12345.service", Some("org.kde.okular")),
            ("app-org.kde.okular.service", Some("org.kde.okular")),
            ("app-gnome-firefox\\x2desr-99.scope", Some("firefox-esr")),
            ("app-1.scope", None),
            ("session-2.scope", None),
        ] {
            let line = format!("0::/user.slice/user-1000.slice/user@1000.service/app.slice/{unit}\n");
            assert_eq!(systemd_scope(&line).as_deref(), id, "{unit}");
        }
    }

    #[test]
    fn flatpak_names() {
        assert_eq!(flatpak("[Application]\nname=org.x.Y\nruntime=r\n").as_deref(), Some("org.x.Y"));
        assert_eq!(flatpak("[Instance]\nname=no\n"), None);
    }

    #[test]
    fn inherited_launch_variables_say_nothing() {
        let env = |pid: &str| {
            HashMap::from([
                ("GIO_LAUNCHED_DESKTOP_FILE".to_owned(), "/usr/share/applications/kde/a.desktop".to_owned()),
                ("GIO_LAUNCHED_DESKTOP_FILE_PID".to_owned(), pid.to_owned()),
            ])
        };
        assert_eq!(launched(7, &env("7")).as_deref(), Some("kde-a"));
        assert_eq!(launched(8, &env("7")), None);
    }

    #[test]
    fn the_one_entry_of_that_program() {
        let entry = |id: &str, exec: &str, more: &str| {
            let text = format!("[Desktop Entry]\nType=Application\nName={id}\nExec={exec}\n{more}");
            (id.to_owned(), desktop_entry::parse(id, Path::new("/x"), &text).unwrap())
        };
        let entries: BTreeMap<_, _> = [
            entry("org.x.Pad", "/usr/bin/mousepad %F", ""),
            entry("writer", "office --writer", ""),
            entry("calc", "office --calc", ""),
            entry("shown", "tool", ""),
            entry("hidden", "tool --x", "NoDisplay=true\n"),
            entry("edit", "edit %F", ""),
            entry("edit-settings", "edit --preferences", ""),
        ]
        .into();
        let of = |exe: &str| by_exec(&names::from_parts(Some(exe), &[exe.to_owned()], None), &entries);
        assert_eq!(of("/usr/bin/mousepad").as_deref(), Some("org.x.Pad"));
        assert_eq!(of("/usr/bin/office"), None);
        assert_eq!(of("/usr/bin/tool").as_deref(), Some("shown"));
        assert_eq!(of("/usr/bin/edit").as_deref(), Some("edit"));
    }
}
