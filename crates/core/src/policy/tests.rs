//! The rules, and the fence on an in-memory desktop.

use super::*;
use crate::deadline::Deadline;
use crate::geometry::Point;
use crate::platform::fake::Fake;
use crate::platform::{Apps, Capture, Guard, Input, Observe, Platform, ProcessKey, ReadPlan, Stroke, WindowKey};
use crate::tree::fixture::node;
use crate::tree::raw::Handle;
use crate::vocab::role::Role;

fn rules(names: &[&str]) -> Rules {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    Rules::load(dir.path(), &names).unwrap().unwrap()
}

fn fence(names: &[&str]) -> Fence {
    Fence::new(Box::new(Fake::new(node(Role::Window).build())), rules(names))
}

fn soon() -> Deadline {
    Deadline::after_ms(1_000)
}

fn file(text: &str, flags: &[&str]) -> Result<Option<Rules>> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(FILE), text).unwrap();
    let flags: Vec<String> = flags.iter().map(|n| (*n).to_owned()).collect();
    Rules::load(dir.path(), &flags)
}

#[test]
fn the_flag_narrows_the_file_and_neither_widens() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Rules::load(dir.path(), &[]).unwrap(), None);
    let both = file(r#"{"allow_apps": ["one", "Two"]}"#, &["two", "three"]).unwrap().unwrap();
    assert_eq!(both.names(), ["Two"]);
    assert!(both.permits_names(&["TWO".into()]));
    assert!(!both.permits_names(&["one".into()]) && !both.permits_names(&["three".into()]));
    assert!(!both.permits_names(&["two-more".into()]), "whole names only");
}

#[test]
fn a_file_that_is_not_understood_permits_nothing() {
    for bad in [
        "",
        "{}",
        "[]",
        r#"{"allow_apps": ["a"], "allow_app": 1}"#,
        r#"{"allow_apps": [" "]}"#,
        r#"{"allow_apps": "a"}"#,
    ] {
        let e = file(bad, &["a"]).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::PolicyDenied, Some("policy_file")), "{bad}");
    }
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.path().join(FILE)).unwrap();
    assert!(Rules::load(dir.path(), &[]).is_err(), "a link");
    assert!(file(r#"{"allow_apps": []}"#, &[]).unwrap().unwrap().names().is_empty(), "an empty list permits none");
}

#[test]
fn another_application_is_not_read() {
    let (own, other) = (fence(&["FAKE"]), fence(&["another"]));
    let plan = ReadPlan::contract(soon());
    assert!(own.read_tree(&Handle::new("w"), &[], &Fake::process(), &plan).is_ok());
    let e = other.read_tree(&Handle::new("w"), &[], &Fake::process(), &plan).unwrap_err();
    assert_eq!((e.code(), e.kind_name()), (Code::PolicyDenied, Some("app_not_allowed")));
    assert!(own.active_window(soon()).is_ok());
    let apps = other.apps(soon()).unwrap();
    assert_eq!(other.windows(&apps, soon()).unwrap_err().code(), Code::PolicyDenied);
    assert!(other.admits(&Fake::process()).is_err());
    assert!(other.admits(&ProcessKey { pid: 1, instance: "who".into() }).is_err(), "an unknown one is none of ours");
    assert!(own.capture_window(&Fake::key(), soon()).err().is_none_or(|e| e.code() != Code::PolicyDenied));
    assert_eq!(other.capture_window(&Fake::key(), soon()).unwrap_err().code(), Code::PolicyDenied);
    let screen = crate::geometry::Rect { x: 0.0, y: 0.0, width: 9.0, height: 9.0 };
    assert_eq!(own.capture_area(screen, soon()).unwrap_err().code(), Code::PolicyDenied);
}

/// What no guard holds to a window is held to the permitted one that it would reach, or refused.
#[test]
fn input_is_held_to_permitted_windows() {
    let press = [
        Stroke::Move(Point { x: 5.0, y: 5.0 }),
        Stroke::Button { button: crate::command::values::Button::Left, down: true },
        Stroke::Button { button: crate::command::values::Button::Left, down: false },
    ];
    assert!(fence(&["fake"]).play(&press, &Guard::default(), soon()).is_ok());
    for strokes in [&press[..], &press[..1], &[Stroke::Text("x".into())]] {
        let e = fence(&["another"]).play(strokes, &Guard::default(), soon()).unwrap_err();
        assert_eq!(e.code(), Code::PolicyDenied, "{strokes:?}");
    }
    let foreign = WindowKey { id: "8".into(), process: ProcessKey { pid: 77, instance: "x".into() } };
    let guard = Guard { front: Some(foreign), under: None };
    assert_eq!(fence(&["fake"]).play(&press, &guard, soon()).unwrap_err().code(), Code::PolicyDenied);
}

/// A method that is missing here would have its default, "not supported", or worse, go past the rules.
#[test]
fn every_method_of_the_platform_stands_in_the_fence() {
    let fence = include_str!("fence.rs");
    let sources = [
        include_str!("../platform/mod.rs"),
        include_str!("../platform/observe.rs"),
        include_str!("../platform/operate.rs"),
        include_str!("../platform/apps.rs"),
        include_str!("../platform/input.rs"),
        include_str!("../platform/windows.rs"),
        include_str!("../platform/capture.rs"),
        include_str!("../platform/clipboard.rs"),
        include_str!("../platform/changes.rs"),
        include_str!("../platform/overlay.rs"),
    ];
    let (mut seen, mut within) = (0, false);
    for line in sources.iter().flat_map(|s| s.lines()) {
        if line.starts_with("pub trait") {
            within = line
                .split(' ')
                .nth(2)
                .is_some_and(|name| fence.contains(&format!("impl {} for Fence", name.trim_end_matches(':'))));
        }
        within &= line != "}";
        let Some(name) = line.strip_prefix("    fn ").and_then(|l| l.split(['(', '<']).next()).filter(|_| within)
        else {
            continue;
        };
        seen += 1;
        assert!(fence.contains(&format!("    fn {name}(")), "{name}");
    }
    assert!(seen > 40, "{seen}");
}
