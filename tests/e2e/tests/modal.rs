//! Real GTK 3 applications with a modal dialog that runs inside a handler (`gtk_dialog_run`): whoever opened it, the
//! dialog is read, filled in and answered. What was done shows in the application's own file and to an independent client.

use agent_desktop_e2e::{App, Desk, Fixture, nodes, refs_named, wait_for};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The window of this title, as listed.
fn window(desk: &Desk, title: &str) -> Option<Value> {
    let windows = desk.ok(&["list-windows"]);
    windows.as_array()?.iter().find(|w| w["title"].as_str().is_some_and(|t| t.contains(title))).cloned()
}

fn id_of(desk: &Desk, title: &str) -> String {
    let row = wait_for(title, || window(desk, title));
    row["id"].as_str().expect("an id").to_owned()
}

/// The only ref of this role and name in a window.
fn only(desk: &Desk, window: &str, role: &str, name: &str) -> String {
    let snapshot = desk.ok(&["snapshot", "--window-id", window, "--timeout-ms", "20000"]);
    let refs = refs_named(&snapshot, role, name);
    assert_eq!(refs.len(), 1, "{role} {name}: {snapshot:#}");
    refs[0].clone()
}

/// Another client presses, or only asks: whether the bus is silent.
fn other_client(desk: &Desk, app: &App, press: Option<&str>) -> Value {
    let pid = app.pid().to_string();
    let mut args = vec!["--pid", pid.as_str()];
    args.extend(press.iter().flat_map(|name| ["--name", *name]));
    let out = desk.oracle("press.py", &args).output().expect("the oracle runs");
    assert!(out.status.success(), "{out:?}");
    serde_json::from_slice(&out.stdout).expect("the oracle prints JSON")
}

struct Mousepad {
    app: App,
    window: String,
    save_as: String,
}

fn mousepad_with(desk: &Desk, text: &str) -> Mousepad {
    let app = desk.launch(&["/usr/bin/mousepad"], 40);
    let window = id_of(desk, "Mousepad");
    let snapshot = desk.ok(&["snapshot", "--window-id", &window, "--timeout-ms", "20000"]);
    let can = |n: &&Value| n["available_actions"].as_array().is_some_and(|a| a.contains(&json!("SetValue")));
    let field = nodes(&snapshot["tree"]).into_iter().find(can).expect("the text")["ref_id"].clone();
    desk.ok(&["set-value", field.as_str().expect("a ref"), text]);
    let save_as = refs_named(&snapshot, "menuitem", "Save As...");
    assert_eq!(save_as.len(), 1, "{snapshot:#}");
    Mousepad { app, window: id_of(desk, "Mousepad"), save_as: save_as[0].clone() }
}

/// Fills in the dialog that is open, and finds the file.
fn save(desk: &Desk, file: &Path, text: &str) {
    let dialog = id_of(desk, "Save As");
    let name = only(desk, &dialog, "textfield", "Name:");
    let data = desk.ok(&["set-value", &name, &file.display().to_string()]);
    assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
    desk.ok(&["click", &only(desk, &dialog, "button", "Save")]);
    let read = || std::fs::read_to_string(file).ok().filter(|read| !read.is_empty());
    assert_eq!(wait_for("the file", read).trim_end(), text);
}

/// Pressed by us: the dialog is in the answer, and nobody else's line to the application is silent meanwhile.
#[test]
fn mousepad_saves_as() {
    let desk = Desk::new();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mousepad = mousepad_with(&desk, "first words");
    let data = desk.ok(&["click", &mousepad.save_as]);
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    assert_eq!(data["details"]["effect"], "surface_appeared", "{data}");
    assert!(data["surfaces"].to_string().contains("Save As"), "{data}");
    assert_eq!(other_client(&desk, &mousepad.app, None)["silent"], false, "the bus is free for others");
    // Which of the two windows the name means was our choice: the answer says what else is open.
    let chosen = desk.ok(&["snapshot", "--app", "mousepad", "--skeleton"]);
    let other = &chosen["other_windows"][0];
    let both = [&chosen["window"]["id"], &other["id"]];
    assert!(both.contains(&&json!(mousepad.window)) && both.contains(&&json!(id_of(&desk, "Save As"))), "{chosen}");
    let none = desk.ok(&["find", "--app", "mousepad", "--text", "nowhere to be found"]);
    assert_eq!(none["other_windows"], chosen["other_windows"], "{none}");
    let alone = desk.ok(&["snapshot", "--window-id", &mousepad.window, "--skeleton"]);
    assert_eq!(alone.get("other_windows"), None);
    save(&desk, &dir.path().join("ours.txt"), "first words");
    // It goes on, and takes the next one as well.
    desk.ok(&["snapshot", "--window-id", &mousepad.window, "--timeout-ms", "20000"]);
    desk.ok(&["click", &mousepad.save_as]);
    save(&desk, &dir.path().join("second.txt"), "first words");
    assert_eq!(other_client(&desk, &mousepad.app, None)["silent"], false);
}

