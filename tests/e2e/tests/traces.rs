//! Traces: what they tell, what they never hold, and the page that shows them in a real browser.

use agent_desktop_e2e::{Desk, Fixture, Live, Provider, binary, refs_named, wait_for};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Planted wherever a caller or an application can put a text.
const PLANTED: &str = "Zq7-planted-4711";

fn started(desk: &Desk, more: &[&str]) -> String {
    let args: Vec<&str> = ["session", "start"].into_iter().chain(more.iter().copied()).collect();
    desk.ok(&args)["session_id"].as_str().expect("an id").to_owned()
}

/// Files below a directory that contain the text, wherever it stands in them.
fn holding(top: &Path, text: &str) -> Vec<PathBuf> {
    let out = Command::new("grep").args(["-rlaF", "--", text]).arg(top).output().expect("grep runs");
    assert!(out.status.code() != Some(2), "{out:?}");
    String::from_utf8_lossy(&out.stdout).lines().map(PathBuf::from).collect()
}

/// A password and an ordinary text go in by every way: not a file of ours holds them afterwards.
#[test]
fn a_planted_secret_is_nowhere() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let id = started(&desk, &["--screenshots"]);
    let file = desk.dir.path().join("mine.jsonl");
    let path = file.to_str().expect("UTF-8").to_owned();
    // Each way once into the session's trace and once into one file.
    for globals in [vec!["--session", &id], vec!["--session", &id, "--trace", &path]] {
        let run = |args: &[&str], input: Option<&str>| desk.cli_with(&[&globals[..], args].concat(), &[], input);
        let data = run(&["snapshot", "--app", &live.app, "--max-depth", "60", "--timeout-ms", "60000"], None).data();
        let field = |name: &str| refs_named(&data, "textfield", name).remove(0);
        let (secret, name) = (field("Secret"), field("Name"));
        let ok = |args: &[&str], input: Option<&str>| drop(run(args, input).data());
        ok(&["set-value", &secret, PLANTED], None);
        ok(&["set-value", &secret, "--stdin"], Some(PLANTED));
        ok(&["set-value", &name, PLANTED], None);
        ok(&["clear", &name], None);
        ok(&["type", &name, "--stdin"], Some(PLANTED));
        assert_eq!(live.fixture.state()["fields"]["name"], PLANTED, "it did arrive");
        assert_eq!(live.fixture.state()["fields"]["secret"], PLANTED, "it did arrive");
        assert_eq!(
            run(&["get", &name, "--property", "value"], None).data()["value"],
            PLANTED,
            "an ordinary field is read"
        );
        ok(&["snapshot", "--app", &live.app, "--max-depth", "60"], None);
        ok(&["find", "--app", &live.app, "--value", PLANTED], None);
        run(&["find", "--app", &live.app, "--role", PLANTED], None).error();
        run(&["wait", "--window", PLANTED, "--timeout", "200"], None).error();
        run(&["wait", "--element", &name, "--predicate", "value", "--value", "other", "--timeout", "200"], None)
            .error();
        run(&["select", &name, PLANTED], None).error();
        // The wrong way round.
        run(&["type", PLANTED, &name], None).error();
        ok(&["clipboard-set", PLANTED], None);
        ok(&["clipboard-get"], None);
    }
    assert_eq!(holding(&live_log(&desk), PLANTED).len(), 1, "the search finds what is there");
    let state = desk.dir.path().join("state");
    let session_trace = desk.ok(&["--session", &id, "trace", "show", "--limit", "0"]);
    assert!(session_trace["total_events"].as_u64() > Some(60), "{}", session_trace["total_events"]);
    assert!(std::fs::read_to_string(&file).expect("the one trace").lines().count() > 60);
    desk.ok(&["--session", &id, "trace", "export"]);
    assert_eq!(holding(&state, PLANTED), Vec::<PathBuf>::new());
    assert_eq!(holding(&file, PLANTED), Vec::<PathBuf>::new());
}

fn live_log(desk: &Desk) -> PathBuf {
    desk.dir.path().join("gtk3-controls-0.log")
}

