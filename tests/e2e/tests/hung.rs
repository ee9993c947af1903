//! Applications that don't answer, and applications that don't want to go: nothing hangs, nothing is guessed.

use agent_desktop_e2e::{App, Desk, Fixture, Live, Provider, nodes, refs_named, wait_for};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// What a command may take beside its own time limit: far more than it needs, far less than a hang.
const SLACK: Duration = Duration::from_secs(15);

/// Stops a process and waits until the kernel says so.
fn stop(pid: u32, app: &App) {
    app.signal("STOP");
    wait_for("the process to stop", || life(pid).is_some_and(|s| s == 'T').then_some(()));
}

/// The state letter of a process.
fn life(pid: u32) -> Option<char> {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?.rsplit(") ").next()?.chars().next()
}

fn row<'a>(rows: &'a Value, pid: u32) -> &'a Value {
    let rows = rows.as_array().expect("rows");
    rows.iter().find(|r| r["pid"] == pid).unwrap_or_else(|| panic!("no row of {pid}: {rows:?}"))
}

/// Everything that may be asked of a stopped application, and of another one beside it.
fn a_stopped_application(desk: &Desk, app: &App, pid: u32, name: &str, reference: &str) {
    let other = Provider::start(desk, "simple");
    let neighbour = refs_named(&desk.ok(&["snapshot", "--app", "Simple"]), "button", "OK")[0].clone();
    stop(pid, app);

    let timed = |args: &[&str], limit_ms: u64| {
        let reply = desk.cli(args);
        let limit = Duration::from_millis(limit_ms) + SLACK;
        assert!(reply.took < limit, "{name}: {args:?} took {:?}", reply.took);
        reply
    };
    let apps = timed(&["list-apps"], 500).data();
    let silent = apps["unresponsive"].as_array().unwrap_or_else(|| panic!("{name}: {apps}"));
    assert!(silent.iter().any(|s| s["pid"] == pid && s["name"].is_string()), "{name}: {apps}");
    assert_eq!(silent.len(), 1, "{name}: only the silent one is named: {apps}");
    assert_eq!(row(&apps["apps"], pid)["responsive"], false, "{name}: {apps}");
    assert!(row(&apps["apps"], other.pid).get("responsive").is_none(), "{name}: {apps}");
    let windows = timed(&["list-windows"], 500).data();
    let window = row(&windows, pid);
    assert_eq!(window["responsive"], false, "{name}: {windows}");
    let window = window["id"].as_str().expect("a window id");

    for (args, limit) in [
        (&["snapshot", "--app", name, "--timeout-ms", "1500"][..], 1500),
        (&["snapshot", "--window-id", window, "--timeout-ms", "1500"], 1500),
        (&["snapshot", "--root", reference, "--timeout-ms", "1500"], 1500),
        (&["find", "--app", name, "--role", "button", "--timeout-ms", "1500"], 1500),
        (&["list-surfaces", "--app", name], 3000),
        (&["get", reference], 5000),
        (&["is", reference, "--property", "enabled"], 5000),
        (&["wait", "--element", reference, "--timeout", "1500"], 1500),
        // called_gone_but_hung: not gone, and not pressed.
        (&["click", reference, "--timeout-ms", "1500"], 1500),
        (&["click", reference, "--timeout-ms", "0"], 5000),
        (&["focus", reference, "--timeout-ms", "1500"], 1500),
        (&["scroll-to", reference, "--timeout-ms", "1500"], 1500),
    ] {
        let error = timed(args, limit).error();
        assert_eq!(error["code"], "APP_UNRESPONSIVE", "{name}: {args:?}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{name}: {args:?}: {error}");
    }
    // A list with a silent member proves no absence.
    let error = timed(&["snapshot", "--app", "nobody-at-all"], 3000).error();
    assert_eq!(error["code"], "APP_UNRESPONSIVE", "{name}: {error}");

    // one_hung_app_hangs_all: whoever answers is served as always.
    let begun = timed(&["snapshot", "--app", "Simple"], 3000).data();
    assert_eq!(begun["complete"], true, "{name}: {begun}");
    timed(&["find", "--app", "Simple", "--role", "button"], 3000).data();
    timed(&["click", &neighbour], 5000).data();
    assert_eq!(other.writes("ok", "DoAction"), 1, "{name}");
    app.signal("CONT");
}

fn named(desk: &Desk, pid: u32) -> Vec<String> {
    let walk = desk.walk(pid, &["--light"]);
    walk["nodes"].as_array().expect("nodes").iter().map(|n| n["name"].to_string()).collect()
}

