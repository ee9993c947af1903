//! `--wait-for` and `--wait-for-gone`: act, wait and see in one call.

use agent_desktop_e2e::{Desk, Live, NATIVE, delivery, nodes};
use serde_json::{Value, json};

/// Acts on what a wait says that matched, and shows that it was that.
fn press_matched(live: &Live<'_>, data: &Value, id: &str) {
    let matched = data["matched"].as_array().unwrap_or_else(|| panic!("{}: {data}", live.kind));
    assert_eq!((matched.len(), &data["matched_count"]), (1, &json!(1)), "{}: {data}", live.kind);
    let before = live.fixture.received_by("clicked", id).len();
    live.desk.ok(&["click", matched[0]["ref_id"].as_str().expect("a ref")]);
    live.fixture.control("fence");
    assert_eq!(live.fixture.received_by("clicked", id).len(), before + 1, "{}: {data}", live.kind);
}

/// The window that an action opens is looked into, and the answer is that window, as much of it as was asked for.
#[test]
fn an_action_waits_for_what_a_new_window_shows() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "dialogs");
        let open = live.only("button", "Open A");
        let lean = desk.ok(&["click", &open, "-w", "button:OK", "--wait-view", "none"]);
        assert_eq!(lean["window"]["title"], "Dialog A", "{kind}: {lean}");
        assert!(lean.get("tree").is_none() && lean.get("outline").is_none(), "{kind}: {lean}");
        assert_eq!(delivery(&lean["after_action"]), "delivered_unverified", "{kind}: {lean}");
        press_matched(&live, &lean, "dialog_a_ok");

        let compact = desk.ok(&["click", &live.only("button", "Open A"), "-w", "button:OK", "--wait-view", "compact"]);
        let outline = compact["outline"].as_str().unwrap_or_else(|| panic!("{kind}: {compact}"));
        let reference = compact["matched"][0]["ref_id"].as_str().expect("a ref");
        assert!(outline.lines().any(|l| l.contains("button \"OK\"") && l.ends_with(reference)), "{kind}: {outline}");
        assert!(compact.get("tree").is_none(), "{kind}: {compact}");
        press_matched(&live, &compact, "dialog_a_ok");

        let full = desk.ok(&["click", &live.only("button", "Open A"), "-w", "button:OK"]);
        assert!(nodes(&full["tree"]).iter().any(|n| n["name"] == "OK"), "{kind}: {full}");
        assert!(full["tree"].to_string().len() > compact["outline"].to_string().len(), "{kind}");
        press_matched(&live, &full, "dialog_a_ok");
        // What the own window shows comes before what others show.
        let own = desk.ok(&["click", &live.only("button", "Open A"), "-w", "button:Next", "--wait-view", "none"]);
        assert_ne!(own["window"]["title"], "Dialog A", "{kind}: {own}");
        // In vain: what has opened is named, so that nobody repeats the press.
        live.fixture.control("close_dialog");
        let open = live.only("button", "Open A");
        let error = desk.err(&["click", &open, "-w", "button:Never", "--wait-timeout", "1000"]);
        let opened = error["details"]["windows_opened"].as_array().unwrap_or_else(|| panic!("{kind}: {error}"));
        assert_eq!((opened.len(), &opened[0]["title"]), (1, &json!("Dialog A")), "{kind}: {error}");
        let id = opened[0]["id"].as_str().expect("an id");
        assert!(error["suggestion"].as_str().is_some_and(|s| s.contains(id)), "{kind}: {error}");
        assert_eq!(error["disposition"]["retry"], "unsafe", "{kind}: {error}");
        let shown = desk.ok(&["snapshot", "--window-id", id]);
        assert_eq!(shown["window"]["title"], "Dialog A", "{kind}: {shown}");
    }
}

