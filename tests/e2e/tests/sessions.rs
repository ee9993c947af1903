//! Sessions: namespaces that stay apart, many processes in one, processes killed at any moment, and a state that can't
//! be written.

use agent_desktop_e2e::{Desk, Provider, binary, delivery, refs_named};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

fn started(desk: &Desk, more: &[&str]) -> String {
    let args: Vec<&str> = ["session", "start"].into_iter().chain(more.iter().copied()).collect();
    desk.ok(&args)["session_id"].as_str().expect("an id").to_owned()
}

fn state(desk: &Desk) -> PathBuf {
    desk.dir.path().join("state")
}

fn ok_button(desk: &Desk, session: &[&str]) -> String {
    let args: Vec<&str> =
        session.iter().copied().chain(["snapshot", "--app", "Simple", "--timeout-ms", "20000"]).collect();
    refs_named(&desk.ok(&args), "button", "OK").remove(0)
}

/// Every file below a directory with its content, and every directory.
fn files(top: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let (mut all, mut open) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(at) = open.pop() {
        for entry in at.read_dir().expect("a directory of the state").flatten() {
            let path = entry.path();
            let content = path.is_file().then(|| std::fs::read(&path).expect("a file of the state"));
            if content.is_none() {
                open.push(path.clone());
            }
            all.insert(path, content);
        }
    }
    all
}

/// What was there before is there now, byte for byte, but for the files of locks, which are empty.
fn nothing_lost(before: &BTreeMap<PathBuf, Option<Vec<u8>>>, top: &Path) {
    let after = files(top);
    for (path, content) in before {
        assert_eq!(after.get(path), Some(content), "{}", path.display());
    }
    for (path, content) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        assert!(content.as_ref().is_none_or(Vec::is_empty), "left behind: {}", path.display());
    }
}

#[test]
fn namespaces_never_leak() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let (a, b) = (started(&desk, &["--name", "a"]), started(&desk, &[]));
    let of_a = ok_button(&desk, &["--session", &a]);
    let bare = ok_button(&desk, &["--session", "bare"]);
    let global = ok_button(&desk, &[]);
    let spaces = [Some(&*a), Some(&*b), Some("bare"), None];
    for (owner, reference) in [(Some(&*a), &of_a), (Some("bare"), &bare), (None, &global)] {
        for space in spaces {
            // The variable and the flag mean the same; an empty flag doesn't exist.
            let env: Vec<(&str, &str)> = space.iter().map(|id| ("AGENT_DESKTOP_SESSION", *id)).collect();
            let reply = desk.cli_with(&["get", reference, "--property", "role"], &env, None);
            if space == owner {
                assert_eq!(reply.data()["value"], "button", "{space:?}");
            } else {
                assert_eq!(reply.error()["code"], "SNAPSHOT_NOT_FOUND", "{reference} of {owner:?} seen in {space:?}");
            }
        }
    }
    let latest = |space: Option<&str>| {
        let args: Vec<&str> = space.iter().flat_map(|id| ["--session", *id]).chain(["status"]).collect();
        desk.ok(&args)
    };
    assert!(of_a.contains(latest(Some(&a))["snapshot_id"].as_str().expect("a snapshot")));
    assert_eq!(latest(Some(&b))["snapshot_id"], Value::Null);
    let (traced, untraced) = (latest(Some(&a)), latest(Some("bare")));
    assert_eq!((&traced["tracing"], &traced["artifacts"]), (&json!(true), &json!("events")));
    assert_eq!((&untraced["tracing"], untraced.get("artifacts")), (&json!(false), None), "a namespace and no more");
    // The flag beats the variable.
    let reply = desk.cli_with(&["--session", &a, "status"], &[("AGENT_DESKTOP_SESSION", &b)], None);
    assert_eq!(reply.data()["session_id"], json!(a));
    assert_eq!(desk.cli_with(&["status"], &[("AGENT_DESKTOP_SESSION", "")], None).error()["code"], "INVALID_ARGS");
    assert!(!state(&desk).join("trace").exists() && !state(&desk).join("sessions/bare/trace").exists());
    // An ended session goes on as a namespace; nothing is traced any more.
    desk.ok(&["session", "end", &a]);
    let count = |id: &str| desk.ok(&["--session", id, "trace", "show"])["total_events"].clone();
    let before = count(&a);
    desk.ok(&["--session", &a, "click", &of_a]);
    assert_eq!(count(&a), before);
    assert_eq!(latest(Some(&a))["tracing"], false);
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1);
}