fn a_stopped_real_application(program: &str) {
    let desk = Desk::new();
    let app = desk.launch(&[program], 20);
    let data = desk.ok(&["snapshot", "--app", program, "--max-depth", "50", "--timeout-ms", "30000"]);
    let all = nodes(&data["tree"]);
    let key = all.iter().find(|n| n["role"] == "button" && n["name"] == "7" && n["ref_id"].is_string());
    let key = key.unwrap_or_else(|| panic!("no key 7: {data}"))["ref_id"].as_str().expect("a ref").to_owned();
    let before = named(&desk, app.pid());
    a_stopped_application(&desk, &app, app.pid(), program, &key);
    // It goes on where it was: nothing that was called not delivered arrives now.
    assert_eq!(named(&desk, app.pid()), before, "{program}");
    let data = wait_for("the application to answer again", || {
        let reply = desk.cli(&["get", &key, "--property", "title"]);
        (reply.code == 0).then(|| reply.data())
    });
    assert_eq!(data["value"], "7");
    desk.ok(&["click", &key]);
}

#[test]
fn one_hung_app_hangs_all_gnome_calculator() {
    a_stopped_real_application("gnome-calculator");
}

#[test]
fn one_hung_app_hangs_all_kcalc() {
    a_stopped_real_application("kcalc");
}

fn called_gone_but_hung(kind: &'static str) {
    let desk = Desk::new();
    let live = Live::start(&desk, kind, "controls");
    let save = live.only("button", "Save");
    let before = live.landed();
    a_stopped_application(&desk, &live.fixture.app, live.fixture.pid, &live.app, &save);
    assert_eq!(live.landed(), before, "{kind}: what was called not delivered arrived");
    let mut pressed = json!(null);
    wait_for("the application to answer again", || {
        let reply = desk.cli(&["is", &save, "--property", "enabled"]);
        pressed = reply.envelope();
        (reply.code == 0).then_some(())
    });
    live.lands(&["click", &save], &json!({"event": "clicked", "id": "save"}));
}

#[test]
fn called_gone_but_hung_gtk3() {
    called_gone_but_hung("gtk3");
}

#[test]
fn called_gone_but_hung_qt5() {
    called_gone_but_hung("qt5");
}

fn modal_dialog_blocks(kind: &'static str) {
    let desk = Desk::new();
    let live = Live::start(&desk, kind, "dialogs");
    let next = live.only("button", "Next");
    live.fixture.control("show_dialog A");
    let surfaces = wait_for("the dialog among the surfaces", || {
        let found = desk.ok(&["list-surfaces", "--app", &live.app]);
        found.to_string().contains("Dialog A").then_some(found)
    });
    assert!(!surfaces.to_string().contains("null"), "{kind}: {surfaces}");
    // Every window of the application is read as ever: the dialog, and the one that it blocks.
    let dialog = live.snapshot_of("Dialog A");
    assert_eq!(dialog["complete"], true, "{kind}: {dialog}");
    let behind = live.snapshot_of("Fixture dialogs");
    assert_eq!(behind["complete"], true, "{kind}: {behind}");
    assert_eq!(refs_named(&behind, "button", "Next").len(), 1, "{kind}: {behind}");
    assert_eq!(desk.ok(&["get", &next, "--property", "title"])["value"], "Next");
    let ok = refs_named(&dialog, "button", "OK");
    assert_eq!(ok.len(), 1, "{kind}: {dialog}");
    live.lands(&["click", &ok[0]], &json!({"event": "clicked", "id": "dialog_a_ok"}));
}

#[test]
fn modal_dialog_blocks_gtk3() {
    modal_dialog_blocks("gtk3");
}

#[test]
fn modal_dialog_blocks_qt5() {
    modal_dialog_blocks("qt5");
}

fn first_read_too_early(program: &str, role: &str, name: &str) {
    let desk = Desk::new();
    let launched = desk.ok(&["launch", program]);
    let data = desk.ok(&["snapshot", "--app", program, "--max-depth", "50", "--timeout-ms", "20000"]);
    assert_eq!(data["complete"], true, "{program}: {data}");
    assert_eq!(refs_named(&data, role, name).len(), 1, "{program}: {data}");
    assert_eq!(data["window"]["id"], launched["window"]["id"], "{program}: {launched}");
}

#[test]
fn first_read_too_early_gnome_calculator() {
    first_read_too_early("gnome-calculator", "button", "7");
}

#[test]
fn first_read_too_early_kcalc() {
    first_read_too_early("kcalc", "button", "7");
}

#[test]
fn first_read_too_early_late_window() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "first-read-too-early");
    let data = desk.ok(&["snapshot", "--app", "Early"]);
    assert_eq!(refs_named(&data, "button", "OK").len(), 1, "{data}");
}