/// A closed menu's entry is in the tree all the time; it matches when the menu is open.
#[test]
fn what_is_not_shown_is_no_match() {
    let desk = Desk::new();
    let data = desk.ok(&["launch", "mousepad", "-w", "textfield", "--wait-view", "none"]);
    assert!(data["after_action"]["pid"].is_u64(), "{data}");
    assert_eq!(data["matched"][0]["role"], "textfield", "{data}");
    let entry = ["find", "--app", "mousepad", "--role", "menuitem", "--text", "Open...", "--first"];
    assert_eq!(desk.ok(&entry)["match"]["name"], "Open...", "it is in the tree");
    let wait = ["snapshot", "--app", "mousepad", "-w", "menuitem:Open...", "--wait-timeout", "700"];
    let error = desk.err(&wait);
    assert_eq!(error["details"]["hidden_matches"], 1, "{error}");
    assert_eq!(desk.ok(&["snapshot", "--app", "mousepad", "--wait-for-gone", "menuitem:Open..."])["gone"], true);
    let file = desk.ok(&["find", "--app", "mousepad", "--role", "menuitem", "--name", "File", "--exact", "--first"]);
    let file = file["match"]["ref_id"].as_str().expect("a ref").to_owned();
    let open = desk.ok(&["--headed", "click", &file, "-w", "menuitem:Open...", "--wait-view", "none"]);
    assert_eq!(open["matched"][0]["name"], "Open...", "{open}");
    assert!(open["matched"][0]["ref_id"].is_string(), "{open}");
}

/// A key opens a window as well, whether the window that receives it is named or only active.
#[test]
fn a_key_waits_for_what_a_new_window_shows() {
    let desk = Desk::new();
    let data = desk.ok(&["launch", "mousepad", "-w", "textfield", "--wait-view", "none"]);
    let main = data["window"]["id"].clone();
    for named in [&["--app", "mousepad"][..], &[]] {
        let keys = [&["press", "ctrl+o"][..], named, &["-w", "button:Cancel", "--wait-view", "none"]].concat();
        let data = desk.ok(&keys);
        assert_eq!(data["window"]["title"], "Open File", "{named:?}: {data}");
        assert_eq!(data["after_action"]["action"], "press", "{named:?}: {data}");
        // A dialog's end is that of all that stands in it, and the window behind it is the one that answers next.
        let cancel = data["matched"][0]["ref_id"].as_str().expect("a ref");
        let gone = desk.ok(&["click", cancel, "--wait-for-gone", "button:Cancel", "--wait-view", "none"]);
        assert_eq!(gone["gone"], true, "{named:?}: {gone}");
        let windows = desk.ok(&["list-windows", "--app", "mousepad"]);
        let ids: Vec<&Value> = windows.as_array().expect("a list").iter().map(|w| &w["id"]).collect();
        assert_eq!(ids, [&main], "{named:?}: {windows}");
    }
}

/// What is disabled is shown: it matches, and says that it is.
#[test]
fn a_disabled_match_says_so() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let data = desk.ok(&["click", &live.only("button", "Save"), "-w", "button:Disabled", "--wait-view", "none"]);
    assert_eq!(data["matched"][0]["states"], json!(["disabled"]), "{data}");
}

/// A batch's entries wait for themselves, within the batch's time.
#[test]
fn an_entry_of_a_batch_waits_for_itself() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "dialogs");
    let open = live.only("button", "Open A");
    let entry = |more: Value| {
        let mut entry = json!({"command": "click", "args": {"ref_id": open}});
        entry.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!([entry]).to_string()
    };
    for wrong in
        [json!({"wait_view": "none"}), json!({"wait_for": ":"}), json!({"wait_for": "button", "wait_view": "x"})]
    {
        let error = desk.err(&["batch", &entry(wrong)]);
        assert_eq!(error["details"]["kind"], "batch_entry_invalid", "{error}");
    }
    live.fixture.control("fence");
    assert_eq!(live.fixture.received_by("clicked", "open_a").len(), 0);
    let data = desk.ok(&["batch", &entry(json!({"wait_for": "button:OK", "wait_view": "none"}))]);
    press_matched(&live, &data["results"][0]["data"], "dialog_a_ok");
    let late = entry(json!({"wait_for": "button:Never", "wait_timeout": 60_000}));
    let data = desk.ok(&["batch", &late, "--timeout-ms", "1500"]);
    let error = &data["results"][0]["error"];
    assert_eq!((&error["code"], &error["details"]["limited_by"]), (&json!("TIMEOUT"), &json!("batch")), "{data}");
    assert_eq!(error["disposition"]["delivery"], "delivered_unverified", "{data}");
}

