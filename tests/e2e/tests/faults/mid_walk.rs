//! Trees that change while they are read, or between the check and the press.

use crate::scene::{Scene, count, named, ref_of, refused};

/// A button moves between two panels during the walk: it is in one place, or the answer says that it isn't complete.
#[test]
fn node_moved_mid_walk() {
    let scene = Scene::new("node-moved-mid-walk");
    let data = scene.partial(&["--timeout-ms", "20000"]);
    for name in ["Button 1", "Button 2", "Panel 1", "Panel 2", "Panel 3"] {
        named(&data, name);
    }
    assert!(count(&data, "Button 3") <= 1, "{data:#}");
    // The next look has it where it is now.
    let after = scene.snapshot();
    let panel = named(&after, "Panel 1");
    assert_eq!(panel["children"].as_array().map_or(0, Vec::len), 2, "{after:#}");
    scene.pressed(&[]);
}

/// A panel goes during the walk: nothing below it is invented.
#[test]
fn removed_mid_walk() {
    let scene = Scene::new("removed-mid-walk");
    let data = scene.partial(&["--timeout-ms", "20000"]);
    for name in ["Button 1", "Button 2", "Panel 1", "Panel 2"] {
        named(&data, name);
    }
    assert_eq!(count(&data, "Button 3"), 0, "{data:#}");
    let after = scene.snapshot();
    assert_eq!(count(&after, "Panel 3"), 0, "{after:#}");
}

/// Renamed after the check, before the press: what was meant has another label now.
#[test]
fn renamed_between() {
    let scene = Scene::new("renamed-between");
    let ok = ref_of(&scene.snapshot(), "OK");
    refused(&scene.click(&ok), "STALE_REF", Some("label_changed"));
    scene.pressed(&[]);
}

/// Greyed out after the check, before the press.
#[test]
fn greyed_between() {
    let scene = Scene::new("greyed-between");
    let ok = ref_of(&scene.snapshot(), "OK");
    let reply = scene.desk.cli(&["click", &ok, "--timeout-ms", "1000"]);
    refused(&reply, "TIMEOUT", Some("actionability_timeout"));
    scene.pressed(&[]);
}

/// Removed after the check, before the press; the process lives.
#[test]
fn gone_between() {
    let scene = Scene::new("gone-between");
    let ok = ref_of(&scene.snapshot(), "OK");
    refused(&scene.click(&ok), "STALE_REF", Some("saved_ref_absent"));
    scene.pressed(&[]);
}
