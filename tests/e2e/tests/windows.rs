//! Windows and displays, against xwininfo, xprop, xdotool, wmctrl and xrandr. One run for each window manager.

use agent_desktop_e2e::{App, Desk, Reply, repo, wait_for};
use serde_json::Value;
use std::time::Duration;

/// Window managers that are tried.
const MANAGERS: [&str; 3] = ["openbox", "xfwm4", "mutter"];
/// What a machine under load may add to a time limit; a hang exceeds it.
const SLACK: Duration = Duration::from_secs(20);

/// A place and a size: x, y, width, height.
type Place = [i64; 4];

/// A desktop with its independent witnesses.
struct Screen {
    desk: Desk,
    wm: &'static str,
}

impl Screen {
    fn new(wm: &'static str) -> Self {
        Self { desk: Desk::with(&["-w", wm]), wm }
    }

    fn tool(&self, program: &str, args: &[&str]) -> String {
        let out = self.desk.command(program).args(args).output().unwrap_or_else(|e| panic!("{program}: {e}"));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// The X11 clients with this title, the oldest first.
    fn clients(&self, title: &str) -> Vec<u32> {
        let listed = self.tool("wmctrl", &["-l"]);
        let of = |line: &str| {
            let id = u32::from_str_radix(line.split(' ').next()?.trim_start_matches("0x"), 16).ok()?;
            line.ends_with(&format!(" {title}")).then_some(id)
        };
        listed.lines().filter_map(of).collect()
    }

    fn client(&self, title: &str) -> u32 {
        wait_for(&format!("{title} is managed by {}", self.wm), || match self.clients(title)[..] {
            [one] => Some(one),
            _ => None,
        })
    }

    fn property(&self, client: u32, name: &str) -> String {
        self.tool("xprop", &["-id", &client.to_string(), name])
    }

    /// What looks like the window: the client without the shadow that GTK draws.
    fn place(&self, client: u32) -> Place {
        let text = self.tool("xwininfo", &["-id", &client.to_string()]);
        let number = |label: &str| -> i64 {
            let rest = text.split(label).nth(1).unwrap_or_else(|| panic!("{label} in {text}"));
            rest.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{label} in {text}"))
        };
        let shadow = self.property(client, "_GTK_FRAME_EXTENTS");
        let shadow: Vec<i64> =
            shadow.split('=').nth(1).unwrap_or("").split(',').filter_map(|n| n.trim().parse().ok()).collect();
        let [left, right, top, bottom] = shadow[..] else {
            return [
                number("Absolute upper-left X:"),
                number("Absolute upper-left Y:"),
                number("Width:"),
                number("Height:"),
            ];
        };
        [
            number("Absolute upper-left X:") + left,
            number("Absolute upper-left Y:") + top,
            number("Width:") - left - right,
            number("Height:") - top - bottom,
        ]
    }

    fn has_state(&self, client: u32, name: &str) -> bool {
        self.property(client, "_NET_WM_STATE").contains(name)
    }

    fn is_iconic(&self, client: u32) -> bool {
        self.property(client, "WM_STATE").contains("Iconic")
    }

    fn is_maximized(&self, client: u32) -> bool {
        self.has_state(client, "_NET_WM_STATE_MAXIMIZED_VERT") && self.has_state(client, "_NET_WM_STATE_MAXIMIZED_HORZ")
    }

    fn active(&self) -> Option<u32> {
        self.tool("xdotool", &["getactivewindow"]).trim().parse().ok()
    }

    /// Makes another window the active one, by another tool.
    fn activate(&self, client: u32) {
        wait_for("another window is active", || {
            self.tool("xdotool", &["windowactivate", &client.to_string()]);
            std::thread::sleep(Duration::from_millis(100));
            (self.active() == Some(client)).then_some(())
        });
    }

    /// Starts plain windows of a toolkit.
    fn windows(&self, toolkit: &str, title: &str, extra: &[&str]) -> App {
        let script = repo().join("tests/fixtures/window.py");
        let ready = self.desk.dir.path().join(format!("{title}.ready"));
        let mut args = vec![script.to_str().expect("UTF-8"), toolkit, "--title", title];
        args.extend(["--ready", ready.to_str().expect("UTF-8")]);
        args.extend(extra);
        let app = self.desk.spawn("/usr/bin/python3", &args);
        wait_for(&format!("the window of {toolkit}"), || ready.exists().then_some(()));
        app
    }

    fn xterm(&self, title: &str) -> App {
        let app =
            self.desk.spawn("/usr/bin/xterm", &["-T", title, "-geometry", "40x10+300+200", "-e", "sleep", "1000"]);
        self.client(title);
        app
    }

    /// The one row of list-windows with this title.
    fn row(&self, title: &str) -> Value {
        wait_for(&format!("a row of {title}"), || {
            let rows = self.desk.ok(&["list-windows"]);
            let mut rows = rows.as_array().expect("rows").iter().filter(|w| w["title"] == title);
            let row = rows.next().cloned();
            row.filter(|_| rows.next().is_none())
        })
    }

    fn id(&self, title: &str) -> String {
        self.row(title)["id"].as_str().expect("an id").to_owned()
    }

    /// A command on the window with this title that must be verified.
    fn verified(&self, command: &str, id: &str, more: &[&str]) -> Value {
        let reply = self.run(command, id, more);
        let data = reply.data();
        assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{} {command}: {data}", self.wm);
        assert_eq!(data["steps"][0]["verified"], true, "{data}");
        assert_eq!(data["target"]["kind"], "window", "{data}");
        assert_eq!(data["target"]["id"], id, "{data}");
        data
    }

    fn run(&self, command: &str, id: &str, more: &[&str]) -> Reply {
        let args: Vec<&str> = [command, "--window-id", id].into_iter().chain(more.iter().copied()).collect();
        self.desk.cli(&args)
    }

    fn refused(&self, command: &str, id: &str, more: &[&str], kind: &str) -> Value {
        let error = self.run(command, id, more).error();
        assert_eq!(error["details"]["kind"], kind, "{} {command}: {error}", self.wm);
        error
    }
}

fn bounds(value: &Value) -> Place {
    ["x", "y", "width", "height"].map(|k| value["bounds"][k].as_f64().unwrap_or_else(|| panic!("{value}")) as i64)
}

/// Everything that can be asked for one window, each answer held against the witnesses.
fn all_six(screen: &Screen, title: &str, other: u32, size: [i64; 2]) {
    let [width, height] = size.map(|n| n.to_string());
    let sized = ["--width", width.as_str(), "--height", height.as_str()];
    let client = screen.client(title);
    let id = screen.id(title);
    let wm = screen.wm;

    // To a place that is certainly another one, below panels and title bars.
    let moved = screen.verified("move-window", &id, &["--x", "210", "--y", "160"]);
    assert_eq!(screen.place(client)[..2], [210, 160], "{wm} {title}: {moved}");
    assert_eq!(bounds(&moved["observed"])[..2], [210, 160]);

    let before = screen.place(client);
    let resized = screen.verified("resize-window", &id, &sized);
    assert_eq!(screen.place(client), [before[0], before[1], size[0], size[1]], "{wm} {title}: {resized}");
    assert_eq!(bounds(&screen.row(title)), screen.place(client), "{wm} {title}: list-windows and xwininfo");

    let again = screen.run("resize-window", &id, &sized).data();
    assert_eq!(again["disposition"]["delivery"], "not_delivered", "{again}");
    assert_eq!(again["details"]["already_satisfied"], true, "{again}");
    assert!(again.get("steps").is_none(), "{again}");

    screen.verified("minimize", &id, &[]);
    assert!(screen.is_iconic(client), "{wm} {title}: {}", screen.property(client, "WM_STATE"));
    let row = screen.row(title);
    assert!(row["minimized"] == true && row["visible"] == false, "{row}");
    // What nobody sees has neither place nor size that could be verified.
    let hidden = screen.run("minimize", &id, &[]).data();
    assert_eq!(hidden["details"]["already_satisfied"], true, "{hidden}");

    let restored = screen.verified("restore", &id, &[]);
    assert!(!screen.is_iconic(client), "{wm} {title}: {restored}");
    assert_eq!(screen.place(client)[2..], size, "{wm} {title}: {restored}");

    screen.verified("maximize", &id, &[]);
    assert!(screen.is_maximized(client), "{wm} {title}");
    assert_eq!(screen.row(title)["maximized"], true);
    screen.verified("restore", &id, &[]);
    assert!(!screen.is_maximized(client), "{wm} {title}");

    // Maximized out of the icon, and restored from full screen.
    screen.verified("minimize", &id, &[]);
    screen.verified("maximize", &id, &[]);
    assert!(screen.is_maximized(client) && !screen.is_iconic(client), "{wm} {title}");
    screen.verified("restore", &id, &[]);
    screen.tool("wmctrl", &["-i", "-r", &client.to_string(), "-b", "add,fullscreen"]);
    wait_for("full screen", || screen.has_state(client, "_NET_WM_STATE_FULLSCREEN").then_some(()));
    screen.verified("restore", &id, &[]);
    assert!(!screen.has_state(client, "_NET_WM_STATE_FULLSCREEN"), "{wm} {title}");

    screen.activate(other);
    let focused = screen.run("focus-window", &id, &[]).data();
    assert_eq!(screen.active(), Some(client), "{wm} {title}: {focused}");
    assert_eq!(focused["focused"]["id"], *id, "{focused}");
    assert_eq!(focused["focused"]["is_focused"], true, "{focused}");
    assert_eq!(focused["disposition"]["delivery"], "delivered_verified", "{focused}");
    let again = screen.run("focus-window", &id, &[]).data();
    assert_eq!(again["disposition"]["delivery"], "not_delivered", "{again}");
    // Out of the icon to the front.
    screen.verified("minimize", &id, &[]);
    screen.activate(other);
    screen.run("focus-window", &id, &[]).data();
    assert_eq!(screen.active(), Some(client), "{wm} {title}");
}

fn every_toolkit(wm: &'static str) {
    let screen = Screen::new(wm);
    let _other = screen.xterm("Bystander");
    let other = screen.client("Bystander");
    let place = screen.place(other);
    for (toolkit, title, extra) in [
        ("gtk3", "Server frame", &[][..]),
        ("gtk3", "Client frame", &["--csd"]),
        ("gtk4", "Fourth", &[]),
        ("qt6", "Cute", &[]),
    ] {
        let app = screen.windows(toolkit, title, extra);
        all_six(&screen, title, other, [520, 410]);
        drop(app);
    }
    assert_eq!(screen.place(other), place, "{wm}: nobody touched the bystander");
}

#[test]
fn every_toolkit_under_openbox() {
    every_toolkit("openbox");
}

#[test]
fn every_toolkit_under_xfwm4() {
    every_toolkit("xfwm4");
}

#[test]
fn every_toolkit_under_mutter() {
    every_toolkit("mutter");
}

/// A window that publishes no accessibility element is listed, says so, and takes all commands.
#[test]
fn windows_without_a_tree() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _other = screen.windows("gtk3", "Other", &[]);
        let other = screen.client("Other");
        let app = screen.xterm("Terminal");
        let row = screen.row("Terminal");
        assert_eq!(row["accessible"], false, "{row}");
        assert!(row["reason"].as_str().is_some_and(|r| r.contains("no accessibility tree")), "{row}");
        assert_eq!(row["pid"], app.pid(), "{row}");
        // Whole characters.
        all_six(&screen, "Terminal", other, [484, 394]);
        let error = screen.desk.err(&["snapshot", "--window-id", row["id"].as_str().expect("an id")]);
        assert_eq!(error["details"]["kind"], "window_without_accessibility_element", "{error}");
    }
}

