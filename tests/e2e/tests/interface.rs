//! The program as a script meets it, on a live desktop: pipes, exit codes, refusals that change nothing.

use agent_desktop_e2e::{Desk, Provider, refs_named, wait_for};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
    ("trace", &["show"]),
    ("cursor-overlay", &["disable"]),
    ("status", &[]),
    ("permissions", &[]),
    ("version", &[]),
    ("batch", &["[]"]),
    ("skills", &[]),
];

/// What can't be understood (exit code 2), and what is understood and against the rules (exit code 1).
const BAD: &[(i32, &[&str])] = &[
    (2, &["clack"]),
    (2, &["click", "REF", "--nope"]),
    (2, &["click", "REF", "--timeout-ms", "soon"]),
    (2, &["click", "REF", "--timeout-ms", "-1"]),
    (2, &["click", "REF", "REF"]),
    (2, &["snapshot", "--app", "Simple", "--max-depth", "300"]),
    (2, &["get", "REF", "--property", "colour"]),
    (1, &["click", "@e1"]),
    (1, &["click", "e1"]),
    (1, &["click", "REF0"]),
    (1, &["set-value", "REF"]),
    (1, &["type", "REF", "x", "--stdin"]),
    (1, &["click", "REF", "--timeout-ms", "86400001"]),
    (1, &["scroll", "REF", "--amount", "0"]),
    (1, &["find", "--app", "Simple", "--role", "knob"]),
    (1, &["find", "--app", "Simple", "--state", "sparkling"]),
    (1, &["find", "--app", "Simple", "--root", "@e1"]),
    (1, &["snapshot", "--root", "REF", "--surface", "menu"]),
    (1, &["snapshot", "--app", "Simple", "--session", "a b"]),
    (1, &["snapshot", "--app", "Simple", "--session", "../x"]),
    (1, &["snapshot", "--app", "Simple", "--agent-id", ""]),
    (1, &["snapshot", "--app", " "]),
    (1, &["wait", "86400001"]),
];

/// Every file below a directory with its content.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut out, mut open) = (BTreeMap::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => open.push(path),
                false => drop(out.insert(path.clone(), std::fs::read(&path).expect("a file of the state"))),
            }
        }
    }
    out
}

fn product(desk: &Desk) -> Command {
    let mut command = desk.command(agent_desktop_e2e::binary("agent-desktop"));
    command.stdin(Stdio::null());
    command
}

fn envelope(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn ok_button(desk: &Desk) -> String {
    refs_named(&desk.ok(&["snapshot", "--app", "Simple"]), "button", "OK")[0].clone()
}

#[test]
fn bad_input_reaches_nothing_and_writes_nothing() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let button = ok_button(&desk);
    let state = desk.dir.path().join("state");
    let before = files(&state);
    for (exit, args) in BAD {
        let args: Vec<String> = args.iter().map(|a| a.replace("REF", &button)).collect();
        // "REF0" is the ref with its number made non-canonical.
        let args: Vec<String> =
            args.into_iter().map(|a| if a == format!("{button}0") { button.replace(":e", ":e0") } else { a }).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let reply = desk.cli(&args);
        let error = reply.error();
        assert_eq!(reply.code, *exit, "{args:?}: {error}");
        assert_eq!(error["code"], "INVALID_ARGS", "{args:?}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{args:?}: {error}");
        assert_eq!(reply.envelope()["command"] == "unknown", *exit == 2, "{args:?}");
    }
    let odd = product(&desk).arg("launch").arg(OsStr::from_bytes(b"x\xff")).output().expect("the product runs");
    assert_eq!((odd.status.code(), &envelope(&odd)["error"]["code"]), (Some(2), &json!("INVALID_ARGS")));
    for (name, value) in [("AGENT_DESKTOP_HOME", "relative/dir"), ("AGENT_DESKTOP_SESSION", "a/b")] {
        let error = desk.cli_with(&["snapshot", "--app", "Simple"], &[(name, value)], None).error();
        assert_eq!(error["code"], "INVALID_ARGS", "{name}={value}: {error}");
    }
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.log(), Vec::<Value>::new(), "something reached the application");
    assert_eq!(files(&state), before, "the state was changed");
    // The way was open all the time.
    desk.ok(&["click", &button]);
    assert_eq!(provider.writes("ok", "DoAction"), 1);
}

