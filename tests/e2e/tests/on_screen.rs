//! What of a real application's window is listed, and what is said to be on the screen: what can be seen is there with
//! default flags, what can't is folded or marked, and nothing is cut in silence.

use agent_desktop_e2e::{Desk, nodes, wait_for};
use serde_json::{Value, json};

fn named<'d>(data: &'d Value, role: &str, name: &str) -> Vec<&'d Value> {
    let of = |n: &&Value| n["role"] == role && n["name"].as_str().is_some_and(|t| t.contains(name));
    nodes(&data["tree"]).into_iter().filter(of).collect()
}

fn has(node: &Value, state: &str) -> bool {
    node["states"].as_array().is_some_and(|s| s.iter().any(|s| s == state))
}

fn seen<'d>(data: &'d Value, role: &str, name: &str) -> Vec<&'d Value> {
    named(data, role, name).into_iter().filter(|n| !has(n, "hidden") && !has(n, "offscreen")).collect()
}

fn reference(node: &Value) -> String {
    node["ref_id"].as_str().unwrap_or_else(|| panic!("a ref on {node}")).to_owned()
}

/// X11's titles of the windows that can be seen, asked without the product.
fn titles(desk: &Desk) -> Vec<String> {
    let out = desk.command("xdotool").args(["search", "--onlyvisible", "--name", "."]).output().expect("xdotool runs");
    let ids = String::from_utf8_lossy(&out.stdout).into_owned();
    let name = |id: &str| {
        let out = desk.command("xdotool").args(["getwindowname", id]).output().expect("xdotool runs");
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    ids.lines().map(name).collect()
}

const LOOK: &[&str] = &["snapshot", "--app", "gnome-clocks", "-i", "--compact", "--timeout-ms", "20000"];

fn clocks(desk: &Desk, tab: &str) {
    let data = desk.ok(LOOK);
    let tab = seen(&data, "tab", tab);
    desk.ok(&["click", &reference(tab[0])]);
    let chosen = |n: &&Value| has(n, "selected");
    let name = tab[0]["name"].as_str().expect("a name").to_owned();
    wait_for("the page to be chosen", || seen(&desk.ok(LOOK), "tab", &name).iter().any(chosen).then_some(()));
}

/// The recommended command shows what a user sees of a GTK 4 window, which nests more than ten levels; what is hidden is one
/// line each, and leads on.
#[test]
fn a_deep_window_shows_its_controls() {
    let desk = Desk::new();
    let _app = desk.launch(&["gnome-clocks"], 200);
    let data = desk.ok(LOOK);
    for (role, name) in [
        ("tab", "World"),
        ("tab", "Alarms"),
        ("tab", "Stopwatch"),
        ("tab", "Timer"),
        ("button", "Add World Clock"),
        ("button", "Main Menu"),
        ("button", "Close"),
    ] {
        assert!(!seen(&data, role, name).is_empty(), "{role} {name} in {data:#}");
    }
    assert_eq!(data["complete"], true);
    let all = nodes(&data["tree"]);
    let folded: Vec<&&Value> = all.iter().filter(|n| n["folded"] == true).collect();
    // Counted are folded containers, and single elements that were left out.
    assert!(data["cut"]["folded"].as_u64() >= Some(folded.len() as u64), "{}", data["cut"]);
    let spelled =
        |n: &&&Value| n["folded"] != true && has(n, "hidden") && n["role"] != "option" && n["children"].is_null();
    assert_eq!(all.iter().filter(spelled).count(), 0, "{data:#}");
    assert!(folded.iter().all(|n| n["children_count"].as_u64() > Some(0) && n["subtree_truncated"] == true));
    // Nothing that can't be seen is spelled out: it stands in a folded container, or is a single element.
    assert!(named(&data, "button", "Snooze").is_empty(), "{data:#}");
    // Each leads into what it holds.
    for node in folded {
        let drilled = desk.ok(&["snapshot", "--root", &reference(node), "--timeout-ms", "20000"]);
        assert!(nodes(&drilled["tree"]).len() > 1, "{drilled}");
    }
    // X11 knows the window's title; GTK names it by its type.
    let title = data["window"]["title"].as_str().expect("a title");
    assert!(titles(&desk).iter().any(|t| t == title), "{title:?} is none of {:?}", titles(&desk));

    // A cut that was asked for is counted, and each cut container leads on.
    let data = desk.ok(&["snapshot", "--app", "gnome-clocks", "--max-depth", "6", "-i", "--timeout-ms", "20000"]);
    let by_depth = data["cut"]["by_depth"].as_u64().expect("a number of cut containers");
    let cut = |n: &&&Value| n["subtree_truncated"] == true && n["folded"] != true;
    assert_eq!(nodes(&data["tree"]).iter().filter(cut).count() as u64, by_depth, "{data:#}");
    let inside = nodes(&data["tree"]).into_iter().filter(|n| cut(&n)).find_map(|n| n["ref_id"].as_str());
    let drilled = desk.ok(&["snapshot", "--root", inside.expect("a ref"), "--timeout-ms", "20000"]);
    assert!(!named(&drilled, "tab", "Alarms").is_empty() || nodes(&drilled["tree"]).len() > 3, "{drilled:#}");
}

/// GTK 4.8 leaves a page that was shown once its states and its place. It is known not to be shown all the same, and
/// nothing on it is pressed.
#[test]
fn a_page_that_is_not_shown_is_not_visible() {
    let desk = Desk::new();
    let _app = desk.launch(&["gnome-clocks"], 200);
    let world = desk.ok(LOOK);
    let add = reference(seen(&world, "button", "Add World Clock")[0]);
    let visible = |of: &str| {
        let is = desk.ok(&["is", of, "--property", "visible"]);
        (is["result"].clone(), is["applicable"].clone())
    };
    assert_eq!(visible(&add), (json!(true), json!(true)));
    for tab in ["Timer", "Alarms"] {
        clocks(&desk, tab);
        let all = desk.ok(&["snapshot", "--app", "gnome-clocks", "--max-depth", "50", "--timeout-ms", "20000"]);
        for (name, page) in [("Add World Clock", "World"), ("1 m", "Timer"), ("Add Alarm", "Alarms")] {
            assert_eq!(!seen(&all, "button", name).is_empty(), page == tab, "{name} while {tab} is shown");
        }
        assert_eq!(visible(&add), (json!(false), json!(true)), "while {tab} is shown");
    }
    let before = titles(&desk);
    let error = desk.err(&["click", &add, "--timeout-ms", "1500"]);
    assert_eq!((&error["code"], &error["details"]["check"]), (&json!("TIMEOUT"), &json!("visible")), "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered");
    assert_eq!(titles(&desk), before, "a dialog came up");
    clocks(&desk, "World");
    assert_eq!(visible(&add), (json!(true), json!(true)));
}

/// Before its other pages were ever shown the toolkit gives them no size. After a visit to each of them the same must be
/// said of all elements, from other evidence.
#[test]
fn a_visit_to_other_pages_changes_nothing_of_what_is_seen() {
    let desk = Desk::new();
    let _app = desk.launch(&["gtk4-widget-factory"], 500);
    let look = || desk.ok(&["snapshot", "--app", "gtk4-widget-factory", "--max-depth", "50", "--timeout-ms", "20000"]);
    let controls = |data: &Value| -> Vec<(String, bool)> {
        let of = |n: &&Value| n["ref_id"].is_string();
        let line = |n: &Value| (format!("{} {}", n["role"], n["name"]), has(n, "hidden"));
        nodes(&data["tree"]).into_iter().filter(of).map(line).collect()
    };
    let fresh = controls(&look());
    assert!(fresh.iter().filter(|(_, hidden)| *hidden).count() > 50 && fresh.iter().any(|(_, hidden)| !hidden));
    for page in ["Page 2", "Page 3", "Page 1"] {
        // The switcher's tabs can be clicked; those of notebooks on the pages can't.
        let data = look();
        let tab = |n: &&&Value| n["available_actions"].to_string().contains("Click") && n["name"] == page;
        let tabs = seen(&data, "tab", page);
        desk.ok(&["click", &reference(tabs.iter().find(tab).expect("a tab of the switcher"))]);
        let chosen = |n: &&Value| has(n, "selected") && tab(&n);
        wait_for("the page to be chosen", || seen(&look(), "tab", page).iter().any(chosen).then_some(()));
        if page != "Page 1" {
            let hidden = |name: &str| named(&look(), "button", name).iter().all(|n| has(n, "hidden"));
            wait_for("the first page to be gone", || hidden("togglebutton").then_some(()));
        }
    }
    wait_for("the first page to be back", || (controls(&look()) == fresh).then_some(()));
}

/// An editor's menu bar costs a line a menu; entries are found, and a drill lists them.
#[test]
fn closed_menus_are_folded() {
    let desk = Desk::new();
    let _app = desk.launch(&["mousepad"], 200);
    let look = ["snapshot", "--app", "mousepad", "--compact", "--timeout-ms", "20000"];
    let all = desk.ok(&look);
    let data = desk.ok(&[&look[..], &["-i"]].concat());
    let count = |d: &Value| d["ref_count"].as_u64().expect("a number");
    assert!(count(&data) * 4 < count(&all), "{} of {} refs", count(&data), count(&all));
    let file = named(&data, "menuitem", "File")[0];
    assert_eq!((&file["folded"], file["children_count"].as_u64() > Some(5)), (&json!(true), true), "{file}");
    assert!(named(&data, "menuitem", "Save As").is_empty());
    assert!(!named(&all, "menuitem", "Save As").is_empty());
    let found = desk.ok(&["find", "--app", "mousepad", "--role", "menuitem", "--name", "Save As", "--first"]);
    let actions = found["match"]["available_actions"].as_array().expect("actions");
    assert!(actions.contains(&json!("Click")), "{found}");
    let drilled = desk.ok(&["snapshot", "--root", &reference(file), "-i", "--timeout-ms", "20000"]);
    assert!(!named(&drilled, "menuitem", "Save As").is_empty(), "{drilled:#}");
    let text = desk.cli(&["snapshot", "--app", "mousepad", "-i", "--compact", "--format", "text"]).stdout;
    let header = text.lines().next().expect("a header");
    assert!(header.contains(" folded"), "{header}");
}

/// A dialog that is no alert here: the error says what is open, and the window's id always works.
#[test]
fn dialogs_can_be_reached_in_one_way() {
    let desk = Desk::new();
    let _app = desk.launch(&["mousepad"], 200);
    let find = ["find", "--app", "mousepad", "--role", "menuitem", "--name", "Preferences", "--first"];
    desk.ok(&["click", &reference(&desk.ok(&find)["match"])]);
    wait_for("the dialog", || titles(&desk).iter().any(|t| t.contains("Preferences")).then_some(()));
    let error = desk.err(&["snapshot", "--app", "mousepad", "--surface", "alert"]);
    assert_eq!(error["details"]["kind"], "surface_not_open", "{error}");
    let open = error["details"]["open"].as_array().expect("what is open");
    assert!(open.iter().any(|s| s["type"] == "sheet" && s["title"].to_string().contains("Preferences")), "{error}");
    let windows = desk.ok(&["list-windows", "--app", "mousepad"]);
    let of = |w: &&Value| w["title"].to_string().contains("Preferences");
    let id = windows.as_array().and_then(|w| w.iter().find(of)).expect("a window of the dialog")["id"].clone();
    for scope in [["--window-id", id.as_str().expect("an id")], ["--surface", "focused"]] {
        let args = [&["snapshot", "--app", "mousepad"], &scope[..]].concat();
        let data = desk.ok(&args);
        assert_eq!(data["tree"]["role"], "dialog", "{args:?}: {data}");
    }
}

/// Qt's tooltips are published with their markup; what is read is what a user reads.
#[test]
fn descriptions_carry_no_markup() {
    let desk = Desk::new();
    let app = desk.launch(&["featherpad"], 100);
    let walk = desk.walk(app.pid(), &[]);
    let rich: Vec<&str> = walk["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter_map(|n| n["description"].as_str())
        .filter(|d| d.starts_with('<'))
        .collect();
    let data = desk.ok(&["snapshot", "--app", "featherpad", "--max-depth", "50", "--timeout-ms", "20000"]);
    // The description of a control without a name is its name.
    let texts = |n: &'_ Value| [n["name"].as_str().map(str::to_owned), n["description"].as_str().map(str::to_owned)];
    let all: Vec<String> = nodes(&data["tree"]).into_iter().flat_map(texts).flatten().collect();
    assert!(all.iter().all(|d| !d.contains("<p")), "{all:?}");
    assert!(!rich.is_empty(), "the application has no such description");
    for text in &rich {
        let inner = text.split('>').nth(1).and_then(|t| t.split('<').next()).expect("text between tags");
        assert!(all.iter().any(|d| d.contains(inner)), "{inner:?} of {text:?} is nowhere");
    }
}

/// A window with a popover, and a stack of which one page has nothing to go by.
const POPOVER_AND_STACK: &str = r#"
import gi
gi.require_version('Gtk', '4.0')
from gi.repository import Gtk
def build(app):
    window = Gtk.ApplicationWindow(application=app, title='Parts')
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    inside = Gtk.Box()
    inside.append(Gtk.Button(label='Inside'))
    popover = Gtk.Popover()
    popover.set_child(inside)
    more = Gtk.MenuButton(label='More')
    more.set_popover(popover)
    box.append(more)
    stack = Gtk.Stack()
    text = Gtk.Box()
    text.append(Gtk.Label(label='Telling'))
    text.append(Gtk.Entry(placeholder_text='first'))
    stack.add_titled(text, 'one', 'One')
    bare = Gtk.Box()
    bare.append(Gtk.Entry(placeholder_text='second'))
    stack.add_titled(bare, 'two', 'Two')
    box.append(Gtk.StackSwitcher(stack=stack))
    box.append(stack)
    window.set_child(box)
    window.present()
app = Gtk.Application(application_id='org.example.Parts')
app.connect('activate', build)
app.run([])
"#;

/// What GTK 4 opens above a window is a surface of its own; and of a page that nothing tells about nothing is claimed.
#[test]
fn popovers_are_listed_and_what_nobody_tells_is_not_claimed() {
    let desk = Desk::new();
    let app = desk.launch(&["/usr/bin/python3", "-c", POPOVER_AND_STACK], 15);
    let windows = desk.ok(&["list-windows"]);
    let of = |w: &&Value| w["title"] == "Parts";
    let id = windows.as_array().and_then(|w| w.iter().find(of)).expect("the window")["id"].as_str().expect("an id");
    let look = || desk.ok(&["snapshot", "--window-id", id, "--max-depth", "50", "--timeout-ms", "20000"]);
    let name = windows.as_array().and_then(|w| w.iter().find(of)).expect("the window")["app_name"].clone();
    let name = name.as_str().expect("a name");
    let open = || desk.ok(&["list-surfaces", "--app", name])["surfaces"].to_string().contains("popover");
    let published = || desk.walk(app.pid(), &[])["nodes"].to_string().contains("GtkPopover");
    assert_eq!((open(), published()), (false, false));
    let data = look();
    let more = seen(&data, "button", "More").into_iter().find(|n| n["available_actions"].to_string().contains("Click"));
    desk.ok(&["click", &reference(more.expect("a button that can be clicked"))]);
    wait_for("the popover", || published().then_some(()));
    assert!(open());
    let inside = desk.ok(&["snapshot", "--app", name, "--surface", "popover"]);
    assert_eq!(seen(&inside, "button", "Inside").len(), 1, "{inside:#}");
    assert!(seen(&inside, "tab", "One").is_empty(), "{inside:#}");

    let choose = |page: &str| {
        desk.ok(&["click", &reference(seen(&look(), "tab", page)[0])]);
        let chosen = |n: &&Value| has(n, "selected");
        wait_for("the page to be chosen", || seen(&look(), "tab", page).iter().any(chosen).then_some(()));
    };
    choose("Two");
    choose("One");
    let visible = |field: &str| {
        let data = look();
        let is = desk.ok(&["is", &reference(named(&data, "textfield", field)[0]), "--property", "visible"]);
        (is["result"].clone(), is["applicable"].clone())
    };
    assert_eq!(visible("first"), (json!(true), json!(true)));
    assert_eq!(visible("second"), (json!(false), json!(false)), "nothing on that page tells");
    choose("Two");
    assert_eq!(visible("first"), (json!(false), json!(true)));
}

/// Two rows with a popover each; both stay open. What is pressed in one is written down with its row.
const TWO_POPOVERS: &str = r#"
import gi, sys
gi.require_version('Gtk', '4.0')
from gi.repository import Gtk
def row(name):
    line = Gtk.Box()
    line.append(Gtk.Label(label=name))
    remove = Gtk.Button(label='Remove')
    remove.connect('clicked', lambda _: print(name, file=open(sys.argv[1], 'a'), flush=True))
    popover = Gtk.Popover(autohide=False)
    popover.set_child(remove)
    more = Gtk.MenuButton(label='More ' + name)
    more.set_popover(popover)
    line.append(more)
    return line
def build(app):
    window = Gtk.ApplicationWindow(application=app, title='Rows', default_width=300, default_height=300)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    box.append(row('Alice'))
    box.append(row('Bob'))
    window.set_child(box)
    window.present()
app = Gtk.Application(application_id='org.example.Rows')
app.connect('activate', build)
app.run([])
"#;

/// Two surfaces of one kind lie beside each other: which is meant is asked for, not guessed, and an id answers.
#[test]
fn of_two_popovers_none_is_chosen_for_the_caller() {
    let desk = Desk::new();
    let log = desk.dir.path().join("removed");
    let app = desk.launch(&["/usr/bin/python3", "-c", TWO_POPOVERS, log.to_str().expect("UTF-8")], 15);
    let name = desk.ok(&["list-windows"])[0]["app_name"].as_str().expect("a name").to_owned();
    let open = |row: &str| {
        let data = desk.ok(&["snapshot", "--app", &name, "--max-depth", "50"]);
        let more = seen(&data, "button", &format!("More {row}"));
        let more = more.into_iter().find(|n| n["available_actions"].to_string().contains("Click"));
        desk.ok(&["click", &reference(more.expect("a button that can be clicked"))])
    };
    // The row further down first: it comes later in the tree, and is not the one that opened last.
    open("Bob");
    open("Alice");
    wait_for("both popovers", || {
        let walked = desk.walk(app.pid(), &[])["nodes"].to_string();
        (walked.matches("GtkPopover").count() >= 2).then_some(())
    });
    let error = desk.err(&["snapshot", "--app", &name, "--surface", "popover"]);
    assert_eq!(
        (&error["code"], &error["details"]["kind"], &error["details"]["candidate_count"]),
        (&json!("AMBIGUOUS_TARGET"), &json!("several_candidates"), &json!(2)),
        "{error}"
    );
    assert_eq!(error["disposition"]["delivery"], "not_delivered");
    let ids: Vec<&str> = error["details"]["candidates"]
        .as_array()
        .expect("candidates")
        .iter()
        .filter_map(|c| c["id"].as_str())
        .collect();
    // Each by its id is its own.
    for id in &ids {
        let inside = desk.ok(&["snapshot", "--app", &name, "--surface", "popover", "--window-id", id]);
        desk.ok(&["click", &reference(seen(&inside, "button", "Remove")[0])]);
    }
    let removed = || std::fs::read_to_string(&log).unwrap_or_default();
    wait_for("both buttons", || (removed().lines().count() == 2).then_some(()));
    let text = removed();
    let mut rows: Vec<&str> = text.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, ["Alice", "Bob"]);
}

/// A window is called what the window system shows, though Qt's own name for it is less; and a wait that ends in vain says
/// which titles there were.
#[test]
fn a_window_is_called_what_the_screen_shows() {
    let desk = Desk::new();
    const PROGRAM: &str = "from PyQt5 import QtWidgets as W; app = W.QApplication(['qt']); \
        app.setApplicationDisplayName('Sums'); window = W.QWidget(windowTitle='7'); W.QPushButton('Add', window); \
        window.resize(300, 200); window.show(); app.exec_()";
    let _app = desk.launch(&["/usr/bin/python3", "-c", PROGRAM], 2);
    let shown = wait_for("the window", || titles(&desk).into_iter().find(|t| t.contains("Sums")));
    assert!(shown.starts_with('7') && shown.len() > "Sums".len() + 2, "{shown}");
    let found = desk.ok(&["wait", "--window", &shown, "--timeout", "3000"]);
    assert_eq!(found["window"]["title"], json!(shown));
    let error = desk.err(&["wait", "--window", "no such window", "--timeout", "300"]);
    assert!(error["details"]["titles_seen"].as_array().is_some_and(|t| t.contains(&json!(shown))), "{error}");
}

/// kcalc keeps 64 buttons for bits that are not shown, in containers that are: counted, not spelled out.
#[test]
fn controls_that_are_not_shown_are_counted() {
    let desk = Desk::new();
    let _app = desk.launch(&["kcalc"], 100);
    let all = desk.ok(&["snapshot", "--app", "kcalc", "--max-depth", "50"]);
    let hidden = nodes(&all["tree"]).into_iter().filter(|n| has(n, "hidden")).count();
    let data = desk.ok(&["snapshot", "--app", "kcalc", "-i", "--compact"]);
    let left = nodes(&data["tree"]).into_iter().filter(|n| has(n, "hidden")).count();
    assert!(hidden > 50 && left < 10, "{hidden} {left}: {data:#}");
    assert!(data["cut"]["folded"].as_u64() > Some(50), "{}", data["cut"]);
    assert!(!seen(&data, "button", "7").is_empty());
    let bit = desk.ok(&["find", "--app", "kcalc", "--role", "button", "--name", "Bit 63"]);
    assert!(!bit["matches"].as_array().expect("matches").is_empty(), "find looks at all of them: {bit}");
}

/// Qt 5 shows context menus that it publishes nothing of: what is open is not denied. The oracle is xdotool.
#[test]
fn a_menu_that_publishes_no_tree_is_told_of() {
    let desk = Desk::new();
    let _app = desk.launch(&["featherpad"], 100);
    let windows = desk.ok(&["list-windows", "--app", "featherpad"]);
    let bounds = &windows[0]["bounds"];
    let middle =
        |at: &str, size: &str| bounds[at].as_f64().expect("a place") + bounds[size].as_f64().expect("a size") / 2.0;
    let xy = format!("{},{}", middle("x", "width"), middle("y", "height"));
    let nothing = desk.ok(&["list-surfaces", "--app", "featherpad"]);
    assert!(nothing.get("popups").is_none(), "{nothing}");
    desk.ok(&["wait", "--menu-closed", "--app", "featherpad"]);
    desk.ok(&["--headed", "mouse-click", "--xy", &xy, "--button", "right"]);
    let listed = wait_for("the menu", || {
        let listed = desk.ok(&["list-surfaces", "--app", "featherpad"]);
        listed.get("popups").is_some().then_some(listed)
    });
    let popups = listed["popups"].as_array().expect("a list");
    assert_eq!(popups.len(), 1, "{listed}");
    let (x, y) = (popups[0]["bounds"]["x"].as_i64(), popups[0]["bounds"]["y"].as_i64());
    let popup = &popups[0]["bounds"];
    let (inside_x, inside_y) = (popup["x"].as_f64().unwrap() + 3.0, popup["y"].as_f64().unwrap() + 3.0);
    // xdotool says what window is there, and where it is.
    let script = format!(
        "xdotool mousemove {inside_x} {inside_y} getmouselocation --shell; xdotool getwindowgeometry --shell \
         $(xdotool getmouselocation --shell | sed -n 's/WINDOW=//p')"
    );
    let out = desk.command("sh").args(["-c", &script]).output().expect("xdotool");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let of = |key: &str| {
        let last = text.lines().rev().find_map(|l| l.strip_prefix(key));
        last.and_then(|v| v.parse::<f64>().ok()).map(|v| v as i64)
    };
    assert_eq!(
        (of("X="), of("Y=")),
        (x.or(popup["x"].as_f64().map(|v| v as i64)), y.or(popup["y"].as_f64().map(|v| v as i64))),
        "{text}"
    );
    let error = desk.err(&["find", "--app", "featherpad", "--surface", "menu", "--role", "menuitem"]);
    assert_eq!(error["details"]["kind"], "surface_not_open", "{error}");
    assert_eq!(error["details"]["popups"], listed["popups"], "{error}");
    assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("'press' works on it")), "{error}");
    for wait in ["--menu", "--menu-closed"] {
        let error = desk.err(&["wait", wait, "--app", "featherpad", "--timeout", "700"]);
        assert_eq!((&error["code"], &error["details"]["popups"]), (&json!("TIMEOUT"), &listed["popups"]), "{error}");
    }
    desk.ok(&["--headed", "press", "escape", "--app", "featherpad"]);
    desk.ok(&["wait", "--menu-closed", "--app", "featherpad", "--timeout", "5000"]);
    assert!(desk.ok(&["list-surfaces", "--app", "featherpad"]).get("popups").is_none());
}