/// A window that takes no keyboard (ICCCM "No Input") is in front only where the server says that it has the keyboard.
#[test]
fn a_window_without_input_is_not_called_focused() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _other = screen.windows("gtk3", "Other", &[]);
        let _app = screen.desk.spawn("/usr/bin/xclock", &["-geometry", "200x200+300+200", "-title", "Clock"]);
        let client = screen.client("Clock");
        let hints = screen.property(client, "WM_HINTS");
        assert!(hints.contains("Client accepts input or input focus: False"), "{hints}");
        screen.activate(screen.client("Other"));
        let answer = screen.run("focus-window", &screen.id("Clock"), &[]).envelope();
        let focus: Option<u32> = screen.tool("xdotool", &["getwindowfocus", "-f"]).trim().parse().ok();
        assert_eq!(answer["ok"] == true, focus == Some(client), "{wm}: {answer}");
        if answer["ok"] == false {
            let error = &answer["error"];
            assert_eq!(error["details"]["kind"], "window_not_focused", "{wm}: {error}");
            assert_eq!(error["disposition"]["delivery"], "delivered_unverified", "{wm}: {error}");
        }
        eprintln!("{wm}: a window without input: focus-window ok: {}", answer["ok"]);
    }
}

/// What the window manager or the application's hints don't allow is an error with both sides, and is not repeated blindly.
#[test]
fn refusals_say_what_is_there() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _fixed = screen.windows("gtk3", "Fixed", &["--fixed", "--size", "300x200"]);
        let (client, id) = (screen.client("Fixed"), screen.id("Fixed"));
        let before = screen.place(client);
        let error =
            screen.refused("resize-window", &id, &["--width", "640", "--height", "480"], "window_manager_refused");
        assert_eq!(error["code"], "ACTION_FAILED", "{error}");
        assert_eq!(error["disposition"]["delivery"], "delivered_unverified", "{error}");
        assert_eq!(error["details"]["requested"]["width"], 640.0, "{error}");
        assert_eq!(bounds(&error["details"]["observed"])[2..], screen.place(client)[2..], "{wm}: {error}");
        assert_eq!(screen.place(client)[2..], before[2..], "{wm}");
        // A terminal's size is a number of characters.
        let _terminal = screen.xterm("Terminal");
        let (client, id) = (screen.client("Terminal"), screen.id("Terminal"));
        let resized = screen.run("resize-window", &id, &["--width", "500", "--height", "300"]).envelope();
        let there = screen.place(client);
        assert_eq!(resized["ok"] == true, there[2..] == [500, 300], "{wm}: {resized}");
        // xfwm4 gives it the pixels it was asked for.
        assert_eq!(resized["ok"] == true, wm == "xfwm4", "{wm}: {resized}");
        if resized["ok"] == false {
            let details = &resized["error"]["details"];
            assert_eq!(details["kind"], "window_manager_refused", "{resized}");
            assert_eq!(bounds(&details["observed"])[2..], there[2..], "{wm}: {resized}");
        }
        // An icon has no size that anybody sees.
        screen.verified("minimize", &id, &[]);
        let error = screen.run("resize-window", &id, &["--width", "244", "--height", "134"]).error();
        assert_eq!(error["details"]["kind"], "window_manager_refused", "{wm}: {error}");
        for (flag, other) in [("--width", "--height"), ("--height", "--width")] {
            let error = screen.run("resize-window", &id, &[flag, "0", other, "100"]).error();
            assert_eq!(error["code"], "INVALID_ARGS", "{error}");
        }
        let error = screen.refused("move-window", &id, &["--x", "99999", "--y", "0"], "window_geometry_out_of_range");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    }
}

