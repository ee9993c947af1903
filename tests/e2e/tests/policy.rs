//! `--allow-app` and the policy file: another application is neither read nor operated.

use agent_desktop_e2e::{Desk, Live, Provider, refs_named};
use serde_json::{Value, json};

const ONLY: [&str; 2] = ["--allow-app", "fixture-gtk3"];

/// The accessibility bus's own monitor: every call to one application, whoever makes it.
struct Monitor(std::process::Child);

impl Monitor {
    /// Listens to the application of a window, whose id begins with its name on the bus.
    fn of(desk: &Desk, window: &str) -> Self {
        let bus = window.split('-').nth(1).expect("a name on the bus");
        let mut ask = desk.command("gdbus");
        ask.args(["call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus"]);
        let out = ask.args(["--method", "org.a11y.Bus.GetAddress"]).output().expect("gdbus runs");
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        let address = text.split('\'').nth(1).expect("an address");
        let mut command = desk.command("dbus-monitor");
        command.args(["--address", address, &format!("type='method_call',destination=':{bus}'")]);
        let child = command.stdout(std::process::Stdio::piped()).spawn().expect("dbus-monitor runs");
        std::thread::sleep(std::time::Duration::from_millis(500));
        Self(child)
    }

    /// The calls that it heard.
    fn stop(mut self) -> Vec<String> {
        std::thread::sleep(std::time::Duration::from_millis(300));
        self.0.kill().expect("it ends");
        let out = self.0.wait_with_output().expect("its output");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        text.lines().filter(|l| l.starts_with("method call")).map(str::to_owned).collect()
    }
}

fn denied(desk: &Desk, args: &[&str]) -> Value {
    let error = desk.err(&[args, &ONLY].concat());
    assert_eq!(error["code"], "POLICY_DENIED", "{args:?}: {error}");
    assert_eq!(error["details"]["kind"], "app_not_allowed", "{args:?}: {error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{args:?}: {error}");
    assert!(!error.to_string().contains("OK") && !error.to_string().contains("Simple window"), "{args:?}: {error}");
    error
}

/// The other application's own log shows that nothing of it was read but what tells its name.
#[test]
fn another_application_is_not_read() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let provider = Provider::start(&desk, "simple");
    let theirs =
        refs_named(&desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]), "button", "OK")[0].clone();
    let id = desk.ok(&["list-windows", "--app", "Simple"])[0]["id"].as_str().expect("an id").to_owned();
    let monitor = Monitor::of(&desk, &id);
    for args in [
        &["snapshot", "--app", "Simple"][..],
        &["find", "--app", "Simple", "--role", "button"],
        &["list-surfaces", "--app", "Simple"],
        &["click", &theirs],
        &["get", &theirs],
        &["is", &theirs],
        &["set-value", &theirs, "x"],
        &["wait", "--element", &theirs],
        &["close-app", "Simple"],
        &["launch", "gnome-calculator"],
        &["screenshot", "--screen", "0"],
        &["clipboard-get"],
        &["clipboard-set", "x"],
    ] {
        denied(&desk, args);
    }
    let own = desk.ok(&[&["list-windows"][..], &ONLY].concat());
    let owners: Vec<&str> = own.as_array().expect("windows").iter().filter_map(|w| w["app_name"].as_str()).collect();
    assert_eq!(owners, ["fixture-gtk3"], "{own}");
    let asked = monitor.stop();
    assert!(asked.iter().any(|l| l.contains("path=/org/a11y/atspi/accessible/root")), "nothing was heard: {asked:?}");
    for line in &asked {
        let name_only = line.contains("path=/org/a11y/atspi/accessible/root;") || line.contains("member=Ping");
        let children = line.contains("GetChildren") || line.contains("GetChildAtIndex") || line.contains("GetItems");
        assert!(name_only && !children, "it was read: {line}");
    }
    assert_eq!(provider.writes("ok", "DoAction"), 0);
    // What is permitted works as ever.
    let save = live.only("button", "Save");
    live.once(&["click", &save, "--allow-app", "fixture-gtk3"], "clicked", "save", Value::Null);
    assert_eq!(desk.ok(&[&["status"][..], &ONLY].concat())["allowed_apps"], json!(["fixture-gtk3"]));
}

