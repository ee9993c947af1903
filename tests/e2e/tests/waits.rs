//! Waits that are woken by what applications and the X server announce, and `watch`. The fixture's own log says when
//! something changed; the kernel says what a wait costs.

use agent_desktop_e2e::{Desk, Live, NATIVE, nodes, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Without an announcement the looks come after 1.5 s and after 4.5 s; the change comes at 1.6 s: whoever notices within
/// two seconds was woken.
const WOKEN: Duration = Duration::from_millis(2_000);

fn answer(child: Child) -> (Value, Instant) {
    let out = child.wait_with_output().expect("an answer");
    let ended = Instant::now();
    (serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}")), ended)
}

/// Starts a wait, lets it look, then has something happen; the answer's data and how long after that it came.
fn noticed(desk: &Desk, args: &[&str], happen: impl FnOnce()) -> (Value, Duration) {
    let child = desk.cli_spawn(args);
    std::thread::sleep(Duration::from_millis(1_600));
    let begun = Instant::now();
    happen();
    let (mut envelope, ended) = answer(child);
    assert_eq!(envelope["ok"], true, "{args:?}: {envelope}");
    (envelope["data"].take(), ended - begun)
}

/// Clock ticks that a process has used so far.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    fields[11].parse::<u64>().expect("user") + fields[12].parse::<u64>().expect("system")
}

#[test]
fn an_element_a_text_and_a_value_are_noticed() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let save = live.only("button", "Save");
        let (data, took) = noticed(&desk, &["wait", "--text", "Brand new", "--app", &live.app], || {
            live.fixture.control("rename dead Brand new");
        });
        assert_eq!(data["found"], true, "{kind}: {data}");
        assert!(took < WOKEN, "{kind}: text after {took:?}");
        let name = live.only("textfield", "Name");
        let wait = ["wait", "--element", &name, "--predicate", "value", "--value", "Ada"];
        let (_, took) = noticed(&desk, &wait, || {
            desk.ok(&["set-value", &name, "Ada"]);
        });
        assert!(took < WOKEN, "{kind}: value after {took:?}");
        live.fixture.control("late_button 1 enable");
        let disabled = live.only("button", "Late");
        let (_, took) = noticed(&desk, &["wait", "--element", &disabled, "--predicate", "enabled"], || {});
        assert!(took < WOKEN, "{kind}: enabled after {took:?}");
        desk.ok(&["is", &save]);
    }
}

#[test]
fn windows_are_noticed_with_their_applications() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "dialogs");
    let app = live.app.clone();
    let (data, took) = noticed(&desk, &["wait", "--window", "Dialog A"], || {
        live.fixture.control("show_dialog A");
    });
    assert_eq!(data["window"]["title"], "Dialog A", "{data}");
    assert!(took < WOKEN, "{took:?}");
    let closed = ["wait", "--event", "window-closed", "--app", &app, "--window", "Dialog A"];
    let (data, took) = noticed(&desk, &closed, || {
        live.fixture.control("close_dialog");
    });
    assert_eq!(data["event"]["kind"], "window-closed", "{data}");
    assert!(took < WOKEN, "{took:?}");
    let (data, took) = noticed(&desk, &["wait", "--event", "window-opened", "--app", &app], || {
        live.fixture.control("show_dialog B");
    });
    assert_eq!(data["event"]["window"]["title"], "Dialog B", "{data}");
    assert!(took < WOKEN, "{took:?}");
    live.fixture.control("close_dialog");
    let mut second = None;
    let (data, _) = noticed(&desk, &["wait", "--event", "app-launched"], || {
        second = Some(Live::start(&desk, "qt5", "controls"));
    });
    assert_eq!(data["event"]["app"]["name"], "fixture-qt5", "{data}");
    let first = desk.ok(&["list-windows", "--app", &app]);
    let id = first[0]["id"].as_str().expect("an id").to_owned();
    let (data, took) = noticed(&desk, &["wait", "--event", "focus-changed"], || {
        desk.ok(&["focus-window", "--window-id", &id]);
    });
    assert_eq!(data["event"]["kind"], "focus-changed", "{data}");
    assert!(took < WOKEN * 2, "{took:?}");
    let mut second = second.expect("started");
    let (data, took) = noticed(&desk, &["wait", "--event", "app-terminated", "--app", "fixture-qt5"], || {
        second.fixture.app.0.kill().expect("it ends");
        second.fixture.app.0.wait().expect("it ends");
    });
    assert_eq!(data["event"]["app"]["name"], "fixture-qt5", "{data}");
    assert!(took < WOKEN, "{took:?}");
}

