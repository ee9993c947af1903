//! Applications and elements that don't answer.

use crate::scene::{Scene, count, delivered, named, ref_of, refused, within};
use agent_desktop_e2e::nodes;
use serde_json::json;

/// Never answered anything at all.
#[test]
fn silent_app() {
    let scene = Scene::new("silent-app");
    let pid = scene.provider.pid;
    let app = scene.app.as_str();
    let commands: &[(&[&str], u64)] = &[
        (&["snapshot", "--app", app], 3_000),
        (&["snapshot", "--app", app, "--timeout-ms", "1500"], 1_500),
        (&["find", "--app", app, "--role", "button", "--timeout-ms", "2000"], 2_000),
        (&["list-surfaces", "--app", app], 5_000),
        (&["wait", "--text", "OK", "--app", app, "--timeout", "1500"], 1_500),
    ];
    for (args, budget) in commands {
        let reply = scene.desk.cli(args);
        let error = refused(&reply, "APP_UNRESPONSIVE", None);
        assert_eq!(error["recovery"]["strategy"], "inspect_state_then_retry_original", "{args:?}: {error}");
        within(&reply, *budget);
    }
    let reply = scene.desk.cli(&["list-apps"]);
    within(&reply, 5_000);
    let apps = reply.data();
    let silent = apps["unresponsive"].as_array().expect("the silent ones are named");
    assert_eq!(silent.len(), 1, "{apps}");
    assert_eq!(silent[0]["pid"], pid, "{apps}");
    let row = apps["apps"].as_array().expect("rows").iter().find(|a| a["pid"] == pid).expect("its row");
    assert_eq!(row["responsive"], false, "{apps}");
    within(&scene.desk.cli(&["list-windows"]), 5_000);
    // Nothing is proven absent while one is silent.
    refused(&scene.desk.cli(&["snapshot", "--app", "Nobody", "--timeout-ms", "2000"]), "APP_UNRESPONSIVE", None);
    assert_eq!(scene.writes().len(), 0);
}

/// A worker thread that answers pings doesn't make an application alive.
#[test]
fn silent_app_that_answers_pings() {
    let scene = Scene::new("silent-app-ping");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    refused(&reply, "APP_UNRESPONSIVE", None);
    within(&reply, 3_000);
    assert_eq!(scene.desk.ok(&["list-apps"])["unresponsive"][0]["pid"], scene.provider.pid);
}

/// It answered, then stopped: its elements are not gone, nothing is sent, and nothing lands when it goes on.
#[test]
fn called_gone_but_hung() {
    let scene = Scene::new("simple");
    let (other, other_app) = scene.beside("cache-good");
    let snapshot = scene.snapshot();
    let (ok, entry) = (ref_of(&snapshot, "OK"), ref_of(&snapshot, "Your name"));
    let check = ref_of(&snapshot, "Remember me");
    scene.provider.control(json!({"cmd": "hang"}));
    let commands: &[(&[&str], u64)] = &[
        (&["get", &ok], 5_000),
        (&["is", &ok, "--property", "enabled"], 5_000),
        (&["wait", "--element", &ok, "--timeout", "1500"], 1_500),
        (&["snapshot", "--root", &ok, "--timeout-ms", "1000"], 1_000),
        (&["find", "--app", &scene.app, "--name", "OK", "--timeout-ms", "1000"], 1_000),
        (&["click", &ok], 5_000),
        (&["click", &ok, "--timeout-ms", "0"], 1_000),
        (&["set-value", &entry, "Grace", "--timeout-ms", "1000"], 1_000),
        (&["check", &check, "--timeout-ms", "1000"], 1_000),
        (&["focus", &entry, "--timeout-ms", "1000"], 1_000),
    ];
    for (args, budget) in commands {
        let reply = scene.desk.cli(args);
        refused(&reply, "APP_UNRESPONSIVE", None);
        within(&reply, *budget);
    }
    // Another application is not held up.
    let data = scene.desk.ok(&["snapshot", "--app", &other_app]);
    assert_eq!(data["complete"], true);
    let reply = scene.click(&ref_of(&data, "OK"));
    delivered(&reply, "delivered_unverified");
    assert_eq!(other.writes("ok", "DoAction"), 1);
    // What it got while it hung is handled now: no write is among it.
    scene.provider.control(json!({"cmd": "resume"}));
    assert_eq!(scene.writes(), Vec::<serde_json::Value>::new());
    assert_eq!(scene.logged("held").len(), 0);
    assert_eq!(scene.desk.ok(&["get", &ok, "--property", "title"])["value"], "OK");
}

/// It stops in the middle of the read: what was read is printed and says that it isn't all, or the application is
/// called silent; never a complete tree.
#[test]
fn stops_in_the_middle_of_the_read() {
    let scene = Scene::new("hang-after");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    within(&reply, 3_000);
    if reply.code == 0 {
        let data = reply.data();
        assert_eq!(data["complete"], false, "{data}");
        assert_eq!(data["truncated"], true, "{data}");
    } else {
        refused(&reply, "APP_UNRESPONSIVE", None);
    }
}

