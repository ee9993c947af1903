//! `--debug --screenshot`: the page in a real browser, what it never shows, and that it never replaces a file.

use agent_desktop_e2e::{Desk, Live, Provider, binary, nodes, refs_named, wait_for};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Planted in a password field.
const PLANTED: &str = "Zq7-planted-4711";

fn out_of(program: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{program}: {e}"));
    let mut pipe = child.stdin.take().expect("its input");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let out = child.wait_with_output().expect("it ends");
    writer.join().expect("written");
    assert!(out.status.success(), "{program} {args:?}");
    out.stdout
}

/// What the page says in a real browser after these keys. Each key goes to what has the focus.
fn in_chromium(dir: &Path, page: &Path, keys: &[&str]) -> Value {
    let html = std::fs::read_to_string(page).expect("the page");
    let nonce = html.split("nonce-").nth(1).and_then(|t| t.split('\'').next()).expect("its nonce");
    let script = format!(
        "<script nonce=\"{nonce}\">for (const key of {}) {{\
         if (key.startsWith('=')) {{ const s = document.getElementById('search'); s.value = key.slice(1); s.dispatchEvent(new Event('input')); }}\
         else (document.activeElement || document.body).dispatchEvent(new KeyboardEvent('keydown', {{key, bubbles: true, cancelable: true}})); }}\
         const q = (s) => [...document.querySelectorAll(s)].map((e) => e.textContent);\
         const n = (s) => document.querySelectorAll(s).length;\
         const img = document.querySelector('#picture image');\
         const seen = {{forged: String(window.forged), title: document.title, count: q('#count')[0], rows: q('.row:not([hidden]) .name'),\
         values: q('.row .value'), kinds: ['action', 'anchor', 'context', 'target'].map((k) => n('#picture rect.' + k)),\
         lit: n('#picture rect.lit'), chosen: q('.row[aria-selected=true] .name'), details: q('#details')[0], click: q('#click')[0],\
         view: q('#views [aria-pressed=true]'), warnings: q('#warnings')[0], focus: document.activeElement.className || document.activeElement.id,\
         picture: img ? img.getBoundingClientRect().width : 0, scripts: document.scripts.length,\
         bad: n('#tree img, #tree script, #details script, #side iframe, #click img')}};\
         const out = document.createElement('pre'); out.id = 'seen'; out.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));\
         document.body.append(out);</script></body>",
        json!(keys)
    );
    let driven = dir.join("driven.html");
    std::fs::write(&driven, html.replace("</body>", &script)).expect("a copy");
    let out = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,850"])
        .args(["--virtual-time-budget=4000", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", driven.display()))
        .output()
        .expect("chromium runs");
    let dom = String::from_utf8_lossy(&out.stdout);
    let log = String::from_utf8_lossy(&out.stderr);
    assert!(!log.contains("CONSOLE"), "the page complains: {log}");
    let seen = dom.split("id=\"seen\">").nth(1).and_then(|t| t.split('<').next());
    let seen = seen.unwrap_or_else(|| panic!("the page did not run: {log}"));
    serde_json::from_slice(&out_of("base64", &["-d"], seen.as_bytes())).expect("what was seen")
}

/// The pictures in a page, as PNG.
fn pictures(page: &Path) -> Vec<Vec<u8>> {
    let html = std::fs::read_to_string(page).expect("the page");
    let encoded = html.split("\"data:image/png;base64,").skip(1).filter_map(|t| t.split('"').next());
    encoded.map(|text| out_of("base64", &["-d"], text.as_bytes())).collect()
}

fn page(desk: &Desk, name: &str) -> (PathBuf, String) {
    let path = desk.dir.path().join(name);
    let text = path.to_str().expect("UTF-8").to_owned();
    (path, text)
}

#[test]
fn a_snapshot_and_a_click_of_a_real_application() {
    let desk = Desk::new();
    let _app = desk.spawn("gnome-calculator", &[]);
    let app = "gnome-calculator";
    let seven = wait_for("the calculator's keys", || {
        let reply = desk.cli(&["snapshot", "--app", app, "--timeout-ms", "20000"]);
        let data = (reply.code == 0).then(|| reply.data())?;
        refs_named(&data, "button", "7").first().cloned()
    });
    let (file, path) = page(&desk, "snapshot.html");
    let globals = ["--debug", "--screenshot", &path];
    let data = desk.ok(&[&globals[..], &["snapshot", "--app", app]].concat());
    assert_eq!(data["debug"], json!({"path": path}), "no warning");
    assert_eq!(std::fs::metadata(&file).expect("the page").permissions().mode() & 0o777, 0o600);
    assert!(data["tree"].get("bounds").is_none(), "the answer is the same as without: {}", data["tree"]);

    // The picture is the window's, as another command takes it.
    let taken = pictures(&file);
    assert_eq!(taken.len(), 1);
    let shot = desk.ok(&["screenshot", "--app", app]);
    let size = String::from_utf8(out_of("identify", &["-format", "%w %h", "-"], &taken[0])).expect("text");
    assert_eq!(size, format!("{} {}", shot["width"], shot["height"]));

    let all = nodes(&data["tree"]).len();
    let seen = in_chromium(desk.dir.path(), &file, &["ArrowDown", "End"]);
    assert_eq!(seen["count"], format!("{all} elements"), "{seen}");
    assert!(
        seen["kinds"][0].as_u64() > Some(20) && seen["kinds"][3] == 0 && seen["picture"].as_f64() > Some(50.0),
        "{seen}"
    );
    assert_eq!(seen["chosen"].as_array().map(Vec::len), Some(1), "{seen}");
    assert!(seen["details"].as_str().expect("text").contains("\"role\""), "{seen}");
    // A skeleton has refs to drill into.
    let (skeleton, path) = page(&desk, "skeleton.html");
    desk.ok(&["--debug", "--screenshot", &path, "snapshot", "--app", app, "--skeleton"]);
    let seen = in_chromium(desk.dir.path(), &skeleton, &[]);
    assert!(seen["kinds"][1].as_u64() > Some(0), "{seen}");

    // A click: its target before and after, and what became of it.
    let (file, path) = page(&desk, "click.html");
    let data = desk.ok(&["--debug", "--screenshot", &path, "click", &seven]);
    assert_eq!(data["debug"], json!({"path": path}));
    assert_eq!(pictures(&file).len(), 2);
    assert_ne!(pictures(&file)[0], pictures(&file)[1], "the 7 shows");
    let seen = in_chromium(desk.dir.path(), &file, &[]);
    assert_eq!((&seen["kinds"][3], &seen["lit"], &seen["view"]), (&json!(1), &json!(1), &json!(["Before"])), "{seen}");
    assert_eq!(seen["chosen"], json!(["7"]));
    let told = seen["click"].as_str().expect("text");
    assert!(told.contains("delivered, unverified") && told.contains("unsafe") && told.contains(&seven), "{told}");
    let seen = in_chromium(desk.dir.path(), &file, &["v", "ArrowDown"]);
    assert_eq!((&seen["view"], &seen["kinds"][3]), (&json!(["After"]), &json!(1)), "{seen}");
    assert_eq!(seen["focus"], "row context");
    let seen = in_chromium(desk.dir.path(), &file, &["/", "=mod"]);
    assert!(
        seen["rows"].to_string().contains("mod") && seen["count"].as_str().expect("text").contains(" of "),
        "{seen}"
    );
}

#[test]
fn secrets_are_black_and_names_are_text() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let secret = live.only("textfield", "Secret");
    desk.ok(&["set-value", &secret, PLANTED]);
    let nasty = "</script><script>window.forged=1;document.title='forged'</script><img src=x onerror=window.forged=2>\u{202e}gnp";
    desk.ok(&["set-value", &live.only("textfield", "Name"), nasty]);
    let (file, path) = page(&desk, "snapshot.html");
    let data = desk.ok(&[
        "--debug",
        "--screenshot",
        &path,
        "snapshot",
        "--app",
        &live.app,
        "--include-bounds",
        "--max-depth",
        "40",
    ]);
    assert_eq!(data["debug"], json!({"path": path}));
    let shot = desk.ok(&["screenshot", "--app", &live.app]);
    let html = std::fs::read_to_string(&file).expect("the page");
    assert!(
        !html.contains(PLANTED) && html.contains("forged"),
        "the value of an ordinary field stands there, a secret never"
    );
    let field = nodes(&data["tree"])
        .into_iter()
        .find(|n| n["name"] == "Secret" && n["role"] == "textfield")
        .expect("the field")
        .clone();
    let number = |v: &Value, key: &str| v[key].as_f64().expect("a number");
    let (bounds, origin) = (&field["bounds"], &shot["bounds"]);
    let part = format!(
        "{}x{}+{}+{}",
        number(bounds, "width"),
        number(bounds, "height"),
        number(bounds, "x") - number(origin, "x"),
        number(bounds, "y") - number(origin, "y")
    );
    let colours =
        out_of("convert", &["-", "-crop", &part, "-unique-colors", "-depth", "8", "rgb:-"], &pictures(&file)[0]);
    assert_eq!(colours, [0, 0, 0], "one colour, and that is black");
    let whole = out_of("convert", &["-", "-unique-colors", "-depth", "8", "rgb:-"], &pictures(&file)[0]);
    assert!(whole.len() > 30, "the rest of the window is shown");

    let seen = in_chromium(desk.dir.path(), &file, &[]);
    assert_eq!(
        (&seen["forged"], &seen["title"], &seen["bad"]),
        (&json!("undefined"), &json!("agent-desktop debug"), &json!(0))
    );
    assert_eq!(seen["scripts"], 3, "the data, the program, and the test's");
    let values = seen["values"].to_string();
    assert!(values.contains("</script>") && !values.contains('\u{202e}'), "{values}");
}

#[test]
fn nothing_is_replaced_and_refusals_come_first() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let data = desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]);
    let button = refs_named(&data, "button", "OK").remove(0);
    let (letter, path) = page(&desk, "letter.html");
    std::fs::write(&letter, "dear").expect("a file");
    let missing = desk.dir.path().join("no/x.html");
    for (path, kind) in
        [(path.as_str(), "debug_file_exists"), (missing.to_str().expect("UTF-8"), "path_without_directory")]
    {
        let error = desk.err(&["--debug", "--screenshot", path, "click", &button]);
        assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("INVALID_ARGS"), &json!(kind)), "{error}");
    }
    let (unused, path) = page(&desk, "unused.html");
    for args in [
        &["list-apps"][..],
        &["hover", &button],
        &["snapshot", "--app", "Simple", "--surface", "menu"],
        &["snapshot", "--root", &button],
        &["snapshot", "--app", "Simple", "--format", "text"],
        &["snapshot", "--app", "there-is-none"],
    ] {
        desk.err(&[&["--debug", "--screenshot", &path], args].concat());
        assert!(!unused.exists(), "{args:?} leaves nothing");
    }
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 0);
    assert_eq!(std::fs::read_to_string(&letter).expect("the letter"), "dear");

    // No window of the window system, so no picture: the click is the same, and the page has the tree.
    let data = desk.ok(&["--debug", "--screenshot", &path, "snapshot", "--app", "Simple"]);
    assert!(data["debug"]["warning"].as_str().expect("a warning").contains("no picture"), "{data}");
    let seen = in_chromium(desk.dir.path(), &unused, &[]);
    assert!(
        seen["rows"].to_string().contains("OK") && seen["warnings"].as_str().expect("text").contains("no picture"),
        "{seen}"
    );
    let (_, path) = page(&desk, "click.html");
    let data = desk.ok(&["--debug", "--screenshot", &path, "click", &button]);
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified");
    assert!(data["debug"]["warning"].is_string(), "{data}");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1);

    // The file can't be written once the click is sent: the click is answered as it is, and nothing half written stays.
    let (file, path) = page(&desk, "full.html");
    let mut command = desk.command("sh");
    command.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]).arg(binary("agent-desktop"));
    let out = command.args(["--debug", "--screenshot", &path, "click", &button]).output().expect("it runs");
    let answer: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
    assert_eq!(answer["data"]["disposition"]["delivery"], "delivered_unverified", "{answer}");
    assert!(
        answer["data"]["debug"]["warning"].as_str().expect("a warning").contains("could not be written"),
        "{answer}"
    );
    assert!(!file.exists());
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 2);
}