/// A window without any tree: only the X server tells of it.
#[test]
fn a_window_without_a_tree_is_noticed() {
    let desk = Desk::new();
    let mut xterm = None;
    let (data, took) = noticed(&desk, &["wait", "--window", "plain-x-title"], || {
        xterm = Some(desk.spawn("xterm", &["-T", "plain-x-title"]));
    });
    assert_eq!(data["window"]["accessible"], false, "{data}");
    assert!(took < WOKEN * 2, "{took:?}");
}

#[test]
fn menus_come_and_go() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "menus");
    let app = live.app.clone();
    let menu = nodes(&live.snapshot()["tree"])
        .into_iter()
        .find(|n| {
            n["role"] == "menuitem" && n["available_actions"].to_string().contains("Click") && n["ref_id"].is_string()
        })
        .and_then(|n| n["ref_id"].as_str())
        .expect("a menu")
        .to_owned();
    let (data, _) = noticed(&desk, &["wait", "--event", "surface-appeared", "--app", &app], || {
        desk.cli(&["click", &menu]);
    });
    assert_eq!(data["event"]["surface"]["type"], "menu", "{data}");
    let (data, _) = noticed(&desk, &["wait", "--event", "surface-dismissed", "--app", &app], || {
        desk.cli(&["press", "escape"]);
        desk.cli(&["press", "escape"]);
    });
    assert_eq!(data["event"]["kind"], "surface-dismissed", "{data}");
}

/// Ten seconds of nothing cost next to nothing, and what was asked of the registry is taken back.
#[test]
fn an_idle_wait_costs_nothing_and_leaves_nothing() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk4", "controls");
    // The bus's own monitor: who registers, and whether it is taken back.
    let mut ask = desk.command("gdbus");
    ask.args(["call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus"]);
    let out = ask.args(["--method", "org.a11y.Bus.GetAddress"]).output().expect("gdbus runs");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    let address = text.split('\'').nth(1).expect("an address");
    let mut monitor = desk.command("dbus-monitor");
    monitor.args(["--address", address, "type='method_call',interface='org.a11y.atspi.Registry'"]);
    let mut monitor = monitor.stdout(Stdio::piped()).spawn().expect("dbus-monitor runs");
    std::thread::sleep(Duration::from_millis(500));
    let child = desk.cli_spawn(&["wait", "--text", "never to be seen", "--app", &live.app, "--timeout", "9000"]);
    std::thread::sleep(Duration::from_millis(1_500));
    let pid = child.id();
    let used = ticks(pid);
    std::thread::sleep(Duration::from_millis(6_000));
    let used = ticks(pid) - used;
    let (envelope, _) = answer(child);
    assert_eq!(envelope["error"]["details"]["kind"], "wait_timeout", "{envelope}");
    // Two or three looks of the safety net in an unoptimised binary; a look each 100 ms takes twenty times that.
    assert!(used <= 10, "{used} ticks in six seconds");
    std::thread::sleep(Duration::from_millis(300));
    monitor.kill().expect("it ends");
    let heard = String::from_utf8_lossy(&monitor.wait_with_output().expect("its output").stdout).into_owned();
    let events = |member: &str| {
        let mut all: Vec<&str> = heard
            .split("method call")
            .filter(|call| call.contains(&format!("member={member}\n")))
            .filter_map(|call| call.split('"').nth(1))
            .collect();
        all.sort_unstable();
        all
    };
    assert!(events("RegisterEvent").len() > 5, "the wait listens: {heard}");
    assert_eq!(events("RegisterEvent"), events("DeregisterEvent"));
}

