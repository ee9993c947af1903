//! Whatever an application's cache says, the printed tree is the living one.

use crate::scene::{Scene, delivered, ref_of, within};
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

/// The cache has an old name and, after a change, what is gone.
#[test]
fn cache_stale() {
    let scene = equals_the_living_tree("cache-stale");
    scene.script("change");
    let mut wanted = living();
    let last = wanted.len() - 1;
    wanted[last] = "OK was pressed".to_owned();
    wanted.retain(|n| n != "Fruit 3");
    if let Some(four) = wanted.iter_mut().find(|n| *n == "Fruit 4") {
        *four = "Renamed".to_owned();
    }
    let after = wanted.iter().position(|n| n == "Fruit 19").expect("the last fruit");
    wanted.insert(after + 1, "New fruit".to_owned());
    assert_eq!(names(&scene.snapshot()), wanted);
}