/// A clean-up that comes while a command of an old session runs leaves it alone, and takes it afterwards.
#[test]
fn gc_never_takes_a_session_that_runs() {
    let desk = Desk::new();
    let id = started(&desk, &[]);
    let top = state(&desk).join("sessions").join(&id);
    let mut running = desk.cli_spawn(&["--session", &id, "wait", "4000"]);
    agent_desktop_e2e::wait_for("its first event", || {
        let shown = desk.ok(&["--session", &id, "trace", "show", "--event", "command.start"]);
        (shown["matched_events"] == 1).then_some(())
    });
    let aged = || {
        let mut manifest: Value =
            serde_json::from_slice(&std::fs::read(top.join("session.json")).expect("it")).expect("JSON");
        manifest["created_at"] = json!(1);
        std::fs::write(top.join("session.json"), manifest.to_string()).expect("written");
        for path in files(&top).into_keys().chain([top.clone()]) {
            let then = SystemTime::now() - Duration::from_secs(301);
            std::fs::File::open(path).expect("it").set_modified(then).expect("its time");
        }
    };
    aged();
    assert_eq!(desk.ok(&["session", "gc"])["removed"], json!([]));
    assert!(running.try_wait().expect("its state").is_none(), "it ended too early for this test");
    assert!(running.wait().expect("it ends").success());
    assert_eq!(desk.ok(&["session", "gc"])["removed"], json!([]), "its end was a moment ago");
    aged();
    assert_eq!(desk.ok(&["session", "gc"])["removed"], json!([id]));
    assert!(!top.exists());
}

/// Twenty processes at once, three times: every snapshot can be used, every line of the trace is whole.
#[test]
fn twenty_processes_share_a_session() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "simple");
    let id = started(&desk, &[]);
    ok_button(&desk, &[]);
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let args = ["--session", &id, "snapshot", "--app", "Simple", "--timeout-ms", "60000"];
        let all: Vec<Child> = (0..20).map(|_| desk.cli_spawn(&args)).collect();
        for child in all {
            let out = child.wait_with_output().expect("it ends");
            let answer: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
            assert_eq!(answer["ok"], true, "{answer}");
            assert_eq!(out.stderr, b"", "no warning");
            ids.insert(answer["data"]["snapshot_id"].as_str().expect("an id").to_owned());
        }
    }
    assert_eq!(ids.len(), 60);
    let kept = state(&desk).join("sessions").join(&id).join("snapshots");
    for snapshot in &ids {
        let map = std::fs::read(kept.join(snapshot).join("refmap.json")).expect("its refs");
        assert_eq!(serde_json::from_slice::<Value>(&map).expect("whole")["snapshot_id"], json!(snapshot));
    }
    let status = desk.ok(&["--session", &id, "status"]);
    assert!(ids.contains(status["snapshot_id"].as_str().expect("the latest")));
    let shown = desk.ok(&["--session", &id, "trace", "show", "--limit", "0"]);
    assert_eq!(shown.get("warnings"), None, "{}", shown["warnings"]);
    let of = |event: &str, command: &str| {
        let all = shown["events"].as_array().expect("events");
        all.iter().filter(|e| e["event"] == event && (command.is_empty() || e["command"] == command)).count()
    };
    assert_eq!((of("command.start", "snapshot"), of("command.end", "snapshot")), (60, 60));
    assert_eq!((of("snapshot.saved", ""), of("trace.meta", "")), (60, 61), "status as well");
    assert_eq!(shown["segments"], 61);
}

/// Everybody writes to one file: no line is lost, none is mixed with another.
#[test]
fn twenty_processes_share_a_trace_file() {
    let desk = Desk::new();
    let file = desk.dir.path().join("all.jsonl");
    let path = file.to_str().expect("UTF-8");
    let all: Vec<Child> = (0..20).map(|_| desk.cli_spawn(&["--trace", path, "list-apps"])).collect();
    for mut child in all {
        assert!(child.wait().expect("it ends").success());
    }
    let text = std::fs::read_to_string(&file).expect("the trace");
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("a whole line")).collect();
    assert_eq!(lines.len(), 60, "meta, start and end of each");
    let shown = desk.ok(&["--trace", path, "trace", "show", "--event", "command.end"]);
    assert_eq!((&shown["matched_events"], &shown["total_events"]), (&json!(20), &json!(60)));
}

