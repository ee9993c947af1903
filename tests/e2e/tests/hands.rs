//! Pointer and keyboard on real applications: what was asked arrived as the events of a hand, in the right window, once;
//! or nothing arrived, and the answer said so. The oracles are what the applications wrote down, and xdotool.

use agent_desktop_e2e::{App, Desk, Live, refs_named, repo, wait_for};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The fixture that writes down raw events.
struct Events {
    _app: App,
    log: PathBuf,
    name: &'static str,
}

impl Events {
    fn start(desk: &Desk, name: &'static str, at: &str) -> Self {
        let log = desk.dir.path().join(format!("{name}.log"));
        let script = repo().join("tests/fixtures/events.py");
        let args = [script.to_str().unwrap(), "--log", log.to_str().unwrap(), "--name", name, "--at", at];
        let app = desk.spawn("/usr/bin/python3", &args);
        let fixture = Self { _app: app, log, name };
        wait_for("the events fixture", || fixture.all().iter().any(|l| l["event"] == "ready").then_some(()));
        fixture
    }

    fn all(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    }

    /// Names of events after a mark, once there are as many as are waited for; and a moment later no more.
    fn since(&self, mark: usize, wanted: &[&str]) -> Vec<Value> {
        let of = || -> Vec<Value> {
            self.all()[mark..].iter().filter(|l| wanted.contains(&l["event"].as_str().unwrap_or(""))).cloned().collect()
        };
        wait_for(&format!("events among {wanted:?}"), || (!of().is_empty()).then_some(()));
        let mut last = of();
        wait_for("the events to end", || {
            std::thread::sleep(std::time::Duration::from_millis(150));
            let now = of();
            let ended = now == last;
            last = now;
            ended.then_some(())
        });
        last
    }

    fn reference(&self, desk: &Desk, name: &str) -> String {
        let snapshot = desk.ok(&["snapshot", "--app", self.name]);
        let role = if name == "Field" { "textfield" } else { "button" };
        refs_named(&snapshot, role, name).first().unwrap_or_else(|| panic!("{name} in {snapshot}")).clone()
    }

    fn window_id(&self, desk: &Desk) -> String {
        let windows = desk.ok(&["list-windows", "--app", self.name]);
        windows[0]["id"].as_str().unwrap_or_else(|| panic!("{windows}")).to_owned()
    }
}

fn events(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|l| l["event"].as_str()).collect()
}

const BUTTONS: [&str; 4] = ["press", "release", "double", "triple"];

#[test]
fn clicks_arrive_as_often_as_asked() {
    let desk = Desk::new();
    let app = Events::start(&desk, "one", "100,100");
    let area = app.reference(&desk, "Area");
    for (command, wanted, button) in [
        ("click", &["press", "release"][..], 1),
        ("double-click", &["press", "release", "press", "double", "release"], 1),
        ("triple-click", &["press", "release", "press", "double", "release", "press", "triple", "release"], 1),
        ("right-click", &["press", "release"], 3),
    ] {
        let mark = app.all().len();
        let data = desk.ok(&["--headed", command, &area]);
        assert_eq!(data["steps"][0]["mechanism"], "physical_synthetic", "{data}");
        let got = app.since(mark, &BUTTONS);
        assert_eq!(events(&got), wanted, "{command}: {data}");
        assert!(got.iter().all(|l| l["button"] == button && l["state"] == 0), "{command}: {got:?}");
        // Far enough apart that the next one isn't taken for a part of this one.
        std::thread::sleep(std::time::Duration::from_millis(600));
    }
}

