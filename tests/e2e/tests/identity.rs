//! A ref acts on the element it was given for, or on nothing. Judged by what the applications wrote down.

use agent_desktop_e2e::{Desk, Live, NATIVE, WEB, beside, nodes, refs_named, wait_for};
use serde_json::{Value, json};

const ALL: [&str; 6] = ["gtk3", "gtk4", "qt5", "qt6", "chromium", "firefox"];
const STALE: &str = "STALE_REF";

fn clicked(id: &str) -> Value {
    json!({"event": "clicked", "id": id})
}

fn deleted(row: &str) -> Value {
    json!({"event": "deleted", "row": row})
}

fn opened(id: &str, row: &str, index: u64) -> Value {
    json!({"event": "opened", "id": id, "row": row, "index": index})
}

/// Runs a test on each toolkit, each in a desktop of its own.
fn on(kinds: &[&'static str], scene: &str, test: impl Fn(&Live<'_>)) {
    for kind in kinds {
        let desk = Desk::new();
        test(&Live::start(&desk, kind, scene));
    }
}

fn two_identical_buttons(kind: &'static str) {
    on(&[kind], "twins", |live| {
        let snapshot = live.snapshot();
        let twins = refs_named(&snapshot, "button", "Submit");
        assert_eq!(twins.len(), 2, "{}: {snapshot}", live.kind);
        for (at, id) in [(1, "submit2"), (0, "submit1"), (1, "submit2")] {
            let data = live.lands(&["click", &twins[at]], &clicked(id));
            assert!(["retained", "witnessed"].contains(&data["details"]["identity"].as_str().unwrap_or("")), "{data}");
        }
    });
}

#[test]
fn two_identical_buttons_gtk3() {
    two_identical_buttons("gtk3");
}

#[test]
fn two_identical_buttons_gtk4() {
    two_identical_buttons("gtk4");
}

#[test]
fn two_identical_buttons_qt5() {
    two_identical_buttons("qt5");
}

#[test]
fn two_identical_buttons_qt6() {
    two_identical_buttons("qt6");
}

#[test]
fn two_identical_buttons_chromium() {
    two_identical_buttons("chromium");
}

#[test]
fn two_identical_buttons_firefox() {
    two_identical_buttons("firefox");
}

/// The trap first, by the independent reader; then the refusal, then proof that the way was open.
fn recycled_row(kind: &'static str, scroll: bool) {
    on(&[kind], "recycled", |live| {
        let snapshot = live.snapshot();
        let refs = refs_named(&snapshot, "button", "Delete");
        let before = live.oracle_rows("Delete");
        assert_eq!(refs.len(), before.len(), "{kind}: the snapshot and the independent reader see the same buttons");
        if scroll {
            live.fixture.control(if live.is_web() { "scroll 10" } else { "scroll 200" });
        } else {
            live.fixture.control("insert_row 0 NewTop");
        }
        let (at, shows) = wait_for(&format!("{kind}: an address that shows another row"), || {
            let after = live.oracle_rows("Delete");
            before.iter().enumerate().find_map(|(i, (address, row))| {
                let now = after.iter().find(|(a, _)| a == address)?;
                (now.1 != *row).then(|| (i, now.1.clone()))
            })
        });
        assert!(!shows.is_empty(), "{kind}: {shows:?}");
        live.refused(&["click", &refs[at]], STALE, &["context_changed"]);
        for read in [["get", &refs[at], "--property", "title"], ["is", &refs[at], "--property", "enabled"]] {
            let error = live.refused(&read, STALE, &["context_changed"]);
            assert!(!error.to_string().contains(&shows), "{kind}: nothing of the other row is told: {error}");
        }
        // A ref of the row that is there now reaches it: only the old one was refused.
        let fresh = wait_for(&format!("{kind}: the row {shows} in a snapshot"), || {
            beside(&live.snapshot(), &shows, "button", "Delete")
        });
        live.lands(&["click", &fresh], &deleted(&shows));
    });
}

#[test]
fn recycled_row_gtk4_insert() {
    recycled_row("gtk4", false);
}

#[test]
fn recycled_row_gtk4_scroll() {
    recycled_row("gtk4", true);
}

