//! The program as scripts and agents meet it, on a living desktop: pipes, exit codes, bad input, many at once, killed at
//! any moment.

use agent_desktop_e2e::{Desk, Provider, nodes, refs_named};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing but a hang takes so long.
const HANG: Duration = Duration::from_secs(60);

fn product(desk: &Desk) -> Command {
    let mut command = desk.command(binary());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn binary() -> PathBuf {
    agent_desktop_e2e::binary("agent-desktop")
}

fn ok_of(desk: &Desk, app: &str) -> String {
    let data = desk.ok(&["snapshot", "--app", app, "--timeout-ms", "20000"]);
    refs_named(&data, "button", "OK").remove(0)
}

/// Every file below a directory with its content.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path.clone());
                all.insert(path, Vec::new());
            } else {
                all.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    all
}

fn state(desk: &Desk) -> PathBuf {
    desk.dir.path().join("state")
}

/// The reader of our output is gone before, or in the middle of, a long answer: no panic, no backtrace.
#[test]
fn panic_on_head() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "hundred-thousand");
    let mut child = product(&desk).args(["snapshot", "--app", "Many"]).spawn().expect("it starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut said).expect("UTF-8");
    let status = child.wait().expect("it ends");
    assert!(!said.contains("panicked") && !said.contains("backtrace"), "{said}");
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("could not be written") && said.lines().count() == 1, "{said}");
    // Ten bytes of a long answer.
    let script = format!("'{}' snapshot --app Many | head -c 10", binary().display());
    let out = desk.command("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).output().expect("sh runs");
    assert_eq!(out.stdout.len(), 10, "{out:?}");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!said.contains("panicked") && said.lines().count() <= 1, "{said}");
}

/// 0 done, 1 refused or failed, 2 not understood; the disposition tells "try again" from "maybe done".
#[test]
fn exit_code_unclear() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "late-actions");
    let data = desk.ok(&["snapshot", "--app", "Late actions", "--timeout-ms", "20000"]);
    let maybe = refs_named(&data, "button", "Nothing at all").remove(0);
    let reply = desk.cli_with(&["click", &maybe], &[("AGENT_DESKTOP_CHAIN_TIMEOUT_MS", "300")], None);
    assert_eq!((reply.code, reply.error()["disposition"]["retry"].clone()), (1, json!("unsafe")));
    let reply = desk.cli(&["click", "@s0000nothere:e1"]);
    assert_eq!((reply.code, reply.error()["disposition"]["retry"].clone()), (1, json!("safe")));
    let reply = desk.cli(&["clack"]);
    assert_eq!((reply.code, reply.envelope()["command"].clone()), (2, json!("unknown")));
    assert_eq!(provider.writes("no-effect-no-reply", "DoAction"), 1);
}

