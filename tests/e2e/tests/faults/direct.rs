//! Silent on the bus, answering on the direct line: the application is workable, and everything is sent once.

use crate::scene::{Scene, delivered, ref_of, refused, within};
use serde_json::{Value, json};

fn silence(scene: &Scene, only_bus: bool) {
    scene.provider.control(json!({"cmd": "hang", "only_bus": only_bus}));
}

/// What was never sent again is not among what came in while it was silent.
fn no_write_was_held(scene: &Scene) {
    assert_eq!(scene.logged("held").len(), 0, "{:?}", scene.logged("held"));
}

/// Every read, every list and every action goes on, without a ref that was made then being another one afterwards.
#[test]
fn silent_on_the_bus() {
    let scene = Scene::new("direct-line");
    let before = scene.snapshot();
    let ok = ref_of(&before, "OK");
    let listed = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    silence(&scene, true);
    let apps = scene.desk.ok(&["list-apps"]);
    let row = apps["apps"].as_array().expect("rows").iter().find(|a| a["pid"] == scene.provider.pid);
    assert_ne!(row.expect("its row")["responsive"], false, "{apps}");
    assert!(apps["unresponsive"].as_array().is_none_or(Vec::is_empty), "{apps}");
    let windows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    assert_eq!(windows[0]["id"], listed[0]["id"], "an id lives as long as its window");
    assert_eq!(windows[0]["responsive"], listed[0]["responsive"], "{windows}");
    let reply = scene.desk.cli(&["snapshot", "--app", &scene.app]);
    within(&reply, 3_000);
    assert_eq!(reply.data()["complete"], true);
    assert_eq!(scene.desk.ok(&["get", &ok, "--property", "title"])["value"], "OK");
    scene.desk.ok(&["wait", "--element", &ok, "--timeout", "5000"]);
    scene.desk.ok(&["list-surfaces", "--app", &scene.app]);
    delivered(&scene.click(&ok), "delivered_unverified");
    assert_eq!(scene.provider.writes("ok", "DoAction"), 1);
    no_write_was_held(&scene);
    scene.provider.control(json!({"cmd": "resume"}));
    // The same element on the bus as well.
    assert_eq!(scene.desk.ok(&["get", &ok, "--property", "title"])["value"], "OK");
    scene.pressed(&["ok"]);
}

/// The press itself silences the bus: the dialog is told of, although no event told of it, and answered.
#[test]
fn the_press_silences_the_bus() {
    let scene = Scene::new("direct-line");
    let save_as = ref_of(&scene.snapshot(), "Save As…");
    let reply = scene.click(&save_as);
    let data = reply.data();
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    assert_eq!(data["details"]["effect"], "surface_appeared", "{data}");
    assert_eq!(data["details"]["reply"], "pending", "{data}");
    assert!(data["surfaces"].to_string().contains("Save As"), "{data}");
    answer(&scene);
    scene.settle();
    no_write_was_held(&scene);
    let writes: Vec<Value> = scene.logged("write");
    let pressed = |id: &str| writes.iter().filter(|w| w["node"] == id && w["member"] == "DoAction").count();
    assert_eq!((pressed("save-as"), pressed("write")), (1, 1), "{writes:#?}");
}

/// Fills in the dialog and presses its button.
fn answer(scene: &Scene) {
    let find = |name: &str| {
        let found =
            scene.desk.ok(&["find", "--app", &scene.app, "--surface", "alert", "--name", name, "--exact", "--first"]);
        found["match"]["ref_id"].as_str().unwrap_or_else(|| panic!("{name}: {found}")).to_owned()
    };
    let data = scene.desk.ok(&["set-value", &find("File"), "notes.txt"]);
    assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
    assert_eq!(scene.node("file")["text"], "notes.txt");
    scene.click(&find("Save")).data();
}

/// Connected and mute: as silent as without a line.
#[test]
fn silent_on_the_line_as_well() {
    let scene = Scene::new("direct-line");
    let ok = ref_of(&scene.snapshot(), "OK");
    silence(&scene, false);
    let commands: &[(&[&str], u64)] = &[
        (&["snapshot", "--app", &scene.app, "--timeout-ms", "1500"], 1_500),
        (&["list-surfaces", "--app", &scene.app], 5_000),
        (&["get", &ok], 5_000),
        (&["click", &ok, "--timeout-ms", "1500"], 1_500),
    ];
    for (args, budget) in commands {
        let reply = scene.desk.cli(args);
        refused(&reply, "APP_UNRESPONSIVE", None);
        within(&reply, *budget);
    }
    let apps = scene.desk.ok(&["list-apps"]);
    assert_eq!(apps["unresponsive"][0]["pid"], scene.provider.pid, "{apps}");
    scene.provider.control(json!({"cmd": "resume"}));
    assert_eq!(scene.writes(), Vec::<Value>::new());
    no_write_was_held(&scene);
}
