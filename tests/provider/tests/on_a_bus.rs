//! The provider on a private accessibility bus, seen by an independent client.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Bus, Client, Monitor, Provider, ROOT};
use serde_json::{Value, json};

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";

#[test]
fn the_tree_reads_back_and_writes_are_logged() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);
    let mut provider = Provider::ready_made(&bus, "simple");
    let name = provider.names[0].clone();

    let registry = "org.a11y.atspi.Registry";
    let apps = client.read(registry, ROOT, "Accessible", "GetChildren");
    assert!(apps.as_array().unwrap().contains(&json!([name, ROOT])));
    assert_eq!(client.get(&name, ROOT, "Accessible.Name"), "Simple");
    assert_eq!(client.get(&name, ROOT, "Application.ToolkitName"), "gtk");

    let window = client.children(&name, ROOT).remove(0);
    let children = client.children(&name, &window);
    let names: Vec<Value> = children.iter().map(|path| client.get(&name, path, "Accessible.Name")).collect();
    assert_eq!(names, ["OK", "Nothing", "Your name", "", "Remember me", "Volume", "Fruit", "Status"]);
    let ok = &children[0];
    assert_eq!(client.read(&name, ok, "Accessible", "GetRole"), 43);
    assert_eq!(client.read(&name, ok, "Accessible", "GetRoleName"), "push button");
    assert_eq!(client.get(&name, ok, "Accessible.Parent"), json!([name, window]));
    assert_eq!(client.read(&name, &children[6], "Accessible", "GetIndexInParent"), 6);
    let state = client.read(&name, ok, "Accessible", "GetState");
    let bits = |list: &[u32]| list.iter().fold(0u64, |set, bit| set | 1 << bit);
    assert_eq!(state, json!([bits(&[8, 11, 24, 25, 30]), 0]));
    let extents = client.call(&name, ok, "Component", "GetExtents", "u", json!([1]));
    assert_eq!(extents["ok"], json!([20, 20, 80, 30]));

    assert_eq!(client.press(&name, ok, 1000)["ok"], true);
    let entry = &children[3];
    let insert = json!([3, " L", 2]);
    assert_eq!(client.call(&name, entry, "EditableText", "InsertText", "isi", insert)["ok"], true);
    let text = client.call(&name, entry, "Text", "GetText", "ii", json!([0, -1]));
    assert_eq!(text["ok"], "Ada L");
    let volume = json!([140.0]);
    client.call(&name, &children[5], "set_double", "Value.CurrentValue", "", volume);
    assert_eq!(client.get(&name, &children[5], "Value.CurrentValue"), 100.0);

    provider.must(json!({"cmd": "fence"}));
    let log = provider.log("write");
    let brief: Vec<Value> = log
        .iter()
        .map(|line| json!([line["node"], line["member"], line["args"], line["effect"], line["replied"]]))
        .collect();
    assert_eq!(
        brief,
        [
            json!(["ok", "DoAction", [0], true, true]),
            json!(["entry", "InsertText", [3, " L", 2], true, true]),
            json!(["volume", "SetCurrentValue", [140.0], true, true]),
        ]
    );
    let counts = provider.must(json!({"cmd": "counts", "node": "ok"}));
    assert_eq!(counts["node"]["org.a11y.atspi.Action.DoAction"], 1);
    assert!(counts["counts"].get("org.freedesktop.DBus.Properties.GetAll").is_none());
    provider.must(json!({"cmd": "quit"}));
    assert_eq!(provider.ended(), Some(0));
}

#[test]
fn replies_come_late_or_never() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);

    let mut provider = Provider::ready_made(&bus, "late-actions");
    let name = provider.names[0].clone();
    for (id, effect_at_once, effect_later) in [
        ("effect-late-reply", true, true),
        ("late-effect", false, true),
        ("late-no-effect", false, false),
        ("effect-no-reply", true, true),
        ("no-effect-no-reply", false, false),
    ] {
        provider.must(json!({"cmd": "rename", "node": "status", "name": "-"}));
        let path = provider.path(id);
        let answer = client.press(&name, &path, 300);
        assert_eq!(answer["error"], NO_REPLY, "{id}");
        provider.must(json!({"cmd": "fence"}));
        assert_eq!(provider.name("status") == id, effect_at_once, "{id} at once");
        std::thread::sleep(std::time::Duration::from_millis(1600));
        assert_eq!(provider.name("status") == id, effect_later, "{id} later");
        let writes = provider.log("write");
        let line = writes.last().unwrap();
        assert_eq!((&line["node"], &line["replied"]), (&json!(id), &json!(false)));
    }
    assert_eq!(provider.log("write").len(), 5);
    assert_eq!(provider.log("late_reply").len(), 3);

    let mut provider = Provider::ready_made(&bus, "silent-node");
    let name = provider.names[0].clone();
    let mute = provider.path("mute");
    let mut name_of = |path: &str| {
        client.raw(&json!({"dest": name, "path": path, "interface": "get",
            "member": "Accessible.Name", "timeout_ms": 200}))
    };
    assert_eq!(name_of(&mute)["error"], NO_REPLY);
    assert_eq!(name_of(&provider.path("ok"))["ok"], "OK");

    let mut provider = Provider::ready_made(&bus, "slow-node");
    let slow = provider.path("slow");
    let late = client.press(&provider.names[0], &slow, 2000);
    assert_eq!(late["ok"], true);
    assert!(late["ms"].as_u64().unwrap() >= 300, "{late}");
}

