//! Several commands in one call: what each did stands in the application's own log.

use agent_desktop_e2e::{Desk, Live, NATIVE};
use serde_json::{Value, json};

fn batch(live: &Live<'_>, entries: Value, more: &[&str]) -> Value {
    let text = entries.to_string();
    live.desk.ok(&[&["batch", &text], more].concat())
}

fn buttons(live: &Live<'_>) -> (String, String) {
    (live.only("button", "Save"), live.only("checkbox", "Check me"))
}

/// Each entry keeps what it answers by itself: a press, a state, and a refusal that may be tried again.
#[test]
fn entries_run_in_order_and_each_once() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let press = live.only("button", "Save");
        let before = live.landed().len();
        let answer = batch(
            &live,
            json!([
                {"command": "click", "args": {"ref_id": press}},
                {"command": "get", "args": {"ref_id": press, "property": "role"}},
                {"command": "get", "args": {"ref_id": "@snone:e1"}},
                {"command": "click", "args": {"ref_id": press}},
            ]),
            &[],
        );
        let rows = answer["results"].as_array().expect("results");
        assert_eq!(rows.len(), 4, "{kind}: {answer}");
        assert_eq!(rows[0]["data"]["disposition"]["retry"], "unsafe", "{kind}: {answer}");
        assert_eq!(rows[1]["data"]["value"], "button", "{kind}: {answer}");
        assert_eq!(rows[2]["error"]["disposition"]["delivery"], "not_delivered", "{kind}: {answer}");
        live.fixture.control("fence");
        assert_eq!(live.landed().len(), before + 2, "{kind}: {:?}", live.landed());
    }
}

/// A wrong entry, wherever it stands: nothing of the batch arrives.
#[test]
fn one_wrong_entry_and_nothing_arrives() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let (press, check) = buttons(&live);
    let before = live.landed().len();
    for wrong in [
        json!({"command": "click", "args": {"ref_id": "@e1"}}),
        json!({"command": "set-value", "args": {"ref_id": check, "value": "x", "stdin": true}}),
        json!({"command": "scroll", "args": {"ref_id": check, "amount": -1}}),
        json!({"command": "click", "args": {"ref_id": check}, "headed": true}),
        json!({"command": "batch", "args": {"json": "[]"}}),
    ] {
        let text = json!([{"command": "click", "args": {"ref_id": press}}, wrong]).to_string();
        let error = desk.err(&["batch", &text]);
        assert_eq!(error["details"]["kind"], "batch_entry_invalid", "{error}");
        assert_eq!(error["details"]["batch_index"], 1, "{error}");
    }
    live.fixture.control("fence");
    assert_eq!(live.landed().len(), before, "{:?}", live.landed());
}

#[test]
fn it_stops_at_an_error_and_at_its_time() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk4", "controls");
    let press = live.only("button", "Save");
    let click = json!({"command": "click", "args": {"ref_id": press}});
    let before = live.landed().len();
    let answer =
        batch(&live, json!([click, {"command": "get", "args": {"ref_id": "@snone:e1"}}, click]), &["--stop-on-error"]);
    assert_eq!(answer["stopped"], json!({"reason": "stop_on_error", "after_index": 1}), "{answer}");
    live.fixture.control("fence");
    assert_eq!(live.landed().len(), before + 1);
    // A wait that the batch's time cuts, and entries that are never begun.
    let late = json!({"command": "wait", "args": {"text": "never to be seen", "app": live.app}});
    let answer = batch(&live, json!([late]), &["--timeout-ms", "1500"]);
    assert_eq!(answer["results"][0]["error"]["details"]["limited_by"], "batch", "{answer}");
    let answer = batch(&live, json!([click, click]), &["--timeout-ms", "0"]);
    for row in answer["results"].as_array().expect("results") {
        assert_eq!(row["execution"], "not_started", "{answer}");
        assert_eq!(row["error"]["disposition"]["retry"], "safe", "{answer}");
    }
    live.fixture.control("fence");
    assert_eq!(live.landed().len(), before + 1, "it was begun after all");
}

/// From a file and from standard input; `--headed` and the policy hold for each entry.
#[test]
fn sources_and_policy() {
    let desk = Desk::new();
    let live = Live::start(&desk, "qt5", "controls");
    let press = live.only("button", "Save");
    let text =
        json!([{"command": "click", "args": {"ref_id": press}}, {"command": "mouse-move", "args": {"xy": "5,5"}}])
            .to_string();
    let path = desk.dir.path().join("batch.json");
    std::fs::write(&path, &text).expect("the file");
    let before = live.landed().len();
    let from_file = desk.ok(&["batch", "--file", path.to_str().expect("UTF-8")]);
    let piped = desk.cli_with(&["batch", "-"], &[], Some(&text)).data();
    for answer in [from_file, piped] {
        assert_eq!(answer["results"][0]["ok"], true, "{answer}");
        assert_eq!(answer["results"][1]["error"]["code"], "POLICY_DENIED", "{answer}");
    }
    live.fixture.control("fence");
    assert_eq!(live.landed().len(), before + 2);
    let headed =
        desk.ok(&["batch", "--headed", &json!([{"command": "mouse-move", "args": {"xy": "5,5"}}]).to_string()]);
    assert_eq!(headed["results"][0]["ok"], true, "{headed}");
}

/// The namespaces of sessions don't mix: a ref of one is none of the other.
#[test]
fn an_entry_has_its_own_session() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let find = |session: &str| json!({"command": "find", "args": {"app": live.app, "name": "Save", "first": true}, "session": session});
    let answer = batch(&live, json!([find("one"), find("two")]), &[]);
    let id = |at: usize| answer["results"][at]["data"]["match"]["ref_id"].as_str().expect("a ref").to_owned();
    let get =
        |reference: String, session: &str| json!({"command": "get", "args": {"ref_id": reference}, "session": session});
    let answer = batch(&live, json!([get(id(0), "one"), get(id(0), "two"), get(id(1), "two")]), &[]);
    let ok: Vec<bool> = (0..3).map(|at| answer["results"][at]["ok"] == true).collect();
    assert_eq!(ok, [true, false, true], "{answer}");
    assert_eq!(answer["results"][1]["error"]["code"], "SNAPSHOT_NOT_FOUND", "{answer}");
}