fn close_app_meets_a_question(kind: &str) {
    let desk = Desk::new();
    let fixture = Fixture::start(&desk, kind, "quit-guard", &[]);
    let app = format!("fixture-{kind}");
    wait_for("the window", || (desk.cli(&["snapshot", "--app", &app]).code == 0).then_some(()));
    let reply = desk.cli(&["close-app", &app]);
    assert!(reply.took < Duration::from_secs(10) + SLACK, "{kind}: {:?}", reply.took);
    let data = reply.data();
    assert_eq!(data["observed"]["closed"], false, "{kind}: {data}");
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{kind}: {data}");
    assert!(data["surfaces"].to_string().contains("Save changes?"), "{kind}: {data}");
    assert_eq!(fixture.received("close_request").len(), 1, "{kind}: asked once");
    // The question is answered by a ref of its own.
    let windows = desk.ok(&["list-surfaces", "--app", &app]);
    assert!(windows.to_string().contains("Save changes?"), "{kind}: {windows}");
    let log = fixture.log_path().to_owned();
    let forced = desk.ok(&["close-app", &app, "--force"]);
    assert_eq!(forced["observed"]["closed"], true, "{kind}: {forced}");
    assert_eq!(forced["disposition"]["delivery"], "delivered_verified", "{kind}: {forced}");
    assert!(matches!(life(fixture.pid), None | Some('Z')), "{kind}: it lives");
    let text = std::fs::read_to_string(log).expect("the log");
    assert!(!text.contains("guard_"), "{kind}: no answer was given for the user: {text}");
}

#[test]
fn close_app_meets_a_question_gtk3() {
    close_app_meets_a_question("gtk3");
}

#[test]
fn close_app_meets_a_question_qt5() {
    close_app_meets_a_question("qt5");
}

#[test]
fn close_app_forces_a_stopped_application() {
    let desk = Desk::new();
    let fixture = Fixture::start(&desk, "gtk3", "controls", &[]);
    let pid = fixture.pid;
    let name = wait_for("its row", || {
        let apps = desk.ok(&["list-apps"]);
        apps["apps"].as_array()?.iter().find(|a| a["pid"] == pid)?["name"].as_str().map(str::to_owned)
    });
    assert_eq!(name, "fixture-gtk3");
    stop(pid, &fixture.app);
    let apps = desk.ok(&["list-apps"]);
    let name = row(&apps["unresponsive"], pid)["name"].as_str().expect("a name").to_owned();
    // The name in the list is the one that is taken.
    let asked = desk.cli(&["close-app", &name]);
    assert!(asked.took < Duration::from_secs(10) + SLACK, "{:?}", asked.took);
    let data = asked.data();
    assert_eq!(data["observed"]["closed"], false, "{data}");
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    let forced = desk.ok(&["close-app", &name, "--force"]);
    assert_eq!(forced["observed"]["closed"], true, "{forced}");
    assert!(matches!(life(pid), None | Some('Z')));
}

/// A window that runs our program: closing it would end whoever asked.
const ANCESTOR: &str = r#"
import subprocess, sys, threading, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
product, out = sys.argv[1:3]
window = Gtk.Window(title="Ancestor")
window.add(Gtk.Button(label="Inside"))
window.show_all()
def ask():
    for more in ([], ["--force"]):
        answer = subprocess.run([product, "close-app", "ancestor.py"] + more, capture_output=True, text=True).stdout
        open(out, "a").write(answer)
    open(out + ".done", "w").close()
threading.Timer(1.0, ask).start()
Gtk.main()
"#;

#[test]
fn close_app_spares_whoever_asks() {
    let desk = Desk::new();
    let script = desk.dir.path().join("ancestor.py");
    std::fs::write(&script, ANCESTOR).expect("the script");
    let out = desk.dir.path().join("answers");
    let product = agent_desktop_e2e::binary("agent-desktop");
    let text = |p: &Path| p.to_str().expect("UTF-8").to_owned();
    let app = desk.spawn("/usr/bin/python3", &[&text(&script), &text(&product), &text(&out)]);
    wait_for("both answers", || out.with_extension("done").exists().then_some(()));
    let answers = std::fs::read_to_string(&out).expect("the answers");
    assert_eq!(answers.lines().count(), 2, "{answers}");
    for line in answers.lines() {
        let answer: Value = serde_json::from_str(line).expect("an envelope");
        assert_eq!(answer["error"]["details"]["kind"], "protected_process", "{answer}");
        assert_eq!(answer["error"]["disposition"]["delivery"], "not_delivered", "{answer}");
    }
    assert!(life(app.pid()).is_some_and(|s| s != 'Z'), "it lives");
}