#[test]
fn the_wheel_turns_and_hover_enters_and_nothing_is_pressed() {
    let desk = Desk::new();
    let app = Events::start(&desk, "one", "100,100");
    let area = app.reference(&desk, "Area");
    let mark = app.all().len();
    let data = desk.ok(&["--headed", "hover", &area]);
    assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
    assert_eq!(events(&app.since(mark, &["enter", "press", "release"])), ["enter"]);
    let (x, y) = (data["target"]["x"].to_string(), data["target"]["y"].to_string());
    let at = desk.command("xdotool").args(["getmouselocation", "--shell"]).output().unwrap();
    let at = String::from_utf8_lossy(&at.stdout).into_owned();
    assert!(at.contains(&format!("X={}", x.trim_end_matches(".0"))), "{at} {data}");
    let mark = app.all().len();
    desk.ok(&["--headed", "scroll", &area, "--direction", "up", "--amount", "2"]);
    let turned = app.since(mark, &["scroll", "press", "release"]);
    assert_eq!(turned.iter().map(|l| l["direction"].clone()).collect::<Vec<_>>(), ["up", "up"], "{turned:?}");
    let mark = app.all().len();
    desk.ok(&["--headed", "mouse-wheel", "--x", &x, "--y", &y, "--dy=-1", "--modifiers", "ctrl"]);
    let turned = app.since(mark, &["scroll", "press", "release"]);
    assert_eq!(turned.len(), 1, "{turned:?}");
    assert_eq!((&turned[0]["direction"], &turned[0]["state"]), (&json!("down"), &json!(4)), "{turned:?}");
}

#[test]
fn a_point_is_clicked_with_button_count_and_modifiers_in_the_expected_window_only() {
    let desk = Desk::new();
    let below = Events::start(&desk, "below", "100,100");
    let area = below.reference(&desk, "Area");
    let bounds = desk.ok(&["get", &area, "--property", "bounds"]);
    let middle = |k: &str, l: &str| bounds["value"][k].as_f64().unwrap() + bounds["value"][l].as_f64().unwrap() / 2.0;
    let xy = format!("{},{}", middle("x", "width"), middle("y", "height"));
    let mark = below.all().len();
    let id = below.window_id(&desk);
    let data = desk.ok(&[
        "--headed",
        "mouse-click",
        "--xy",
        &xy,
        "--button",
        "middle",
        "--count",
        "2",
        "--modifiers",
        "shift",
        "--expect-window",
        &id,
    ]);
    assert_eq!(data["target"]["kind"], "pointer", "{data}");
    let got = below.since(mark, &BUTTONS);
    assert_eq!(events(&got), ["press", "release", "press", "double", "release"]);
    assert!(got.iter().all(|l| l["button"] == 2 && l["state"].as_u64().unwrap() & 1 == 1), "{got:?}");
    // Another window comes to lie there: nothing is pressed in either.
    let above = Events::start(&desk, "above", "100,100");
    let (a, b) = (above.all().len(), below.all().len());
    let error = desk.err(&["--headed", "mouse-click", "--xy", &xy, "--expect-window", &id]);
    assert_eq!(error["details"]["kind"], "window_covered", "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    for (app, mark) in [(&above, a), (&below, b)] {
        assert!(!app.all()[mark..].iter().any(|l| BUTTONS.contains(&l["event"].as_str().unwrap())), "{}", app.name);
    }
    let error = desk.err(&["--headed", "mouse-click", "--xy", "5000,20"]);
    assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("INVALID_ARGS"), &json!("point_off_screen")));
}

#[test]
fn wrong_window_in_front() {
    let desk = Desk::new();
    let below = Events::start(&desk, "below", "100,100");
    let area = below.reference(&desk, "Area");
    let above = Events::start(&desk, "above", "100,100");
    let (a, b) = (above.all().len(), below.all().len());
    // The ref's own window comes to the front, and only it hears of the click.
    desk.ok(&["--headed", "click", &area]);
    assert_eq!(events(&below.since(b, &BUTTONS)), ["press", "release"]);
    assert!(!above.all()[a..].iter().any(|l| BUTTONS.contains(&l["event"].as_str().unwrap())));
    let active = desk.command("xdotool").args(["getactivewindow", "getwindowname"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&active.stdout).trim(), "Events below");
}

