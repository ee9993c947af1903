//! Applications that nobody here wrote, held against a raw walk without any cache.

mod common;

use agent_desktop_e2e::{Desk, Oracle, nodes, refs_named, steady, wait_for};
use common::is_read_as_it_is;

/// Starts an application in a desktop of its own and asks everything.
fn whole_loop(argv: &[&str], app: &str, nodes: usize) {
    let desk = Desk::new();
    let running = desk.launch(argv, nodes);
    is_read_as_it_is(&desk, &running, app, nodes);
}

#[test]
fn gtk3_widget_factory_is_read_as_it_is() {
    whole_loop(&["gtk3-widget-factory"], "gtk3-widget-factory", 200);
}

#[test]
fn mousepad_is_read_as_it_is() {
    whole_loop(&["mousepad"], "mousepad", 200);
}

#[test]
fn gtk4_widget_factory_is_read_as_it_is() {
    whole_loop(&["gtk4-widget-factory"], "gtk4-widget-factory", 500);
}

#[test]
fn gnome_calculator_is_read_as_it_is() {
    whole_loop(&["gnome-calculator"], "gnome-calculator", 60);
}

#[test]
fn gnome_text_editor_is_read_as_it_is() {
    whole_loop(&["gnome-text-editor", "--standalone"], "gnome-text-editor", 60);
}

#[test]
fn kcalc_is_read_as_it_is() {
    whole_loop(&["kcalc"], "kcalc", 150);
}

#[test]
fn qt6ct_is_read_as_it_is() {
    whole_loop(&["qt6ct"], "qt6ct", 100);
}

/// Objects below a path of the application's own, as GTK 4 makes them.
#[test]
fn gtk4_object_paths() {
    let desk = Desk::new();
    let app = desk.launch(&["gnome-calculator"], 60);
    let (oracle, data) = steady(&desk, app.pid(), "gnome-calculator", &["--max-depth", "50"]);
    assert!(oracle.all().all(|n| n["path"].as_str().is_some_and(|p| p.starts_with("/org/gnome/Calculator/a11y/"))));
    let all = nodes(&data["tree"]);
    assert!(all.len() > 60);
    assert!(all.iter().all(|n| n["role"] != "unknown"), "{data}");
    let seven = refs_named(&data, "button", "7");
    assert_eq!(seven.len(), 1);
    assert_eq!(desk.ok(&["get", &seven[0], "--property", "title"])["value"], "7");
}

