//! The whole path of an action over the in-memory desktop: what is sent, how often, and what may be claimed.

use super::{Terms, perform};
use crate::error::{Code, Delivery, Error};
use crate::evidence::Evidence;
use crate::platform::fake::Fake;
use crate::platform::{Action, Effect, EffectKind, Policy, WindowState, WriteOutcome};
use crate::refs::capture::Capture;
use crate::refs::entry::{FORMAT, RefMap, Source};
use crate::tree::fixture::node;
use crate::tree::raw::RawTree;
use crate::vocab::capability::Capability;
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};
use crate::vocab::surface::Surface;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) struct Scene {
    pub(super) fake: Fake,
    map: RefMap,
    dir: tempfile::TempDir,
}

impl Scene {
    pub(super) fn new(tree: RawTree) -> Self {
        let mut map = RefMap {
            format: FORMAT,
            snapshot_id: "stest".into(),
            desktop: "fake-desktop".into(),
            process: Fake::process(),
            source: Source {
                app: "app".into(),
                window_id: "w-1".into(),
                window_title: String::new(),
                surface: Surface::Window,
                others: Vec::new(),
            },
            next: 1,
            links: Vec::new(),
            entries: BTreeMap::new(),
        };
        let numbered: Vec<(u32, u32)> = (1..tree.nodes.len() as u32).map(|n| (n, n)).collect();
        Capture::fresh(&mut map, &tree).save(&tree, &numbered, None);
        assert!(map.sound());
        Self { fake: Fake::new(tree), map, dir: tempfile::tempdir().unwrap() }
    }

    pub(super) fn act(&self, number: u32, action: Action) -> Result<Value, Error> {
        self.act_with(Policy::Headless, number, action)
    }

    pub(super) fn headed(&self, number: u32, action: Action) -> Result<Value, Error> {
        let bounds = crate::geometry::Rect { x: 0.0, y: 0.0, width: 800.0, height: 600.0 };
        let (minimized, maximized, fullscreen) = (false, false, false);
        let state = WindowState { bounds, focused: true, minimized, maximized, fullscreen, visible: true };
        *self.fake.window.borrow_mut() = Evidence::Known(state);
        self.act_with(Policy::Headed, number, action)
    }

    pub(super) fn act_with(&self, policy: Policy, number: u32, action: Action) -> Result<Value, Error> {
        let trace = crate::trace::Recorder::off();
        let terms = Terms {
            platform: &self.fake,
            policy,
            timeout_ms: 0,
            chain_timeout_ms: 300,
            lease_path: self.dir.path().join("lease"),
            session: None,
            observer: None,
            cursor: None,
            trace: &trace,
        };
        perform(&terms, &self.map, number, &action)
    }

    pub(super) fn sent(&self) -> Vec<String> {
        self.fake.sent.borrow().clone()
    }
}

pub(super) fn window(child: crate::tree::fixture::Spec) -> RawTree {
    node(Role::Window).child(child).build()
}

fn button() -> RawTree {
    window(node(Role::Button).name("Save").can(Capability::Click).state(State::HasPopup))
}

fn check_box() -> RawTree {
    window(node(Role::CheckBox).name("Wrap").can(Capability::Toggle))
}

pub(super) fn delivery(answer: &Value) -> &str {
    answer["disposition"]["delivery"].as_str().unwrap()
}

fn effect(kind: EffectKind) -> Effect {
    Effect { kind, what: "test".into(), of_target: false }
}

#[test]
fn dead_button_is_delivered_and_nothing_more_is_said() {
    let scene = Scene::new(button());
    scene.fake.answer(|_| (WriteOutcome::Accepted, vec![]));
    let answer = scene.act(1, Action::Click).unwrap();
    assert_eq!(delivery(&answer), "delivered_unverified");
    assert_eq!(answer["details"]["effect"], "none_observed");
    assert_eq!(answer["details"]["identity"], "retained");
}