/// Pressed by another client over the bus, which is silent from then on: everything goes over the direct line.
#[test]
fn mousepad_silenced_by_another_client() {
    let desk = Desk::new();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mousepad = mousepad_with(&desk, "other words");
    assert_eq!(other_client(&desk, &mousepad.app, Some("Save As..."))["silent"], true, "the trap is real");
    let apps = desk.ok(&["list-apps"]);
    let row = apps["apps"].as_array().expect("rows").iter().find(|a| a["pid"] == mousepad.app.pid());
    assert_ne!(row.expect("its row")["responsive"], false, "{apps}");
    let windows = desk.ok(&["list-windows"]);
    let same = windows.as_array().expect("rows").iter().any(|w| w["id"] == mousepad.window.as_str());
    assert!(same, "the window has its id: {windows}");
    let surfaces = desk.ok(&["list-surfaces", "--app", "mousepad"]);
    assert!(surfaces.to_string().contains("Save As"), "{surfaces}");
    desk.ok(&["get", &mousepad.save_as]);
    save(&desk, &dir.path().join("theirs.txt"), "other words");
    wait_for("the bus to answer again", || (other_client(&desk, &mousepad.app, None)["silent"] == false).then_some(()));
}

/// A modal dialog is open and the bus silent: closing is asked for, and what is in its way is told at once.
#[test]
fn mousepad_is_closed_while_a_dialog_is_open() {
    let desk = Desk::new();
    let mousepad = mousepad_with(&desk, "unsaved");
    assert_eq!(other_client(&desk, &mousepad.app, Some("Save As..."))["silent"], true, "the trap is real");
    let reply = desk.cli(&["close-app", "mousepad"]);
    let data = reply.data();
    assert_eq!(data["observed"]["closed"], false, "{data}");
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    assert!(data["surfaces"].to_string().contains("Save As"), "{data}");
    assert!(reply.took < Duration::from_secs(5), "it doesn't wait until it gives up: {:?}", reply.took);
}

/// The ordinary way of an agent: a name typed into the dialog that `click` has opened. GTK 3 hangs for good in the first key
/// where anybody who has read its tree is still on the bus; a desktop of its own for each try.
#[test]
fn a_name_is_typed_into_a_dialog_that_a_click_opened() {
    for round in 0..4 {
        let desk = Desk::new();
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("typed.txt");
        let mousepad = mousepad_with(&desk, "typed words");
        let by_us = round % 2 == 0;
        if by_us {
            desk.ok(&["click", &mousepad.save_as]);
        } else {
            assert_eq!(other_client(&desk, &mousepad.app, Some("Save As..."))["silent"], true, "the trap is real");
        }
        let dialog = id_of(&desk, "Save As");
        let name = only(&desk, &dialog, "textfield", "Name:");
        desk.ok(&["--headed", "clear", &name]);
        let data = desk.ok(&["--headed", "type", &name, &file.display().to_string()]);
        assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
        // Read and press on one connection, over and over.
        let press = |combo: &str| json!({"command": "press", "args": {"combo": combo}});
        let look = json!({"command": "snapshot", "args": {"window_id": dialog}});
        let entries = json!([look, press("shift+end"), look, press("end"), look]).to_string();
        let batch = desk.ok(&["--headed", "batch", &entries]);
        assert_eq!(batch["results"].as_array().expect("results").len(), 5, "{batch}");
        assert!(batch["results"].as_array().expect("results").iter().all(|r| r["ok"] == true), "{batch}");
        desk.ok(&["--headed", "press", "Return", "--observe"]);
        let read = || std::fs::read_to_string(&file).ok().filter(|read| !read.is_empty());
        assert_eq!(wait_for("the file", read).trim_end(), "typed words");
        wait_for("the bus to answer", || (other_client(&desk, &mousepad.app, None)["silent"] == false).then_some(()));
    }
}