#[test]
fn recycled_row_chromium_scroll() {
    recycled_row("chromium", true);
}

#[test]
fn recycled_row_chromium_insert() {
    recycled_row("chromium", false);
}

#[test]
fn recycled_row_firefox_scroll() {
    recycled_row("firefox", true);
}

#[test]
fn recycled_row_firefox_insert() {
    recycled_row("firefox", false);
}

/// A menu inside a row, observed by itself: what tells the row stands outside of it.
fn menu_of_a_recycled_row(kind: &'static str) {
    on(&[kind], "row-menus", |live| {
        let snapshot = live.snapshot();
        let more = ["menubutton", "button"].iter().find_map(|role| beside(&snapshot, "Person003", role, "More"));
        let more = more.unwrap_or_else(|| panic!("{kind}: {snapshot}"));
        live.desk.ok(&["click", &more]);
        let scope = ["--app", &live.app, "--surface", "menu", "--timeout-ms", "30000"];
        let refs = wait_for(&format!("{kind}: the row's menu"), || {
            let seen = live.desk.cli(&[&["snapshot"], &scope[..]].concat());
            let found = live.desk.cli(&[&["find", "--name", "Remove"], &scope[..]].concat());
            let remove = refs_named(&(seen.code == 0).then(|| seen.data())?, "menuitem", "Remove").pop()?;
            let found = (found.code == 0).then(|| found.data())?["matches"][0]["ref_id"].as_str()?.to_owned();
            Some([remove, found])
        });
        live.fixture.control("insert_row 0 NewTop");
        let fresh = wait_for(&format!("{kind}: the place to show another row"), || {
            let now = live.snapshot();
            beside(&now, "NewTop", "menuitem", "Remove")?;
            refs_named(&now, "menuitem", "Remove").pop()
        });
        for old in &refs {
            live.refused(&["click", old], STALE, &["context_changed"]);
        }
        // The menu is open and works: it is the other row's.
        live.lands(&["click", &fresh], &deleted("Person002"));
    });
}

#[test]
fn menu_of_a_recycled_row_chromium() {
    menu_of_a_recycled_row("chromium");
}

#[test]
fn menu_of_a_recycled_row_firefox() {
    menu_of_a_recycled_row("firefox");
}

/// A list of GTK 4 whose rows have a popover each that stays open. What is pressed is written down with the row that the
/// place shows then; when the file `turn` comes, the place of the second row gets another item.
const ROW_POPOVERS: &str = r#"
import gi, os, sys
gi.require_version('Gtk', '4.0')
from gi.repository import Gtk, Gio, GLib, GObject
log, turn = sys.argv[1:3]
class Item(GObject.Object):
    def __init__(self, text):
        super().__init__()
        self.text = text
store = Gio.ListStore.new(Item)
store.splice(0, 0, [Item('Person%03d' % i) for i in range(3)])
def setup(_, cell):
    box = Gtk.Box()
    box.append(Gtk.Label(hexpand=True))
    remove = Gtk.Button(label='Remove')
    def removed(_):
        with open(log, 'a') as f:
            f.write(cell.get_item().text + '\n')
    remove.connect('clicked', removed)
    popover = Gtk.Popover(autohide=False)
    popover.set_child(remove)
    more = Gtk.MenuButton(label='More')
    more.set_popover(popover)
    box.append(more)
    cell.set_child(box)
def bind(_, cell):
    cell.get_child().get_first_child().set_label(cell.get_item().text)
factory = Gtk.SignalListItemFactory()
factory.connect('setup', setup)
factory.connect('bind', bind)
def look():
    if not os.path.exists(turn):
        return True
    cell = store.get_item(1)
    cell.text = 'Zed'
    label = view.get_first_child().get_next_sibling().get_first_child().get_first_child()
    label.set_label('Zed')
    return False
def build(app):
    global view
    window = Gtk.ApplicationWindow(application=app, title='Row popovers', default_width=300, default_height=300)
    view = Gtk.ListView(model=Gtk.NoSelection(model=store), factory=factory)
    window.set_child(view)
    window.present()
    GLib.timeout_add(50, look)