/// Wrong flags, refs, roles, states, numbers, texts: refused with what was expected, nothing delivered, nothing changed.
#[test]
fn bad_input_changes_nothing() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let ok = ok_of(&desk, "Simple");
    let data = desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]);
    let entry = refs_named(&data, "textfield", "Your name").remove(0);
    let before = files(&state(&desk));
    let long = "x".repeat(1024 * 1024 + 1);
    let typed = "x".repeat(10_001);
    let table: &[&[&str]] = &[
        &["clack"],
        &["click"],
        &["click", &ok, &ok],
        &["click", &ok, "--no-such-flag"],
        &["click", "e1"],
        &["click", "@e1"],
        &["click", "@s1:"],
        &["click", "@s1:e0"],
        &["click", "@s1:e-1"],
        &["click", "@s1:e99999999999999999999"],
        &["click", "@../../x:e1"],
        &["click", "@s1:e1\n"],
        &["click", "@s1:é1"],
        &["click", &ok, "--timeout-ms", "-1"],
        &["click", &ok, "--timeout-ms", "1.5"],
        &["click", &ok, "--timeout-ms", "999999999999"],
        &["click", &ok, "--timeout-ms", "soon"],
        &["click", &ok, "--session", "../escape"],
        &["click", &ok, "--session", ""],
        &["click", &ok, "--wait-timeout", "5"],
        &["type", &entry],
        &["type", &entry, "x", "--stdin"],
        &["type", &entry, &typed],
        &["set-value", &entry, &long[..120_000], "--timeout-ms", "x"],
        &["scroll", &ok, "--direction", "sideways"],
        &["scroll", &ok, "--amount", "-3"],
        &["snapshot", "--max-depth", "-1"],
        &["snapshot", "--max-depth", "256"],
        &["snapshot", "--surface", "cellar"],
        &["snapshot", "--root", "e1"],
        &["snapshot", "--root", &ok, "--surface", "menu"],
        &["snapshot", "--format", "yaml"],
        &["snapshot", "--app", ""],
        &["find", "--role", "knob"],
        &["find", "--role", "button", "--state", "shiny"],
        &["find", "--role", "button", "--state", "checked=maybe"],
        &["find", "--role", "button", "--first", "--last"],
        &["find", "--role", "button", "--nth", "-1"],
        &["get", &ok, "--property", "colour"],
        &["is", &ok, "--property", "pretty"],
        &["wait"],
        &["wait", "10", "--menu"],
        &["wait", "--element", "e1"],
        &["wait", "--element", &ok, "--predicate", "happy"],
        &["wait", "--text", ""],
        &["launch"],
        &["close-app"],
        &["list-apps", "surplus"],
        &["desktop", "sideways"],
    ];
    for args in table {
        let reply = desk.cli(args);
        let error = reply.error();
        assert_eq!(error["code"], "INVALID_ARGS", "{args:?}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{args:?}");
        assert!(error["message"].as_str().is_some_and(|m| !m.is_empty() && m.len() < 2_000), "{error}");
    }
    for bytes in [&b"\xff\xfe"[..], b"@s1:e1\xc0\x80", b"a\xed\xa0\x80"] {
        for position in 0..2 {
            let mut command = product(&desk);
            if position == 1 {
                command.args(["set-value", &entry]);
            }
            let out = command.arg(OsStr::from_bytes(bytes)).output().expect("it runs");
            let envelope: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
            assert_eq!(envelope["error"]["code"], "INVALID_ARGS", "{envelope}");
        }
    }
    assert_eq!(files(&state(&desk)), before, "the state root has changed");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.log().iter().filter(|l| l["kind"] == "write").count(), 0);
}

/// Neither bus nor display: what is missing, and the way out. No stack trace, no wait.
#[test]
fn no_desktop() {
    let dir = tempfile::tempdir().expect("a directory");
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")],
        &[("DISPLAY", ":4242")],
        &[("DISPLAY", ":4242"), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")],
    ];
    for env in cases {
        for args in [&["snapshot"][..], &["list-apps"], &["list-windows"], &["find", "--role", "button"]] {
            let mut command = Command::new(binary());
            command
                .env_clear()
                .env("AGENT_DESKTOP_HOME", dir.path().join("state"))
                .envs(env.iter().copied())
                .args(args);
            let begun = Instant::now();
            let out = command.stdin(Stdio::null()).output().expect("it runs");
            assert!(begun.elapsed() < HANG);
            let envelope: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"));
            let error = &envelope["error"];
            assert_eq!(error["code"], "PLATFORM_NOT_SUPPORTED", "{env:?} {args:?}: {envelope}");
            assert_eq!(error["details"]["kind"], "no_desktop", "{envelope}");
            assert_eq!(error["disposition"]["delivery"], "not_delivered", "{envelope}");
            assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("desktop run")), "{envelope}");
            assert_eq!(out.status.code(), Some(1));
        }
    }
}

/// What we start doesn't keep our output open: the reader of a pipe gets its end when we end.
#[test]
fn launch_holds_pipe() {
    let desk = Desk::new();
    let begun = Instant::now();
    let script = format!("'{}' launch mousepad | cat", binary().display());
    let out = desk.command("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).output().expect("sh runs");
    assert!(begun.elapsed() < HANG, "the pipe stayed open");
    let envelope: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    assert_eq!(envelope["ok"], true, "{envelope}");
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    // It is there at once, without a sleep between, and outlives us.
    let data = desk.ok(&["snapshot", "--app", "mousepad", "--timeout-ms", "30000"]);
    assert!(nodes(&data["tree"]).len() > 10, "{data}");
    desk.cli(&["close-app", "mousepad", "--force"]).envelope();
}

/// A state directory that is somebody else's, a link, or open to others' writes where ours must be: refused before
/// anything runs.
#[test]
fn foreign_tmp_dir() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let ok = ok_of(&desk, "Simple");
    let elsewhere = desk.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a directory");
    let link = desk.dir.path().join("link");
    std::os::unix::fs::symlink(&elsewhere, &link).expect("a link");
    let file = desk.dir.path().join("file");
    std::fs::write(&file, "").expect("a file");
    for home in [&link, &file] {
        let home = home.to_str().expect("UTF-8");
        for args in [&["snapshot", "--app", "Simple"][..], &["click", &ok]] {
            let reply = desk.cli_with(args, &[("AGENT_DESKTOP_HOME", home)], None);
            let error = reply.error();
            assert_eq!(error["code"], "PERM_DENIED", "{error}");
            assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
        }
    }
    for home in ["", "relative/path"] {
        let reply = desk.cli_with(&["snapshot", "--app", "Simple"], &[("AGENT_DESKTOP_HOME", home)], None);
        assert_eq!(reply.error()["code"], "INVALID_ARGS");
    }
    assert!(files(&elsewhere).is_empty());
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 0);
    // What we made ourselves is closed to others.
    for (path, _) in files(&state(&desk)) {
        let mode = path.symlink_metadata().expect("metadata").permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} {mode:o}", path.display());
    }
}