/// An application that never rests doesn't make us work all the time.
#[test]
fn a_busy_application_is_not_looked_at_without_a_pause() {
    let desk = Desk::new();
    let live = Live::with(&desk, "gtk3", "controls", &["--animate"]);
    let child = desk.cli_spawn(&["wait", "--text", "never to be seen", "--app", &live.app, "--timeout", "8000"]);
    std::thread::sleep(Duration::from_millis(1_500));
    let (pid, begun) = (child.id(), Instant::now());
    let used = ticks(pid);
    std::thread::sleep(Duration::from_millis(5_000));
    let share = (ticks(pid) - used) as f64 / 100.0 / begun.elapsed().as_secs_f64();
    let (envelope, _) = answer(child);
    assert_eq!(envelope["error"]["details"]["kind"], "wait_timeout", "{envelope}");
    assert!(share < 0.5, "{share} of a processor");
}

/// It ended: that is no event of its windows' surfaces, and no silence.
#[test]
fn an_application_that_ends_meanwhile() {
    let desk = Desk::new();
    let mut live = Live::start(&desk, "gtk3", "menus");
    let child = desk.cli_spawn(&["wait", "--event", "surface-appeared", "--app", &live.app, "--timeout", "20000"]);
    std::thread::sleep(Duration::from_millis(1_600));
    live.fixture.app.0.kill().expect("it ends");
    live.fixture.app.0.wait().expect("it ends");
    let (envelope, _) = answer(child);
    assert_eq!(envelope["error"]["details"]["kind"], "process_changed", "{envelope}");
    assert_eq!(envelope["error"]["details"]["retryable"], false, "{envelope}");
}

/// The baseline is that of before the entry: what the entry brings is an event even if it is there before the wait begins.
#[test]
fn a_batch_takes_the_baseline_before_the_action() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "dialogs");
    let entries = json!([
        {"command": "launch", "args": {"app": "xterm", "arg": ["-T", "from-the-batch"]}},
        {"command": "wait", "args": {"event": "window-opened", "window": "from-the-batch", "timeout": 3000}},
    ]);
    let answer = desk.ok(&["batch", &entries.to_string()]);
    let event = &answer["results"][1]["data"]["event"];
    assert_eq!(event["window"]["title"], "from-the-batch", "{answer}");
    drop(live);
}

/// Lines as they happen, the answer last; a limit of lines; the same in a batch without a stream.
#[test]
fn watch_tells_changes_line_by_line() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let mut child = desk.cli_spawn(&["watch", "--app", &live.app, "--for", "20000", "--max", "1"]);
        std::thread::sleep(Duration::from_millis(2_000));
        live.fixture.control("rename dead Brand new");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let line: Value = serde_json::from_str(&lines.next().expect("a line").expect("UTF-8")).expect("JSON");
        assert!(
            ["changed", "added", "removed"].contains(&line["event"].as_str().unwrap_or_default()),
            "{kind}: {line}"
        );
        let last: Value = serde_json::from_str(&lines.next().expect("the answer").expect("UTF-8")).expect("JSON");
        assert_eq!(
            (last["data"]["ended"].as_str(), last["data"]["lines"].as_u64()),
            (Some("max"), Some(1)),
            "{kind}: {last}"
        );
        assert!(lines.next().is_none());
        child.wait().expect("it ended");
        let text = json!([{"command": "watch", "args": {"app": live.app, "for": 100}}]).to_string();
        assert_eq!(desk.ok(&["batch", &text])["results"][0]["data"]["ended"], "time", "{kind}");
    }
}

