//! Answers of a wrong form: cycles, null references, counts that lie, other types, other bytes.

use crate::scene::{Scene, count, delivered, named, ref_of};
use agent_desktop_e2e::nodes;

/// A panel names its parent, another the window, as a child: the walk ends, everything is shown once.
#[test]
fn cycle() {
    let scene = Scene::new("cycle");
    let data = scene.partial(&["--max-depth", "50", "--timeout-ms", "20000"]);
    for name in ["OK", "Cancel", "In the loop", "Deep button"] {
        named(&data, name);
    }
    assert!(nodes(&data["tree"]).len() < 20, "{data:#}");
    delivered(&scene.click(&ref_of(&data, "Deep button")), "delivered_unverified");
    scene.pressed(&["deep-button"]);
}

/// Null references among children are no children.
#[test]
fn null_refs() {
    let scene = Scene::new("null-refs");
    let data = scene.partial(&["--timeout-ms", "20000"]);
    named(&data, "Inside");
    assert!(nodes(&data["tree"]).iter().all(|n| n["role"] != "unknown"), "{data:#}");
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
}

/// ChildCount says 1 of 20, and 50 of 1: no child is missing silently, none is invented.
#[test]
fn count_lies() {
    let scene = Scene::new("count-lies");
    let data = scene.partial(&["--timeout-ms", "20000"]);
    let fruit =
        nodes(&data["tree"]).into_iter().filter(|n| n["name"].as_str().is_some_and(|t| t.starts_with("Fruit ")));
    let shown = fruit.count();
    assert!(shown == 20 || data["complete"] == false, "{shown} shown as complete: {data:#}");
    named(&data, "One");
    assert_eq!(named(&data, "Few")["children"].as_array().map_or(0, Vec::len), 1, "{data:#}");
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
}

/// Every member answered with another type once: the element says what could not be read, the rest is untouched.
#[test]
fn wrong_types() {
    let scene = Scene::new("wrong-types");
    let data = scene.partial(&["--include-bounds", "--timeout-ms", "20000"]);
    for name in ["OK", "Cancel", "Nothing yet", "Wrong role", "Wrong state", "Wrong attributes", "Wrong parent"] {
        named(&data, name);
    }
    assert_eq!(count(&data, "Wrong name"), 0, "a name that could not be read is none: {data:#}");
    let role = named(&data, "Wrong role");
    assert_ne!(role["role"], "button", "{role}");
    let state = named(&data, "Wrong state");
    assert!(state["states"].is_null() && !state["unread"].is_null(), "{state}");
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    // A reply of another type proves nothing.
    let reply = scene.click(&ref_of(&data, "Wrong do-action"));
    let text = reply.envelope().to_string();
    assert!(!text.contains("\"not_delivered\"") && !text.contains("\"delivered_verified\""), "{text}");
    scene.pressed(&["ok", "wrong-do-action"]);
}

/// A name that isn't UTF-8, over a private socket or over the bus: that element's name, or the application, is lost,
/// and nothing else.
#[test]
fn invalid_utf8() {
    garbled("invalid-utf8");
}

/// A variant whose inner signature isn't one.
#[test]
fn invalid_signature() {
    garbled("invalid-signature");
}

fn garbled(scenario: &str) {
    let scene = Scene::new(scenario);
    let (other, other_app) = scene.beside("simple");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    let envelope = reply.envelope();
    // The message bus throws the application out for its bytes: then it is gone, and said to be.
    if envelope["ok"] == true {
        let data = &envelope["data"];
        assert!(data["complete"] == false || count(data, "Garbled") == 0, "{data:#}");
    } else {
        assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{envelope}");
    }
    let data = scene.desk.ok(&["snapshot", "--app", &other_app]);
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    assert_eq!(other.writes("ok", "DoAction"), 1);
}
