//! What happened, not what was returned, and not what happened by itself.

use crate::scene::{Scene, delivered, ref_of, refused, within};
use serde_json::Value;

/// Dead buttons, told as such: delivered, nothing verified.
fn dead_button_in(scenario: &str) -> (Scene, Value) {
    let scene = Scene::new(scenario);
    let data = scene.partial(&["--timeout-ms", "20000"]);
    let reply = scene.click(&ref_of(&data, "Dead"));
    within(&reply, 10_000);
    let details = delivered(&reply, "delivered_unverified");
    scene.pressed(&["dead"]);
    (scene, details)
}

/// Something else moves all the time: a dead button is not called verified.
#[test]
fn animated_window() {
    let (scene, details) = dead_button_in("animated-window");
    assert_ne!(details["effect"], "target_changed", "{details}");
    let data = scene.partial(&["--timeout-ms", "20000"]);
    delivered(&scene.click(&ref_of(&data, "OK")), "delivered_unverified");
    scene.pressed(&["dead", "ok"]);
}

/// A label that counts down by itself.
#[test]
fn countdown_label() {
    let (_scene, details) = dead_button_in("countdown-label");
    assert_ne!(details["effect"], "target_changed", "{details}");
}

/// A dialog that opens by itself.
#[test]
fn popup_by_itself() {
    let (_scene, details) = dead_button_in("popup-by-itself");
    assert_ne!(details["effect"], "target_changed", "{details}");
}

/// A thousand events a second: the answer comes, and other commands go on.
#[test]
fn event_storm() {
    let (scene, _) = dead_button_in("event-storm");
    let data = scene.partial(&["--timeout-ms", "20000"]);
    let reply = scene.click(&ref_of(&data, "OK"));
    within(&reply, 10_000);
    delivered(&reply, "delivered_unverified");
    scene.pressed(&["dead", "ok"]);
}

/// A button without a handler, and one that says True without doing anything.
#[test]
fn dead_button() {
    let scene = Scene::new("action-lies");
    let data = scene.snapshot();
    for name in ["Dead", "Liar"] {
        let details = delivered(&scene.click(&ref_of(&data, name)), "delivered_unverified");
        assert_eq!(details["effect"], "none_observed", "{name}: {details}");
    }
    scene.pressed(&["dead", "liar"]);
}

/// A check box that springs back and one that never checks: the contradiction is reported, nothing is sent twice.
#[test]
fn toggle_cell_lie() {
    let scene = Scene::new("action-lies");
    let data = scene.snapshot();
    for name in ["Springs back", "Never checks"] {
        let error = scene.desk.err(&["check", &ref_of(&data, name)]);
        assert_eq!(error["code"], "ACTION_FAILED", "{error}");
        assert_eq!(error["details"]["kind"], "post_action_verification", "{error}");
        assert_eq!(error["disposition"]["retry"], "unsafe", "{error}");
    }
    scene.pressed(&["springs-back", "never-checks"]);
}

/// The field says that its text was set.
#[test]
fn text_set_but_not() {
    let scene = Scene::new("action-lies");
    let field = ref_of(&scene.snapshot(), "Unchanged");
    for args in [&["set-value", field.as_str(), "other"][..], &["type", &field, "more"]] {
        let error = scene.desk.err(args);
        assert_eq!(error["code"], "ACTION_FAILED", "{error}");
        assert_eq!(error["disposition"]["retry"], "unsafe", "{error}");
    }
    let writes = scene.writes();
    let members: Vec<&str> =
        writes.iter().filter_map(|w| w["member"].as_str()).filter(|m| *m != "SetCaretOffset").collect();
    assert_eq!(members, ["SetTextContents", "InsertText"], "{writes:#?}");
}

/// It says False, and it did it: never "not delivered".
#[test]
fn false_is_no_proof() {
    let scene = Scene::new("action-lies");
    let reply = scene.click(&ref_of(&scene.snapshot(), "Says False"));
    let envelope = reply.envelope();
    let delivery = envelope.pointer("/data/disposition/delivery").or(envelope.pointer("/error/disposition/delivery"));
    let delivery = delivery.and_then(Value::as_str).expect("a delivery");
    assert!(["delivery_uncertain", "delivered_unverified"].contains(&delivery), "{envelope}");
    scene.pressed(&["says-false"]);
    assert_eq!(scene.node("status")["name"], "says-false");
}

/// Not sensitive: refused before anything is sent; pressed once when it becomes so in time.
#[test]
fn disabled_button() {
    let scene = Scene::new("insensitive-button");
    let grey = ref_of(&scene.snapshot(), "Grey");
    for ms in ["0", "400"] {
        let reply = scene.desk.cli(&["click", &grey, "--timeout-ms", ms]);
        let error = refused(&reply, "TIMEOUT", Some("actionability_timeout"));
        assert_eq!(error["recovery"]["strategy"], "wait_then_retry_original", "{error}");
    }
    assert_eq!(scene.desk.ok(&["is", &grey, "--property", "enabled"])["result"], false);
    scene.pressed(&[]);
    scene.script("enable_later");
    let reply = scene.desk.cli(&["click", &grey, "--timeout-ms", "20000"]);
    delivered(&reply, "delivered_unverified");
    scene.pressed(&["grey"]);
    assert_eq!(scene.node("status")["name"], "Grey was pressed");
}

/// The actions with a post-condition are verified by reading it back, each by one write.
#[test]
fn sent_is_not_done() {
    let scene = Scene::new("simple");
    let data = scene.snapshot();
    let (entry, check) = (ref_of(&data, "Your name"), ref_of(&data, "Remember me"));
    delivered(&scene.desk.cli(&["set-value", &entry, "Grace"]), "delivered_verified");
    assert_eq!(scene.node("entry")["text"], "Grace");
    delivered(&scene.desk.cli(&["check", &check]), "delivered_verified");
    let again = scene.desk.ok(&["check", &check]);
    assert_eq!(again["details"]["already_satisfied"], true, "{again}");
    assert_eq!(scene.desk.ok(&["is", &check, "--property", "checked"])["result"], true);
    assert_eq!(scene.writes().len(), 2, "{:#?}", scene.writes());
}
