//! Batches on an in-memory desktop.

use super::*;
use crate::command::{Globals, Host};
use crate::platform::Platform;
use crate::platform::fake::Fake;
use crate::tree::fixture::node;
use crate::vocab::role::Role;
use serde_json::{Value, json};
use std::ffi::OsString;

struct One;

impl Host for One {
    fn open(&self, _: Option<&str>) -> Result<Box<dyn Platform>> {
        Ok(Box::new(Fake::new(node(Role::Window).build())))
    }
}

fn batch(args: Batch) -> Answer {
    let home = tempfile::tempdir().unwrap();
    let root = OsString::from(home.path());
    let env = Box::new(move |name: &str| (name == "AGENT_DESKTOP_HOME").then(|| root.clone()));
    let context = Context::new(Globals::default(), env, Box::new(One)).unwrap();
    args.validate()?;
    run(&context, &args)
}

fn of(rows: Value) -> Batch {
    Batch { json: Some(rows.to_string()), ..Batch::default() }
}

#[test]
fn each_entry_answers_for_itself() {
    let answer = batch(of(json!([
        {"command": "version"},
        {"command": "get", "args": {"ref_id": "@snone:e1"}},
        {"command": "wait", "args": {"ms": 1}, "session": "other"},
    ])))
    .unwrap();
    let rows = answer["results"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[0]["ok"].as_bool(), rows[0]["execution"].as_str()), (Some(true), Some("completed")));
    assert_eq!(rows[1]["error"]["code"], "SNAPSHOT_NOT_FOUND");
    assert_eq!(rows[1]["error"]["disposition"]["retry"], "safe");
    assert_eq!(rows[2]["data"]["waited_ms"], 1);
    assert_eq!((answer["completed_entries"].as_u64(), answer["not_started_entries"].as_u64()), (Some(3), Some(0)));
    assert!(answer.get("stopped").is_none());
}

#[test]
fn one_wrong_entry_and_nothing_runs() {
    for (rows, index) in [
        (json!([{"command": "wait", "args": {"ms": 60_000}}, {"command": "no-such"}]), 1),
        (json!([{"command": "wait", "args": {"ms": 60_000}}, {"command": "find", "args": {"unknown": 1}}]), 1),
        (json!([{"command": "batch", "args": {"json": "[]"}}]), 0),
        (json!([{"command": "version"}, {"command": "get", "args": {"ref_id": "e1"}}]), 1),
        (json!([{"command": "version", "arguments": {}}]), 0),
        (json!([{"command": "version", "wait_for": "button"}]), 0),
        (json!([{"command": "snapshot", "wait_timeout": 5}]), 0),
        (json!([{"command": "snapshot", "wait_for": "button", "wait_view": "none"}]), 0),
        (json!([{"command": "version", "session": "../x"}]), 0),
        (json!([{"args": {}}]), 0),
        (
            json!([{"command": "wait", "args": {"ms": 60_000}}, {"command": "type", "args": {"ref_id": "@s0001:e1", "stdin": true}}]),
            1,
        ),
        (json!([{"command": "cursor-overlay", "args": {"operation": "enable"}}]), 0),
    ] {
        let begun = std::time::Instant::now();
        let e = batch(of(rows.clone())).unwrap_err();
        assert!(begun.elapsed().as_secs() < 30, "it ran: {rows}");
        assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some("batch_entry_invalid")), "{rows}");
        assert_eq!(e.details()["batch_index"], index, "{rows}");
    }
    for bad in ["", "{}", "[]", "[1", "null", &json!(vec![json!({"command": "version"}); 65]).to_string()] {
        let e = batch(Batch { json: Some(bad.into()), ..Batch::default() }).unwrap_err();
        assert_eq!(e.code(), Code::InvalidArgs, "{bad}");
    }
}

#[test]
fn it_stops_where_the_caller_says() {
    let rows =
        json!([{"command": "version"}, {"command": "get", "args": {"ref_id": "@snone:e1"}}, {"command": "version"}]);
    let answer = batch(Batch { stop_on_error: true, ..of(rows) }).unwrap();
    assert_eq!(answer["stopped"], json!({"reason": "stop_on_error", "after_index": 1}));
    assert_eq!(answer["results"].as_array().unwrap().len(), 2);
    assert_eq!(answer["not_started_entries"], 1);
}

