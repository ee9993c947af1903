//! Drills (`snapshot --root`), the store under many processes and sudden deaths, and private desktops.

use agent_desktop_e2e::{Desk, Provider, binary, nodes, refs_named, wait_for};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn button(id: &str, name: &str) -> Value {
    json!({"id": id, "role": "push button", "name": name, "also": ["focusable"], "actions": ["click"],
        "extents": [10, 10, 50, 20]})
}

/// A container that earns a ref, with two buttons in it.
fn add_box(provider: &Provider, id: &str) {
    let inside = [button(&format!("{id}-a"), &format!("{id} A")), button(&format!("{id}-b"), &format!("{id} B"))];
    provider.control(json!({"cmd": "add", "parent": "window", "node": {"id": id, "role": "panel", "name": id,
        "actions": ["click"], "extents": [10, 10, 90, 90], "children": inside}}));
}

fn one(snapshot: &Value, name: &str) -> String {
    let all: Vec<&Value> = nodes(&snapshot["tree"]).into_iter().filter(|n| n["name"] == name).collect();
    assert_eq!(all.len(), 1, "{name}: {snapshot}");
    all[0]["ref_id"].as_str().unwrap_or_else(|| panic!("{name} has no ref: {snapshot}")).to_owned()
}

fn number(reference: &str) -> u32 {
    reference.rsplit_once(":e").and_then(|(_, n)| n.parse().ok()).expect("a ref with a number")
}

/// Every ref below the drilled root.
fn below(drill: &Value) -> Vec<String> {
    let all = nodes(&drill["tree"]);
    all[1..].iter().filter_map(|n| n["ref_id"].as_str()).map(str::to_owned).collect()
}

fn replaced(desk: &Desk, reference: &str) {
    for args in [&["click", reference][..], &["get", reference, "--property", "title"]] {
        let error = desk.err(args);
        assert_eq!(error["code"], "STALE_REF", "{args:?}: {error}");
        assert_eq!(error["details"]["kind"], "ref_not_in_snapshot", "{args:?}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{args:?}: {error}");
    }
}

#[test]
fn a_drill_keeps_the_snapshot_and_replaces_what_is_below() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    add_box(&provider, "box");
    let first = desk.ok(&["snapshot", "--app", "Simple"]);
    let (root, a, ok) = (one(&first, "box"), one(&first, "box A"), one(&first, "OK"));
    let mut highest =
        nodes(&first["tree"]).iter().filter_map(|n| n["ref_id"].as_str()).map(number).max().expect("refs");
    let mut old = vec![a, one(&first, "box B")];
    for round in 1..=3 {
        provider.control(
            json!({"cmd": "add", "parent": "box", "node": button(&format!("n{round}"), &format!("New {round}"))}),
        );
        let drill = desk.ok(&["snapshot", "--root", &root]);
        assert_eq!(drill["snapshot_id"], first["snapshot_id"], "{drill}");
        assert_eq!(drill["tree"]["ref_id"], root, "the root keeps its ref: {drill}");
        let fresh = below(&drill);
        assert_eq!(fresh.len(), 2 + round, "{drill}");
        assert!(fresh.iter().all(|r| number(r) > highest), "numbers are never used again: {drill}");
        highest = fresh.iter().map(|r| number(r)).max().expect("refs");
        old.iter().for_each(|r| replaced(&desk, r));
        // What stands outside, and the root itself, answer as before.
        for (reference, name) in
            [(&ok, "OK"), (&root, "box"), (&one(&drill, &format!("New {round}")), &format!("New {round}"))]
        {
            assert_eq!(desk.ok(&["get", reference, "--property", "title"])["value"], name);
        }
        old = fresh;
    }
    desk.ok(&["click", &ok]);
    desk.ok(&["click", &old[0]]);
    desk.ok(&["click", &root]);
    provider.control(json!({"cmd": "fence"}));
    for id in ["ok", "box-a", "box"] {
        assert_eq!(provider.writes(id, "DoAction"), 1, "{id}: {:?}", provider.log());
    }
    assert_eq!(provider.log().len(), 3, "nothing else arrived: {:?}", provider.log());
}

