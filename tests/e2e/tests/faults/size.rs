//! Trees without end: bounded time, bounded memory, and an answer that says what is missing.

use crate::scene::{Scene, count, delivered, named, ref_of, refused, within};
use agent_desktop_e2e::nodes;
use std::io::Read;

/// Peak memory of one command in KiB, and what it printed.
fn peak(scene: &Scene, args: &[&str]) -> (u64, String) {
    let mut child = scene.desk.cli_spawn(args);
    let mut out = child.stdout.take().expect("its output");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("its state").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let now =
            text.lines().find_map(|l| l.strip_prefix("VmHWM:")).and_then(|l| l.split_whitespace().next()?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (peak, reader.join().expect("the reader").expect("UTF-8"))
}

fn many(scenario: &str) {
    let scene = Scene::new(scenario);
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    within(&reply, 3_000);
    let data = reply.data();
    assert_eq!(data["complete"], false);
    assert_eq!(data["truncated"], true);
    assert!(data["nodes_observed"].as_u64().is_some_and(|n| n <= 50_000), "{}", data["nodes_observed"]);
    assert!(nodes(&data["tree"]).iter().any(|n| n["subtree_truncated"] == true), "no element says that it is cut");
    for list in nodes(&data["tree"]) {
        let children = list["children"].as_array().map_or(0, Vec::len);
        assert!(children <= 4_096, "{children} children");
    }
    let (kib, out) = peak(&scene, &["snapshot", "--app", &scene.app]);
    assert!(!out.is_empty() && kib > 0 && kib < 400 * 1024, "{kib} KiB");
    // What was not reached is not absent.
    let args = ["find", "--app", &scene.app, "--name", "no such thing", "--timeout-ms", "3000"];
    refused(&scene.desk.cli(&args), "TIMEOUT", Some("locator_incomplete"));
    scene.no_violation();
}

#[test]
fn hundred_thousand() {
    many("hundred-thousand");
}

#[test]
fn hundred_thousand_cached() {
    many("hundred-thousand-cached");
}

#[test]
fn hundred_thousand_tree() {
    many("hundred-thousand-tree");
}

/// A sheet of 2,147,483,647 children: its children are never asked for as a list, by any command.
#[test]
fn billion_cells() {
    let scene = Scene::new("huge-child-count");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app, "--include-bounds"]);
    within(&reply, 3_000);
    let data = reply.data();
    let sheet = named(&data, "Sheet 1");
    assert_eq!(sheet["children_count"], 2_147_483_647_u32, "{sheet}");
    assert_eq!(sheet["subtree_truncated"], true, "{sheet}");
    for name in ["OK", "Cancel"] {
        named(&data, name);
    }
    scene.no_violation();
    let found = scene.desk.ok(&["find", "--app", &scene.app, "--name", "Cancel", "--first"]);
    assert_eq!(found["match"]["name"], "Cancel");
    let _ = scene.desk.cli(&["find", "--app", &scene.app, "--role", "cell"]).envelope();
    let _ = scene.desk.cli(&["snapshot", "--app", &scene.app, "--skeleton"]).data();
    if let Some(sheet) = sheet["ref_id"].as_str() {
        let _ = scene.desk.cli(&["snapshot", "--root", sheet]).envelope();
        let _ = scene.desk.cli(&["get", sheet]).envelope();
    }
    if count(&data, "B2") == 1
        && let Some(cell) = named(&data, "B2")["ref_id"].as_str()
    {
        let _ = scene.desk.cli(&["get", cell]).data();
    }
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
}

/// 10,000 panels inside one another.
#[test]
fn ten_thousand_deep_chain() {
    let scene = Scene::new("deep-chain");
    for depth in ["10", "50", "255"] {
        let reply = scene.desk.cli(&["snapshot", "--app", &scene.app, "--max-depth", depth]);
        within(&reply, 3_000);
        let data = reply.data();
        assert_eq!(data["complete"], false, "{depth}");
        named(&data, "OK");
        named(&data, "Cancel");
    }
    let args = ["find", "--app", &scene.app, "--name", "no such thing"];
    refused(&scene.desk.cli(&args), "TIMEOUT", Some("locator_incomplete"));
    let data = scene.partial(&[]);
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["ok"]);
}