/// The way of one click, in order, and what it keeps.
#[test]
fn a_click_tells_its_way() {
    let desk = Desk::new();
    let fixture = Fixture::start(&desk, "gtk3", "controls", &[]);
    let id = started(&desk, &["--screenshots"]);
    let run = |args: &[&str]| desk.ok(&[&["--session", &id], args].concat());
    let data = wait_for("a tree", || {
        let data = run(&["snapshot", "--app", "fixture-gtk3", "--max-depth", "60"]);
        (!refs_named(&data, "button", "Save").is_empty()).then_some(data)
    });
    let save = refs_named(&data, "button", "Save").remove(0);
    let dead = refs_named(&data, "textfield", "Name").remove(0);
    let before = run(&["trace", "show", "--limit", "0"])["total_events"].as_u64().expect("a number") as usize;
    run(&["click", &save]);
    assert_eq!(fixture.received_by("clicked", "save").len(), 1);
    let shown = run(&["trace", "show", "--limit", "0"]);
    let events = &shown["events"].as_array().expect("events")[before..];
    let names: Vec<&str> = events.iter().map(|e| e["event"].as_str().expect("a name")).collect();
    let want = [
        "trace.meta",
        "command.start",
        "ref.resolve.start",
        "ref.resolve.entry",
        "ref.resolve.ok",
        "actionability.check.start",
        "actionability.check.ok",
        "action.dispatch.start",
        "action.dispatch.ok",
        "action.artifacts",
        "command.end",
    ];
    assert_eq!(names, want);
    assert_eq!(events[1]["args"]["ref_id"], json!(save));
    assert_eq!(events[10]["disposition"]["delivery"], "delivered_unverified");
    assert!(events.iter().all(|e| e["pid"] == events[0]["pid"]));
    let trace = desk.dir.path().join("state/sessions").join(&id).join("trace");
    for when in ["before", "after"] {
        let file = trace.join(events[9][when].as_str().expect("a picture"));
        assert!(std::fs::read(&file).expect("the picture").starts_with(b"\x89PNG"), "{}", file.display());
    }
    assert!(trace.join(events[9]["refmap"].as_str().expect("a ref map")).is_file());
    // A refusal tells why, without words of the application, and takes no second picture.
    desk.err(&["--session", &id, "toggle", &dead, "--timeout-ms", "0"]);
    let end = run(&["trace", "show", "--event", "command.end"]);
    let last = end["events"].as_array().expect("events").last().expect("one").clone();
    assert_eq!((&last["ok"], last["code"].is_string(), last.get("message")), (&json!(false), true, None), "{last}");
    let kept = run(&["trace", "show", "--event", "action.artifacts"]);
    let kept = kept["events"].as_array().expect("events").last().expect("one").clone();
    assert!(kept["before"].is_string() && kept.get("after").is_none(), "{kept}");
}