/// One silent panel: the rest is read and can be acted on; the panel says that what is below it is not shown.
#[test]
fn silent_node() {
    let scene = Scene::new("silent-node");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    within(&reply, 3_000);
    let data = reply.data();
    assert_eq!(data["complete"], false, "{data}");
    assert_eq!(data["truncated"], true, "{data}");
    assert!(data["nodes_observed"].as_u64().is_some_and(|n| n >= 4), "{data}");
    assert_eq!(count(&data, "Inside"), 0, "{data}");
    let cut: Vec<_> = nodes(&data["tree"]).into_iter().filter(|n| n["subtree_truncated"] == true).collect();
    assert_eq!(cut.len(), 1, "{data:#}");
    assert!(cut[0]["children"].is_null(), "{data:#}");
    for name in ["OK", "Cancel", "Nothing yet"] {
        assert!(named(&data, name)["subtree_truncated"].is_null());
    }
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
}

/// One silent panel of an application that answers everything else doesn't cost the whole time that was given.
#[test]
fn silent_node_does_not_cost_all_of_the_time() {
    let scene = Scene::new("silent-node");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app, "--timeout-ms", "60000"]);
    within(&reply, 5_000);
    let data = reply.data();
    assert_eq!(data["complete"], false, "{data}");
    assert_eq!((count(&data, "OK"), count(&data, "Inside")), (1, 0), "{data}");
}

/// What can't be seen because of a silent panel is not said to be absent.
#[test]
fn truncated_read_as_absent() {
    let scene = Scene::new("silent-node");
    let args = ["find", "--app", &scene.app, "--name", "Inside", "--timeout-ms", "1500"];
    refused(&scene.desk.cli(&args), "TIMEOUT", Some("locator_incomplete"));
    let args = ["wait", "--text", "Inside", "--count", "0", "--app", &scene.app, "--timeout", "1500"];
    refused(&scene.desk.cli(&args), "TIMEOUT", None);
    let found = scene.desk.ok(&["find", "--app", &scene.app, "--name", "Cancel", "--first", "--timeout-ms", "1500"]);
    assert_eq!(found["match"]["name"], "Cancel", "{found}");
}

/// A drill below a silent panel is all or nothing: what was printed before stays valid.
#[test]
fn drill_is_all_or_nothing() {
    let scene = Scene::new("silent-node");
    let data = scene.partial(&["--timeout-ms", "1500"]);
    let window = nodes(&data["tree"])[0].clone();
    let ok = ref_of(&data, "OK");
    // The window has no ref of its own here: find gives one to what can be acted on only.
    if let Some(window) = window["ref_id"].as_str() {
        refused(&scene.desk.cli(&["snapshot", "--root", window, "--timeout-ms", "1500"]), "TIMEOUT", None);
    }
    let skeleton = scene.partial(&["--skeleton", "--timeout-ms", "1500"]);
    for node in nodes(&skeleton["tree"]).into_iter().filter(|n| n["subtree_truncated"] == true) {
        if let Some(cut) = node["ref_id"].as_str() {
            let reply = scene.desk.cli(&["snapshot", "--root", cut, "--timeout-ms", "1500"]);
            let error = reply.error();
            assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
        }
    }
    assert_eq!(scene.desk.ok(&["get", &ok, "--property", "title"])["value"], "OK");
    delivered(&scene.click(&ok), "delivered_unverified");
    scene.pressed(&["ok"]);
}

/// Slow is not silent.
#[test]
fn slow_node() {
    let scene = Scene::new("slow-node");
    let data = scene.snapshot();
    let slow = ref_of(&data, "Slow");
    assert_eq!(scene.desk.ok(&["get", &slow, "--property", "title"])["value"], "Slow");
    assert_eq!(scene.desk.ok(&["is", &slow, "--property", "enabled"])["result"], true);
    delivered(&scene.click(&slow), "delivered_unverified");
    scene.pressed(&["slow"]);
}

/// What could not be read may be a window: it is listed as one that doesn't answer, and is not called closed or gone.
#[test]
fn silent_window() {
    let scene = Scene::new("silent-window");
    let rows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{rows:?}");
    let silent = rows.iter().find(|w| w["responsive"] == false).unwrap_or_else(|| panic!("{rows:?}"));
    let id = silent["id"].as_str().expect("an id");
    assert!(rows.iter().any(|w| w["title"] == "First" && w.get("responsive").is_none()), "{rows:?}");
    let gone = ["snapshot", "--window-id", id, "--wait-for-gone", "button:OK", "--wait-timeout", "1500"];
    let error = scene.desk.cli(&gone).error();
    assert!(["APP_UNRESPONSIVE", "TIMEOUT"].contains(&error["code"].as_str().expect("a code")), "{error}");
    refused(&scene.desk.cli(&["snapshot", "--window-id", id, "--timeout-ms", "1500"]), "APP_UNRESPONSIVE", None);
    let closed = ["wait", "--event", "window-closed", "--app", &scene.app, "--timeout", "1500"];
    assert_eq!(scene.desk.cli(&closed).error()["code"], "TIMEOUT");
    // The other window is read as ever.
    let first = rows.iter().find(|w| w["title"] == "First").expect("the other")["id"].as_str().expect("an id");
    assert_eq!(scene.desk.ok(&["snapshot", "--window-id", first, "--timeout-ms", "20000"])["complete"], true);
}
