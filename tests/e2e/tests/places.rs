//! Where elements are on the screen: the oracle is what a real pointer of xdotool hits there, and what the application
//! wrote down of it. GTK 4 counts from the window, and says neither the border that it draws without a compositor nor
//! where its popovers are.

use agent_desktop_e2e::{Desk, Fixture, refs_named, wait_for};
use serde_json::Value;

const MANAGERS: [&str; 2] = ["openbox", "xfwm4-composited"];

/// A rectangle of the screen in whole pixels: x, y, width, height.
type Area = [i64; 4];

fn area(value: &Value) -> Area {
    ["x", "y", "width", "height"].map(|k| value[k].as_f64().unwrap_or_else(|| panic!("{k} of {value}")) as i64)
}

fn bounds(desk: &Desk, reference: &str) -> Area {
    area(&desk.ok(&["get", reference, "--property", "bounds"])["value"])
}

fn xdotool(desk: &Desk, args: &[&str]) -> String {
    let out = desk.command("xdotool").args(args).output().expect("xdotool runs");
    assert!(out.status.success(), "xdotool {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// Colours of a line of pixels of the screen, three bytes each.
fn pixels(desk: &Desk, [x, y, width, height]: Area) -> Vec<[u8; 3]> {
    let crop = format!("{width}x{height}+{x}+{y}");
    let args = ["-window", "root", "-crop", &crop, "-depth", "8", "rgb:-"];
    let out = desk.command("import").args(args).output().expect("import runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let all: Vec<[u8; 3]> = out.stdout.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    assert_eq!(all.len() as i64, width * height, "{crop}");
    all
}

/// How far what is drawn goes beyond both ends of the middle part of a line, which has `around` pixels more on each side.
fn margins(line: &[[u8; 3]], around: usize) -> (usize, usize) {
    let inside = line[around];
    let before = line[..around].iter().rev().take_while(|c| **c == inside).count();
    let after = line[line.len() - around..].iter().take_while(|c| **c == inside).count();
    (before, after)
}

/// The button is drawn around the place that is said: as far beyond it to the left as to the right, above as below.
fn drawn_around(desk: &Desk, [x, y, width, height]: Area, what: &str) {
    const AROUND: i64 = 12;
    // Beside the label in the middle, and far enough from the round corners.
    let row = pixels(desk, [x - AROUND, y + 4, width + 2 * AROUND, 1]);
    let column = pixels(desk, [x + 4, y - AROUND, 1, height + 2 * AROUND]);
    for (line, way) in [(row, "across"), (column, "down")] {
        let (before, after) = margins(&line, AROUND as usize);
        assert!(before < AROUND as usize && after < AROUND as usize, "{what}, {way}: no edge: {line:?}");
        assert!(before.abs_diff(after) <= 1, "{what}, {way}: {before} before and {after} after");
    }
}

fn named(desk: &Desk, app: &str, role: &str, name: &str) -> String {
    let snapshot = desk.ok(&["snapshot", "--app", app, "--timeout-ms", "20000"]);
    refs_named(&snapshot, role, name).first().unwrap_or_else(|| panic!("{name} in {snapshot}")).clone()
}

/// With the border that GTK 4 draws without a compositor, with the shadow that it draws with one, and maximised.
#[test]
fn buttons_of_a_window_that_draws_its_own_frame() {
    for manager in MANAGERS {
        let desk = Desk::with(&["-w", manager]);
        let _app = desk.launch(&["gnome-calculator"], 40);
        xdotool(&desk, &["mousemove", "1270", "10"]);
        let seven = || bounds(&desk, &named(&desk, "gnome-calculator", "button", "7"));
        let place = seven();
        drawn_around(&desk, place, manager);
        desk.ok(&["maximize", "--app", "gnome-calculator"]);
        let larger = wait_for("the button to have its place in the maximised window", || {
            let (now, then) = (seven(), seven());
            (now != place && now == then).then_some(now)
        });
        drawn_around(&desk, larger, &format!("{manager}, maximised"));
    }
}

/// A popover is a window of its own, beside the place that the toolkit counts from.
#[test]
fn entries_of_an_open_menu() {
    for manager in MANAGERS {
        let desk = Desk::with(&["-w", manager]);
        let fixture = Fixture::start(&desk, "gtk4", "menus", &[]);
        let chosen = || -> Vec<String> {
            fixture.received("menu").iter().map(|l| l["id"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let button = named(&desk, "fixture-gtk4", "button", "Edit menu");
        let open = |entry: &str| -> String {
            desk.ok(&["--headed", "click", &button]);
            let menu = wait_for("the menu", || {
                let mut said = desk.cli(&["snapshot", "--app", "fixture-gtk4", "--surface", "menu"]).envelope();
                (said["ok"] == true).then(|| said["data"].take())
            });
            refs_named(&menu, "menuitem", entry).first().unwrap_or_else(|| panic!("{entry} in {menu}")).clone()
        };
        let mut expected = Vec::new();
        for (entry, id) in [("Cut", "cut"), ("Copy", "copy")] {
            let reference = open(entry);
            let data = desk.ok(&["--headed", "click", &reference]);
            expected.push(id.to_owned());
            wait_for(&format!("{id} under {manager}: {data}"), || (chosen() == expected).then_some(()));
        }
        // The edges of the lower entry, and the entry above it where its own place is.
        for (entry, down, id) in [("Copy", 0, "copy"), ("Copy", 1, "copy"), ("Cut", 0, "cut"), ("Cut", 1, "cut")] {
            let [x, y, width, height] = bounds(&desk, &open(entry));
            let y = if down == 0 { y } else { y + height - 1 };
            let x = if down == 0 { x } else { x + width - 1 };
            xdotool(&desk, &["mousemove", &(x - 1).to_string(), &y.to_string()]);
            xdotool(&desk, &["mousemove", &x.to_string(), &y.to_string(), "click", "1"]);
            expected.push(id.to_owned());
            wait_for(&format!("{id} at {x},{y} under {manager}"), || (chosen() == expected).then_some(()));
        }
    }
}
