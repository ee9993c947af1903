//! What is asked of every real application.

use agent_desktop_e2e::{App, Compared, Desk, Oracle, resolve_rate, steady};
use serde_json::Value;

/// Refs that are tried per application.
const SAMPLE: usize = 200;

/// The node set equals the raw walk's, the refs resolve, and what the default flags leave out is announced.
pub fn is_read_as_it_is(desk: &Desk, running: &App, app: &str, at_least: usize) {
    let (oracle, data) = steady(desk, running.pid(), app, &["--max-depth", "50"]);
    assert_eq!(data["complete"], true, "{}", data["details"]);
    let found = compared(desk, &oracle, &data, false);
    assert!(found.nodes + 10 >= at_least, "{} nodes: the comparison shows nothing", found.nodes);
    if found.grids == 0 {
        assert_eq!(found.nodes, oracle.count());
    }

    let (rate, failed) = resolve_rate(desk, &data, SAMPLE);
    eprintln!(
        "{app}: {} nodes equal to the raw walk; {} of {} refs tried, {} resolved; {} virtual grids, {} cells",
        found.nodes, rate.tried, rate.printed, rate.resolved, found.grids, rate.cells
    );
    for why in &failed {
        eprintln!("{app}: does not resolve: {why}");
    }
    assert!(rate.tried > 5, "{app}: {rate:?} shows nothing");
    assert!(rate.resolved * 100 >= rate.tried * 95, "{app}: {rate:?} {failed:#?}");

    let (oracle, data) = steady(desk, running.pid(), app, &[]);
    assert_eq!(data["complete"], true);
    let found = compared(desk, &oracle, &data, true);
    let missing = found.nodes < oracle.count();
    assert!(!missing || found.cut > 0 || found.grids > 0, "{found:?}");
}

fn compared(desk: &Desk, oracle: &Oracle, data: &Value, cuts: bool) -> Compared {
    let mut found = oracle.compare(&data["tree"], cuts);
    for (at, name) in std::mem::take(&mut found.elsewhere) {
        let node = oracle.node(at);
        let args =
            ["--bus", node["bus"].as_str().expect("a bus name"), "--path", node["path"].as_str().expect("a path")];
        let out = desk.oracle("node.py", &args).output().expect("the oracle runs");
        let facts: Value = serde_json::from_slice(&out.stdout).expect("the oracle prints JSON");
        let text = facts["text"].as_str().map(str::trim);
        let attribute = facts["attributes"].as_object().is_some_and(|a| a.values().any(|v| v.as_str() == Some(&*name)));
        if text != Some(&*name) && !attribute {
            found.problems.push(format!("{name:?} stands nowhere in the window: {facts}"));
        }
    }
    assert!(found.problems.is_empty(), "{} problems: {:#?}", found.problems.len(), found.problems);
    found
}
