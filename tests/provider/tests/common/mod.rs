//! A private bus, the provider on it, and an independent client.

#![allow(dead_code)] // Each test file uses a part of it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const ROOT: &str = "/org/a11y/atspi/accessible/root";

/// A session bus of our own; the accessibility bus comes by activation.
pub struct Bus {
    pub address: String,
    pub dir: TempDir,
    daemon: Child,
}

impl Bus {
    pub fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .arg(format!("--address=unix:dir={}", dir.path().display()))
            .env_remove("AT_SPI_BUS_ADDRESS")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_RUNTIME_DIR", dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon (package dbus) is needed");
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { address: address.trim().to_owned(), dir, daemon }
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .env("XDG_RUNTIME_DIR", self.dir.path())
            .env_remove("AT_SPI_BUS_ADDRESS");
        command
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// A running provider.
pub struct Provider {
    pub names: Vec<String>,
    pub child: Child,
    log: PathBuf,
    control: BufReader<UnixStream>,
}

impl Provider {
    /// Starts a ready-made scenario.
    pub fn ready_made(bus: &Bus, name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        Self::start(bus, &folder.join(format!("{name}.json")))
    }

    /// Starts a scenario written in the test.
    pub fn scenario(bus: &Bus, scenario: &Value) -> Self {
        let file = bus.dir.path().join("scenario.json");
        std::fs::write(&file, scenario.to_string()).unwrap();
        Self::start(bus, &file)
    }

    fn start(bus: &Bus, scenario: &Path) -> Self {
        let unique = format!("{:?}", Instant::now());
        let unique: String = unique.chars().filter(char::is_ascii_digit).collect();
        let log = bus.dir.path().join(format!("log-{unique}"));
        let control = bus.dir.path().join(format!("control-{unique}"));
        let mut child = bus
            .command(env!("CARGO_BIN_EXE_scripted-provider"))
            .arg("--scenario")
            .arg(scenario)
            .arg("--log")
            .arg(&log)
            .arg("--control")
            .arg(&control)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words.first(), Some(&"ready"), "{line:?}");
        assert_eq!(words[2], child.id().to_string());
        Self {
            names: words[1].split(',').map(str::to_owned).collect(),
            child,
            log,
            control: BufReader::new(UnixStream::connect(&control).unwrap()),
        }
    }

    /// A control command and its answer.
    pub fn control(&mut self, command: &Value) -> Value {
        writeln!(self.control.get_mut(), "{command}").unwrap();
        let mut line = String::new();
        self.control.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// A control command that must work.
    pub fn must(&mut self, command: Value) -> Value {
        let answer = self.control(&command);
        assert_eq!(answer["ok"], true, "{command} -> {answer}");
        answer
    }

    pub fn script(&mut self, name: &str) {
        self.must(json!({"cmd": "script", "name": name}));
    }

    /// Path of a node.
    pub fn path(&mut self, id: &str) -> String {
        let answer = self.must(json!({"cmd": "node", "node": id}));
        answer["path"].as_str().unwrap().to_owned()
    }

    /// Name of a node, asked past the bus.
    pub fn name(&mut self, id: &str) -> String {
        let answer = self.must(json!({"cmd": "node", "node": id}));
        answer["name"].as_str().unwrap().to_owned()
    }

    /// Log lines of a kind, as they are now.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["kind"] == kind)
            .collect()
    }

    /// Waits for the process to end; its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the provider did not end");
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The independent client.
pub struct Client {
    pub a11y_address: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    pub fn start(bus: &Bus) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/client.py");
        let mut child = bus
            .command("/usr/bin/python3")
            .arg(script)
            .arg(&bus.address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let hello: Value =
            serde_json::from_str(&line).expect("the client needs /usr/bin/python3, python3-dbus and at-spi2-core");
        Self { a11y_address: hello["address"].as_str().unwrap().to_owned(), child, input, output }
    }

    /// One call; `{"ok", "ms"}` or `{"error", "message", "ms"}`.
    pub fn raw(&mut self, call: &Value) -> Value {
        writeln!(self.input, "{call}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub fn call(
        &mut self,
        dest: &str,
        path: &str,
        interface: &str,
        member: &str,
        signature: &str,
        args: Value,
    ) -> Value {
        self.raw(&json!({
            "dest": dest, "path": path, "interface": interface, "member": member,
            "signature": signature, "args": args,
        }))
    }

    /// A call without arguments that must work.
    pub fn read(&mut self, dest: &str, path: &str, interface: &str, member: &str) -> Value {
        let answer = self.call(dest, path, interface, member, "", json!([]));
        assert!(answer["error"].is_null(), "{path} {member}: {answer}");
        answer["ok"].clone()
    }

    /// A property that must be there.
    pub fn get(&mut self, dest: &str, path: &str, property: &str) -> Value {
        self.read(dest, path, "get", property)
    }

    pub fn press(&mut self, dest: &str, path: &str, timeout_ms: u64) -> Value {
        self.raw(&json!({
            "dest": dest, "path": path, "interface": "Action", "member": "DoAction",
            "signature": "i", "args": [0], "timeout_ms": timeout_ms,
        }))
    }

    /// Paths of an object's children.
    pub fn children(&mut self, dest: &str, path: &str) -> Vec<String> {
        let children = self.read(dest, path, "Accessible", "GetChildren");
        let children = children.as_array().unwrap().iter();
        children.map(|c| c[1].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `dbus-monitor` prints about accessibility events.
pub struct Monitor {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Monitor {
    pub fn start(bus: &Bus, address: &str) -> Self {
        let mut child = bus
            .command("dbus-monitor")
            .args(["--address", address])
            .arg("type=signal,path_namespace=/org/a11y/atspi")
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-monitor (package dbus-bin) is needed");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Its own NameLost is the first thing it prints: from there on it sees everything.
        let first = lines.next().unwrap().unwrap();
        assert!(first.starts_with("signal"), "{first}");
        Self { child, lines }
    }

    /// Everything up to the line with this text.
    pub fn until(&mut self, text: &str) -> String {
        let mut seen = String::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            seen.push_str(&line);
            seen.push('\n');
            if line.contains(text) {
                break;
            }
        }
        seen
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
