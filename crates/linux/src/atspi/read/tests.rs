use super::*;
use crate::atspi::role::native as n;
use crate::atspi::state::Native as States;
use crate::bus::reply::tests::reply;
use crate::bus::{Body, Call, CallError, Reply};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::tree::raw::Cut;
use agent_desktop_core::vocab::role::Role;
use agent_desktop_core::vocab::state::State;
use std::cell::RefCell;
use std::collections::HashMap;
use zbus::zvariant::{ObjectPath, Value};

const BUS: &str = ":1.7";
const SEEN: u64 = States::VISIBLE | States::SHOWING | States::SENSITIVE | States::ENABLED;

/// One element of an application in memory.
#[derive(Clone, Default)]
struct Element {
    role: u32,
    name: &'static str,
    states: u64,
    interfaces: Vec<&'static str>,
    children: Vec<&'static str>,
    /// What ChildCount says, where it isn't the number of children.
    count: Option<i32>,
    actions: Vec<&'static str>,
    text: Option<&'static str>,
    late: bool,
    dead: bool,
    /// Extents, where they matter.
    extents: Option<(i32, i32, i32, i32)>,
    /// What it names at its middle: itself or nothing; neither is no answer.
    names_itself: Option<bool>,
}

/// An application in memory that answers calls, and remembers them.
#[derive(Default)]
struct Application {
    elements: HashMap<&'static str, Element>,
    /// Whether it knows `AccessibleId`.
    ids: bool,
    asked: RefCell<Vec<Call>>,
}

impl Application {
    fn with(mut self, path: &'static str, element: Element) -> Self {
        self.elements.insert(path, element);
        self
    }

    fn asked(&self, member: &str) -> usize {
        self.asked.borrow().iter().filter(|c| c.member == member).count()
    }

    fn asked_property(&self, property: &str) -> usize {
        let is = |c: &&Call| matches!(c.body, Body::Property(_, p) if p == property);
        self.asked.borrow().iter().filter(is).count()
    }

    fn reference(path: &str) -> (&'static str, ObjectPath<'_>) {
        (BUS, ObjectPath::try_from(path).unwrap())
    }