/// A drill that can't read everything changes no ref that was there.
fn all_or_nothing(scenario: &str, app: &str, late: &Value, args: &[&str]) -> (Desk, Provider, String) {
    let desk = Desk::new();
    let provider = Provider::start(&desk, scenario);
    // The fault goes by the id: the node is away while the window is read for the first time.
    provider.control(json!({"cmd": "remove", "node": late["id"]}));
    add_box(&provider, "box");
    let first = desk.ok(&["snapshot", "--app", app]);
    let (root, a) = (one(&first, "box"), one(&first, "box A"));
    provider.control(json!({"cmd": "add", "parent": "box", "node": late}));
    let map =
        desk.dir.path().join("state/snapshots").join(first["snapshot_id"].as_str().expect("an id")).join("refmap.json");
    let kept = std::fs::read(&map).expect("the ref map");
    let args: Vec<&str> = ["snapshot", "--root", &root].iter().chain(args).copied().collect();
    let reply = desk.cli(&args);
    let error = reply.error();
    assert!(["TIMEOUT", "APP_UNRESPONSIVE"].contains(&error["code"].as_str().unwrap_or("")), "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    assert!(reply.took < Duration::from_secs(20), "{:?}", reply.took);
    assert_eq!(std::fs::read(&map).expect("the ref map"), kept, "the drill that failed changed the refs");
    assert_eq!(desk.ok(&["get", &a, "--property", "title"])["value"], "box A");
    desk.ok(&["click", &a]);
    assert_eq!(provider.writes("box-a", "DoAction"), 1);
    (desk, provider, root)
}

#[test]
fn a_drill_into_silence_changes_nothing() {
    let mute = json!({"id": "mute", "role": "panel", "name": "Mute", "children": [button("inside", "Inside")]});
    all_or_nothing("silent-node", "Silent node", &mute, &["--timeout-ms", "1500"]);
}

#[test]
fn a_drill_that_is_too_slow_changes_nothing() {
    let slow = button("slow", "Slow");
    let (desk, _provider, root) = all_or_nothing("slow-node", "Slow node", &slow, &["--timeout-ms", "250"]);
    // With time enough the same drill succeeds.
    let drill = desk.ok(&["snapshot", "--root", &root, "--timeout-ms", "30000"]);
    assert_eq!(refs_named(&drill, "button", "Slow").len(), 1, "{drill}");
}

#[test]
fn twenty_at_once_lose_nothing() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let ids: Vec<String> = (0..10).map(|i| format!("box{i}")).collect();
    ids.iter().for_each(|id| add_box(&provider, id));
    let first = desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "60000"]);
    let roots: Vec<String> = ids.iter().map(|id| one(&first, id)).collect();
    let mut running = Vec::new();
    for root in &roots {
        running.push(desk.cli_spawn(&["snapshot", "--root", root, "--timeout-ms", "60000"]));
        running.push(desk.cli_spawn(&["snapshot", "--app", "Simple", "--timeout-ms", "60000"]));
    }
    let answers: Vec<Value> = running
        .into_iter()
        .map(|child| {
            let out = child.wait_with_output().expect("it ends");
            let answer: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
            assert_eq!(answer["ok"], true, "{answer}");
            answer["data"].clone()
        })
        .collect();
    let mut snapshots: Vec<&str> =
        answers.iter().skip(1).step_by(2).map(|a| a["snapshot_id"].as_str().expect("an id")).collect();
    snapshots.sort_unstable();
    snapshots.dedup();
    assert_eq!(snapshots.len(), 10, "each snapshot has an id of its own");
    let mut numbers = Vec::new();
    for (id, drill) in ids.iter().zip(answers.iter().step_by(2)) {
        assert_eq!(drill["snapshot_id"], first["snapshot_id"]);
        for (reference, letter) in below(drill).iter().zip(["A", "B"]) {
            numbers.push(number(reference));
            assert_eq!(desk.ok(&["get", reference, "--property", "title"])["value"], format!("{id} {letter}"), "lost");
        }
    }
    let many = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((many, numbers.len()), (20, 20), "no number was given twice");
    for snapshot in answers.iter().skip(1).step_by(2) {
        assert_eq!(desk.ok(&["get", &one(snapshot, "box9 B"), "--property", "title"])["value"], "box9 B");
    }
}

#[test]
fn killed_at_any_moment() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    add_box(&provider, "box");
    let first = desk.ok(&["snapshot", "--app", "Simple"]);
    let (root, ok) = (one(&first, "box"), one(&first, "OK"));
    // The shortest of several: one that was held up would put most kills after the end.
    let run = || {
        let begun = Instant::now();
        desk.ok(&["snapshot", "--root", &root]);
        begun.elapsed()
    };
    let whole = (0..8).map(|_| run()).min().expect("runs");
    let (mut killed, mut ended) = (0, 0);
    for round in 0..50_u32 {
        let args: &[&str] = match round % 2 {
            0 => &["snapshot", "--root", &root],
            _ => &["snapshot", "--app", "Simple"],
        };
        let mut child = desk.cli_spawn(args);
        // From the first instant to after the end of a run as it was measured.
        std::thread::sleep(whole * round / 40);
        let _ = child.kill();
        match child.wait().expect("it ends").code() {
            None => killed += 1,
            Some(_) => ended += 1,
        }
    }
    eprintln!("{killed} were killed, {ended} had ended");
    assert!(killed >= 10, "{killed} of 50 were killed in the middle");
    // The state is whole: old refs answer, drills and snapshots work, nothing is locked, nothing was pressed.
    for (reference, name) in [(&ok, "OK"), (&root, "box")] {
        assert_eq!(desk.ok(&["get", reference, "--property", "title"])["value"], name);
    }
    let drill = desk.ok(&["snapshot", "--root", &root]);
    assert_eq!(desk.ok(&["get", &one(&drill, "box A"), "--property", "title"])["value"], "box A");
    desk.ok(&["status"]);
    let snapshots = desk.dir.path().join("state/snapshots");
    for entry in std::fs::read_dir(&snapshots).expect("the snapshots").flatten() {
        let file = entry.path().join("refmap.json");
        if let Ok(text) = std::fs::read(&file) {
            let map: Value = serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            assert_eq!(map["snapshot_id"], entry.file_name().to_str().expect("UTF-8"));
        }
    }
    provider.control(json!({"cmd": "fence"}));
    assert!(provider.log().is_empty(), "{:?}", provider.log());
}

