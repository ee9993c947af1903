//! The clipboard, judged by xclip, xsel, four toolkits and clients that speak the X protocol themselves.

use agent_desktop_e2e::{App, Desk, FOREIGN, SECRET, binary, delivery, refs_named, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name).display().to_string()
}

/// A clipboard of its own, and what it needs.
struct Board {
    desk: Desk,
}

impl Board {
    fn new() -> Self {
        Self { desk: Desk::new() }
    }

    /// What another program prints; none where it fails.
    fn says(&self, program: &str, args: &[&str]) -> Option<Vec<u8>> {
        let out = self.desk.command(program).args(args).stdin(Stdio::null()).output().expect("it runs");
        out.status.success().then_some(out.stdout)
    }

    fn xclip(&self, target: &str) -> Option<Vec<u8>> {
        self.says("/usr/bin/xclip", &["-o", "-selection", "clipboard", "-t", target])
    }

    /// A Python fixture that prints one line of JSON.
    fn asks(&self, script: &str, args: &[&str]) -> Value {
        let script = fixture(script);
        let args: Vec<&str> = std::iter::once(script.as_str()).chain(args.iter().copied()).collect();
        let out = self.desk.command("/usr/bin/python3").args(&args).stdin(Stdio::null()).output().expect("python runs");
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {out:?}"))
    }

    /// A Python fixture that goes on; its first line.
    fn runs(&self, script: &str, args: &[&str]) -> (App, String) {
        let mut command = self.desk.command("/usr/bin/python3");
        command.arg(fixture(script)).args(args).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        assert!(!line.is_empty(), "{script} {args:?} said nothing");
        (App(child), line)
    }

    fn paste(&self, toolkit: &str, kind: &str) -> Value {
        self.asks("clipboard_paste.py", &[toolkit, kind])
    }

    fn set(&self, args: &[&str]) -> Value {
        let data = self.desk.ok(&[&["clipboard-set"], args].concat());
        assert_eq!(delivery(&data), "delivered_verified", "{data}");
        data
    }

    fn text(&self) -> Value {
        self.desk.ok(&["clipboard-get"])["text"].clone()
    }

    /// Processes of this desktop that own a clipboard.
    fn owners(&self) -> Vec<u32> {
        let display = &self.desk.env.iter().find(|(name, _)| name == "DISPLAY").expect("a display").1;
        owners_of(display)
    }

    fn copies(&self, text: &[u8], args: &[&str]) {
        let mut command = self.desk.command("/usr/bin/xclip");
        command.args(["-i", "-selection", "clipboard"]).args(args).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().expect("xclip starts");
        child.stdin.take().expect("its input").write_all(text).expect("it reads");
        assert!(child.wait().expect("it ends").success());
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.desk.dir.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}

fn owners_of(display: &str) -> Vec<u32> {
    let wanted = format!("DISPLAY={display}");
    let has = |pid: u32, file: &str, part: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.split(|b| *b == 0).any(|p| p == part.as_bytes())
    };
    let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
    pids.filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter(|pid| has(*pid, "cmdline", "__clipboard-owner") && has(*pid, "environ", &wanted))
        .collect()
}

