//! What was found wrong in applications that no test had used before (docs/dogfood), judged by the independent reader.

use agent_desktop_e2e::{App, Desk, delivery, nodes, refs_named, wait_for};
use serde_json::{Value, json};

/// AT-SPI's numbers of the roles.
const PAGE_TAB: u64 = 37;
const PUSH_BUTTON: u64 = 43;
const TABLE_CELL: u64 = 56;

/// A snapshot of the application's window with this title, once there is one.
fn snapshot(desk: &Desk, app: &str, title: &str) -> Value {
    let id = wait_for(&format!("a window called {title}"), || {
        let reply = desk.cli(&["list-windows", "--app", app]);
        let windows = (reply.code == 0).then(|| reply.data())?;
        let found = windows.as_array()?.iter().find(|w| w["title"] == title)?;
        found["id"].as_str().map(str::to_owned)
    });
    desk.ok(&["snapshot", "--window-id", &id, "--max-depth", "60", "--timeout-ms", "30000"])
}

fn only(snapshot: &Value, role: &str, name: &str) -> String {
    let mut found = refs_named(snapshot, role, name);
    assert_eq!(found.len(), 1, "{role} {name:?} in {snapshot}");
    found.remove(0)
}

/// Nodes that the independent reader sees, by a test of each.
fn seen(desk: &Desk, app: &App, test: impl Fn(&Value) -> bool) -> Vec<Value> {
    let tree = desk.walk(app.pid(), &[]);
    tree["nodes"].as_array().expect("nodes").iter().filter(|n| test(n)).cloned().collect()
}

fn has_state(node: &Value, state: &str) -> bool {
    node["states"].as_array().is_some_and(|all| all.iter().any(|s| s == state))
}

/// GTK 3: a dialog that takes its time to be built is told; a new row is an effect; flat tables offer no unfolding.
#[test]
fn galculator_preferences() {
    let desk = Desk::new();
    let app = desk.launch(&["galculator"], 50);
    let main = snapshot(&desk, "galculator", "galculator");
    let data = desk.ok(&["click", &only(&main, "menuitem", "Preferences...")]);
    assert_eq!(data["details"]["effect"], "surface_appeared", "{data}");
    assert_eq!(seen(&desk, &app, |n| n["name"] == "galculator Preferences").len(), 1, "the dialog is there");

    let dialog = snapshot(&desk, "galculator", "galculator Preferences");
    desk.ok(&["select", &only(&dialog, "tab", "Constants"), "Constants"]);
    let dialog = snapshot(&desk, "galculator", "galculator Preferences");
    let all = nodes(&dialog["tree"]);
    let pi = all.iter().find(|n| n["role"] == "cell" && n["name"] == "pi").expect("the row of pi");
    let offers = pi["available_actions"].to_string();
    assert!(!offers.contains("Expand") && !offers.contains("Collapse"), "{pi}");
    let error = desk.err(&["expand", pi["ref_id"].as_str().expect("a ref")]);
    assert_eq!(error["code"], "ACTION_NOT_SUPPORTED", "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");

    let shown = |n: &&&Value| n["role"] == "textfield" && !n["states"].to_string().contains("hidden");
    let fields: Vec<&str> = all.iter().filter(shown).filter_map(|n| n["ref_id"].as_str()).collect();
    assert_eq!(fields.len(), 3, "name, value, description");
    for field in fields {
        desk.ok(&["set-value", field, "7"]);
    }
    let rows = || seen(&desk, &app, |n| n["name"] == "7" && n["role"] == TABLE_CELL).len();
    let before = rows();
    let add = refs_named(&dialog, "button", "Add").remove(0);
    let data = desk.ok(&["click", &add]);
    assert_eq!(data["details"]["effect"], "changed_elsewhere", "{data}");
    assert_eq!(rows(), before + 3, "one row more");
}