/// What a command did stands in its trace also where a wait came after it, and a page says what kind of command it was.
#[test]
fn a_trace_tells_actions_from_waits_and_reads() {
    let desk = Desk::new();
    let fixture = Fixture::start(&desk, "gtk3", "dialogs", &[]);
    let id = started(&desk, &["--screenshots"]);
    let run = |args: &[&str]| desk.ok(&[&["--session", &id], args].concat());
    let data = wait_for("a tree", || {
        let data = run(&["snapshot", "--app", "fixture-gtk3", "--max-depth", "60"]);
        (!refs_named(&data, "button", "Open A").is_empty()).then_some(data)
    });
    let window = data["window"]["id"].as_str().expect("an id").to_owned();
    let open = refs_named(&data, "button", "Open A").remove(0);
    let opened = run(&["click", &open, "-w", "button:OK", "--wait-view", "none"]);
    assert_eq!(fixture.received_by("clicked", "open_a").len(), 1);
    let ends = run(&["trace", "show", "--event", "command.end"]);
    let end = ends["events"].as_array().expect("events").last().expect("one").clone();
    assert_eq!(end["disposition"]["delivery"], "delivered_unverified", "{end}");
    assert_eq!(end["effect"], opened["after_action"]["details"]["effect"], "{end}");
    assert_eq!((&end["snapshot_id"], &end["matched_count"]), (&opened["snapshot_id"], &json!(1)), "{end}");
    let start = run(&["trace", "show", "--event", "command.start"]);
    let start = start["events"].as_array().expect("events").last().expect("one").clone();
    assert_eq!((&start["does"], &start["waits"]), (&json!("action"), &json!("for")), "{start}");
    assert!(!start.to_string().contains("button:OK"), "the selector is a text of the caller: {start}");

    run(&["click", opened["matched"][0]["ref_id"].as_str().expect("a ref")]);
    run(&["wait", "1"]);
    let late = desk.err(&["--session", &id, "wait", "--text", "Never", "--app", "fixture-gtk3", "--timeout", "0"]);
    assert_eq!(late["code"], "TIMEOUT");
    run(&["launch", "fixture-gtk3"]);
    // A window that shows nothing has no picture: that is counted, with why.
    run(&["minimize", "--window-id", &window]);
    run(&["click", &open]);
    let answer = run(&["trace", "export"]);
    let reasons = answer["skipped_reasons"].as_object().unwrap_or_else(|| panic!("{answer}"));
    assert!(reasons.contains_key("window_not_viewable"), "{answer}");
    let sum: u64 = reasons.values().filter_map(Value::as_u64).sum();
    assert_eq!(answer["screenshots_skipped"], sum, "{answer}");

    let page = PathBuf::from(answer["path"].as_str().expect("a path"));
    let seen = in_chromium(desk.dir.path(), &page, &["End"]);
    let list = |key: &str| -> Vec<String> {
        seen[key].as_array().expect("a list").iter().map(|v| v.as_str().expect("text").to_owned()).collect()
    };
    let (rows, badges, to) = (list("rows"), list("badges"), list("to"));
    let of = |command: &str| -> Vec<&str> {
        rows.iter().zip(&badges).filter(|(row, _)| *row == command).map(|(_, badge)| badge.as_str()).collect()
    };
    assert_eq!(of("launch"), ["done"], "{seen}");
    assert_eq!(of("wait"), ["wait", "waitTIMEOUT"], "{seen}");
    assert!(of("snapshot").iter().all(|badge| *badge == "read"), "{seen}");
    assert_eq!(of("click")[0], "delivered, unverified", "{seen}");
    // Names come from the copies of ref maps, which a session with pictures keeps.
    assert!(to.iter().any(|t| t.contains("button \u{201c}Open A\u{201d}")), "{to:?}");
    assert!(seen["details"].as_str().expect("text").contains("No picture: before (window not viewable)"), "{seen}");
}

/// Reading and exporting need no desktop at all.
#[test]
fn traces_are_read_without_a_display() {
    let desk = Desk::new();
    let _provider = Provider::start(&desk, "simple");
    let id = started(&desk, &[]);
    desk.ok(&["--session", &id, "list-apps"]);
    let bare = |args: &[&str]| -> Value {
        let mut command = Command::new(binary("agent-desktop"));
        command.env_clear().env("AGENT_DESKTOP_HOME", desk.dir.path().join("state")).args(["--session", &id]);
        let out = command.args(args).stdin(Stdio::null()).output().expect("it runs");
        serde_json::from_slice(&out.stdout).expect("an envelope")
    };
    assert_eq!(bare(&["trace", "show"])["data"]["returned_events"], 3);
    assert_eq!(bare(&["trace", "export"])["ok"], true);
    assert_eq!(bare(&["session", "list"])["data"]["sessions"][0]["session_id"], json!(id));
    assert_eq!(bare(&["session", "end"])["ok"], true);
    assert_eq!(bare(&["session", "gc"])["ok"], true);
}

/// Strict means: not without a trace. It refuses before anything is sent, and where nothing would be written at all.
#[test]
fn strict_refuses_before_the_action() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let data = desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]);
    let button = refs_named(&data, "button", "OK").remove(0);
    let letter = desk.dir.path().join("letter.txt");
    std::fs::write(&letter, "dear").expect("a file");
    let letter = letter.to_str().expect("UTF-8");
    let missing = desk.dir.path().join("no/t.jsonl");
    let missing = missing.to_str().expect("UTF-8");
    for (globals, kind) in [
        (&["--trace-strict"][..], "trace_nowhere"),
        (&["--trace-strict", "--trace", letter], "trace_foreign_file"),
        (&["--trace-strict", "--trace", missing], "trace_write"),
    ] {
        let error = desk.err(&[globals, &["click", &button]].concat());
        assert_eq!(error["details"]["kind"], kind, "{error}");
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 0);
    let reply = desk.cli(&["--trace", letter, "click", &button]);
    assert_eq!(reply.data()["action"], "click");
    assert!(reply.stderr.contains("no trace is written"), "{}", reply.stderr);
    assert_eq!(std::fs::read_to_string(letter).expect("the file"), "dear");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1);
}