/// Somebody types in another window: window managers keep the focus there against applications, not against a pager.
#[test]
fn focus_in_spite_of_focus_stealing_prevention() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _wanted = screen.windows("gtk3", "Wanted", &[]);
        let _busy = screen.windows("gtk3", "Busy", &[]);
        let (wanted, busy) = (screen.client("Wanted"), screen.client("Busy"));
        screen.activate(busy);
        screen.tool("xdotool", &["key", "a", "b", "c"]);
        let id = screen.id("Wanted");
        screen.run("focus-window", &id, &[]).data();
        assert_eq!(screen.active(), Some(wanted), "{wm}");
        // The key goes where the answer says, by the server's own word.
        let focus: u32 = screen.tool("xdotool", &["getwindowfocus", "-f"]).trim().parse().expect("a window");
        let tree = screen.tool("xwininfo", &["-id", &wanted.to_string(), "-tree"]);
        assert!(focus == wanted || tree.contains(&format!("{focus:#x} ")), "{wm}: {focus:#x} in {tree}");
    }
}

/// By name and by a part of the title; several that fit are listed, not guessed at.
#[test]
fn which_window_is_meant() {
    let screen = Screen::new("openbox");
    let _twins = screen.windows("gtk3", "Twin", &["--count", "2"]);
    wait_for("two windows", || (screen.clients("Twin").len() == 2).then_some(()));
    let clients = screen.clients("Twin");
    // Apart, so that their places tell which is which.
    for (client, x) in clients.iter().zip(["50", "600"]) {
        screen.tool("xdotool", &["windowmove", "--sync", &client.to_string(), x, "100"]);
    }
    let rows = screen.desk.ok(&["list-windows"]);
    let rows: Vec<&Value> = rows.as_array().expect("rows").iter().filter(|w| w["title"] == "Twin").collect();
    assert_eq!(rows.len(), 2);
    for args in [&["focus-window", "--title", "win"][..], &["focus-window", "--app", "window.py"]] {
        let reply = screen.desk.cli(args);
        // One of them is in front: it is the one that is meant.
        let data = reply.data();
        assert!(data.to_string().contains("Twin"), "{data}");
    }
    // Exactly the one meant, each of them.
    for row in &rows {
        let id = row["id"].as_str().expect("an id");
        let at: Vec<Place> = clients.iter().map(|c| screen.place(*c)).collect();
        let mine = clients.iter().position(|c| screen.place(*c)[0] == bounds(row)[0]).expect("its client");
        let y = (200 + 50 * mine).to_string();
        let x = at[mine][0].to_string();
        screen.verified("move-window", id, &["--x", &x, "--y", &y]);
        for (n, client) in clients.iter().enumerate() {
            let expected = if n == mine { 200 + 50 * mine as i64 } else { at[n][1] };
            assert_eq!(screen.place(*client)[1], expected, "client {n} of {mine}");
        }
    }
    // At the same place nothing tells them apart: refused, and nothing moves.
    for client in &clients {
        screen.tool("xdotool", &["windowmove", "--sync", &client.to_string(), "300", "300"]);
    }
    let places: Vec<Place> = clients.iter().map(|c| screen.place(*c)).collect();
    let ids: Vec<String> = rows.iter().map(|r| r["id"].as_str().expect("an id").to_owned()).collect();
    for id in &ids {
        let error = screen.refused("move-window", id, &["--x", "10", "--y", "400"], "window_not_identified");
        assert_eq!(error["code"], "AMBIGUOUS_TARGET", "{error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    }
    assert_eq!(clients.iter().map(|c| screen.place(*c)).collect::<Vec<_>>(), places);
    let error = screen.desk.err(&["focus-window", "--title", "no such title"]);
    assert_eq!(
        (&error["code"], &error["disposition"]["delivery"]),
        (&"WINDOW_NOT_FOUND".into(), &"not_delivered".into())
    );
    let error = screen.desk.err(&["minimize", "--app", "no-such-app"]);
    assert_eq!(error["code"], "APP_NOT_FOUND", "{error}");
}

/// The server gives the id of a window that has ended to the next client: the old id means nothing then (case
/// `stale-window-id`).
#[test]
fn a_recycled_id_is_another_window() {
    let screen = Screen::new("openbox");
    let first = screen.xterm("First");
    let (client, id) = (screen.client("First"), screen.id("First"));
    drop(first);
    wait_for("the window is gone", || screen.clients("First").is_empty().then_some(()));
    let mut other = Vec::new();
    // The freed slot is given out again at once, or after others.
    let recycled = wait_for("the same id again", || {
        let title = format!("Next {}", other.len());
        other.push(screen.xterm(&title));
        (screen.client(&title) == client).then_some(title)
    });
    let place = screen.place(client);
    for (command, more) in [
        ("move-window", &["--x", "10", "--y", "300"][..]),
        ("resize-window", &["--width", "600", "--height", "500"]),
        ("minimize", &[]),
        ("maximize", &[]),
        ("restore", &[]),
        ("focus-window", &[]),
    ] {
        let error = screen.run(command, &id, more).error();
        assert_eq!(error["code"], "WINDOW_NOT_FOUND", "{command}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{command}: {error}");
    }
    assert_eq!(screen.place(client), place, "{recycled} was touched");
    assert!(!screen.is_iconic(client) && !screen.is_maximized(client), "{recycled} was touched");
    // Its own id works.
    screen.verified("minimize", &screen.id(&recycled), &[]);
    assert!(screen.is_iconic(client));
}

/// An application that was stopped holds nobody up: the window manager acts all the same.
#[test]
fn windows_of_a_silent_application() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _other = screen.xterm("Other");
        let app = screen.windows("gtk3", "Silent", &[]);
        let client = screen.client("Silent");
        screen.verified("move-window", &screen.id("Silent"), &["--x", "210", "--y", "160"]);
        app.signal("STOP");
        let row = screen.row("Silent");
        assert_eq!(row["responsive"], false, "{row}");
        let id = row["id"].as_str().expect("an id");
        let quick = |reply: Reply| {
            assert!(reply.took < Duration::from_secs(8) + SLACK, "{wm}: {reply:?}");
            reply
        };
        let moved = quick(screen.run("move-window", id, &["--x", "300", "--y", "250"])).envelope();
        let there = screen.place(client);
        assert_eq!(moved["ok"] == true, there[..2] == [300, 250], "{wm}: {moved} and {there:?}");
        let resized = quick(screen.run("resize-window", id, &["--width", "500", "--height", "400"])).envelope();
        let there = screen.place(client);
        assert_eq!(resized["ok"] == true, there[2..] == [500, 400], "{wm}: {resized} and {there:?}");
        assert!(quick(screen.run("minimize", id, &[])).data()["disposition"]["delivery"] == "delivered_verified");
        assert!(screen.is_iconic(client), "{wm}");
        let restored = quick(screen.run("restore", id, &[])).envelope();
        assert_eq!(restored["ok"] == true, !screen.is_iconic(client), "{wm}: {restored}");
        screen.activate(screen.client("Other"));
        let focused = quick(screen.run("focus-window", id, &[])).envelope();
        assert_eq!(focused["ok"] == true, screen.active() == Some(client), "{wm}: {focused}");
        eprintln!(
            "{wm}: stopped: move {}, resize {}, restore {}, focus {}",
            moved["ok"], resized["ok"], restored["ok"], focused["ok"]
        );
        app.signal("CONT");
    }
}