/// A picture whose first pixel is red. `noise` makes it as large as its pixels.
fn png(width: u32, height: u32, noise: bool) -> Vec<u8> {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut raw = Vec::with_capacity((height * (width * 3 + 1)) as usize);
    for _ in 0..height {
        // Each row begins with its filter: none.
        raw.extend([0]);
        for _ in 0..width {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            raw.extend(if noise { [seed as u8, (seed >> 8) as u8, (seed >> 16) as u8] } else { [200, 30, 10] });
        }
    }
    raw[1..4].copy_from_slice(&[255, 0, 0]);
    // Deflate without compression: blocks of stored bytes.
    let mut data = vec![0x78, 0x01];
    let blocks = raw.chunks(65_535);
    let last = blocks.len() - 1;
    for (at, block) in raw.chunks(65_535).enumerate() {
        data.push(u8::from(at == last));
        data.extend((block.len() as u16).to_le_bytes());
        data.extend((!(block.len() as u16)).to_le_bytes());
        data.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in &raw {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    data.extend((b << 16 | a).to_be_bytes());
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let table: Vec<u32> =
        (0..256_u32).map(|n| (0..8).fold(n, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })).collect();
    for (kind, content) in [(b"IHDR", &header), (b"IDAT", &data), (b"IEND", &Vec::new())] {
        out.extend((content.len() as u32).to_be_bytes());
        let crc = kind
            .iter()
            .chain(content.iter())
            .fold(!0_u32, |c, byte| table[((c ^ u32::from(*byte)) & 255) as usize] ^ (c >> 8));
        out.extend(kind.iter().chain(content.iter()));
        out.extend((!crc).to_be_bytes());
    }
    out
}

/// Case 29 `clipboard-dies`: the text was gone when the command had ended. Every toolkit pastes it, whatever letters.
#[test]
fn clipboard_dies() {
    let board = Board::new();
    let text = format!("{FOREIGN}\r\nzweite Zeile\ttab\nמשהו 👩‍👩‍👧");
    assert_eq!(board.set(&[&text])["type"], "text");
    assert_eq!(board.text(), json!(text));
    for target in ["UTF8_STRING", "text/plain;charset=utf-8", "text/plain", "TEXT"] {
        assert_eq!(board.xclip(target).as_deref(), Some(text.as_bytes()), "{target}");
    }
    assert_eq!(board.xclip("STRING"), None, "Latin-1 can't carry it");
    assert_eq!(board.says("/usr/bin/xsel", &["-b", "-o"]).as_deref(), Some(text.as_bytes()));
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let pasted = board.paste(toolkit, "text").as_str().unwrap_or_default().to_owned();
        // Some toolkits take a line break of any kind for one of their own.
        assert_eq!(pasted.replace("\r\n", "\n"), text.replace("\r\n", "\n"), "{toolkit}");
    }
    board.set(&["café"]);
    assert_eq!(board.xclip("STRING").as_deref(), Some(&b"caf\xe9"[..]));
    board.set(&[""]);
    assert_eq!(board.text(), json!(""), "empty text is a text");
    board.set(&["--", "-5"]);
    assert_eq!(board.text(), json!("-5"));
}

/// mousepad pastes by its own menu, and what it saves is what was set.
#[test]
fn an_editor_pastes_and_saves_it() {
    let board = Board::new();
    let file = board.file("pasted.txt", b"");
    let _editor = board.desk.launch(&["/usr/bin/mousepad", file.to_str().expect("a path")], 20);
    let text = format!("{FOREIGN}\nsecond");
    board.set(&[&text]);
    let choose = |item: &str| {
        let snapshot = board.desk.ok(&["snapshot", "--app", "mousepad", "--max-depth", "50", "--timeout-ms", "20000"]);
        let found = refs_named(&snapshot, "menuitem", item);
        let item = found.first().unwrap_or_else(|| panic!("no {item} in {snapshot}"));
        let data = board.desk.ok(&["click", item]);
        assert_ne!(delivery(&data), "not_delivered", "{data}");
    };
    choose("Paste");
    wait_for("the text to be saved", || {
        choose("Save");
        let saved = std::fs::read_to_string(&file).expect("the file");
        (saved.trim_end_matches('\n') == text).then_some(())
    });
}