/// What the page says in a real browser after these keys.
fn in_chromium(dir: &Path, page: &Path, keys: &[&str]) -> Value {
    let html = std::fs::read_to_string(page).expect("the page");
    let nonce = html.split("nonce-").nth(1).and_then(|t| t.split('\'').next()).expect("its nonce");
    // The keys and the look at the page are ours; what handles them is the page.
    let script = format!(
        "<script nonce=\"{nonce}\">for (const key of {}) (document.activeElement || document.body)\
         .dispatchEvent(new KeyboardEvent('keydown', {{key, bubbles: true, cancelable: true}}));\
         const q = (s) => [...document.querySelectorAll(s)].map((e) => e.textContent);\
         const seen = {{forged: String(window.forged), title: document.title, count: q('#count')[0], rows: q('.row .what'),\
         badges: q('.row .badge'), to: q('.row .to'), chosen: q('.row[aria-selected=true] .what'), details: q('#details')[0],\
         shots: document.querySelectorAll('#details img').length, zoom: document.getElementById('zoom').open,\
         caption: q('#caption')[0], focus: document.activeElement.id, scripts: document.scripts.length,\
         warnings: q('#warnings')[0],\
         bad: document.querySelectorAll('#list img, #details iframe, #list script, #details script').length}};\
         const out = document.createElement('pre'); out.id = 'seen'; out.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));\
         document.body.append(out);</script></body>",
        json!(keys)
    );
    let driven = dir.join("driven.html");
    std::fs::write(&driven, html.replace("</body>", &script)).expect("a copy");
    let out = Command::new("chromium")
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1300,820",
            "--virtual-time-budget=4000",
        ])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", driven.display()))
        .output()
        .expect("chromium runs");
    let dom = String::from_utf8_lossy(&out.stdout);
    let log = String::from_utf8_lossy(&out.stderr);
    assert!(!log.contains("CONSOLE"), "the page complains: {log}");
    let seen = dom.split("id=\"seen\">").nth(1).and_then(|t| t.split('<').next());
    let seen = seen.unwrap_or_else(|| panic!("the page did not run: {} {log}", &dom[..dom.len().min(2_000)]));
    let decoded =
        Command::new("base64").arg("-d").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().and_then(|mut c| {
            use std::io::Write;
            c.stdin.take().expect("its input").write_all(seen.as_bytes())?;
            c.wait_with_output()
        });
    serde_json::from_slice(&decoded.expect("base64 runs").stdout).expect("what was seen")
}

/// One white dot.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 0x0a, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0xf8, 0x0f, 0, 1, 1,
    1, 0, 0x1b, 0xb6, 0xee, 0x56, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// A trace that wants to be more than data, shown in a real browser and used by its keys.
