//! The program as a script sees it: envelopes, exit codes, streams. Needs no desktop.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Output, Stdio};

/// A run that can't see the desktop of whoever runs the tests.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-desktop"));
    command.env_clear().env("HOME", env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

/// The envelope: exactly one line that agrees with the exit code.
fn envelope(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "{output:?}");
    let envelope: Value = serde_json::from_str(text).unwrap();
    assert_eq!(envelope["version"], "2.6");
    assert_eq!(envelope["ok"], output.status.success());
    assert_ne!(envelope.get("data").is_some(), envelope.get("error").is_some());
    envelope
}

fn refused(args: &[&str], exit: i32, code: &str) -> Value {
    let output = run(args);
    let envelope = envelope(&output);
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {envelope}");
    let error = &envelope["error"];
    assert_eq!(error["code"], code, "{args:?}: {envelope}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{args:?}");
    assert_eq!(error["disposition"]["retry"], "safe", "{args:?}");
    envelope
}

#[test]
fn version_and_skills_need_no_desktop() {
    let version = envelope(&run(&["version"]));
    assert_eq!(version["command"], "version");
    for key in ["version", "target", "os"] {
        assert!(version["data"][key].as_str().is_some_and(|s| !s.is_empty()), "{version}");
    }
    let list = envelope(&run(&["skills"]));
    assert_eq!(list, envelope(&run(&["skills", "list"])));
    let names: Vec<&str> =
        list["data"]["skills"].as_array().unwrap().iter().filter_map(|s| s["name"].as_str()).collect();
    assert!(names.contains(&"agent-desktop"), "{names:?}");
    let skill = envelope(&run(&["skills", "get", "desktop"]));
    assert!(skill["data"]["content"].as_str().unwrap().contains("@<snapshot_id>:eN"));
    if cfg!(target_os = "linux") {
        let skill = envelope(&run(&["skills", "get", "platform"]));
        assert_eq!(skill["data"]["skill"], "agent-desktop-linux");
    }
    assert_eq!(envelope(&run(&["skills", "path"]))["data"]["location"], "embedded");
    refused(&["skills", "get", "nope"], 1, "INVALID_ARGS");
}

#[test]
fn only_help_version_and_the_bare_program_print_text() {
    for args in [&["--help"][..], &["--version"], &[], &["click", "--help"], &["-h"]] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.starts_with('{') && !text.is_empty(), "{args:?}: {text}");
    }
    let help = String::from_utf8(run(&[]).stdout).unwrap();
    assert_eq!(help, String::from_utf8(run(&["--help"]).stdout).unwrap());
    assert!(help.contains("skills get desktop"), "{help}");
}

