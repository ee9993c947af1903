//! Every action on GTK 3 widgets: exactly once, or not at all.

use agent_desktop_e2e::{Desk, Live, delivery, nodes, refs_named};
use serde_json::{Value, json};

fn on(scene: &str, test: impl Fn(&Live<'_>)) {
    let desk = Desk::new();
    test(&Live::start(&desk, "gtk3", scene));
}

#[test]
fn buttons() {
    on("controls", |live| {
        live.press_buttons();
        let link = live.only("button", "Manual");
        live.once(&["click", &link], "activated", "link", Value::Null);
    });
}

#[test]
fn dead_button() {
    on("controls", |live| live.press_dead());
}

#[test]
fn countdown_label() {
    let desk = Desk::new();
    Live::with(&desk, "gtk3", "controls", &["--animate"]).press_dead();
}

#[test]
fn disabled_button() {
    on("controls", |live| live.press_disabled());
}

#[test]
fn two_state_controls() {
    on("controls", |live| {
        live.two_states("checkbox", "Check me", "check");
        live.two_states("button", "Bold", "toggle");
        live.two_states("button", "Power", "switch");
        live.radios();
        live.fold("button");
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
        live.choose_in_list("listbox");
        live.choose_in_combo();
        live.choose_tab("tablist");
    });
}

#[test]
fn scrolling_and_focus() {
    on("controls", |live| {
        live.focus("textfield", "Name");
        live.scroll_to_far();
    });
}

/// Scrolling by amounts moves what is shown, there and back.
#[test]
fn scroll() {
    on("controls", |live| {
        let snapshot = live.snapshot();
        let all = nodes(&snapshot["tree"]);
        let pane = all.iter().find(|n| n["role"] == "scrollarea" && n["ref_id"].is_string()).expect("a pane");
        let pane = pane["ref_id"].as_str().expect("its ref").to_owned();
        let place = || {
            let snapshot = live.snapshot();
            let bars = nodes(&snapshot["tree"]).into_iter().filter(|n| n["role"] == "scrollbar");
            bars.filter_map(|n| n["value"].as_str()?.parse::<f64>().ok()).fold(0.0, f64::max)
        };
        assert_eq!(place(), 0.0);
        let data = live.desk.ok(&["scroll", &pane, "--direction", "down", "--amount", "3"]);
        assert_ne!(delivery(&data), "not_delivered", "{data}");
        assert!(place() > 0.0, "{data}");
        live.desk.ok(&["scroll", &pane, "--direction", "up", "--amount", "5"]);
        assert_eq!(place(), 0.0);
        assert!(live.landed().is_empty());
    });
}

#[test]
fn menus() {
    on("menus", |live| {
        live.menu_items_closed();
        live.context_menu();
    });
}

#[test]
fn tree() {
    on("tree", |live| {
        let fruits = live.only("cell", "Fruits");
        live.lands(&["expand", &fruits], &json!({"event": "expanded", "row": "Fruits", "value": true}));
        assert_eq!(live.fixture.state()["tree"]["expanded"], json!(["Fruits"]));
        live.satisfied(&["expand", &fruits]);
        live.lands(&["collapse", &fruits], &json!({"event": "expanded", "row": "Fruits", "value": false}));
    });
}

/// Four actions of a check cell say yes and toggle nothing: never called verified, never called done.
#[test]
fn toggle_cell_lie() {
    on("table", |live| {
        let snapshot = live.snapshot();
        let all = nodes(&snapshot["tree"]);
        let name = all.iter().position(|n| n["name"] == "Person003").expect("the row");
        let cell = all[name + 1]["ref_id"].as_str().expect("a ref of the check cell").to_owned();
        for action in ["check", "toggle", "click"] {
            let before = live.landed();
            let reply = live.desk.cli(&[action, &cell]);
            let landed = live.landed().len() - before.len();
            let envelope = reply.envelope();
            let claimed = delivery(&envelope["data"]) == "delivered_verified";
            assert!(!claimed || landed > 0, "{action}: {envelope}");
            assert!(landed <= 1, "{action}: {envelope}");
            if action != "click" && landed == 0 {
                assert_eq!(envelope["ok"], false, "{action} toggled nothing: {envelope}");
            }
        }
    });
}

#[test]
fn menu_opens_modal() {
    on("dialogs", |live| live.modal_from_menu(false));
}

#[test]
fn popup_by_itself() {
    on("controls", |live| live.popup());
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

/// Both windows of one application, each by its own id.
#[test]
fn two_windows() {
    on("multi", |live| {
        for (title, id) in [("Second window", "second_save"), ("First window", "first_save")] {
            let save = refs_named(&live.snapshot_of(title), "button", "Save").remove(0);
            live.once(&["click", &save], "clicked", id, Value::Null);
        }
    });
}
