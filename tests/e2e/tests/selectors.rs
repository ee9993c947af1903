//! `--wait-for` and `--wait-for-gone`: act, wait and see in one call.

use agent_desktop_e2e::{Desk, Live, NATIVE, delivery, nodes};
use serde_json::json;

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
    ] {
        let error = desk.err(args);
        assert_eq!(error["code"], "INVALID_ARGS", "{args:?}: {error}");
    }
}
