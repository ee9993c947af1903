//! `--observe`: one call that acts and tells what changed, never at the cost of what is said of the action.

use agent_desktop_e2e::{Desk, Live, NATIVE, WEB};
use serde_json::{Value, json};

fn everywhere(kinds: &[&'static str], scene: &str, test: impl Fn(&Live<'_>)) {
    for kind in kinds {
        let desk = Desk::new();
        test(&Live::start(&desk, kind, scene));
    }
}

/// A press that renames its button arrives once, and the answer says what became of the window.
#[test]
fn what_a_press_changed() {
    everywhere(&NATIVE, "controls", press);
    everywhere(&WEB, "controls", press);
}

fn press(live: &Live<'_>) {
    let kind = live.kind;
    let play = live.only("button", "Play");
    let line = json!({"event": "clicked", "id": "play", "value": "Pause"});
    let data = live.lands(&["click", &play, "--observe"], &line);
    let seen = &data["observed_changes"];
    assert_eq!(seen["complete"], true, "{kind}: {seen}");
    let changed = seen["changed"].as_array().expect("a list");
    let button = changed.iter().find(|c| c["role"] == "button" && c["now"]["name"] == "Pause");
    let button = button.unwrap_or_else(|| panic!("{kind}: {seen}"));
    assert_eq!(button["was"]["name"], "Play", "{kind}");
    // Its refs belong to a snapshot of its own, from which the next comparison can start.
    let id = seen["snapshot_id"].as_str().expect("a snapshot");
    let reference = button["ref"].as_str().expect("a ref");
    assert!(reference.starts_with(&format!("@{id}:")));
    live.lands(&["click", reference], &json!({"event": "clicked", "id": "play", "value": "Play"}));
    let next = live.desk.ok(&["snapshot", "--since", id, "--timeout-ms", "60000"]);
    assert_eq!(next["since"], id);
    // Without the flag nothing is read.
    let save = live.only("button", "Save");
    let plain = live.lands(&["click", &save], &json!({"event": "clicked", "id": "save"}));
    assert!(plain.get("observed_changes").is_none());
}

/// The disposition is the action's own.
#[test]
fn a_state_that_was_read_back_stays_verified() {
    everywhere(&NATIVE, "controls", |live| {
        if live.kind == "gtk4" {
            // GTK 4's check boxes publish no action.
            return;
        }
        let check = live.only("checkbox", "Check me");
        let line = json!({"event": "toggled", "id": "check", "value": true});
        let data = live.lands(&["check", &check, "--observe"], &line);
        assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{}: {data}", live.kind);
        let changed = data["observed_changes"]["changed"].as_array().expect("a list");
        assert!(changed.iter().any(|c| c["now"]["states"].to_string().contains("checked")), "{}: {data}", live.kind);
        let again = live.desk.ok(&["check", &check, "--observe"]);
        assert_eq!(again["details"]["already_satisfied"], true);
        assert_eq!(again["observed_changes"]["changed"], json!([]), "{}: {again}", live.kind);
    });
}

/// A dialog that opened is named with its id.
#[test]
fn a_dialog_that_opened() {
    everywhere(&NATIVE, "dialogs", |live| {
        let open = live.only("button", "Open A");
        let data = live.lands(&["click", &open, "--observe"], &json!({"event": "clicked", "id": "open_a"}));
        let seen = &data["observed_changes"];
        let windows = seen["windows_opened"].as_array().unwrap_or_else(|| panic!("{}: {data}", live.kind));
        assert_eq!((windows.len(), &windows[0]["title"]), (1, &json!("Dialog A")), "{}: {seen}", live.kind);
        let id = windows[0]["id"].as_str().expect("an id");
        let dialog = live.desk.ok(&["snapshot", "--window-id", id]);
        assert!(dialog["tree"].to_string().contains("\"OK\""), "{}: {dialog}", live.kind);
    });
}

