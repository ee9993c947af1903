//! Applications that write down what they received.

use crate::desk::{App, Desk, binary, repo, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// A fixture application of a real toolkit.
pub struct Fixture {
    /// Its process.
    pub app: App,
    /// Its process id, by its own word.
    pub pid: u32,
    log: PathBuf,
    control: PathBuf,
}

impl Fixture {
    /// Starts `tests/fixtures/KIND.py` with a scene and waits until it says it is ready.
    pub fn start(desk: &Desk, kind: &str, scene: &str, extra: &[&str]) -> Self {
        let name = format!("{kind}-{scene}-{}", extra.len());
        let log = desk.dir.path().join(format!("{name}.log"));
        let control = desk.dir.path().join(format!("{name}.sock"));
        let (program, more): (&str, Vec<&str>) = match kind {
            "chromium" | "firefox" => ("web/web.py", vec!["--browser", kind]),
            "gtk3" => ("gtk3.py", vec![]),
            "gtk4" => ("gtk4.py", vec![]),
            "qt5" => ("qt5.py", vec![]),
            "qt6" => ("qt6.py", vec![]),
            other => panic!("no fixture {other}"),
        };
        let script = repo().join("tests/fixtures").join(program);
        let script = script.to_str().expect("a UTF-8 path");
        let (l, c) = (log.to_str().expect("UTF-8"), control.to_str().expect("UTF-8"));
        let mut args = vec![script, "--log", l, "--control", c, "--scene", scene];
        args.extend(more);
        args.extend(extra);
        let app = desk.spawn("/usr/bin/python3", &args);
        wait_for(&format!("the fixture {kind} {scene}"), || control.exists().then_some(()));
        let mut fixture = Self { app, pid: 0, log, control };
        fixture.pid = fixture.received("ready").first().and_then(|l| l["pid"].as_u64()).expect("its pid") as u32;
        fixture
    }

    /// One control command; its reply comes when the main loop is idle again.
    pub fn control(&self, line: &str) -> Value {
        let reply = converse(&self.control, line);
        assert_eq!(reply["ok"], true, "control {line}: {reply}");
        reply
    }

    /// Everything logged, after a fence: what was sent before has been processed.
    pub fn log(&self) -> Vec<Value> {
        self.control("fence");
        let text = std::fs::read_to_string(&self.log).expect("the fixture's log");
        text.lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect()
    }

    /// The log's file: what stands in it outlives the application.
    pub fn log_path(&self) -> &std::path::Path {
        &self.log
    }

    /// Log lines of one event.
    pub fn received(&self, event: &str) -> Vec<Value> {
        self.log().into_iter().filter(|l| l["event"] == event).collect()
    }

    /// Log lines of one event on one widget.
    pub fn received_by(&self, event: &str, id: &str) -> Vec<Value> {
        self.received(event).into_iter().filter(|l| l["id"] == id).collect()
    }

    /// The widgets' own truth.
    pub fn state(&self) -> Value {
        self.control("state")
    }
}

/// The scripted provider.
pub struct Provider {
    /// Its process.
    pub app: App,
    /// The process id that the bus knows.
    pub pid: u32,
    log: PathBuf,
    control: PathBuf,
}

impl Provider {
    /// Starts a ready-made scenario of `tests/provider/scenarios`.
    pub fn start(desk: &Desk, scenario: &str) -> Self {
        let file = repo().join("tests/provider/scenarios").join(format!("{scenario}.json"));
        let log = desk.dir.path().join(format!("{scenario}.log"));
        let control = desk.dir.path().join(format!("{scenario}.sock"));
        let mut command = desk.command(binary("scripted-provider"));
        command.arg("--scenario").arg(file).arg("--log").arg(&log).arg("--control").arg(&control);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the scripted provider starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("its ready line");
        let pid = line.split_whitespace().nth(2).and_then(|p| p.parse().ok());
        let pid = pid.unwrap_or_else(|| panic!("the scripted provider said {line:?}"));
        Self { app: App(child), pid, log, control }
    }

    /// One control command in JSON.
    pub fn control(&self, command: Value) -> Value {
        let reply = converse(&self.control, &command.to_string());
        assert_ne!(reply["ok"], false, "control {command}: {reply}");
        reply
    }

    /// Every logged write and violation.
    pub fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).expect("the provider's log");
        text.lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect()
    }

    /// How many times this member was received by this node.
    pub fn writes(&self, node: &str, member: &str) -> usize {
        self.log().iter().filter(|l| l["node"] == node && l["member"] == member).count()
    }
}

fn converse(socket: &PathBuf, line: &str) -> Value {
    let mut stream = UnixStream::connect(socket).expect("the control socket");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    stream.write_all(format!("{line}\n").as_bytes()).expect("the command is taken");
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).expect("a reply");
    serde_json::from_str(&reply).unwrap_or_else(|e| panic!("{line}: {e}: {reply:?}"))
}