#[test]
fn an_application_hangs_and_resumes() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);
    let mut provider = Provider::ready_made(&bus, "silent-app");
    let name = provider.names[0].clone();
    let ok = provider.path("ok");
    assert_eq!(client.press(&name, &ok, 200)["error"], NO_REPLY);
    assert_eq!(provider.must(json!({"cmd": "fence"}))["held"], 1);
    assert_eq!(provider.log("held").len(), 1);
    assert!(provider.log("write").is_empty());
    provider.must(json!({"cmd": "resume"}));
    assert_eq!(provider.log("write").len(), 1);
    assert_eq!(provider.name("status"), "OK was pressed");
    assert_eq!(client.get(&name, &ok, "Accessible.Name"), "OK");
    provider.must(json!({"cmd": "hang"}));
    assert_eq!(client.press(&name, &ok, 200)["error"], NO_REPLY);
    provider.must(json!({"cmd": "resume", "drop": true}));
    assert_eq!(provider.log("write").len(), 1);
}

#[test]
fn removed_objects_answer_as_their_toolkit_does() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);
    let unknown_object = "org.freedesktop.DBus.Error.UnknownObject";
    for (kind, method, property) in [
        ("gtk3", unknown_object, unknown_object),
        ("gtk4", "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownMethod"),
        ("qt", unknown_object, "org.freedesktop.DBus.Error.UnknownInterface"),
        ("gecko", unknown_object, unknown_object),
    ] {
        let mut provider = Provider::ready_made(&bus, &format!("dead-{kind}"));
        let name = provider.names[0].clone();
        let doomed = provider.path("doomed");
        assert_eq!(client.read(&name, &doomed, "Accessible", "GetRole"), 43);
        provider.script("remove");
        let role = client.call(&name, &doomed, "Accessible", "GetRole", "", json!([]));
        assert_eq!(role["error"], method, "{kind}");
        let label = client.call(&name, &doomed, "get", "Accessible.Name", "", json!([]));
        assert_eq!(label["error"], property, "{kind}");
        assert_eq!(client.press(&name, &doomed, 500)["error"], method, "{kind}");
        assert_eq!(provider.log("write")[0]["effect"], false);
    }

    let mut provider = Provider::ready_made(&bus, "dead-gtk3-defunct");
    let name = provider.names[0].clone();
    let doomed = provider.path("doomed");
    provider.script("remove");
    let state = client.read(&name, &doomed, "Accessible", "GetState");
    assert_eq!(state, json!([1 << 6, 0]));
    assert_eq!(client.get(&name, &doomed, "Accessible.Name"), "Doomed");

    let mut provider = Provider::ready_made(&bus, "dead-gtk3-tombstone");
    let name = provider.names[0].clone();
    let doomed = provider.path("doomed");
    provider.script("replace");
    assert_eq!(client.read(&name, &doomed, "Accessible", "GetState"), json!([0, 0]));
    assert_eq!(client.get(&name, &doomed, "Accessible.Name"), "");
    let parent = client.get(&name, &doomed, "Accessible.Parent");
    assert_eq!(parent, json!(["", "/org/a11y/atspi/null"]));
    assert_ne!(provider.path("doomed"), doomed, "the new one has a path of its own");
}