/// A ref of a line is one to act on; what a password field holds is in none.
#[test]
fn watch_gives_refs_and_keeps_secrets() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let secret = live.only("textfield", "Secret");
    let mut command = desk.command(agent_desktop_e2e::binary("agent-desktop"));
    command.args(["watch", "--app", &live.app, "--for", "5000"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = command.spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(2_000));
    desk.ok(&["set-value", &secret, "correct-horse"]);
    live.fixture.control("rename save Store");
    let out = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    assert!(!text.contains("correct-horse"), "{text}");
    let line = text
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).expect("JSON"))
        .find(|l| l["element"]["now"]["name"] == "Store")
        .unwrap_or_else(|| panic!("the new name in {text}"));
    desk.ok(&["click", line["element"]["ref"].as_str().expect("a ref")]);
    live.fixture.control("fence");
    assert!(live.landed().iter().any(|l| l["event"] == "clicked" && l["id"] == "save"));
}

/// What is watched goes: that ends it. What isn't there is refused at once.
#[test]
fn watch_ends_with_its_target() {
    let desk = Desk::new();
    let mut live = Live::start(&desk, "gtk4", "controls");
    let child = desk.cli_spawn(&["watch", "--app", &live.app, "--for", "20000"]);
    std::thread::sleep(Duration::from_millis(2_000));
    live.fixture.app.0.kill().expect("it ends");
    live.fixture.app.0.wait().expect("it ends");
    let out = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    let last: Value = serde_json::from_str(text.lines().last().expect("lines")).expect("JSON");
    assert_eq!(last["data"]["ended"], "target_gone", "{text}");
    assert!(text.contains("app-terminated"), "{text}");
    assert_eq!(desk.err(&["watch", "--app", "nobody", "--for", "1000"])["code"], "APP_NOT_FOUND");
    assert_eq!(desk.err(&["watch", "--max", "0"])["code"], "INVALID_ARGS");
}

/// Told to end, it gives its answer first.
#[test]
fn a_watch_that_is_ended_answers() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    for signal in ["TERM", "INT"] {
        let child = desk.cli_spawn(&["watch", "--app", &live.app, "--for", "60000"]);
        std::thread::sleep(Duration::from_millis(2_000));
        live.fixture.control(&format!("rename dead {signal}"));
        std::thread::sleep(Duration::from_millis(1_000));
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().expect("kill").success());
        let out = child.wait_with_output().expect("it ends");
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        let last: Value = serde_json::from_str(text.lines().last().expect("the answer")).expect("JSON");
        let before = text.lines().count() as u64 - 1;
        assert_eq!((out.status.code(), before >= 1), (Some(0), true), "{signal}: {text}");
        assert_eq!((&last["data"]["ended"], &last["data"]["lines"]), (&json!("signal"), &json!(before)), "{text}");
    }
}

/// An application that was stopped is listed by other names and ids; it has opened and closed nothing by that.
#[test]
fn a_stopped_application_has_opened_and_closed_nothing() {
    for kind in ["gtk3", "qt6"] {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let wait = |event: &str| desk.cli_spawn(&["wait", "--event", event, "--app", &live.app, "--timeout", "5000"]);
        let (opened, closed) = (wait("window-opened"), wait("window-closed"));
        let focus = desk.cli_spawn(&["wait", "--event", "focus-changed", "--timeout", "5000"]);
        let watch = desk.cli_spawn(&["watch", "--app", &live.app, "--for", "9000"]);
        let all = desk.cli_spawn(&["watch", "--for", "9000"]);
        std::thread::sleep(Duration::from_millis(1_500));
        live.fixture.app.signal("STOP");
        let (opened, closed, focus) = (answer(opened).0, answer(closed).0, answer(focus).0);
        live.fixture.app.signal("CONT");
        for envelope in [opened, closed, focus] {
            let code = envelope["error"]["code"].as_str();
            assert!(matches!(code, Some("TIMEOUT" | "APP_UNRESPONSIVE")), "{kind}: {envelope}");
            assert!(envelope["error"]["details"]["unresponsive"].is_array(), "{kind}: {envelope}");
        }
        for child in [watch, all] {
            let out = child.wait_with_output().expect("it ends");
            let text = String::from_utf8(out.stdout).expect("UTF-8");
            let not =
                ["window-opened", "window-closed", "app-terminated", "app-launched", "focus-changed", "\"removed\""];
            for word in not {
                assert!(!text.contains(word), "{kind}: {word} in {text}");
            }
            told_as_unseen(kind, &text, true);
        }
    }
}