/// Without a window manager nobody would do it: said before anything is sent.
#[test]
fn no_window_manager_is_said() {
    let screen = Screen::new("none");
    let _app = screen.desk.spawn("/usr/bin/xclock", &["-geometry", "200x200+300+200", "-title", "Clock"]);
    let id = screen.id("Clock");
    for (command, more) in [
        ("focus-window", &[][..]),
        ("minimize", &[]),
        ("maximize", &[]),
        ("move-window", &["--x", "10", "--y", "20"]),
        ("resize-window", &["--width", "300", "--height", "310"]),
    ] {
        let error = screen.refused(command, &id, more, "no_window_manager");
        assert_eq!(error["code"], "ACTION_NOT_SUPPORTED", "{error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    }
}

/// A window manager that was stopped has refused nothing and done nothing: neither is claimed, and nothing hangs.
#[test]
fn a_hung_window_manager_is_neither_yes_nor_no() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _app = screen.windows("gtk3", "Window", &[]);
        let (client, id) = (screen.client("Window"), screen.id("Window"));
        // The one of this display.
        let environ = |pid: &str| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let display = format!("DISPLAY={}", screen.desk.env.iter().find(|(k, _)| k == "DISPLAY").expect("it").1);
        let pids = screen.tool("pgrep", &["-x", wm]);
        let pid = pids.lines().find(|p| String::from_utf8_lossy(&environ(p)).split('\0').any(|v| v == display));
        let pid = pid.unwrap_or_else(|| panic!("{wm} among {pids}")).to_owned();
        let place = screen.place(client);
        screen.tool("kill", &["-STOP", &pid]);
        let reply = screen.run("move-window", &id, &["--x", "210", "--y", "160"]);
        let still = screen.place(client);
        screen.tool("kill", &["-CONT", &pid]);
        assert!(reply.took < Duration::from_secs(8) + SLACK, "{reply:?}");
        let error = reply.error();
        assert_eq!(error["details"]["kind"], "window_manager_silent", "{error}");
        assert_eq!(error["disposition"]["delivery"], "delivery_uncertain", "{error}");
        assert_eq!(still, place);
        // And it does it, late.
        wait_for("the window has moved", || (screen.place(client)[..2] == [210, 160]).then_some(()));
    }
}

