//! Replies that come late, never, or as an error; processes that die on the way.

use crate::scene::{Scene, delivered, ref_of, refused, within};
use agent_desktop_e2e::Reply;
use serde_json::{Value, json};

fn clicks(scene: &Scene, chain_ms: &str, names: &[&str]) -> Vec<Reply> {
    let data = scene.snapshot();
    let click = |name: &&str| {
        let env = [("AGENT_DESKTOP_CHAIN_TIMEOUT_MS", chain_ms)];
        let reply = scene.desk.cli_with(&["click", &ref_of(&data, name)], &env, None);
        within(&reply, 10_000);
        if names.len() > 1 {
            // What this one does late must not be seen as an effect of the next one.
            scene.settle();
        }
        reply
    };
    names.iter().map(click).collect()
}

/// It was sent and no reply came in time: nobody knows, and nobody sends it again.
fn uncertain(reply: &Reply) {
    let error = reply.error();
    assert_eq!(error["code"], "TIMEOUT", "{error}");
    assert_eq!(error["details"]["kind"], "chain_deadline", "{error}");
    assert_eq!(error["disposition"], json!({"delivery": "delivery_uncertain", "retry": "unsafe"}), "{error}");
    assert!(error.get("recovery").is_none(), "{error}");
}

/// Three of five can't be known by the deadline. Each button has received exactly one press, also after every late
/// reply has come, and nothing else was sent to anything.
#[test]
fn fallback_after_timeout() {
    let scene = Scene::new("late-actions");
    let names = ["Late effect and reply", "Late reply, no effect", "Nothing at all"];
    clicks(&scene, "500", &names).iter().for_each(uncertain);
    scene.pressed(&["late-effect", "late-no-effect", "no-effect-no-reply"]);
    // The one that landed late did land, once.
    let late: Vec<Value> = scene.logged("late_reply").into_iter().filter(|l| l["effect"] == true).collect();
    assert_eq!(late.len(), 1, "{late:?}");
}

/// An effect without a reply is an answer: delivered, the reply pending.
#[test]
fn effect_before_the_reply() {
    let scene = Scene::new("late-actions");
    for reply in clicks(&scene, "5000", &["Effect, late reply", "Effect, no reply"]) {
        let details = delivered(&reply, "delivered_unverified");
        assert_eq!(details["effect"], "changed_elsewhere", "{details}");
    }
    scene.pressed(&["effect-late-reply", "effect-no-reply"]);
    assert_eq!(scene.node("status")["name"], "effect-no-reply");
}

/// With enough time the same late replies are plain answers.
#[test]
fn chain_deadline() {
    let scene = Scene::new("late-actions");
    let replies = clicks(&scene, "20000", &["Late effect and reply", "Late reply, no effect"]);
    let details = delivered(&replies[0], "delivered_unverified");
    assert!(details["reply"].is_null(), "{details}");
    let details = delivered(&replies[1], "delivered_unverified");
    assert_eq!(details["effect"], "none_observed", "{details}");
    scene.pressed(&["late-effect", "late-no-effect"]);
    // Nothing was sent, so it is no wrong value that is reported.
    let data = scene.snapshot();
    for wrong in ["", "x", "-1", "1.5"] {
        let env = [("AGENT_DESKTOP_CHAIN_TIMEOUT_MS", wrong)];
        let reply = scene.desk.cli_with(&["click", &ref_of(&data, "Nothing at all")], &env, None);
        refused(&reply, "INVALID_ARGS", None);
    }
    scene.pressed(&["late-effect", "late-no-effect"]);
}

/// An error reply proves nothing: the effect may have come first. Nothing else is tried.
#[test]
fn delivery_uncertain() {
    let scene = Scene::new("error-replies");
    let replies = clicks(&scene, "1500", &["Refused", "Failed after", "NoReply"]);
    for reply in &replies[..2] {
        let error = reply.error();
        assert_eq!(error["code"], "ACTION_FAILED", "{error}");
        assert_eq!(error["disposition"]["delivery"], "delivery_uncertain", "{error}");
    }
    // "No reply" as an error is no reply; its effect was seen.
    let details = delivered(&replies[2], "delivered_unverified");
    assert_eq!(details["effect"], "changed_elsewhere", "{details}");
    scene.pressed(&["refused", "failed-after", "no-reply-error"]);
}

/// It died between the check and the press: nothing was sent.
#[test]
fn dies_between() {
    let scene = Scene::new("dies-between");
    let reply = &clicks(&scene, "5000", &["OK"])[0];
    refused(reply, "STALE_REF", Some("saved_ref_absent"));
    assert_eq!(scene.logged("write").len(), 0);
}

/// It died of the press before any reply: it may have had its effect.
#[test]
fn dies_on_action() {
    let scene = Scene::new("dies-on-action");
    let error = clicks(&scene, "5000", &["OK"])[0].error();
    assert_eq!(error["disposition"]["delivery"], "delivery_uncertain", "{error}");
    assert_eq!(error["details"]["kind"], "process_ended", "{error}");
    assert_eq!(scene.logged("write").len(), 1);
}

/// It said yes and died: the element did not "go away, done".
#[test]
fn crash_is_not_gone() {
    let scene = Scene::new("dies-after-action");
    let details = delivered(&clicks(&scene, "5000", &["OK"])[0], "delivered_unverified");
    assert_eq!(details["process_ended"], true, "{details}");
    assert_ne!(details["effect"], "gone", "{details}");
    assert_eq!(scene.logged("write").len(), 1);
}

/// The handler runs a modal dialog: the dialog shows, the reply stays away. Not a timeout, not pressed again.
#[test]
fn menu_opens_modal() {
    let scene = Scene::new("modal-reply");
    for (name, id, title) in [("Open…", "modal", "Open a file"), ("Save…", "slow", "Save a file")] {
        let data = scene.desk.ok(&["snapshot", "--app", &scene.app, "--window-id", &main_window(&scene)]);
        let reply = scene.click(&ref_of(&data, name));
        let details = delivered(&reply, "delivered_unverified");
        assert_eq!(details["effect"], "surface_appeared", "{details}");
        assert_eq!(details["reply"], "pending", "{details}");
        assert_eq!(scene.provider.writes(id, "DoAction"), 1);
        // The dialog is read and answered while the reply is still away.
        let dialog = scene.desk.ok(&["find", "--app", &scene.app, "--surface", "alert", "--name", "OK", "--first"]);
        let ok = dialog["match"]["ref_id"].as_str().unwrap_or_else(|| panic!("{title}: {dialog}")).to_owned();
        scene.click(&ok).data();
    }
    scene.pressed(&["modal", "dialog-ok", "slow", "dialog-slow-ok"]);
}

fn main_window(scene: &Scene) -> String {
    let windows = scene.desk.ok(&["list-windows", "--app", &scene.app]);
    let rows = windows.as_array().expect("rows");
    let row = rows.iter().find(|w| w["title"] == "Window").unwrap_or_else(|| panic!("{windows}"));
    row["id"].as_str().expect("an id").to_owned()
}
