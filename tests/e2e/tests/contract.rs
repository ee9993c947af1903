//! The 60 names of the contract: each is there, and what is not built says so.

use agent_desktop_e2e::Desk;

/// Every command with arguments that are sound, on refs and names that nothing answers to.
const COMMANDS: &[(&str, &[&str])] = &[
    ("snapshot", &["--app", "nobody"]),
    ("find", &["--app", "nobody"]),
    ("get", &["@s0000:e1"]),
    ("is", &["@s0000:e1"]),
    ("screenshot", &["--app", "nobody"]),
    ("list-surfaces", &["--app", "nobody"]),
    ("click", &["@s0000:e1"]),
    ("double-click", &["@s0000:e1"]),
    ("triple-click", &["@s0000:e1"]),
    ("right-click", &["@s0000:e1"]),
    ("type", &["@s0000:e1", "x"]),
    ("set-value", &["@s0000:e1", "x"]),
    ("clear", &["@s0000:e1"]),
    ("focus", &["@s0000:e1"]),
    ("select", &["@s0000:e1", "x"]),
    ("toggle", &["@s0000:e1"]),
    ("check", &["@s0000:e1"]),
    ("uncheck", &["@s0000:e1"]),
    ("expand", &["@s0000:e1"]),
    ("collapse", &["@s0000:e1"]),
    ("scroll", &["@s0000:e1"]),
    ("scroll-to", &["@s0000:e1"]),
    ("press", &["shift+F12"]),
    ("key-down", &["shift"]),
    ("key-up", &["shift"]),
    ("hover", &["--xy", "1,2"]),
    ("drag", &["--from-xy", "1,2", "--to-xy", "3,4"]),
    ("mouse-move", &["--xy", "1,2"]),
    ("mouse-click", &["--xy", "1,2"]),
    ("mouse-wheel", &["--x", "1", "--y", "2"]),
    ("mouse-down", &["--xy", "1,2"]),
    ("mouse-up", &["--xy", "1,2"]),
    ("launch", &["no-such-application"]),
    ("close-app", &["nobody"]),
    ("list-apps", &[]),
    ("list-windows", &[]),
    ("list-displays", &[]),
    ("focus-window", &["--app", "nobody"]),
    ("resize-window", &["--app", "nobody", "--width", "300", "--height", "200"]),
    ("move-window", &["--app", "nobody", "--x", "1", "--y", "2"]),
    ("minimize", &["--app", "nobody"]),
    ("maximize", &["--app", "nobody"]),
    ("restore", &["--app", "nobody"]),
    ("open-system-surface", &["--surface", "dock"]),
    ("list-notifications", &[]),
    ("dismiss-notification", &["1", "--expected-app", "nobody"]),
    ("dismiss-all-notifications", &[]),
    ("notification-action", &["1", "open", "--expected-app", "nobody"]),
    ("clipboard-get", &[]),
    ("clipboard-set", &["x"]),
    ("clipboard-clear", &[]),
    ("wait", &["1"]),
    ("session", &["list"]),
    ("trace", &["show", "--session", "contract"]),
    ("cursor-overlay", &["disable", "--session", "contract"]),
    ("status", &[]),
    ("permissions", &[]),
    ("version", &[]),
    ("batch", &[r#"[{"command":"version"}]"#]),
    ("skills", &[]),
];

#[test]
fn every_command_of_the_contract_is_there() {
    assert_eq!(COMMANDS.len(), 60);
    let desk = Desk::new();
    desk.ok(&["session", "start", "--session", "contract"]);
    let mut missing = Vec::new();
    for (name, args) in COMMANDS {
        let all: Vec<&str> = [*name].iter().chain(*args).copied().chain(["--headed"]).collect();
        let reply = desk.cli(&all);
        let envelope = reply.envelope();
        assert_eq!(envelope["command"], *name, "{all:?}: {envelope}");
        if envelope["ok"] == true {
            continue;
        }
        let error = reply.error();
        assert_ne!(error["code"], "INVALID_ARGS", "{all:?}: {error}");
        assert_ne!(error["code"], "INTERNAL", "{all:?}: {error}");
        if error["code"] == "PLATFORM_NOT_SUPPORTED" {
            assert_eq!(error["details"]["kind"], "not_available", "{all:?}: {error}");
            assert_eq!(error["disposition"]["delivery"], "not_delivered", "{all:?}: {error}");
            missing.push(*name);
        }
    }
    // What reads and acts through accessibility is never among them.
    for (name, _) in &COMMANDS[..22] {
        assert!(*name == "screenshot" || !missing.contains(name), "{name} is not there");
    }
}
