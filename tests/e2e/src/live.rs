//! One fixture application with the product pointed at it: what is asked, what landed, what was refused.

use crate::desk::{Desk, wait_for};
use crate::fixture::Fixture;
use crate::reply::{nodes, refs_named};
use serde_json::Value;
use std::path::PathBuf;

/// A fixture application and the name under which the product knows it.
pub struct Live<'d> {
    /// Its desktop.
    pub desk: &'d Desk,
    /// The application.
    pub fixture: Fixture,
    /// Its toolkit.
    pub kind: &'static str,
    /// Its name for `--app`.
    pub app: String,
}

/// AT-SPI's number of the role.
const PUSH_BUTTON: u64 = 43;

/// The toolkits that draw their own widgets.
pub const NATIVE: [&str; 4] = ["gtk3", "gtk4", "qt5", "qt6"];
/// The browsers.
pub const WEB: [&str; 2] = ["chromium", "firefox"];

impl<'d> Live<'d> {
    /// Starts a scene and waits until the product sees its controls.
    pub fn start(desk: &'d Desk, kind: &'static str, scene: &str) -> Self {
        Self::with(desk, kind, scene, &[])
    }

    /// Starts a scene with more arguments for the fixture.
    pub fn with(desk: &'d Desk, kind: &'static str, scene: &str, extra: &[&str]) -> Self {
        let app = match kind {
            "chromium" => "Chromium".to_owned(),
            "firefox" => "Firefox".to_owned(),
            native => format!("fixture-{native}"),
        };
        let live = Self { desk, fixture: Fixture::start(desk, kind, scene, extra), kind, app };
        if live.is_web() {
            // Browsers publish a moment later; and Firefox loses the first press after its start.
            let inert = wait_for(&format!("the page in {kind}"), || {
                let reply = desk.cli(&["snapshot", "--app", &live.app, "--max-depth", "60", "--timeout-ms", "20000"]);
                let data = (reply.code == 0).then(|| reply.data())?;
                let of = |n: &&Value| n["name"] == "Inert" && n["available_actions"].to_string().contains("\"Click\"");
                nodes(&data["tree"]).into_iter().find(of).and_then(|n| n["ref_id"].as_str()).map(str::to_owned)
            });
            desk.ok(&["click", &inert]);
        }
        live
    }

    /// Whether it is a page in a browser.
    pub fn is_web(&self) -> bool {
        WEB.contains(&self.kind)
    }

    /// A snapshot of its window.
    pub fn snapshot(&self) -> Value {
        self.desk.ok(&["snapshot", "--app", &self.app, "--max-depth", "60", "--timeout-ms", "60000"])
    }

    /// A snapshot of its window with this title, once there is one.
    pub fn snapshot_of(&self, title: &str) -> Value {
        let id = wait_for(&format!("a window called {title}"), || {
            // A list's deadline is short: an application that is busy drawing may miss it.
            let reply = self.desk.cli(&["list-windows", "--app", &self.app]);
            let windows = (reply.code == 0).then(|| reply.data())?;
            let found = windows.as_array()?.iter().find(|w| w["title"] == title)?;
            found["id"].as_str().map(str::to_owned)
        });
        self.desk.ok(&["snapshot", "--window-id", &id, "--max-depth", "60", "--timeout-ms", "60000"])
    }

    /// The only ref with this role and name; waits for it, since browsers publish changes late.
    pub fn only(&self, role: &str, name: &str) -> String {
        let mut last = Value::Null;
        wait_for(&format!("{}: one {role} {name:?}", self.kind), || {
            last = self.snapshot();
            match &refs_named(&last, role, name)[..] {
                [one] => Some(one.clone()),
                _ => None,
            }
        })
    }

    /// What the application received, without its own notes.
    pub fn landed(&self) -> Vec<Value> {
        let own = ["ready", "fence", "late", "exited"];
        self.fixture.log().into_iter().filter(|l| !own.contains(&l["event"].as_str().unwrap_or(""))).collect()
    }

    /// Runs a command that is refused with this code and kind, and shows that nothing arrived.
    pub fn refused(&self, args: &[&str], code: &str, kinds: &[&str]) -> Value {
        let before = self.landed();
        let error = self.desk.err(args);
        assert_eq!(error["code"], code, "{} {args:?}: {error}", self.kind);
        let kind = error["details"]["kind"].as_str().unwrap_or("");
        assert!(kinds.contains(&kind), "{} {args:?}: {kind:?} is none of {kinds:?}: {error}", self.kind);
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{} {args:?}: {error}", self.kind);
        assert_eq!(self.landed(), before, "{} {args:?} was refused, but something arrived", self.kind);
        error
    }