/// GTK 4: tabs without a Selection, lists without a choice, a window that closes, days told by their descriptions.
#[test]
fn gnome_clocks() {
    let desk = Desk::new();
    let app = desk.launch(&["gnome-clocks"], 200);
    let name = "org.gnome.clocks";
    let main = || snapshot(&desk, name, "Clocks");
    let tab = |text: &str| {
        let main = main();
        let of = |n: &&Value| n["role"] == "tab" && n["name"] == text && !n["states"].to_string().contains("hidden");
        let found = nodes(&main["tree"]).into_iter().find(of).and_then(|n| n["ref_id"].as_str().map(str::to_owned));
        found.unwrap_or_else(|| panic!("tab {text:?} in {main}"))
    };
    let alarms = tab("Alarms Alarms");
    let data = desk.ok(&["select", &alarms, "Alarms Alarms"]);
    assert_eq!(delivery(&data), "delivered_verified", "{data}");
    let chosen = seen(&desk, &app, |n| n["role"] == PAGE_TAB && has_state(n, "selected"));
    assert!(!chosen.is_empty(), "the independent reader sees a chosen tab");
    // Once more: a press of the chosen tab would do nothing good.
    desk.ok(&["select", &alarms, "Alarms Alarms"]);
    assert_eq!(seen(&desk, &app, |n| n["role"] == PAGE_TAB && has_state(n, "selected")), chosen);

    let main_now = main();
    let new = refs_named(&main_now, "button", "New Alarm").remove(0);
    let data = desk.ok(&["click", &new]);
    assert_eq!(data["details"]["effect"], "surface_appeared", "{data}");
    assert!(data["surfaces"].to_string().contains("New Alarm"), "{data}");
    let alarm = snapshot(&desk, name, "New Alarm");
    let all = nodes(&alarm["tree"]);
    let day = |text: &str| {
        let found = all.iter().find(|n| n["role"] == "button" && n["description"] == text);
        found.and_then(|n| n["ref_id"].as_str()).unwrap_or_else(|| panic!("{text} in {alarm}"))
    };
    let error = desk.err(&["check", day("Monday")]);
    assert_eq!(error["details"]["kind"], "no_semantic_way", "{error}");
    assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("'click'")), "{error}");
    desk.ok(&["click", day("Thursday")]);
    let pressed = || {
        let down = seen(&desk, &app, |n| n["role"] == PUSH_BUTTON && has_state(n, "pressed"));
        down.iter().map(|n| n["description"].clone()).filter(|d| d != "").collect::<Vec<_>>()
    };
    assert_eq!(wait_for("a pressed day", || Some(pressed()).filter(|p| !p.is_empty())), [json!("Thursday")]);

    // The text of a row is that of the snapshot, and a list whose rows can't be chosen says just that.
    let list = all.iter().find(|n| n["role"] == "list" && n["available_actions"].to_string().contains("Select"));
    let list = list.and_then(|n| n["ref_id"].as_str()).expect("the list of the alarm's settings");
    let error = desk.err(&["select", list, "Repeat"]);
    assert_eq!(
        (&error["code"], &error["details"]["kind"]),
        (&json!("ACTION_NOT_SUPPORTED"), &json!("no_semantic_way"))
    );
    let error = desk.err(&["select", list, "Nothing of the kind"]);
    assert_eq!(error["details"]["kind"], "select_menu_item_not_found", "{error}");
    let combo = only(&alarm, "combobox", "Ring Duration");
    let error = desk.err(&["select", &combo, "10 minutes"]);
    assert_eq!(error["details"]["kind"], "no_semantic_way", "{error}");

    let cancel =
        nodes(&alarm["tree"]).into_iter().find(|n| n["role"] == "button" && n["name"].to_string().contains("Cancel"));
    let data = desk.ok(&["click", cancel.and_then(|n| n["ref_id"].as_str()).expect("Cancel")]);
    assert_ne!(data["details"]["effect"], "none_observed", "{data}");
    assert!(seen(&desk, &app, |n| n["name"] == "New Alarm" && n["depth"] == 1).is_empty(), "the dialog is gone");
}

/// A program that goes on without a window shows one when it is launched again, and the answer says how.
#[test]
fn launch_of_what_runs_without_a_window() {
    let desk = Desk::new();
    let first = desk.ok(&["launch", "gnome-clocks"]);
    let id = first["window"]["id"].as_str().expect("a window").to_owned();
    let listed = || {
        let out = desk.command("wmctrl").arg("-l").output().expect("wmctrl runs");
        String::from_utf8_lossy(&out.stdout).contains("Clocks")
    };
    let closed = desk.command("wmctrl").args(["-c", "Clocks"]).status().expect("wmctrl runs");
    assert!(closed.success());
    wait_for("the window to go", || (!listed()).then_some(()));
    // Past its start (20 s): a young process's window is waited for instead.
    let young = desk.ok(&["launch", "gnome-clocks"]);
    assert!(young["details"].is_null() && young["suggestion"].is_string(), "{young}");
    std::thread::sleep(std::time::Duration::from_secs(20));
    let again = desk.ok(&["launch", "gnome-clocks"]);
    assert!(again["details"]["started_again"].is_object(), "{again}");
    assert_eq!((&again["attached"], &again["pid"]), (&json!(true), &first["pid"]), "{again}");
    assert!(again["window"]["id"].is_string() && again["suggestion"].is_null(), "{again}");
    assert!(listed(), "the window {id} is on the screen again");
}
