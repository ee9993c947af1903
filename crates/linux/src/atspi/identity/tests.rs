use super::*;
use crate::atspi::state::Native as States;
use crate::bus::reply::tests::reply;
use agent_desktop_core::tree::raw::Link;
use zbus::zvariant::{ObjectPath, Value};

fn null_parent() -> Answer {
    let path = ObjectPath::try_from("/org/a11y/atspi/null").unwrap();
    Ok(reply(&Value::from((":1.2", path))))
}

fn with_states(states: u64) -> Native {
    Native { states: Evidence::Known(States(states)), ..Native::default() }
}

#[test]
fn tombstones_and_defunct_are_dead() {
    assert!(dead(&with_states(States::DEFUNCT), &null_parent()).is_some());
    assert!(dead(&with_states(0), &null_parent()).is_some());
    // FINDINGS §4b: Chromium's frames have a null parent and live.
    assert!(dead(&with_states(States::VISIBLE), &null_parent()).is_none());
    assert!(dead(&with_states(0), &Err(CallError::Late { sent: true })).is_none());
    assert!(dead(&Native::default(), &null_parent()).is_none());
}

#[test]
fn the_chain_follows_recorded_edges_and_ends() {
    let h = |s: &str| Handle::new(s);
    let edge = |p: Option<&str>, c: &str| ChainEdge { parent: p.map(h), child: Link { handle: h(c), index: 0 } };
    let edges = [edge(None, "app"), edge(Some("app"), "win"), edge(Some("win"), "x"), edge(Some("win"), "y")];
    assert_eq!(chain(&edges, &h("x")), [h("win"), h("app")]);
    let circle = [edge(Some("a"), "b"), edge(Some("b"), "a")];
    assert!(chain(&circle, &h("a")).len() <= 3);
}

#[test]
fn silence_breaks_no_edge() {
    let late = CallError::Late { sent: true };
    assert_eq!(unless_answered(&late, Toolkit::Gtk4), Evidence::Unknown(Cause::Late));
    let error = CallError::Remote { name: "org.freedesktop.DBus.Error.UnknownObject".into(), message: String::new() };
    assert_eq!(unless_answered(&error, Toolkit::Qt5), Evidence::Known(false));
    let malformed = CallError::Malformed("x".into());
    assert!(matches!(unless_answered(&malformed, Toolkit::Qt5), Evidence::Unknown(_)));
}

#[test]
fn a_bus_name_of_another_process_is_no_edge() {
    let edge = Edge { parent: None, child: Object::root_of(":1.2"), index: 0, holds: Evidence::Absent };
    assert_eq!(edge.judge(Ok(reply(&7u32)), 7, Toolkit::Gtk3), Evidence::Known(true));
    assert_eq!(edge.judge(Ok(reply(&8u32)), 7, Toolkit::Gtk3), Evidence::Known(false));
}
