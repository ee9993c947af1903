use super::*;
use crate::command::{Globals, Host};
use crate::error::Code;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

struct Nothing;

impl Host for Nothing {
    fn open(&self, _: Option<&str>) -> Result<Box<dyn Platform>> {
        Err(Error::before(Code::PlatformNotSupported, "no desktop"))
    }
}

fn answer(home: &Path, session: Option<&str>, agent: Option<&str>, name: &str, args: Value) -> Result<Value> {
    let home = OsString::from(home);
    let env = Box::new(move |name: &str| (name == "AGENT_DESKTOP_HOME").then(|| home.clone()));
    let globals = Globals {
        headed: true,
        session: session.map(str::to_owned),
        agent_id: agent.map(str::to_owned),
        ..Globals::default()
    };
    let context = Context::new(globals, env, Box::new(Nothing)).unwrap();
    crate::command::run(&Command::from_json(name, args).unwrap(), &context)
}

fn kind(answer: Result<Value>) -> String {
    answer.unwrap_err().kind_name().unwrap_or_default().to_owned()
}

#[test]
fn with_a_cursor_for_each_agent_who_acts_says_who_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let start = |args: Value| {
        let started = answer(home, None, None, "session", args).unwrap();
        (started["session_id"].as_str().unwrap().to_owned(), started)
    };
    let (many, started) = start(json!({"operation": "start", "cursor": true, "multi_agent": true}));
    assert_eq!(started["cursor"]["multi_agent"], true);
    let (one, _) = start(json!({"operation": "start", "cursor": true}));
    let (none, started) = start(json!({"operation": "start"}));
    assert!(started.get("cursor").is_none());
    for (name, args) in [
        ("click", json!({"ref_id": "@s0001:e1"})),
        ("press", json!({"combo": "enter"})),
        ("mouse-click", json!({"xy": "1,2"})),
    ] {
        let to = |session: &str, agent| answer(home, Some(session), agent, name, args.clone());
        assert_eq!(kind(to(&many, None)), "agent_id_required", "{name}");
        // From here on it fails at the desktop, which there is none of.
        for (session, agent) in [(&many, Some("a")), (&one, None), (&none, None)] {
            assert_eq!(to(session, agent).unwrap_err().code(), Code::PlatformNotSupported, "{name} {session}");
        }
    }
    // Reading is no action.
    let read = answer(home, Some(&many), None, "snapshot", json!({})).unwrap_err();
    assert_eq!(read.code(), Code::PlatformNotSupported);
}

#[test]
fn the_overlay_belongs_to_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let enable = |session| answer(dir.path(), session, None, "cursor-overlay", json!({"operation": "enable"}));
    assert_eq!(kind(enable(None)), "session_required");
    assert_eq!(kind(enable(Some("none"))), "session_not_found");
    answer(dir.path(), Some("s"), None, "session", json!({"operation": "start"})).unwrap();
    answer(dir.path(), Some("s"), None, "session", json!({"operation": "end"})).unwrap();
    assert_eq!(kind(enable(Some("s"))), "session_ended");
}
