//! What the command line can't show: a key whose window or process is another generation's, right before the write.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery};
use agent_desktop_core::evidence::Evidence;
use agent_desktop_core::platform::{Apps, ProcessKey, WindowChange, WindowKey, Windows, WriteOutcome};
use agent_desktop_linux::LinuxPlatform;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A private desktop of `tests/session`.
struct Desktop {
    session: Child,
    env: BTreeMap<String, String>,
    _dir: tempfile::TempDir,
}

impl Desktop {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("env");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/session/x11-session");
        let mut command = Command::new(script);
        let session = command.arg("-e").arg(&file).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let text = until("the desktop", || std::fs::read_to_string(&file).ok());
        let env = text.lines().filter_map(|l| l.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Self { session, env, _dir: dir }
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.env).args(args).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn tool(&self, program: &str, args: &[&str]) -> String {
        String::from_utf8_lossy(&self.command(program, args).output().unwrap().stdout).into_owned()
    }

    fn platform(&self) -> LinuxPlatform {
        LinuxPlatform::join_with(|name| self.env.get(name).cloned()).unwrap()
    }

    fn xterm(&self) -> Ended {
        let args = ["-geometry", "40x10+300+200", "-e", "sleep", "1000"];
        Ended(self.command("/usr/bin/xterm", &args).spawn().unwrap())
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        drop(self.session.stdin.take());
        let _ = self.session.wait();
    }
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn soon() -> Deadline {
    Deadline::after_ms(5_000)
}

/// The keys of a process's windows.
fn key(platform: &LinuxPlatform, pid: u32) -> WindowKey {
    until("its window", || {
        let apps = platform.apps(soon()).ok()?;
        let windows = platform.windows(&apps, soon()).ok()?;
        windows.into_iter().find(|w| w.process.pid == pid)?.key
    })
}

/// Nothing that is asked with this key is sent, and its state is that of no window.
fn fails_closed(platform: &LinuxPlatform, key: &WindowKey) {
    let all = [
        WindowChange::Focus,
        WindowChange::Resize { width: 600.0, height: 500.0 },
        WindowChange::Move { x: 10.0, y: 300.0 },
        WindowChange::Minimize,
        WindowChange::Maximize,
        WindowChange::Restore,
    ];
    for change in all {
        let WriteOutcome::Refused(error) = platform.change(key, &change, soon()) else {
            panic!("{change:?} was sent to {key:?}");
        };
        assert_eq!((error.code(), error.kind_name()), (Code::WindowNotFound, Some("stale_window_id")), "{change:?}");
        assert_eq!(error.delivery(), Delivery::NotDelivered);
    }
    assert_eq!(platform.window_now(key, soon()), Evidence::Absent);
}

#[test]
fn a_key_of_another_generation_moves_nothing() {
    let desktop = Desktop::start();
    let platform = desktop.platform();
    let first = desktop.xterm();
    let old = key(&platform, first.0.id());
    assert!(matches!(platform.window_now(&old, soon()), Evidence::Known(_)));
    // The same window and process id, another start time: the process is not the one that was meant.
    let (boot, ticks) = old.process.instance.rsplit_once(':').unwrap();
    let ticks: u64 = ticks.parse().unwrap();
    let crafted = [
        ProcessKey { instance: format!("{boot}:{}", ticks - 1), ..old.process.clone() },
        ProcessKey { instance: format!("0000-0000:{ticks}"), ..old.process.clone() },
        ProcessKey { pid: std::process::id(), ..old.process.clone() },
    ];
    for process in crafted {
        fails_closed(&platform, &WindowKey { id: old.id.clone(), process });
    }
    let place = desktop.tool("xwininfo", &["-id", &old.id]);
    // The window ends, and the server gives its id to another program's window.
    drop(first);
    until("its window is gone", || (platform.window_now(&old, soon()) == Evidence::Absent).then_some(()));
    let mut others = Vec::new();
    let new = until("the same id again", || {
        others.push(desktop.xterm());
        let new = key(&platform, others.last()?.0.id());
        (new.id == old.id).then_some(new)
    });
    fails_closed(&platform, &old);
    let state = desktop.tool("xprop", &["-id", &new.id, "WM_STATE", "_NET_WM_STATE"]);
    assert!(state.contains("Normal") && !state.contains("MAXIMIZED"), "{state}");
    let now = desktop.tool("xwininfo", &["-id", &new.id]);
    let size = |t: &str| t.lines().filter(|l| l.contains("Width") || l.contains("Height")).collect::<String>();
    assert_eq!(size(&now), size(&place));
    // The new one's own key works: the refusals came from the generation alone.
    assert_eq!(platform.change(&new, &WindowChange::Minimize, soon()), WriteOutcome::Accepted);
    until("it is an icon", || desktop.tool("xprop", &["-id", &new.id, "WM_STATE"]).contains("Iconic").then_some(()));
}
