use super::change::{holds, report};
use super::settle::{self, Settled};
use super::*;
use crate::error::{Delivery, Error};
use crate::evidence::Cause;
use crate::geometry::Rect;
use crate::platform::fake::Fake;
use crate::platform::{WindowChange, WriteOutcome};
use crate::tree::fixture::node;
use crate::vocab::role::Role;

const WIDE: WindowChange = WindowChange::Resize { width: 640.0, height: 480.0 };

fn state() -> WindowState {
    WindowState {
        bounds: Rect { x: 10.0, y: 20.0, width: 300.0, height: 200.0 },
        focused: false,
        minimized: false,
        maximized: false,
        fullscreen: false,
        visible: true,
    }
}

fn key() -> WindowKey {
    WindowKey { id: "7".into(), process: Fake::process() }
}

/// A desktop with one window, and what its manager does with the first request.
fn desk(window: Evidence<WindowState>, act: impl FnOnce(&mut Evidence<WindowState>) -> WriteOutcome + 'static) -> Fake {
    let fake = Fake::new(node(Role::Window).build());
    *fake.window.borrow_mut() = window;
    fake.manager.borrow_mut().push_back(Box::new(act));
    fake
}

fn asked(fake: &Fake, change: &WindowChange) -> Result<Settled> {
    settle::request(fake, &key(), change, &|s| holds(change, s), Deadline::after_ms(1_000))
}

fn resized(window: &mut Evidence<WindowState>, width: f64, height: f64) {
    let bounds = Rect { width, height, ..state().bounds };
    *window = Evidence::Known(WindowState { bounds, ..state() });
}

fn reported(settled: Settled) -> Result<Value> {
    report("resize-window", json!({"kind": "window"}), json!({"width": 640.0}), &WIDE, settled, Map::new())
}

#[test]
fn what_is_so_already_is_not_sent() {
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    let settled = asked(&fake, &WindowChange::Move { x: 10.2, y: 20.0 }).unwrap();
    assert_eq!(settled, Settled::Already(state()));
    assert!(fake.requests.borrow().is_empty());
    let out = reported(settled).unwrap();
    assert_eq!(out["disposition"]["delivery"], "not_delivered");
    assert_eq!(out["details"]["already_satisfied"], true);
    assert!(out.get("steps").is_none());
}

#[test]
fn what_reads_back_as_asked_is_verified() {
    let fake = desk(Evidence::Known(state()), |w| {
        resized(w, 640.0, 480.0);
        WriteOutcome::Accepted
    });
    let out = reported(asked(&fake, &WIDE).unwrap()).unwrap();
    assert_eq!(*fake.requests.borrow(), [WIDE]);
    assert_eq!(out["disposition"]["delivery"], "delivered_verified");
    assert_eq!(out["observed"]["bounds"]["width"], 640.0);
    assert_eq!(out["steps"][0]["verified"], true);
}

#[test]
fn what_the_manager_changes_or_ignores_is_an_error_with_both_sides() {
    let fake = desk(Evidence::Known(state()), |w| {
        resized(w, 500.0, 480.0);
        WriteOutcome::Accepted
    });
    let error = reported(asked(&fake, &WIDE).unwrap()).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::ActionFailed, Some("window_manager_refused")));
    assert_eq!(error.delivery(), Delivery::DeliveredUnverified);
    assert_eq!(error.details()["observed"]["bounds"]["width"], 500.0);
    assert_eq!(error.details()["requested"]["width"], 640.0);
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    assert_eq!(asked(&fake, &WindowChange::Minimize).unwrap(), Settled::Otherwise(state()));
}

#[test]
fn what_can_not_be_read_is_neither_success_nor_refusal() {
    let late = || Evidence::Unknown(Cause::Late);
    let fake = desk(late(), |_| WriteOutcome::Accepted);
    let error = asked(&fake, &WIDE).unwrap_err();
    assert_eq!((error.kind_name(), error.delivery()), (Some("window_state_unread"), Delivery::NotDelivered));
    assert!(fake.requests.borrow().is_empty());
    let fake = desk(Evidence::Known(state()), move |w| {
        *w = late();
        WriteOutcome::Accepted
    });
    let out = reported(asked(&fake, &WIDE).unwrap()).unwrap();
    assert_eq!(out["disposition"]["delivery"], "delivered_unverified");
    assert_eq!(out["details"]["verification_scope"], "unavailable");
    assert!(out.get("observed").is_none());
}

