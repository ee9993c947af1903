//! Windows and displays of a real X server, against xwininfo, xprop and wmctrl.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use agent_desktop_linux::desktop::{Desktops, Record, RuntimeDir, StartOptions, SupervisorCommand};
use agent_desktop_linux::process::{LaunchOptions, Launched, desktop_entry, entry_id, launch, names};
use agent_desktop_linux::x11::{self, Connection, X11Error, X11Window};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Desktop {
    desktops: Desktops,
    record: Record,
    base: tempfile::TempDir,
}

impl Desktop {
    fn start() -> Desktop {
        let base = tempfile::Builder::new().prefix("ad-test").tempdir_in("/tmp").unwrap();
        let desktops = Desktops::below(&RuntimeDir::at(&base.path().join("rt")).unwrap()).unwrap();
        let program = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join("desktop");
        let supervisor = SupervisorCommand { program, args: vec!["supervisor".into()] };
        let record = desktops.start(&StartOptions::new(supervisor)).unwrap().record;
        Desktop { desktops, record, base }
    }

    fn connect(&self) -> Connection {
        let (display, authority) = self.record.env.display().unwrap();
        x11::connect(display, authority, Instant::now() + Duration::from_secs(30)).unwrap()
    }

    fn tool(&self, program: &str, args: &[&str]) -> String {
        let mut c = Command::new(program);
        self.record.env.apply(&mut c);
        String::from_utf8_lossy(&c.args(args).stdin(Stdio::null()).output().unwrap().stdout).into_owned()
    }

    fn launch(&self, query: &str, args: &[&str]) -> Launched {
        let entries = desktop_entry::all(&desktop_entry::directories(|n| std::env::var(n).ok()));
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        let plan = launch::find(query, &args, &entries).unwrap();
        let options = LaunchOptions { desktop: Some(self.record.env.clone()), ..Default::default() };
        launch::launch(&plan, &options).unwrap()
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = self.desktops.stop(&self.record.id);
    }
}