app = Gtk.Application(application_id='org.example.RowPopovers')
app.connect('activate', build)
app.run([])
"#;

/// A popover inside a row of GTK 4, observed by itself: its place shows another item while it is open.
#[test]
fn popover_of_a_recycled_row_gtk4() {
    let desk = Desk::new();
    let (log, turn) = (desk.dir.path().join("removed"), desk.dir.path().join("turn"));
    let (log_arg, turn_arg) = (log.display().to_string(), turn.display().to_string());
    let _app = desk.launch(&["/usr/bin/python3", "-c", ROW_POPOVERS, &log_arg, &turn_arg], 15);
    let name = desk.ok(&["list-windows"])[0]["app_name"].as_str().expect("a name").to_owned();
    let window = || desk.ok(&["snapshot", "--app", &name, "--max-depth", "50"]);
    let removed = || std::fs::read_to_string(&log).unwrap_or_default();
    let data = window();
    // Of the button's two elements of one name the inner one can be pressed.
    let mores: Vec<&Value> = nodes(&data["tree"])
        .into_iter()
        .filter(|n| n["name"] == "More" && n["available_actions"].to_string().contains("Click"))
        .collect();
    assert_eq!(mores.len(), 3, "{data:#}");
    desk.ok(&["click", mores[1]["ref_id"].as_str().expect("a ref")]);
    let scope = ["--app", &name, "--surface", "popover"];
    let refs = wait_for("the row's popover", || {
        let seen = desk.cli(&[&["snapshot"], &scope[..]].concat());
        let found = desk.cli(&[&["find", "--name", "Remove", "--first"], &scope[..]].concat());
        let remove = refs_named(&(seen.code == 0).then(|| seen.data())?, "button", "Remove").pop()?;
        let found = (found.code == 0).then(|| found.data())?["match"]["ref_id"].as_str()?.to_owned();
        Some([remove, found])
    });
    std::fs::write(&turn, "").expect("the file");
    wait_for("the place to show another row", || {
        nodes(&window()["tree"]).iter().any(|n| n["name"] == "Zed").then_some(())
    });
    for old in &refs {
        let error = desk.err(&["click", old]);
        assert_eq!(
            (&error["code"], &error["details"]["kind"], &error["disposition"]["delivery"]),
            (&json!(STALE), &json!("context_changed"), &json!("not_delivered")),
            "{error}"
        );
    }
    assert_eq!(removed(), "");
    // The popover is open and works: it is the other row's.
    let fresh = desk.ok(&[&["snapshot"], &scope[..]].concat());
    desk.ok(&["click", &refs_named(&fresh, "button", "Remove")[0]]);
    wait_for("the press", || (removed() == "Zed\n").then_some(()));
}

/// A row that nothing touched stays reachable, although another one in the same list was recycled.
#[test]
fn unmoved_row_of_a_recycling_list_still_acts() {
    on(&["gtk4"], "recycled", |live| {
        let saved = beside(&live.snapshot(), "Person010", "button", "Delete").expect("a ref");
        live.fixture.control("insert_row 0 NewTop");
        let data = live.lands(&["click", &saved], &deleted("Person010"));
        assert_eq!(data["details"]["identity"], "witnessed");
    });
}

/// A check cell of a recycled table row.
#[test]
fn recycled_row_of_a_web_table() {
    on(&["chromium"], "table", |live| {
        let saved = beside(&live.snapshot(), "Person002", "checkbox", "Done").expect("a ref");
        live.fixture.control("scroll 10");
        wait_for("the table to have moved in the tree", || {
            let snapshot = live.snapshot();
            (beside(&snapshot, "Person002", "checkbox", "Done").is_none()).then_some(())
        });
        for action in ["check", "click", "toggle"] {
            live.refused(&[action, &saved], STALE, &["context_changed"]);
        }
    });
}

