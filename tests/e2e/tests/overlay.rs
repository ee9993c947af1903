//! The agent's cursor: seen on the screen, and nowhere else. The oracles are xwininfo, xprop, the pixels that ImageMagick
//! takes, and what applications wrote down.

use agent_desktop_e2e::{Desk, Live, repo, wait_for};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const FILL: &str = "#FF00C8";
const ACCENT: &str = "#00FF22";

fn run(desk: &Desk, program: &str, args: &[&str]) -> Vec<u8> {
    let out = desk.command(program).args(args).output().expect("it runs");
    assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn text(desk: &Desk, program: &str, args: &[&str]) -> String {
    String::from_utf8_lossy(&run(desk, program, args)).trim().to_owned()
}

/// A window of the overlay, by the X server's word.
#[derive(Debug, Clone, PartialEq)]
struct Layer {
    name: String,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    shown: bool,
}

fn layers(desk: &Desk) -> Vec<Layer> {
    let tree = text(desk, "xwininfo", &["-root", "-children"]);
    let ours = tree.lines().filter(|l| l.contains("agent-desktop-overlay"));
    let mut out = Vec::new();
    for line in ours {
        let id = line.split_whitespace().next().expect("an id");
        // It may end between the two looks.
        let Ok(info) = desk.command("xwininfo").args(["-id", id, "-stats"]).output() else { continue };
        let info = String::from_utf8_lossy(&info.stdout).into_owned();
        let number = |key: &str| -> Option<i32> { info.split(key).nth(1)?.split_whitespace().next()?.parse().ok() };
        let all = (|| {
            Some(Layer {
                name: line.split('"').nth(1)?.to_owned(),
                x: number("Absolute upper-left X:")?,
                y: number("Absolute upper-left Y:")?,
                width: number("Width:")?,
                height: number("Height:")?,
                shown: info.contains("Map State: IsViewable"),
            })
        })();
        if all.is_some() {
            assert!(info.contains("Override Redirect State: yes"), "{info}");
        }
        out.extend(all);
    }
    out
}

fn arrow(desk: &Desk) -> Option<Layer> {
    layers(desk).into_iter().find(|l| l.name == "agent's cursor" && l.shown)
}

/// Pixels of a colour that the screen shows.
fn on_screen(desk: &Desk, colour: &str) -> usize {
    let file = desk.dir.path().join("screen.png");
    let file = file.to_str().expect("UTF-8");
    run(desk, "import", &["-window", "root", file]);
    count(desk, file, colour)
}

fn count(desk: &Desk, file: &str, colour: &str) -> usize {
    let histogram = text(desk, "convert", &[file, "-depth", "8", "-format", "%c", "histogram:info:-"]);
    let line = histogram.lines().find(|l| l.contains(colour));
    line.and_then(|l| l.split(':').next()?.trim().parse().ok()).unwrap_or(0)
}

fn session(desk: &Desk, args: &[&str]) -> String {
    let args: Vec<&str> = ["session", "start"].into_iter().chain(args.iter().copied()).collect();
    desk.ok(&args)["session_id"].as_str().expect("an id").to_owned()
}

/// The renderers of a desktop's sessions: processes with that name that belong to it.
fn renderers(desk: &Desk) -> Vec<i32> {
    let display = desk.env.iter().find(|(k, _)| k == "DISPLAY").expect("a display").1.clone();
    let mut out = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.split(|b| *b == 0).nth(1) == Some(b"__overlay") && displays(pid).contains(&display) {
            out.push(pid);
        }
    }
    out
}

/// The X servers that a process is connected to, by the kernel's word.
fn displays(pid: i32) -> Vec<String> {
    let out = std::process::Command::new("ss").args(["-xpH"]).output().expect("ss runs");
    let all = String::from_utf8_lossy(&out.stdout).into_owned();
    let peers: Vec<&str> = all
        .lines()
        .filter(|l| l.contains(&format!("pid={pid},")))
        .filter_map(|l| l.split_whitespace().nth(7))
        .collect();
    let server = |l: &str| -> Option<String> {
        let local = l.split_whitespace().nth(5)?;
        let number = l.split(".X11-unix/X").nth(1)?.split_whitespace().next()?;
        peers.contains(&local).then(|| format!(":{number}"))
    };
    all.lines().filter_map(server).collect()
}

fn signal(pid: i32, name: &str) {
    let done = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(done.is_ok_and(|s| s.success()), "kill -{name} {pid}");
}

fn finish(child: Child) -> Value {
    let out = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&out.stdout).expect("an envelope")
}

/// What an answer has, without what differs from run to run.
fn shape(data: &Value) -> Value {
    let mut data = data.clone();
    if let Some(wait) = data.pointer_mut("/details/auto_wait/lease_hold_ms") {
        *wait = json!(0);
    }
    data
}

