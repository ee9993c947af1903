//! Screenshots, held against pixels that a fixture painted and against other programs' pictures. Every PNG is decoded by
//! ImageMagick.

use agent_desktop_e2e::{App, Desk, Live, nodes, wait_for};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

type Colour = [u8; 3];

/// A decoded picture.
#[derive(PartialEq, Eq)]
struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    /// ImageMagick's view of a file or of a command's output.
    fn decode(desk: &Desk, file: &Path) -> Self {
        let run = |program: &str, args: &[&str]| {
            let out = desk.command(program).args(args).output().expect("ImageMagick runs");
            assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
            out.stdout
        };
        let name = file.to_str().expect("UTF-8");
        let size = String::from_utf8(run("identify", &["-format", "%m %w %h", name])).expect("text");
        let size: Vec<&str> = size.split_whitespace().collect();
        let number = |at: usize| size[at].parse().expect("a number");
        let picture =
            Self { width: number(1), height: number(2), rgb: run("convert", &[name, "-depth", "8", "rgb:-"]) };
        assert_eq!(picture.rgb.len(), picture.width * picture.height * 3);
        picture
    }

    fn at(&self, x: usize, y: usize) -> Colour {
        let from = (y * self.width + x) * 3;
        self.rgb[from..from + 3].try_into().expect("three bytes")
    }

    fn count(&self, colour: Colour) -> usize {
        self.rgb.chunks_exact(3).filter(|p| *p == colour).count()
    }

    /// Holds it against what a painter paints. `bits` is the screen's precision in each channel.
    #[track_caller]
    fn is_painted(&self, left: usize, top: usize, seed: usize, bits: Colour) {
        let mut wrong = 0;
        let mut first = None;
        for y in top..self.height {
            for x in left..self.width {
                let (got, want) = (self.at(x, y), colour((x - left) / 8, (y - top) / 8, seed));
                let near = |i: usize| (i32::from(got[i]) - i32::from(want[i])).abs() <= i32::from(bits[i]);
                if !(0..3).all(near) {
                    wrong += 1;
                    first = first.or(Some((x, y, got, want)));
                }
            }
        }
        assert_eq!(wrong, 0, "of {}x{}, first (x, y, got, painted): {first:?}", self.width, self.height);
    }
}

/// What painter.py paints into a square.
fn colour(i: usize, j: usize, seed: usize) -> Colour {
    [37 * i + seed, 59 * j + 2 * seed, 11 * (i + j)].map(|c| (c % 256) as u8)
}

const EXACT: Colour = [0, 0, 0];

struct Painter {
    app: App,
    title: String,
    /// The product's id.
    id: String,
    /// The X server's.
    xid: String,
    seed: usize,
}