#[test]
fn a_drag_takes_its_text_into_another_application() {
    let desk = Desk::new();
    let one = Events::start(&desk, "one", "50,100");
    let two = Events::start(&desk, "two", "600,100");
    let (from, to) = (one.reference(&desk, "Source"), two.reference(&desk, "Target"));
    let data = desk.ok(&["--headed", "drag", "--from", &from, "--to", &to]);
    assert_eq!(data["action"], "drag", "{data}");
    let dropped = wait_for("the drop", || two.all().into_iter().find(|l| l["event"] == "dropped"));
    assert_eq!(dropped["text"], "payload of one", "{data}");
    assert_eq!(one.all().iter().filter(|l| l["event"] == "drag-begin").count(), 1);
    assert!(!one.all().iter().any(|l| l["event"] == "drag-failed"));
    let down = desk.command("xdotool").args(["getmouselocation"]).output().unwrap();
    assert!(down.status.success());
}

#[test]
fn keys_arrive_with_their_modifiers_and_go_up_again() {
    let desk = Desk::new();
    let one = Events::start(&desk, "one", "50,100");
    let two = Events::start(&desk, "two", "600,100");
    let (m1, m2) = (one.all().len(), two.all().len());
    let data = desk.ok(&["press", "ctrl+shift+k", "--app", "one"]);
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    let got = one.since(m1, &["key-down", "key-up"]);
    let names: Vec<(String, String)> = got
        .iter()
        .map(|l| (l["event"].as_str().unwrap().to_owned(), l["key"].as_str().unwrap().to_lowercase()))
        .collect();
    let wanted = [
        ("key-down", "control_l"),
        ("key-down", "shift_l"),
        ("key-down", "k"),
        ("key-up", "k"),
        ("key-up", "shift_l"),
        ("key-up", "control_l"),
    ];
    assert_eq!(names, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert!(!two.all()[m2..].iter().any(|l| l["event"].as_str().unwrap().starts_with("key")));
    let error = desk.err(&["press", "alt+f4"]);
    assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("POLICY_DENIED"), &json!("dangerous_combo")));
    let error = desk.err(&["press", "a", "--expect-window", &two.window_id(&desk)]);
    assert_eq!(error["details"]["kind"], "window_not_in_front", "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
}

#[test]
fn headed_type_keeps_caret_and_selection() {
    let desk = Desk::new();
    let app = Events::start(&desk, "one", "50,100");
    let field = app.reference(&desk, "Field");
    // Not in the field yet: it gets the focus by a call, on which GTK 3 selects everything.
    desk.ok(&["--headed", "type", &field, "abc"]);
    let text = || app.all().iter().rev().find(|l| l["event"] == "text").map(|l| l["value"].clone());
    wait_for("the first text, over what was selected", || (text() == Some(json!("abc"))).then_some(()));
    desk.ok(&["press", "left", "--app", "one"]);
    let data = desk.ok(&["--headed", "type", &field, "X 日本 😀"]);
    assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
    wait_for("the text in its place", || (text() == Some(json!("abX 日本 😀c"))).then_some(()));
    desk.ok(&["--headed", "clear", &field]);
    wait_for("an empty field", || (text() == Some(json!(""))).then_some(()));
}

fn headed_text(kind: &'static str) {
    let desk = Desk::new();
    let live = Live::start(&desk, kind, "controls");
    let name = live.only("textfield", "Name");
    let data = desk.ok(&["--headed", "type", &name, "Grüße, 世界 😀!"]);
    wait_for(&format!("{kind}: the text"), || {
        (live.fixture.state()["fields"]["name"] == "Grüße, 世界 😀!").then_some(())
    });
    assert!(data["disposition"]["delivery"].as_str().unwrap().starts_with("delivered"), "{data}");
    desk.ok(&["--headed", "clear", &name]);
    wait_for(&format!("{kind}: no text"), || (live.fixture.state()["fields"]["name"] == "").then_some(()));
    let secret = live.only("textfield", "Secret");
    let reply = desk.cli(&["--headed", "type", &secret, "hunter2-Ω"]);
    assert!(!reply.stdout.contains("hunter2"), "{}", reply.stdout);
    reply.data();
    wait_for(&format!("{kind}: the secret"), || {
        (live.fixture.state()["fields"]["secret"] == "hunter2-Ω").then_some(())
    });
    let save = live.only("button", "Save");
    live.lands(&["--headed", "click", &save], &json!({"event": "clicked", "id": "save"}));
}

