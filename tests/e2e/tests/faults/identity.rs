//! A ref means the element it was printed for, or nothing.

use crate::scene::{Scene, delivered, ref_of, refs_of, refused};

/// Deletes of a list whose slots show other rows after scrolling: refused; after scrolling back they work.
#[test]
fn recycled_row() {
    let scene = Scene::new("slot-recycling");
    let data = scene.snapshot();
    let deletes = refs_of(&data, "Delete");
    assert_eq!(deletes.len(), 8, "{data:#}");
    scene.script("scroll");
    for delete in &deletes {
        refused(&scene.click(delete), "STALE_REF", Some("context_changed"));
        refused(&scene.desk.cli(&["get", delete]), "STALE_REF", Some("context_changed"));
    }
    scene.pressed(&[]);
    scene.script("restore");
    let details = delivered(&scene.click(&deletes[2]), "delivered_unverified");
    assert_eq!(details["identity"], "witnessed", "{details}");
    scene.pressed(&["delete-2"]);
}

/// One row was inserted, as GTK 4 does it: addresses stay with the slots' widgets, which have moved. The slot that
/// now shows the new row is refused; no row that wasn't meant is ever deleted.
#[test]
fn renumbered_refs() {
    let scene = Scene::new("slot-recycling");
    let deletes = refs_of(&scene.snapshot(), "Delete");
    scene.script("insert");
    // Its widget shows "New person" now.
    refused(&scene.click(&deletes[7]), "STALE_REF", None);
    let mut hit = Vec::new();
    for (row, delete) in deletes.iter().enumerate().take(7) {
        let reply = scene.click(delete);
        if reply.code == 0 {
            hit.push(format!("delete-{row}"));
        } else {
            refused(&reply, "STALE_REF", None);
        }
    }
    scene.pressed(&hit.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The row of the ref is gone and one other row with an equal button remains.
#[test]
fn only_row_left() {
    let scene = Scene::new("only-row-left");
    let deletes = refs_of(&scene.snapshot(), "Delete");
    assert_eq!(deletes.len(), 2);
    scene.script("remove");
    refused(&scene.click(&deletes[0]), "STALE_REF", Some("saved_ref_absent"));
    scene.pressed(&[]);
    delivered(&scene.click(&deletes[1]), "delivered_unverified");
    scene.pressed(&["delete-bob"]);
}

/// Two rows of equal text and equal buttons: the one that was meant, or none.
#[test]
fn same_label_rows() {
    let scene = Scene::new("same-label-rows");
    let deletes = refs_of(&scene.snapshot(), "Delete");
    assert_eq!(deletes.len(), 2);
    delivered(&scene.click(&deletes[1]), "delivered_unverified");
    scene.pressed(&["delete-2"]);
    // The first is now where a name alone would look for either.
    refused(&scene.click(&deletes[1]), "STALE_REF", Some("saved_ref_absent"));
    delivered(&scene.click(&deletes[0]), "delivered_unverified");
    scene.pressed(&["delete-2", "delete-1"]);
}

/// Two equal buttons side by side: each ref presses its own.
#[test]
fn two_identical_buttons() {
    let scene = Scene::new("twin-buttons");
    let oks = refs_of(&scene.snapshot(), "OK");
    assert_eq!(oks.len(), 2);
    let details = delivered(&scene.click(&oks[1]), "delivered_unverified");
    assert_eq!(details["identity"], "retained", "{details}");
    scene.pressed(&["second"]);
    delivered(&scene.click(&oks[0]), "delivered_unverified");
    scene.pressed(&["second", "first"]);
}

/// Equal labels in equal places: the descriptions tell them apart, and one that changes its description is refused.
#[test]
fn descriptions_tell_equal_labels_apart() {
    let scene = Scene::new("described-siblings");
    let data = scene.snapshot();
    let [tuesday, thursday] = &refs_of(&data, "T")[..] else { panic!("{data:#}") };
    let details = delivered(&scene.click(thursday), "delivered_unverified");
    assert_eq!(details["identity"], "witnessed", "{details}");
    delivered(&scene.click(tuesday), "delivered_unverified");
    scene.pressed(&["thu", "tue"]);
    scene.script("swap");
    refused(&scene.click(tuesday), "STALE_REF", Some("context_changed"));
    refused(&scene.desk.cli(&["get", thursday]), "STALE_REF", Some("context_changed"));
    scene.pressed(&["thu", "tue"]);
    scene.script("swap");
    // A label that tells by itself is not bound to its description.
    scene.script("reword");
    delivered(&scene.click(&ref_of(&data, "M")), "delivered_unverified");
    scene.pressed(&["thu", "tue", "mon"]);
}

/// Dialog A's only OK is gone, dialog B has an only OK.
#[test]
fn dialog_replaced() {
    let scene = Scene::new("dialog-replaced");
    let windows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    let dialog = windows.as_array().expect("rows").iter().find(|w| w["title"] == "Save changes?");
    let id = dialog.unwrap_or_else(|| panic!("{windows}"))["id"].as_str().expect("an id").to_owned();
    let data = scene.desk.ok(&["snapshot", "--app", &scene.app, "--window-id", &id]);
    let ok = ref_of(&data, "OK");
    scene.script("replace");
    refused(&scene.click(&ok), "STALE_REF", Some("saved_ref_absent"));
    refused(&scene.desk.cli(&["get", &ok]), "STALE_REF", Some("saved_ref_absent"));
    scene.pressed(&[]);
}

/// Play becomes Pause by being pressed: it is not gone, and is not pressed as Play again.
#[test]
fn label_changes_with_state() {
    let scene = Scene::new("label-changes");
    let data = scene.snapshot();
    let (play, next) = (ref_of(&data, "Play"), ref_of(&data, "Next"));
    let details = delivered(&scene.click(&play), "delivered_unverified");
    assert_eq!(details["effect"], "target_changed", "{details}");
    let title = scene.desk.ok(&["get", &play, "--property", "title"]);
    assert_eq!(title["value"], "Pause", "{title}");
    assert_eq!(title["details"]["renamed"]["was"], "Play", "{title}");
    refused(&scene.click(&play), "STALE_REF", Some("label_changed"));
    scene.script("install");
    refused(&scene.click(&next), "STALE_REF", Some("label_changed"));
    scene.pressed(&["play"]);
}

/// The window is closed but everything in it goes on answering.
#[test]
fn orphans() {
    let scene = Scene::new("orphans");
    let windows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    let chooser = windows.as_array().expect("rows").iter().find(|w| w["title"] == "Choose a file");
    let id = chooser.unwrap_or_else(|| panic!("{windows}"))["id"].as_str().expect("an id").to_owned();
    let data = scene.desk.ok(&["snapshot", "--app", &scene.app, "--window-id", &id]);
    let open = ref_of(&data, "Open");
    scene.script("close");
    refused(&scene.click(&open), "STALE_REF", Some("retained_object_stale"));
    refused(&scene.desk.cli(&["get", &open]), "STALE_REF", Some("retained_object_stale"));
    scene.pressed(&[]);
}

/// Parent is null, somewhere else, itself: only the child lists count.
#[test]
fn parent_lies() {
    let scene = Scene::new("parent-lies");
    let data = scene.snapshot();
    for name in ["Null", "Elsewhere", "Self"] {
        delivered(&scene.click(&ref_of(&data, name)), "delivered_unverified");
    }
    scene.pressed(&["null-parent", "elsewhere", "self-parent"]);
}

/// Only refs with their snapshot's id, and only of snapshots that exist.
#[test]
fn refs_are_qualified() {
    let scene = Scene::new("simple");
    let ok = ref_of(&scene.snapshot(), "OK");
    let (snapshot, number) = ok.split_once(':').expect("a qualified ref");
    for bare in
        [number, &format!("@{number}"), snapshot, "@:e1", "@s1:1", "ok", "", &format!("{ok} "), &format!("{ok}x")]
    {
        refused(&scene.click(bare), "INVALID_ARGS", None);
    }
    refused(&scene.click(&format!("{snapshot}:e99999")), "STALE_REF", None);
    refused(&scene.click(&format!("@s0000nothere:{number}")), "SNAPSHOT_NOT_FOUND", None);
    let reply = scene.desk.cli(&["click", &ok, "--session", "another"]);
    refused(&reply, "SNAPSHOT_NOT_FOUND", None);
    scene.pressed(&[]);
}