fn run(desk: &Desk, program: &str, args: &[&str]) -> String {
    let out: Output = desk.command(program).args(args).output().expect("it runs");
    assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

impl Painter {
    fn start(desk: &Desk, title: &str, place: [i32; 4], seed: usize, more: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/painter.py");
        let numbers: Vec<String> = place.iter().map(i32::to_string).chain([seed.to_string()]).collect();
        let mut args = vec![script.to_str().expect("UTF-8"), title];
        args.extend(numbers.iter().map(String::as_str));
        args.extend(more);
        let app = desk.spawn("/usr/bin/python3", &args);
        let id = wait_for(&format!("the window {title}"), || {
            let reply = desk.cli(&["list-windows"]);
            let rows = (reply.code == 0).then(|| reply.data())?;
            let row = rows.as_array()?.iter().find(|w| w["title"] == title && w["visible"] == true)?.clone();
            row["id"].as_str().map(str::to_owned)
        });
        let xid = run(desk, "xdotool", &["search", "--onlyvisible", "--name", &format!("^{title}$")]);
        Self { app, title: title.to_owned(), id, xid: xid.lines().last().expect("a window").to_owned(), seed }
    }

    fn move_to(&self, desk: &Desk, x: i32, y: i32) {
        run(desk, "xdotool", &["windowmove", "--sync", &self.xid, &x.to_string(), &y.to_string()]);
    }

    fn raise(&self, desk: &Desk) {
        run(desk, "xdotool", &["windowactivate", "--sync", &self.xid]);
    }

    /// The product's picture of it.
    #[track_caller]
    fn shot(&self, desk: &Desk) -> (Value, Picture) {
        shot(desk, &["--window-id", &self.id])
    }

    #[track_caller]
    fn is_shown(&self, desk: &Desk, bits: Colour) {
        let (data, picture) = self.shot(desk);
        assert_eq!((data["width"].as_u64(), data["height"].as_u64()), (Some(240), Some(160)), "{data}");
        assert_eq!(data["window"]["title"], self.title.as_str());
        picture.is_painted(0, 0, self.seed, bits);
    }
}

fn file(desk: &Desk) -> PathBuf {
    desk.dir.path().join("shot.png")
}

#[track_caller]
fn shot(desk: &Desk, args: &[&str]) -> (Value, Picture) {
    let path = file(desk);
    let mut all = vec!["screenshot"];
    all.extend(args);
    all.push(path.to_str().expect("UTF-8"));
    let data = desk.ok(&all);
    let picture = Picture::decode(desk, &path);
    assert_eq!(data["format"], "png");
    assert_eq!(
        (data["width"].as_u64(), data["height"].as_u64()),
        (Some(picture.width as u64), Some(picture.height as u64))
    );
    std::fs::remove_file(&path).expect("it was there");
    (data, picture)
}

#[track_caller]
fn refused(desk: &Desk, args: &[&str], code: &str, kind: &str) -> Value {
    let mut all = vec!["screenshot"];
    all.extend(args);
    let error = desk.err(&all);
    assert_eq!((error["code"].as_str(), error["details"]["kind"].as_str()), (Some(code), Some(kind)), "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered");
    error
}

/// A window in view, covered by others, and partly off the screen: always its own pixels.
fn windows_everywhere(desk: &Desk, bits: Colour) {
    let below = Painter::start(desk, "below", [100, 100, 240, 160], 5, &[]);
    below.is_shown(desk, bits);
    if bits == EXACT {
        // An independent program's picture of the same window.
        let theirs = desk.dir.path().join("theirs.png");
        run(desk, "import", &["-window", &below.xid, theirs.to_str().expect("UTF-8")]);
        let theirs = Picture::decode(desk, &theirs);
        assert!(theirs == below.shot(desk).1, "import and the product see different pixels");
    }
    let above = Painter::start(desk, "above", [60, 60, 240, 160], 77, &[]);
    above.move_to(desk, 130, 120);
    above.raise(desk);
    let focus = || run(desk, "xdotool", &["getwindowfocus"]);
    let had = focus();
    for _ in 0..3 {
        below.is_shown(desk, bits);
    }
    assert_eq!(focus(), had, "the keyboard stays where it was");
    above.is_shown(desk, bits);
    // Wholly covered by another program's full screen.
    let cover = Painter::start(desk, "cover", [0, 0, 700, 500], 150, &[]);
    cover.raise(desk);
    below.is_shown(desk, bits);
    above.is_shown(desk, bits);
    // Off the screen on two sides, with the keyboard.
    below.move_to(desk, -60, -40);
    below.raise(desk);
    let had = focus();
    below.is_shown(desk, bits);
    wait_for("the keyboard to come back", || (focus() == had).then_some(()));
    let root = run(desk, "xdotool", &["getdisplaygeometry"]);
    let (width, height) = root.split_once(' ').expect("two numbers");
    below.move_to(desk, width.parse::<i32>().expect("a number") - 100, height.parse::<i32>().expect("a number") - 90);
    below.is_shown(desk, bits);
    // The screen itself is not disturbed: nothing is left redirected or marked.
    below.move_to(desk, 20, 20);
    below.raise(desk);
    let place = below.shot(desk).0["bounds"].clone();
    let rect = ["x", "y", "width", "height"].map(|k| place[k].to_string()).join(",");
    wait_for("the window on the screen", || {
        let picture = shot(desk, &["--rect", &rect]).1;
        (picture.at(3, 3) == below.shot(desk).1.at(3, 3)).then_some(())
    });
    shot(desk, &["--rect", &rect]).1.is_painted(0, 0, below.seed, bits);
    run(desk, "xdotool", &["windowminimize", "--sync", &below.xid]);
    let error = refused(desk, &["--window-id", &below.id], "ACTION_FAILED", "window_not_viewable");
    assert!(error["suggestion"].as_str().is_some_and(|s| s.contains("restore")), "{error}");
}

#[test]
fn covered_window_screenshot() {
    windows_everywhere(&Desk::new(), EXACT);
}

#[test]
fn covered_window_screenshot_under_xfwm4() {
    windows_everywhere(&Desk::with(&["-w", "xfwm4"]), EXACT);
}

#[test]
fn covered_window_screenshot_under_a_compositor() {
    windows_everywhere(&Desk::with(&["-w", "xfwm4-composited"]), EXACT);
}

#[test]
fn sixteen_bits_a_pixel() {
    windows_everywhere(&Desk::with(&["-s", "900x700x16"]), [8, 4, 8]);
}

#[test]
fn a_stopped_application_never_gives_the_covering_windows_pixels() {
    let desk = Desk::new();
    let below = Painter::start(&desk, "below", [100, 100, 240, 160], 5, &[]);
    let above = Painter::start(&desk, "above", [120, 110, 240, 160], 77, &[]);
    above.raise(&desk);
    below.app.signal("STOP");
    let path = file(&desk);
    // A silent application's window is listed by the window system alone.
    let rows = desk.ok(&["list-windows"]);
    let row = rows.as_array().expect("rows").iter().find(|w| w["title"] == "below").expect("its row");
    assert_eq!(row["responsive"], false, "{row}");
    let args = ["--window-id", row["id"].as_str().expect("an id"), path.to_str().expect("UTF-8")];
    refused(&desk, &args, "ACTION_FAILED", "window_not_repainted");
    assert!(!path.exists(), "nothing was written");
    // The cover is gone, and the screen still shows it: the window is wholly in view, and its picture is another one's.
    drop(above);
    wait_for("the cover to go", || {
        let all = desk.ok(&["list-windows"]);
        (!all.to_string().contains("\"above\"")).then_some(())
    });
    refused(&desk, &args, "ACTION_FAILED", "window_not_repainted");
    assert!(!path.exists(), "nothing was written");
    below.app.signal("CONT");
    below.is_shown(&desk, EXACT);
}

#[test]
fn shadows_are_left_out() {
    // GTK draws a shadow, and a window of depth 32, where a compositor runs.
    let desk = Desk::with(&["-w", "xfwm4-composited"]);
    let own = Painter::start(&desk, "shadowed", [100, 100, 240, 160], 9, &["--csd"]);
    assert!(run(&desk, "xprop", &["-id", &own.xid, "_GTK_FRAME_EXTENTS"]).contains(" = "), "it has a shadow");
    assert!(run(&desk, "xwininfo", &["-id", &own.xid]).contains("Depth: 32"));
    for cover in [false, true] {
        let _above = cover.then(|| Painter::start(&desk, "above", [110, 110, 240, 160], 50, &[]));
        let (data, picture) = own.shot(&desk);
        let rows = desk.ok(&["list-windows"]);
        let row = rows.as_array().expect("rows").iter().find(|w| w["id"] == own.id.as_str()).expect("its row");
        assert_eq!(data["bounds"], row["bounds"]);
        assert_eq!(picture.width, 240, "no shadow at the sides");
        picture.is_painted(0, picture.height - 160, own.seed, EXACT);
    }
}

/// Several at once must not see each other's marks, nor half of what is being painted.
#[test]
fn many_at_once_and_a_window_that_moves() {
    let desk = Desk::new();
    let below = Painter::start(&desk, "below", [100, 100, 240, 160], 5, &[]);
    let above = Painter::start(&desk, "above", [120, 110, 240, 160], 77, &[]);
    above.raise(&desk);
    let path = |i: usize| desk.dir.path().join(format!("{i}.png"));
    let start = |i: usize| {
        let path = path(i);
        desk.cli_spawn(&["screenshot", "--window-id", &below.id, path.to_str().expect("UTF-8")])
    };
    let all: Vec<_> = (0..6).map(start).collect();
    for (i, child) in all.into_iter().enumerate() {
        let out = child.wait_with_output().expect("it ends");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
        Picture::decode(&desk, &path(i)).is_painted(0, 0, below.seed, EXACT);
    }
    // It is moved all the time: each picture is whole and its own, or there is none.
    let (mut taken, mut discarded) = (0, 0);
    for round in 0..6 {
        let child = start(round);
        for step in 0..25 {
            run(&desk, "xdotool", &["windowmove", &below.xid, &(90 + step).to_string(), "100"]);
        }
        let out = child.wait_with_output().expect("it ends");
        if out.status.success() {
            taken += 1;
            let picture = Picture::decode(&desk, &path(round));
            assert_eq!((picture.width, picture.height), (240, 160));
            picture.is_painted(0, 0, below.seed, EXACT);
        } else {
            discarded += 1;
            let answer: Value = serde_json::from_slice(&out.stdout).expect("JSON");
            assert_eq!(answer["error"]["details"]["kind"], "changed_during_capture", "{answer}");
        }
    }
    assert_eq!(taken + discarded, 6);
    below.is_shown(&desk, EXACT);
}

#[test]
fn displays_and_regions() {
    let desk = Desk::new();
    run(&desk, "xrandr", &["--setmonitor", "L", "640/300x800/300+0+0", "screen"]);
    run(&desk, "xrandr", &["--setmonitor", "R", "640/300x800/300+640+0", "none"]);
    let painter = Painter::start(&desk, "picture", [600, 100, 240, 160], 5, &[]);
    let theirs = desk.dir.path().join("root.png");
    let theirs = || {
        run(&desk, "import", &["-window", "root", theirs.to_str().expect("UTF-8")]);
        Picture::decode(&desk, &theirs)
    };
    let part = |of: &Picture, left: usize, top: usize, width: usize, height: usize| {
        let row = |y: usize| of.rgb[(y * of.width + left) * 3..(y * of.width + left + width) * 3].to_vec();
        Picture { width, height, rgb: (top..top + height).flat_map(row).collect() }
    };
    let whole = theirs();
    let (data, bare) = shot(&desk, &[]);
    assert_eq!((bare.width, bare.height), (640, 800), "the primary display: {data}");
    let mut seen = Vec::new();
    for index in ["0", "1"] {
        let (data, picture) = shot(&desk, &["--screen", index]);
        let left = data["bounds"]["x"].as_f64().expect("a number") as usize;
        assert!(picture == part(&whole, left, 0, 640, 800), "screen {index}: {data}");
        seen.push(data["display"]["id"].as_str().expect("an id").to_owned());
    }
    seen.sort();
    assert_eq!(seen, ["L", "R"]);
    let (_, region) = shot(&desk, &["--rect", "590,90,300,200"]);
    assert!(region == part(&whole, 590, 90, 300, 200), "across both displays");
    let error = refused(&desk, &["--screen", "2"], "INVALID_ARGS", "no_such_display");
    assert_eq!(error["details"]["display_count"], 2, "{error}");
    assert_eq!(error["details"]["display_ids"].as_array().map(Vec::len), Some(2), "{error}");
    for bad in ["-1,0,10,10", "1275,0,10,10", "0,795,10,10"] {
        refused(&desk, &["--rect", bad], "INVALID_ARGS", "region_off_screen");
    }
    painter.is_shown(&desk, EXACT);
    let twin = Painter::start(&desk, "twin", [50, 300, 240, 160], 7, &[]);
    // Two processes of the script's name.
    let error = desk.err(&["screenshot", "--app", "painter.py"]);
    assert_eq!(error["code"], "AMBIGUOUS_TARGET", "{error}");
    assert_eq!(error["details"]["candidate_count"], 2, "{error}");
    twin.is_shown(&desk, EXACT);
}

#[test]
fn without_a_tree_and_without_a_path() {
    let desk = Desk::new();
    let _xterm = desk.spawn("xterm", &["-T", "bare", "-bg", "#123456", "-geometry", "40x10+50+50"]);
    let id = wait_for("the terminal", || {
        let rows = desk.ok(&["list-windows"]);
        let row = rows.as_array()?.iter().find(|w| w["title"] == "bare")?.clone();
        assert_eq!(row["accessible"], false, "{row}");
        row["id"].as_str().map(str::to_owned)
    });
    let background = [0x12, 0x34, 0x56];
    wait_for("its picture", || {
        let picture = shot(&desk, &["--window-id", &id]).1;
        (picture.count(background) * 10 > picture.width * picture.height * 8).then_some(())
    });
    // In the answer itself, as another decoder reads it.
    let data = desk.ok(&["screenshot", "--window-id", &id]);
    assert!(data.get("path").is_none());
    let text = desk.dir.path().join("base64");
    std::fs::write(&text, data["data"].as_str().expect("base64")).expect("written");
    let decoded = desk.command("base64").arg("-d").arg(&text).output().expect("base64 runs");
    assert!(decoded.status.success());
    let path = file(&desk);
    std::fs::write(&path, decoded.stdout).expect("written");
    let picture = Picture::decode(&desk, &path);
    assert_eq!(data["width"].as_u64(), Some(picture.width as u64));
    assert!(picture.count(background) > 0);
    refused(&desk, &["--window-id", &id, "--mask-secure"], "ACTION_FAILED", "mask_unproven");
    refused(&desk, &["--window-id", &id, "--annotate"], "ACTION_NOT_SUPPORTED", "window_without_accessibility_element");
    refused(&desk, &["--mask-secure"], "ACTION_FAILED", "mask_unproven");
}

/// The node with this name and role, with bounds.
fn node_of<'v>(snapshot: &'v Value, role: &str, name: &str) -> &'v Value {
    let found = nodes(&snapshot["tree"]).into_iter().find(|n| n["role"] == role && n["name"] == name);
    found.unwrap_or_else(|| panic!("no {role} {name}: {snapshot}"))
}