/// 20 MiB both ways, in pieces, byte for byte; toolkits see the picture; files are ours alone.
#[test]
fn large_pictures() {
    let board = Board::new();
    let big = png(2_700, 2_600, true);
    assert!(big.len() > 20 * 1024 * 1024);
    let path = board.file("big.png", &big);
    let started = Instant::now();
    assert_eq!(board.set(&["--image", path.to_str().expect("a path")])["type"], "image");
    println!("set 20 MiB: {} ms", started.elapsed().as_millis());
    assert!(board.xclip("image/png").as_deref() == Some(&big[..]), "xclip got something else");
    let out = board.desk.dir.path().join("out.png");
    let get = |args: &[&str]| {
        let started = Instant::now();
        let data = board.desk.ok(&[&["clipboard-get"], args].concat());
        println!("get 20 MiB: {} ms", started.elapsed().as_millis());
        assert_eq!((&data["type"], &data["width"], &data["height"]), (&json!("image"), &json!(2_700), &json!(2_600)));
        let path = PathBuf::from(data["path"].as_str().expect("a path"));
        assert!(std::fs::read(&path).expect("the picture") == big, "read something else");
        assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        path
    };
    assert_eq!(get(&["--format", "auto", "--out", out.to_str().expect("a path")]), out);
    let notes = board.file("notes.txt", b"mine");
    let error = board.desk.err(&["clipboard-get", "--format", "image", "--out", notes.to_str().expect("a path")]);
    assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("INVALID_ARGS"), &json!("path_not_a_picture")));
    assert_eq!(std::fs::read(&notes).expect("still there"), b"mine");
    let state = board.desk.dir.path().join("state");
    // One that is stale goes with the next, one of somebody else stays.
    let tmp = get(&["--format", "image"]).parent().expect("a directory").to_owned();
    assert_eq!(tmp, state.join("tmp"));
    assert_eq!(tmp.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
    for name in ["clipboard-1-1-0.png", "else.png"] {
        std::fs::write(tmp.join(name), "").expect("a file");
        let old = Command::new("touch").args(["-d", "2 hours ago"]).arg(tmp.join(name)).status();
        assert!(old.expect("touch").success());
    }
    let of_session = get(&["--format", "png", "--session", "s1"]);
    assert_eq!(of_session.parent(), Some(&*state.join("sessions/s1/clipboard")));
    get(&["--format", "image"]);
    assert!(!tmp.join("clipboard-1-1-0.png").exists() && tmp.join("else.png").exists());
    // The other way: xclip sends it in pieces.
    board.copies(b"", &[]);
    board.copies(&big, &["-t", "image/png"]);
    get(&["--format", "image", "--out", out.to_str().expect("a path")]);
    assert_eq!(board.desk.ok(&["clipboard-get"])["found"], false, "a picture is no text");
    let small = board.file("small.png", &png(7, 5, false));
    board.set(&["--image", small.to_str().expect("a path")]);
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let got = board.paste(toolkit, "image");
        assert_eq!((&got[0], &got[1]), (&json!(7), &json!(5)), "{toolkit}");
        assert!(got[2].is_null() || got[2] == json!([255, 0, 0]), "{toolkit}: {got}");
    }
}

/// Text beyond what fits into one request, and beyond what is taken.
#[test]
fn large_text() {
    let board = Board::new();
    let text = "zwölf 😀\n".repeat(600_000);
    let started = Instant::now();
    board.desk.cli_with(&["clipboard-set", "--stdin"], &[], Some(&format!("{text}\n"))).data();
    println!("set {} bytes: {} ms", text.len(), started.elapsed().as_millis());
    assert!(board.text() == json!(text), "read something else");
    assert!(board.xclip("UTF8_STRING").as_deref() == Some(text.as_bytes()), "xclip got something else");
    board.copies(format!("{text}x").as_bytes(), &[]);
    assert!(board.text() == json!(format!("{text}x")), "read something else from xclip");
    let error = board.desk.cli_with(&["clipboard-set", "--stdin"], &[], Some(&"x".repeat(8 * 1024 * 1024 + 1))).error();
    assert_eq!(error["code"], "INVALID_ARGS", "{error}");
}

/// Files: absolute, encoded, there; file managers of all kinds can read them.
#[test]
fn files() {
    let board = Board::new();
    let odd = board.file("a b%ä.txt", b"");
    let plain = board.file("plain.txt", b"");
    let (odd, plain) = (odd.to_str().expect("a path"), plain.to_str().expect("a path"));
    let url = |path: &str| format!("file://{}", path.replace('%', "%25").replace(' ', "%20").replace('ä', "%C3%A4"));
    assert_eq!(board.set(&["--file-url", odd, "--file-url", &url(plain)])["type"], "file_urls");
    let urls = json!([url(odd), url(plain)]);
    for format in ["file-urls", "file_urls", "auto"] {
        let data = board.desk.ok(&["clipboard-get", "--format", format]);
        assert_eq!((&data["type"], &data["file_urls"]), (&json!("file_urls"), &urls));
        assert_eq!(data["details"]["operation"], "copy");
    }
    assert_eq!(board.text(), json!(format!("{odd}\n{plain}")));
    let gnome = format!("copy\n{}\n{}", url(odd), url(plain));
    assert_eq!(board.xclip("x-special/gnome-copied-files").as_deref(), Some(gnome.as_bytes()));
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        assert_eq!(board.paste(toolkit, "files"), urls, "{toolkit}");
    }
    let (_cut, _) = board.runs("clipboard_owner.py", &["cut"]);
    let data = board.desk.ok(&["clipboard-get", "--format", "auto"]);
    assert_eq!(
        (&data["file_urls"], &data["details"]["operation"]),
        (&json!(["file:///a%20b", "file:///c"]), &json!("cut"))
    );
    let (_links, _) = board.runs("clipboard_owner.py", &["links"]);
    assert_eq!(board.desk.ok(&["clipboard-get", "--format", "auto"])["text"], "https://example.org/");
}

