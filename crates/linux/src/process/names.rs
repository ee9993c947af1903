//! What a process is called: by its executable, and, where an interpreter runs a script, by the script.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// The names of a process. Each of them, compared without case and as a whole, names it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Names {
    /// Base name of the executable file; `None` when it is hidden from us.
    pub executable: Option<String>,
    /// Base name of the script or module that an interpreter runs.
    pub script: Option<String>,
    /// Base name of the first argument, as the starter wrote it: a link's or a wrapper's name.
    pub argument_zero: Option<String>,
    /// The kernel's short name, at most 15 bytes.
    pub comm: Option<String>,
}

impl Names {
    /// The name to show: the script's rather than the interpreter's.
    pub fn best(&self) -> Option<&str> {
        self.script.as_deref().map(stem).or(self.executable.as_deref()).or(self.comm.as_deref())
    }

    /// All names; a script also without its extension. Without an interpreter's own name when it runs a script:
    /// "python3" names every program in that language.
    pub fn all(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        match &self.script {
            Some(s) => all.extend([s.as_str(), stem(s)]),
            None => {
                all.extend(self.executable.as_deref());
                all.extend(self.argument_zero.as_deref());
                // The kernel cuts it: only a whole one is a name.
                all.extend(self.comm.as_deref().filter(|c| c.len() < 15));
            }
        }
        all.dedup();
        all
    }

    /// Whether one of the names is the wanted one, without case.
    pub fn matches(&self, wanted: &str) -> bool {
        let wanted = wanted.to_lowercase();
        self.all().iter().any(|n| n.to_lowercase() == wanted)
    }
}

/// The names of a process. Fields that can't be read are `None`.
pub fn names(pid: i32) -> Names {
    let proc = |name: &str| Path::new("/proc").join(pid.to_string()).join(name);
    let executable = std::fs::read_link(proc("exe")).ok();
    let line = std::fs::read(proc("cmdline")).unwrap_or_default();
    let comm = std::fs::read_to_string(proc("comm")).ok().map(|c| c.trim_end_matches('\n').to_owned());
    let args: Vec<String> = line.split(|b| *b == 0).map(|a| String::from_utf8_lossy(a).into_owned()).collect();
    from_parts(executable.and_then(|p| p.to_str().map(str::to_owned)).as_deref(), &args, comm)
}

/// Programs that start others: their own name says nothing about what runs then.
const STARTERS: [&str; 8] = ["bwrap", "env", "flatpak", "gtk-launch", "pkexec", "snap", "sudo", "xdg-open"];

/// The names that a program will have once it runs with these arguments; none where they say nothing about it.
pub fn of_command(program: &str, args: &[String]) -> Vec<String> {
    let line: Vec<String> = std::iter::once(program.to_owned()).chain(args.iter().cloned()).collect();
    let names = from_parts(Some(program), &line, None);
    let own = base(program);
    if names.script.is_none() && (Interpreter::of(own).is_some() || STARTERS.contains(&own)) {
        return Vec::new();
    }
    names.all().into_iter().map(str::to_owned).collect()
}

/// The rule of [`names`] over the link `exe`, the command line and `comm`.
pub fn from_parts(executable: Option<&str>, args: &[String], comm: Option<String>) -> Names {
    // An upgraded package leaves the running file without a name.
    let path = executable.map(|e| e.strip_suffix(" (deleted)").unwrap_or(e));
    let executable = path.map(base);
    let zero = args.first().and_then(|zero| argument_zero(path, zero, &args[1..])).map(base).filter(|a| !a.is_empty());
    let script = executable
        .or(zero)
        .and_then(Interpreter::of)
        .and_then(|i| i.script(args.get(1..).unwrap_or_default()))
        .map(|s| base(s).to_owned())
        .filter(|s| !s.is_empty());
    Names { executable: executable.map(str::to_owned), script, argument_zero: zero.map(str::to_owned), comm }
}

/// The first argument as a path. Chromium's processes write their whole command line into it, and others a title: what
/// stands behind the last slash of that is somebody else's name, such as a page's.
fn argument_zero<'a>(executable: Option<&str>, zero: &'a str, rest: &[String]) -> Option<&'a str> {
    if let Some(path) = executable
        && zero.strip_prefix(path).is_some_and(|rest| rest.starts_with(' '))
    {
        return zero.get(..path.len());
    }
    let alone = rest.iter().all(String::is_empty);
    let own = executable == Some(zero) || !zero.contains(' ') || !alone;
    own.then_some(zero)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name without its extension; names that begin with a dot have none.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// How an interpreter's command line names its script.
struct Interpreter {
    /// Options that take the next argument as their value.
    with_value: &'static [&'static str],
    /// Options whose value is what is run.
    names_program: &'static [&'static str],
    /// Options after which there is no script: a program text follows.
    text: &'static [&'static str],
}