#[test]
fn it_is_seen_and_nothing_else() {
    is_seen_and_nothing_else(&Desk::new());
}

/// A compositor draws shaped windows by itself, and windows have pictures of their own.
#[test]
fn under_a_compositor_it_is_seen_and_nothing_else() {
    is_seen_and_nothing_else(&Desk::with(&["-w", "xfwm4-composited"]));
}

fn is_seen_and_nothing_else(desk: &Desk) {
    let live = Live::start(desk, "gtk3", "controls");
    let plain = shape(&desk.ok(&["click", &live.only("button", "Save")]));
    let windows = desk.ok(&["list-windows"]);
    let surfaces = desk.ok(&["list-surfaces", "--app", &live.app]);
    let active = text(desk, "xprop", &["-root", "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST"]);
    let focus = text(desk, "xdotool", &["getwindowfocus"]);

    let id = session(desk, &[]);
    let in_session = |args: &[&str]| {
        [&["--session", id.as_str()], args].concat().iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()
    };
    let ok = |args: &[&str]| desk.ok(&in_session(args).iter().map(String::as_str).collect::<Vec<_>>());
    let enabled = ok(&[
        "cursor-overlay",
        "enable",
        "--label",
        "one two three four",
        "--max-words",
        "3",
        "--fill",
        FILL,
        "--accent",
        ACCENT,
        "--size",
        "2",
    ]);
    assert_eq!((&enabled["rendered"], &enabled["enabled"]), (&json!(true), &json!(true)), "{enabled}");
    assert!(arrow(desk).is_some(), "acknowledged and on the screen: {:?}", layers(desk));

    // The refs belong to the session's own snapshots.
    let snapshot = ok(&["snapshot", "--app", &live.app, "--max-depth", "60", "--include-bounds"]);
    let node = |name: &str| {
        let all = agent_desktop_e2e::nodes(&snapshot["tree"]);
        all.into_iter().find(|n| n["name"] == name && n["role"] == "button").expect("the button").clone()
    };
    let (save, button) = (node("Save"), node("Described"));
    let number = |v: &Value, key: &str| v["bounds"][key].as_f64().expect("a number");
    let middle = |v: &Value| (number(v, "x") + number(v, "width") / 2.0, number(v, "y") + number(v, "height") / 2.0);

    // The answer is what it is without a cursor.
    let reference = save["ref_id"].as_str().expect("a ref");
    assert_eq!(shape(&ok(&["click", reference])), plain);
    let (x, y) = middle(&save);
    let seen = arrow(desk).expect("the cursor");
    assert!((f64::from(seen.x) - x).abs() < 8.0 && (f64::from(seen.y) - y).abs() < 8.0, "{seen:?}, wanted {x},{y}");
    assert!(on_screen(desk, FILL) > 100, "its colour is on the screen");
    assert!(on_screen(desk, ACCENT) > 50, "and the target's outline: {:?}", layers(desk));

    // It has no focus, and is no window, no surface and no popup.
    assert_eq!(text(desk, "xprop", &["-root", "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST"]), active);
    assert_eq!(text(desk, "xdotool", &["getwindowfocus"]), focus);
    assert_eq!(ok(&["list-windows"]), windows);
    assert_eq!(ok(&["list-surfaces", "--app", &live.app]), surfaces);

    // A picture of the window shows none of it, and takes it for nothing that lies above.
    let file = desk.dir.path().join("window.png");
    let path = file.to_str().expect("UTF-8");
    let reference = button["ref_id"].as_str().expect("a ref");
    ok(&["click", reference]);
    assert!(on_screen(desk, FILL) > 100);
    let data = ok(&["screenshot", "--app", &live.app, path]);
    assert!(data.get("popups").is_none(), "{data}");
    assert_eq!((count(desk, path, FILL), count(desk, path, ACCENT)), (0, 0));
    assert!(count(desk, path, "#") > 0);

    // A hand's click goes through arrow, outline and label to what is below, and nothing is "covered" by them.
    let before = live.fixture.received_by("clicked", "described").len();
    ok(&["--headed", "click", reference]);
    ok(&["--headed", "click", reference]);
    wait_for("two clicks", || (live.fixture.received_by("clicked", "described").len() == before + 2).then_some(()));
    // And a raw click into the middle of the label, which must be there.
    let label = layers(desk).into_iter().find(|l| l.name == "agent's label" && l.shown).expect("the label");
    let point = format!("{},{}", label.x + label.width / 2, label.y + label.height / 2);
    let id_of = windows[0]["id"].as_str().expect("an id");
    let over = desk
        .command("xdotool")
        .args([
            "mousemove",
            &(label.x + label.width / 2).to_string(),
            &(label.y + label.height / 2).to_string(),
            "getmouselocation",
            "--shell",
        ])
        .output()
        .expect("xdotool");
    let over = String::from_utf8_lossy(&over.stdout).into_owned();
    let hit: u32 = over.split("WINDOW=").nth(1).and_then(|t| t.trim().parse().ok()).expect("a window");
    let class = text(desk, "xprop", &["-id", &hit.to_string(), "WM_CLASS"]);
    assert!(!class.contains("overlay"), "the server itself looks through: {class}");
    ok(&["--headed", "mouse-click", "--xy", &point, "--expect-window", id_of]);

    // Disabled, it is gone, with its process.
    assert_eq!(renderers(desk).len(), 1);
    assert_eq!(ok(&["cursor-overlay", "disable"])["stopped"], true);
    assert_eq!((layers(desk), renderers(desk)), (vec![], vec![]));
    let after = ok(&["click", save["ref_id"].as_str().expect("a ref")]);
    assert_eq!(after["disposition"], plain["disposition"]);
    assert_eq!(layers(desk), []);
}

