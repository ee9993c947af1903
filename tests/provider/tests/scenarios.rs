//! Scenario files: what parses, what is refused, what generators make.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use agent_desktop_test_provider::build;
use agent_desktop_test_provider::scenario::{Scenario, parse_hex};
use agent_desktop_test_provider::steps::{Change, Placeholders};
use agent_desktop_test_provider::tree::Tree;
use serde_json::{Value, json};
use std::path::Path;

fn parse(value: &Value) -> Result<Scenario, String> {
    Scenario::parse(&value.to_string())
}

fn tree_of(children: Value) -> Result<Tree, String> {
    let scenario = parse(&json!({"applications": [{"name": "a", "children": children}]}))?;
    build::tree(&scenario)
}

fn refusal(value: &Value) -> String {
    match parse(value).and_then(|scenario| build::tree(&scenario)) {
        Ok(_) => panic!("accepted: {value}"),
        Err(error) => error,
    }
}

#[test]
fn every_ready_made_scenario_builds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        build::tree(&scenario).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        assert!(!scenario.about.is_empty(), "{path:?} says what it is for");
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(readme.contains(&format!("`{name}`")), "{name} stands in the README");
        seen += 1;
    }
    assert!(seen > 40, "only {seen} scenarios");
}

#[test]
fn unknown_keys_are_refused_at_every_level() {
    let node = json!({"id": "x", "role": "label"});
    for (place, value) in [
        ("top", json!({"applications": [{"name": "a"}], "extra": 1})),
        ("application", json!({"applications": [{"name": "a", "extra": 1}]})),
        ("node", json!({"applications": [{"name": "a", "children": [{"id": "x", "role": "label", "extra": 1}]}]})),
        (
            "generate",
            json!({"applications": [{"name": "a", "children": [{"generate": {"kind": "flat", "count": 1, "template": node, "extra": 1}}]}]}),
        ),
        ("fault", json!({"applications": [{"name": "a"}], "faults": [{"do": "never", "extra": 1}]})),
        ("match", json!({"applications": [{"name": "a"}], "faults": [{"match": {"extra": 1}, "do": "never"}]})),
        ("error", json!({"applications": [{"name": "a"}], "faults": [{"do": {"error": {"name": "a.b", "extra": 1}}}]})),
        (
            "step",
            json!({"applications": [{"name": "a"}], "scripts": {"s": [{"cmd": "remove", "node": "x", "extra": 1}]}}),
        ),
        ("timer", json!({"applications": [{"name": "a"}], "timers": [{"after_ms": 1, "steps": [], "extra": 1}]})),
    ] {
        assert!(refusal(&value).contains("extra"), "{place}: {}", refusal(&value));
    }
}

#[test]
fn what_could_never_apply_is_refused() {
    let with = |fault: Value| {
        json!({"applications": [{"name": "a", "children": [
            {"generate": {"kind": "flat", "count": 3, "template": {"id": "row-{i}", "role": "label"}}}
        ]}], "faults": [fault]})
    };
    assert!(refusal(&with(json!({"match": {"node": "nobody"}, "do": "never"}))).contains("nobody"));
    assert!(refusal(&with(json!({"match": {"node": "row-x"}, "do": "never"}))).contains("row-x"));
    assert!(refusal(&with(json!({"match": {"interface": "Actoin"}, "do": "never"}))).contains("Actoin"));
    assert!(refusal(&with(json!({"match": {"app": "b"}, "do": "never"}))).contains("\"b\""));
    assert!(refusal(&with(json!({"nth": 0, "do": "never"}))).contains("nth"));
    assert!(refusal(&with(json!({"do": {"raw": {"signature": "s", "hex": "0g"}}}))).contains("hexadecimal"));
    assert!(refusal(&with(json!({"do": "sometimes"}))).contains("sometimes"));
    for node in ["row-2", "row-*", "root"] {
        parse(&with(json!({"match": {"node": node}, "do": "never"}))).unwrap();
    }
}

#[test]
fn names_that_atspi_does_not_have_are_refused() {
    let with = |key: &str, value: Value| {
        let mut node = json!({"id": "x", "role": "label"});
        node[key] = value;
        json!({"applications": [{"name": "a", "children": [node]}]})
    };
    assert!(refusal(&with("role", json!("lable"))).contains("lable"));
    assert!(refusal(&with("also", json!(["showy"]))).contains("showy"));
    assert!(refusal(&with("interfaces", json!(["Actions"]))).contains("Actions"));
    assert!(refusal(&with("relations", json!({"near": []}))).contains("near"));
    assert!(parse(&with("role", json!(999))).and_then(|s| build::tree(&s)).is_ok());
}

#[test]
fn two_nodes_with_one_id_are_refused() {
    let twice = json!([{"id": "x", "role": "label"}, {"id": "x", "role": "label"}]);
    assert!(tree_of(twice).unwrap_err().contains("\"x\""));
}