/// A ref map that another user or a link put there is none.
#[test]
fn refs_of_another_user() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    for how in ["owner", "link"] {
        let first = desk.ok(&["snapshot", "--app", "Simple"]);
        let ok = one(&first, "OK");
        let dir = desk.dir.path().join("state/snapshots").join(first["snapshot_id"].as_str().expect("an id"));
        let file = dir.join("refmap.json");
        // Giving a file away takes rights; where the test has none, a link to the same bytes is as foreign.
        if how == "link" || std::os::unix::fs::chown(&file, Some(65_534), None).is_err() {
            let other = desk.dir.path().join("other");
            std::fs::rename(&file, &other).expect("the file moves");
            std::os::unix::fs::symlink(&other, &file).expect("a link");
        }
        let error = desk.err(&["click", &ok]);
        assert_eq!(error["code"], "SNAPSHOT_NOT_FOUND", "{how}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{how}: {error}");
    }
    provider.control(json!({"cmd": "fence"}));
    assert!(provider.log().is_empty(), "{:?}", provider.log());
}

/// Our program without any desktop in its environment.
struct Bare {
    dir: tempfile::TempDir,
    started: Vec<String>,
}

impl Bare {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a directory"), started: Vec::new() }
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(binary("agent-desktop"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.dir.path()).env("AGENT_DESKTOP_HOME", self.state());
        command.args(args).stdin(Stdio::null()).output().expect("the product runs")
    }

    fn answer(&self, args: &[&str]) -> Value {
        let out = self.run(args);
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {out:?}"))
    }

    fn ok(&self, args: &[&str]) -> Value {
        let answer = self.answer(args);
        assert_eq!(answer["ok"], true, "{args:?}: {answer}");
        answer["data"].clone()
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        for id in &self.started {
            let _ = self.run(&["desktop", "stop", id]);
        }
    }
}

fn listed(bare: &Bare, id: &str) -> bool {
    bare.ok(&["desktop", "list"]).to_string().contains(id)
}

#[test]
fn private_desktop() {
    let mut bare = Bare::new();
    let record = bare.ok(&["desktop", "start"]);
    let id = record["id"].as_str().unwrap_or_else(|| panic!("no id: {record}")).to_owned();
    bare.started.push(id.clone());
    assert!(listed(&bare, &id));
    let launched = bare.ok(&["--desktop", &id, "launch", "gnome-calculator"]);
    let pid = launched["pid"].as_u64().expect("a pid");
    let snapshot = bare.ok(&["--desktop", &id, "snapshot", "--app", "gnome-calculator", "--max-depth", "50"]);
    let seven = refs_named(&snapshot, "button", "7");
    let seven = seven.first().unwrap_or_else(|| panic!("no button 7: {snapshot}"));
    let pressed = bare.ok(&["--desktop", &id, "click", seven]);
    assert_ne!(pressed["disposition"]["delivery"], "not_delivered");
    // Without the desktop there is none; on another desktop the ref is no ref.
    assert_eq!(bare.answer(&["list-apps"])["error"]["details"]["kind"], "no_desktop");
    let desk = Desk::new();
    let state = bare.state();
    let error =
        desk.cli_with(&["click", seven], &[("AGENT_DESKTOP_HOME", state.to_str().expect("UTF-8"))], None).error();
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    let apps = desk.ok(&["list-apps"]).to_string();
    assert!(!apps.contains("alculator"), "{apps}");
    // Everything in it ends with it.
    bare.ok(&["desktop", "stop", &id]);
    assert!(!listed(&bare, &id));
    wait_for("the calculator to end", || ended(pid).then_some(()));
    let gone = bare.answer(&["--desktop", &id, "list-apps"]);
    assert_eq!(gone["error"]["details"]["kind"], "no_such_desktop", "{gone}");
    assert_eq!(bare.answer(&["desktop", "stop", &id])["ok"], false);
}

fn ended(pid: u64) -> bool {
    std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).map_or(true, |s| s.contains(") Z "))
}

#[test]
fn private_desktop_run() {
    let bare = Bare::new();
    let product = binary("agent-desktop");
    let script = format!("{} list-windows && {} desktop list && exit 7", product.display(), product.display());
    let out = bare.run(&["desktop", "run", "--", "sh", "-c", &script]);
    assert_eq!(out.status.code(), Some(7), "{out:?}");
    let lines: Vec<Value> =
        String::from_utf8_lossy(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("an envelope")).collect();
    assert_eq!(lines.len(), 2, "{out:?}");
    assert!(lines.iter().all(|l| l["ok"] == true), "{lines:?}");
    let missing = bare.run(&["desktop", "run", "--", "/no/such/program"]);
    assert_eq!(missing.status.code(), Some(127), "{missing:?}");
    assert!(missing.stdout.is_empty());
}