#[test]
fn animated_window_verifies_nothing() {
    let scene = Scene::new(button());
    scene.fake.answer(|_| (WriteOutcome::Accepted, vec![effect(EffectKind::ChangedElsewhere)]));
    let answer = scene.act(1, Action::Click).unwrap();
    assert_eq!(delivery(&answer), "delivered_unverified");
    assert_eq!(answer["details"]["effect"], "changed_elsewhere");
}

#[test]
fn checked_and_read_back_is_verified_and_repeats_send_nothing() {
    let scene = Scene::new(check_box());
    scene.fake.answer(|tree| {
        tree.nodes[1].facts.states = Evidence::Known(StateSet::EMPTY.with(State::Checked));
        (WriteOutcome::Accepted, vec![])
    });
    let answer = scene.act(1, Action::Check).unwrap();
    assert_eq!(delivery(&answer), "delivered_verified");
    let again = scene.act(1, Action::Check).unwrap();
    assert_eq!(delivery(&again), "not_delivered");
    assert_eq!(again["details"]["already_satisfied"], true);
    assert_eq!(scene.sent().len(), 1);
}

#[test]
fn an_accepted_lie_is_a_failure_that_must_not_be_repeated() {
    let scene = Scene::new(check_box());
    scene.fake.answer(|_| (WriteOutcome::Accepted, vec![]));
    let error = scene.act(1, Action::Check).unwrap_err();
    assert_eq!(error.code(), Code::ActionFailed);
    assert_eq!(error.kind_name(), Some("post_action_verification"));
    assert_eq!(error.delivery(), Delivery::DeliveredUnverified);
}

#[test]
fn fallback_after_timeout() {
    let scene = Scene::new(button());
    *scene.fake.rungs.borrow_mut() = vec![Fake::rung("first"), Fake::rung("second")];
    scene.fake.answer(|_| (WriteOutcome::NoReply, vec![]));
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.delivery()), (Code::Timeout, Delivery::DeliveryUncertain));
    assert_eq!(error.kind_name(), Some("chain_deadline"));
    assert_eq!(scene.sent(), ["first"]);
}

#[test]
fn only_a_proven_absence_leads_to_the_next_rung() {
    let scene = Scene::new(button());
    *scene.fake.rungs.borrow_mut() = vec![Fake::rung("first"), Fake::rung("second"), Fake::rung("third")];
    scene.fake.answer(|_| (WriteOutcome::Absent("no such method".into()), vec![]));
    scene.fake.answer(|_| (WriteOutcome::Uncertain("fault".into()), vec![]));
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.delivery()), (Code::ActionFailed, Delivery::DeliveryUncertain));
    assert_eq!(scene.sent(), ["first", "second"]);
}

#[test]
fn a_pending_reply_with_a_dialog_is_an_answer() {
    let scene = Scene::new(button());
    scene.fake.answer(|_| (WriteOutcome::Pending, vec![effect(EffectKind::SurfaceAppeared)]));
    let answer = scene.act(1, Action::Click).unwrap();
    assert_eq!(answer["details"]["reply"], "pending");
    assert_eq!(answer["details"]["effect"], "surface_appeared");
    assert_eq!(delivery(&answer), "delivered_unverified");
}

#[test]
fn crash_is_not_gone() {
    let scene = Scene::new(button());
    scene.fake.answer(|tree| {
        tree.nodes.truncate(1);
        tree.nodes[0].children.clear();
        (WriteOutcome::Accepted, vec![])
    });
    let answer = scene.act(1, Action::Click).unwrap();
    assert_eq!(answer["details"]["effect"], "gone");
    let scene = Scene::new(button());
    scene.fake.answer(|tree| {
        tree.nodes.truncate(1);
        (WriteOutcome::Uncertain("disconnected".into()), vec![])
    });
    *scene.fake.dies.borrow_mut() = true;
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.kind_name(), error.delivery()), (Some("process_ended"), Delivery::DeliveryUncertain));
    let scene = Scene::new(button());
    scene.fake.answer(|tree| {
        tree.nodes.truncate(1);
        (WriteOutcome::Accepted, vec![])
    });
    *scene.fake.dies.borrow_mut() = true;
    let answer = scene.act(1, Action::Click).unwrap();
    assert_eq!(answer["details"]["effect"], "process_ended");
    assert_eq!(answer["details"]["process_ended"], true);
}

