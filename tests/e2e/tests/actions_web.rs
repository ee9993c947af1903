//! Every action on a page in Chromium and Firefox: exactly once, or not at all. Effects show up to half a second late.

use agent_desktop_e2e::{Desk, FOREIGN, Live, delivery, nodes, refs_named, wait_for};
use serde_json::{Value, json};

fn on(kind: &'static str, scene: &str, test: impl Fn(&Live<'_>)) {
    let desk = Desk::new();
    test(&Live::start(&desk, kind, scene));
}

fn buttons(kind: &'static str) {
    on(kind, "controls", |live| {
        live.press_buttons();
        live.press_dead();
        live.once(&["click", &live.only("link", "Manual")], "activated", "link", Value::Null);
    });
}

#[test]
fn buttons_chromium() {
    buttons("chromium");
}

#[test]
fn buttons_firefox() {
    buttons("firefox");
}

fn disabled_button(kind: &'static str) {
    on(kind, "controls", |live| live.press_disabled());
}

#[test]
fn disabled_button_chromium() {
    disabled_button("chromium");
}

#[test]
fn disabled_button_firefox() {
    disabled_button("firefox");
}

fn two_state_controls(kind: &'static str) {
    on(kind, "controls", |live| {
        live.two_states("checkbox", "Check me", "check");
        live.two_states("switch", "Power", "switch");
        let snapshot = live.snapshot();
        let bold = nodes(&snapshot["tree"]).into_iter().find(|n| n["name"] == "Bold").expect("Bold");
        if bold["available_actions"].to_string().contains("\"Toggle\"") {
            live.two_states("button", "Bold", "toggle");
        } else {
            // Firefox read early keeps calling it a push button: then it is clicked, and no state is claimed.
            assert_eq!(kind, "firefox", "{bold}");
            let bold = bold["ref_id"].as_str().expect("a ref");
            live.refused(&["check", bold], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
            live.once(&["click", bold], "toggled", "toggle", json!(true));
        }
        live.radios();
    });
}

#[test]
fn two_state_controls_chromium() {
    two_state_controls("chromium");
}

#[test]
fn two_state_controls_firefox() {
    two_state_controls("firefox");
}

fn countdown_label(kind: &'static str) {
    let desk = Desk::new();
    Live::with(&desk, kind, "controls", &["--animate"]).press_dead();
}

#[test]
fn countdown_label_chromium() {
    countdown_label("chromium");
}

#[test]
fn countdown_label_firefox() {
    countdown_label("firefox");
}

/// Firefox says yes to set text and keeps the field as it was; Chromium has no interface for it. Neither is claimed.
fn text_set_but_not(kind: &'static str) {
    on(kind, "controls", |live| {
        let name = live.only("textfield", "Name");
        for args in [&["set-value", &name, FOREIGN][..], &["type", &name, "x"], &["clear", &name]] {
            live.refused(args, "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
        }
        assert_eq!(live.field("name"), "");
        live.keep_secret(false);
    });
}

#[test]
fn text_set_but_not_chromium() {
    text_set_but_not("chromium");
}

#[test]
fn text_set_but_not_firefox() {
    text_set_but_not("firefox");
}

fn numbers_and_choices(kind: &'static str) {
    on(kind, "controls", |live| {
        live.set_numbers();
        live.choose_in_list("listbox");
        let snapshot = live.snapshot();
        let pick = nodes(&snapshot["tree"]).into_iter().find(|n| n["role"] == "combobox" && n["name"] == "Pick");
        let offers = pick.expect("Pick")["available_actions"].to_string();
        assert!(offers.contains("\"Select\""), "{kind}: what works is offered: {offers}");
        live.choose_in_combo();
        live.choose_tab("");
    });
}

#[test]
fn numbers_and_choices_chromium() {
    numbers_and_choices("chromium");
}

#[test]
fn numbers_and_choices_firefox() {
    numbers_and_choices("firefox");
}

fn scroll_to(kind: &'static str) {
    on(kind, "controls", |live| {
        let far = live.only("button", "Far away");
        let data = live.desk.ok(&["scroll-to", &far]);
        assert_eq!(delivery(&data), "delivered_verified", "{kind}: {data}");
        live.once(&["click", &far], "clicked", "far", Value::Null);
    });
}

#[test]
fn scroll_to_chromium() {
    scroll_to("chromium");
}

#[test]
fn scroll_to_firefox() {
    scroll_to("firefox");
}

/// Menus of the page are in the tree while they are open.
fn menus(kind: &'static str) {
    on(kind, "menus", |live| {
        // The browser has a menu of this name, too; the page stands behind it in the tree.
        let file = wait_for("the page's menu", || refs_named(&live.snapshot(), "menuitem", "File").pop());
        assert!(live.landed().is_empty());
        let data = live.desk.ok(&["click", &file]);
        assert_ne!(delivery(&data), "not_delivered", "{kind}: {data}");
        live.once(&["click", &live.only("menuitem", "New")], "menu", "new", Value::Null);
    });
}

#[test]
fn menus_chromium() {
    menus("chromium");
}

#[test]
fn menus_firefox() {
    menus("firefox");
}

fn dialog_by_itself(kind: &'static str) {
    on(kind, "controls", |live| live.popup());
}

#[test]
fn popup_by_itself_chromium() {
    dialog_by_itself("chromium");
}

#[test]
fn popup_by_itself_firefox() {
    dialog_by_itself("firefox");
}

fn tree(kind: &'static str) {
    on(kind, "tree", |live| {
        let fruits = live.only("treeitem", "Fruits");
        let data = live.desk.cli(&["expand", &fruits]).envelope();
        let opened = || live.fixture.state()["fields"]["tree"]["expanded"].clone();
        if data["ok"] == true {
            wait_for("Fruits to open", || (opened() == json!(["Fruits"])).then_some(()));
            // The press selects as well.
            assert_eq!(live.fixture.received("expanded").len(), 1, "{kind}: {data}");
        } else {
            assert_eq!(data["error"]["disposition"]["delivery"], "not_delivered", "{kind}: {data}");
            assert_eq!(opened(), json!([]), "{kind}");
            assert!(live.landed().is_empty(), "{kind}");
        }
    });
}

#[test]
fn tree_chromium() {
    tree("chromium");
}

#[test]
fn tree_firefox() {
    tree("firefox");
}

/// The browser is killed by the press.
#[test]
fn crash_is_not_gone() {
    let desk = Desk::new();
    let live = Live::start(&desk, "chromium", "crash");
    let crash = live.only("button", "Crash");
    let envelope = desk.cli(&["click", &crash]).envelope();
    assert_ne!(delivery(&envelope["data"]), "delivered_verified", "{envelope}");
    assert_ne!(envelope["data"]["details"]["effect"], "gone", "{envelope}");
    let gone = wait_for("the browser to end", || desk.cli(&["click", &crash]).envelope().get("error").cloned());
    assert_eq!(gone["disposition"]["delivery"], "not_delivered", "{gone}");
}

#[test]
fn two_agents_interleave() {
    on("chromium", "controls", |live| live.ten_callers_press());
}

/// The page's refs and the browser's own stand in one tree.
#[test]
fn browser_window_has_its_page() {
    for kind in ["chromium", "firefox"] {
        on(kind, "controls", |live| {
            let snapshot = live.snapshot();
            let areas = nodes(&snapshot["tree"]).into_iter().filter(|n| n["role"] == "webarea").count();
            assert!(areas >= 1, "{kind}: {snapshot}");
            assert_eq!(snapshot["complete"], true, "{kind}");
        });
    }
}