#[test]
fn exit_code_unclear() {
    // 2: the command line could not be parsed; 1: understood and refused; 0: done. All are envelopes.
    assert_eq!(refused(&["no-such-command"], 2, "INVALID_ARGS")["command"], "unknown");
    assert_eq!(refused(&["click", "@e1"], 1, "INVALID_ARGS")["command"], "click");
    assert_eq!(run(&["version"]).status.code(), Some(0));
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let long = format!("@s8f3:e1{}", "0".repeat(100));
    let parse: &[&[&str]] = &[
        &["--headed"],
        &["clack"],
        &["click"],
        &["click", "@s8f3:e1", "--nope"],
        &["click", "@s8f3:e1", "--timeout-ms", "soon"],
        &["click", "@s8f3:e1", "--timeout-ms", "-1"],
        &["get", "@s8f3:e1", "--property", "colour"],
        &["snapshot", "--max-depth", "300"],
        &["wait", "soon"],
        &["mouse-wheel", "--x", "a", "--y", "1"],
        &["launch", "x", "--cdp", "70000"],
        &["snapshot", "extra"],
        &["desktop", "fly"],
    ];
    let rules: &[&[&str]] = &[
        &["click", "@e1"],
        &["click", "e1"],
        &["click", "@s8f3:e0"],
        &["click", "@s8f3:e01"],
        &["click", "@../..:e1"],
        &["click", &long],
        &["click", ""],
        &["type", "@s8f3:e1"],
        &["type", "@s8f3:e1", "x", "--stdin"],
        &["set-value", "@s8f3:e1"],
        &["scroll", "@s8f3:e1", "--amount", "0"],
        &["find", "--role", "knob"],
        &["find", "--state", "sparkling"],
        &["find", "--state", "checked=maybe"],
        &["find", "--first", "--last"],
        &["find", "--name", " "],
        &["find", "--root", "@s8f3:e1", "--surface", "menu"],
        &["snapshot", "--app", ""],
        &["snapshot", "--surface", "ceiling"],
        &["snapshot", "--root", "@e1"],
        &["snapshot", "--root", "@s8f3:e1", "--surface", "menu"],
        &["snapshot", "--timeout-ms", "86400001"],
        &["wait"],
        &["wait", "5", "--menu"],
        &["wait", "86400001"],
        &["wait", "--menu", "--count", "2"],
        &["wait", "--element", "@s8f3:e1", "--predicate", "value"],
        &["launch", ""],
        &["launch", "x", "--env", "A"],
        &["launch", "x", "--cdp", "--arg", "--remote-debugging-port=1"],
        &["close-app", " "],
        &["--headed", "mouse-move", "--xy", "1"],
        &["--headed", "mouse-click", "--xy", "1,2", "--count", "0"],
        &["desktop", "stop"],
        &["desktop", "start", "--size", "big"],
        &["version", "--session", "a b"],
        &["version", "--session", ""],
        &["version", "--wait-timeout", "1"],
        &["version", "--wait-for", "button"],
        &["version", "--debug"],
        &["version", "--desktop", "../x"],
        &["skills", "get"],
    ];
    for (table, exit) in [(parse, 2), (rules, 1)] {
        for args in table {
            let output = program().env("HOME", home.path()).args(*args).output().unwrap();
            let envelope = envelope(&output);
            assert_eq!(output.status.code(), Some(exit), "{args:?}: {envelope}");
            assert_eq!(envelope["error"]["code"], "INVALID_ARGS", "{args:?}: {envelope}");
            assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{args:?}");
            let message = envelope["error"]["message"].as_str().unwrap();
            assert!(!message.is_empty() && message.chars().count() <= 512, "{args:?}: {message}");
            assert_eq!(envelope["command"] == "unknown", exit == 2, "{args:?}");
        }
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "something was written");
}

#[test]
fn bytes_that_are_no_text_are_invalid() {
    let odd = std::ffi::OsString::from_vec(vec![b'x', 0xff]);
    let output = program().arg("launch").arg(odd).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(envelope(&output)["error"]["details"]["kind"], "not_utf8");
}

#[test]
fn the_environment_is_checked_before_anything_runs() {
    for (name, value) in [
        ("AGENT_DESKTOP_HOME", ""),
        ("AGENT_DESKTOP_HOME", "relative/dir"),
        ("AGENT_DESKTOP_SESSION", ""),
        ("AGENT_DESKTOP_SESSION", "a/b"),
        ("AGENT_DESKTOP_AGENT_ID", "a b"),
        ("AGENT_DESKTOP_DESKTOP", "a b"),
    ] {
        let output = program().env(name, value).arg("version").output().unwrap();
        let envelope = envelope(&output);
        assert_eq!(output.status.code(), Some(1), "{name}={value}");
        assert_eq!(envelope["error"]["code"], "INVALID_ARGS", "{name}={value}: {envelope}");
        assert_eq!(envelope["command"], "version");
    }
    // The flag wins over the variable.
    let output = program().env("AGENT_DESKTOP_SESSION", "").args(["version", "--session", "ok"]).output().unwrap();
    assert!(output.status.success());
}

#[test]
fn foreign_state_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("real")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
    let output = program().env("AGENT_DESKTOP_HOME", dir.path().join("link")).arg("version").output().unwrap();
    assert_eq!(envelope(&output)["error"]["code"], "PERM_DENIED");
}

#[test]
fn physical_commands_need_headed_and_say_how() {
    for args in [
        &["double-click", "@s8f3:e1"][..],
        &["triple-click", "@s8f3:e1"],
        &["hover", "--xy", "1,2"],
        &["drag", "--from-xy", "1,2", "--to-xy", "3,4"],
        &["mouse-move", "--xy", "1,2"],
        &["mouse-click", "--xy=-1,2"],
        &["mouse-wheel", "--x", "1", "--y", "2"],
        &["mouse-down", "--xy", "1,2"],
        &["mouse-up", "--xy", "1,2"],
        &["open-system-surface", "--surface", "dock"],
    ] {
        let envelope = refused(args, 1, "POLICY_DENIED");
        assert_eq!(
            envelope["error"]["recovery"]["strategy"], "request_explicit_policy_then_retry_original",
            "{args:?}"
        );
    }
}