/// Keys and the pointer reach whatever is in front or on top: they are refused where that is another application.
#[test]
fn input_reaches_permitted_windows_only() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let other = Live::start(&desk, "gtk4", "controls");
    let window = |app: &str| desk.ok(&["list-windows", "--app", app])[0].clone();
    let (own, theirs) = (window(&live.app), window(&other.app));
    desk.ok(&["focus-window", "--window-id", theirs["id"].as_str().expect("an id")]);
    let before = (live.landed().len(), other.landed().len());
    denied(&desk, &["press", "space"]);
    denied(&desk, &["press", "space", "--app", "fixture-gtk4"]);
    denied(&desk, &["focus-window", "--app", "fixture-gtk4"]);
    let middle = |w: &Value| {
        let b = |key: &str| w["bounds"][key].as_f64().expect("bounds");
        format!("{},{}", b("x") + b("width") / 2.0, b("y") + b("height") / 2.0)
    };
    denied(&desk, &["mouse-click", "--xy", &middle(&theirs), "--headed"]);
    denied(&desk, &["mouse-move", "--xy", &middle(&theirs), "--headed"]);
    denied(&desk, &["mouse-wheel", "--x", "1", "--y", "1", "--headed"]);
    // A drop reaches what it is dropped on, wherever the drag began.
    let id = |w: &Value| w["id"].as_str().expect("an id").to_owned();
    desk.ok(&["move-window", "--window-id", &id(&own), "--x", "0", "--y", "0"]);
    desk.ok(&["focus-window", "--window-id", &id(&theirs)]);
    let theirs = window(&other.app);
    desk.ok(&["--headed", "mouse-move", "--xy", "30,60", "--expect-window", &id(&own)]);
    denied(&desk, &["drag", "--from-xy", "30,60", "--to-xy", &middle(&theirs), "--headed"]);
    denied(&desk, &["drag", "--from-xy", &middle(&theirs), "--to-xy", "30,60", "--headed"]);
    desk.ok(&["mouse-down", "--xy", "30,60", "--headed", "--allow-app", "fixture-gtk3"]);
    // The press brought the window to the front.
    desk.ok(&["focus-window", "--window-id", &id(&theirs)]);
    denied(&desk, &["mouse-up", "--xy", &middle(&theirs), "--headed"]);
    desk.ok(&["mouse-up", "--xy", "30,60", "--headed", "--allow-app", "fixture-gtk3"]);
    live.fixture.control("fence");
    other.fixture.control("fence");
    assert_eq!((live.landed().len(), other.landed().len()), before);
    desk.ok(&["focus-window", "--window-id", own["id"].as_str().expect("an id"), "--allow-app", "fixture-gtk3"]);
    desk.ok(&["press", "space", "--allow-app", "fixture-gtk3"]);
}

