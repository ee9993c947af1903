//! Physical input on a real X server: what an application received is read from its own log and its own widget, what is
//! down from the server by a connection of its own, the layout from xkbcomp.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use agent_desktop_core::command::values::Button;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::input::{Guard, Hold, Input, Played, Release, Stroke};
use agent_desktop_core::platform::{ProcessKey, WindowKey};
use agent_desktop_core::vocab::key::{Combo, Key, Modifier};
use agent_desktop_linux::LinuxPlatform;
use agent_desktop_linux::desktop::{Desktops, Record, RuntimeDir, StartOptions, SupervisorCommand};
use agent_desktop_linux::process::Token;
use agent_desktop_linux::x11::{self, Connection};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::ConnectionExt as _;

fn example(name: &str) -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join(name)
}

struct Desktop {
    desktops: Desktops,
    record: Record,
    base: tempfile::TempDir,
    platform: LinuxPlatform,
}

impl Desktop {
    fn start() -> Self {
        let base = tempfile::Builder::new().prefix("ad-test").tempdir_in("/tmp").unwrap();
        let desktops = Desktops::below(&RuntimeDir::at(&base.path().join("rt")).unwrap()).unwrap();
        let supervisor = SupervisorCommand { program: example("desktop"), args: vec!["supervisor".into()] };
        let record = desktops.start(&StartOptions::new(supervisor)).unwrap().record;
        let env = record.env.clone();
        let platform = LinuxPlatform::join_with(|n| env.get(n).map(str::to_owned)).unwrap();
        Self { desktops, record, base, platform: platform.with_program(Some(example("input"))) }
    }

    fn connect(&self) -> Connection {
        let (display, authority) = self.record.env.display().unwrap();
        x11::connect(display, authority, Instant::now() + Duration::from_secs(120)).unwrap()
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut c = Command::new(program);
        self.record.env.apply(&mut c);
        c
    }