/// Somebody else listens: a key would hang the application, and is refused; what needs no key goes on.
#[test]
fn no_key_where_somebody_else_listens() {
    let desk = Desk::new();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mousepad = mousepad_with(&desk, "watched words");
    let mut watch = desk.cli_spawn(&["watch", "--app", "mousepad", "--for", "60000"]);
    desk.ok(&["click", &mousepad.save_as]);
    let dialog = id_of(&desk, "Save As");
    let name = only(&desk, &dialog, "textfield", "Name:");
    for command in
        [&["--headed", "type", name.as_str(), "x"][..], &["--headed", "press", "a"], &["--headed", "key-down", "a"]]
    {
        let refused = wait_for("the watch to be known", || {
            let answer: Value = serde_json::from_str(&desk.cli(command).stdout).expect("an envelope");
            let error = answer["error"].clone();
            (error["details"]["kind"] == "keys_would_hang_application").then_some(error)
        });
        assert_eq!(refused["disposition"]["delivery"], "not_delivered", "{refused}");
    }
    save(&desk, &dir.path().join("watched.txt"), "watched words");
    let _ = watch.kill();
    let _ = watch.wait();
}

/// The question about unsaved text comes at once, and so does the answer.
#[test]
fn mousepad_asks_before_it_closes() {
    let desk = Desk::new();
    let mousepad = mousepad_with(&desk, "unsaved");
    let reply = desk.cli(&["close-app", "mousepad"]);
    let data = reply.data();
    assert_eq!(data["observed"]["closed"], false, "{data}");
    assert!(data["surfaces"].is_array(), "{data}");
    assert!(reply.took < Duration::from_secs(5), "it doesn't wait until it gives up: {:?}", reply.took);
    let question = wait_for("the question", || {
        let windows = desk.ok(&["list-windows"]);
        windows.as_array()?.iter().find(|w| w["modal"] == true)?["id"].as_str().map(str::to_owned)
    });
    desk.ok(&["click", &only(&desk, &question, "button", "Don't Save")]);
    wait_for("the process to end", || {
        (!Path::new(&format!("/proc/{}/exe", mousepad.app.pid())).exists()).then_some(())
    });
}

/// Help > About in galculator, silenced by another client.
#[test]
fn galculator_about() {
    let desk = Desk::new();
    let app = desk.launch(&["/usr/bin/galculator"], 30);
    // Read once before: the application listens for direct connections from then on.
    desk.ok(&["snapshot", "--app", "galculator", "--timeout-ms", "20000"]);
    assert_eq!(other_client(&desk, &app, Some("About"))["silent"], true, "the trap is real");
    let about = id_of(&desk, "About");
    desk.ok(&["click", &only(&desk, &about, "button", "Close")]);
    wait_for("the bus to answer again", || (other_client(&desk, &app, None)["silent"] == false).then_some(()));
    assert!(window(&desk, "About").is_none());
}

/// The fixture's own log: each press once, also of the button in the dialog, on whichever line.
#[test]
fn each_press_is_received_once() {
    let desk = Desk::new();
    let fixture = Fixture::start(&desk, "gtk3", "dialogs", &[]);
    fixture.control("stay");
    let window = wait_for("the window", || {
        let windows = desk.ok(&["list-windows"]);
        windows.as_array()?.iter().find(|w| w["pid"] == fixture.pid)?["id"].as_str().map(str::to_owned)
    });
    let modal = only(&desk, &window, "menuitem", "Run modal");
    assert_eq!(other_client(&desk, &fixture.app, Some("Run modal"))["silent"], true, "the trap is real");
    let dialog = id_of(&desk, "Dialog Nested");
    desk.ok(&["click", &only(&desk, &dialog, "button", "OK")]);
    wait_for("the dialog to close", || fixture.state()["dialog"].is_null().then_some(()));
    let data = desk.ok(&["click", &modal]);
    assert_eq!(data["details"]["effect"], "surface_appeared", "{data}");
    assert_eq!(other_client(&desk, &fixture.app, None)["silent"], false, "the bus is free for others");
    let dialog = id_of(&desk, "Dialog Nested");
    desk.ok(&["click", &only(&desk, &dialog, "button", "OK")]);
    wait_for("the dialog to close", || fixture.state()["dialog"].is_null().then_some(()));
    assert_eq!(fixture.received("menu").len(), 2, "{:?}", fixture.log());
    assert_eq!(fixture.received_by("clicked", "dialog_nested_ok").len(), 2, "{:?}", fixture.log());
}