/// 500 commands, each killed after a moment of its own: whatever they were doing, every file can be read afterwards.
#[test]
fn killed_at_any_moment_every_store_stays_readable() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "simple");
    let id = started(&desk, &["--screenshots"]);
    let button = ok_button(&desk, &["--session", &id]);
    let trace = desk.dir.path().join("one.jsonl");
    let path = trace.to_str().expect("UTF-8");
    let snapshot = ["--session", &id, "snapshot", "--app", "Simple"];
    let click = ["--session", &id, "click", &button, "--timeout-ms", "500"];
    let kinds: [&[&str]; 8] = [
        &snapshot,
        &click,
        &["--session", &id, "find", "--app", "Simple", "--role", "button"],
        &["--session", &id, "--trace", path, "snapshot", "--app", "Simple"],
        &["session", "start"],
        &["--session", &id, "trace", "export"],
        &["session", "gc"],
        &["--session", &id, "status"],
    ];
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let (mut killed, mut ended) = (0, 0);
    for turn in 0..500 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = desk.cli_spawn(kinds[turn % kinds.len()]);
        std::thread::sleep(Duration::from_micros(random % 60_000));
        if child.try_wait().expect("its state").is_some() {
            ended += 1;
        } else {
            child.kill().expect("SIGKILL");
            killed += 1;
        }
        child.wait().expect("it ends");
    }
    assert!(killed > 100 && ended > 20, "killed {killed}, ended {ended}: the moments are chosen badly");
    let sessions = state(&desk).join("sessions");
    for (path, content) in files(&state(&desk)) {
        let Some(content) = content else { continue };
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        if name == "session.json" || name == "refmap.json" {
            serde_json::from_slice::<Value>(&content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        } else if name.ends_with(".png") {
            assert!(content.ends_with(b"IEND\xaeB`\x82"), "{} is cut", path.display());
        } else if name.ends_with(".jsonl") {
            whole_but_for_the_end(&path, &content);
        }
    }
    whole_but_for_the_end(&trace, &std::fs::read(&trace).expect("the one trace"));
    // All of it goes on. A start that was killed may leave a directory that holds nothing.
    let listed = desk.ok(&["session", "list"]);
    assert!(listed["sessions"].as_array().expect("sessions").iter().all(|s| s["kind"] != "damaged"), "{listed}");
    let shown = desk.ok(&["--session", &id, "trace", "show", "--limit", "0"]);
    assert!(shown["total_events"].as_u64() > Some(200), "{}", shown["total_events"]);
    for warning in shown["warnings"].as_array().into_iter().flatten() {
        assert_eq!(warning["kind"], "torn_tail", "{warning}");
    }
    desk.ok(&["--session", &id, "click", &button]);
    desk.ok(&["--session", &id, "get", &ok_button(&desk, &["--session", &id])]);
    desk.ok(&["--session", &id, "trace", "export"]);
    assert!(sessions.join(&id).join(format!("trace-{id}.html")).exists());
}

/// Only what stands after the last line break may be no JSON.
fn whole_but_for_the_end(path: &Path, content: &[u8]) {
    let text = String::from_utf8_lossy(content);
    for line in text.split_inclusive('\n').filter(|l| l.ends_with('\n')) {
        serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{}: {e}: {line}", path.display()));
    }
}

/// Runs the product where no file may have a byte more: the write that needs room fails as on a full disk.
fn without_room(desk: &Desk, args: &[&str]) -> (Value, String) {
    let mut command = desk.command("/bin/sh");
    command.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]).arg(binary("agent-desktop")).args(args);
    answer(command)
}

/// Runs the product without the rights that let root write anywhere; for everybody else this takes nothing away.
fn without_rights(desk: &Desk, args: &[&str]) -> (Value, String) {
    let mut command = desk.command("setpriv");
    command.args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--"]);
    command.arg(binary("agent-desktop")).args(args);
    answer(command)
}

fn answer(mut command: Command) -> (Value, String) {
    let out = command.stdin(Stdio::null()).output().expect("it runs");
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    (serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}")), error)
}