#[test]
fn it_travels_before_the_lease_and_fades_when_idle() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let id = session(&desk, &["--cursor", "--multi-agent"]);
    let snapshot = desk.ok(&["--session", &id, "snapshot", "--app", &live.app, "--max-depth", "60"]);
    let button = agent_desktop_e2e::refs_named(&snapshot, "button", "Save").remove(0);
    let log = live.landed().len();
    for command in [vec!["click", &button], vec!["press", "tab"], vec!["--headed", "mouse-click", "--xy", "1,1"]] {
        let error = desk.err(&[&["--session", id.as_str()], &command[..]].concat());
        assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("INVALID_ARGS"), &json!("agent_id_required")));
    }
    assert_eq!((live.landed().len(), layers(&desk)), (log, vec![]), "nothing was sent, nothing is shown");

    // Somebody else has the lease for seconds: a drag on the empty screen.
    let drag = desk.cli_spawn(&["--headed", "drag", "--from-xy", "2,2", "--to-xy", "40,2", "--duration", "4000"]);
    std::thread::sleep(Duration::from_millis(600));
    let begun = Instant::now();
    let click = desk.cli_spawn(&["--session", &id, "--agent-id", "a1", "click", &button, "--timeout-ms", "20000"]);
    let other = desk.cli_spawn(&["--session", &id, "--agent-id", "a2", "click", &button, "--timeout-ms", "20000"]);
    wait_for("both cursors at the target", || {
        let all = layers(&desk);
        let shown = |name: &'static str| all.iter().filter(move |l| l.name == name && l.shown);
        let places: Vec<(i32, i32)> = shown("agent's cursor").map(|l| (l.x, l.y)).collect();
        (shown("agent's target").count() == 2 && places.len() == 2 && places[0] == places[1]).then_some(())
    });
    assert_eq!(live.landed().len(), log, "and the actions still wait: {:?}", begun.elapsed());
    assert_eq!(finish(drag)["ok"], true);
    for child in [click, other] {
        let answer = finish(child);
        assert_eq!(answer["ok"], true, "{answer}");
    }
    assert_eq!(renderers(&desk).len(), 1, "one for both");
    let ended = Instant::now();
    wait_for("the labels", || {
        (layers(&desk).iter().filter(|l| l.name == "agent's label" && l.shown).count() == 2).then_some(())
    });
    wait_for("both to fade", || layers(&desk).iter().all(|l| !l.shown).then_some(()));
    // They were there before the drag's end.
    assert!(
        begun.elapsed() >= Duration::from_secs(6),
        "{:?} after the steps, {:?} after the end",
        begun.elapsed(),
        ended.elapsed()
    );
    assert!(layers(&desk).len() == 8, "its windows are kept");

    // The session's end is its cursors' end.
    desk.ok(&["session", "end", &id]);
    assert_eq!((layers(&desk), renderers(&desk)), (vec![], vec![]));
    let runtime = std::env::temp_dir().join(format!("agent-desktop-{}", text(&desk, "id", &["-u"])));
    let left: Vec<_> = runtime.read_dir().expect("the runtime directory").flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(&id)), "no file of it is left: {left:?}");
    // What has ended shows no cursor, and asks for no agent.
    desk.ok(&["--session", &id, "click", &button]);
    assert_eq!(layers(&desk), []);
}

