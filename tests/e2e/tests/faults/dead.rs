//! Removed elements, as each toolkit answers for them: gone is gone, and an equal element in the place is another one.

use crate::scene::{Scene, delivered, ref_of, refused};

fn dead(scenario: &str) {
    let scene = Scene::new(scenario);
    let data = scene.snapshot();
    let (doomed, ok) = (ref_of(&data, "Doomed"), ref_of(&data, "OK"));
    assert_eq!(scene.desk.ok(&["get", &doomed, "--property", "title"])["value"], "Doomed");
    scene.script("remove");
    for args in [&["get", doomed.as_str()][..], &["is", &doomed], &["click", &doomed], &["snapshot", "--root", &doomed]]
    {
        refused(&scene.desk.cli(args), "STALE_REF", Some("saved_ref_absent"));
    }
    // A wait for it ends at once: a dead address never lives again.
    let reply = scene.desk.cli(&["wait", "--element", &doomed, "--timeout", "60000"]);
    refused(&reply, "STALE_REF", Some("saved_ref_absent"));
    // The others stay what they were.
    delivered(&scene.click(&ok), "delivered_unverified");
    scene.pressed(&["ok"]);
    let after = scene.snapshot();
    assert_eq!(crate::scene::count(&after, "Doomed"), 0, "{after:#}");
}

fn replaced(scenario: &str) {
    let scene = Scene::new(scenario);
    let data = scene.snapshot();
    let doomed = ref_of(&data, "Doomed");
    scene.script("replace");
    for args in [&["get", doomed.as_str()][..], &["click", &doomed]] {
        refused(&scene.desk.cli(args), "STALE_REF", Some("saved_ref_absent"));
    }
    scene.pressed(&[]);
    // A new snapshot has the new one.
    let new = ref_of(&scene.snapshot(), "Doomed");
    delivered(&scene.click(&new), "delivered_unverified");
    assert_eq!(scene.node("status")["name"], "The new Doomed was pressed");
    scene.pressed(&["doomed"]);
}

macro_rules! toolkits {
    ($($name:ident $replaced:ident $scenario:literal),* $(,)?) => {$(
        #[test]
        fn $name() {
            dead($scenario);
        }

        #[test]
        fn $replaced() {
            replaced($scenario);
        }
    )*};
}

toolkits! {
    dead_gtk3 replaced_in_place_gtk3 "dead-gtk3",
    dead_gtk3_defunct replaced_in_place_gtk3_defunct "dead-gtk3-defunct",
    dead_gtk3_tombstone replaced_in_place_gtk3_tombstone "dead-gtk3-tombstone",
    dead_gtk4 replaced_in_place_gtk4 "dead-gtk4",
    dead_qt replaced_in_place_qt "dead-qt",
    dead_gecko replaced_in_place_gecko "dead-gecko",
}
