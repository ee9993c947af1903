//! Events of one application, and what each says about an action (decisions D5). Pure.

use super::plan;
use crate::atspi::role::native as n;
use crate::bus::Signal;
use agent_desktop_core::platform::{Effect, EffectKind};
use agent_desktop_core::tree::raw::Handle;
use std::collections::{HashMap, HashSet};
use zbus::zvariant::{OwnedObjectPath, OwnedValue};

/// What the registry is asked to have announced.
pub const WANTED: &[&str] = &[
    "object:state-changed",
    "object:children-changed",
    "object:property-change",
    "object:text-changed",
    "object:selection-changed",
    // GTK 3's tree views say a new row by these alone (seen in galculator's table of constants).
    "object:row-inserted",
    "object:row-deleted",
    "object:row-reordered",
    "window:create",
    "window:activate",
    "window:destroy",
];

/// Interfaces whose signals are listened to.
pub const INTERFACES: &[&str] = &["org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window"];

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Event {
    /// Whether it is of the window interface.
    pub window: bool,
    /// `StateChanged`, `ChildrenChanged`, …
    pub member: String,
    /// `showing`, `add`, `accessible-name`, …
    pub detail: String,
    /// The first number: a state set or cleared.
    pub on: bool,
    /// Path of the object that it is about.
    pub path: String,
}

impl Event {
    /// Reads a signal. Both forms of the body are in use: `siiva{sv}` and, in Qt, `siiv(so)`.
    pub fn read(signal: &Signal) -> Option<Self> {
        let header = signal.0.header();
        let interface = header.interface()?.as_str();
        if !INTERFACES.contains(&interface) {
            return None;
        }
        let body = signal.0.body();
        let (detail, on) = body
            .deserialize::<(String, i32, i32, OwnedValue, HashMap<String, OwnedValue>)>()
            .map(|b| (b.0, b.1))
            .or_else(|_| {
                body.deserialize::<(String, i32, i32, OwnedValue, (String, OwnedObjectPath))>().map(|b| (b.0, b.1))
            })
            .unwrap_or_default();
        Some(Self {
            window: interface.ends_with("Window"),
            member: header.member()?.to_string(),
            // The detail is the toolkit's vocabulary; a text from the page could stand there, so nothing else passes.
            detail: if detail.len() <= 40 && detail.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b':') {
                detail
            } else {
                String::new()
            },
            on: on != 0,
            path: header.path()?.to_string(),
        })
    }

    /// `state-changed:checked`
    fn what(&self) -> String {
        let mut out = String::new();
        for (at, c) in self.member.chars().enumerate() {
            if c.is_ascii_uppercase() && at > 0 {
                out.push('-');
            }
            out.push(c.to_ascii_lowercase());
        }
        if self.window {
            out.insert_str(0, "window:");
        }
        if !self.detail.is_empty() {
            out.push(':');
            out.push_str(&self.detail);
        }
        out
    }
}

/// What is known before the action.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Path of the target.
    pub target: String,
    /// Paths that are part of it: its labels, the option that is chosen.
    pub own: HashSet<String>,
    /// Path of the application's root.
    pub root: String,
    /// Paths of the windows that were there before.
    pub windows: HashSet<String>,
    /// Whether the target opens a menu or list of its own.
    pub opens: bool,
    /// Path of what the target stands in.
    pub parent: String,
    /// Whether the target is an entry of a menu: its menu's cursor goes over it when it is pressed.
    pub menu_item: bool,
    /// Whether being pressed is a state of the target: a toggle button's, not that of a button that springs back.
    pub toggles: bool,
}

impl Scene {
    /// The handles as paths.
    pub fn own<'h>(handles: impl IntoIterator<Item = &'h Handle>) -> HashSet<String> {
        handles.into_iter().filter_map(plan::object).map(|o| o.path.to_string()).collect()
    }
}

/// What one event says.
#[derive(Clone, Debug, PartialEq)]
pub enum Says {
    /// Nothing about the action.
    Nothing,
    /// An effect.
    Effect(Effect),
    /// Something began to show: its role and what it hangs on decide, see [`surface`].
    Shown(String),
    /// What the target stands in has expanded: its role decides, see [`around`].
    ParentExpanded(String),
}