/// A file binds every caller of the state root; the flag narrows it further; a damaged file permits nothing.
#[test]
fn a_policy_file_binds_every_command() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let file = desk.dir.path().join("state/policy.json");
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("the state root");
    let app = live.app.as_str();
    std::fs::write(&file, r#"{"allow_apps": ["gnome-calculator"]}"#).expect("the file");
    assert_eq!(desk.err(&["snapshot", "--app", app])["details"]["kind"], "app_not_allowed");
    assert_eq!(desk.err(&["snapshot", "--app", app, "--allow-app", app])["details"]["kind"], "app_not_allowed");
    std::fs::write(&file, r#"{"allow_apps": ["gnome-calculator", "fixture-gtk3"]}"#).expect("the file");
    desk.ok(&["snapshot", "--app", app]);
    let error = desk.err(&["snapshot", "--app", app, "--allow-app", "gnome-calculator"]);
    assert_eq!(error["details"]["kind"], "app_not_allowed", "{error}");
    std::fs::write(&file, r#"{"allow_app": ["fixture-gtk3"]}"#).expect("the file");
    let error = desk.err(&["snapshot", "--app", app]);
    assert_eq!(
        (error["code"].as_str(), error["details"]["kind"].as_str()),
        (Some("POLICY_DENIED"), Some("policy_file"))
    );
    // A list would be understood as the fields in their order.
    std::fs::write(&file, r#"[["fixture-gtk3"], true, true]"#).expect("the file");
    for args in [&["snapshot", "--app", app][..], &["screenshot"], &["clipboard-get"]] {
        assert_eq!(desk.err(args)["details"]["kind"], "policy_file", "{args:?}");
    }
    // What speaks to no desktop goes on, and letting go is no risk.
    desk.ok(&["version"]);
    std::fs::remove_file(&file).expect("the file");
    desk.ok(&["--headed", "key-down", "shift"]);
    std::fs::write(&file, "{").expect("the file");
    let error = desk.err(&["status", "--release"]);
    assert_eq!(error["details"]["kind"], "policy_file", "{error}");
    assert!(error["details"]["released"].to_string().contains("shift"), "{error}");
    std::fs::remove_file(&file).expect("the file");
    assert_eq!(desk.ok(&["status"])["held"], json!([]));
    desk.ok(&["--headed", "key-down", "shift"]);
    std::fs::write(&file, "{").expect("the file");
    desk.ok(&["--headed", "key-up", "shift"]);
    std::fs::remove_file(&file).expect("the file");
    desk.ok(&["snapshot", "--app", app]);
}

/// Whoever looks through an unattended run finds what was refused.
#[test]
fn a_refusal_leaves_a_line_in_the_trace() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let id = desk.ok(&["session", "start"])["session_id"].as_str().expect("an id").to_owned();
    desk.err(&["snapshot", "--app", &live.app, "--allow-app", "another", "--session", &id]);
    desk.ok(&["snapshot", "--app", &live.app, "--allow-app", &live.app, "--session", &id]);
    let dir = desk.dir.path().join("state/sessions").join(&id).join("trace");
    let lines: String = std::fs::read_dir(dir)
        .expect("a trace")
        .flatten()
        .filter_map(|f| std::fs::read_to_string(f.path()).ok())
        .collect();
    let denied: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).expect("a line of JSON"))
        .filter(|l: &Value| l["event"] == "policy.denied")
        .collect();
    assert_eq!(denied.len(), 1, "{lines}");
    assert_eq!(
        (denied[0]["command"].as_str(), denied[0]["kind"].as_str()),
        (Some("snapshot"), Some("app_not_allowed"))
    );
}

/// A popup of a refused application holds the keyboard: keys would go there, whichever window is in front. A key that is
/// held would go on in another window.
#[test]
fn keys_go_to_no_refused_application_by_other_ways() {
    let desk = Desk::new();
    let refused = Live::start(&desk, "gtk3", "controls");
    let permitted = Live::start(&desk, "qt5", "controls");
    let pick = refused.only("combobox", "Pick");
    desk.ok(&["focus-window", "--app", &refused.app]);
    desk.ok(&["--headed", "click", &pick]);
    agent_desktop_e2e::wait_for("its list", || {
        let open = desk.ok(&["list-surfaces", "--app", &refused.app])["surfaces"].to_string();
        open.contains("menu").then_some(())
    });
    let only = ["--allow-app", permitted.app.as_str()];
    for args in
        [&["press", "Down", "--app", &permitted.app][..], &["--headed", "press", "Return", "--app", &permitted.app]]
    {
        let error = desk.err(&[args, &only].concat());
        assert_eq!(error["details"]["kind"], "keyboard_grabbed", "{args:?}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    }
    refused.fixture.control("fence");
    assert!(!refused.landed().iter().any(|l| l["event"] == "selected"), "{:?}", refused.landed());
    // Its own keys reach it.
    desk.ok(&["press", "escape", "--app", &refused.app]);
    desk.ok(&[&["press", "Down", "--app", &permitted.app][..], &only].concat());
    let error = desk.err(&[&["--headed", "key-down", "z"][..], &only].concat());
    assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("POLICY_DENIED"), &json!("app_not_allowed")));
    desk.ok(&[&["--headed", "key-down", "shift"][..], &only].concat());
    desk.ok(&[&["--headed", "key-up", "shift"][..], &only].concat());
}