/// Only one row with such a button is left: unique then, unique now, and not ours.
#[test]
fn only_row_left() {
    on(&ALL, "twins", |live| {
        for (index, name) in [(0, "Alice"), (1, "Bob"), (2, "Carol")] {
            live.fixture.control(&format!("rename {index} {name}"));
        }
        let alice = wait_for("three names in the tree", || {
            let snapshot = live.snapshot();
            beside(&snapshot, "Carol", "button", "Open")?;
            beside(&snapshot, "Alice", "button", "Open")
        });
        live.fixture.control("remove_row 2");
        live.fixture.control("remove_row 0");
        let bob = wait_for("one row in the tree", || {
            let snapshot = live.snapshot();
            let left = refs_named(&snapshot, "button", "Open");
            if left.len() != 1 || beside(&snapshot, "Alice", "button", "Open").is_some() {
                None
            } else {
                left.first().cloned()
            }
        });
        live.refused(&["click", &alice], STALE, &["saved_ref_absent", "retained_object_stale", "context_changed"]);
        live.lands(&["click", &bob], &opened("r1", "Bob", 0));
    });
}

/// Rows of equal text: told by their address where it follows the row, refused where it does not.
#[test]
fn same_label_rows() {
    on(&ALL, "twins", |live| {
        let refs = refs_named(&live.snapshot(), "button", "Open");
        assert_eq!(refs.len(), 3, "{}", live.kind);
        for at in [2, 0, 1] {
            if live.is_web() {
                live.refused(&["click", &refs[at]], "AMBIGUOUS_TARGET", &["identity_not_unique"]);
            } else {
                live.lands(&["click", &refs[at]], &opened(&format!("r{at}"), "Invoice", at as u64));
            }
        }
        // A new row of the same text in front: the old refs don't slip.
        live.fixture.control("insert_row 0 Invoice");
        for at in [0, 2] {
            if live.is_web() {
                live.refused(&["click", &refs[at]], "AMBIGUOUS_TARGET", &["identity_not_unique"]);
            } else {
                live.lands(&["click", &refs[at]], &opened(&format!("r{at}"), "Invoice", at as u64 + 1));
            }
        }
    });
}

/// Another object of the same text in the same place.
#[test]
fn replaced_in_place() {
    on(&NATIVE, "twins", |live| {
        let refs = refs_named(&live.snapshot(), "button", "Open");
        live.fixture.control("replace_row 1 Invoice");
        live.refused(&["click", &refs[1]], STALE, &["saved_ref_absent", "retained_object_stale"]);
        live.lands(&["click", &refs[2]], &opened("r2", "Invoice", 2));
        // Qt lists children in the order in which they were made, not in which they stand.
        let new = if live.kind.starts_with("qt") { 2 } else { 1 };
        let now = refs_named(&live.snapshot(), "button", "Open");
        live.lands(&["click", &now[new]], &opened("r3", "Invoice", 1));
    });
}

/// The same in pages: the place keeps its node, so the text must tell.
#[test]
fn replaced_in_place_web() {
    on(&WEB, "recycled", |live| {
        let saved = beside(&live.snapshot(), "Person003", "button", "Delete").expect("a ref");
        live.fixture.control("replace_row 3 Replaced");
        let fresh = wait_for("the new row in the tree", || beside(&live.snapshot(), "Replaced", "button", "Delete"));
        live.refused(&["click", &saved], STALE, &["context_changed"]);
        live.lands(&["click", &fresh], &deleted("Replaced"));
    });
}

/// After a list changed, new snapshots number anew; the old numbers keep meaning the old elements.
#[test]
fn renumbered_refs() {
    on(&["gtk3", "gtk4"], "twins", |live| {
        let old = refs_named(&live.snapshot(), "button", "Open");
        live.fixture.control("insert_row 0 First");
        let new = refs_named(&live.snapshot(), "button", "Open");
        let number = |r: &str| r.rsplit_once(":e").expect("a ref").1.to_owned();
        assert_eq!(number(&old[0]), number(&new[0]), "the same number, another row");
        live.lands(&["click", &old[0]], &opened("r0", "Invoice", 1));
        live.lands(&["click", &new[0]], &opened("r3", "First", 0));
        live.fixture.control("remove_row 1");
        live.refused(&["click", &old[0]], STALE, &["saved_ref_absent", "retained_object_stale"]);
        live.lands(&["click", &old[1]], &opened("r1", "Invoice", 1));
    });
}