    /// Runs a command that arrives exactly once, as this one line and nothing else. Gives `data`.
    pub fn lands(&self, args: &[&str], line: &Value) -> Value {
        let before = self.landed();
        let data = self.desk.ok(args);
        assert_ne!(data["disposition"]["delivery"], "not_delivered", "{} {args:?}: {data}", self.kind);
        // Pages hear of a press a moment later; the second look is after another fence.
        wait_for(&format!("{} {args:?} to arrive as {line}", self.kind), || {
            (self.landed().len() > before.len()).then_some(())
        });
        let now = self.landed();
        assert_eq!(now[..before.len()], before[..], "{} {args:?}: the log was rewritten", self.kind);
        assert_eq!(&now[before.len()..], std::slice::from_ref(line), "{} {args:?}: {data}", self.kind);
        data
    }

    /// The independent reader's view of every node.
    pub fn oracle(&self) -> Vec<Value> {
        let tree = self.desk.walk(self.fixture.pid, &[]);
        tree["nodes"].as_array().expect("nodes").clone()
    }

    /// Every button with this name as the independent reader sees it: its address, and what the row around it says.
    pub fn oracle_rows(&self, button: &str) -> Vec<(String, String)> {
        let tree = self.desk.walk(self.fixture.pid, &[]);
        let bus = tree["application"]["bus"].as_str().expect("a bus name").to_owned();
        let all = tree["nodes"].as_array().expect("nodes");
        let buttons = all.iter().filter(|n| n["role"] == PUSH_BUTTON && n["name"] == button);
        buttons
            .map(|n| {
                let mut row = n;
                let text = (0..4).find_map(|_| {
                    row = &all[row["parent"].as_u64()? as usize];
                    let text = self.row_text(&bus, all, row, button);
                    text.chars().any(char::is_alphanumeric).then_some(text)
                });
                (n["path"].as_str().expect("a path").to_owned(), text.unwrap_or_default())
            })
            .collect()
    }

    /// All that a container says but the button's name. Firefox keeps an item's text in the item itself.
    fn row_text(&self, bus: &str, all: &[Value], row: &Value, button: &str) -> String {
        let depth = row["depth"].as_u64();
        let first = row["at"].as_u64().expect("a position") as usize;
        let inside = all[first + 1..].iter().take_while(|n| n["depth"].as_u64() > depth);
        let mut words: Vec<String> =
            inside.filter_map(|n| n["name"].as_str()).filter(|t| *t != button).map(str::to_owned).collect();
        if words.iter().all(|w| !w.chars().any(char::is_alphanumeric)) {
            let own = self.oracle_node(bus, row["path"].as_str().expect("a path"));
            words.extend(own["text"].as_str().map(|t| t.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()));
        }
        words.dedup();
        // Lists put a marker before the text.
        words.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    }

    /// One object as the independent reader sees it.
    pub fn oracle_node(&self, bus: &str, path: &str) -> Value {
        let out = self.desk.oracle("node.py", &["--bus", bus, "--path", path]).output().expect("the oracle runs");
        serde_json::from_slice(&out.stdout).expect("the oracle prints JSON")
    }

    /// Every file that the product has written for this test.
    pub fn state_files(&self) -> Vec<PathBuf> {
        let mut out = Vec::new();
        let mut open = vec![self.desk.dir.path().join("state")];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() { open.push(path) } else { out.push(path) }
            }
        }
        out
    }
}

/// Ref of the first node with this role and name that follows a node that says this text.
pub fn beside(snapshot: &Value, text: &str, role: &str, name: &str) -> Option<String> {
    let all = nodes(&snapshot["tree"]);
    let says =
        |n: &&Value| ["name", "value", "description"].iter().any(|k| n[*k].as_str().is_some_and(|t| has_word(t, text)));
    let at = all.iter().position(says)?;
    let of = |n: &&&Value| n["role"] == role && n["name"] == name;
    all[at..].iter().find(of).and_then(|n| n["ref_id"].as_str()).map(str::to_owned)
}

/// Whether the text says this word or phrase, not only a longer one that contains it.
fn has_word(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| {
        let alone = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        alone(text[..at].chars().next_back()) && alone(text[at + wanted.len()..].chars().next())
    })
}