impl Interpreter {
    fn of(executable: &str) -> Option<Interpreter> {
        let name = executable.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let (with_value, names_program, text): (&[&str], &[&str], &[&str]) = match name {
            "python" | "pypy" | "pythonw" => (&["-W", "-X", "--check-hash-based-pycs"], &["-m"], &["-c"]),
            "java" => (
                &["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"],
                &["-jar", "-m", "--module"],
                &[],
            ),
            "node" | "nodejs" => {
                (&["-r", "--require", "--import", "--loader"], &[], &["-e", "--eval", "-p", "--print"])
            }
            "perl" => (&["-I"], &[], &["-e", "-E"]),
            "ruby" => (&["-I", "-r", "-C"], &[], &["-e"]),
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "busybox" => (&["-o", "+o", "-O"], &[], &["-c"]),
            "gjs" | "gjs-console" => (&["-I", "--include-path"], &["-m", "--module"], &["-c", "--command"]),
            "php" | "lua" | "luajit" | "mono" | "wish" | "tclsh" | "guile" | "dotnet" | "wine" => {
                (&[], &[], &["-e", "-r"])
            }
            _ => return None,
        };
        Some(Interpreter { with_value, names_program, text })
    }

    fn script<'a>(&self, args: &'a [String]) -> Option<&'a str> {
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            if self.text.contains(&arg) {
                return None;
            }
            if self.names_program.contains(&arg) {
                // gjs's -m takes no value of its own, yet the script follows just the same.
                return args.next();
            }
            if self.with_value.contains(&arg) {
                args.next();
            } else if arg == "--" {
                return args.next();
            } else if !arg.starts_with('-') && !arg.is_empty() {
                return Some(arg);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_name_of_what_will_run() {
        let of = |line: &[&str]| of_command(line[0], &line[1..].iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["/usr/bin/gnome-calculator"]), ["gnome-calculator"]);
        assert_eq!(of(&["/usr/bin/python3", "/usr/share/x/meld.py"]), ["meld.py", "meld"]);
        for starter in
            [&["/usr/bin/flatpak", "run", "org.x"][..], &["/bin/sh", "-c", "x"], &["/usr/bin/env", "A=1", "x"]]
        {
            assert!(of(starter).is_empty(), "{starter:?}");
        }
    }

    fn of(executable: &str, line: &str) -> Names {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        from_parts(Some(executable), &args, None)
    }

    #[test]
    fn scripts_are_called_by_their_own_name() {
        for (exe, line, script) in [
            ("/usr/bin/python3.11", "python3 /opt/foo.py --x", "foo.py"),
            ("/usr/bin/python3.11", "python3 -u -W ignore foo.py", "foo.py"),
            ("/usr/bin/python3.11", "python3 -m http.server 80", "http.server"),
            ("/usr/bin/python3.11", "/usr/bin/python3 /usr/bin/meld a b", "meld"),
            ("/usr/lib/jvm/bin/java", "java -Xmx1g -cp a.jar -jar /x/tool.jar run", "tool.jar"),
            ("/usr/bin/bash", "/bin/bash /usr/bin/wrapper", "wrapper"),
            ("/usr/bin/gjs-console", "gjs -m /usr/bin/org.gnome.Maps", "org.gnome.Maps"),
            ("/usr/bin/node", "node --require x.js app.mjs", "app.mjs"),
        ] {
            assert_eq!(of(exe, line).script.as_deref(), Some(script), "{line}");
        }
        for (exe, line) in [
            ("/usr/bin/python3.11", "python3"),
            ("/usr/bin/python3.11", "python3 -c print(1) foo.py"),
            ("/usr/bin/bash", "-bash"),
            ("/usr/bin/mousepad", "mousepad foo.py"),
        ] {
            assert_eq!(of(exe, line).script, None, "{line}");
        }
    }

    #[test]
    fn matching_is_whole_and_without_case() {
        let n = of("/usr/bin/python3.11", "python3 /opt/Foo.py");
        assert!(n.matches("foo.py") && n.matches("FOO"));
        assert!(!n.matches("python3") && !n.matches("fo"));
        assert_eq!(n.best(), Some("Foo"));
        let n = of("/usr/lib/firefox-esr/firefox-esr (deleted)", "/usr/bin/firefox");
        assert!(n.matches("firefox-esr") && n.matches("firefox"));
        assert_eq!(n.best(), Some("firefox-esr"));
    }

    #[test]
    fn a_command_line_written_as_a_title_names_no_page() {
        let of = |exe: &str, zero: &str| from_parts(Some(exe), &[zero.to_owned(), String::new()], None);
        let n = of("/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium --flag file:///home/me/page.html");
        assert!(n.matches("chromium") && !n.matches("page.html"), "{n:?}");
        let n = of("/usr/sbin/serverd", "serverd: listening on /run/socket.d");
        assert!(n.matches("serverd") && !n.matches("socket.d"), "{n:?}");
        assert!(of("/opt/My App/my-app", "/opt/My App/my-app").matches("my-app"));
    }

    #[test]
    fn a_cut_short_name_names_nothing() {
        let n = from_parts(None, &[], Some("gnome-calculato".into()));
        assert!(!n.matches("gnome-calculato"));
        assert_eq!(n.best(), Some("gnome-calculato"));
        assert!(from_parts(None, &[], Some("kcalc".into())).matches("kcalc"));
    }

    #[test]
    fn stems() {
        assert_eq!((stem("a.tar.gz"), stem(".hidden"), stem("plain")), ("a.tar", ".hidden", "plain"));
    }

    #[test]
    fn reads_ourselves() {
        assert!(names(std::process::id() as i32).executable.is_some());
        assert_eq!(names(i32::MAX).best(), None);
    }
}
