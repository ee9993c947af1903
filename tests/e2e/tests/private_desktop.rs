//! Private desktops by the product's own commands.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing but a hang takes so long.
const HANG: Duration = Duration::from_secs(60);

fn binary() -> PathBuf {
    agent_desktop_e2e::binary("agent-desktop")
}

/// A private desktop of our own: start, point at it, list, run something in it, stop; nothing of it stays.
#[test]
fn desktop_start_list_stop() {
    let home = tempfile::tempdir().expect("a directory");
    let run = |args: &[&str], env: &[(&str, &str)]| -> (i32, Value) {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(binary());
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", home.path())
            .env("AGENT_DESKTOP_HOME", home.path().join("state"));
        let out = command.envs(env.iter().copied()).args(args).stdin(Stdio::null()).output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let envelope = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {out:?}"));
        (out.status.code().unwrap_or(-1), envelope)
    };
    let (code, started) = run(&["desktop", "start"], &[]);
    assert_eq!(code, 0, "{started}");
    let id = started["data"]["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let stop = scopeguard(|| {
        run(&["desktop", "stop", &id], &[]);
    });
    let (_, list) = run(&["desktop", "list"], &[]);
    assert!(list.to_string().contains(&id), "{list}");
    for env in [&[("AGENT_DESKTOP_DESKTOP", id.as_str())][..], &[]] {
        let args: &[&str] = if env.is_empty() { &["list-apps", "--desktop", &id] } else { &["list-apps"] };
        let (code, apps) = run(args, env);
        assert_eq!(code, 0, "{apps}");
    }
    let (code, missing) = run(&["list-apps", "--desktop", "no-such-desktop"], &[]);
    assert_eq!(code, 1, "{missing}");
    assert_eq!(missing["error"]["disposition"]["delivery"], "not_delivered", "{missing}");
    drop(stop);
    let (_, list) = run(&["desktop", "list"], &[]);
    assert!(!list.to_string().contains(&id), "{list}");
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn scopeguard<F: FnMut()>(f: F) -> OnDrop<F> {
    OnDrop(f)
}

/// `desktop run` passes its child's output and exit code through; inside, commands work; a signal takes all with it.
#[test]
fn desktop_run() {
    let home = tempfile::tempdir().expect("a directory");
    let command = || {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(binary());
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", home.path())
            .env("AGENT_DESKTOP_HOME", home.path().join("state"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let script = format!("'{}' list-apps; echo word; exit 7", binary().display());
    let out = command().args(["desktop", "run", "--", "sh", "-c", &script]).output().expect("it runs");
    assert_eq!(out.status.code(), Some(7), "{out:?}");
    let text = String::from_utf8_lossy(&out.stdout);
    let (first, rest) = text.split_once('\n').unwrap_or_else(|| panic!("{out:?}"));
    let envelope: Value = serde_json::from_str(first).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    assert_eq!(envelope["ok"], true, "{envelope}");
    assert_eq!(rest, "word\n");
    let out = command().args(["desktop", "run", "--", "/nonexistent/program"]).output().expect("it runs");
    assert!(out.stdout.is_empty() && out.status.code() != Some(0), "{out:?}");
    // Ended from outside, nothing of it goes on.
    let mut child =
        command().args(["desktop", "run", "--", "sh", "-c", "echo $$; exec sleep 1000"]).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let inner: u32 = line.trim().parse().unwrap_or_else(|e| panic!("{e}: {line:?}"));
    let term = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill");
    assert!(term.success());
    child.wait().expect("it ends");
    let end = Instant::now() + HANG;
    while Path::new(&format!("/proc/{inner}/comm")).exists() {
        assert!(Instant::now() < end, "its child goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}