/// A button that comes later: the answer is the window with it, and what the action answered.
#[test]
fn an_action_waits_for_what_it_brings() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let press = live.only("button", "Save");
        let before = live.landed().len();
        live.fixture.control("late_button 700");
        let data = desk.ok(&["click", &press, "-w", "button:Late"]);
        assert_eq!(data["matched_selector"], "button:Late", "{kind}: {data}");
        assert!(data["elapsed_ms"].is_u64(), "{kind}: {data}");
        assert_eq!(delivery(&data["after_action"]), "delivered_unverified", "{kind}: {data}");
        let late = nodes(&data["tree"]).into_iter().find(|n| n["name"] == "Late").expect("the button");
        desk.ok(&["click", late["ref_id"].as_str().expect("a ref")]);
        live.fixture.control("fence");
        let clicks = live.landed()[before..].iter().filter(|l| l["event"] == "clicked").count();
        assert_eq!(clicks, 2, "{kind}: {:?}", live.landed());
    }
}

/// The time is up: the action has been done, and the error must not invite to do it again.
#[test]
fn a_wait_in_vain_keeps_what_the_action_delivered() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let press = live.only("button", "Save");
    let before = live.landed().len();
    let error = desk.err(&["click", &press, "-w", "button:Never", "--wait-timeout", "800"]);
    assert_eq!((error["code"].as_str(), error["details"]["kind"].as_str()), (Some("TIMEOUT"), Some("wait_timeout")));
    assert_eq!(error["disposition"], json!({"delivery": "delivered_unverified", "retry": "unsafe"}), "{error}");
    assert!(error.get("recovery").is_none(), "{error}");
    assert_eq!(error["details"]["after_action"]["action"], "click", "{error}");
    assert_eq!(error["details"]["selector"], "button:Never", "{error}");
    // The window as it is now can be looked into.
    let id = error["details"]["snapshot_id"].as_str().expect("a snapshot");
    assert_eq!(desk.ok(&["status"])["snapshot_id"], id);
    live.fixture.control("fence");
    assert_eq!(live.landed().len(), before + 1);
    // A refused action waits for nothing.
    let error = desk.err(&["click", "@snone:e1", "-w", "button:Never"]);
    assert_eq!(error["code"], "SNAPSHOT_NOT_FOUND", "{error}");
    // Of a snapshot nothing was delivered.
    let error = desk.err(&["snapshot", "--app", &live.app, "-w", "button:Never", "--wait-timeout", "500"]);
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
}

/// Gone is what a complete read does not show, or what went with its window.
#[test]
fn gone_with_its_row_and_with_its_window() {
    let desk = Desk::new();
    let mut live = Live::start(&desk, "gtk4", "controls");
    let data = desk.ok(&["snapshot", "--app", &live.app, "--wait-for-gone", "button:Never"]);
    assert_eq!(data["gone"], true, "{data}");
    assert!(data["snapshot_id"].is_string(), "{data}");
    let error = desk.err(&["snapshot", "--app", &live.app, "--wait-for-gone", "button:Save", "--wait-timeout", "500"]);
    assert_eq!(error["details"]["gone"], true, "{error}");
    let child = desk.cli_spawn(&["snapshot", "--app", &live.app, "--wait-for-gone", "button:Save"]);
    std::thread::sleep(std::time::Duration::from_millis(700));
    live.fixture.app.0.kill().expect("it ends");
    let out = child.wait_with_output().expect("an answer");
    let envelope: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(envelope["data"]["target_absent"], true, "{envelope}");
    assert_eq!(envelope["data"]["gone"], true, "{envelope}");
    assert!(envelope["data"].get("tree").is_none(), "{envelope}");
}

#[test]
fn where_a_selector_has_no_place() {
    let desk = Desk::new();
    for args in [
        &["find", "--role", "button", "-w", "button"][..],
        &["snapshot", "--root", "@s8f3:e1", "-w", "button"],
        &["snapshot", "-w", "no-such-role:x"],
        &["snapshot", "-w", ":"],
        &["snapshot", "--wait-timeout", "5"],
        &["snapshot", "-w", "button", "--wait-for-gone", "button"],
        &["batch", "[]", "-w", "button"],
        &["click", "@s8f3:e1", "--wait-view", "none"],
        &["snapshot", "-w", "button", "--wait-view", "none"],
    ] {
        let error = desk.err(args);
        assert_eq!(error["code"], "INVALID_ARGS", "{args:?}: {error}");
    }
}