/// What a watch says of an application that didn't answer for a while: when, and that it did not see everything.
fn told_as_unseen(kind: &str, text: &str, recovered: bool) {
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let of = |event: &str| lines.iter().filter(|l| l["event"] == event).count();
    assert!(of("unreadable") >= 1, "{kind}: {text}");
    let unreadable = lines.iter().find(|l| l["event"] == "unreadable").expect("a line");
    assert_eq!(unreadable["error"]["code"], "APP_UNRESPONSIVE", "{kind}: {text}");
    let last = &lines.last().expect("the answer")["data"];
    assert_eq!(last["complete"], false, "{kind}: {text}");
    assert_eq!((of("readable") >= 1, last.get("unresponsive").is_none()), (recovered, recovered), "{kind}: {text}");
}

/// Stopped from the beginning: nothing is known of it but what the window system says, under other ids. When it goes on
/// nothing has happened by that, and what happens then is told.
#[test]
fn an_application_that_was_stopped_before_the_wait() {
    for kind in ["gtk3", "qt6"] {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "dialogs");
        desk.ok(&["snapshot", "--app", &live.app]);
        live.fixture.app.signal("STOP");
        // It is listed by its script's name while it is silent, and by its own as well when it answers.
        let wait = |event: &str, ms: &str, app: &str| {
            desk.cli_spawn(&["wait", "--event", event, "--app", app, "--timeout", ms])
        };
        let still = desk.cli_spawn(&["watch", "--app", kind, "--for", "3000"]);
        let closed = wait("window-closed", "9000", &live.app);
        let opened = wait("window-opened", "30000", kind);
        let watch = desk.cli_spawn(&["watch", "--app", kind, "--for", "9000"]);
        let text = String::from_utf8(still.wait_with_output().expect("it ends").stdout).expect("UTF-8");
        told_as_unseen(kind, &text, false);
        live.fixture.app.signal("CONT");
        let closed = answer(closed).0;
        assert_eq!(closed["error"]["code"], "TIMEOUT", "{kind}: {closed}");
        assert!(closed["error"]["details"]["unresponsive"].to_string().contains("pid"), "{kind}: {closed}");
        let text = String::from_utf8(watch.wait_with_output().expect("it ends").stdout).expect("UTF-8");
        for word in ["window-opened", "window-closed", "focus-changed", "title-changed", "surface-"] {
            assert!(!text.contains(word), "{kind}: {word} in {text}");
        }
        told_as_unseen(kind, &text, true);
        live.fixture.control("show_dialog A");
        let opened = answer(opened).0;
        assert_eq!(opened["data"]["event"]["window"]["title"], "Dialog A", "{kind}: {opened}");
    }
}