#[test]
fn a_full_disk_loses_nothing() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let id = started(&desk, &[]);
    let button = ok_button(&desk, &["--session", &id]);
    let before = files(&state(&desk));
    let session = ["--session", &*id];
    let run = |args: &[&str]| without_room(&desk, &[&session, args].concat());
    for args in [&["snapshot", "--app", "Simple"][..], &["find", "--app", "Simple", "--role", "button"]] {
        let (answer, warning) = run(args);
        assert_eq!(answer["error"]["code"], "INTERNAL", "{answer}");
        assert_eq!(answer["error"]["details"]["kind"], "state_disk_full", "{answer}");
        assert_eq!(answer["error"]["disposition"]["retry"], "safe", "{answer}");
        assert!(warning.contains("no trace is written"), "{warning}");
    }
    let (start, _) = without_room(&desk, &["session", "start"]);
    assert_eq!(start["error"]["details"]["kind"], "state_disk_full", "{start}");
    let (end, _) = run(&["session", "end"]);
    assert_eq!(end["error"]["details"]["kind"], "state_disk_full", "{end}");
    let (strict, _) = run(&["--trace-strict", "click", &button]);
    assert_eq!(strict["error"]["details"]["kind"], "trace_write", "{strict}");
    assert_eq!(delivery(&strict["error"]), "not_delivered");
    let (export, _) = run(&["trace", "export"]);
    assert_eq!(export["error"]["details"]["kind"], "output_disk_full", "{export}");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 0, "refused before the action");
    let (click, warning) = run(&["click", &button]);
    assert_eq!(click["ok"], true, "without --trace-strict it goes on: {click}");
    assert!(warning.contains("no trace is written"), "{warning}");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1);
    remove_empty_session(&state(&desk), &id);
    nothing_lost(&before, &state(&desk));
    // A device that is always full says the same.
    let error = desk.err(&["--trace", "/dev/full", "--trace-strict", "list-apps"]);
    assert_eq!(error["details"]["kind"], "trace_write", "{error}");
    assert!(desk.cli(&["--trace", "/dev/full", "list-apps"]).data().is_object());
    // And with room again all goes on.
    desk.ok(&["--session", &id, "click", &button]);
    assert_eq!(desk.ok(&["--session", &id, "trace", "show"]).get("warnings"), None);
}

/// The directory of the session that could not be made: it holds a lock file and no manifest.
fn remove_empty_session(state: &Path, keep: &str) {
    for entry in state.join("sessions").read_dir().expect("sessions").flatten() {
        if entry.file_name() != keep && entry.path().is_dir() {
            assert!(!entry.path().join("session.json").exists());
            std::fs::remove_dir_all(entry.path()).expect("it goes");
        }
    }
}

#[test]
fn a_read_only_state_says_so_and_loses_nothing() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let (id, idle) = (started(&desk, &[]), started(&desk, &[]));
    let button = ok_button(&desk, &["--session", &id]);
    let manifest = state(&desk).join("sessions").join(&idle).join("session.json");
    let mut old: Value = serde_json::from_slice(&std::fs::read(&manifest).expect("it")).expect("JSON");
    old["created_at"] = json!(1);
    std::fs::write(&manifest, old.to_string()).expect("written");
    let then = SystemTime::now() - Duration::from_secs(400);
    let top = manifest.parent().expect("its directory");
    for path in files(top).into_keys().chain([top.to_owned()]) {
        std::fs::File::open(path).expect("it").set_modified(then).expect("its time");
    }
    let before = files(&state(&desk));
    let set = |dirs: u32, plain: u32| {
        let all = before.iter().map(|(path, content)| (path.clone(), content.is_some()));
        for (path, is_file) in all.chain([(state(&desk), false)]) {
            let mode = std::fs::Permissions::from_mode(if is_file { plain } else { dirs });
            std::fs::set_permissions(path, mode).expect("its mode");
        }
    };
    set(0o500, 0o400);
    let run = |args: &[&str]| without_rights(&desk, args);
    let refused = [
        run(&["session", "start"]),
        run(&["session", "end", &id]),
        run(&["session", "gc"]),
        run(&["--session", &id, "snapshot", "--app", "Simple"]),
    ];
    let strict = run(&["--session", &id, "--trace-strict", "click", &button]);
    let list = run(&["session", "list"]);
    let shown = run(&["--session", &id, "trace", "show"]);
    let click = run(&["--session", &id, "click", &button]);
    set(0o700, 0o600);
    for (answer, _) in refused {
        assert_eq!(answer["error"]["code"], "PERM_DENIED", "{answer}");
        assert_eq!(answer["error"]["details"]["kind"], "state_not_writable", "{answer}");
    }
    assert_eq!(strict.0["error"]["code"], "PERM_DENIED", "{}", strict.0);
    assert_eq!(delivery(&strict.0["error"]), "not_delivered");
    assert_eq!(
        (&list.0["ok"], &shown.0["ok"], &click.0["ok"]),
        (&json!(true), &json!(true), &json!(true)),
        "{list:?} {shown:?} {click:?}"
    );
    assert!(click.1.contains("no trace is written"), "{}", click.1);
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1);
    assert_eq!(files(&state(&desk)), before);
    assert_eq!(desk.ok(&["session", "gc"])["removed"], json!([idle]), "it could have been taken");
}