fn number(bounds: &Value, key: &str) -> f64 {
    bounds[key].as_f64().unwrap_or_else(|| panic!("{bounds} has no {key}"))
}

fn masks_and_boxes(kind: &'static str) {
    let desk = Desk::new();
    let live = Live::start(&desk, kind, "controls");
    let app = live.app.as_str();
    let snapshot = desk.ok(&["snapshot", "--app", app, "--include-bounds", "--max-depth", "40"]);
    let secret = node_of(&snapshot, "textfield", "Secret");
    assert!(secret["states"].to_string().contains("secure"), "{secret}");
    let bounds = &secret["bounds"];
    let (plain_data, plain) = shot(&desk, &["--app", app]);
    let origin = plain_data["bounds"].clone();
    let (left, top) = (number(bounds, "x") - number(&origin, "x"), number(bounds, "y") - number(&origin, "y"));
    let (width, height) = (number(bounds, "width") as usize, number(bounds, "height") as usize);
    let black = |p: &Picture| {
        let inside = |y: usize| (0..width).filter(move |x| p.at(left as usize + x, top as usize + y) == [0, 0, 0]);
        (0..height).map(|y| inside(y).count()).sum::<usize>()
    };
    assert!(black(&plain) < width * height / 4, "{kind}: shown without a mask");
    for args in [&["--app", app, "--mask-secure"][..], &["--app", app, "--annotate"]] {
        let (data, picture) = shot(&desk, args);
        assert_eq!(data["masked"], 1, "{kind}: {data}");
        let covered = black(&picture);
        let most = if args.contains(&"--annotate") { width * height / 2 } else { width * height };
        assert!(covered >= most, "{kind} {args:?}: {covered} of {}", width * height);
        if most == width * height {
            // Nothing else was touched: all other pixels are as before.
            let changed = picture.rgb.chunks_exact(3).zip(plain.rgb.chunks_exact(3)).filter(|(a, b)| a != b).count();
            assert!(changed <= (width + 4) * (height + 4), "{kind}: {changed}");
        }
    }
    let (data, _) = shot(&desk, &["--app", app, "--annotate", "--no-mask-secure"]);
    assert!(data.get("masked").is_none(), "{data}");
    // The snapshot of the boxes is saved, and its refs work.
    let drawn = data["refs_drawn"].as_u64().expect("a number");
    assert!(drawn >= 10 && drawn <= data["ref_count"].as_u64().expect("a number"), "{kind}: {data}");
    let first = format!("@{}:e1", data["snapshot_id"].as_str().expect("an id"));
    desk.ok(&["get", &first, "--property", "role"]);
    // An element: exactly its part of the window's picture; a secure one is black.
    let save = node_of(&snapshot, "button", "Save");
    let (data, picture) = shot(&desk, &["--ref", save["ref_id"].as_str().expect("a ref")]);
    assert_eq!(data["bounds"], save["bounds"], "{kind}: {data}");
    let (x, y) =
        (number(&save["bounds"], "x") - number(&origin, "x"), number(&save["bounds"], "y") - number(&origin, "y"));
    let rows = (0..picture.height).flat_map(|row| {
        let from = ((y as usize + row) * plain.width + x as usize) * 3;
        plain.rgb[from..from + picture.width * 3].to_vec()
    });
    assert!(rows.eq(picture.rgb.iter().copied()), "{kind}: the button's pixels");
    let reference = secret["ref_id"].as_str().expect("a ref");
    let (data, picture) = shot(&desk, &["--ref", reference]);
    assert_eq!(data["masked"], 1, "{kind}: {data}");
    assert_eq!(picture.count([0, 0, 0]), picture.width * picture.height, "{kind}");
    let (data, picture) = shot(&desk, &["--ref", reference, "--no-mask-secure"]);
    assert!(data.get("masked").is_none() && picture.count([0, 0, 0]) < picture.width * picture.height, "{kind}");
    // Silent: nothing proves where the field is now.
    live.fixture.app.signal("STOP");
    let rows = desk.ok(&["list-windows"]);
    let silent = rows.as_array().expect("rows").iter().find(|w| w["responsive"] == false).expect("a silent window");
    let id = silent["id"].as_str().expect("an id");
    refused(&desk, &["--window-id", id, "--mask-secure"], "ACTION_FAILED", "mask_unproven");
    refused(&desk, &["--mask-secure"], "ACTION_FAILED", "mask_unproven");
    if kind == "gtk4" {
        // It is larger than the screen: what was out of view is asked of the server, which has it.
        shot(&desk, &["--window-id", id]);
    } else {
        // Wholly in view: nothing proves that the screen shows no other window's pixels in its place.
        refused(&desk, &["--window-id", id], "ACTION_FAILED", "window_not_repainted");
    }
    live.fixture.app.signal("CONT");
}

