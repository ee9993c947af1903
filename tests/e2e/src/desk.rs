//! One private desktop for one test.

use crate::reply::Reply;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest wait for anything to become ready: generous, since only a failure ever uses it up.
pub const READY: Duration = Duration::from_secs(60);

/// A private desktop; everything in it ends with it.
pub struct Desk {
    session: Child,
    /// Files of this test.
    pub dir: TempDir,
    /// The environment of programs in it.
    pub env: Vec<(String, String)>,
}

/// A program that was started in a desktop; killed when dropped.
pub struct App(pub Child);

impl App {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Sends it a signal by name.
    pub fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(done.is_ok_and(|s| s.success()), "kill -{name} {}", self.pid());
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // A stopped process takes no other signal than this one.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The repository.
pub fn repo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A binary of this workspace, built before the tests.
pub fn binary(name: &str) -> PathBuf {
    if let (Ok(path), "agent-desktop") = (std::env::var("AGENT_DESKTOP_BIN"), name) {
        return path.into();
    }
    let mut dir = std::env::current_exe().expect("the test has a path");
    dir.pop();
    if dir.ends_with("deps") {
        dir.pop();
    }
    let path = dir.join(name);
    assert!(path.exists(), "{} is not built: run scripts/test, or cargo build --workspace --bins", path.display());
    path
}

/// Polls until the condition gives a value.
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + READY;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Desk {
    /// Starts one.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// Starts one with arguments for the session script.
    pub fn with(extra: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("env");
        let mut session = Command::new(repo().join("tests/session/x11-session"))
            .args(extra)
            .arg("-e")
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tests/session/x11-session starts");
        let text = wait_for("the private desktop", || {
            if let Ok(Some(status)) = session.try_wait() {
                let mut why = String::new();
                if let Some(mut e) = session.stderr.take() {
                    let _ = e.read_to_string(&mut why);
                }
                panic!("the private desktop ended with {status}: {why}");
            }
            std::fs::read_to_string(&file).ok()
        });
        let env = text
            .lines()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .chain([("AGENT_DESKTOP_HOME".to_owned(), dir.path().join("state").display().to_string())])
            .collect();
        Self { session, dir, env }
    }

    /// A command with this desktop's environment and nothing else.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(self.env.iter().map(|(k, v)| (k, v)));
        command
    }

    /// Starts a program.
    pub fn spawn(&self, program: impl AsRef<Path>, args: &[&str]) -> App {
        let log = std::fs::File::create(self.dir.path().join(format!("{}.out", args.len()))).expect("a log file");
        let child = self
            .command(program.as_ref())
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{} does not start: {e}", program.as_ref().display()));
        App(child)
    }

    /// Starts an application and waits until an independent reader sees a tree of at least so many nodes that no
    /// longer grows.
    pub fn launch(&self, argv: &[&str], nodes: usize) -> App {
        let app = self.spawn(argv[0], &argv[1..]);
        let mut before = 0;
        wait_for(&format!("a tree of {}", argv[0]), || {
            let now = self.count(app.pid()).unwrap_or(0);
            let steady = now >= nodes && now == before;
            before = now;
            steady.then_some(())
        });
        app
    }

    fn count(&self, pid: u32) -> Option<usize> {
        let out = self.oracle("walk.py", &["--light", "--pid", &pid.to_string()]).output().ok()?;
        serde_json::from_slice::<Value>(&out.stdout).ok()?["count"].as_u64().map(|n| n as usize)
    }

    /// A run of an oracle script.
    pub fn oracle(&self, script: &str, args: &[&str]) -> Command {
        let mut command = self.command("/usr/bin/python3");
        command.arg(repo().join("tests/oracle").join(script)).args(args);
        command
    }

    /// The tree of a process as the independent reader sees it, read twice and found equal.
    pub fn walk(&self, pid: u32, extra: &[&str]) -> Value {
        let pid = pid.to_string();
        let args: Vec<&str> = ["--twice", "--pid", &pid].into_iter().chain(extra.iter().copied()).collect();
        wait_for("two equal reads of the oracle", || {
            let out = self.oracle("walk.py", &args).output().expect("the oracle runs");
            out.status.success().then(|| serde_json::from_slice(&out.stdout).expect("the oracle prints JSON"))
        })
    }

    /// Runs the product.
    pub fn cli(&self, args: &[&str]) -> Reply {
        self.cli_with(args, &[], None)
    }

    /// Runs the product with more environment and standard input.
    pub fn cli_with(&self, args: &[&str], env: &[(&str, &str)], input: Option<&str>) -> Reply {
        let mut command = self.command(binary("agent-desktop"));
        command.args(args).envs(env.iter().copied());
        Reply::of(command, input)
    }

    /// Runs the product in the background.
    pub fn cli_spawn(&self, args: &[&str]) -> Child {
        self.command(binary("agent-desktop"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the product starts")
    }

    /// Runs the product and gives `data`; a refusal fails the test.
    pub fn ok(&self, args: &[&str]) -> Value {
        self.cli(args).data()
    }

    /// Runs the product and gives `error`; a success fails the test.
    pub fn err(&self, args: &[&str]) -> Value {
        self.cli(args).error()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        drop(self.session.stdin.take());
        let _ = self.session.wait();
    }
}