#[test]
fn an_ending_process_that_has_left_the_desktop_is_not_gone() {
    let scene = Scene::new(button());
    scene.fake.answer(|tree| {
        tree.nodes.truncate(1);
        tree.nodes[0].children.clear();
        (WriteOutcome::Accepted, vec![])
    });
    *scene.fake.left_the_bus.borrow_mut() = true;
    let answer = scene.act(1, Action::Click).unwrap();
    assert_eq!(answer["details"]["process_ended"], true);
    assert_eq!(answer["details"]["effect"], "process_ended");
}

#[test]
fn label_changed_between_the_look_and_the_lease() {
    let scene = Scene::new(button());
    *scene.fake.after_probes.borrow_mut() =
        Some((1, Box::new(|tree| tree.nodes[1].facts.names.native_title = Evidence::Known("Install".into()))));
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::StaleRef, Some("label_changed")));
    assert!(scene.sent().is_empty());
}

#[test]
fn recycled_row() {
    let row = |p: &str| {
        node(Role::LayoutItem)
            .item()
            .slot()
            .child(node(Role::StaticText).slot().own_text(p))
            .child(node(Role::Button).slot().name("Delete").can(Capability::Click))
    };
    let tree = window(node(Role::List).slot().children([row("Alice"), row("Bob"), row("Carol")]));
    // Nodes: 0 window, 1 list, 2 item, 3 text, 4 button, 5 item, 6 text, 7 button.
    let scene = Scene::new(tree);
    scene.fake.tree.borrow_mut().nodes[3].facts.own_text = Evidence::Known("NewTop".into());
    let error = scene.act(4, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::StaleRef, Some("context_changed")));
    assert!(scene.sent().is_empty());
    scene.fake.answer(|_| (WriteOutcome::Accepted, vec![]));
    let answer = scene.act(7, Action::Click).unwrap();
    assert_eq!(answer["details"]["identity"], "witnessed");
}

#[test]
fn an_orphan_that_still_answers_is_stale() {
    let scene = Scene::new(button());
    scene.fake.tree.borrow_mut().nodes[0].children.clear();
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::StaleRef, Some("retained_object_stale")));
}

#[test]
fn called_gone_but_hung() {
    let scene = Scene::new(button());
    *scene.fake.silent.borrow_mut() = true;
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.delivery()), (Code::AppUnresponsive, Delivery::NotDelivered));
}

#[test]
fn disabled_button_is_refused_before_dispatch() {
    let scene = Scene::new(window(node(Role::Button).name("Off").can(Capability::Click).state(State::Disabled)));
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::Timeout, Some("actionability_timeout")));
    assert_eq!(error.delivery(), Delivery::NotDelivered);
    assert!(scene.sent().is_empty());
}

#[test]
fn a_disabled_button_that_lists_no_action_is_disabled_not_unsupported() {
    let scene = Scene::new(window(node(Role::Button).name("Off").state(State::Disabled)));
    let error = scene.act(1, Action::Click).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::Timeout, Some("actionability_timeout")));
    assert_eq!(error.details()["check"], "enabled");
}

#[test]
fn secure_values_are_never_echoed() {
    let scene = Scene::new(window(node(Role::TextField).name("Password").secure().can(Capability::SetValue)));
    scene.fake.answer(|_| (WriteOutcome::Accepted, vec![]));
    let answer = scene.act(1, Action::SetValue("hunter2".into())).unwrap();
    assert_eq!(answer["details"]["verification_reason"], "secure_field");
    assert!(!answer.to_string().contains("hunter2"));
    assert!(answer["steps"][0].get("verified").is_none());
}