/// Items of a closed menu are marked; those of an open one are not, and can be listed alone.
#[test]
fn menu_closed_but_listed() {
    let desk = Desk::new();
    let app = desk.launch(&["mousepad"], 200);
    let (_, data) = steady(&desk, app.pid(), "mousepad", &["--max-depth", "50"]);
    let items = |data: &serde_json::Value, offscreen: bool| {
        let marked = |n: &serde_json::Value| n["states"].as_array().is_some_and(|s| s.iter().any(|s| s == "offscreen"));
        let of_menu = |n: &&serde_json::Value| n["role"] == "menuitem" && marked(n) == offscreen;
        nodes(&data["tree"])
            .into_iter()
            .filter(of_menu)
            .filter_map(|n| n["name"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let bar = ["File", "Edit", "Search", "View", "Document", "Help"];
    assert_eq!(items(&data, false), bar, "only the bar's own are on screen");
    assert!(items(&data, true).len() > 100);
    let surfaces = desk.ok(&["list-surfaces", "--app", "mousepad"]);
    assert!(!surfaces.to_string().contains("\"menu\""), "no menu is open: {surfaces}");

    let help = refs_named(&data, "menuitem", "Help");
    desk.ok(&["click", &help[0]]);
    let open = wait_for("the open menu's items on screen", || {
        let data = desk.ok(&["snapshot", "--app", "mousepad", "--max-depth", "50"]);
        let seen = items(&data, false);
        seen.iter().any(|n| n == "About").then_some(seen)
    });
    assert!(open.iter().any(|n| n == "Contents"), "{open:?}");
    let menu = desk.ok(&["snapshot", "--app", "mousepad", "--surface", "menu"]);
    let listed: Vec<_> = nodes(&menu["tree"]).into_iter().filter_map(|n| n["name"].as_str()).collect();
    assert!(listed.contains(&"About") && !listed.contains(&"Undo"), "{listed:?}");
}

/// A tree that was cut says so, and what it lacks isn't called absent.
#[test]
fn truncated_read_as_absent() {
    let desk = Desk::new();
    let app = desk.launch(&["gtk4-widget-factory"], 500);
    let (_, whole) = steady(&desk, app.pid(), "gtk4-widget-factory", &["--max-depth", "50"]);
    let total = nodes(&whole["tree"]).len();
    let mut cut = 0;
    for ms in [0, 1, 2, 5, 10, 20, 40, 80] {
        let ms = ms.to_string();
        let envelope = desk
            .cli(&["snapshot", "--app", "gtk4-widget-factory", "--max-depth", "50", "--timeout-ms", &ms])
            .envelope();
        let data = &envelope["data"];
        if envelope["ok"] == true {
            let printed = nodes(&data["tree"]).len();
            let unread = nodes(&data["tree"]).iter().any(|n| n.get("unread").is_some());
            if printed < total || unread {
                cut += 1;
                assert_eq!(data["complete"], false, "{printed} of {total} within {ms} ms");
                assert_eq!(data["truncated"], true);
                assert!(nodes(&data["tree"]).iter().any(|n| n["subtree_truncated"] == true) || unread);
            }
        } else {
            cut += 1;
            assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{envelope}");
        }
        let find = ["find", "--app", "gtk4-widget-factory", "--role", "slider", "--timeout-ms", &ms];
        let envelope = desk.cli(&find).envelope();
        if envelope["ok"] == true {
            assert!(!envelope["data"]["matches"].as_array().expect("matches").is_empty(), "{ms} ms: {envelope}");
        } else {
            let code = envelope["error"]["code"].as_str().expect("a code");
            assert!(["TIMEOUT", "APP_UNRESPONSIVE", "WINDOW_NOT_FOUND"].contains(&code), "{ms} ms: {envelope}");
            assert_ne!(code, "ELEMENT_NOT_FOUND");
        }
    }
    assert!(cut > 0, "nothing was ever cut: the test shows nothing");
}

/// No sentinel is printed as a place, and what is printed is where the X server has it.
#[test]
fn sentinel_bounds() {
    let desk = Desk::new();
    for (argv, app, nodes_at_least) in [
        (&["gtk3-widget-factory"][..], "gtk3-widget-factory", 200),
        (&["gtk4-widget-factory"], "gtk4-widget-factory", 500),
        (&["kcalc"], "kcalc", 150),
        (&["qt6ct"], "qt6ct", 100),
    ] {
        let running = desk.launch(argv, nodes_at_least);
        desk.ok(&["list-windows"]);
        let (oracle, data) = steady(&desk, running.pid(), app, &["--max-depth", "50", "--include-bounds"]);
        let (x, y, width, height) = client_area(&desk, running.pid());
        let mut seen = 0;
        for (at, node) in oracle.pairs(&data["tree"]) {
            let Some(bounds) = node["bounds"].as_object() else { continue };
            let number = |field: &str| bounds[field].as_f64().expect("a number");
            let (bx, by, bw, bh) = (number("x"), number("y"), number("width"), number("height"));
            assert!(bw > 0.0 && bh > 0.0 && bx > -100_000.0 && by > -100_000.0, "{app}: {node}");
            assert!((bx, by) != (-1.0, -1.0), "{app}: {node}");
            let showing = oracle.node(at)["states"].as_array().is_some_and(|s| s.iter().any(|s| s == "showing"));
            let hidden = node["states"].as_array().is_some_and(|s| s.iter().any(|s| s == "hidden" || s == "offscreen"));
            if (showing || app == "gtk4-widget-factory") && !hidden && node["role"] == "button" {
                seen += 1;
                // Half a widget may be scrolled out; all of it would be hidden or offscreen.
                let inside = bx < x + width && by < y + height && bx + bw > x && by + bh > y;
                assert!(inside, "{app}: {node} lies outside the window {x},{y} {width}x{height}");
            }
        }
        assert!(seen > 5, "{app}: {seen} buttons with bounds: the test shows nothing");
        let root = &data["tree"]["bounds"];
        let near = |field: &str, truth: f64| (root[field].as_f64().expect("the window's bounds") - truth).abs() <= 40.0;
        assert!(near("x", x) && near("y", y), "{app}: {root} against the X server's {x},{y}");
    }
}

/// The client area of a process's only window, by the X server's own tools.
fn client_area(desk: &Desk, pid: u32) -> (f64, f64, f64, f64) {
    let list = desk.command("/usr/bin/wmctrl").arg("-lp").output().expect("wmctrl");
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let id = list
        .lines()
        .find(|l| l.split_whitespace().nth(2) == Some(&pid.to_string()))
        .and_then(|l| l.split_whitespace().next())
        .unwrap_or_else(|| panic!("no window of {pid} in {list}"));
    let info = desk.command("/usr/bin/xwininfo").args(["-id", id]).output().expect("xwininfo");
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    let number = |label: &str| {
        let line = info.lines().find_map(|l| l.trim().strip_prefix(label));
        line.and_then(|l| l.trim().parse::<f64>().ok()).unwrap_or_else(|| panic!("no {label} in {info}"))
    };
    (number("Absolute upper-left X:"), number("Absolute upper-left Y:"), number("Width:"), number("Height:"))
}

/// A just started application is waited for.
#[test]
fn first_read_too_early() {
    for (program, app) in
        [("gnome-calculator", "gnome-calculator"), ("mousepad", "mousepad"), ("kcalc", "kcalc"), ("qt6ct", "qt6ct")]
    {
        let desk = Desk::new();
        let launched = desk.ok(&["launch", program]);
        let data = desk.ok(&["snapshot", "--app", app]);
        assert!(data["ref_count"].as_u64().is_some_and(|n| n > 5), "{launched} {data}");
        let id = data["window"]["id"].as_str().expect("a window id");
        let pid = launched["pid"]
            .as_u64()
            .or_else(|| launched["process"]["pid"].as_u64())
            .unwrap_or_else(|| panic!("{launched}"));
        assert!(Oracle::window(&desk.walk(pid as u32, &["--by-place"]), id).count() > 5);
    }
}