fn until(x: &Connection, what: &str, condition: impl Fn(&[X11Window]) -> bool) -> Vec<X11Window> {
    let end = Instant::now() + Duration::from_secs(30);
    x.set_deadline(end + Duration::from_secs(5));
    loop {
        let found = x11::windows(x).unwrap();
        if condition(&found) {
            return found;
        }
        assert!(Instant::now() < end, "not in time: {what}: {found:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A number that xwininfo prints after a label.
fn number(text: &str, label: &str) -> i64 {
    text.split(label).nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn windows_are_those_of_other_tools() {
    let d = Desktop::start();
    let x = d.connect();
    assert_eq!(x11::windows(&x).unwrap(), []);
    assert_eq!(x11::active_window(&x).unwrap(), None);

    let mut app = d.launch("mousepad", &[]);
    let w = until(&x, "a window", |w| w.len() == 1 && w[0].viewable && w[0].is_active).remove(0);
    assert_eq!(app.ended(), None);
    assert_eq!(w.pid, Some(app.pid));
    assert_eq!(x11::active_window(&x).unwrap(), Some(w.client));
    let id = format!("{:#x}", w.client);
    let compare = |w: &X11Window| {
        let info = d.tool("xwininfo", &["-id", &id]);
        assert_eq!(number(&info, "Absolute upper-left X:"), i64::from(w.bounds.x), "{info}");
        assert_eq!(number(&info, "Absolute upper-left Y:"), i64::from(w.bounds.y));
        assert_eq!(number(&info, "Width:"), i64::from(w.bounds.width));
        assert_eq!(number(&info, "Height:"), i64::from(w.bounds.height));
        let frame = w.frame_extents.unwrap();
        let said = d.tool("xprop", &["-id", &id, "_NET_FRAME_EXTENTS"]);
        let want = format!("{}, {}, {}, {}", frame.left, frame.right, frame.top, frame.bottom);
        assert!(said.trim().ends_with(&want), "{said}");
        let listed = d.tool("wmctrl", &["-lp"]);
        assert!(listed.contains(&format!(" {} ", app.pid)) && listed.contains(w.title.as_deref().unwrap()), "{listed}");
    };
    compare(&w);
    d.tool("wmctrl", &["-i", "-r", &id, "-e", "0,200,120,500,400"]);
    compare(&until(&x, "it moved", |n| n[0].bounds != w.bounds && n[0].bounds.width == 500)[0]);

    d.tool("wmctrl", &["-i", "-r", &id, "-b", "add,maximized_vert,maximized_horz"]);
    until(&x, "maximised", |w| w[0].maximized);
    d.tool("wmctrl", &["-i", "-r", &id, "-b", "remove,maximized_vert,maximized_horz"]);
    d.tool("wmctrl", &["-i", "-r", &id, "-b", "add,fullscreen"]);
    until(&x, "full screen", |w| w[0].fullscreen && !w[0].maximized);
    d.tool("wmctrl", &["-i", "-r", &id, "-b", "remove,fullscreen"]);
    d.tool("xdotool", &["windowminimize", &id]);
    until(&x, "minimised", |w| w[0].minimized && !w[0].viewable && !w[0].is_active);

    let known = desktop_entry::all(&desktop_entry::directories(|n| std::env::var(n).ok()));
    assert_eq!(entry_id::desktop_entry_id(app.pid, &known).as_deref(), Some("org.xfce.mousepad"));
    assert!(names(app.pid).matches("Mousepad"));
}

#[test]
fn stacking_and_windows_that_end_meanwhile() {
    let d = Desktop::start();
    let x = d.connect();
    let _first = d.launch("org.xfce.mousepad", &["--disable-server"]);
    let lower = until(&x, "one", |w| w.len() == 1)[0].client;
    let mut second = d.launch("gtk3-widget-factory", &[]);
    let both = until(&x, "two", |w| w.len() == 2 && w[1].is_active && w[1].client != lower);
    assert_eq!((both[0].client, both[1].pid), (lower, Some(second.pid)));
    d.tool("wmctrl", &["-i", "-a", &format!("{lower:#x}")]);
    until(&x, "raised", |w| w[1].client == lower && w[1].is_active);
    // Read as fast as possible while one ends: never an error, never a half read window.
    d.tool("kill", &["-9", &second.pid.to_string()]);
    until(&x, "one is left", |w| w.iter().all(|w| w.bounds.width > 0) && w.len() == 1);
    assert!(second.ended_within(Duration::from_secs(10)).is_some());
}

#[test]
fn displays_are_the_monitors() {
    let d = Desktop::start();
    let x = d.connect();
    let one = x11::displays(&x).unwrap();
    assert_eq!(one.len(), 1);
    assert!(one[0].primary);
    assert_eq!((one[0].bounds.width, one[0].bounds.height), (1280, 800));
    d.tool("xrandr", &["--setmonitor", "L", "640/300x800/300+0+0", "screen"]);
    d.tool("xrandr", &["--setmonitor", "R", "640/300x800/300+640+0", "none"]);
    let two = x11::displays(&x).unwrap();
    let shown: Vec<_> = two.iter().map(|m| (m.id.as_str(), m.bounds.x, m.bounds.width)).collect();
    assert_eq!(shown, [("L", 0, 640), ("R", 640, 640)], "{}", d.tool("xrandr", &["--listmonitors"]));
    assert_eq!(two.iter().filter(|m| m.primary).count(), 1);
}

#[test]
fn a_silent_server_is_late_and_a_wrong_cookie_refused() {
    let d = Desktop::start();
    let x = d.connect();
    let server = d.record.display_server.pid.to_string();
    assert!(Command::new("kill").args(["-STOP", &server]).status().unwrap().success());
    let begun = Instant::now();
    x.set_deadline(begun + Duration::from_millis(200));
    let late = x11::windows(&x);
    let (display, authority) = d.record.env.display().unwrap();
    let connecting = x11::connect(display, authority, Instant::now() + Duration::from_millis(200));
    assert!(Command::new("kill").args(["-CONT", &server]).status().unwrap().success());
    assert_eq!(late, Err(X11Error::Timeout));
    assert!(matches!(connecting, Err(X11Error::Timeout)), "{connecting:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let end = Instant::now() + Duration::from_secs(10);
    let refused = x11::connect(display, None, end);
    assert!(matches!(refused, Err(X11Error::Refused { .. })), "{refused:?}");
}

#[test]
fn chromium_gets_its_flags() {
    let d = Desktop::start();
    if !std::path::Path::new("/usr/bin/chromium").exists() {
        panic!("chromium is not installed");
    }
    let app = d.launch("chromium", &["about:blank"]);
    assert!(app.args.iter().any(|a| a == "--force-renderer-accessibility"), "{:?}", app.args);
    assert_eq!(app.args.iter().any(|a| a == "--no-sandbox"), rustix::process::geteuid().is_root());
    let x = d.connect();
    until(&x, "a window", |w| w.iter().any(|w| w.viewable));
    // Its helpers overwrite their environment; none may write into the directory after the end.
    d.desktops.stop(&d.record.id).unwrap();
    let left: Vec<_> = process_table().into_iter().filter(|(_, line)| line.contains(&d.record.id)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(std::fs::read_dir(d.base.path().join("rt/desktops")).unwrap().count(), 0);
}

/// Command lines by process id; zombies have none.
fn process_table() -> Vec<(i32, String)> {
    let dir = std::fs::read_dir("/proc").unwrap();
    dir.flatten()
        .filter_map(|e| Some((e.file_name().to_str()?.parse().ok()?, std::fs::read(e.path().join("cmdline")).ok()?)))
        .map(|(p, line)| (p, String::from_utf8_lossy(&line).into_owned()))
        .collect()
}