#[test]
fn headless_never_degrades() {
    let scene = Scene::new(button());
    let mut physical = Fake::rung("pointer");
    physical.needs = Policy::Headed;
    *scene.fake.rungs.borrow_mut() = vec![physical];
    assert_eq!(scene.act(1, Action::Click).unwrap_err().code(), Code::PolicyDenied);
    assert_eq!(scene.act(1, Action::DoubleClick).unwrap_err().code(), Code::PolicyDenied);
    assert!(scene.sent().is_empty());
}

#[test]
fn a_plain_button_is_not_pressed_to_check_it() {
    // It has no checked state: a click would do whatever the button does.
    let scene = Scene::new(button());
    for action in [Action::Check, Action::Uncheck, Action::Toggle] {
        let error = scene.act(1, action).unwrap_err();
        assert_eq!((error.code(), error.kind_name()), (Code::ActionNotSupported, Some("no_semantic_way")));
        assert_eq!(error.delivery(), Delivery::NotDelivered);
    }
    assert!(scene.sent().is_empty());
    // A check box whose source says "click" only is one nevertheless.
    let scene = Scene::new(window(node(Role::CheckBox).name("Wrap").can(Capability::Click)));
    scene.fake.answer(|tree| {
        let mut set = StateSet::EMPTY;
        set.insert(State::Checked);
        tree.nodes[1].facts.states = Evidence::Known(set);
        (WriteOutcome::Accepted, vec![])
    });
    assert_eq!(delivery(&scene.act(1, Action::Check).unwrap()), "delivered_verified");
}

#[test]
fn the_pointer_is_named_only_where_it_could_reach_the_element() {
    let spec = || node(Role::Option).name("Ten");
    let refusal = |spec| {
        let scene = Scene::new(window(spec));
        let error = scene.act(1, Action::Click).unwrap_err();
        assert_eq!(error.delivery(), Delivery::NotDelivered);
        assert!(scene.sent().is_empty());
        (error.code(), error.kind_name().unwrap_or_default().to_owned())
    };
    assert_eq!(refusal(spec().bounds(1.0, 2.0, 30.0, 10.0)), (Code::PolicyDenied, "needs_headed".into()));
    let unread = spec().facts(|f| f.bounds = Evidence::Unknown(crate::evidence::Cause::Late));
    assert_eq!(refusal(unread), (Code::PolicyDenied, "needs_headed".into()));
    assert_eq!(refusal(spec().facts(|f| f.bounds = Evidence::Absent)).0, Code::ActionNotSupported);
    assert_eq!(refusal(spec().bounds(1.0, 2.0, 0.0, 0.0)).0, Code::ActionNotSupported);
}

#[test]
fn what_may_be_a_toggle_that_is_off_is_refused_with_the_way_to_go() {
    for role in [Role::MenuItem, Role::Button] {
        let scene = Scene::new(window(node(role).name("Wrap").can(Capability::Click)));
        let error = scene.act(1, Action::Check).unwrap_err();
        assert_eq!((error.code(), error.kind_name()), (Code::ActionNotSupported, Some("no_semantic_way")));
        assert!(error.message().contains("can't be read"), "{}", error.message());
        let envelope = error.to_json();
        assert!(envelope["suggestion"].as_str().is_some_and(|s| s.contains("'click'")), "{envelope}");
        assert!(scene.sent().is_empty());
    }
}

#[test]
fn a_choice_that_the_application_is_not_told_says_so() {
    let scene = Scene::new(window(node(Role::ComboBox).name("Pick").value("One").can(Capability::Select)));
    let mut silent = Fake::rung("choose");
    silent.unheard = true;
    *scene.fake.rungs.borrow_mut() = vec![silent];
    scene.fake.answer(|tree| {
        tree.nodes[1].facts.value = Evidence::Known("Two".into());
        (WriteOutcome::Accepted, vec![])
    });
    let answer = scene.act(1, Action::Select("Two".into())).unwrap();
    assert_eq!(delivery(&answer), "delivered_verified");
    assert_eq!(answer["details"]["application_commit"], "not_verified");
    assert_eq!(answer["details"]["commit_reason"], "application_not_told");
}