/// A busy application makes a watch save many snapshots; what its caller saved stays.
#[test]
fn a_busy_watch_pushes_out_nothing_of_its_caller() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    // As many of its own as are kept.
    let save = live.only("button", "Save");
    for _ in 0..110 {
        desk.ok(&["find", "--app", &live.app, "--role", "button", "--first"]);
    }
    let mut watch = desk.cli_spawn(&["watch", "--app", &live.app, "--for", "60000", "--max", "140"]);
    std::thread::sleep(Duration::from_millis(2_000));
    let mut lines = BufReader::new(watch.stdout.take().expect("its output")).lines();
    for turn in 0..140 {
        live.fixture.control(&format!("rename dead Turn {turn}"));
        let line: Value = serde_json::from_str(&lines.next().expect("a line").expect("UTF-8")).expect("JSON");
        assert_eq!(line["element"]["now"]["name"], format!("Turn {turn}").as_str(), "{line}");
        if turn == 139 {
            // The last line's refs are there as well.
            desk.ok(&["get", line["element"]["ref"].as_str().expect("a ref")]);
        }
    }
    watch.wait().expect("it ended");
    desk.ok(&["get", &save]);
    let kept = std::fs::read_dir(desk.dir.path().join("state/snapshots")).expect("snapshots");
    let of_watch =
        |e: std::io::Result<std::fs::DirEntry>| e.is_ok_and(|e| e.file_name().to_string_lossy().starts_with("sw-"));
    assert!((1..=24).contains(&kept.map(of_watch).filter(|w| *w).count()));
}

/// One application is silent; what another one closes is told all the same, once. A stopped application's window is watched
/// by the id that it had then, also when it goes on.
#[test]
fn a_silent_application_hides_nothing_of_another() {
    let desk = Desk::new();
    let (first, second) = (Live::start(&desk, "gtk3", "controls"), Live::start(&desk, "qt5", "dialogs"));
    second.fixture.control("show_dialog A");
    wait_for("the dialog", || desk.ok(&["list-windows"]).to_string().contains("Dialog A").then_some(()));
    first.fixture.app.signal("STOP");
    let by_system = desk.ok(&["list-windows"]);
    let its = |w: &&Value| w["pid"] == first.fixture.app.pid();
    let id = by_system.as_array().and_then(|w| w.iter().find(its)).expect("its window")["id"].as_str().expect("an id");
    let watch = desk.cli_spawn(&["watch", "--for", "12000"]);
    let wait = desk.cli_spawn(&["wait", "--event", "window-closed", "--timeout", "12000"]);
    let own = desk.cli_spawn(&["watch", "--window-id", id, "--for", "12000"]);
    std::thread::sleep(Duration::from_millis(5_000));
    second.fixture.control("close_dialog");
    let told = answer(wait).0;
    assert_eq!(told["data"]["event"]["window"]["title"], "Dialog A", "{told}");
    first.fixture.app.signal("CONT");
    let text = |child: Child| String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("UTF-8");
    let (all, own) = (text(watch), text(own));
    let closed: Vec<&str> = all.lines().filter(|l| l.contains("window-closed")).collect();
    assert!(closed.len() == 1 && closed[0].contains("Dialog A"), "{all}");
    assert!(own.contains("\"readable\"") && own.contains("\"ended\":\"time\""), "{own}");
}

/// Nobody reads its lines: a watch that is told to end ends all the same. What was ignored at its start stays so.
#[test]
fn a_watch_whose_reader_stalls_ends() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let mut child = desk.cli_spawn(&["watch", "--app", &live.app, "--for", "120000"]);
    std::thread::sleep(Duration::from_millis(1_500));
    // More than a pipe holds.
    let long = "x".repeat(3_000);
    for turn in 0..60 {
        live.fixture.control(&format!("rename dead {turn} {long}"));
        std::thread::sleep(Duration::from_millis(60));
    }
    std::thread::sleep(Duration::from_millis(2_000));
    let signal = |child: &Child, name: &str| {
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &pid]).status().expect("kill").success());
    };
    signal(&child, "TERM");
    signal(&child, "TERM");
    let ended = wait_for("its end", || child.try_wait().expect("its state"));
    assert!(ended.code().is_some(), "{ended:?}");
    let mut command = desk.command("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(agent_desktop_e2e::binary("agent-desktop"));
    command.args(["watch", "--app", &live.app, "--for", "6000"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = command.spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(2_000));
    signal(&child, "HUP");
    let last = answer_of_lines(child);
    assert_eq!(last["data"]["ended"], "time", "{last}");
}

fn answer_of_lines(child: Child) -> Value {
    let out = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    serde_json::from_str(text.lines().last().expect("the answer")).expect("JSON")
}
