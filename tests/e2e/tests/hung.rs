//! Real applications that were stopped: alive, silent, and nobody else's problem.

use agent_desktop_e2e::{App, Desk, Fixture, Reply, nodes};
use serde_json::Value;
use std::time::Duration;

/// What a machine under load may add to a time limit; a hang exceeds it.
const SLACK: Duration = Duration::from_secs(20);

#[track_caller]
fn silent(reply: &Reply, budget_ms: u64) {
    assert!(reply.took < Duration::from_millis(budget_ms) + SLACK, "took {:?}: {reply:?}", reply.took);
    let error = reply.error();
    assert_eq!(error["code"], "APP_UNRESPONSIVE", "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
}

/// The window of a process, by its id.
fn window_of(desk: &Desk, pid: u32) -> String {
    let windows = desk.ok(&["list-windows"]);
    let row = windows.as_array().expect("rows").iter().find(|w| w["pid"] == pid && w["accessible"] != false);
    row.unwrap_or_else(|| panic!("no window of {pid}: {windows}"))["id"].as_str().expect("an id").to_owned()
}

/// The first ref that takes a capability.
fn able(snapshot: &Value, capability: &str) -> String {
    let can = |n: &&Value| n["available_actions"].as_array().is_some_and(|a| a.iter().any(|c| c == capability));
    let node = nodes(&snapshot["tree"]).into_iter().find(|n| can(n) && n["ref_id"].is_string());
    node.unwrap_or_else(|| panic!("nothing can {capability}"))["ref_id"].as_str().expect("a ref").to_owned()
}

/// Everything that is asked of a stopped application is answered in time, as silence; nothing is called gone.
fn stopped(desk: &Desk, app: &App, window: &str, snapshot: &Value) {
    let button = able(snapshot, "Click");
    app.signal("STOP");
    let commands: &[(&[&str], u64)] = &[
        (&["snapshot", "--window-id", window], 3_000),
        (&["snapshot", "--window-id", window, "--timeout-ms", "2000"], 2_000),
        (&["find", "--window-id", window, "--role", "button", "--timeout-ms", "2000"], 2_000),
        (&["get", &button], 5_000),
        (&["is", &button], 5_000),
        (&["wait", "--element", &button, "--timeout", "1500"], 1_500),
        (&["snapshot", "--root", &button, "--timeout-ms", "1000"], 1_000),
        (&["click", &button, "--timeout-ms", "1500"], 1_500),
        (&["click", &button, "--timeout-ms", "0"], 1_000),
        (&["focus", &button, "--timeout-ms", "1000"], 1_000),
        (&["right-click", &button, "--timeout-ms", "1000"], 1_000),
    ];
    for (args, budget) in commands {
        silent(&desk.cli(args), *budget);
    }
    // So short a limit may end before anybody was asked; it is kept all the same.
    let reply = desk.cli(&["snapshot", "--window-id", window, "--timeout-ms", "100"]);
    assert!(reply.took < SLACK, "{:?}", reply.took);
    let error = reply.error();
    assert!(["APP_UNRESPONSIVE", "TIMEOUT"].contains(&error["code"].as_str().unwrap_or_default()), "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    lists_name_it(desk, app.pid());
}

fn lists_name_it(desk: &Desk, pid: u32) {
    let reply = desk.cli(&["list-apps"]);
    assert!(reply.took < Duration::from_secs(5) + SLACK, "{:?}", reply.took);
    let apps = reply.data();
    let named = |rows: &Value| rows.as_array().and_then(|rows| rows.iter().find(|r| r["pid"] == pid).cloned());
    assert!(named(&apps["unresponsive"]).is_some(), "{apps}");
    assert_eq!(named(&apps["apps"]).expect("its row")["responsive"], false, "{apps}");
    let reply = desk.cli(&["list-windows"]);
    assert!(reply.took < Duration::from_secs(5) + SLACK, "{:?}", reply.took);
    let windows = reply.data();
    assert_eq!(named(&windows).expect("its window")["responsive"], false, "{windows}");
}

/// The fixture writes down what it received: after it goes on, nothing of what was called "not delivered" is there.
#[test]
fn called_gone_but_hung() {
    let desk = Desk::new();
    let fixture = Fixture::start(&desk, "gtk3", "controls", &[]);
    let window = window_of(&desk, fixture.pid);
    let snapshot = desk.ok(&["snapshot", "--window-id", &window, "--timeout-ms", "20000"]);
    let before = fixture.log().len();
    stopped(&desk, &fixture.app, &window, &snapshot);
    let field = able(&snapshot, "SetValue");
    for args in [&["set-value", field.as_str(), "late"][..], &["type", &field, "late"], &["clear", &field]] {
        let args: Vec<&str> = args.iter().copied().chain(["--timeout-ms", "500"]).collect();
        silent(&desk.cli(&args), 1_000);
    }
    fixture.app.signal("CONT");
    let received: Vec<Value> = fixture.log().into_iter().skip(before).filter(|l| l["event"] != "fence").collect();
    assert!(received.is_empty(), "{received:?}");
    // It is the same element as before.
    let button = able(&snapshot, "Click");
    desk.ok(&["get", &button]);
}

/// One stopped application, two that go on: every list and every command for the others works, in time.
#[test]
fn one_hung_app_hangs_all() {
    let desk = Desk::new();
    let hung = desk.launch(&["/usr/bin/gnome-calculator"], 40);
    let other = desk.launch(&["/usr/bin/mousepad"], 40);
    let third = desk.launch(&["/usr/bin/kcalc"], 40);
    let (hung_window, window) = (window_of(&desk, hung.pid()), window_of(&desk, other.pid()));
    let snapshot = desk.ok(&["snapshot", "--window-id", &hung_window, "--timeout-ms", "20000"]);
    let before = desk.ok(&["snapshot", "--window-id", &window, "--timeout-ms", "20000"]);
    let text = able(&before, "SetValue");
    stopped(&desk, &hung, &hung_window, &snapshot);
    for args in [
        &["snapshot", "--window-id", window.as_str(), "--timeout-ms", "20000"][..],
        &["find", "--window-id", &window, "--role", "menuitem", "--timeout-ms", "20000"],
        &["get", &text],
        &["is", &text, "--property", "enabled"],
        &["wait", "--element", &text, "--timeout", "20000"],
        &["set-value", &text, "not held up"],
        &["snapshot", "--app", "mousepad", "--timeout-ms", "20000"],
        &["snapshot", "--app", "kcalc", "--timeout-ms", "20000"],
        &["status"],
    ] {
        let reply = desk.cli(args);
        assert!(reply.took < SLACK * 2, "{args:?} took {:?}", reply.took);
        reply.data();
    }
    assert_eq!(desk.ok(&["get", &text, "--property", "value"])["value"], "not held up");
    // A name that nobody answers to may be the silent one's.
    let error = desk.err(&["snapshot", "--app", "nobody-here", "--timeout-ms", "3000"]);
    assert_eq!(error["code"], "APP_UNRESPONSIVE", "{error}");
    // By its own name too, whatever it is called on the bus.
    silent(&desk.cli(&["snapshot", "--app", "gnome-calculator", "--timeout-ms", "2000"]), 2_000);
    third.signal("STOP");
    lists_name_it(&desk, third.pid());
    hung.signal("CONT");
    third.signal("CONT");
    // It goes on where it was.
    desk.ok(&["get", &able(&snapshot, "Click")]);
}

/// Qt: a stopped kcalc is silent, and its tree has as many elements afterwards.
#[test]
fn called_gone_but_hung_qt() {
    let desk = Desk::new();
    let app = desk.launch(&["/usr/bin/kcalc"], 40);
    let window = window_of(&desk, app.pid());
    let snapshot = desk.ok(&["snapshot", "--window-id", &window, "--timeout-ms", "20000"]);
    let truth = desk.walk(app.pid(), &["--light"])["count"].clone();
    stopped(&desk, &app, &window, &snapshot);
    app.signal("CONT");
    assert_eq!(desk.walk(app.pid(), &["--light"])["count"], truth);
    desk.ok(&["get", &able(&snapshot, "Click")]);
}

/// GTK 4: a stopped gnome-calculator is silent, and its elements are the same ones afterwards.
#[test]
fn called_gone_but_hung_gtk4() {
    let desk = Desk::new();
    let app = desk.launch(&["/usr/bin/gnome-calculator"], 40);
    let window = window_of(&desk, app.pid());
    let snapshot = desk.ok(&["snapshot", "--window-id", &window, "--timeout-ms", "20000"]);
    stopped(&desk, &app, &window, &snapshot);
    app.signal("CONT");
    desk.ok(&["get", &able(&snapshot, "Click")]);
}

/// A modal dialog of the target, open and in a loop of its handler: every read goes on, the dialog is read and
/// answered, each press counts once.
#[test]
fn modal_dialog_blocks() {
    for kind in ["gtk3", "qt5"] {
        let desk = Desk::new();
        let fixture = Fixture::start(&desk, kind, "dialogs", &[]);
        let window = window_of(&desk, fixture.pid);
        let find = |name: &str| {
            let args = ["find", "--window-id", &window, "--name", name, "--exact", "--first", "--timeout-ms", "20000"];
            let found = desk.ok(&args);
            found["match"]["ref_id"].as_str().unwrap_or_else(|| panic!("{kind}: no {name}: {found}")).to_owned()
        };
        let (open, nested) = (find("Open A"), find("Run nested"));
        let pressed = |args: &[&str]| {
            let data = desk.ok(args);
            assert_ne!(data["disposition"]["delivery"], "not_delivered", "{kind}: {data}");
        };
        pressed(&["click", &open]);
        for args in [
            &["snapshot", "--window-id", window.as_str(), "--timeout-ms", "20000"][..],
            &["list-windows"],
            &["list-apps"],
            &["get", &open],
        ] {
            desk.cli(args).data();
        }
        let windows = desk.ok(&["list-windows"]);
        let dialog = windows.as_array().expect("rows").iter().find(|w| w["title"] == "Dialog A");
        let dialog = dialog.unwrap_or_else(|| panic!("{kind}: no dialog: {windows}"))["id"].as_str().expect("an id");
        let args = ["find", "--window-id", dialog, "--name", "OK", "--first", "--timeout-ms", "20000"];
        let found = desk.ok(&args);
        pressed(&["click", found["match"]["ref_id"].as_str().unwrap_or_else(|| panic!("{kind}: {found}"))]);
        // The handler doesn't return before the dialog is closed: the reply may stay away, the answer doesn't.
        let reply = desk.cli(&["click", &nested]);
        assert!(reply.took < Duration::from_secs(10) + SLACK, "{kind}: {:?}", reply.took);
        assert_ne!(reply.data()["disposition"]["delivery"], "not_delivered", "{kind}");
        desk.cli(&["snapshot", "--window-id", &window, "--timeout-ms", "20000"]).data();
        for id in ["open_a", "dialog_a_ok", "nested"] {
            assert_eq!(fixture.received_by("clicked", id).len(), 1, "{kind}: {id}");
        }
    }
}