/// Where the address follows the row, a saved ref goes on working wherever the row went.
#[test]
fn saved_ref_follows_its_row() {
    on(&["gtk3"], "recycled", |live| {
        let saved = beside(&live.snapshot(), "Person003", "button", "Delete").expect("a ref");
        live.fixture.control("insert_row 0 NewTop");
        live.lands(&["click", &saved], &deleted("Person003"));
        live.fixture.control("sort desc");
        live.lands(&["click", &saved], &deleted("Person003"));
    });
}

/// Qt's cells keep their address when a row is inserted, and lose it when the list is sorted.
#[test]
fn sorted_qt_rows() {
    on(&["qt5", "qt6"], "recycled", |live| {
        let saved = beside(&live.snapshot(), "Person003", "cell", "Delete").expect("a ref");
        live.fixture.control("insert_row 0 NewTop");
        live.lands(&["click", &saved], &deleted("Person003"));
        live.fixture.control("sort desc");
        live.refused(&["click", &saved], STALE, &["saved_ref_absent"]);
    });
}

#[test]
fn navigated_away() {
    on(&WEB, "twins", |live| {
        let saved = refs_named(&live.snapshot(), "button", "Submit");
        live.fixture.control("navigate twins");
        let fresh = wait_for("the new page's buttons", || {
            let now = refs_named(&live.snapshot(), "button", "Submit");
            let gone = live.desk.cli(&["get", &saved[0]]).code != 0;
            (now.len() == 2 && gone).then_some(now)
        });
        for saved in &saved {
            live.refused(&["click", saved], STALE, &["saved_ref_absent", "retained_object_stale"]);
        }
        live.lands(&["click", &fresh[0]], &clicked("submit1"));
    });
}

/// Dialog A's only OK is gone, dialog B has one.
#[test]
fn dialog_replaced() {
    on(&ALL, "dialogs", |live| {
        let shown = |name: &str| {
            if live.is_web() {
                live.only("button", "OK")
            } else {
                let snapshot = live.snapshot_of(&format!("Dialog {name}"));
                let ok = refs_named(&snapshot, "button", "OK");
                assert_eq!(ok.len(), 1, "{}: {snapshot}", live.kind);
                ok[0].clone()
            }
        };
        live.fixture.control("show_dialog A");
        let a = shown("A");
        live.fixture.control("replace_dialog B");
        if live.is_web() {
            wait_for("dialog A to leave the tree", || (live.desk.cli(&["get", &a]).code != 0).then_some(()));
        }
        live.refused(&["click", &a], STALE, &["saved_ref_absent", "retained_object_stale"]);
        let b = shown("B");
        live.lands(&["click", &b], &clicked("dialog_b_ok"));
    });
}

/// GTK 4 keeps objects of closed dialogs that answer everything: the chain tells.
#[test]
fn orphan_of_a_closed_dialog() {
    on(&["gtk4"], "dialogs", |live| {
        live.fixture.control("show_dialog A");
        let saved = refs_named(&live.snapshot_of("Dialog A"), "button", "OK");
        let tree = live.desk.walk(live.fixture.pid, &[]);
        let bus = tree["application"]["bus"].as_str().expect("a bus").to_owned();
        let address = live.oracle_rows("OK")[0].0.clone();
        live.fixture.control("close_dialog");
        assert_eq!(live.oracle_node(&bus, &address)["name"], "OK", "the orphan still answers, or this tests nothing");
        live.refused(&["click", &saved[0]], STALE, &["retained_object_stale"]);
        live.refused(&["get", &saved[0]], STALE, &["retained_object_stale"]);
    });
}