/// A state root that can't be written: snapshots are refused as such; what was saved still works.
#[test]
fn read_only_state_root() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "simple");
    let ok = ok_of(&desk, "Simple");
    // As root, modes stop nobody: a file in the place of the directory does.
    let home = desk.dir.path().join("blocked");
    std::fs::create_dir(&home).expect("a directory");
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    std::fs::write(home.join("snapshots"), "").expect("a file");
    let env = [("AGENT_DESKTOP_HOME", home.to_str().expect("UTF-8"))];
    let reply = desk.cli_with(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"], &env, None);
    let error = reply.error();
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    assert!(["PERM_DENIED", "INTERNAL"].contains(&error["code"].as_str().unwrap_or_default()), "{error}");
    assert_eq!(desk.cli_with(&["list-apps"], &env, None).code, 0, "what needs no state goes on");
    desk.ok(&["get", &ok]);
}

/// Killed at any moment of snapshots and drills: every snapshot that is there is whole, and the next commands work.
#[test]
fn killed_at_any_moment() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "simple");
    let data = desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]);
    let list = refs_named(&data, "button", "OK").remove(0);
    let whole = Instant::now();
    desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]);
    let span = whole.elapsed();
    for round in 0..40_u32 {
        let args: &[&str] = match round % 2 {
            0 => &["snapshot", "--app", "Simple"],
            _ => &["snapshot", "--root", &list],
        };
        let mut child = product(&desk).args(args).spawn().expect("it starts");
        // Spread over the whole of a run.
        std::thread::sleep(span * round / 40);
        let _ = child.kill();
        let out = child.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(text.is_empty() || text.ends_with('\n'), "half an answer: {text}");
        // Whatever was printed is saved.
        if let Ok(envelope) = serde_json::from_str::<Value>(&text)
            && let Some(id) = envelope["data"]["snapshot_id"].as_str()
        {
            desk.ok(&["get", &format!("@{id}:e1")]);
        }
    }
    let snapshots = state(&desk).join("snapshots");
    for entry in std::fs::read_dir(&snapshots).expect("the snapshots").flatten() {
        let map = entry.path().join("refmap.json");
        if let Ok(bytes) = std::fs::read(&map) {
            let map: Result<Value, _> = serde_json::from_slice(&bytes);
            assert!(map.is_ok(), "torn: {}", entry.path().display());
        }
    }
    desk.ok(&["get", &list, "--property", "title"]);
    let ok = ok_of(&desk, "Simple");
    desk.ok(&["click", &ok]);
}

/// Twenty processes on one store at once: each gets its own snapshot, and every printed ref works.
#[test]
fn twenty_processes_at_once() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let children: Vec<_> =
        (0..20).map(|_| desk.cli_spawn(&["snapshot", "--app", "Simple", "--timeout-ms", "60000"])).collect();
    let mut ids = BTreeSet::new();
    let mut refs = Vec::new();
    for child in children {
        let out = child.wait_with_output().expect("it ends");
        let envelope: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
        assert_eq!(envelope["ok"], true, "{envelope}");
        let data = &envelope["data"];
        assert!(ids.insert(data["snapshot_id"].as_str().expect("an id").to_owned()), "an id was given twice");
        refs.push(refs_named(data, "button", "OK").remove(0));
    }
    let children: Vec<_> = refs.iter().map(|r| desk.cli_spawn(&["click", r, "--timeout-ms", "60000"])).collect();
    for child in children {
        let out = child.wait_with_output().expect("it ends");
        let envelope: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
        assert_eq!(envelope["ok"], true, "{envelope}");
    }
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 20);
}