#[test]
fn text_and_click_gtk3() {
    headed_text("gtk3");
}

#[test]
fn text_and_click_gtk4() {
    headed_text("gtk4");
}

#[test]
fn text_and_click_qt5() {
    headed_text("qt5");
}

#[test]
fn text_and_click_qt6() {
    headed_text("qt6");
}

#[test]
fn text_and_click_chromium() {
    headed_text("chromium");
}

#[test]
fn text_and_click_firefox() {
    headed_text("firefox");
}

#[test]
fn what_gtk4_has_no_action_for_is_clicked_when_headed() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk4", "controls");
    let check = live.only("checkbox", "Check me");
    live.refused(&["check", &check], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
    let data = live.lands(&["--headed", "check", &check], &json!({"event": "toggled", "id": "check", "value": true}));
    assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
    let again = desk.ok(&["--headed", "check", &check]);
    assert_eq!(again["disposition"]["delivery"], "not_delivered", "{again}");
}

#[test]
fn what_is_held_is_listed_released_and_in_nobody_elses_way() {
    let desk = Desk::new();
    let app = Events::start(&desk, "one", "50,100");
    let area = app.reference(&desk, "Area");
    let mark = app.all().len();
    desk.ok(&["key-down", "shift"]);
    let status = desk.ok(&["status"]);
    assert_eq!(status["held"][0]["combo"], "shift", "{status}");
    desk.ok(&["--headed", "click", &area]);
    let got = app.since(mark, &["press", "release"]);
    assert!(got.iter().all(|l| l["state"].as_u64().unwrap() & 1 == 1), "shift was down: {got:?}");
    let error = desk.err(&["--session", "other", "--headed", "click", &area]);
    assert_eq!(error["code"], "SNAPSHOT_NOT_FOUND", "another session has no such ref: {error}");
    let error = desk.err(&["--session", "other", "press", "a"]);
    assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("TIMEOUT"), &json!("input_held")), "{error}");
    desk.ok(&["key-up", "shift"]);
    assert_eq!(desk.ok(&["status"])["held"], json!([]));
    desk.ok(&["key-down", "ctrl", "--limit-ms", "500"]);
    wait_for("the limit to release it", || (desk.ok(&["status"])["held"] == json!([])).then_some(()));
    desk.ok(&["key-down", "alt"]);
    let released = desk.ok(&["status", "--release"]);
    assert_eq!((&released["held"], &released["released"][0]["combo"]), (&json!([]), &json!("alt")), "{released}");
}

/// Many callers at once: every press is followed by its own release, and nobody's events lie between.
fn callers(count: usize) {
    let desk = Desk::new();
    let app = Events::start(&desk, "one", "100,100");
    let area = app.reference(&desk, "Area");
    let mark = app.all().len();
    let children: Vec<_> =
        (0..count).map(|_| desk.cli_spawn(&["--headed", "click", &area, "--timeout-ms", "120000"])).collect();
    let mut contended = 0;
    for child in children {
        let out = child.wait_with_output().unwrap();
        let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(answer["ok"], true, "{answer}");
        contended += answer["data"]["details"]["auto_wait"]["lease_contention_count"].as_u64().unwrap();
    }
    let got = app.since(mark, &["press", "release", "clicked"]);
    assert_eq!(got.iter().filter(|l| l["event"] == "clicked").count(), count);
    let order: Vec<&str> = events(&got).into_iter().filter(|e| *e != "clicked").collect();
    assert!(order.chunks(2).all(|pair| pair == ["press", "release"]), "{order:?}");
    assert_eq!(order.len(), 2 * count);
    assert!(count == 2 || contended > 0, "they waited for each other");
}

#[test]
fn two_callers() {
    callers(2);
}

#[test]
fn ten_callers() {
    callers(10);
}