fn effect(kind: EffectKind, what: String) -> Says {
    Says::Effect(Effect { kind, what, of_target: false })
}

/// Says what an event means. Focus and the springing back of a pressed button are no effect: a button without any
/// handler shows both.
pub fn classify(event: &Event, scene: &Scene) -> Says {
    use EffectKind::*;
    let what = event.what();
    let ours = event.path == scene.target || scene.own.contains(&event.path);
    let change = || effect(if ours { TargetChanged } else { ChangedElsewhere }, what.clone());
    if event.window {
        return match event.member.as_str() {
            "Create" => effect(SurfaceAppeared, what),
            // The window that was there comes to the front by itself; another one was opened.
            "Activate" if !scene.windows.is_empty() && !scene.windows.contains(&event.path) => {
                effect(SurfaceAppeared, what)
            }
            "Destroy" => effect(ChangedElsewhere, what),
            _ => Says::Nothing,
        };
    }
    match (event.member.as_str(), event.detail.as_str()) {
        ("StateChanged", "pressed") if event.path == scene.target && scene.toggles => change(),
        ("StateChanged", "focused" | "active" | "armed" | "pressed") => Says::Nothing,
        ("StateChanged", "defunct") if event.path == scene.target && event.on => effect(Gone, what),
        // GTK 4 says no more of a window that closes.
        ("StateChanged", "defunct") if event.on && scene.windows.contains(&event.path) => {
            effect(ChangedElsewhere, "window gone".to_owned())
        }
        ("StateChanged", "defunct") => Says::Nothing,
        // The menu's cursor: an entry without any handler shows both.
        ("StateChanged", "selected") if scene.menu_item && event.path == scene.target => Says::Nothing,
        ("SelectionChanged", _) if scene.menu_item && event.path == scene.parent => Says::Nothing,
        ("StateChanged", "expanded") if event.path == scene.target && event.on && scene.opens => {
            Says::Effect(Effect { kind: SurfaceAppeared, what, of_target: true })
        }
        ("StateChanged", "expanded") if event.path == scene.parent && event.on => {
            Says::ParentExpanded(event.path.clone())
        }
        ("StateChanged", "showing" | "visible") if event.on && !ours => Says::Shown(event.path.clone()),
        ("ChildrenChanged", detail) if detail.starts_with("add") && event.path == scene.root => {
            effect(SurfaceAppeared, what)
        }
        ("StateChanged" | "ChildrenChanged" | "TextChanged" | "SelectionChanged", _) => change(),
        ("RowInserted" | "RowDeleted" | "RowReordered", _) => change(),
        // Where an element stands and to whom it belongs says nothing about what it did.
        // GTK 3 says so of every accessible that is made.
        ("PropertyChange", "accessible-parent" | "widget") => Says::Nothing,
        ("PropertyChange", _) => change(),
        _ => Says::Nothing,
    }
}

/// What something that began to show is: `chain` are the paths above it, nearest first, as its own `Parent` tells.
pub fn surface(role: Option<u32>, chain: &[String], scene: &Scene) -> Effect {
    let hangs_on = chain.contains(&scene.target);
    let menu = matches!(role, Some(n::MENU | n::POPUP_MENU));
    // Qt's combo boxes open a plain window that hangs on them, others a list.
    let popup = menu || (hangs_on && matches!(role, Some(n::WINDOW | n::LIST | n::LIST_BOX)));
    if !popup && !role.is_some_and(crate::atspi::role::is_window) {
        let kind = if hangs_on { EffectKind::TargetChanged } else { EffectKind::ChangedElsewhere };
        return Effect { kind, what: "state-changed:showing".to_owned(), of_target: false };
    }
    // Of the target only where its own parents say so, and where the target is one that opens something.
    let of_target = hangs_on && scene.opens && popup;
    let what = if menu { "menu" } else { "window" };
    Effect { kind: EffectKind::SurfaceAppeared, what: format!("{what} showing"), of_target }
}