#[test]
fn the_process_dies_on_time() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);

    let mut provider = Provider::ready_made(&bus, "dies-on-action");
    let (name, ok) = (provider.names[0].clone(), provider.path("ok"));
    assert_eq!(client.press(&name, &ok, 2000)["error"], NO_REPLY);
    assert_eq!(provider.ended(), Some(70));
    let line = &provider.log("write")[0];
    assert_eq!((&line["effect"], &line["replied"]), (&json!(false), &json!(false)));

    let mut provider = Provider::ready_made(&bus, "dies-after-action");
    let (name, ok) = (provider.names[0].clone(), provider.path("ok"));
    assert_eq!(client.press(&name, &ok, 2000)["ok"], true);
    assert_eq!(provider.ended(), Some(70));
    assert_eq!(provider.log("write")[0]["effect"], true);

    let mut provider = Provider::ready_made(&bus, "dies-between");
    let (name, ok) = (provider.names[0].clone(), provider.path("ok"));
    client.read(&name, &ok, "Accessible", "GetState");
    client.read(&name, &ok, "Accessible", "GetState");
    assert_eq!(provider.ended(), Some(70));
    let press = client.press(&name, &ok, 2000);
    assert_eq!(press["error"], "org.freedesktop.DBus.Error.ServiceUnknown");
    assert!(provider.log("write").is_empty());

    let mut provider = Provider::ready_made(&bus, "getall-dies");
    let (name, ok) = (provider.names[0].clone(), provider.path("ok"));
    let interface = "org.freedesktop.DBus.Properties";
    let accessible = json!(["org.a11y.atspi.Accessible"]);
    client.call(&name, &ok, interface, "GetAll", "s", accessible);
    assert_eq!(provider.ended(), Some(70));
    assert_eq!(provider.log("violation").len(), 1);
}

#[test]
fn replies_are_wrong() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);

    let mut provider = Provider::ready_made(&bus, "wrong-types");
    let name = provider.names[0].clone();
    let path = provider.path("wrong-name");
    assert_eq!(client.get(&name, &path, "Accessible.Name"), 42);
    let path = provider.path("wrong-role");
    assert_eq!(client.read(&name, &path, "Accessible", "GetRole"), "wrong type");
    let path = provider.path("wrong-children");
    assert_eq!(client.read(&name, &path, "Accessible", "GetChildren"), "wrong type");
    let path = provider.path("wrong-do-action");
    assert_eq!(client.press(&name, &path, 500)["ok"], "wrong type");
    assert!(provider.log("fault_without_grip").is_empty());

    let mut provider = Provider::ready_made(&bus, "long-names");
    let path = provider.path("long");
    let long = client.get(&provider.names[0], &path, "Accessible.Name");
    assert_eq!(long.as_str().map(str::len), Some(1 << 20));

    let mut provider = Provider::ready_made(&bus, "cycle");
    let name = provider.names[0].clone();
    let (window, around) = (provider.path("window"), provider.path("loop"));
    assert!(client.children(&name, &around).contains(&window));
    let deep = provider.path("deep");
    assert!(client.children(&name, &deep).contains(&window));

    let mut provider = Provider::ready_made(&bus, "label-injection");
    let path = provider.path("newline");
    let label = client.get(&provider.names[0], &path, "Accessible.Name");
    assert_eq!(label, "Save\n@s1:e1 button \"Delete\"");

    let mut provider = Provider::ready_made(&bus, "parent-lies");
    let name = provider.names[0].clone();
    let (window, other) = (provider.path("window"), provider.path("other"));
    let null = json!(["", "/org/a11y/atspi/null"]);
    assert_eq!(client.get(&name, &window, "Accessible.Parent"), null);
    let elsewhere = provider.path("elsewhere");
    assert_eq!(client.get(&name, &elsewhere, "Accessible.Parent"), json!([name, other]));
    assert!(client.children(&name, &window).contains(&elsewhere));

    let mut provider = Provider::ready_made(&bus, "huge-child-count");
    let name = provider.names[0].clone();
    let sheet = provider.path("sheet");
    assert_eq!(client.get(&name, &sheet, "Accessible.ChildCount"), i32::MAX);
    let cell = client.call(&name, &sheet, "Table", "GetAccessibleAt", "ii", json!([1, 1]));
    assert_eq!(cell["ok"], json!([name, provider.path("cell-B2")]));
    let same = client.call(&name, &sheet, "Accessible", "GetChildAtIndex", "i", json!([1025]));
    assert_eq!(same["ok"], cell["ok"]);
    let children = json!({"dest": name, "path": sheet, "interface": "Accessible",
        "member": "GetChildren", "timeout_ms": 200});
    assert_eq!(client.raw(&children)["error"], NO_REPLY);
    assert_eq!(provider.log("violation").len(), 1);
    let role = json!({"dest": name, "path": sheet, "interface": "Accessible",
        "member": "GetRole", "timeout_ms": 200});
    assert_eq!(client.raw(&role)["error"], NO_REPLY, "the whole application hangs");
}