#[test]
fn what_is_not_built_says_so() {
    for args in [&["list-notifications"][..], &["wait", "--notification"]] {
        let envelope = refused(args, 1, "PLATFORM_NOT_SUPPORTED");
        assert_eq!(envelope["error"]["details"]["kind"], "not_available", "{args:?}: {envelope}");
    }
}

#[test]
fn closed_streams_are_no_empty_ones() {
    let shell = |script: &str| {
        Command::new("sh")
            .args(["-c", script])
            .env("AD", env!("CARGO_BIN_EXE_agent-desktop"))
            .env("AGENT_DESKTOP_HOME", tempfile::tempdir().unwrap().path())
            .output()
            .unwrap()
    };
    let out = shell("\"$AD\" set-value @s8f3:e1 --stdin <&-");
    assert_eq!(out.status.code(), Some(1));
    let envelope: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(envelope["error"]["code"], "INVALID_ARGS", "{envelope}");
    assert!(envelope["error"]["message"].as_str().unwrap().contains("closed"), "{envelope}");
    let out = shell("\"$AD\" version >&-");
    assert_eq!(out.status.code(), Some(1), "an answer that nobody can read is no success");
    assert!(String::from_utf8_lossy(&out.stderr).contains("nothing was done"));
}

#[test]
fn panic_on_head() {
    // Standard output is a pipe that nobody reads any more: a message, exit 1, no panic.
    for args in [&["version"][..], &["--help"], &["no-such-command"], &["skills", "get", "desktop", "--full"]] {
        let mut child =
            program().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let status = child.wait().unwrap();
        // The pipe may be closed after a short answer was written: then it counts as written.
        assert!(matches!(status.code(), Some(0..=2)), "{args:?}: {status}");
        assert!(!stderr.contains("panicked") && !stderr.contains("internal error"), "{args:?}: {stderr}");
    }
    // A device that refuses every byte shows the same without a race.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = program().arg("version").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"));
}

#[test]
fn secret_in_argv() {
    // Text from standard input stands in no argument, and no error shows it.
    let mut child = program()
        .args(["set-value", "@s8f3:e1", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hunter2\0").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(envelope(&output)["error"]["code"], "INVALID_ARGS");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("hunter2"));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("hunter2"));
}

#[test]
fn no_desktop() {
    // Over SSH or in a container: what is missing and how to get it, for every command that needs one.
    for args in [
        &["status"][..],
        &["list-apps"],
        &["list-windows"],
        &["snapshot"],
        &["snapshot", "--app", "editor"],
        &["find", "--role", "button"],
        &["launch", "editor"],
        &["close-app", "editor"],
        &["wait", "--menu", "--timeout", "0"],
    ] {
        let error = refused(args, 1, "PLATFORM_NOT_SUPPORTED")["error"].take();
        assert_eq!(error["details"]["kind"], "no_desktop", "{args:?}: {error}");
        assert!(error["suggestion"].as_str().unwrap().contains("desktop run"), "{args:?}: {error}");
    }
    let error = refused(&["--desktop", "nosuch", "status"], 1, "INVALID_ARGS")["error"].take();
    assert_eq!(error["details"]["kind"], "no_such_desktop");
}

#[test]
fn desktop_run_answers_on_standard_error() {
    // Standard output is the command's. 125: the desktop; 127: no such command, where a desktop could be started.
    for (args, codes) in [(&["desktop", "run"][..], &[125][..]), (&["desktop", "run", "--", "/no/such"], &[125, 127])] {
        let output = run(args);
        assert!(codes.contains(&output.status.code().unwrap()), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let envelope: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((&envelope["command"], &envelope["ok"]), (&Value::from("desktop"), &Value::from(false)));
    }
}

#[test]
fn a_pause_pauses() {
    let begun = std::time::Instant::now();
    let answer = envelope(&run(&["wait", "60"]));
    assert_eq!(answer["data"]["waited_ms"], 60);
    assert!(begun.elapsed().as_millis() >= 60);
}

#[test]
fn logs_stay_off_standard_output() {
    let output = program().env("RUST_LOG", "trace").args(["-v", "version"]).output().unwrap();
    envelope(&output);
    assert!(!String::from_utf8_lossy(&output.stderr).contains('\u{1b}'));
}

#[test]
fn docs_are_those_of_this_program() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let made = String::from_utf8(run(&["__docs"]).stdout).unwrap();
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(made == kept, "docs/commands.md has drifted: agent-desktop __docs > docs/commands.md");
}