/// What can't be put there is refused, and the clipboard stays as it was.
#[test]
fn what_is_refused_changes_nothing() {
    let board = Board::new();
    board.set(&["before"]);
    let no_png = board.file("no.png", b"GIF89a");
    let cut = board.file("cut.png", &png(40, 40, true)[..2_000]);
    for args in [
        &["--file-url", "/no/such/file"][..],
        &["--file-url", "https://example.org/"],
        &["--image", "/no/such/file.png"],
        &["--image", no_png.to_str().expect("a path")],
        &["--image", cut.to_str().expect("a path")],
        &[],
        &["text", "--stdin"],
    ] {
        let error = board.desk.err(&[&["clipboard-set"], args].concat());
        assert_eq!(error["code"], "INVALID_ARGS", "{args:?}: {error}");
    }
    let reply = board.desk.cli_with(&["clipboard-set", "--stdin"], &[], Some("a\0b"));
    assert_eq!(reply.error()["code"], "INVALID_ARGS");
    assert_eq!(board.desk.err(&["clipboard-get", "--out", "/tmp/x"])["code"], "INVALID_ARGS");
    assert_eq!(board.text(), json!("before"));
    assert_eq!(board.owners().len(), 1);
    let data = board.desk.ok(&["clipboard-clear"]);
    assert_eq!((&data["cleared"], delivery(&data)), (&json!(true), "delivered_verified"));
    assert_eq!(board.xclip("TARGETS"), None);
    assert_eq!(board.desk.ok(&["clipboard-get", "--format", "auto"]), json!({"type": "auto", "found": false}));
    wait_for("the owner to end", || board.owners().is_empty().then_some(()));
}