#[test]
fn every_command_of_the_contract_is_there() {
    assert_eq!(COMMANDS.len(), 60);
    let desk = Desk::new();
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

#[test]
fn exit_code_unclear() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let button = ok_button(&desk);
    assert_eq!(desk.cli(&["click", &button]).code, 0);
    let refused = desk.cli(&["double-click", &button]);
    assert_eq!(refused.code, 1);
    let error = refused.error();
    assert_eq!(error["code"], "POLICY_DENIED");
    assert_eq!(error["disposition"], json!({"delivery": "not_delivered", "retry": "safe"}));
    assert_eq!(error["recovery"]["strategy"], "request_explicit_policy_then_retry_original", "{error}");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1, "the refused double click did nothing");
    // Whether something may have happened stands in the answer, not in the exit code.
    let provider = Provider::start(&desk, "dies-on-action");
    let snapshot = desk.ok(&["snapshot", "--app", "Dies on action"]);
    let mortal = refs_named(&snapshot, "button", "OK")[0].clone();
    let reply = desk.cli(&["click", &mortal]);
    assert_eq!(reply.code, 1);
    let error = reply.error();
    assert_ne!(error["disposition"]["retry"], "safe", "{error}");
    assert_eq!(provider.writes("ok", "DoAction"), 1, "{:?}", provider.log());
}

#[test]
fn panic_on_head() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "hundred-thousand-cached");
    // More than a pipe holds, so that the reader is certainly gone in the middle of the answer.
    let mut child = desk.cli_spawn(&["snapshot", "--app", "Many", "--timeout-ms", "60000"]);
    let mut first = [0; 16];
    let mut out = child.stdout.take().expect("its output");
    out.read_exact(&mut first).expect("the head of the answer");
    drop(out);
    let mut stderr = String::new();
    child.stderr.take().expect("its messages").read_to_string(&mut stderr).expect("UTF-8");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("could not be written"), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn no_desktop() {
    let desk = Desk::new();
    let state = desk.dir.path().join("elsewhere");
    for (missing, left) in [("everything", vec![]), ("the session bus", vec!["DISPLAY", "XAUTHORITY"])] {
        for args in [&["snapshot"][..], &["list-apps"], &["find", "--role", "button"], &["launch", "gnome-calculator"]]
        {
            let mut command = Command::new(agent_desktop_e2e::binary("agent-desktop"));
            command.env_clear().envs(desk.env.iter().filter(|(k, _)| left.contains(&k.as_str())).cloned());
            command.env("AGENT_DESKTOP_HOME", &state).args(args).stdin(Stdio::null());
            let output = command.output().expect("the product runs");
            let error = envelope(&output)["error"].take();
            assert_eq!(output.status.code(), Some(1), "without {missing}: {args:?}: {error}");
            assert_eq!(error["code"], "PLATFORM_NOT_SUPPORTED", "without {missing}: {args:?}: {error}");
            assert_eq!(error["details"]["kind"], "no_desktop", "without {missing}: {args:?}: {error}");
            assert_eq!(error["disposition"]["delivery"], "not_delivered");
            let suggestion = error["suggestion"].as_str().unwrap_or("");
            assert!(suggestion.contains("desktop run"), "without {missing}: {args:?}: {error}");
            assert!(output.stderr.is_empty(), "no stack trace: {output:?}");
        }
    }
    assert!(files(&state).is_empty());
}