#[test]
fn the_tree_changes_under_the_reader() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);

    let mut provider = Provider::ready_made(&bus, "slot-recycling");
    let name = provider.names[0].clone();
    let (label, button) = (provider.path("name-3"), provider.path("delete-3"));
    assert_eq!(client.get(&name, &label, "Accessible.Name"), "Person 3");
    provider.script("scroll");
    assert_eq!(client.get(&name, &label, "Accessible.Name"), "Person 103");
    client.press(&name, &button, 500);
    assert_eq!(provider.log("write")[0]["beside"], json!(["Person 103"]));

    let mut provider = Provider::ready_made(&bus, "node-moved-mid-walk");
    let name = provider.names[0].clone();
    let panels: Vec<String> = (1..=3).map(|n| provider.path(&format!("panel-{n}"))).collect();
    let counts: Vec<usize> = [0, 1, 2, 0].map(|n: usize| client.children(&name, &panels[n]).len()).to_vec();
    assert_eq!(counts, [1, 1, 0, 2]);

    let mut provider = Provider::ready_made(&bus, "modal-reply");
    let name = provider.names[0].clone();
    let modal = provider.path("modal");
    assert_eq!(client.press(&name, &modal, 200)["error"], NO_REPLY);
    assert_eq!(client.children(&name, ROOT).len(), 2, "the dialog is there");
    let ok = provider.path("dialog-ok");
    assert_eq!(client.press(&name, &ok, 500)["ok"], true);
    assert_eq!(client.children(&name, ROOT).len(), 1);
    assert_eq!(provider.log("late_reply")[0]["of"], 1);

    let mut provider = Provider::ready_made(&bus, "two-applications");
    assert_eq!(provider.names.len(), 2);
    assert!(client.children(&provider.names[0].clone(), ROOT).is_empty());
    assert_eq!(client.children(&provider.names[1].clone(), ROOT).len(), 1);
    provider.must(json!({"cmd": "fence"}));

    let provider = Provider::ready_made(&bus, "popup-by-itself");
    let name = provider.names[0].clone();
    let window = client.children(&name, ROOT).remove(0);
    let dead = client.children(&name, &window).remove(0);
    assert_eq!(client.press(&name, &dead, 500)["ok"], true);
    std::thread::sleep(std::time::Duration::from_millis(150));
    assert_eq!(client.children(&name, ROOT).len(), 2);
}

#[test]
fn caches_tell_the_truth_or_not() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);
    let cache = "/org/a11y/atspi/cache";
    let names = |items: &Value| -> Vec<String> {
        let items = items.as_array().unwrap().iter();
        items.map(|item| item[6].as_str().unwrap().to_owned()).collect()
    };

    let provider = Provider::ready_made(&bus, "cache-good");
    let items = client.read(&provider.names[0], cache, "Cache", "GetItems");
    let complete = names(&items);
    assert_eq!(complete.len(), 26);
    assert_eq!(items[0][0], json!([provider.names[0], ROOT]));
    assert_eq!(items[1][2], json!([provider.names[0], ROOT]), "the window's parent");

    let provider = Provider::ready_made(&bus, "cache-incomplete");
    let items = client.read(&provider.names[0], cache, "Cache", "GetItems");
    assert_eq!(names(&items).len(), 26 - 21);

    let mut provider = Provider::ready_made(&bus, "cache-stale");
    provider.script("change");
    let items = names(&client.read(&provider.names[0], cache, "Cache", "GetItems"));
    assert!(items.contains(&"Old OK".to_owned()) && items.contains(&"Fruit 3".to_owned()));

    let provider = Provider::ready_made(&bus, "cache-after-listener");
    let name = &provider.names[0];
    let early = client.call(name, cache, "Cache", "GetItems", "", json!([]));
    assert_eq!(early["error"], "org.freedesktop.DBus.Error.UnknownMethod");
    let registry = "org.a11y.atspi.Registry";
    let event = json!(["object:state-changed", [], ""]);
    let path = "/org/a11y/atspi/registry";
    client.call(registry, path, "Registry", "RegisterEvent", "sass", event);
    std::thread::sleep(std::time::Duration::from_millis(100));
    let items = client.read(name, cache, "Cache", "GetItems");
    assert_eq!(
        names(&items),
        complete.iter().map(|n| if n == "Cached" { "Cached late".to_owned() } else { n.clone() }).collect::<Vec<_>>()
    );
}