#[test]
fn flat_fills_in_the_number_everywhere() {
    let tree = tree_of(json!([{"generate": {"kind": "flat", "count": 3, "from": 5, "template": {
        "id": "row-{i}", "role": "list item", "name": "Row {i}",
        "children": [{"id": "delete-{i}", "role": "button", "relations": {"labelled_by": ["row-{i}"]}}]
    }}}]))
    .unwrap();
    let root = tree.node(tree.apps[0].root);
    let names: Vec<&str> = root.children.iter().map(|c| tree.node(*c).name.as_str()).collect();
    assert_eq!(names, ["Row 5", "Row 6", "Row 7"]);
    let delete = tree.node(tree.find("delete-6").unwrap());
    assert_eq!(delete.relations["labelled_by"], ["row-6"]);
    assert_eq!(delete.parent, Some(tree.find("row-6").unwrap()));
}

#[test]
fn a_chain_is_as_deep_as_it_says() {
    let tree = tree_of(json!([{"generate": {"kind": "chain", "depth": 50_000,
        "template": {"id": "level-{i}", "role": "panel"},
        "leaf": {"id": "bottom", "role": "button"}}}]))
    .unwrap();
    let mut depth = 0;
    let mut at = tree.find("bottom").unwrap();
    while let Some(parent) = tree.node(at).parent {
        at = parent;
        depth += 1;
    }
    assert_eq!(depth, 50_001);
    let window = tree.window_of(tree.find("bottom").unwrap());
    assert_eq!(tree.node(window).id, "level-0");
}

#[test]
fn a_balanced_tree_has_its_nodes_and_its_fanout() {
    let tree = tree_of(json!([{"generate": {"kind": "balanced", "count": 1000, "fanout": 3,
        "template": {"id": "n-{i}", "role": "panel"}}}]))
    .unwrap();
    assert_eq!(tree.nodes.len(), 1001);
    assert_eq!(tree.node(tree.apps[0].root).children.len(), 1);
    let inner = tree.node(tree.find("n-100").unwrap());
    let ids: Vec<&str> = inner.children.iter().map(|c| tree.node(*c).id.as_str()).collect();
    assert_eq!(ids, ["n-301", "n-302", "n-303"]);
}

#[test]
fn a_hundred_thousand_nodes_have_a_hundred_thousand_paths() {
    let mut tree = tree_of(json!([{"generate": {"kind": "flat", "count": 100_000,
        "template": {"id": "n-{i}", "role": "label"}}}]))
    .unwrap();
    assert_eq!(tree.apps[0].by_path.len(), 100_001);
    let last = tree.find("n-99999").unwrap();
    assert_eq!(tree.position(last), Some(99_999));
    // Positions stay right after the list changed in front of them.
    let first = tree.find("n-0").unwrap();
    tree.detach(first);
    assert_eq!(tree.position(last), Some(99_998));
}

#[test]
fn interfaces_follow_from_the_content_unless_listed() {
    let tree = tree_of(json!([
        {"id": "entry", "role": "entry", "text": "", "also": ["editable"], "extents": [0, 0, 1, 1]},
        {"id": "label", "role": "label", "text": ""},
        {"id": "odd", "role": "label", "text": "", "interfaces": ["Accessible", "Action"]}
    ]))
    .unwrap();
    let of = |id: &str| -> Vec<&str> {
        let node = tree.node(tree.find(id).unwrap());
        agent_desktop_test_provider::names::interfaces_in(node.interfaces).collect()
    };
    assert_eq!(of("entry"), ["Accessible", "Component", "EditableText", "Text"]);
    assert_eq!(of("label"), ["Accessible", "Text"]);
    assert_eq!(of("odd"), ["Accessible", "Action"]);
}

#[test]
fn placeholders_are_filled_in_when_steps_run() {
    let scenario = parse(&json!({"applications": [{"name": "a"}], "scripts": {"s": [
        {"cmd": "remove", "node": "$parent"},
        {"cmd": "rename", "node": "$self", "name": "left: {n}", "after_ms": 7}
    ]}}))
    .unwrap();
    let steps = scenario.scripts["s"].fill(&Placeholders {
        this: Some("button".into()),
        parent: Some("row".into()),
        count: Some(-3),
    });
    assert!(matches!(&steps[0].change, Change::Remove { node } if node == "row"));
    assert_eq!(steps[1].after_ms, 7);
    assert!(matches!(&steps[1].change, Change::Rename { node, name } if node == "button" && name == "left: -3"));
}

#[test]
fn hexadecimal() {
    assert_eq!(parse_hex("01 fF").unwrap(), [1, 255]);
    assert!(parse_hex("0").is_err());
}