#[test]
fn a_renderer_that_fails_changes_no_answer() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let id = session(&desk, &["--cursor"]);
    let snapshot = desk.ok(&["--session", &id, "snapshot", "--app", &live.app, "--max-depth", "60"]);
    let button = agent_desktop_e2e::refs_named(&snapshot, "button", "Save").remove(0);
    let click = || desk.cli(&["--session", &id, "click", &button]);
    let plain = shape(&click().data());
    let pid = renderers(&desk)[0];
    // Silent: the action waits for it, but not for long.
    signal(pid, "STOP");
    let reply = click();
    assert!(reply.stderr.contains("cursor is not shown"), "{}", reply.stderr);
    assert_eq!(shape(&reply.data()), plain);
    // Killed: another one comes.
    signal(pid, "KILL");
    wait_for("its windows to go", || layers(&desk).is_empty().then_some(()));
    let reply = click();
    assert_eq!(shape(&reply.data()), plain);
    assert!(arrow(&desk).is_some() && renderers(&desk) != [pid], "{}", reply.stderr);
    // It has nothing of the command that started it: a caller that waits for the end of our output is not kept waiting.
    let pid = renderers(&desk)[0];
    for fd in 0..3 {
        let target = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("a descriptor");
        assert_eq!(target.to_str(), Some("/dev/null"));
    }
    // It goes with its display.
    drop(live);
    drop(desk);
    wait_for("the renderer to end with its desktop", || {
        (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    });
}

#[test]
fn it_needs_a_session_and_a_display() {
    let desk = Desk::new();
    let error = desk.err(&["cursor-overlay", "enable"]);
    assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("INVALID_ARGS"), &json!("session_required")));
    let id = session(&desk, &[]);
    for bad in [&["--size", "5"][..], &["--fill", "red"], &["--max-words", "0"]] {
        let error = desk.err(&[&["--session", &id, "cursor-overlay", "enable"], bad].concat());
        assert_eq!(error["code"], "INVALID_ARGS");
    }
    // No display: said by `rendered`, and the setting stays for where there is one.
    let mut command = desk.command(agent_desktop_e2e::binary("agent-desktop"));
    command.env_remove("DISPLAY").stdin(Stdio::null());
    let out = command.args(["--session", &id, "cursor-overlay", "enable"]).output().expect("it runs");
    let answer: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
    assert_eq!((&answer["ok"], &answer["data"]["rendered"]), (&json!(true), &json!(false)), "{answer}");
}

/// What is dropped where another agent's cursor stands arrives below it: neither we nor the toolkit take it for a target.
#[test]
fn drops_go_through_it() {
    let desk = Desk::new();
    let script = repo().join("tests/fixtures/events.py");
    let start = |name: &'static str, at: &str| {
        let log = desk.dir.path().join(format!("{name}.log"));
        let args = [script.to_str().expect("UTF-8"), "--log", log.to_str().expect("UTF-8"), "--name", name, "--at", at];
        let app = desk.spawn("/usr/bin/python3", &args);
        let all = move || -> Vec<Value> {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
        };
        wait_for("the events fixture", || all().iter().any(|l| l["event"] == "ready").then_some(()));
        (app, all)
    };
    let ((_one, _), (_two, log)) = (start("one", "50,100"), start("two", "600,100"));
    let id = session(&desk, &["--cursor", "--multi-agent"]);
    desk.ok(&["--session", &id, "cursor-overlay", "enable", "--multi-agent", "--size", "4", "--label", "in the way"]);
    let reference = |app: &str, name: &str| {
        let data = desk.ok(&["--session", &id, "snapshot", "--app", app]);
        agent_desktop_e2e::refs_named(&data, "button", name).remove(0)
    };
    let (from, to) = (reference("one", "Source"), reference("two", "Target"));
    let hover = desk.ok(&["--session", &id, "--agent-id", "a2", "--headed", "hover", &to]);
    // The arrow stands a little beside the drop's point otherwise: the tip is its corner.
    let (x, y) = (hover["target"]["x"].as_f64().expect("x") - 20.0, hover["target"]["y"].as_f64().expect("y") - 24.0);
    desk.ok(&["--session", &id, "--agent-id", "a2", "--headed", "mouse-move", "--xy", &format!("{x},{y}")]);
    desk.ok(&["--session", &id, "--agent-id", "a1", "--headed", "drag", "--from", &from, "--to", &to]);
    let dropped = wait_for("the drop", || log().into_iter().find(|l| l["event"] == "dropped"));
    assert_eq!(dropped["text"], "payload of one");
    let on_it = layers(&desk).into_iter().filter(|l| l.shown && l.name == "agent's cursor").any(|l| {
        let (x, y) =
            (hover["target"]["x"].as_f64().expect("x") as i32, hover["target"]["y"].as_f64().expect("y") as i32);
        (l.x..l.x + l.width).contains(&x) && (l.y..l.y + l.height).contains(&y)
    });
    assert!(on_it, "the arrow lay above the drop: {:?}", layers(&desk));
}
