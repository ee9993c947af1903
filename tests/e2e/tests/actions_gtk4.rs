//! Every action on GTK 4 widgets: exactly once, or not at all. A button's handler runs a quarter of a second after
//! DoAction has answered; the fixture's fence waits for it.

use agent_desktop_e2e::{Desk, Live, delivery, nodes, refs_named};
use serde_json::{Value, json};

fn on(scene: &str, test: impl Fn(&Live<'_>)) {
    let desk = Desk::new();
    test(&Live::start(&desk, "gtk4", scene));
}

#[test]
fn buttons() {
    on("controls", |live| {
        live.press_buttons();
        live.once(&["click", &live.only("link", "Manual")], "activated", "link", Value::Null);
    });
}

/// Rows of a list view say that they can be chosen only once they have been (4.8).
#[test]
fn rows_of_a_list_view_are_chosen() {
    on("huge", |live| {
        let list = live.only("list", "People");
        live.once_verified(&["select", &list, "Item00003"], "selected", "huge", json!("Item00003"));
        live.once_verified(&["select", &list, "Item00001"], "selected", "huge", json!("Item00001"));
    });
}

#[test]
fn dead_button() {
    on("controls", |live| live.press_dead());
}

#[test]
fn countdown_label() {
    let desk = Desk::new();
    Live::with(&desk, "gtk4", "controls", &["--animate"]).press_dead();
}

#[test]
fn disabled_button() {
    on("controls", |live| live.press_disabled());
}

#[test]
fn two_state_controls() {
    on("controls", |live| {
        live.two_states("switch", "Power", "switch");
        // A toggle button that isn't pressed can't be told from a plain one: it is clicked, not checked.
        let bold = live.only("button", "Bold");
        let error = live.refused(&["check", &bold], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
        assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("'click'")), "{error}");
        live.once(&["click", &bold], "toggled", "toggle", json!(true));
        let is = live.desk.ok(&["is", &bold, "--property", "checked"]);
        assert_eq!((&is["result"], &is["applicable"]), (&json!(true), &json!(true)), "{is}");
        live.once_verified(&["uncheck", &bold], "toggled", "toggle", json!(false));
        live.fold("button");
    });
}

/// GTK 4.8's check boxes and radio buttons have no action: the refusal says so and what would work.
#[test]
fn check_boxes_have_no_semantic_way() {
    on("controls", |live| {
        for name in ["Check me", "Green"] {
            let snapshot = live.snapshot();
            let found = ["checkbox", "radiobutton"].iter().flat_map(|r| refs_named(&snapshot, r, name)).next();
            let check = found.unwrap_or_else(|| panic!("{name} in {snapshot}"));
            let error = live.refused(&["check", &check], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
            let native = error["details"]["native_role"].as_str().unwrap_or("");
            assert!(native.starts_with("check"), "{error}");
            let error = live.refused(&["click", &check], "POLICY_DENIED", &["needs_headed"]);
            assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("physical input")), "{error}");
            let is = live.desk.ok(&["is", &check, "--property", "checked"]);
            assert_eq!((&is["result"], &is["applicable"]), (&json!(false), &json!(true)), "reading works: {is}");
        }
    });
}

#[test]
fn texts() {
    on("controls", |live| live.write_texts());
}

#[test]
fn secret_in_argv() {
    on("controls", |live| live.keep_secret(true));
}

#[test]
fn numbers_and_choices() {
    on("controls", |live| {
        live.set_numbers();
        live.choose_in_list("list");
        live.choose_in_combo();
        live.choose_tab("tablist");
    });
}

#[test]
fn scrolling() {
    on("controls", |live| {
        let name = live.only("textfield", "Name");
        live.refused(&["focus", &name], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
        live.scroll_to_far();
    });
}

/// Closed menus are not in the tree; opening one is told, its items have no action.
#[test]
fn menus() {
    on("menus", |live| {
        live.context_menu();
        let snapshot = live.snapshot();
        assert!(refs_named(&snapshot, "menuitem", "Cut").is_empty(), "{snapshot}");
        let button = nodes(&snapshot["tree"])
            .into_iter()
            .find(|n| n["name"] == "Edit menu" && n["ref_id"].is_string())
            .and_then(|n| n["ref_id"].as_str().map(str::to_owned))
            .expect("the menu button");
        let before = live.landed();
        let envelope = live.desk.cli(&["click", &button]).envelope();
        if envelope["ok"] == false {
            assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{envelope}");
        } else if delivery(&envelope["data"]) == "delivered_verified" {
            let open = live.desk.ok(&["list-surfaces", "--app", &live.app]);
            assert!(open["surfaces"].as_array().is_some_and(|s| !s.is_empty()), "{open}");
        }
        assert_eq!(live.landed(), before);
    });
}

#[test]
fn popup_by_itself() {
    on("controls", |live| live.popup());
}

/// A handler that runs a dialog in a loop of its own.
#[test]
fn button_opens_modal() {
    on("dialogs", |live| {
        let data = live.once(&["click", &live.only("button", "Run nested")], "clicked", "nested", Value::Null);
        assert_eq!(data["details"]["effect"], "surface_appeared", "{data}");
        let ok = refs_named(&live.snapshot_of("Dialog Nested"), "button", "OK");
        live.once(&["click", &ok[0]], "clicked", "dialog_nested_ok", Value::Null);
    });
}

#[test]
fn crash_is_not_gone() {
    on("crash", |live| live.crash());
}

#[test]
fn two_agents_interleave() {
    on("controls", |live| {
        live.ten_callers_press();
        live.ten_callers_type();
    });
}
