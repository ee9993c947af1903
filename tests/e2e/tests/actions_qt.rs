//! Every action on Qt 5 and Qt 6 widgets: exactly once, or not at all.

use agent_desktop_e2e::{Desk, Live, beside, delivery};
use serde_json::{Value, json};

fn on(kind: &'static str, scene: &str, test: impl Fn(&Live<'_>)) {
    let desk = Desk::new();
    test(&Live::start(&desk, kind, scene));
}

fn both(scene: &str, test: impl Fn(&Live<'_>)) {
    for kind in ["qt5", "qt6"] {
        on(kind, scene, &test);
    }
}

#[test]
fn buttons() {
    both("controls", |live| live.press_buttons());
}

#[test]
fn dead_button() {
    both("controls", |live| live.press_dead());
}

#[test]
fn countdown_label() {
    for kind in ["qt5", "qt6"] {
        let desk = Desk::new();
        Live::with(&desk, kind, "controls", &["--animate"]).press_dead();
    }
}

/// Qt lists no actions on a disabled button and answers UnknownObject to any: it is disabled, neither gone nor mute.
#[test]
fn disabled_button() {
    both("controls", |live| live.press_disabled());
}

#[test]
fn two_state_controls() {
    both("controls", |live| {
        live.two_states("checkbox", "Check me", "check");
        live.two_states("checkbox", "Power", "switch");
        live.two_states("checkbox", "Bold", "toggle");
        live.radios();
        // The expander is a checkable button here.
        let more = live.only("checkbox", "More");
        live.once_verified(&["check", &more], "expanded", "more", json!(true));
    });
}

#[test]
fn texts_qt5() {
    on("qt5", "controls", |live| live.write_texts());
}

#[test]
fn texts_qt6() {
    on("qt6", "controls", |live| live.write_texts());
}

#[test]
fn secret_in_argv() {
    both("controls", |live| live.keep_secret(true));
}

#[test]
fn numbers_and_choices() {
    both("controls", |live| {
        live.set_numbers();
        live.choose_options("Greek");
        live.choose_tab("");
    });
}

/// Qt publishes no choice of tabs: neither yes nor no is claimed.
#[test]
fn chosen_tab_is_not_told() {
    both("controls", |live| {
        for name in ["General", "Advanced"] {
            let said = live.desk.ok(&["is", &live.only("tab", name), "--property", "selected"]);
            assert_eq!((&said["result"], &said["applicable"]), (&json!(false), &json!(false)), "{}: {said}", live.kind);
        }
        let found = live.desk.ok(&["find", "--app", &live.app, "--role", "tab", "--state", "selected=false"]);
        assert_eq!((&found["total_matches"], &found["untold"]), (&json!(0), &json!(2)), "{}: {found}", live.kind);
        let row = live.desk.ok(&["is", &live.only("option", "Alpha"), "--property", "selected"]);
        assert_eq!(row["applicable"], true, "{}: {row}", live.kind);
    });
}

/// Qt's combo boxes say yes to an item's action and keep their value: no choice is claimed.
#[test]
fn combo_says_selected() {
    both("controls", |live| {
        let pick = live.only("combobox", "Pick");
        let before = live.landed();
        let envelope = live.desk.cli(&["select", &pick, "Two"]).envelope();
        assert_eq!(live.field("pick"), if envelope["ok"] == true { "Two" } else { "One" }, "{}: {envelope}", live.kind);
        if envelope["ok"] == false {
            assert_eq!(envelope["error"]["details"]["kind"], "no_semantic_way", "{}: {envelope}", live.kind);
            assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{}: {envelope}", live.kind);
            assert_eq!(live.landed(), before);
        }
        let option = beside(&live.snapshot(), "Pick", "option", "Two");
        if let Some(option) = option {
            for action in [&["select", &option, "Two"][..], &["click", &option, "--timeout-ms", "0"]] {
                let envelope = live.desk.cli(action).envelope();
                let verified = delivery(&envelope["data"]) == "delivered_verified";
                assert!(!verified || live.field("pick") == "Two", "{} {action:?}: {envelope}", live.kind);
            }
        }
    });
}

#[test]
fn scrolling_and_focus() {
    both("controls", |live| {
        live.focus("textfield", "Name");
        live.once(&["click", &live.only("button", "Far away")], "clicked", "far", Value::Null);
    });
}

#[test]
fn menus() {
    both("menus", |live| {
        live.menu_items_closed();
        live.context_menu();
    });
}

/// An entry that can be checked says so only while it is on: refused with the way to go, never guessed.
#[test]
fn menu_entry_that_is_off() {
    both("menus", |live| {
        let entry = live.only("menuitem", "Show Toolbar");
        let error = live.refused(&["check", &entry], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
        assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("'click'")), "{}: {error}", live.kind);
        live.once(&["click", &entry], "toggled", "show_toolbar", json!(true));
        live.once_verified(&["uncheck", &entry], "toggled", "show_toolbar", json!(false));
        live.refused(&["uncheck", &entry], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
    });
}

#[test]
fn menu_opens_modal() {
    both("dialogs", |live| live.modal_from_menu(true));
}

#[test]
fn popup_by_itself() {
    both("controls", |live| live.popup());
}

#[test]
fn crash_is_not_gone() {
    both("crash", |live| live.crash());
}

#[test]
fn two_agents_interleave() {
    on("qt6", "controls", |live| {
        live.ten_callers_press();
        live.ten_callers_type();
    });
}
