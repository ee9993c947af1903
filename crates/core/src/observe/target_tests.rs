use super::*;
use crate::evidence::{Cause, Evidence};
use crate::platform::ProcessKey;
use crate::tree::raw::Handle;

fn process(pid: u32) -> ProcessKey {
    ProcessKey { pid, instance: format!("boot-{pid}") }
}

fn app(name: &str, pid: u32) -> App {
    App {
        name: name.into(),
        names: vec![name.into(), format!("org.example.{name}")],
        process: process(pid),
        bundle_id: None,
        presentation: None,
        responsive: Responsive::Yes,
        root: Some(Handle::new(format!("app-{pid}"))),
    }
}

fn window(id: &str, pid: u32) -> Window {
    Window {
        id: id.into(),
        title: format!("title of {id}"),
        app_name: "editor".into(),
        process: process(pid),
        key: None,
        bounds: Evidence::Absent,
        focused: Evidence::Known(false),
        visible: Evidence::Known(true),
        minimized: Evidence::Absent,
        maximized: Evidence::Absent,
        fullscreen: Evidence::Absent,
        modal: Evidence::Absent,
        responsive: Responsive::Yes,
        root: Some(Handle::new(id)),
        above: Vec::new(),
        index: 0,
        no_tree_reason: None,
    }
}

fn of_app(name: &str) -> Scope<'_> {
    Scope { app: Some(name), window_id: None }
}

fn picked(scope: Scope<'_>, apps: &[App], windows: &[Window]) -> String {
    pick_window(scope, apps, windows).unwrap().id
}

fn refused(scope: Scope<'_>, apps: &[App], windows: &[Window]) -> Error {
    pick_window(scope, apps, windows).unwrap_err()
}

#[test]
fn names_match_whole_and_without_case() {
    let apps = [app("editor", 1), app("editor-two", 2)];
    assert_eq!(pick_app("EDITOR", &apps).unwrap()[0].process.pid, 1);
    assert_eq!(pick_app(" org.example.Editor ", &apps).unwrap()[0].process.pid, 1);
    assert_eq!(pick_app("edit", &apps).unwrap_err().code(), Code::AppNotFound);
}

#[test]
fn two_processes_of_one_name_are_ambiguous_with_both_named() {
    let e = pick_app("editor", &[app("editor", 1), app("editor", 2)]).unwrap_err();
    assert_eq!(e.code(), Code::AmbiguousTarget);
    assert_eq!(e.details()["candidates"].as_array().unwrap().len(), 2);
}

#[test]
fn a_wrapper_that_shows_nothing_is_not_meant() {
    let wrapper = App { root: None, presentation: Some(Presentation::Background), ..app("office", 1) };
    assert_eq!(pick_app("office", &[wrapper.clone(), app("office", 2)]).unwrap()[0].process.pid, 2);
    let treeless = App { root: None, presentation: Some(Presentation::Foreground), ..app("office", 3) };
    assert!(pick_app("office", &[treeless, app("office", 2)]).is_err());
}

#[test]
fn two_application_objects_of_one_process_are_one_application() {
    let apps = [App { root: Some(Handle::new("empty")), ..app("editor", 1) }, app("editor", 1)];
    assert_eq!(pick_app("editor", &apps).unwrap().len(), 2);
    assert_eq!(picked(of_app("editor"), &apps, &[window("w1", 1)]), "w1");
}

#[test]
fn several_windows_narrow_by_visible_focused_accessible() {
    let apps = [app("editor", 1)];
    let hidden = Window { visible: Evidence::Known(false), ..window("w1", 1) };
    assert_eq!(picked(of_app("editor"), &apps, &[hidden.clone(), window("w2", 1)]), "w2");
    let focused = Window { focused: Evidence::Known(true), ..window("w3", 1) };
    assert_eq!(picked(of_app("editor"), &apps, &[hidden.clone(), window("w2", 1), focused]), "w3");
    let treeless = Window { root: None, ..window("w4", 1) };
    assert_eq!(picked(of_app("editor"), &apps, &[treeless, window("w2", 1)]), "w2");
    let e = refused(of_app("editor"), &apps, &[window("w2", 1), window("w5", 1)]);
    assert_eq!(e.code(), Code::AmbiguousTarget);
    assert_eq!(e.details()["candidate_count"], 2);
    // A hidden window is still the window, where it is the only one.
    assert_eq!(picked(of_app("editor"), &apps, &[hidden]), "w1");
}

