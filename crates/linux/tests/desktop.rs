//! Real private desktops, looked at with programs that nobody here wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Builds of tests put examples beside the test's own directory.
fn program() -> PathBuf {
    let path = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join("desktop");
    assert!(path.exists(), "{} is missing: cargo test builds it", path.display());
    path
}

/// A directory of its own for each test, so that tests sweep nothing of each other's or the user's.
struct Base {
    dir: tempfile::TempDir,
}

impl Base {
    fn new() -> Base {
        Base { dir: tempfile::Builder::new().prefix("ad-test").tempdir_in("/tmp").unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("rt")
    }

    fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut c = Command::new(program());
        c.arg("--base").arg(self.path()).args(args).stdin(Stdio::null());
        c
    }

    fn call<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.command(args).output().unwrap()
    }

    fn json<S: AsRef<OsStr>>(&self, args: &[S]) -> Value {
        let out = self.call(args);
        assert!(out.status.success(), "{}", text(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }

    fn entries(&self) -> Vec<String> {
        let dir = std::fs::read_dir(self.path().join("desktops")).unwrap();
        dir.flatten().map(|e| e.file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // A failed test must not leave a desktop behind.
        if let Ok(rows) = serde_json::from_slice::<Value>(&self.call(&["list"]).stdout) {
            for row in rows.as_array().into_iter().flatten() {
                self.call(&["stop", row["id"].as_str().unwrap_or_default()]);
            }
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn variables(record: &Value) -> Vec<(String, String)> {
    let set = record["env"]["set"].as_object().unwrap();
    set.iter().map(|(n, v)| (n.clone(), v.as_str().unwrap().to_owned())).collect()
}

/// Runs another program with the desktop's variables.
fn oracle(record: &Value, program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).envs(variables(record)).stdin(Stdio::null()).output().unwrap()
}

fn pid(record: &Value, what: &str) -> i32 {
    record[what]["pid"].as_i64().unwrap() as i32
}

fn lives(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|s| !matches!(s.rsplit(')').next().and_then(|t| t.trim().chars().next()), Some('Z' | 'X') | None))
}

fn within(limit: u64, what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(limit);
    while !condition() {
        assert!(Instant::now() < end, "not within {limit} s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes that carry the desktop's mark.
fn marked(id: &str) -> Vec<i32> {
    let mark = format!("AGENT_DESKTOP_DESKTOP_MARKER={id}");
    let dir = std::fs::read_dir("/proc").unwrap();
    dir.flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter(|p| {
            std::fs::read(format!("/proc/{p}/environ"))
                .is_ok_and(|b| b.split(|c| *c == 0).any(|v| v == mark.as_bytes()))
        })
        .collect()
}

fn socket_of(record: &Value) -> PathBuf {
    let display = record["env"]["set"]["DISPLAY"].as_str().unwrap();
    Path::new("/tmp/.X11-unix").join(format!("X{}", display.trim_start_matches(':')))
}

/// Another test's server may have taken the number meanwhile, so only a dead socket is a leftover.
fn is_leftover(socket: &Path) -> bool {
    socket.exists() && std::os::unix::net::UnixStream::connect(socket).is_err()
}

/// Starts a process in the desktop that would live on without it and ignores SIGTERM.
fn stubborn(record: &Value) -> Child {
    let mut child = Command::new("setsid")
        .args(["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"])
        .envs(variables(record))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0; 1]).unwrap();
    child
}

#[test]
fn is_a_whole_desktop_and_closed_to_others() {
    let base = Base::new();
    let d = base.json(&["--geometry", "1000x700", "start"]);
    let id = d["id"].as_str().unwrap().to_owned();

    let size = oracle(&d, "xdpyinfo", &[]);
    assert!(text(&size.stdout).contains("1000x700 pixels"), "{}", text(&size.stderr));
    for extension in ["RANDR", "Composite", "XTEST", "X-Resource"] {
        assert!(text(&size.stdout).contains(extension), "{extension}");
    }
    // Only with the cookie.
    for authority in ["/dev/null", "/nonexistent"] {
        let mut c = Command::new("xdpyinfo");
        c.envs(variables(&d)).env("XAUTHORITY", authority).env("HOME", "/nonexistent");
        let refused = c.output().unwrap();
        assert!(!refused.status.success());
        assert!(text(&refused.stderr).contains("uthoriz"), "{}", text(&refused.stderr));
    }
    let cookie = Path::new(d["env"]["set"]["XAUTHORITY"].as_str().unwrap());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(cookie).unwrap().permissions().mode() & 0o7777, 0o600);
    for open in [base.path(), base.path().join("desktops"), base.path().join("desktops").join(&id)] {
        assert_eq!(std::fs::metadata(open).unwrap().permissions().mode() & 0o7777, 0o700);
    }

    let manager = oracle(&d, "xprop", &["-root", "_NET_SUPPORTING_WM_CHECK"]);
    assert!(text(&manager.stdout).contains("window id # 0x"), "{}", text(&manager.stdout));

    let enabled = oracle(
        &d,
        "busctl",
        &["--user", "get-property", "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Status", "IsEnabled"],
    );
    assert_eq!(text(&enabled.stdout).trim(), "b true", "{}", text(&enabled.stderr));
    let names = Command::new("busctl")
        .arg(format!("--address={}", d["accessibility_bus"].as_str().unwrap()))
        .args(["list", "--no-legend"])
        .output()
        .unwrap();
    assert!(text(&names.stdout).contains("org.a11y.atspi.Registry"), "{}", text(&names.stderr));

    // Own session, and nothing of ours open in it.
    let supervisor = pid(&d, "supervisor");
    let stat = std::fs::read_to_string(format!("/proc/{supervisor}/stat")).unwrap();
    let session: i32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(session, supervisor);

    let rows = base.json(&["list"]);
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!((rows[0]["id"].as_str(), rows[0]["state"].as_str()), (Some(id.as_str()), Some("running")));

    let mut child = stubborn(&d);
    let socket = socket_of(&d);
    assert!(socket.exists());
    let stopped = base.call(&["stop", &id]);
    assert!(stopped.status.success(), "{}", text(&stopped.stderr));
    assert_eq!(marked(&id), Vec::<i32>::new());
    assert!(!lives(supervisor));
    assert_eq!(base.entries(), Vec::<String>::new());
    assert!(!is_leftover(&socket));
    child.wait().unwrap();

    let again = base.call(&["stop", &id]);
    assert!(!again.status.success());
    assert!(text(&again.stderr).contains("no_such_desktop"), "{}", text(&again.stderr));
    for odd in ["", "..", "../../etc", ".new-d1"] {
        assert!(text(&base.call(&["stop", odd]).stderr).contains("no_such_desktop"), "{odd}");
    }
}

#[test]
fn leftovers_of_a_killed_supervisor_are_swept() {
    let base = Base::new();
    let d = base.json(&["start"]);
    let id = d["id"].as_str().unwrap();
    let mut child = stubborn(&d);
    let (supervisor, server) = (pid(&d, "supervisor"), pid(&d, "display_server"));
    assert!(Command::new("kill").args(["-9", &supervisor.to_string()]).status().unwrap().success());
    within(10, "the X server ends with its supervisor", || !lives(server));
    assert!(lives(child.id() as i32), "the trap works: this one outlives the supervisor");
    assert_eq!(base.entries(), [id]);
    assert_eq!(base.json(&["list"]), serde_json::json!([]));
    within(10, "the marked process is gone", || !lives(child.id() as i32));
    assert_eq!(marked(id), Vec::<i32>::new());
    assert_eq!(base.entries(), Vec::<String>::new());
    child.wait().unwrap();
}

#[test]
fn marked_processes_without_a_directory_are_swept() {
    let base = Base::new();
    let d = base.json(&["start"]);
    let id = d["id"].as_str().unwrap();
    let mut child = stubborn(&d);
    assert!(Command::new("kill").args(["-9", &pid(&d, "supervisor").to_string()]).status().unwrap().success());
    std::fs::remove_dir_all(base.path().join("desktops").join(id)).unwrap();
    assert_eq!(base.json(&["sweep"]), serde_json::json!([id]));
    assert_eq!(marked(id), Vec::<i32>::new());
    child.wait().unwrap();
}

#[test]
fn a_killed_x_server_ends_the_desktop() {
    let base = Base::new();
    let d = base.json(&["start"]);
    let (supervisor, id) = (pid(&d, "supervisor"), d["id"].as_str().unwrap());
    assert!(Command::new("kill").args(["-9", &pid(&d, "display_server").to_string()]).status().unwrap().success());
    within(15, "the supervisor ends", || !lives(supervisor));
    assert_eq!(marked(id), Vec::<i32>::new());
    assert_eq!(base.entries(), Vec::<String>::new());
    let socket = socket_of(&d);
    assert!(!is_leftover(&socket));
}

#[test]
fn a_window_manager_that_ends_comes_back() {
    let base = Base::new();
    let d = base.json(&["--wm", "openbox", "start"]);
    let first = marked(d["id"].as_str().unwrap())
        .into_iter()
        .find(|p| std::fs::read_to_string(format!("/proc/{p}/comm")).is_ok_and(|c| c.trim() == "openbox"))
        .unwrap();
    assert!(Command::new("kill").args(["-9", &first.to_string()]).status().unwrap().success());
    within(15, "a new window manager", || {
        text(&oracle(&d, "xprop", &["-root", "_NET_SUPPORTING_WM_CHECK"]).stdout).contains("window id # 0x")
            && !lives(first)
            && marked(d["id"].as_str().unwrap())
                .into_iter()
                .any(|p| std::fs::read_to_string(format!("/proc/{p}/comm")).is_ok_and(|c| c.trim() == "openbox"))
    });
}

#[test]
fn several_at_once_are_apart() {
    let base = Base::new();
    let starting: Vec<Child> = (0..3)
        .map(|_| base.command(&["start"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    let all: Vec<Value> = starting
        .into_iter()
        .map(|c| {
            let out = c.wait_with_output().unwrap();
            assert!(out.status.success(), "{}", text(&out.stderr));
            serde_json::from_slice(&out.stdout).unwrap()
        })
        .collect();
    for what in ["DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "HOME"] {
        let mut values: Vec<_> = all.iter().map(|d| d["env"]["set"][what].as_str().unwrap()).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 3, "{what}");
    }
    assert_eq!(base.json(&["list"]).as_array().unwrap().len(), 3);
    // One's cookie doesn't open the other.
    let mut c = Command::new("xdpyinfo");
    c.envs(variables(&all[0])).env("XAUTHORITY", all[1]["env"]["set"]["XAUTHORITY"].as_str().unwrap());
    assert!(!c.output().unwrap().status.success());
    assert!(base.call(&["stop", all[1]["id"].as_str().unwrap()]).status.success());
    for d in [&all[0], &all[2]] {
        assert!(oracle(d, "xdpyinfo", &[]).status.success());
    }
}

#[test]
fn run_passes_everything_through() {
    let base = Base::new();
    let mut c =
        base.command(&["run", "--", "sh", "-c", "cat; xprop -root _NET_SUPPORTING_WM_CHECK; echo err >&2; exit 7"]);
    let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"through\n").unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(7), "{}", text(&out.stderr));
    let lines = text(&out.stdout);
    assert!(lines.starts_with("through\n") && lines.contains("window id # 0x"), "{lines}");
    assert_eq!(text(&out.stderr), "err\n");
    assert_eq!(base.entries(), Vec::<String>::new());

    assert_eq!(base.call(&["run", "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    assert_eq!(base.call(&["run", "--", "/nonexistent/program"]).status.code(), Some(127));
    assert_eq!(base.call(&["run", "--", "/etc/passwd"]).status.code(), Some(126));
    assert_eq!(base.entries(), Vec::<String>::new());
}

#[test]
fn run_ends_what_its_command_left() {
    let base = Base::new();
    let out = base.call(&["run", "--", "sh", "-c", "setsid sleep 300 >/dev/null 2>&1 & echo $AGENT_DESKTOP_DESKTOP"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(marked(text(&out.stdout).trim()), Vec::<i32>::new());
}

#[test]
fn run_passes_signals_on_and_ends_when_killed() {
    for (signal, want) in [("-TERM", Some(143)), ("-INT", Some(55)), ("-KILL", None)] {
        let base = Base::new();
        let mut child = base
            .command(&[
                "run",
                "--",
                "setsid",
                "-w",
                "sh",
                "-c",
                "trap 'exit 55' INT; echo $AGENT_DESKTOP_DESKTOP; while :; do sleep 0.1; done",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut id = String::new();
        let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut reader, &mut id).unwrap();
        if want == Some(55) {
            // `setsid -w` doesn't pass SIGINT on: the shell has to be the command itself.
            let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).status();
            let _ = child.wait();
            run_interrupt(&base);
            continue;
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), want, "{signal}");
        within(15, "nothing is left", || marked(id.trim()).is_empty() && base.entries().is_empty());
    }
}

fn run_interrupt(base: &Base) {
    // A session without a terminal, as a service has it: the signal reaches the command only through us.
    let mut c = Command::new("setsid");
    c.arg("-w").arg(program()).arg("--base").arg(base.path());
    c.args(["run", "--", "sh", "-c", "trap 'exit 55' INT; echo $PPID; while :; do sleep 0.1; done"]);
    let mut child = c.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    assert!(Command::new("kill").args(["-INT", line.trim()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(55));
}

#[test]
fn a_stop_from_inside_is_answered() {
    let base = Base::new();
    let d = base.json(&["start"]);
    let out = base.command(&["stop", d["id"].as_str().unwrap()]).envs(variables(&d)).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(base.entries(), Vec::<String>::new());
}

#[test]
fn missing_programs_are_named() {
    let base = Base::new();
    for (wm, program, package) in [("mutter", "mutter", "mutter"), ("metacity", "metacity", "metacity")] {
        if Path::new("/usr/bin").join(program).exists() {
            continue;
        }
        let out = base.call(&["--wm", wm, "start"]);
        let e: Value = serde_json::from_slice(&out.stderr).unwrap();
        assert_eq!(
            (e["kind"].as_str(), e["program"].as_str(), e["package"].as_str()),
            (Some("missing_program"), Some(program), Some(package))
        );
        assert_eq!(base.call(&["--wm", wm, "run", "--", "true"]).status.code(), Some(125));
    }
    assert_eq!(base.entries(), Vec::<String>::new());
}

#[test]
fn a_start_that_fails_half_way_leaves_nothing() {
    // An X server that announces itself and is none: the display comes up, the window manager can't.
    let base = Base::new();
    let fake = tempfile::tempdir().unwrap();
    let script = fake.path().join("Xvfb");
    std::fs::write(&script, "#!/bin/sh\nsleep 300 &\necho 64999 >/proc/self/fd/$2\nwait\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", fake.path().display(), std::env::var("PATH").unwrap());
    let out = base.command(&["start"]).env("PATH", &path).output().unwrap();
    let e: Value = serde_json::from_slice(&out.stderr).unwrap();
    assert_eq!(e["kind"], "start_failed", "{e}");
    assert_eq!(base.entries(), Vec::<String>::new());
    let prefix = base.path().display().to_string();
    within(5, "no process of it is left", || {
        std::fs::read_dir("/proc").unwrap().flatten().all(|p| {
            std::fs::read(p.path().join("environ"))
                .map_or(true, |b| !text(&b).contains(&format!("AGENT_DESKTOP_DESKTOP_DIR={prefix}")))
        })
    });
    // One that ends at once.
    std::fs::write(&script, "#!/bin/sh\necho no memory for a screen >&2\nexit 1\n").unwrap();
    let out = base.command(&["start"]).env("PATH", &path).output().unwrap();
    let e: Value = serde_json::from_slice(&out.stderr).unwrap();
    assert_eq!((e["kind"].as_str(), e["step"].as_str()), (Some("start_failed"), Some("display")), "{e}");
    assert!(e["reason"].as_str().unwrap().contains("no memory for a screen"));
    assert_eq!(base.entries(), Vec::<String>::new());
}

#[test]
fn finds_running_sessions_and_tells_private_ones() {
    let base = Base::new();
    let d = base.json(&["start"]);
    // As over SSH: no variables of any session.
    let out = base.command(&["auto"]).env_remove("DISPLAY").env_remove("DBUS_SESSION_BUS_ADDRESS").output().unwrap();
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let ours: Vec<_> = all.as_array().unwrap().iter().filter(|s| s["private"] == d["id"]).collect();
    assert_eq!(ours.len(), 1, "{all}");
    assert_eq!(ours[0]["env"]["DISPLAY"], d["env"]["set"]["DISPLAY"]);
    assert_eq!(ours[0]["env"]["XAUTHORITY"], d["env"]["set"]["XAUTHORITY"]);
}

#[test]
fn the_callers_descriptors_do_not_live_on() {
    // A caller that waits for the end of its pipes would wait as long as the desktop lives.
    let base = Base::new();
    let script = format!("exec 5>&1; {} --base {} start", program().display(), base.path().display());
    let begun = Instant::now();
    let out = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(begun.elapsed() < Duration::from_secs(25));
    let d: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(lives(pid(&d, "supervisor")), "it lives, and the pipes are closed all the same");
}