#[test]
fn launch_holds_pipe() {
    let desk = Desk::new();
    let mut child = desk.cli_spawn(&["launch", "gnome-calculator"]);
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().expect("stdout").read_to_string(&mut out).expect("the end of standard output");
    child.stderr.take().expect("stderr").read_to_string(&mut err).expect("the end of standard error");
    assert!(child.wait().expect("it ends").success(), "{out}{err}");
    let answer: Value = serde_json::from_str(&out).expect("the envelope alone");
    let pid = answer["data"]["pid"].as_u64().expect("a pid");
    // Both pipes have ended and the application lives, with nothing of ours open.
    assert!(desk.walk(pid as u32, &["--light"])["count"].as_u64().is_some_and(|n| n > 10));
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors").flatten() {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        let number = entry.file_name();
        let standard = ["0", "1", "2"].iter().any(|n| number == *n);
        assert!(!standard || target == Path::new("/dev/null"), "{} -> {}", entry.path().display(), target.display());
    }
    desk.ok(&["close-app", "gnome-calculator"]);
    wait_for("the calculator to end", || (!Path::new(&format!("/proc/{pid}/fd/0")).exists()).then_some(()));
}

/// A user who may write anywhere is given no such right, and the same file permissions hold for everybody.
#[test]
fn a_read_only_state_directory_is_named() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let button = ok_button(&desk);
    let state = desk.dir.path().join("state");
    let before = files(&state);
    let set = |mode: u32| {
        let mut open = vec![state.clone()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).expect("the state").flatten() {
                if entry.path().is_dir() {
                    open.push(entry.path());
                }
            }
            std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode)).expect("its mode");
        }
    };
    set(0o500);
    let run = |args: &[&str]| {
        let mut command = desk.command("setpriv");
        command.args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--"]);
        command.arg(agent_desktop_e2e::binary("agent-desktop")).args(args).stdin(Stdio::null());
        envelope(&command.output().expect("setpriv runs"))
    };
    let snapshot = run(&["snapshot", "--app", "Simple"]);
    let reading = run(&["list-apps"]);
    set(0o700);
    // Refs that were never kept would be refs to nothing.
    assert_eq!(snapshot["error"]["code"], "PERM_DENIED", "{snapshot}");
    assert_eq!(snapshot["error"]["details"]["kind"], "state_not_writable", "{snapshot}");
    assert_eq!(snapshot["error"]["disposition"]["delivery"], "not_delivered", "{snapshot}");
    assert_eq!(reading["ok"], true, "what keeps nothing works: {reading}");
    assert_eq!(files(&state), before);
    desk.ok(&["click", &button]);
    assert_eq!(provider.writes("ok", "DoAction"), 1);
}

/// State of somebody else, a link, or a place that others can write to: refused before anything runs.
#[test]
fn foreign_tmp_dir() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let real = desk.dir.path().join("real");
    std::fs::create_dir(&real).expect("a directory");
    let link = desk.dir.path().join("link");
    std::os::unix::fs::symlink(&real, &link).expect("a link");
    let file = desk.dir.path().join("file");
    std::fs::write(&file, "not ours to replace").expect("a file");
    // The test's user can't give a directory away, but no user owns what is another's: /proc/1 for anybody but
    // root, and what belongs to nobody for root.
    let foreign = desk.dir.path().join("foreign");
    std::fs::create_dir(&foreign).expect("a directory");
    let given = std::os::unix::fs::chown(&foreign, Some(65_534), Some(65_534)).is_ok();
    let foreign = if given { foreign } else { PathBuf::from("/root") };
    for root in [&link, &file, &foreign] {
        let text = root.to_str().expect("UTF-8");
        for args in [&["snapshot", "--app", "Simple"][..], &["list-apps"], &["click", "@s0000:e1"]] {
            let error = desk.cli_with(args, &[("AGENT_DESKTOP_HOME", text)], None).error();
            assert_eq!(error["code"], "PERM_DENIED", "{text}: {args:?}: {error}");
            assert_eq!(error["disposition"]["delivery"], "not_delivered", "{text}: {error}");
        }
    }
    assert!(files(&real).is_empty(), "nothing was written through the link");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "not ours to replace");
    assert!(provider.log().is_empty(), "nothing ran");
}
