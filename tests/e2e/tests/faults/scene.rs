//! One scenario in a desktop of its own.

use agent_desktop_e2e::{Desk, Provider, Reply, nodes};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// What a machine under load may add to a time limit. A hang exceeds it, nothing else does.
const SLACK: Duration = Duration::from_secs(20);

/// A desktop with one scripted application.
pub struct Scene {
    pub desk: Desk,
    pub provider: Provider,
    /// Name of the application.
    pub app: String,
}

/// The name of a scenario's first application.
pub fn app_of(scenario: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../provider/scenarios").join(format!("{scenario}.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let scenario: Value = serde_json::from_str(&text).expect("a scenario");
    scenario["applications"][0]["name"].as_str().expect("a name").to_owned()
}

impl Scene {
    pub fn new(scenario: &str) -> Self {
        let desk = Desk::new();
        let provider = Provider::start(&desk, scenario);
        Self { desk, provider, app: app_of(scenario) }
    }

    /// Another application in the same desktop.
    pub fn beside(&self, scenario: &str) -> (Provider, String) {
        (Provider::start(&self.desk, scenario), app_of(scenario))
    }

    /// `data` of a snapshot that is complete.
    pub fn snapshot(&self) -> Value {
        let data = self.desk.ok(&["snapshot", "--app", &self.app, "--timeout-ms", "20000"]);
        assert_eq!(data["complete"], true, "{data}");
        data
    }

    /// `data` of a snapshot, complete or not.
    pub fn partial(&self, extra: &[&str]) -> Value {
        let args: Vec<&str> = ["snapshot", "--app", &self.app].into_iter().chain(extra.iter().copied()).collect();
        self.desk.ok(&args)
    }

    pub fn click(&self, what: &str) -> Reply {
        self.desk.cli(&["click", what])
    }

    /// Waits until all that was sent has been handled and no reply is owed.
    pub fn settle(&self) {
        let end = std::time::Instant::now() + Duration::from_secs(60);
        loop {
            let fence = self.provider.control(json!({"cmd": "fence"}));
            if fence["owed"] == 0 {
                break;
            }
            assert!(std::time::Instant::now() < end, "replies stay owed: {fence}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Every logged write, when all that was sent has been handled and no reply is owed.
    pub fn writes(&self) -> Vec<Value> {
        self.settle();
        self.logged("write")
    }

    /// Log lines of one kind, without asking the provider, which may be dead.
    pub fn logged(&self, kind: &str) -> Vec<Value> {
        self.provider.log().into_iter().filter(|l| l["kind"] == kind).collect()
    }

    /// Exactly these nodes got exactly one `DoAction` each, in this order, and nothing else was written.
    pub fn pressed(&self, expected: &[&str]) {
        let writes = self.writes();
        let got: Vec<(&str, &str)> = writes
            .iter()
            .map(|l| (l["node"].as_str().unwrap_or_default(), l["member"].as_str().unwrap_or_default()))
            .collect();
        let wanted: Vec<(&str, &str)> = expected.iter().map(|n| (*n, "DoAction")).collect();
        assert_eq!(got, wanted, "{writes:#?}");
        self.no_violation();
    }

    pub fn no_violation(&self) {
        let violations = self.logged("violation");
        assert!(violations.is_empty(), "{violations:?}");
    }

    pub fn script(&self, name: &str) {
        self.provider.control(json!({"cmd": "script", "name": name}));
    }

    /// How often a member was called, after a fence.
    pub fn calls(&self, member: &str) -> u64 {
        self.provider.control(json!({"cmd": "fence"}));
        self.provider.control(json!({"cmd": "counts"}))["counts"][member].as_u64().unwrap_or(0)
    }

    /// The living truth about one node.
    pub fn node(&self, id: &str) -> Value {
        self.provider.control(json!({"cmd": "node", "node": id}))
    }
}

/// The one element of this name that has a ref.
pub fn ref_of(snapshot: &Value, name: &str) -> String {
    let mut found = refs_of(snapshot, name);
    assert_eq!(found.len(), 1, "refs of {name:?} in {snapshot:#}");
    found.remove(0)
}

/// Refs of all elements of this name.
pub fn refs_of(snapshot: &Value, name: &str) -> Vec<String> {
    nodes(&snapshot["tree"])
        .into_iter()
        .filter(|n| n["name"] == name)
        .filter_map(|n| n["ref_id"].as_str().map(str::to_owned))
        .collect()
}

/// The one element of this name.
pub fn named<'a>(snapshot: &'a Value, name: &str) -> &'a Value {
    let found: Vec<&Value> = nodes(&snapshot["tree"]).into_iter().filter(|n| n["name"] == name).collect();
    assert_eq!(found.len(), 1, "elements called {name:?} in {snapshot:#}");
    found[0]
}

/// How many elements have this name.
pub fn count(snapshot: &Value, name: &str) -> usize {
    nodes(&snapshot["tree"]).into_iter().filter(|n| n["name"] == name).count()
}

/// A refusal with this code and kind, by which nothing was delivered.
#[track_caller]
pub fn refused(reply: &Reply, code: &str, kind: Option<&str>) -> Value {
    let error = reply.error();
    assert_eq!(error["code"], code, "{error}");
    if let Some(kind) = kind {
        assert_eq!(error["details"]["kind"], kind, "{error}");
    }
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    error
}

/// The answer came within its time limit, the machine's load aside.
#[track_caller]
pub fn within(reply: &Reply, budget_ms: u64) {
    assert!(reply.took < Duration::from_millis(budget_ms) + SLACK, "took {:?}: {reply:?}", reply.took);
}

/// A delivered action: its disposition and details.
#[track_caller]
pub fn delivered(reply: &Reply, delivery: &str) -> Value {
    let mut data = reply.data();
    assert_eq!(data["disposition"]["delivery"], delivery, "{data}");
    data["details"].take()
}
