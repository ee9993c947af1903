//! Applications that are just starting, and applications that don't want to go.

use agent_desktop_e2e::{App, Desk, Fixture, Provider, refs_named, wait_for};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

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

fn row(rows: &Value, pid: u32) -> &Value {
    let rows = rows.as_array().expect("rows");
    rows.iter().find(|r| r["pid"] == pid).unwrap_or_else(|| panic!("no row of {pid}: {rows:?}"))
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

/// Programs that can publish no tree are answered when their window stands, and nobody is sent round in a circle.
#[test]
fn what_can_publish_no_tree_is_not_waited_for() {
    for program in ["xterm", "mtpaint"] {
        let desk = Desk::new();
        let begun = Instant::now();
        let data = desk.ok(&["launch", program]);
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(8), "{program} took {took:?}");
        let reason = data["window"].to_string();
        assert!(reason.contains("its toolkit publishes none") && !reason.contains("agent-desktop launch"), "{data}");
        let pid = data["pid"].to_string();
        let seen = desk.command("xdotool").args(["search", "--onlyvisible", "--pid", &pid]).output().expect("xdotool");
        assert!(!seen.stdout.is_empty(), "{program} shows no window: {data}");
        desk.ok(&["close-app", program, "--force"]);
    }
}

/// The name of a desktop entry, as `launch` takes it, names what runs by it, whatever its program is called.
#[test]
fn a_desktop_entry_names_its_running_program() {
    let desk = Desk::new();
    let started = desk.ok(&["launch", "org.gnome.Calculator"]);
    assert_eq!(started["app"], "gnome-calculator", "{started}");
    let (id, pid) = (&started["window"]["id"], &started["pid"]);
    assert_eq!(&desk.ok(&["snapshot", "--app", "org.gnome.Calculator", "--skeleton"])["window"]["id"], id);
    assert_eq!(&desk.ok(&["list-windows", "--app", "org.gnome.Calculator"])[0]["id"], id);
    assert_eq!(&desk.ok(&["launch", "org.gnome.Calculator"])["pid"], pid);
    let closed = desk.ok(&["close-app", "org.gnome.Calculator"]);
    assert_eq!((&closed["target"]["pid"], &closed["observed"]["closed"]), (pid, &json!(true)), "{closed}");
    let error = desk.err(&["find", "--app", "org.gnome.Calculator", "--role", "button"]);
    assert_eq!(error["code"], "APP_NOT_FOUND", "{error}");
}

/// A path means that very file: another program of the same name is not it.
#[test]
fn launch_by_path_takes_no_other_program_for_it() {
    let desk = Desk::new();
    let running = desk.ok(&["launch", "galculator"]);
    let by_path = desk.ok(&["launch", "/usr/bin/galculator"]);
    assert_eq!((&by_path["pid"], &by_path["attached"]), (&running["pid"], &json!(true)), "{by_path}");
    let copy = desk.dir.path().join("galculator");
    std::fs::copy("/bin/sleep", &copy).expect("a copy");
    let path = copy.to_str().expect("UTF-8");
    let reply = desk.cli(&["launch", path, "--arg", "30", "--no-attach", "--timeout", "3000"]);
    let said = reply.envelope().to_string();
    assert!(!said.contains("already_running") && !said.contains(&running["pid"].to_string()), "{said}");
}