#[test]
fn the_page_shows_hostile_traces_as_text() {
    let home = tempfile::tempdir().expect("a directory");
    let session = home.path().join("sessions/hostile");
    std::fs::create_dir_all(session.join("trace/screens")).expect("directories");
    std::fs::write(session.join("trace/screens/1-before.png"), PNG).expect("a picture");
    std::fs::write(session.join("trace/screens/1-after.png"), PNG).expect("a picture");
    let nasty = "</script><script>window.forged=1;document.title='forged'</script><img src=x onerror=\"window.forged=2\">\u{202e}gnp\u{2028}";
    let meta =
        json!({"event": "trace.meta", "ts_ms": 1_000, "seq": 0, "pid": 7, "schema": 1, "version": nasty, "os": nasty});
    let mut lines = vec![meta];
    for (call, delivery, code) in [
        (1, "delivered_verified", None),
        (2, "delivered_unverified", None),
        (3, "delivery_uncertain", Some("TIMEOUT")),
        (4, "not_delivered", Some("STALE_REF")),
    ] {
        let at = 1_000 + call * 700;
        lines.push(json!({"event": "command.start", "ts_ms": at, "pid": 7, "call": call, "command": "click",
                          "args": {"ref_id": "@s1:e1", "app": nasty}, nasty: {"deep": [nasty]}}));
        lines.push(json!({"event": "ref.resolve.entry", "ts_ms": at + 5, "pid": 7, "role": nasty, "app": nasty}));
        lines.push(json!({"event": "action.artifacts", "ts_ms": at + 90, "pid": 7,
                          "before": "screens/1-before.png", "after": "screens/1-after.png"}));
        lines.push(json!({"event": "command.end", "ts_ms": at + 100, "pid": 7, "call": call, "command": "click", "ok": code.is_none(),
                          "code": code, "disposition": {"delivery": delivery, "retry": "unsafe"}, "duration_ms": 100}));
    }
    lines.push(json!({"event": "command.start", "ts_ms": 4_900, "pid": 8, "call": 1, "command": nasty, "args": {}}));
    lines.push(json!({"event": nasty, "ts_ms": 5_000, "pid": 9, "x": "y".repeat(1024 * 1024)}));
    lines.push(json!({"event": "command.start", "ts_ms": 5_100, "pid": 9, "call": "__proto__", "command": "__proto__", "args": []}));
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    std::fs::write(session.join("trace/7-1000.jsonl"), text + "{\"event\":\"torn").expect("a trace");
    let export = |out: &[&str]| {
        let mut command = Command::new(binary("agent-desktop"));
        command.env_clear().env("AGENT_DESKTOP_HOME", home.path()).args(["--session", "hostile", "trace", "export"]);
        let out = command.args(out).output().expect("it runs");
        serde_json::from_slice::<Value>(&out.stdout).expect("an envelope")
    };
    let answer = export(&[]);
    assert_eq!(answer["data"]["screenshots_embedded"], 2, "each picture once: {answer}");
    assert_eq!(answer["data"]["warnings"], json!([{"kind": "torn_tail", "count": 1}]));
    let page = PathBuf::from(answer["data"]["path"].as_str().expect("a path"));

    let seen = in_chromium(home.path(), &page, &[]);
    assert_eq!(
        (&seen["forged"], &seen["title"], &seen["bad"]),
        (&json!("undefined"), &json!("agent-desktop trace"), &json!(0))
    );
    assert_eq!(seen["scripts"], 3, "the data, the program, and the test's");
    assert_eq!(seen["count"], "7 commands", "{seen}");
    let badges = seen["badges"].to_string();
    for word in
        ["verified", "delivered, unverified", "uncertain", "TIMEOUT", "not delivered", "STALE_REF", "no end recorded"]
    {
        assert!(badges.contains(word), "{word} in {badges}");
    }
    let rows = seen["rows"].to_string();
    assert!(rows.contains("</script>") && rows.contains("U+202E") && !rows.contains('\u{202e}'), "{rows}");
    assert!(seen["warnings"].as_str().expect("text").contains("torn tail"), "{seen}");

    // Down to the second command: its details and both pictures; Enter shows one large, B turns to the other.
    let seen = in_chromium(home.path(), &page, &["ArrowDown", "Enter", "b"]);
    assert_eq!(
        (&seen["chosen"], &seen["shots"], &seen["zoom"]),
        (&json!(["click"]), &json!(2), &json!(true)),
        "{seen}"
    );
    assert!(seen["caption"].as_str().expect("text").starts_with("after"), "{seen}");
    assert!(seen["details"].as_str().expect("text").contains("delivered_unverified"), "{seen}");

    // The end, the view of events, the search field and back.
    let seen = in_chromium(home.path(), &page, &["End", "e"]);
    assert_eq!(seen["count"], "20 events", "{seen}");
    let seen = in_chromium(home.path(), &page, &["/"]);
    assert_eq!(seen["focus"], "search");
    let seen = in_chromium(home.path(), &page, &["/", "Escape", "End", "ArrowUp"]);
    assert_eq!(seen["focus"], "list");
    assert!(
        seen["details"].as_str().expect("text").contains("more characters"),
        "an event of 1 MiB: {:.300}",
        seen["details"]
    );

    // A file that is no export is left alone.
    let letter = home.path().join("letter.html");
    std::fs::write(&letter, "<p>dear").expect("a file");
    let answer = export(&["--out", letter.to_str().expect("UTF-8")]);
    assert_eq!(answer["error"]["details"]["kind"], "path_not_an_export", "{answer}");
    assert_eq!(std::fs::read_to_string(&letter).expect("it"), "<p>dear");
}