#[test]
fn next_on_next_page() {
    on(&ALL, "dialogs", |live| {
        let snapshot = live.snapshot();
        let next = refs_named(&snapshot, "button", "Next").remove(0);
        let onward = refs_named(&snapshot, "button", "Continue").remove(0);
        // Every page has a Continue of its own.
        live.lands(&["click", &onward], &clicked("continue1"));
        if live.is_web() {
            wait_for("page 1 to leave the tree", || (live.desk.cli(&["get", &onward]).code != 0).then_some(()));
        }
        assert_eq!(live.fixture.state()["fields"]["page"], 2);
        live.refused(&["click", &onward], STALE, &["saved_ref_absent", "retained_object_stale"]);
        // One button, other label: Next, Next, Install.
        let step = |n: u64| json!({"event": "clicked", "id": "next", "value": format!("step{n}")});
        if live.is_web() {
            // In a page the text beside a node is part of what it is: where that says another step, a new look is due.
            let look = |name: &str, step: &str| {
                wait_for(&format!("{step} in the tree"), || beside(&live.snapshot(), step, "button", name))
            };
            live.lands(&["click", &look("Next", "Step 1 of 3")], &step(1));
            let next = look("Next", "Step 2 of 3");
            live.lands(&["click", &next], &step(2));
            let install = look("Install", "Step 3 of 3");
            live.refused(&["click", &next], STALE, &["label_changed", "context_changed"]);
            live.lands(&["click", &install], &step(3));
            return;
        }
        live.lands(&["click", &next], &step(1));
        live.lands(&["click", &next], &step(2));
        let error = live.refused(&["click", &next], STALE, &["label_changed"]);
        assert_eq!(error["details"]["renamed"], json!({"was": "Next", "now": "Install"}));
        let install = live.only("button", "Install");
        live.lands(&["click", &install], &step(3));
    });
}

#[test]
fn label_changes_with_state() {
    on(&ALL, "controls", |live| {
        let play = live.only("button", "Play");
        live.lands(&["click", &play], &json!({"event": "clicked", "id": "play", "value": "Pause"}));
        live.only("button", "Pause");
        let data = live.desk.ok(&["get", &play, "--property", "title"]);
        assert_eq!(data["value"], "Pause", "{data}");
        assert_eq!(data["details"]["renamed"], json!({"was": "Play", "now": "Pause"}), "{data}");
        let data = live.desk.ok(&["is", &play, "--property", "enabled"]);
        assert_eq!((&data["result"], &data["details"]["renamed"]["now"]), (&json!(true), &json!("Pause")), "{data}");
        let data = live.desk.ok(&["wait", "--element", &play, "--predicate", "exists", "--timeout", "5000"]);
        assert_eq!(data["found"], true, "{data}");
        let error = live.refused(&["click", &play], STALE, &["label_changed"]);
        assert_eq!(error["details"]["renamed"], json!({"was": "Play", "now": "Pause"}));
        live.lands(
            &["click", &live.only("button", "Pause")],
            &json!({"event": "clicked", "id": "play", "value": "Play"}),
        );
    });
}

/// Bus names and paths repeat on every desktop: refs don't cross.
#[test]
fn other_desktop_same_address() {
    let (here, there) = (Desk::new(), Desk::new());
    let one = Live::start(&here, "gtk3", "controls");
    let other = Live::start(&there, "gtk3", "controls");
    let (saved, _) = (one.only("button", "Save"), other.only("button", "Save"));
    let save = |live: &Live<'_>| live.oracle_rows("Save")[0].0.clone();
    assert_eq!(save(&one), save(&other), "the same address on both, or this tests nothing");
    let home = here.dir.path().join("state").display().to_string();
    let crossed = [("AGENT_DESKTOP_HOME", home.as_str())];
    for args in [&["click", &saved][..], &["get", &saved], &["is", &saved], &["wait", "--element", &saved]] {
        let error = there.cli_with(args, &crossed, None).error();
        assert_eq!(
            (&error["code"], &error["details"]["kind"]),
            (&json!("SNAPSHOT_NOT_FOUND"), &json!("desktop_mismatch")),
            "{args:?}: {error}"
        );
    }
    assert!(other.landed().is_empty() && one.landed().is_empty());
    one.lands(&["click", &saved], &clicked("save"));
}

/// A process of the same name in the same place is another process.
#[test]
fn restarted_application() {
    let desk = Desk::new();
    let saved = {
        let first = Live::start(&desk, "gtk3", "controls");
        let saved = first.only("button", "Save");
        first.fixture.control("quit");
        saved
    };
    let second = Live::with(&desk, "gtk3", "controls", &["--title", "Fixture controls"]);
    second.refused(&["click", &saved], STALE, &["saved_ref_absent"]);
    assert!(!nodes(&second.snapshot()["tree"]).is_empty());
}