/// A secret comes by standard input and stands in no process's arguments or environment, no error and no file of ours.
#[test]
fn secrets_stay_out_of_sight() {
    let board = Board::new();
    let reply = board.desk.cli_with(&["clipboard-set", "--stdin", "-v"], &[("SOME_TOKEN", SECRET)], Some(SECRET));
    reply.data();
    assert!(!format!("{reply:?}").contains(SECRET), "{reply:?}");
    assert_eq!(board.text(), json!(SECRET));
    let owners = board.owners();
    assert_eq!(owners.len(), 1);
    for pid in owners {
        for file in ["cmdline", "environ"] {
            let text = std::fs::read(format!("/proc/{pid}/{file}")).expect("its arguments");
            assert!(!String::from_utf8_lossy(&text).contains(SECRET), "in {file}");
        }
        // Nothing of the caller's is open in it, and it sits in no directory of anybody's.
        for fd in [0, 1, 2] {
            let target = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("a descriptor");
            assert_eq!(target, Path::new("/dev/null"), "descriptor {fd}");
        }
        assert_eq!(std::fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors").count(), 4, "and the display");
        assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).expect("its directory"), Path::new("/"));
    }
    let mut open = vec![board.desk.dir.path().to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).expect("a directory").flatten().map(|e| e.path()));
        } else if path.is_file() {
            let text = std::fs::read(&path).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&text).contains(SECRET), "in {}", path.display());
        }
    }
    let (_bad, _) = board.runs("clipboard_owner.py", &["bad-utf8"]);
    let error = board.desk.err(&["clipboard-get"]);
    assert_eq!(error["details"]["kind"], "clipboard_content_invalid", "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

/// One owner at a time, whoever sets how often; of two at once one wins, whole. The last one dies with the desktop.
#[test]
fn one_owner_at_a_time() {
    let board = Board::new();
    for n in 0..20 {
        board.set(&[&format!("text {n}")]);
    }
    wait_for("one owner", || (board.owners().len() == 1).then_some(()));
    assert_eq!(board.text(), "text 19");
    for round in 0..3 {
        let texts: Vec<String> = (0..4).map(|n| format!("{round}.{n} ").repeat(20_000)).collect();
        let children: Vec<_> = texts
            .iter()
            .map(|text| {
                let mut child = board
                    .desk
                    .command(binary("agent-desktop"))
                    .args(["clipboard-set", "--stdin"])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("it starts");
                child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("it reads");
                child
            })
            .collect();
        for child in children {
            let out = child.wait_with_output().expect("it ends");
            let envelope: Value = serde_json::from_slice(&out.stdout).expect("an envelope");
            let replaced = envelope["error"]["details"]["kind"] == "clipboard_replaced";
            assert!(envelope["ok"] == true || replaced, "{envelope}");
        }
        let now = board.text();
        assert!(texts.iter().any(|t| now == json!(t)), "a mixture, or nothing");
        wait_for("one owner", || (board.owners().len() == 1).then_some(()));
    }
    board.copies(b"from elsewhere", &[]);
    wait_for("no owner", || board.owners().is_empty().then_some(()));
    assert_eq!(board.text(), "from elsewhere");
    board.set(&["ours again"]);
    assert_eq!(board.xclip("UTF8_STRING").as_deref(), Some(&b"ours again"[..]));
    let owner = board.owners()[0];
    assert!(Command::new("kill").args(["-KILL", &owner.to_string()]).status().expect("kill").success());
    wait_for("it to be dead", || board.owners().is_empty().then_some(()));
    assert_eq!(board.desk.ok(&["clipboard-get"])["found"], false);
    board.set(&["last"]);
    let display = board.desk.env.iter().find(|(name, _)| name == "DISPLAY").expect("a display").1.clone();
    drop(board);
    wait_for("it to end with the display", || owners_of(&display).is_empty().then_some(()));
}

/// Owners that don't answer, stop in the middle, die, lie or offer what we don't read.
#[test]
fn owners_that_misbehave() {
    let board = Board::new();
    let within = |limit: u64, args: &[&str]| {
        let started = Instant::now();
        let error = board.desk.err(args);
        assert!(started.elapsed() < Duration::from_secs(limit), "{error} after {:?}", started.elapsed());
        error
    };
    for (kind, code, why) in [
        ("dies-mid-transfer", "ACTION_FAILED", "clipboard_owner_gone"),
        ("announces-too-much", "ACTION_FAILED", "clipboard_too_large"),
        ("never-ends", "ACTION_FAILED", "clipboard_too_large"),
        ("direct-too-large", "ACTION_FAILED", "clipboard_too_large"),
        ("bad-utf8", "ACTION_FAILED", "clipboard_content_invalid"),
        ("silent", "APP_UNRESPONSIVE", "application_silent"),
        ("stops-mid-transfer", "APP_UNRESPONSIVE", "application_silent"),
    ] {
        let (owner, _) = board.runs("clipboard_owner.py", &[kind]);
        let error = within(20, &["clipboard-get"]);
        assert_eq!((&error["code"], &error["details"]["kind"]), (&json!(code), &json!(why)), "{kind}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered");
        assert!(!error.to_string().contains("torn"), "{kind}: {error}");
        if why == "clipboard_too_large" {
            assert!(error["details"]["bytes"].as_u64().is_some_and(|n| n > 8 * 1024 * 1024), "{kind}: {error}");
        }
        if code == "APP_UNRESPONSIVE" {
            assert_eq!(error["details"]["pid"], owner.pid(), "{kind}: {error}");
            assert_eq!(error["details"]["app"], "clipboard_owner", "{kind}: {error}");
        }
    }
    for (kind, text) in [("utf16", "Grüße 😀"), ("latin1", "café"), ("no-targets", "old program")] {
        let (_owner, _) = board.runs("clipboard_owner.py", &[kind]);
        assert_eq!(board.text(), text, "{kind}");
    }
    let (_owner, _) = board.runs("clipboard_owner.py", &["bmp"]);
    let data = board.desk.ok(&["clipboard-get", "--format", "image"]);
    assert_eq!(data["found"], false);
    assert!(data["details"]["offered"].to_string().contains("image/bmp"), "{data}");
    let (_owner, _) = board.runs("clipboard_owner.py", &["broken-png"]);
    let error = board.desk.err(&["clipboard-get", "--format", "image"]);
    assert_eq!(error["details"]["kind"], "clipboard_content_invalid", "{error}");
    // Our own owner, stopped; setting anew helps.
    board.set(&["stopped"]);
    let owner = board.owners()[0].to_string();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &owner]).status().expect("kill").success());
    signal("-STOP");
    let error = within(20, &["clipboard-get"]);
    assert_eq!(
        (&error["code"], &error["details"]["pid"]),
        (&json!("APP_UNRESPONSIVE"), &json!(owner.parse::<u32>().expect("a pid")))
    );
    board.set(&["anew"]);
    assert_eq!(board.text(), "anew");
    signal("-CONT");
    wait_for("the old one to end", || (board.owners().len() == 1).then_some(()));
}

