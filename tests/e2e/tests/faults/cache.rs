//! Whatever an application's cache says, the printed tree is the living one.

use crate::scene::{Scene, delivered, ref_of, refs_of, refused, within};
use agent_desktop_e2e::nodes;
use serde_json::Value;

/// Names of everything shown, in the order of the tree.
fn names(data: &Value) -> Vec<String> {
    nodes(&data["tree"]).into_iter().filter_map(|n| n["name"].as_str().map(str::to_owned)).collect()
}

fn living() -> Vec<String> {
    let mut all = vec!["Window".to_owned(), "Fruit".to_owned()];
    all.extend((0..20).map(|i| format!("Fruit {i}")));
    all.extend(["OK", "Cancel", "Nothing yet"].map(str::to_owned));
    all
}

fn equals_the_living_tree(scenario: &str) -> Scene {
    let scene = Scene::new(scenario);
    // Twice: the first read may have woken the cache up.
    for _ in 0..2 {
        assert_eq!(names(&scene.snapshot()), living(), "{scenario}");
    }
    let data = scene.snapshot();
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
    scene
}

#[test]
fn cache_good() {
    equals_the_living_tree("cache-good");
}

#[test]
fn cache_incomplete() {
    equals_the_living_tree("cache-incomplete");
}

#[test]
fn cache_after_listener() {
    equals_the_living_tree("cache-after-listener");
}

/// A cache that answers after three seconds holds nothing up.
#[test]
fn cache_late() {
    let scene = Scene::new("cache-late");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    within(&reply, 3_000);
    let data = reply.data();
    assert_eq!(data["complete"], true, "{data}");
    assert_eq!(names(&data), living());
}

/// A cache with an old name that is never renewed. No toolkit is known to answer so: what GetItems says is made at
/// that moment. Whoever believes it still acts on nothing that isn't what its ref says.
#[test]
fn cache_stale() {
    let scene = Scene::new("cache-stale");
    let data = scene.snapshot();
    assert_eq!(names(&data).len(), living().len());
    let button = refs_of(&data, "OK").into_iter().chain(refs_of(&data, "Old OK")).next().expect("the button");
    if refs_of(&data, "Old OK").is_empty() {
        delivered(&scene.click(&button), "delivered_unverified");
        scene.pressed(&["ok"]);
    } else {
        refused(&scene.click(&button), "STALE_REF", Some("label_changed"));
        scene.pressed(&[]);
    }
    scene.script("change");
    let after = scene.partial(&[]);
    for gone in refs_of(&after, "Fruit 3") {
        refused(&scene.desk.cli(&["get", &gone]), "STALE_REF", None);
    }
}