#[test]
fn no_entry_begins_after_the_deadline_and_each_says_so() {
    let rows = json!([{"command": "wait", "args": {"ms": 30}}, {"command": "wait", "args": {"ms": 5_000}}, {"command": "version"}]);
    let answer = batch(Batch { timeout_ms: Some(60), ..of(rows) }).unwrap();
    assert_eq!(answer["results"][0]["ok"], true);
    assert_eq!(answer["results"][1]["error"]["details"]["kind"], "batch_deadline");
    let answer =
        batch(Batch { timeout_ms: Some(0), ..of(json!([{"command": "version"}, {"command": "version"}])) }).unwrap();
    assert_eq!(answer["stopped"], json!({"reason": "deadline", "index": 0}));
    for row in answer["results"].as_array().unwrap() {
        assert_eq!(row["execution"], "not_started");
        assert_eq!(row["not_started_reason"], "deadline");
        assert_eq!(row["error"]["disposition"]["delivery"], "not_delivered");
    }
}

#[test]
fn an_answer_without_room_keeps_its_disposition_and_ends_the_batch() {
    let entries = entry::parse(&json!([{"command": "version"}, {"command": "version"}]).to_string()).unwrap();
    let mut out = Output::new(2, 1_000);
    let big = "x".repeat(MAX_OUTPUT_BYTES);
    let disposition = crate::error::Delivery::DeliveredUnverified.disposition();
    let added = out.completed(&entries[0], &Ok(json!({"text": big, "disposition": disposition})));
    assert_eq!(added, Added::Cut);
    out.stop(Stop::OutputLimit { after: 0 });
    let answer = out.finish();
    assert_eq!(answer["results"][0]["error"]["details"]["kind"], "batch_output_limit");
    assert_eq!(answer["results"][0]["error"]["disposition"]["delivery"], "delivered_unverified");
    assert!(answer.to_string().len() < OUTPUT_RESERVE_BYTES);
}

#[test]
fn the_array_comes_from_one_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("batch.json");
    std::fs::write(&path, r#"[{"command":"version"}]"#).unwrap();
    let file = |path: &std::path::Path| Batch { file: Some(path.display().to_string()), ..Batch::default() };
    assert_eq!(batch(file(&path)).unwrap()["completed_entries"], 1);
    assert!(batch(Batch { json: Some("[]".into()), ..file(&path) }).is_err());
    assert!(batch(Batch::default()).is_err());
    assert_eq!(batch(file(&dir.path().join("none"))).unwrap_err().kind_name(), Some("batch_file"));
    std::fs::write(&path, vec![b' '; crate::command::system::BATCH_MAX_BYTES + 1]).unwrap();
    assert!(batch(file(&path)).is_err());
    // Standard input is the face's to read.
    assert!(batch(Batch { json: Some("-".into()), ..Batch::default() }).is_err());
}

#[test]
fn a_key_that_stands_twice_is_refused_and_nothing_runs() {
    let json = r#"[{"command": "wait", "args": {"ms": 60000}}, {"command": "wait", "args": {"ms": 1, "ms": 2}}]"#;
    let error = batch(Batch { json: Some(json.into()), ..Batch::default() }).unwrap_err();
    assert_eq!(error.details()["kind"], "batch_malformed");
    assert!(error.message().contains("twice"), "{error}");
}

#[test]
fn a_pause_without_time_is_not_run_and_neither_is_what_follows_it() {
    let rows = json!([{"command": "version"}, {"command": "wait", "args": {"ms": 5_000}}, {"command": "version"}]);
    let answer = batch(Batch { timeout_ms: Some(1_000), ..of(rows) }).unwrap();
    assert_eq!((answer["completed_entries"].as_u64(), answer["not_started_entries"].as_u64()), (Some(1), Some(2)));
    assert_eq!(answer["stopped"], json!({"reason": "deadline", "index": 1}));
    for row in &answer["results"].as_array().unwrap()[1..] {
        assert_eq!(row["execution"], "not_started");
        assert_eq!(row["error"]["disposition"]["delivery"], "not_delivered");
    }
}

#[test]
fn a_limit_by_its_other_name_is_cut_as_well() {
    let rows = json!([{"command": "wait", "args": {"menu": true, "timeout_ms": 60_000}}]);
    let answer = batch(Batch { timeout_ms: Some(300), ..of(rows) }).unwrap();
    let error = &answer["results"][0]["error"];
    assert_ne!(error["code"], "INVALID_ARGS", "{answer}");
}