/// Requestors that stop or end in the middle delay nobody, and the owner doesn't stay for them; the rest of ICCCM.
#[test]
fn requestors_that_misbehave() {
    let board = Board::new();
    let big = png(1_500, 1_500, true);
    let path = board.file("big.png", &big);
    board.set(&["--image", path.to_str().expect("a path")]);
    let (_stalled, said) = board.runs("clipboard_request.py", &["stall", "image/png"]);
    assert!(said.contains("INCR"), "{said}");
    assert_eq!(board.asks("clipboard_request.py", &["leave", "image/png"])["type"], "INCR");
    assert!(board.xclip("image/png").as_deref() == Some(&big[..]));
    let both = std::thread::scope(|s| {
        let all: Vec<_> = (0..3).map(|_| s.spawn(|| board.xclip("image/png"))).collect();
        all.into_iter().all(|t| t.join().expect("a reader").as_deref() == Some(&big[..]))
    });
    assert!(both, "several at once");
    let owner = board.owners();
    assert_eq!(owner.len(), 1);
    // Replaced, it waits a while for the one that stands still, and then no longer.
    board.set(&["next"]);
    assert_eq!(board.text(), "next");
    wait_for("the replaced owner to give up", || (!board.owners().contains(&owner[0])).then_some(()));
    let several = board.asks("clipboard_request.py", &["multiple", "UTF8_STRING,image/png,TIMESTAMP,STRING"]);
    assert_eq!((&several["done"], &several["refused"]), (&json!(true), &json!(["image/png"])), "{several}");
    assert_eq!(several["values"]["UTF8_STRING"]["size"], 4, "{several}");
    assert_eq!(several["values"]["STRING"]["type"], "STRING", "{several}");
    let time = board.asks("clipboard_request.py", &["ask", "TIMESTAMP"]);
    assert_eq!((&time["value"]["type"], &time["value"]["format"]), (&json!("INTEGER"), &json!(32)), "{time}");
    assert!(time["value"]["words"][0].as_u64().is_some_and(|t| t > 1), "{time}");
    assert_eq!(board.asks("clipboard_request.py", &["early", "UTF8_STRING"])["done"], false);
    for target in ["SAVE_TARGETS", "image/png", "NO_SUCH_FORMAT"] {
        assert_eq!(board.asks("clipboard_request.py", &["ask", target])["done"], false, "{target}");
    }
    assert_eq!(board.text(), "next");
}

/// No accessibility bus, no session bus: the display is enough. No display: it says what is missing.
#[test]
fn needs_a_display_and_nothing_else() {
    let board = Board::new();
    let run = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = board.desk.command(binary("agent-desktop"));
        for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "AT_SPI_BUS_ADDRESS"] {
            command.env_remove(name);
        }
        let out = command.envs(env.iter().copied()).args(args).stdin(Stdio::null()).output().expect("it runs");
        serde_json::from_slice::<Value>(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"))
    };
    assert_eq!(run(&["list-windows"], &[])["ok"], false, "there is a bus: this proves nothing");
    assert_eq!(run(&["clipboard-set", "no bus"], &[])["ok"], true);
    assert_eq!(run(&["clipboard-get"], &[])["data"]["text"], "no bus");
    for (args, display) in
        [(&["clipboard-set", "x"][..], ":64999"), (&["clipboard-get"], ":64999"), (&["clipboard-clear"], "")]
    {
        let answer = run(args, &[("DISPLAY", display)]);
        assert_eq!(answer["error"]["details"]["kind"], "no_desktop", "{answer}");
        assert_eq!(answer["error"]["disposition"]["delivery"], "not_delivered", "{answer}");
    }
    assert_eq!(board.text(), "no bus");
}

/// `--desktop ID`: the owner lives in that desktop, with its cookie, and ends with it; ours is not touched.
#[test]
fn in_another_desktop() {
    let board = Board::new();
    board.set(&["here"]);
    let started = board.desk.ok(&["desktop", "start"]);
    let id = started["id"].as_str().expect("an id").to_owned();
    let display = started["display"].as_str().expect("a display").to_owned();
    board.set(&["there", "--desktop", &id]);
    let owners = owners_of(&display);
    let (there, here) = (board.desk.ok(&["clipboard-get", "--desktop", &id]), board.text());
    board.desk.ok(&["desktop", "stop", &id]);
    assert_eq!((&there["text"], &here), (&json!("there"), &json!("here")));
    assert_eq!(owners.len(), 1);
    wait_for("the owner to end with its desktop", || owners_of(&display).is_empty().then_some(()));
    assert_eq!(board.owners().len(), 1);
}
