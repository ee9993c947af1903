use super::*;
use agent_desktop_core::command::{NAMES, table::TABLE};
use serde_json::{Value, json};

fn command(args: &[&str]) -> Command {
    let argv: Vec<OsString> = std::iter::once("agent-desktop").chain(args.iter().copied()).map(Into::into).collect();
    match parse(&argv) {
        Parsed::Command(_, command) => *command,
        Parsed::Text(text) => panic!("{args:?}: {text}"),
        Parsed::Error(error) => panic!("{args:?}: {error}"),
    }
}

fn refused(args: &[&str]) -> Error {
    let argv: Vec<OsString> = std::iter::once("agent-desktop").chain(args.iter().copied()).map(Into::into).collect();
    match parse(&argv) {
        Parsed::Error(error) => error,
        _ => panic!("{args:?} was accepted"),
    }
}

/// The least that each command takes, on both ways in.
fn minimal(name: &str) -> (Vec<&'static str>, Value) {
    const REF: &str = "@s8f3k2p9:e1";
    match name {
        "get" | "is" | "click" | "double-click" | "triple-click" | "right-click" | "clear" | "focus" | "toggle"
        | "check" | "uncheck" | "expand" | "collapse" | "scroll" | "scroll-to" => (vec![REF], json!({"ref_id": REF})),
        "type" => (vec![REF, "hi"], json!({"ref_id": REF, "text": "hi"})),
        "set-value" | "select" => (vec![REF, "hi"], json!({"ref_id": REF, "value": "hi"})),
        "press" | "key-down" | "key-up" => (vec!["ctrl+s"], json!({"combo": "ctrl+s"})),
        "hover" | "mouse-move" | "mouse-click" | "mouse-down" | "mouse-up" => {
            (vec!["--xy", "1,2"], json!({"xy": "1,2"}))
        }
        "drag" => (vec!["--from", REF, "--to-xy", "1,2"], json!({"from": REF, "to_xy": "1,2"})),
        "mouse-wheel" => (vec!["--x", "1", "--y", "2"], json!({"x": 1.0, "y": 2.0})),
        "launch" | "close-app" => (vec!["editor"], json!({"app": "editor"})),
        "focus-window" => (vec!["--title", "x"], json!({"title": "x"})),
        "resize-window" => (vec!["--width", "1", "--height", "2"], json!({"width": 1.0, "height": 2.0})),
        "move-window" => (vec!["--x", "1", "--y", "-2"], json!({"x": 1.0, "y": -2.0})),
        "open-system-surface" => (vec!["--surface", "dock"], json!({"surface": "dock"})),
        "dismiss-notification" => (vec!["1", "--expected-app", "x"], json!({"index": 1, "expected_app": "x"})),
        "notification-action" => {
            (vec!["1", "Open", "--expected-app", "x"], json!({"index": 1, "action": "Open", "expected_app": "x"}))
        }
        "clipboard-set" => (vec!["x"], json!({"text": "x"})),
        "wait" => (vec!["5"], json!({"ms": 5})),
        "session" => (vec!["list"], json!({"operation": "list"})),
        "trace" => (vec!["show"], json!({"operation": "show"})),
        "cursor-overlay" => (vec!["enable"], json!({"operation": "enable"})),
        "batch" => (vec!["[]"], json!({"json": "[]"})),
        "desktop" => (vec!["list"], json!({"operation": "list"})),
        _ => (vec![], json!({})),
    }
}

