//! Physical actions over the in-memory desktop: what is played, under which guard, and what may be claimed.

use super::tests::{Scene, delivery, window};
use crate::error::{Code, Delivery};
use crate::evidence::Evidence;
use crate::platform::fake::Fake;
use crate::platform::{Action, Held, Hold, Policy, ProcessKey, Stroke, WindowKey, WindowState};
use crate::tree::fixture::node;
use crate::tree::raw::RawTree;
use crate::vocab::capability::Capability;
use crate::vocab::key::Combo;
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};
use serde_json::json;

fn button() -> RawTree {
    window(node(Role::Button).name("Save").can(Capability::Click).bounds(100.0, 50.0, 80.0, 20.0))
}

fn field(states: &[State]) -> RawTree {
    let field =
        node(Role::TextField).name("Name").value("ab").can(Capability::TypeText).bounds(10.0, 10.0, 200.0, 20.0);
    window(states.iter().fold(field, |f, s| f.state(*s)))
}

fn types(scene: &Scene) {
    *scene.fake.on_play.borrow_mut() = Some(Box::new(|strokes, tree: &mut RawTree| {
        for stroke in strokes {
            if let Stroke::Text(text) = stroke {
                tree.nodes[1].facts.value = Evidence::Known(format!("ab{text}"));
            }
            if matches!(stroke, Stroke::Button { .. }) {
                tree.nodes[1].facts.states = Evidence::Known(StateSet::EMPTY.with(State::Focused));
            }
        }
    }));
}

#[test]
fn a_headed_click_plays_one_click_in_the_middle_under_the_windows_guard() {
    let scene = Scene::new(button());
    let answer = scene.headed(1, Action::Click).unwrap();
    assert_eq!(delivery(&answer), "delivered_unverified");
    assert_eq!(answer["steps"][0]["mechanism"], "physical_synthetic");
    assert_eq!(
        (answer["details"]["point"]["x"].as_f64(), answer["details"]["point"]["y"].as_f64()),
        (Some(140.0), Some(60.0))
    );
    let played = scene.fake.played.borrow();
    assert_eq!(played.len(), 1);
    assert_eq!(played[0].1.under, Some(Fake::key()));
    let presses = played[0].0.iter().filter(|s| matches!(s, Stroke::Button { down: true, .. })).count();
    assert_eq!(presses, 1);
    assert!(scene.sent().is_empty(), "nothing semantic was sent besides");
}

#[test]
fn wrong_window_in_front() {
    let scene = Scene::new(button());
    let other = ProcessKey { pid: 9, instance: "other".into() };
    *scene.fake.above.borrow_mut() = Some(WindowKey { id: "99".into(), process: other });
    let error = scene.headed(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::Timeout, Some("actionability_timeout")));
    assert_eq!(error.details()["check"], "receives_events");
    assert!(scene.fake.played.borrow().is_empty());
}

#[test]
fn a_guard_that_fails_before_the_press_is_not_delivered_and_after_it_is() {
    let scene = Scene::new(button());
    *scene.fake.stops_after.borrow_mut() = Some(1);
    let error = scene.headed(1, Action::Click).unwrap_err();
    assert_eq!((error.kind_name(), error.delivery()), (Some("window_covered"), Delivery::NotDelivered));
    *scene.fake.stops_after.borrow_mut() = Some(2);
    let error = scene.headed(1, Action::Click).unwrap_err();
    assert_eq!(error.delivery(), Delivery::DeliveredUnverified);
    assert_eq!(error.details()["delivered_events"], 2);
}

#[test]
fn sentinel_bounds() {
    for (x, y, w, h) in [(-2147483648.0, -2147483648.0, 10.0, 10.0), (0.0, 0.0, 0.0, 0.0), (-500.0, -500.0, 20.0, 20.0)]
    {
        let scene = Scene::new(window(node(Role::Button).name("Save").can(Capability::Click).bounds(x, y, w, h)));
        let error = scene.headed(1, Action::Click).unwrap_err();
        assert_eq!(error.delivery(), Delivery::NotDelivered);
        assert!(scene.fake.played.borrow().is_empty());
    }
}

#[test]
fn typing_sends_no_focus_call_where_the_field_has_the_focus() {
    let scene = Scene::new(field(&[State::Focused]));
    types(&scene);
    let answer = scene.headed(1, Action::Type("xyz".into())).unwrap();
    assert_eq!(delivery(&answer), "delivered_verified");
    assert!(scene.sent().is_empty());
    let played = scene.fake.played.borrow();
    assert_eq!(played.len(), 1);
    assert_eq!(played[0].0, [Stroke::Text("xyz".into())]);
    assert_eq!(played[0].1.front, Some(Fake::key()));
}

#[test]
fn typing_clicks_for_the_focus_where_no_call_gives_it() {
    let scene = Scene::new(field(&[]));
    scene.fake.rungs.borrow_mut().clear();
    types(&scene);
    let answer = scene.headed(1, Action::Type("xyz".into())).unwrap();
    assert_eq!(delivery(&answer), "delivered_verified");
    assert_eq!(scene.fake.played.borrow().len(), 2);
}