#[test]
fn what_is_not_known_narrows_nothing() {
    let apps = [app("editor", 1)];
    let unknown = |id: &str| Window {
        visible: Evidence::Unknown(Cause::Late),
        focused: Evidence::Unknown(Cause::Late),
        ..window(id, 1)
    };
    assert_eq!(refused(of_app("editor"), &apps, &[unknown("w1"), unknown("w2")]).code(), Code::AmbiguousTarget);
}

#[test]
fn windows_of_other_applications_never_count() {
    let apps = [app("editor", 1), app("mail", 2)];
    let e = refused(of_app("editor"), &apps, &[window("w2", 2)]);
    assert_eq!((e.code(), e.kind_name()), (Code::AppNotFound, Some("app_without_window")));
}

#[test]
fn a_silent_member_proves_no_absence() {
    let silent = App { responsive: Responsive::No, ..app("hung", 9) };
    let apps = [app("editor", 1), silent.clone()];
    let e = refused(of_app("nobody"), &apps, &[]);
    assert_eq!(e.code(), Code::AppUnresponsive);
    assert!(e.message().contains("'hung'") && e.message().contains("'nobody'"), "{e}");
    let id = Scope { app: None, window_id: Some("w-none") };
    assert_eq!(refused(id, &apps, &[window("w1", 1)]).code(), Code::AppUnresponsive);
    assert_eq!(refused(id, &apps[..1], &[window("w1", 1)]).code(), Code::WindowNotFound);
    assert_eq!(refused(of_app("hung"), &apps, &[]).code(), Code::AppUnresponsive);
    // But it is in nobody's way.
    assert_eq!(picked(of_app("editor"), &apps, &[window("w1", 1)]), "w1");
    let of_silent = Window { responsive: Responsive::No, ..window("w9", 9) };
    let e = refused(of_app("hung"), &apps, &[of_silent]);
    assert_eq!(e.code(), Code::AppUnresponsive);
    assert_eq!(e.details()["unresponsive"][0]["pid"], 9);
}

#[test]
fn a_window_id_is_exact_and_of_the_application() {
    let apps = [app("editor", 1), app("mail", 2)];
    let windows = [window("w1", 1), window("w2", 2)];
    let scope = |app, id| Scope { app, window_id: Some(id) };
    assert_eq!(picked(scope(None, "w2"), &apps, &windows), "w2");
    assert_eq!(picked(scope(Some("mail"), "w2"), &apps, &windows), "w2");
    assert_eq!(refused(scope(Some("editor"), "w2"), &apps, &windows).code(), Code::WindowNotFound);
    assert_eq!(refused(scope(None, "W2"), &apps, &windows).code(), Code::WindowNotFound);
}

#[test]
fn without_a_scope_it_is_the_focused_window() {
    let apps = [app("editor", 1)];
    let focused = Window { focused: Evidence::Known(true), ..window("w2", 1) };
    assert_eq!(picked(Scope::default(), &apps, &[window("w1", 1), focused.clone()]), "w2");
    assert_eq!(refused(Scope::default(), &apps, &[window("w1", 1)]).code(), Code::WindowNotFound);
    assert_eq!(refused(Scope::default(), &apps, &[focused.clone(), focused]).code(), Code::AmbiguousTarget);
}

#[test]
fn a_window_without_a_tree_says_why() {
    let apps = [App { root: None, presentation: Some(Presentation::Foreground), ..app("editor", 1) }];
    let bare = Window { root: None, no_tree_reason: Some("started too early".into()), ..window("w1", 1) };
    let e = refused(of_app("editor"), &apps, &[bare]);
    assert_eq!(e.code(), Code::ActionNotSupported);
    assert_eq!(e.kind_name(), Some("window_without_accessibility_element"));
    assert_eq!(e.details()["reason"], "started too early");
}
