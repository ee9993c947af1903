//! What one process registers, and when.

use crate::scene::{Scene, count, delivered, named, ref_of, refused};
use serde_json::json;

/// An empty and a full application object in one process: the full one.
#[test]
fn two_application_objects() {
    let scene = Scene::new("two-applications");
    let data = scene.snapshot();
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
    let windows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    assert_eq!(windows.as_array().map(Vec::len), Some(1), "{windows}");
}

/// Two full ones: which window is meant has to be said.
#[test]
fn two_populated_application_objects() {
    let scene = Scene::new("two-populated");
    let error = scene.desk.err(&["snapshot", "--app", &scene.app]);
    assert_eq!(error["code"], "AMBIGUOUS_TARGET", "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    let windows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    let rows = windows.as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{windows}");
    for row in rows {
        let data = scene.desk.ok(&["snapshot", "--window-id", row["id"].as_str().expect("an id")]);
        named(&data, row["title"].as_str().expect("a title"));
        delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    }
    let mut pressed: Vec<String> =
        scene.writes().iter().filter_map(|l| l["node"].as_str().map(str::to_owned)).collect();
    pressed.sort();
    assert_eq!(pressed, ["ok", "ok-2"]);
}

/// No window at all is said as such, never an empty tree.
#[test]
fn empty_tree_unexplained() {
    let scene = Scene::new("empty-app");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app, "--timeout-ms", "1500"]);
    let error = refused(&reply, "APP_NOT_FOUND", None);
    assert!(error["suggestion"].as_str().is_some_and(|s| !s.is_empty()), "{error}");
    let apps = scene.desk.ok(&["list-apps"]);
    assert!(apps["apps"].as_array().is_some_and(|a| a.iter().any(|a| a["pid"] == scene.provider.pid)), "{apps}");
}

/// A window that comes half a second after its application: a short wait instead of an error.
#[test]
fn first_read_too_early() {
    let scene = Scene::new("first-read-too-early");
    let data = scene.desk.ok(&["snapshot", "--app", &scene.app, "--timeout-ms", "10000"]);
    assert_eq!(data["complete"], true, "{data}");
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
}

/// One GetAll ends the application. It survives every command.
#[test]
fn getall_kills_qt() {
    let scene = Scene::new("getall-dies");
    survives_everything(&scene);
}

/// And no command sends one to anybody.
#[test]
fn nobody_gets_a_getall() {
    let scene = Scene::new("simple");
    survives_everything(&scene);
}

fn survives_everything(scene: &Scene) {
    let app = scene.app.as_str();
    let data = scene.snapshot();
    let ok = ref_of(&data, "OK");
    let commands: &[&[&str]] = &[
        &["list-apps"],
        &["list-windows"],
        &["list-windows", "--app", app],
        &["list-surfaces", "--app", app],
        &["snapshot", "--app", app, "--include-bounds", "--max-depth", "50"],
        &["snapshot", "--app", app, "--skeleton"],
        &["snapshot", "--app", app, "-i", "--compact", "--format", "text"],
        &["snapshot", "--app", app, "--surface", "menu"],
        &["snapshot", "--root", &ok],
        &["find", "--app", app, "--role", "button"],
        &["find", "--app", app, "--text", "OK", "--count"],
        &["get", &ok, "--property", "bounds"],
        &["get", &ok, "--property", "states"],
        &["is", &ok],
        &["is", &ok, "--property", "focused"],
        &["wait", "--element", &ok, "--predicate", "actionable", "--timeout", "2000"],
        &["wait", "--text", "OK", "--app", app, "--timeout", "2000"],
        &["wait", "--window", "indow", "--timeout", "2000"],
        &["wait", "--menu-closed", "--app", app, "--timeout", "2000"],
        &["status"],
        &["permissions"],
        &["right-click", &ok, "--timeout-ms", "500"],
        &["focus", &ok, "--timeout-ms", "500"],
        &["set-value", &ok, "x", "--timeout-ms", "500"],
        &["type", &ok, "x", "--timeout-ms", "500"],
        &["clear", &ok, "--timeout-ms", "500"],
        &["toggle", &ok, "--timeout-ms", "500"],
        &["check", &ok, "--timeout-ms", "500"],
        &["uncheck", &ok, "--timeout-ms", "500"],
        &["expand", &ok, "--timeout-ms", "500"],
        &["collapse", &ok, "--timeout-ms", "500"],
        &["select", &ok, "x", "--timeout-ms", "500"],
        &["scroll", &ok, "--timeout-ms", "500"],
        &["scroll-to", &ok, "--timeout-ms", "500"],
        &["click", &ok],
    ];
    for args in commands {
        let reply = scene.desk.cli(args);
        assert!(reply.code == 0 || reply.code == 1, "{args:?}: {reply:?}");
        assert!(!reply.stdout.contains("INTERNAL"), "{args:?}: {reply:?}");
        scene.provider.control(json!({"cmd": "fence"}));
    }
    assert_eq!(scene.calls("org.freedesktop.DBus.Properties.GetAll"), 0);
    scene.no_violation();
    let after = scene.snapshot();
    assert_eq!(count(&after, "OK"), 1);
}