/// What it means that the target's parent has expanded: GTK 4's menu buttons are a button in a button, of which the
/// inner one is pressed and the outer one says that the menu is open (seen in gnome-clocks).
pub fn around(role: Option<u32>) -> Effect {
    let opened = matches!(role, Some(n::PUSH_BUTTON | n::TOGGLE_BUTTON | n::PUSH_BUTTON_MENU | n::COMBO_BOX));
    let kind = if opened { EffectKind::SurfaceAppeared } else { EffectKind::ChangedElsewhere };
    Effect { kind, what: "state-changed:expanded".to_owned(), of_target: false }
}

/// Whether an effect says that the handler runs: something far away may have moved by itself.
pub fn strong(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::SurfaceAppeared | EffectKind::TargetChanged | EffectKind::Gone)
}

/// Whether nothing greater can follow.
pub fn is_final(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::SurfaceAppeared | EffectKind::Gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zbus::Message;
    use zbus::zvariant::Value;

    fn event(window: bool, member: &str, detail: &str, on: bool, path: &str) -> Event {
        Event { window, member: member.into(), detail: detail.into(), on, path: path.into() }
    }

    fn scene() -> Scene {
        Scene {
            target: "/t".into(),
            own: HashSet::from(["/label".to_owned()]),
            root: "/root".into(),
            windows: HashSet::from(["/w".to_owned()]),
            opens: true,
            parent: "/p".into(),
            menu_item: false,
            toggles: false,
        }
    }

    fn kind(e: Event) -> Option<(EffectKind, bool)> {
        match classify(&e, &scene()) {
            Says::Effect(e) => Some((e.kind, e.of_target)),
            _ => None,
        }
    }

    #[test]
    fn a_pressed_button_that_springs_back_is_no_effect() {
        for detail in ["pressed", "armed", "focused", "active"] {
            assert_eq!(kind(event(false, "StateChanged", detail, true, "/t")), None);
            assert_eq!(kind(event(false, "StateChanged", detail, true, "/x")), None);
        }
    }

    #[test]
    fn a_toggle_button_that_stays_pressed_is_one() {
        let toggles = Scene { toggles: true, ..scene() };
        assert!(matches!(classify(&event(false, "StateChanged", "pressed", true, "/t"), &toggles), Says::Effect(_)));
        assert_eq!(classify(&event(false, "StateChanged", "armed", true, "/t"), &toggles), Says::Nothing);
    }

    #[test]
    fn a_menu_s_cursor_is_no_effect_of_its_entry() {
        let selected = |path| event(false, "StateChanged", "selected", true, path);
        let menu = Scene { menu_item: true, ..scene() };
        assert_eq!(classify(&selected("/t"), &menu), Says::Nothing);
        assert_eq!(classify(&event(false, "SelectionChanged", "", true, "/p"), &menu), Says::Nothing);
        // What the entry selects elsewhere counts.
        assert!(matches!(classify(&selected("/x"), &menu), Says::Effect(_)));
        assert!(matches!(classify(&event(false, "SelectionChanged", "", true, "/list"), &menu), Says::Effect(_)));
        assert!(matches!(classify(&selected("/t"), &scene()), Says::Effect(_)));
    }

    #[test]
    fn rows_and_closed_windows_are_seen() {
        use EffectKind::*;
        assert_eq!(kind(event(false, "RowInserted", "", true, "/table")), Some((ChangedElsewhere, false)));
        assert_eq!(kind(event(false, "StateChanged", "defunct", true, "/w")), Some((ChangedElsewhere, false)));
        assert_eq!(kind(event(false, "StateChanged", "defunct", true, "/label2")), None);
    }

    #[test]
    fn a_button_around_the_target_that_expands_has_opened_something() {
        let expanded = event(false, "StateChanged", "expanded", true, "/p");
        assert_eq!(classify(&expanded, &scene()), Says::ParentExpanded("/p".into()));
        assert_eq!(around(Some(n::PUSH_BUTTON)).kind, EffectKind::SurfaceAppeared);
        // An expander's row opens nothing beside the window.
        assert_eq!(around(Some(n::LIST_ITEM)).kind, EffectKind::ChangedElsewhere);
        assert!(!around(Some(n::PUSH_BUTTON)).of_target);
    }

    #[test]
    fn the_target_and_its_labels_are_told_from_the_rest() {
        use EffectKind::*;
        let e = |member, detail, path| kind(event(false, member, detail, true, path));
        assert_eq!(e("StateChanged", "checked", "/t"), Some((TargetChanged, false)));
        assert_eq!(e("PropertyChange", "accessible-name", "/label"), Some((TargetChanged, false)));
        assert_eq!(e("PropertyChange", "accessible-name", "/x"), Some((ChangedElsewhere, false)));
        assert_eq!(e("TextChanged", "insert", "/x"), Some((ChangedElsewhere, false)));
        assert_eq!(e("StateChanged", "defunct", "/t"), Some((Gone, false)));
        assert_eq!(e("StateChanged", "defunct", "/x"), None);
    }

    #[test]
    fn surfaces() {
        use EffectKind::*;
        assert_eq!(kind(event(true, "Create", "", false, "/w2")), Some((SurfaceAppeared, false)));
        assert_eq!(kind(event(true, "Activate", "", false, "/w2")), Some((SurfaceAppeared, false)));
        assert_eq!(kind(event(true, "Activate", "", false, "/w")), None);
        assert_eq!(kind(event(false, "ChildrenChanged", "add", true, "/root")), Some((SurfaceAppeared, false)));
        assert_eq!(kind(event(false, "ChildrenChanged", "add:system", true, "/box")), Some((ChangedElsewhere, false)));
        // The target's own popup proves it; another's does not.
        assert_eq!(kind(event(false, "StateChanged", "expanded", true, "/t")), Some((SurfaceAppeared, true)));
        assert_eq!(kind(event(false, "StateChanged", "expanded", true, "/x")), Some((ChangedElsewhere, false)));
    }

    #[test]
    fn what_shows_is_judged_by_role_and_parents() {
        let scene = scene();
        let Says::Shown(path) = classify(&event(false, "StateChanged", "showing", true, "/m"), &scene) else {
            panic!()
        };
        assert_eq!(path, "/m");
        let below = ["/x".to_owned(), "/t".to_owned()];
        assert!(surface(Some(n::MENU), &below, &scene).of_target);
        assert!(!surface(Some(n::MENU), &["/x".to_owned()], &scene).of_target);
        assert!(surface(Some(n::WINDOW), &below, &scene).of_target);
        assert!(!surface(Some(n::WINDOW), &[], &scene).of_target);
        assert!(!surface(Some(n::DIALOG), &below, &scene).of_target);
        let plain = Scene { opens: false, ..scene.clone() };
        assert!(!surface(Some(n::MENU), &below, &plain).of_target);
        assert_eq!(surface(Some(n::DIALOG), &[], &scene).kind, EffectKind::SurfaceAppeared);
        assert_eq!(surface(Some(n::LABEL), &[], &scene).kind, EffectKind::ChangedElsewhere);
        assert_eq!(surface(None, &[], &scene).kind, EffectKind::ChangedElsewhere);
    }

    #[test]
    fn both_bodies_are_read_and_no_text_of_the_application_passes() {
        let base = || Message::signal("/t", "org.a11y.atspi.Event.Object", "StateChanged").unwrap();
        let none: HashMap<String, OwnedValue> = HashMap::new();
        let new = base().build(&("checked", 1i32, 0i32, Value::from("Secret text"), none)).unwrap();
        let path = OwnedObjectPath::try_from("/a").unwrap();
        let old = base().build(&("checked", 1i32, 0i32, Value::from(0i32), (":1.1", path))).unwrap();
        for message in [new, old] {
            let e = Event::read(&Signal(message)).unwrap();
            assert_eq!(e, event(false, "StateChanged", "checked", true, "/t"));
            assert_eq!(e.what(), "state-changed:checked");
        }
        let none: HashMap<String, OwnedValue> = HashMap::new();
        let odd = base().build(&("My Secret", 1i32, 0i32, Value::from(1i32), none)).unwrap();
        assert_eq!(Event::read(&Signal(odd)).unwrap().detail, "");
    }
}