#[test]
fn fifty_callers() {
    callers(50);
}

/// What lies above an element on a page gets no click in its place, whether or not it does anything itself.
fn covered_on_a_page(browser: &str) {
    let desk = Desk::new();
    let page = desk.dir.path().join("covered.html");
    let place = "position:absolute;left:40px;top:40px;width:200px;height:60px";
    let html = format!(
        "<title>nothing</title><button style='{place}' onclick=\"document.title='under'\">Under</button>\
         <button style='{place};left:20px;top:20px;width:260px;height:110px' onclick=\"document.title='above'\">Above</button>\
         <button style='{place};top:240px' onclick=\"document.title='veiled'\">Veiled</button>\
         <div style='{place};top:230px;height:90px;background:#ccc' onclick=\"document.title='veil'\">a veil</div>\
         <button style='{place};top:400px' onclick=\"document.title='free'\">Free</button>"
    );
    std::fs::write(&page, html).unwrap();
    desk.ok(&["launch", browser, "--arg", page.to_str().unwrap()]);
    let find = |name: &str| {
        wait_for(&format!("{browser}: {name}"), || {
            let reply = desk.cli(&["find", "--app", browser, "--role", "button", "--name", name, "--exact", "--first"]);
            let data = (reply.code == 0).then(|| reply.data())?;
            data["match"]["ref_id"].as_str().map(str::to_owned)
        })
    };
    let title = || {
        let out = desk.command("xdotool").args(["getactivewindow", "getwindowname"]).output().unwrap();
        String::from_utf8_lossy(&out.stdout).split_whitespace().next().unwrap_or_default().to_owned()
    };
    for name in ["Under", "Veiled"] {
        let error = desk.err(&["--headed", "click", &find(name), "--timeout-ms", "1500"]);
        assert_eq!(error["details"]["kind"], "actionability_timeout", "{browser} {name}: {error}");
        assert_eq!(error["details"]["check"], "receives_events", "{browser} {name}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{browser} {name}: {error}");
        assert_eq!(title(), "nothing", "{browser} {name}");
    }
    desk.ok(&["--headed", "click", &find("Free")]);
    wait_for("the click on what is free", || (title() == "free").then_some(()));
}

#[test]
fn covered_on_a_page_chromium() {
    covered_on_a_page("chromium");
}

#[test]
fn covered_on_a_page_firefox() {
    covered_on_a_page("firefox-esr");
}

#[test]
fn characters_beyond_the_layout_are_pressed_each_time() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk4", "controls");
    let name = live.only("textfield", "Name");
    desk.ok(&["--headed", "click", &name]);
    for _ in 0..10 {
        desk.ok(&["press", "ä"]);
    }
    desk.ok(&["press", "A"]);
    wait_for("each of them", || (live.fixture.state()["fields"]["name"] == "ääääääääääA").then_some(()));
}

/// An entry of an open menu is clicked where it is: the menu is a window of its own.
#[test]
fn an_entry_of_an_open_menu_is_clicked() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "menus");
    let area = live.only("button", "Edit menu");
    desk.ok(&["--headed", "click", &area]);
    let copy = live.only("menuitem", "Copy");
    live.lands(&["--headed", "click", &copy], &json!({"event": "menu", "id": "copy"}));
}

/// The fixture whose fields hand the focus on.
struct HandsOn {
    _app: App,
    log: PathBuf,
    name: &'static str,
}

impl HandsOn {
    fn start(desk: &Desk, toolkit: &str) -> Self {
        let log = desk.dir.path().join("hands-on.log");
        let script = repo().join("tests/fixtures/hands_on.py");
        let args = [script.to_str().unwrap(), toolkit, "--log", log.to_str().unwrap(), "--name", "hands-on"];
        let app = desk.spawn("/usr/bin/python3", &args);
        // Qt publishes the program's file name.
        let fixture = Self { _app: app, log, name: if toolkit == "gtk3" { "hands-on" } else { "hands_on.py" } };
        wait_for("the fixture", || fixture.all().iter().any(|l| l["event"] == "ready").then_some(()));
        fixture
    }