    fn answer(&self, call: &Call) -> Result<Reply, CallError> {
        let error = |name: &str| CallError::Remote {
            name: format!("org.freedesktop.DBus.Error.{name}"),
            message: "no such object".to_owned(),
        };
        let Some(e) = self.elements.get(&*call.object.path) else { return Err(error("UnknownObject")) };
        if e.dead {
            return Err(error("UnknownObject"));
        }
        Ok(match (call.member, &call.body) {
            ("GetChildren", _) if e.late => return Err(CallError::Late { sent: true }),
            ("GetChildren", _) => reply(&e.children.iter().map(|c| Self::reference(c)).collect::<Vec<_>>()),
            ("GetChildAtIndex", Body::Int(k)) => {
                reply(&Self::reference(e.children.get(*k as usize).copied().unwrap_or("/org/a11y/atspi/null")))
            }
            ("GetRole", _) => reply(&e.role),
            ("GetState", _) => reply(&vec![e.states as u32, (e.states >> 32) as u32]),
            ("GetInterfaces", _) => reply(&e.interfaces),
            ("GetName", Body::Int(k)) => reply(&e.actions[*k as usize]),
            ("GetRoleName", _) => reply(&if e.actions.contains(&"ShowMenu") { "button menu" } else { "push button" }),
            ("GetActions", _) => reply(&e.actions.iter().map(|a| (*a, "", "")).collect::<Vec<_>>()),
            ("GetText", _) => reply(&e.text.unwrap_or("")),
            ("GetRelationSet", _) => reply(&Vec::<(u32, Vec<(String, ObjectPath<'_>)>)>::new()),
            ("GetExtents", _) => reply(&(e.extents.unwrap_or((1, 2, 3, 4)),)),
            ("GetAccessibleAtPoint", _) if e.names_itself.is_some() => {
                let path = if e.names_itself == Some(true) { &*call.object.path } else { "/org/a11y/atspi/null" };
                reply(&Self::reference(path))
            }
            ("Get", Body::Property(_, property)) => match *property {
                "Name" => reply(&Value::from(e.name)),
                "ChildCount" => reply(&Value::from(e.count.unwrap_or(e.children.len() as i32))),
                "AccessibleId" if !self.ids => return Err(error("UnknownInterface")),
                "AccessibleId" => reply(&Value::from("id")),
                "NActions" => reply(&Value::from(e.actions.len() as i32)),
                "CharacterCount" => reply(&Value::from(e.text.unwrap_or("").chars().count() as i32)),
                _ => reply(&Value::from("")),
            },
            _ => return Err(error("UnknownMethod")),
        })
    }
}

impl Wire for Application {
    fn flight(&self, calls: Vec<Call>, _: Deadline) -> Vec<Result<Reply, CallError>> {
        let answers = calls.iter().map(|c| self.answer(c)).collect();
        self.asked.borrow_mut().extend(calls);
        answers
    }
}

fn node(role: u32, name: &'static str, children: &[&'static str]) -> Element {
    Element { role, name, states: SEEN, children: children.to_vec(), ..Element::default() }
}

fn read_with(app: &Application, toolkit: Toolkit, plan: &ReadPlan) -> Result<RawTree, Error> {
    read_tree(app, toolkit, Object::new(BUS, "/w"), &[], plan, &Origins::unasked())
}

fn read(app: &Application) -> RawTree {
    read_with(app, Toolkit::Qt5, &ReadPlan::contract(Deadline::after_ms(1_000))).unwrap()
}

fn paths(tree: &RawTree) -> Vec<&str> {
    tree.nodes.iter().map(|n| &n.handle.as_str()[BUS.len()..]).collect()
}

#[test]
fn a_tree_is_read_in_order() {
    let button = Element {
        interfaces: vec!["org.a11y.atspi.Action", "org.a11y.atspi.Component"],
        actions: vec!["Press"],
        ..node(n::PUSH_BUTTON, "OK", &[])
    };
    let app = Application::default()
        .with("/w", node(n::FRAME, "W", &["/a", "/b"]))
        .with("/a", node(n::PANEL, "", &["/a1"]))
        .with("/a1", button)
        .with("/b", node(n::LABEL, "text", &[]));
    let tree = read(&app);
    assert_eq!(paths(&tree), ["/w", "/a", "/a1", "/b"]);
    assert!(tree.complete());
    let ok = &tree.nodes[2].facts;
    assert_eq!(ok.role, Evidence::Known(Role::Button));
    assert_eq!(ok.names.native_title, Evidence::Known("OK".to_owned()));
    assert!(ok.capabilities.known().unwrap().iter().any(|c| c.token() == "Click"));
    assert_eq!(tree.nodes[3].facts.own_text, Evidence::Known("text".to_owned()));
    // Never asked for: FINDINGS §3.
    assert_eq!(app.asked("GetAll"), 0);
}

fn buttons() -> Application {
    let button = |states, actions: &[&'static str]| Element {
        interfaces: vec!["org.a11y.atspi.Action"],
        states: SEEN & !States::ENABLED | states,
        actions: actions.to_vec(),
        ..node(n::PUSH_BUTTON, "B", &[])
    };
    Application::default()
        .with("/w", node(n::FRAME, "W", &["/plain", "/menu", "/grey"]))
        .with("/plain", button(States::ENABLED, &["Press"]))
        .with("/menu", button(States::ENABLED, &["ShowMenu", "Press"]))
        .with("/grey", button(0, &[]))
}

#[test]
fn qt_tells_actions_in_one_call_and_menu_buttons_by_them() {
    let app = buttons();
    let tree = read(&app);
    assert_eq!((app.asked("GetActions"), app.asked("GetName"), app.asked_property("NActions")), (3, 0, 0));
    assert_eq!(app.asked("GetRoleName"), 2, "of the button with a menu, and of the one that is disabled");
    let roles: Vec<_> = tree.nodes[1..].iter().map(|n| n.facts.role.known().copied()).collect();
    assert_eq!(roles, [Role::Button, Role::MenuButton, Role::Button].map(Some));
    // Elsewhere their answers are translated, empty or garbage (FINDINGS §3).
    let app = buttons();
    read_with(&app, Toolkit::Gtk3, &ReadPlan::contract(Deadline::after_ms(1_000))).unwrap();
    assert_eq!((app.asked("GetActions"), app.asked("GetName")), (0, 3));
}

#[test]
fn ids_are_asked_of_all_only_where_the_window_knows_them() {
    let app = buttons();
    assert!(read(&app).nodes.iter().all(|n| n.facts.native_id == Evidence::Absent));
    assert_eq!(app.asked_property("AccessibleId"), 1);
    let app = Application { ids: true, ..buttons() };
    assert!(read(&app).nodes[1..].iter().all(|n| matches!(n.facts.native_id, Evidence::Known(_))));
    assert_eq!(app.asked_property("AccessibleId"), 4);
}

#[test]
fn chromiums_first_action_tells_the_second_one() {
    let item = |states, actions: &[&'static str]| Element {
        interfaces: vec!["org.a11y.atspi.Action"],
        states: SEEN | states,
        actions: actions.to_vec(),
        ..node(n::LIST_ITEM, "i", &[])
    };
    let app = Application::default()
        .with("/w", node(n::FRAME, "W", &["/a", "/b", "/c"]))
        .with("/a", Element { role: n::PANEL, ..item(0, &["doDefault", "showContextMenu"]) })
        .with("/b", Element { role: n::PANEL, ..item(0, &["click", "showContextMenu"]) })
        .with("/c", Element { role: n::PANEL, ..item(States::FOCUSABLE, &["press", "showContextMenu"]) });
    let tree = read_with(&app, Toolkit::Chromium, &ReadPlan::contract(Deadline::after_ms(1_000))).unwrap();
    assert_eq!((app.asked_property("NActions"), app.asked("GetName")), (0, 3));
    let clicks = |at: usize| tree.nodes[at].facts.capabilities.known().unwrap().iter().any(|c| c.token() == "Click");
    assert_eq!([clicks(1), clicks(2), clicks(3)], [false, true, true]);
    let menu = |at: usize| tree.nodes[at].facts.capabilities.known().unwrap().iter().any(|c| c.token() == "RightClick");
    assert_eq!([menu(1), menu(2), menu(3)], [false, false, true]);
}

#[test]
fn billion_cells() {
    let app = Application::default()
        .with("/w", node(n::FRAME, "", &["/t"]))
        .with("/t", Element { count: Some(i32::MAX), ..node(n::TABLE, "", &["/c"]) });
    let tree = read(&app);
    assert_eq!(tree.nodes[1].cut, Some(Cut::Virtual));
    assert_eq!(tree.nodes[1].child_count, Evidence::Known(i32::MAX as u64));
    assert!(tree.complete());
    assert_eq!(app.asked("GetChildren"), 1, "of the window alone");
}

#[test]
fn long_lists_are_cut_without_asking_for_them() {
    let app = Application::default()
        .with("/w", Element { count: Some(5_000), ..node(n::LIST, "", &["/a", "/b"]) })
        .with("/a", node(n::LIST_ITEM, "a", &[]))
        .with("/b", node(n::LIST_ITEM, "b", &[]));
    let tree = read(&app);
    assert_eq!(tree.nodes[0].cut, Some(Cut::Limit));
    assert_eq!(paths(&tree), ["/w", "/a", "/b"]);
    assert_eq!(app.asked("GetChildren"), 0);
}

#[test]
fn cycles_end() {
    let app = Application::default()
        .with("/w", node(n::FRAME, "", &["/a"]))
        .with("/a", node(n::PANEL, "", &["/w", "/a", "/b"]))
        .with("/b", node(n::LABEL, "b", &[]));
    let tree = read(&app);
    assert_eq!(paths(&tree), ["/w", "/a", "/b"]);
    assert_eq!(tree.nodes[1].cut, Some(Cut::Cycle));
    assert!(!tree.complete());
}

#[test]
fn what_stays_away_is_cut_as_late_and_what_went_as_gone() {
    let app = Application::default()
        .with("/w", node(n::FRAME, "", &["/a", "/b", "/org/a11y/atspi/null"]))
        .with("/a", Element { late: true, ..node(n::PANEL, "", &["/a1"]) })
        .with("/b", Element { dead: true, ..node(n::PANEL, "", &[]) });
    let tree = read(&app);
    assert_eq!(paths(&tree), ["/w", "/a", "/b"]);
    assert_eq!(tree.nodes[1].cut, Some(Cut::Late));
    assert_eq!(tree.nodes[2].cut, Some(Cut::Gone));
    assert!(!tree.complete());
}

#[test]
fn a_window_that_is_gone_is_no_empty_tree() {
    let app = Application::default().with("/w", Element { dead: true, ..Element::default() });
    let plan = ReadPlan::contract(Deadline::after_ms(1_000));
    let error = read_with(&app, Toolkit::Gtk3, &plan).unwrap_err();
    assert_eq!(error.code(), Code::WindowNotFound);
}

#[test]
fn depth_and_nodes_are_limited() {
    let app = Application::default()
        .with("/w", node(n::FRAME, "", &["/a"]))
        .with("/a", node(n::PANEL, "", &["/b", "/c"]))
        .with("/b", node(n::PANEL, "", &["/d"]))
        .with("/c", node(n::PANEL, "", &[]))
        .with("/d", node(n::PANEL, "", &[]));
    let mut plan = ReadPlan::contract(Deadline::after_ms(1_000));
    plan.max_depth = 2;
    let tree = read_with(&app, Toolkit::Qt5, &plan).unwrap();
    assert_eq!(paths(&tree), ["/w", "/a", "/b", "/c"]);
    assert_eq!(tree.nodes[2].cut, Some(Cut::Limit));
    assert_eq!(tree.nodes[2].child_count, Evidence::Known(1));
    plan.max_nodes = 3;
    let tree = read_with(&app, Toolkit::Qt5, &plan).unwrap();
    assert_eq!(tree.nodes.len(), 3);
    assert_eq!(tree.nodes[1].cut, Some(Cut::Limit));
}

#[test]
fn texts_are_values_and_secrets_are_not_read() {
    let field = |name, states, text| Element {
        interfaces: vec!["org.a11y.atspi.Text", "org.a11y.atspi.EditableText"],
        text: Some(text),
        states: SEEN | states,
        ..node(n::TEXT, name, &[])
    };
    let app = Application::default()
        .with("/w", node(n::FRAME, "", &["/a", "/b"]))
        .with("/a", field("", States::EDITABLE, "hello"))
        .with("/b", field("GtkPasswordEntry", States::EDITABLE, "hunter2"));
    let plan = ReadPlan::contract(Deadline::after_ms(1_000));
    let tree = read_with(&app, Toolkit::Gtk4, &plan).unwrap();
    assert_eq!(tree.nodes[1].facts.value, Evidence::Known("hello".to_owned()));
    let secret = &tree.nodes[2].facts;
    assert!(secret.secure && secret.value == Evidence::Absent);
    assert_eq!(app.asked("GetText"), 1);
}

#[test]
fn empty_tree_unexplained() {
    let app = Application::default().with("/w", node(n::FRAME, "", &["/a"])).with("/a", node(n::PANEL, "", &[]));
    let plan = ReadPlan::contract(Deadline::after_ms(1_000));
    let tree = read_with(&app, Toolkit::Chromium, &plan).unwrap();
    assert_eq!(tree.kind, Some("renderer_accessibility_activation_required"));
    assert!(!tree.complete());
}

#[test]
fn ten_thousand_deep_chain() {
    let mut app = Application::default();
    let name = |k: usize| -> &'static str { Box::leak(format!("/p{k}").into_boxed_str()) };
    app = app.with("/w", node(n::FRAME, "", &[name(0)]));
    for k in 0..10_000 {
        app = app.with(name(k), node(n::PANEL, "", &[name(k + 1)]));
    }
    app = app.with(name(10_000), node(n::LABEL, "end", &[]));
    let mut plan = ReadPlan::contract(Deadline::after_ms(60_000));
    assert_eq!(read_with(&app, Toolkit::Qt5, &plan).unwrap().nodes.len(), 51);
    plan.max_depth = usize::MAX;
    assert_eq!(read_with(&app, Toolkit::Qt5, &plan).unwrap().nodes.len(), 10_002);
}

#[test]
fn what_stands_above_a_part_holds_for_the_part() {
    use agent_desktop_core::tree::raw::Grade;
    let app = |page| {
        Application::default()
            .with("/root", node(n::APPLICATION, "", &["/w"]))
            .with("/w", node(n::FRAME, "W", &["/page"]))
            .with("/page", node(page, "", &["/row"]))
            .with("/row", node(n::LIST_ITEM, "", &["/menu"]))
            .with("/menu", node(n::MENU, "More", &["/entry"]))
            .with("/entry", node(n::MENU_ITEM, "Remove", &[]))
    };
    let grade = |app: &Application, toolkit, above: &[&str]| {
        let link = |p: &&str| Link { handle: Object::new(BUS, *p).handle(), index: 0 };
        let above: Vec<Link> = above.iter().map(link).collect();
        let plan = ReadPlan::contract(Deadline::after_ms(1_000));
        let tree = read_tree(app, toolkit, Object::new(BUS, "/menu"), &above, &plan, &Origins::unasked()).unwrap();
        tree.nodes[1].facts.grade
    };
    let chain = &["/root", "/w", "/page", "/row"][..];
    // In a page, and in an item of a list that recycles, addresses follow the place.
    assert_eq!(grade(&app(n::DOCUMENT_WEB), Toolkit::Chromium, chain), Grade::Slot);
    assert_eq!(grade(&app(n::PANEL), Toolkit::Chromium, chain), Grade::Follows);
    assert_eq!(grade(&app(n::LIST), Toolkit::Gtk4, chain), Grade::Slot);
    assert_eq!(grade(&app(n::LIST), Toolkit::Gtk4, &chain[..3]), Grade::Follows);
    // What did not answer may be either.
    assert_eq!(grade(&app(n::PANEL), Toolkit::Chromium, &["/root", "/gone"]), Grade::Slot);
    assert_eq!(grade(&app(n::PANEL), Toolkit::Gtk4, &["/root", "/gone"]), Grade::Slot);
}

/// Pages in one place, as GTK 4.8 leaves them after each was shown once: only what names itself at its own middle tells.
#[test]
fn a_page_is_shown_by_what_its_labels_name() {
    const PLACE: (i32, i32, i32, i32) = (0, 0, 400, 300);
    let seen = States::VISIBLE | States::SENSITIVE;
    let part = |role, name, extents, names_itself, children: &[&'static str]| Element {
        states: seen,
        extents: Some(extents),
        names_itself,
        ..node(role, name, children)
    };
    let page = |children: &[&'static str]| part(n::PANEL, "", PLACE, Some(false), children);
    let label = |named| part(n::LABEL, "Text", (10, 10, 40, 20), named, &[]);
    let button = || part(n::PUSH_BUTTON, "Press", (10, 40, 40, 20), Some(false), &[]);
    let app = |first: Option<bool>, disabled: bool| {
        let mut stack = part(n::PANEL, "", PLACE, Some(false), &["/a", "/b", "/c", "/d"]);
        if disabled {
            stack.states = States::VISIBLE;
        }
        Application::default()
            .with("/w", Element { states: seen, ..node(n::FRAME, "w", &["/stack", "/beside"]) })
            .with("/beside", part(n::PUSH_BUTTON, "Beside", (0, 300, 40, 20), Some(false), &[]))
            .with("/stack", stack)
            .with("/a", page(&["/a/l", "/a/b"]))
            .with("/a/l", label(first))
            .with("/a/b", button())
            .with("/b", page(&["/b/l", "/b/b"]))
            .with("/b/l", label(Some(true)))
            .with("/b/b", button())
            .with("/c", page(&["/c/b"]))
            .with("/c/b", button())
            .with("/d", part(n::PANEL, "", (0, 0, 0, 0), Some(false), &["/d/b"]))
            .with("/d/b", part(n::PUSH_BUTTON, "Press", (0, 0, 0, 0), Some(false), &[]))
    };
    let told = |app: &Application| -> HashMap<String, (bool, bool)> {
        let tree = read_with(app, Toolkit::Gtk4, &ReadPlan::contract(Deadline::after_ms(1_000))).unwrap();
        let of = |n: &RawNode| {
            let hidden = n.facts.states.known().unwrap().has(State::Hidden);
            (n.handle.as_str()[BUS.len()..].to_owned(), (hidden, n.facts.shown_unsure()))
        };
        tree.nodes.iter().map(of).collect()
    };
    let of = told(&app(Some(false), false));
    // Not on the screen; on it; nothing tells; never laid out; in no such place.
    for (path, wanted) in [
        ("/a/b", (true, false)),
        ("/a", (true, false)),
        ("/b/b", (false, false)),
        ("/c/b", (false, true)),
        ("/d/b", (true, false)),
        ("/beside", (false, false)),
    ] {
        assert_eq!(of[path], wanted, "{path}");
    }
    // No answer is no evidence, and what is disabled never names anything.
    assert_eq!(told(&app(None, false))["/a/b"], (false, true));
    assert_eq!(told(&app(Some(false), true))["/a/b"], (false, true));
}