    fn tool(&self, program: &str, args: &[&str]) -> String {
        let out = self.command(program).args(args).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn layout(&self) -> String {
        let (display, _) = self.record.env.display().unwrap();
        let map = self.tool("xkbcomp", &[display, "-"]);
        assert!(map.len() > 10_000, "xkbcomp failed");
        map
    }

    /// Keys and buttons that are down.
    fn down(&self) -> (Vec<u8>, u16) {
        let x = self.connect();
        let map = x.raw().query_keymap().unwrap().reply().unwrap().keys;
        let keys = (0..=255u8).filter(|k| map[usize::from(k / 8)] & (1 << (k % 8)) != 0).collect();
        let mask = u16::from(x.raw().query_pointer(x.root()).unwrap().reply().unwrap().mask);
        (keys, mask & 0x1f00)
    }

    fn until(&self, what: &str, is: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !is(self) {
            assert!(Instant::now() < end, "not in time: {what}: {:?}", self.down());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn field(&self, toolkit: &str, title: &str) -> Field {
        let dir = self.base.path().join(title);
        std::fs::create_dir(&dir).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/typed.py");
        let child = self
            .command("/usr/bin/python3")
            .args([script, toolkit, dir.to_str().unwrap(), "--title", title])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id() as i32;
        let mut field = Field { dir, child, key: None, typed: String::new() };
        self.until("the field has the keyboard", |d| {
            field.dir.join("ready").exists()
                && d.tool("xdotool", &["getwindowfocus", "getwindowname"]).trim() == title
                && d.platform
                    .x_windows(Deadline::after_ms(2_000))
                    .is_some_and(|all| all.iter().any(|w| w.is_active && w.title.as_deref() == Some(title)))
        });
        let all = self.platform.x_windows(Deadline::after_ms(2_000)).unwrap();
        let window = all.iter().find(|w| w.is_active).unwrap();
        let process = ProcessKey { pid: pid as u32, instance: Token::of(pid).unwrap().to_string() };
        field.key = Some(WindowKey { id: window.client.to_string(), process });
        field
    }

    fn play(&self, strokes: &[Stroke], guard: &Guard) -> Played {
        self.platform.play(strokes, guard, Deadline::after_ms(60_000)).unwrap()
    }

    /// A command of its own that plays, to be killed.
    fn player(&self, strokes: &[Stroke], guard: &Guard) -> Child {
        let mut child = self
            .command(example("input"))
            .arg("play")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let body = json!({"strokes": strokes, "guard": guard}).to_string();
        child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
        child
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = self.platform.release_all(None, Deadline::after_ms(2_000));
        let _ = self.desktops.stop(&self.record.id);
    }
}

struct Field {
    dir: PathBuf,
    child: Child,
    key: Option<WindowKey>,
    typed: String,
}

impl Field {
    fn front(&self) -> Guard {
        Guard { front: self.key.clone(), under: None }
    }

    fn read(&self) -> String {
        std::fs::read_to_string(self.dir.join("text")).unwrap_or_default()
    }

    fn events(&self) -> String {
        std::fs::read_to_string(self.dir.join("events")).unwrap_or_default()
    }

    /// Types and compares with the widget's own text.
    fn exact(&mut self, desktop: &Desktop, text: &str) {
        let played = desktop.play(&[Stroke::Text(text.to_owned())], &self.front());
        assert_eq!((played.stopped, played.release, played.delivered), (None, Release::Complete, played.planned));
        assert!(!played.uncertain);
        self.typed.push_str(&text.replace("\r\n", "\n"));
        let end = Instant::now() + Duration::from_secs(20);
        while self.read() != self.typed && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(self.read(), self.typed);
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TEXTS: &[&str] = &[
    "Hello, World! 123 {}[]<>|\\ ~`^\"' @#$%&*()_+-=;:,.?/",
    "a\tb\nc\r\nd",
    "äöüß ÄÖÜ éèêñç Œœ € „quotes“ – …",
    "Привет, Ёжик! Γειά σου Κόσμε άέή ς",
    "你好世界 日本語テスト 한국어",
    "😀🚀 👍🏽 👨\u{200d}👩\u{200d}👧 e\u{301} o\u{302}\u{323}",
    "שלום עולם مرحبا بالعالم",
    "´ ` ^ ~ ¨ a'b\"c^d~e`f ЯяAaÄä",
];

fn all_texts(toolkit: &str) {
    let d = Desktop::start();
    let before = d.layout();
    let mut field = d.field(toolkit, toolkit);
    for text in TEXTS {
        field.exact(&d, text);
    }
    assert_eq!(d.layout(), before, "the layout is as it was");
    assert_eq!(d.down(), (vec![], 0));
}

#[test]
fn text_arrives_exactly_gtk3() {
    all_texts("gtk3");
}

#[test]
fn text_arrives_exactly_gtk4() {
    all_texts("gtk4");
}

#[test]
fn text_arrives_exactly_qt5() {
    all_texts("qt5");
}

#[test]
fn text_arrives_exactly_qt6() {
    all_texts("qt6");
}

#[test]
fn on_other_layouts() {
    let d = Desktop::start();
    for layout in ["de", "fr", "ru", "gr", "us -variant intl", "us,ru"] {
        d.tool("setxkbmap", &layout.split(' ').collect::<Vec<_>>());
        let before = d.layout();
        let mut field = d.field("gtk3", layout);
        for text in TEXTS {
            field.exact(&d, text);
        }
        assert_eq!(d.layout(), before, "{layout}");
    }
}

/// The other toolkits, on one layout with AltGr and one that is not Latin.
fn short_texts_on_other_layouts(toolkit: &str) {
    let d = Desktop::start();
    for layout in ["de", "ru"] {
        d.tool("setxkbmap", &[layout]);
        let before = d.layout();
        let mut field = d.field(toolkit, &format!("{toolkit} {layout}"));
        for text in ["Größe {x} @ €, Zyklop! yz", "Привет, Ёж! №1", "日本 ☃ 😀"] {
            field.exact(&d, text);
        }
        assert_eq!(d.layout(), before, "{toolkit} {layout}");
    }
}

#[test]
fn short_texts_on_other_layouts_gtk4() {
    short_texts_on_other_layouts("gtk4");
}

#[test]
fn short_texts_on_other_layouts_qt5() {
    short_texts_on_other_layouts("qt5");
}

#[test]
fn short_texts_on_other_layouts_qt6() {
    short_texts_on_other_layouts("qt6");
}

/// Two thousand different characters, each on a borrowed key.
#[test]
fn two_thousand_characters_beyond_the_layout() {
    let d = Desktop::start();
    let before = d.layout();
    let mut field = d.field("gtk3", "many");
    let text: String = (0..2_000u32).filter_map(|n| char::from_u32(0x4e00 + n * 7)).collect();
    assert_eq!(text.chars().count(), 2_000);
    field.exact(&d, &text);
    assert_eq!(d.layout(), before);
    assert_eq!(d.down(), (vec![], 0));
}

#[test]
fn another_layouts_letter_on_the_key_l_locks_the_screen_as_well() {
    let d = Desktop::start();
    let dangerous = |combo: &str| d.platform.dangerous(&Combo::parse(combo).unwrap());
    assert!(dangerous("super+l") && !dangerous("super+д"));
    for layout in ["ru", "us,ru"] {
        d.tool("setxkbmap", &["-layout", layout]);
        assert!(dangerous("super+д") && dangerous("super+Д") && dangerous("ctrl+super+д"), "{layout}");
        assert!(!dangerous("super+ж") && !dangerous("ctrl+д") && !dangerous("super+k"), "{layout}");
    }
}

/// Of a keeper that was killed nothing is left, in a process that lives on; and the next input lets go of its keys.
#[test]
fn a_killed_keeper_is_no_zombie() {
    let d = Desktop::start();
    let shift = Hold::Keys(Combo::parse("shift").unwrap());
    d.platform.hold(&shift, None, 30_000, &Guard::default(), Deadline::after_ms(5_000)).unwrap();
    let own = std::process::id().to_string();
    let keeper = d.tool("pgrep", &["-n", "-P", &own, "-f", "input __input-holder keep"]).trim().to_owned();
    d.tool("kill", &["-KILL", &keeper]);
    d.until("it is gone altogether", |d| d.tool("ps", &["-o", "stat=", "-p", &keeper]).trim().is_empty());
    assert!(!d.down().0.is_empty());
    // Any input at all settles what it left.
    let played = d.play(&[Stroke::Move(Point { x: 5.0, y: 5.0 })], &Guard::default());
    assert_eq!((played.stopped, played.release), (None, Release::Posted));
    assert!(d.down().0.is_empty());
}

#[test]
fn locks_and_modifiers_of_others_are_put_back() {
    let d = Desktop::start();
    let mut field = d.field("gtk3", "locks");
    d.tool("xdotool", &["key", "Caps_Lock", "Num_Lock"]);
    d.tool("xdotool", &["keydown", "ctrl"]);
    let held = d.down();
    assert_eq!(held.0.len(), 1);
    field.exact(&d, "aAbB äÄ жЖ 12");
    assert_eq!(d.down(), held);
    let leds = d.tool("xset", &["q"]);
    let on = |name: &str| leds.split(name).nth(1).unwrap().trim_start().starts_with("on");
    assert!(on("Caps Lock:") && on("Num Lock:"), "{leds}");
    d.tool("xdotool", &["keyup", "ctrl"]);
}

fn drag(key: &WindowKey, d: &Desktop) -> (Vec<Stroke>, Guard) {
    let all = d.platform.x_windows(Deadline::after_ms(2_000)).unwrap();
    let at = all.iter().find(|w| w.client.to_string() == key.id).unwrap().bounds;
    let point = |dx: i32, dy: i32| Stroke::Move(Point { x: f64::from(at.x + dx), y: f64::from(at.y + dy) });
    let button = |down| Stroke::Button { button: Button::Left, down };
    let strokes = vec![point(50, 50), button(true), point(150, 100), Stroke::Pause(20_000), button(false)];
    (strokes, Guard { front: Some(key.clone()), under: Some(key.clone()) })
}

fn chord() -> Vec<Stroke> {
    let modifier = |modifier| Stroke::Modifier { modifier, down: true };
    let key = Stroke::Key { key: Key::Character('a'), down: true };
    vec![modifier(Modifier::Ctrl), modifier(Modifier::Shift), key, Stroke::Pause(20_000)]
}

#[test]
fn nothing_stays_down_when_the_command_is_killed() {
    let d = Desktop::start();
    let field = d.field("gtk3", "killed");
    let key = field.key.clone().unwrap();
    let (strokes, guard) = drag(&key, &d);
    for (strokes, guard, is_down) in
        [(strokes, guard, (vec![], 0x100)), (chord(), field.front(), (vec![37, 38, 50], 0))]
    {
        let mut command = d.player(&strokes, &guard);
        d.until("it is down", |d| d.down() == is_down);
        command.kill().unwrap();
        command.wait().unwrap();
        d.until("it is released", |d| d.down() == (vec![], 0));
    }
    let events = field.events();
    assert!(events.contains("press 1") && events.contains("release 1"), "{events}");
}

/// A display that stalls beyond everybody's patience lets go once it goes on, without any further command.
#[test]
fn nothing_stays_down_when_the_display_stalls() {
    let d = Desktop::start();
    let field = d.field("gtk3", "stalled");
    let (strokes, guard) = drag(&field.key.clone().unwrap(), &d);
    let authority = d.record.env.display().unwrap().1.unwrap().to_str().unwrap().to_owned();
    let server = d.tool("pgrep", &["-f", &format!("^[^ ]*Xvfb .*{authority}")]).trim().to_owned();
    assert!(server.parse::<i32>().is_ok(), "one server: {server}");
    let mut command = d.player(&strokes, &guard);
    d.until("it is down", |d| d.down() == (vec![], 0x100));
    d.tool("kill", &["-STOP", &server]);
    // The command is told to end, and nobody's releases are heard.
    d.tool("kill", &["-KILL", &command.id().to_string()]);
    command.wait().unwrap();
    std::thread::sleep(Duration::from_secs(6));
    d.tool("kill", &["-CONT", &server]);
    d.until("it is released", |d| d.down() == (vec![], 0));
}

#[test]
fn the_layout_is_restored_when_the_command_is_killed() {
    let d = Desktop::start();
    let field = d.field("gtk3", "borrowed");
    let before = d.layout();
    let text: String = (0..4_000u32).filter_map(|n| char::from_u32(0x4e00 + n)).collect();
    let mut command = d.player(&[Stroke::Text(text)], &field.front());
    d.until("keys are borrowed", |d| d.layout() != before);
    command.kill().unwrap();
    command.wait().unwrap();
    d.until("they are given back", |d| d.layout() == before);
    assert_eq!(d.down(), (vec![], 0));
}

#[test]
fn the_guard_stops_half_way() {
    let d = Desktop::start();
    let first = d.field("gtk3", "first");
    let second = d.field("gtk3", "second");
    let played = d.play(&[Stroke::Text("x".to_owned())], &first.front());
    let error = played.stopped.unwrap();
    assert_eq!((error.kind_name(), played.delivered, played.touched), (Some("window_not_in_front"), 0, false));
    let other = second.key.clone().unwrap();
    assert_eq!(error.details()["found"]["x11_window"], other.id);

    let (strokes, _) = drag(first.key.as_ref().unwrap(), &d);
    let Stroke::Move(at) = strokes[0] else { panic!() };
    let left = |n: f64| (n - 100.0).max(0.0).to_string();
    d.tool("xdotool", &["windowmove", "--sync", &other.id, &left(at.x), &left(at.y)]);
    let over = Guard { front: None, under: first.key.clone() };
    let played = d.play(&strokes, &over);
    assert_eq!(played.stopped.unwrap().kind_name(), Some("window_covered"));
    assert!(!played.touched);

    let text = |text: &str| Stroke::Text(text.to_owned());
    let raise = first.key.clone().unwrap().id;
    let played = std::thread::scope(|s| {
        s.spawn(|| {
            d.until("the first half", |_| second.read() == "abc");
            d.tool("xdotool", &["windowactivate", "--sync", &raise]);
        });
        d.play(&[text("abc"), Stroke::Pause(4_000), text("def")], &second.front())
    });
    assert_eq!(played.stopped.unwrap().kind_name(), Some("window_not_in_front"));
    assert_eq!((played.delivered, played.planned), (6, 12));
    assert_eq!((first.read().as_str(), second.read().as_str()), ("", "abc"));

    let mut recycled = second.key.clone().unwrap();
    recycled.process.instance = recycled.process.instance.rsplit_once(':').unwrap().0.to_owned() + ":1";
    let played = d.play(&[text("x")], &Guard { front: Some(recycled), under: None });
    assert_eq!(played.stopped.unwrap().kind_name(), Some("stale_window_id"));
}

#[test]
fn held_input_is_released() {
    let d = Desktop::start();
    let keys = |text: &str| Hold::Keys(Combo::parse(text).unwrap());
    let deadline = || Deadline::after_ms(5_000);
    let guard = Guard::default();
    let hold = |hold: &Hold, limit| d.platform.hold(hold, Some("s"), limit, &guard, deadline());
    assert_eq!(d.platform.held(deadline()).unwrap(), []);

    assert_eq!(hold(&keys("ctrl"), 30_000).unwrap().stopped, None);
    assert_eq!(hold(&keys("ctrl"), 30_000).unwrap_err().kind_name(), Some("already_held"));
    assert_eq!(hold(&keys("ctrl+shift"), 30_000).unwrap().stopped, None);
    assert_eq!(d.down().0, [37, 50]);
    assert_eq!(d.platform.release(&keys("ctrl"), None, deadline()).unwrap_err().kind_name(), Some("not_held"));
    d.platform.release(&keys("ctrl"), Some("s"), deadline()).unwrap();
    assert_eq!(d.down().0, [37, 50], "the other one needs it");
    assert_eq!(d.platform.release_all(None, deadline()).unwrap().len(), 1);
    assert!(d.down().0.is_empty());

    hold(&keys("shift"), 500).unwrap();
    d.until("its time is over", |d| d.down().0.is_empty());

    let own = std::process::id().to_string();
    let marked = || {
        let held = d.platform.held(deadline()).unwrap().len();
        (held, d.tool("pgrep", &["-n", "-P", &own, "-f", "input __input-holder keep"]).trim().to_owned())
    };
    for (signal, sends) in [("-TERM", false), ("-KILL", true)] {
        hold(&keys("alt"), 30_000).unwrap();
        let (held, keeper) = marked();
        assert_eq!(held, 1);
        d.tool("kill", &[signal, &keeper]);
        d.until("it ended", |d| {
            let stat = d.tool("ps", &["-o", "stat=", "-p", &keeper]);
            stat.trim().is_empty() || stat.trim().starts_with('Z')
        });
        // Killed, it can't release; the next command does.
        assert_eq!(d.down().0.is_empty(), !sends);
        assert_eq!(d.platform.held(deadline()).unwrap(), []);
        assert!(d.down().0.is_empty());
    }
}

#[test]
fn pointer_and_window_at_a_point() {
    let d = Desktop::start();
    let field = d.field("gtk3", "at");
    let key = field.key.clone().unwrap();
    let (strokes, _) = drag(&key, &d);
    d.play(&strokes[..1], &Guard::default());
    let deadline = Deadline::after_ms(5_000);
    let at = d.platform.pointer(deadline).into_known().unwrap();
    assert_eq!(strokes[0], Stroke::Move(at));
    assert_eq!(d.platform.window_at(at, deadline).into_known(), Some(key));
    assert_eq!(d.platform.window_at(Point { x: 1.0, y: 1.0 }, deadline).into_known(), None);
}