/// A drill keeps the snapshot's id, makes the replaced refs stale, keeps the others and its own root, and never gives
/// a number out twice.
#[test]
fn drill() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "only-row-left");
    let data = desk.ok(&["snapshot", "--app", "Rows", "--skeleton", "--max-depth", "1", "--timeout-ms", "20000"]);
    let id = data["snapshot_id"].as_str().expect("an id").to_owned();
    let list = nodes(&data["tree"]).into_iter().find(|n| n["name"] == "People").expect("the list")["ref_id"].clone();
    let list = list.as_str().unwrap_or_else(|| panic!("the cut list has no drill target: {data:#}")).to_owned();
    let mut seen = BTreeSet::new();
    let numbers = |data: &Value| -> BTreeSet<String> {
        nodes(&data["tree"]).iter().filter_map(|n| n["ref_id"].as_str().map(str::to_owned)).collect()
    };
    let mut previous: BTreeSet<String> = BTreeSet::new();
    for round in 0..3 {
        let drilled = desk.ok(&["snapshot", "--root", &list, "--timeout-ms", "20000"]);
        assert_eq!(drilled["snapshot_id"], id, "{drilled}");
        let mut fresh = numbers(&drilled);
        // The root keeps its number, whether it is printed with it or not.
        fresh.remove(&list);
        assert_eq!(refs_named(&drilled, "button", "Delete").len(), 2, "{drilled:#}");
        for new in &fresh {
            assert!(new.starts_with(&format!("@{id}:e")), "{new}");
            assert!(seen.insert(new.clone()), "round {round}: {new} was given out before");
        }
        for old in &previous {
            let error = desk.err(&["click", old]);
            assert_eq!(error["code"], "STALE_REF", "{error}");
            assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
        }
        desk.ok(&["get", &list, "--property", "title"]);
        previous = fresh;
    }
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.log().iter().filter(|l| l["kind"] == "write").count(), 0);
    let delete = previous.iter().find(|r| desk.ok(&["get", r, "--property", "title"])["value"] == "Delete");
    desk.ok(&["click", delete.expect("a button")]);
    assert_eq!(provider.log().iter().filter(|l| l["kind"] == "write").count(), 1);
}

/// A drill that can't be complete changes nothing: what it would have replaced stays valid.
#[test]
fn drill_is_all_or_nothing() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "dead-gtk3");
    let data = desk.ok(&["snapshot", "--app", "Dead gtk3", "--timeout-ms", "20000"]);
    let (doomed, ok) = (refs_named(&data, "button", "Doomed").remove(0), refs_named(&data, "button", "OK").remove(0));
    let before = files(&state(&desk));
    provider.control(json!({"cmd": "hang"}));
    let error = desk.err(&["snapshot", "--root", &doomed, "--timeout-ms", "500"]);
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    assert_eq!(files(&state(&desk)), before);
    provider.control(json!({"cmd": "resume"}));
    desk.ok(&["get", &doomed]);
    desk.ok(&["get", &ok]);
}

/// The secret comes by standard input: it is in no argument list, no answer, no log and no saved file.
#[test]
fn secret_in_argv() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let data = desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]);
    let entry = refs_named(&data, "textfield", "Your name").remove(0);
    let secret = "correct horse battery";
    let env = [("AGENT_DESKTOP_LOG", "trace"), ("RUST_LOG", "trace")];
    let reply = desk.cli_with(&["set-value", &entry, "--stdin", "--verbose"], &env, Some(secret));
    assert_eq!(reply.data()["disposition"]["delivery"], "delivered_verified");
    assert!(!reply.stderr.contains(secret), "{}", reply.stderr);
    assert_eq!(provider.control(json!({"cmd": "node", "node": "entry"}))["text"], secret);
    for (path, bytes) in files(&state(&desk)) {
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{}", path.display());
    }
    // While it waits for its input, its argument list has nothing to show.
    let mut child = product(&desk).stdin(Stdio::piped()).args(["type", &entry, "--stdin"]).spawn().expect("it starts");
    let line = std::fs::read(format!("/proc/{}/cmdline", child.id())).expect("its arguments");
    assert!(!String::from_utf8_lossy(&line).contains(secret));
    use std::io::Write as _;
    child.stdin.take().expect("its input").write_all(secret.as_bytes()).expect("taken");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