#[test]
fn minimal_argv_and_minimal_json_are_equal_and_valid() {
    for name in NAMES {
        let (argv, args) = minimal(name);
        let parsed = command(&[&[*name], argv.as_slice()].concat());
        let read = Command::from_json(name, args).unwrap();
        assert_eq!(parsed, read, "{name}");
        assert_eq!(parsed.name(), *name);
        parsed.validate().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn full_argv_and_full_json_are_equal() {
    let find = ["find", "--role", "button", "--state", "checked", "--state", "busy=false", "--exact", "--nth", "2"];
    let args = json!({"role": "button", "state": ["checked", "busy=false"], "exact": true, "nth": 2});
    assert_eq!(command(&find), Command::from_json("find", args).unwrap());
    let launch = ["launch", "x", "--arg", "--flag", "--arg=-v", "--env", "A=b", "--cdp", "--no-attach"];
    let args = json!({"app": "x", "arg": ["--flag", "-v"], "env": ["A=b"], "cdp": 0, "no_attach": true});
    assert_eq!(command(&launch), Command::from_json("launch", args).unwrap());
    let scroll = ["scroll", "@abc:e1", "--direction", "left", "--amount", "5", "--timeout-ms", "0"];
    let args = json!({"ref_id": "@abc:e1", "direction": "left", "amount": 5, "timeout_ms": 0});
    assert_eq!(command(&scroll), Command::from_json("scroll", args).unwrap());
}

#[test]
fn unknown_keys_are_refused_in_every_command() {
    for name in NAMES {
        let mut args = minimal(name).1;
        args["no_such_key"] = json!(1);
        let error = Command::from_json(name, args).expect_err(name);
        assert!(error.message().starts_with(name), "{error}");
    }
    assert!(Command::from_json("no-such-command", json!({})).is_err());
    assert!(Command::from_json("snapshot", json!([])).is_err());
    assert_eq!(Command::from_json("status", Value::Null).unwrap().name(), "status");
}

#[test]
fn json_errors_never_quote_text_that_may_be_secret() {
    let error = Command::from_json("type", json!({"ref_id": "@abc:e1", "text": "x", "hunter2": 1})).unwrap_err();
    assert!(!error.to_json().to_string().contains("hunter2"));
}

#[test]
fn clap_finds_no_fault_in_the_definitions() {
    parser().debug_assert();
}

#[test]
fn global_flags_stand_before_or_after_the_command() {
    for argv in [["--headed", "click", "@abc:e1"], ["click", "--headed", "@abc:e1"], ["click", "@abc:e1", "--headed"]] {
        let argv: Vec<OsString> = std::iter::once("agent-desktop").chain(argv).map(Into::into).collect();
        let Parsed::Command(globals, _) = parse(&argv) else { panic!("{argv:?}") };
        assert!(globals.headed, "{argv:?}");
    }
}

#[test]
fn text_may_start_with_a_hyphen() {
    let Command::Type(args) = command(&["type", "@abc:e1", "-5 degrees"]) else { panic!() };
    assert_eq!(args.text.as_deref(), Some("-5 degrees"));
    let Command::SetValue(args) = command(&["set-value", "@abc:e1", "-5"]) else { panic!() };
    assert_eq!(args.value.as_deref(), Some("-5"));
    let Command::Type(args) = command(&["type", "@abc:e1", "--", "--stdin"]) else { panic!() };
    assert_eq!((args.text.as_deref(), args.stdin), (Some("--stdin"), false));
    let Command::Type(args) = command(&["type", "@abc:e1", "--stdin"]) else { panic!() };
    assert_eq!((args.text, args.stdin), (None, true));
    let Command::Type(args) = command(&["type", "@abc:e1", "--timeout-ms", "9", "x"]) else { panic!() };
    assert_eq!((args.text.as_deref(), args.timeout_ms), (Some("x"), Some(9)));
}

#[test]
fn a_misspelt_flag_is_not_typed() {
    for argv in [
        &["type", "@abc:e1", "--observ"][..],
        &["set-value", "@abc:e1", "--foo"],
        &["select", "--headed", "@abc:e1", "--x-y"],
        &["type", "@abc:e1", "--timeout-ms", "5", "--hunter2"],
    ] {
        let error = refused(argv);
        assert_eq!(error.details()["kind"], "flag_or_text", "{argv:?}");
        assert!(!error.to_json().to_string().contains("hunter2"));
    }
    for argv in [
        &["type", "@abc:e1", "--", "--observ"][..],
        &["set-value", "@abc:e1", "--5"],
        &["type", "@abc:e1", "-x"],
        &["type", "@abc:e1", "--help me"],
    ] {
        command(argv);
    }
}

#[test]
fn an_error_names_its_command_and_what_may_be_meant() {
    let argv = |args: &[&str]| -> Vec<OsString> {
        std::iter::once("agent-desktop").chain(args.iter().copied()).map(Into::into).collect()
    };
    let of = |args: &[&str]| crate::parse_error::command_of(&argv(args));
    assert_eq!(of(&["click"]), Some("click"));
    assert_eq!(of(&["--session", "wait", "--headed", "click", "wait"]), Some("click"));
    assert_eq!(of(&["-w", "button:Save", "snapshot", "--app"]), Some("snapshot"));
    assert_eq!((of(&["no-such", "click"]), of(&["--headed"])), (None, None));
    assert_eq!(refused(&["snapshot", "--skeletn"]).details()["did_you_mean"], "--skeleton");
    assert_eq!(refused(&["snapsho"]).details()["did_you_mean"], "snapshot");
}

#[test]
fn a_time_limit_has_one_more_name_where_the_contract_calls_it_timeout() {
    let Command::Wait(args) = command(&["wait", "--menu", "--timeout-ms", "7"]) else { panic!() };
    assert_eq!(args.timeout, Some(7));
    let Ok(Command::Launch(args)) = Command::from_json("launch", json!({"app": "x", "timeout_ms": 8})) else {
        panic!()
    };
    assert_eq!(args.timeout, Some(8));
}

#[test]
fn desktop_run_takes_everything_after_the_dashes() {
    let Command::Desktop(args) = command(&["desktop", "run", "--size", "800x600", "--", "ls", "-l", "--", "--headed"])
    else {
        panic!()
    };
    assert_eq!(args.args, ["ls", "-l", "--", "--headed"]);
    assert_eq!(args.screen().unwrap(), (800, 600));
}

#[test]
fn errors_say_what_was_expected() {
    let error = refused(&["get", "@abc:e1", "--property", "colour"]);
    assert!(error.details()["expected"].as_array().unwrap().iter().any(|v| v == "bounds"));
    let error = refused(&["click"]);
    assert!(error.message().contains("REF"), "{error}");
    assert!(error.to_json()["suggestion"].as_str().unwrap().contains("click --help"));
}

#[test]
fn odd_and_secret_tokens_are_not_echoed() {
    let long = "x".repeat(65);
    for given in ["a\nb", "\u{202e}abc", long.as_str()] {
        let error = refused(&[given]);
        assert!(error.message().contains("token of"), "{error}");
        assert!(!error.message().contains(given));
    }
    let error = refused(&["set-value", "@abc:e1", "my", "hunter2"]);
    assert!(!error.to_json().to_string().contains("hunter2"), "{error}");
    let error = refused(&["click", "@abc:e1", "extra"]);
    assert!(error.message().contains("'extra'"), "{error}");
}

#[test]
fn help_names_every_command_and_the_skills() {
    let help = parser().render_help().to_string();
    for row in TABLE {
        assert!(help.contains(row.name), "{}", row.name);
    }
    for hint in ["skills get desktop", "skills get platform", "<command> --help"] {
        assert!(help.contains(hint), "{hint}");
    }
}

/// Words of a line as a shell splits it, as far as the skills' examples need it.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => out.extend(part.split_whitespace().map(str::to_owned)),
            _ => out.push(part.to_owned()),
        }
    }
    out
}

#[test]
fn every_example_of_the_skills_is_a_valid_command_line() {
    let mut examples = 0;
    for name in ["desktop", "linux"] {
        let skills = command(&["skills", "get", name, "--full"]);
        let Command::Skills(args) = skills else { panic!() };
        let answer = agent_desktop_core::skills::answer(&args).unwrap();
        for line in answer["content"].as_str().unwrap().lines().filter(|line| line.starts_with("    ")) {
            let Some((_, rest)) = line.split_once("agent-desktop ") else { continue };
            if rest.starts_with('<') {
                continue;
            }
            let words = words(rest);
            let argv: Vec<&str> = words.iter().map(String::as_str).collect();
            command(&argv).validate().unwrap_or_else(|e| panic!("{line}: {e}"));
            examples += 1;
        }
    }
    assert!(examples > 25, "{examples}");
}