#[test]
fn things_happen_between_two_reads_or_by_themselves() {
    let bus = Bus::start();
    let mut client = Client::start(&bus);

    let mut provider = Provider::ready_made(&bus, "gone-between");
    let (name, ok) = (provider.names[0].clone(), provider.path("ok"));
    for _ in 0..2 {
        client.read(&name, &ok, "Accessible", "GetState");
    }
    let press = client.press(&name, &ok, 500);
    assert_eq!(press["error"], "org.freedesktop.DBus.Error.UnknownObject");
    assert_eq!(provider.name("status"), "Nothing yet");

    let mut provider = Provider::ready_made(&bus, "greyed-between");
    let (name, ok) = (provider.names[0].clone(), provider.path("ok"));
    for _ in 0..2 {
        client.read(&name, &ok, "Accessible", "GetState");
    }
    assert_eq!(client.press(&name, &ok, 500)["ok"], true, "the lie");
    assert_eq!(provider.name("status"), "Nothing yet");
    assert_eq!(provider.log("write")[0]["effect"], false);

    let mut provider = Provider::ready_made(&bus, "action-lies");
    let (name, liar) = (provider.names[0].clone(), provider.path("liar"));
    assert_eq!(client.press(&name, &liar, 500)["ok"], true);
    assert_eq!(provider.name("status"), "Nothing yet");
    let field = provider.path("no-text");
    let set = client.call(&name, &field, "EditableText", "SetTextContents", "s", json!(["new"]));
    assert_eq!(set["ok"], true);
    let text = client.call(&name, &field, "Text", "GetText", "ii", json!([0, -1]));
    assert_eq!(text["ok"], "old");

    let mut provider = Provider::ready_made(&bus, "error-replies");
    let (name, failed) = (provider.names[0].clone(), provider.path("failed-after"));
    let press = client.press(&name, &failed, 500);
    assert_eq!(press["error"], "org.freedesktop.DBus.Error.Failed");
    assert_eq!(provider.name("status"), "failed-after", "it failed after its effect");

    let mut provider = Provider::ready_made(&bus, "countdown-label");
    let before = provider.name("countdown");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_ne!(provider.name("countdown"), before);

    let mut provider = Provider::ready_made(&bus, "null-refs");
    let name = provider.names[0].clone();
    let holes = provider.path("holes");
    let null = "/org/a11y/atspi/null".to_owned();
    assert_eq!(client.children(&name, &holes), [null, provider.path("in-holes")]);

    let provider = Provider::ready_made(&bus, "hang-after");
    let name = provider.names[0].clone();
    let mut answered = 0;
    while client.raw(&json!({"dest": name, "path": ROOT, "interface": "Accessible",
        "member": "GetRole", "timeout_ms": 200}))["ok"]
        == 75
    {
        answered += 1;
    }
    assert_eq!(answered, 40);
}

#[test]
fn changes_are_announced() {
    let bus = Bus::start();
    let client = Client::start(&bus);
    let mut provider = Provider::ready_made(&bus, "simple");
    let mut monitor = Monitor::start(&bus, &client.a11y_address);
    let (ok, list) = (provider.path("ok"), provider.path("list"));
    provider.must(json!({"cmd": "rename", "node": "ok", "name": "Fine"}));
    provider.must(json!({"cmd": "toggle_state", "node": "check", "state": "checked"}));
    provider.must(json!({"cmd": "remove", "node": "fruit-1"}));
    provider.must(json!({"cmd": "open_window", "window": {"id": "dialog", "role": "dialog", "name": "New"}}));
    provider.must(json!({"cmd": "emit", "node": "ok", "class": "Object", "name": "VisibleDataChanged"}));
    let seen = monitor.until("VisibleDataChanged");
    for expected in [
        format!("path={ok}; interface=org.a11y.atspi.Event.Object; member=PropertyChange"),
        "accessible-name".to_owned(),
        "\"Fine\"".to_owned(),
        "string \"checked\"\n   int32 1".to_owned(),
        format!("path={list}; interface=org.a11y.atspi.Event.Object; member=ChildrenChanged"),
        "string \"remove\"\n   int32 1".to_owned(),
        "interface=org.a11y.atspi.Event.Window; member=Activate".to_owned(),
    ] {
        assert!(seen.contains(&expected), "{expected} is missing in {seen}");
    }
}

#[test]
fn a_broken_scenario_is_refused() {
    let bus = Bus::start();
    let file = bus.dir.path().join("scenario.json");
    std::fs::write(&file, r#"{"applications": [{"name": "x", "colour": 1}]}"#).unwrap();
    let run = bus
        .command(env!("CARGO_BIN_EXE_scripted-provider"))
        .args(["--check", "--scenario"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("colour"));
    let _ = Provider::scenario(&bus, &json!({"applications": [{"name": "Fine"}]}));
}