#[test]
fn a_focus_that_leaves_in_mid_text_ends_it_and_is_named() {
    let tree = || {
        let one = node(Role::TextField).name("Code").value("12").state(State::Focused).bounds(10.0, 10.0, 200.0, 20.0);
        let two = |f: crate::tree::fixture::Spec| f.bounds(10.0, 50.0, 200.0, 20.0);
        let next = two(node(Role::TextField).name("Next"));
        node(Role::Window).child(one.can(Capability::TypeText)).child(next).build()
    };
    for secure in [false, true] {
        let scene = Scene::new(tree());
        *scene.fake.on_play.borrow_mut() = Some(Box::new(move |_, tree: &mut RawTree| {
            tree.nodes[1].facts.states = Evidence::Known(StateSet::EMPTY);
            tree.nodes[1].facts.value = Evidence::Known("1234".into());
            tree.nodes[2].facts.states = Evidence::Known(StateSet::EMPTY.with(State::Focused));
            tree.nodes[2].facts.secure = secure;
        }));
        let error = scene.headed(1, Action::Type("345".into())).unwrap_err();
        assert_eq!((error.kind_name(), error.delivery()), (Some("focus_moved"), Delivery::DeliveredUnverified));
        let details = error.details();
        assert_eq!((&details["characters_before"], &details["characters_shown"]), (&json!(2), &json!(4)), "{error:?}");
        let name = if secure { None } else { Some("Next") };
        assert_eq!(details["focus"]["name"].as_str(), name, "{error:?}");
        assert_eq!(details["focus"]["role"], "textfield", "{error:?}");
    }
}

#[test]
fn a_target_that_lies_elsewhere_after_the_press_is_told() {
    let scene = Scene::new(button());
    assert!(scene.headed(1, Action::Click).unwrap()["details"].get("target_moved").is_none());
    *scene.fake.on_play.borrow_mut() = Some(Box::new(|_, tree: &mut RawTree| {
        let bounds = crate::geometry::Rect { x: 300.0, y: 50.0, width: 80.0, height: 20.0 };
        tree.nodes[1].facts.bounds = Evidence::Known(bounds);
    }));
    let answer = scene.headed(1, Action::Click).unwrap();
    assert_eq!((&answer["details"]["target_moved"], delivery(&answer)), (&json!(true), "delivered_unverified"));
}

#[test]
fn no_focus_no_text() {
    let scene = Scene::new(field(&[]));
    scene.fake.rungs.borrow_mut().clear();
    let error = scene.headed(1, Action::Type("xyz".into())).unwrap_err();
    assert_eq!(error.kind_name(), Some("focus_verification"));
    assert_eq!(error.details()["text_delivered"], false);
    let played = scene.fake.played.borrow();
    assert!(played.iter().all(|(strokes, _)| !strokes.iter().any(|s| matches!(s, Stroke::Text(_)))));
}

#[test]
fn a_check_box_without_any_action_is_clicked_when_headed_and_only_then() {
    let tree = || window(node(Role::CheckBox).name("Wrap").bounds(10.0, 10.0, 20.0, 20.0));
    let scene = Scene::new(tree());
    assert_eq!(scene.act(1, Action::Check).unwrap_err().kind_name(), Some("no_semantic_way"));
    assert!(scene.fake.played.borrow().is_empty());
    *scene.fake.on_play.borrow_mut() = Some(Box::new(|_, tree: &mut RawTree| {
        tree.nodes[1].facts.states = Evidence::Known(StateSet::EMPTY.with(State::Checked));
    }));
    let answer = scene.headed(1, Action::Check).unwrap();
    assert_eq!(delivery(&answer), "delivered_verified");
    // It is so already: nothing more is played.
    let again = scene.headed(1, Action::Check).unwrap();
    assert_eq!(delivery(&again), "not_delivered");
    assert_eq!(scene.fake.played.borrow().len(), 1);
}

#[test]
fn what_another_session_holds_stands_in_the_way_and_ones_own_does_not() {
    let scene = Scene::new(button());
    let hold = Hold::Keys(Combo::parse("shift").unwrap());
    let held = |session: Option<&str>| Held {
        hold: hold.clone(),
        session: session.map(str::to_owned),
        held_ms: 1,
        limit_ms: 500,
    };
    *scene.fake.held.borrow_mut() = vec![held(Some("other"))];
    let error = scene.headed(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::Timeout, Some("input_held")));
    assert!(scene.fake.played.borrow().is_empty());
    *scene.fake.held.borrow_mut() = vec![held(None)];
    assert!(scene.headed(1, Action::Click).is_ok());
}

#[test]
fn headless_plays_nothing() {
    let scene = Scene::new(button());
    let _ = scene.act(1, Action::DoubleClick).unwrap_err();
    let _ = scene.act(1, Action::Click);
    assert!(scene.fake.played.borrow().is_empty());
}

#[test]
fn what_an_iconified_window_hides_is_not_waited_for() {
    let scene = Scene::new(window(node(Role::Button).name("Save").state(State::Hidden).bounds(1.0, 1.0, 80.0, 20.0)));
    let bounds = crate::geometry::Rect { x: 0.0, y: 0.0, width: 800.0, height: 600.0 };
    let (maximized, fullscreen) = (false, false);
    let state = WindowState { bounds, focused: false, minimized: true, maximized, fullscreen, visible: false };
    *scene.fake.window.borrow_mut() = Evidence::Known(state);
    let error = scene.act_with(Policy::Headed, 1, Action::Click).unwrap_err();
    assert_eq!((error.kind_name(), error.delivery()), (Some("window_minimized"), Delivery::NotDelivered));
    assert!(error.to_json()["suggestion"].as_str().unwrap().contains("restore --window-id w-1"), "{error:?}");
    // One that is hidden in a window that is there is another matter.
    assert_eq!(scene.headed(1, Action::Click).unwrap_err().kind_name(), Some("actionability_timeout"));
    assert!(scene.fake.played.borrow().is_empty());
}