/// `launch --activate`: the new window in front although another has the focus; a running one out of its icon.
#[test]
fn launch_activates() {
    for wm in MANAGERS {
        let screen = Screen::new(wm);
        let _other = screen.windows("gtk3", "Other", &[]);
        let other = screen.client("Other");
        let launched = screen.desk.ok(&["launch", "mousepad", "--activate"]);
        assert_eq!(launched["window"]["is_focused"], true, "{wm}: {launched}");
        let pid: u32 = launched["pid"].as_u64().expect("a pid") as u32;
        let client = screen.active().expect("an active window");
        assert!(screen.property(client, "_NET_WM_PID").contains(&pid.to_string()), "{wm}");
        screen.verified("minimize", launched["window"]["id"].as_str().expect("an id"), &[]);
        screen.activate(other);
        let attached = screen.desk.ok(&["launch", "mousepad", "--activate"]);
        assert_eq!((&attached["attached"], &attached["pid"]), (&true.into(), &pid.into()), "{attached}");
        assert_eq!(screen.active(), Some(client), "{wm}: {attached}");
        assert!(!screen.is_iconic(client), "{wm}");
        screen.desk.cli(&["close-app", "mousepad", "--force"]);
    }
}

/// Two monitors: as xrandr says, the primary one first whatever its place in the server's list.
#[test]
fn displays_are_the_monitors() {
    let screen = Screen::new("openbox");
    let one = screen.desk.ok(&["list-displays"]);
    assert_eq!(one.as_array().map(Vec::len), Some(1), "{one}");
    assert_eq!(one[0]["bounds"], serde_json::json!({"x": 0.0, "y": 0.0, "width": 1280.0, "height": 800.0}));
    assert_eq!((&one[0]["is_primary"], &one[0]["scale"]), (&true.into(), &1.0.into()));
    screen.tool("xrandr", &["--setmonitor", "L", "640/300x800/300+0+0", "screen"]);
    screen.tool("xrandr", &["--setmonitor", "*R", "640/300x800/300+640+0", "none"]);
    let listed = screen.tool("xrandr", &["--listmonitors"]);
    assert!(listed.contains("Monitors: 2") && listed.contains("*R"), "{listed}");
    let two = screen.desk.ok(&["list-displays"]);
    let ids: Vec<&str> = two.as_array().expect("rows").iter().filter_map(|d| d["id"].as_str()).collect();
    assert_eq!(ids, ["R", "L"], "{two}");
    assert_eq!(two[0]["bounds"]["x"], 640.0, "{two}");
    assert_eq!((&two[0]["is_primary"], &two[1]["is_primary"]), (&true.into(), &false.into()), "{two}");
}
