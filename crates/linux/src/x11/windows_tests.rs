use super::super::property::tests::{of_text, of_words};
use super::*;

/// Every atom its own number.
fn atoms() -> Atoms {
    Atoms {
        UTF8_STRING: 100,
        WM_STATE: 101,
        WM_CLIENT_MACHINE: 102,
        _NET_SUPPORTED: 103,
        _NET_CLIENT_LIST: 104,
        _NET_CLIENT_LIST_STACKING: 105,
        _NET_ACTIVE_WINDOW: 106,
        _NET_CURRENT_DESKTOP: 107,
        _NET_WM_NAME: 108,
        _NET_WM_PID: 109,
        _NET_WM_DESKTOP: 110,
        _NET_WM_STATE: 111,
        _NET_WM_STATE_HIDDEN: 112,
        _NET_WM_STATE_MODAL: 113,
        _NET_WM_STATE_MAXIMIZED_VERT: 114,
        _NET_WM_STATE_MAXIMIZED_HORZ: 115,
        _NET_WM_STATE_FULLSCREEN: 116,
        _NET_WM_WINDOW_TYPE: 117,
        _NET_WM_WINDOW_TYPE_DESKTOP: 118,
        _NET_WM_WINDOW_TYPE_DOCK: 119,
        _NET_WM_WINDOW_TYPE_TOOLBAR: 120,
        _NET_WM_WINDOW_TYPE_MENU: 121,
        _NET_WM_WINDOW_TYPE_UTILITY: 122,
        _NET_WM_WINDOW_TYPE_SPLASH: 123,
        _NET_WM_WINDOW_TYPE_DIALOG: 124,
        _NET_WM_WINDOW_TYPE_DROPDOWN_MENU: 125,
        _NET_WM_WINDOW_TYPE_POPUP_MENU: 126,
        _NET_WM_WINDOW_TYPE_TOOLTIP: 127,
        _NET_WM_WINDOW_TYPE_NOTIFICATION: 128,
        _NET_WM_WINDOW_TYPE_COMBO: 129,
        _NET_WM_WINDOW_TYPE_DND: 130,
        _NET_WM_WINDOW_TYPE_NORMAL: 131,
        _NET_FRAME_EXTENTS: 132,
        _GTK_FRAME_EXTENTS: 133,
        WM_CHANGE_STATE: 134,
        _NET_SUPPORTING_WM_CHECK: 135,
        _NET_MOVERESIZE_WINDOW: 136,
        _NET_REQUEST_FRAME_EXTENTS: 137,
    }
}

fn root() -> Root {
    Root { marks_hidden: true, host: "here".into(), workspace: Some(0), ..Root::default() }
}

fn raw(properties: &[(u32, GetPropertyReply)]) -> Raw {
    let names = wanted(&atoms());
    let mut raw = Raw { client: 7, ..Raw::default() };
    for (name, reply) in properties {
        let slot = names.iter().position(|n| n == name).unwrap();
        raw.properties[slot] = Some(reply.clone());
    }
    raw
}

fn read(properties: &[(u32, GetPropertyReply)], root: &Root) -> X11Window {
    interpret(&raw(properties), None, &atoms(), root)
}

#[test]
fn a_bare_window() {
    let w = read(&[], &root());
    assert_eq!((w.client, w.pid, w.title, w.window_type), (7, None, None, WindowType::Normal));
    assert!(!w.minimized && !w.maximized && !w.is_active && !w.viewable);
    assert_eq!((w.frame_extents, w.on_current_workspace), (None, None));
}

#[test]
fn states_and_kind() {
    let a = atoms();
    let w = read(
        &[
            (a._NET_WM_STATE, of_words(&[114, 115, 116])),
            (a._NET_WM_WINDOW_TYPE, of_words(&[999, 126, 131])),
            (a._NET_FRAME_EXTENTS, of_words(&[1, 2, 3, 4])),
            (a._NET_WM_DESKTOP, of_words(&[1])),
            (a._NET_WM_NAME, of_text(100, "Größe".as_bytes())),
        ],
        &root(),
    );
    assert!(w.maximized && w.fullscreen && !w.minimized);
    assert_eq!(w.window_type, WindowType::PopupMenu);
    assert_eq!(w.frame_extents, Some(Extents { left: 1, right: 2, top: 3, bottom: 4 }));
    assert_eq!((w.on_current_workspace, w.title.as_deref()), (Some(false), Some("Größe")));
    let half = read(&[(a._NET_WM_STATE, of_words(&[114]))], &root());
    assert!(!half.maximized);
}

#[test]
fn iconic_counts_only_where_hidden_is_not_marked() {
    let a = atoms();
    let iconic = [(a.WM_STATE, of_words(&[3, 0]))];
    assert!(!read(&iconic, &root()).minimized, "another workspace");
    assert!(read(&iconic, &Root { marks_hidden: false, ..root() }).minimized);
    assert!(read(&[(a._NET_WM_STATE, of_words(&[112]))], &root()).minimized);
}

#[test]
fn the_pid_of_the_connection_wins_and_foreign_machines_say_nothing() {
    let a = atoms();
    let said = |host: &[u8]| [(a._NET_WM_PID, of_words(&[42])), (a.WM_CLIENT_MACHINE, of_text(31, host))];
    assert_eq!(read(&said(b"here"), &root()).pid, Some(42));
    assert_eq!(read(&said(b"elsewhere"), &root()).pid, None);
    let mut r = raw(&said(b"elsewhere"));
    r.connection_pid = Some(43);
    assert_eq!(interpret(&r, None, &a, &root()).pid, Some(43));
}

#[test]
fn transient_windows_are_dialogs_unless_they_say_otherwise() {
    let a = atoms();
    let transient = (u32::from(AtomEnum::WM_TRANSIENT_FOR), of_words(&[9]));
    let w = read(std::slice::from_ref(&transient), &root());
    assert_eq!((w.transient_for, w.window_type), (Some(9), WindowType::Dialog));
    let w = read(&[transient, (a._NET_WM_WINDOW_TYPE, of_words(&[122]))], &root());
    assert_eq!(w.window_type, WindowType::Utility);
    let to_itself = (u32::from(AtomEnum::WM_TRANSIENT_FOR), of_words(&[7]));
    assert_eq!(read(&[to_itself], &root()).transient_for, None);
}

#[test]
fn class_is_the_second_text() {
    assert_eq!(class_of(Some(&of_text(31, b"mousepad\0Mousepad\0"))).as_deref(), Some("Mousepad"));
    assert_eq!(class_of(Some(&of_text(31, b"only"))), None);
}

#[test]
fn stacking_order_with_late_comers_below() {
    assert_eq!(order(&[3, 1], &[1, 2, 3]), [2, 3, 1]);
    assert_eq!(order(&[], &[1, 2]), [1, 2]);
    assert_eq!(order(&[5], &[]), [5]);
}