#[test]
fn a_window_that_is_gone_is_told_before_and_after() {
    let fake = desk(Evidence::Absent, |_| WriteOutcome::Accepted);
    let error = asked(&fake, &WIDE).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::WindowNotFound, Some("stale_window_id")));
    assert!(fake.requests.borrow().is_empty());
    let fake = desk(Evidence::Known(state()), |w| {
        *w = Evidence::Absent;
        WriteOutcome::Accepted
    });
    let error = reported(asked(&fake, &WIDE).unwrap()).unwrap_err();
    assert_eq!((error.kind_name(), error.delivery()), (Some("window_gone"), Delivery::DeliveredUnverified));
}

#[test]
fn a_refusal_and_a_doubt_keep_their_own_disposition() {
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Refused(Error::before(Code::WindowNotFound, "other")));
    assert_eq!(asked(&fake, &WIDE).unwrap_err().code(), Code::WindowNotFound);
    for outcome in [WriteOutcome::NoReply, WriteOutcome::Uncertain("broke".into())] {
        let fake = desk(Evidence::Known(state()), move |w| {
            resized(w, 640.0, 480.0);
            outcome
        });
        assert_eq!(asked(&fake, &WIDE).unwrap_err().delivery(), Delivery::DeliveryUncertain);
    }
}

#[test]
fn in_front_is_proven_or_an_error() {
    let focused = || Evidence::Known(WindowState { focused: true, ..state() });
    let front = |fake: &Fake| bring_to_front(fake, &key(), Deadline::after_ms(1_000));
    let fake = desk(focused(), |_| WriteOutcome::Accepted);
    assert!(!front(&fake).unwrap().sent && fake.requests.borrow().is_empty());
    let fake = desk(Evidence::Known(state()), move |w| {
        *w = focused();
        WriteOutcome::Accepted
    });
    assert!(front(&fake).unwrap().sent);
    assert_eq!(*fake.requests.borrow(), [WindowChange::Focus]);
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    let error = front(&fake).unwrap_err();
    assert_eq!((error.kind_name(), error.delivery()), (Some("window_not_focused"), Delivery::DeliveredUnverified));
}

#[test]
fn the_front_that_a_new_window_took_is_asked_for_once_more() {
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    fake.manager.borrow_mut().push_back(Box::new(|w| {
        *w = Evidence::Known(WindowState { focused: true, ..state() });
        WriteOutcome::Accepted
    }));
    assert!(bring_to_front(&fake, &key(), Deadline::after_ms(1_000)).unwrap().sent);
    assert_eq!(fake.requests.borrow().len(), 2);
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    assert!(bring_to_front(&fake, &key(), Deadline::after_ms(1_000)).is_err());
    assert_eq!(fake.requests.borrow().len(), 2, "and no more");
}

#[test]
fn restored_means_neither_icon_nor_full() {
    let full = WindowState { fullscreen: true, ..state() };
    let icon = WindowState { minimized: true, ..state() };
    assert!(holds(&WindowChange::Restore, &state()));
    assert!(!holds(&WindowChange::Restore, &full) && !holds(&WindowChange::Restore, &icon));
    // The size of an icon is not one that anybody sees.
    assert!(!holds(&WindowChange::Resize { width: 300.0, height: 200.0 }, &icon));
}

#[test]
fn a_busy_manager_has_refused_nothing() {
    // It gets to the request only when the time to settle is over.
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    fake.catches_up.borrow_mut().push_back(Box::new(|_| Evidence::Known(true)));
    fake.catches_up.borrow_mut().push_back(Box::new(|w| {
        resized(w, 640.0, 480.0);
        Evidence::Known(true)
    }));
    assert!(matches!(asked(&fake, &WIDE).unwrap(), Settled::AsAsked(_)));
    // A hung one: neither done nor refused.
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    fake.catches_up.borrow_mut().push_back(Box::new(|_| Evidence::Known(false)));
    let error = asked(&fake, &WIDE).unwrap_err();
    assert_eq!((error.code(), error.kind_name()), (Code::Timeout, Some("window_manager_silent")));
    assert_eq!(error.delivery(), Delivery::DeliveryUncertain);
    let fake = desk(Evidence::Known(state()), |_| WriteOutcome::Accepted);
    fake.catches_up.borrow_mut().push_back(Box::new(|_| Evidence::Known(true)));
    fake.catches_up.borrow_mut().push_back(Box::new(|_| Evidence::Known(true)));
    assert_eq!(asked(&fake, &WIDE).unwrap(), Settled::Otherwise(state()));
}