#[test]
fn masks_and_boxes_gtk3() {
    masks_and_boxes("gtk3");
}

#[test]
fn masks_and_boxes_gtk4() {
    masks_and_boxes("gtk4");
}

#[test]
fn masks_and_boxes_qt6() {
    masks_and_boxes("qt6");
}

#[test]
fn paths_that_can_not_be_written() {
    let desk = Desk::new();
    let dir = desk.dir.path().join("out");
    std::fs::create_dir(&dir).expect("made");
    let inside = |name: &str| dir.join(name).display().to_string();
    refused(&desk, &[&inside("none/x.png")], "INVALID_ARGS", "path_without_directory");
    refused(&desk, &["/dev/null"], "INVALID_ARGS", "path_not_a_file");
    refused(&desk, &[dir.to_str().expect("UTF-8")], "INVALID_ARGS", "path_not_a_file");
    assert!(!Path::new("/dev/null").is_file());
    // A picture replaces a picture, in one step, private.
    let path = inside("x.png");
    std::fs::write(&path, "old").expect("written");
    refused(&desk, &[&path], "INVALID_ARGS", "path_not_a_picture");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "old", "a text stays");
    std::fs::write(&path, b"\x89PNG\r\n\x1a\nold").expect("written");
    desk.ok(&["screenshot", &path]);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    Picture::decode(&desk, Path::new(&path));
    let names = || std::fs::read_dir(&dir).expect("read").flatten().map(|e| e.file_name()).collect::<Vec<_>>();
    assert_eq!(names(), ["x.png"], "nothing beside it");
    // A disk without room, in a mount namespace of its own; the old picture stays.
    let script = format!(
        "mount -t tmpfs -o size=8k none '{0}' && printf '\\211PNG\\r\\n\\032\\nold\\n' > '{0}/x.png' && '{1}' screenshot '{0}/x.png'; \
         tail -n 1 '{0}/x.png'; ls -A '{0}'",
        dir.display(),
        agent_desktop_e2e::binary("agent-desktop").display(),
    );
    let as_root = desk.command("unshare").args(["-m", "-r", "sh", "-c", &script]).output().expect("unshare runs");
    let text = String::from_utf8_lossy(&as_root.stdout).into_owned();
    let mut lines = text.lines();
    let envelope: Value = serde_json::from_str(lines.next().unwrap_or_default())
        .unwrap_or_else(|e| panic!("{e}: {text} {}", String::from_utf8_lossy(&as_root.stderr)));
    assert_eq!(envelope["error"]["details"]["kind"], "output_disk_full", "{envelope}");
    assert_eq!(lines.collect::<Vec<_>>(), ["old", "x.png"], "nothing half-written");
}