    fn all(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    }

    /// What a field holds by its own word.
    fn holds(&self, field: &str) -> String {
        let last = self.all().into_iter().rfind(|l| l["field"] == field);
        last.map(|l| l["value"].as_str().unwrap().to_owned()).unwrap_or_default()
    }
}

/// A field that hands the focus on in mid-text: the rest of the text goes nowhere, and the answer says how far it came.
fn focus_moves_on(toolkit: &str) {
    let desk = Desk::new();
    let app = HandsOn::start(&desk, toolkit);
    let snapshot = desk.ok(&["snapshot", "--app", app.name]);
    let reference = |name: &str| refs_named(&snapshot, "textfield", name)[0].clone();
    let text: String = ('a'..='z').chain('A'..='Z').chain('0'..='9').cycle().take(150).collect();
    // Beyond the layout too, whose keys are borrowed.
    let beyond: String = "漢字かな交じり文".chars().cycle().take(40).collect();
    let mut elsewhere = String::new();
    // After each of the first 16 characters it is looked, then after every 32.
    for (field, text, stays, may_leak, to) in
        [("Code", &text, 4, 0, "Next"), ("Late", &text, 40, 8, "Next"), ("Ask", &beyond, 4, 0, "Answer")]
    {
        let error = desk.err(&["--headed", "type", &reference(field), text]);
        std::thread::sleep(std::time::Duration::from_millis(300));
        let shown: String = text.chars().take(stays).collect();
        assert_eq!(app.holds(field), shown, "{toolkit} {field}: {error}");
        if to == "Next" {
            elsewhere.extend(text.chars().skip(stays).take(may_leak));
            assert_eq!(app.holds(to), elsewhere, "{toolkit} {field}: {error}");
        } else {
            assert_eq!(app.holds(to), "", "{toolkit} {field}: {error}");
        }
        assert_eq!(error["code"], "ACTION_FAILED", "{error}");
        let details = &error["details"];
        // A dialog that has the keyboard already is seen by the window guard.
        let kinds: &[&str] = if to == "Next" { &["focus_moved"] } else { &["focus_moved", "window_not_in_front"] };
        assert!(kinds.contains(&details["kind"].as_str().unwrap()), "{error}");
        assert_eq!(error["disposition"]["delivery"], "delivered_unverified", "{error}");
        assert_eq!(details["characters_sent"], stays + may_leak, "{error}");
        assert_eq!(
            (&details["characters_before"], &details["characters_shown"]),
            (&json!(0), &json!(stays)),
            "{error}"
        );
        assert_eq!(
            (&details["focus"]["role"], &details["focus"]["name"]),
            (&json!("textfield"), &json!(to)),
            "{error}"
        );
    }
}

#[test]
fn a_field_that_hands_the_focus_on_gtk3() {
    focus_moves_on("gtk3");
}

#[test]
fn a_field_that_hands_the_focus_on_qt5() {
    focus_moves_on("qt5");
}

#[test]
fn a_field_that_hands_the_focus_on_qt6() {
    focus_moves_on("qt6");
}

/// A button that changes places with another while it is pressed: the answer says that it is not where it was pressed.
#[test]
fn a_target_that_changes_places_at_the_press_is_told() {
    let desk = Desk::new();
    let app = HandsOn::start(&desk, "gtk3");
    let snapshot = desk.ok(&["snapshot", "--app", app.name]);
    let stays = refs_named(&snapshot, "button", "Stays")[0].clone();
    let data = desk.ok(&["--headed", "click", &stays]);
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    assert_eq!(data["details"]["target_moved"], true, "{data}");
    let pressed: Vec<Value> = app.all().into_iter().filter(|l| l["event"] == "press").collect();
    assert_eq!(pressed.len(), 1, "{pressed:?}");
    let events = Events::start(&desk, "still", "500,100");
    let data = desk.ok(&["--headed", "click", &events.reference(&desk, "Area")]);
    assert!(data["details"].get("target_moved").is_none(), "{data}");
}