/// A refusal is what it was, and reads nothing more; an application that ends with the press says so in both places.
#[test]
fn what_cannot_be_observed_changes_nothing_of_the_answer() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let disabled = live.only("button", "Disabled");
    let error =
        live.refused(&["click", &disabled, "--observe", "--timeout-ms", "300"], "TIMEOUT", &["actionability_timeout"]);
    assert!(error["details"].get("observed_changes").is_none(), "{error}");

    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "crash");
    let crash = live.only("button", "Crash");
    let reply = desk.cli(&["click", &crash, "--observe"]);
    let (at, seen): (Value, Value) = match reply.code {
        0 => (reply.data()["disposition"].clone(), reply.data()["observed_changes"].clone()),
        _ => (reply.error()["disposition"].clone(), reply.error()["details"]["observed_changes"].clone()),
    };
    assert_ne!(at["delivery"], "not_delivered", "{reply:?}");
    assert_ne!(at["delivery"], "delivered_verified", "{reply:?}");
    // Its process has ended: that is what changed, and no silence.
    assert_eq!((&seen["process_ended"], &seen["window_closed"]), (&json!(true), &json!(true)), "{reply:?}");
    assert!(seen.get("error").is_none(), "{reply:?}");
}

/// Keys, too, are followed by what they changed in the window they went to.
#[test]
fn what_a_key_changed() {
    everywhere(&["gtk3", "qt5", "qt6"], "controls", |live| {
        let check = live.only("checkbox", "Check me");
        live.desk.ok(&["focus", &check]);
        let line = json!({"event": "toggled", "id": "check", "value": true});
        let data = live.lands(&["press", "space", "--app", &live.app, "--observe"], &line);
        let seen = &data["observed_changes"];
        assert_eq!(seen["complete"], true, "{}: {seen}", live.kind);
        let changed = seen["changed"].as_array().expect("a list");
        let it = changed.iter().find(|c| c["name"] == "Check me").unwrap_or_else(|| panic!("{}: {seen}", live.kind));
        assert!(it["now"]["states"].to_string().contains("checked"), "{}: {seen}", live.kind);
        assert!(!it["was"]["states"].to_string().contains("checked"), "{}: {seen}", live.kind);
        // Its ref can be acted on.
        let line = json!({"event": "toggled", "id": "check", "value": false});
        live.lands(&["uncheck", it["ref"].as_str().expect("a ref")], &line);
    });
}

/// A reader that stays connected while a key is delivered hangs GTK 3 in a dialog that an action's handler runs.
#[test]
fn a_key_that_closes_a_dialog_of_an_action_hangs_nothing() {
    let desk = Desk::new();
    desk.ok(&["launch", "mousepad", "-w", "textfield", "--wait-view", "none"]);
    let entry = desk.ok(&["find", "--app", "mousepad", "--role", "menuitem", "--text", "Open...", "--first"]);
    let opened = desk.ok(&[
        "click",
        entry["match"]["ref_id"].as_str().expect("a ref"),
        "-w",
        "button:Cancel",
        "--wait-view",
        "none",
    ]);
    assert_eq!(opened["window"]["title"], "Open File", "{opened}");
    let id = opened["window"]["id"].as_str().expect("an id");
    let data = desk.ok(&["press", "escape", "--expect-window", id, "--observe"]);
    let seen = &data["observed_changes"];
    assert!(seen["windows_closed"].to_string().contains("Open File") || seen["window_closed"] == true, "{seen}");
    let windows = desk.ok(&["list-windows", "--app", "mousepad"]);
    assert!(windows.as_array().expect("a list").iter().all(|w| w.get("responsive").is_none()), "{windows}");
}

/// The pointer over an element, and a drag onto one, are followed by their window.
#[test]
fn what_the_pointer_changed() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let (save, play) = (live.only("button", "Save"), live.only("button", "Play"));
    let data = desk.ok(&["--headed", "hover", &save, "--observe"]);
    let seen = &data["observed_changes"];
    assert_eq!(seen["complete"], true, "{data}");
    assert_eq!(seen["window"]["title"], "Fixture controls", "{data}");
    assert!(seen["snapshot_id"].is_string(), "{data}");
    let data = desk.ok(&["--headed", "drag", "--from", &play, "--to", &save, "--drop-delay", "0", "--observe"]);
    assert_eq!(data["observed_changes"]["complete"], true, "{data}");
    for args in [
        &["--headed", "hover", "--xy", "5,5", "--observe"][..],
        &["--headed", "drag", "--from", &play, "--to-xy", "5,5", "--observe"],
        &["--headed", "drag", "--from-xy", "5,5", "--to", &play, "--wait-for-scope", "from", "--observe"],
    ] {
        assert_eq!(desk.err(args)["code"], "INVALID_ARGS", "{args:?}");
    }
}
