//! `snapshot --since`: what changed, judged by what the application was told to change and by a reader of our own bus
//! traffic's independence.

use agent_desktop_e2e::{Desk, Live, NATIVE, WEB, nodes, refs_named, wait_for};
use serde_json::{Value, json};
use std::collections::HashSet;

fn everywhere(kinds: &[&'static str], scene: &str, test: impl Fn(&Live<'_>)) {
    for kind in kinds {
        let desk = Desk::new();
        test(&Live::start(&desk, kind, scene));
    }
}

fn id(data: &Value) -> String {
    data["snapshot_id"].as_str().expect("a snapshot id").to_owned()
}

fn since(live: &Live<'_>, id: &str) -> Value {
    live.desk.ok(&["snapshot", "--since", id, "--timeout-ms", "60000"])
}

fn list<'v>(delta: &'v Value, key: &str) -> &'v [Value] {
    delta[key].as_array().map_or(&[], Vec::as_slice)
}

/// Addresses in the window as the independent reader sees them, once two reads of the product agree with it.
fn paths(live: &Live<'_>) -> HashSet<String> {
    live.oracle().iter().map(|n| n["path"].as_str().expect("a path").to_owned()).collect()
}

fn count_added(delta: &Value) -> usize {
    list(delta, "added").iter().map(|top| nodes(top).len()).sum()
}

fn count_gone(delta: &Value, key: &str) -> usize {
    list(delta, key).iter().map(|g| 1 + g["descendants"].as_u64().unwrap_or(0) as usize).sum()
}

/// Nothing happened: nothing is told. A button is renamed by the application: that is told, with a ref that acts on it.
#[test]
fn a_renamed_button_is_the_change() {
    everywhere(&NATIVE, "controls", renamed);
    everywhere(&WEB, "controls", renamed);
}

fn renamed(live: &Live<'_>) {
    let kind = live.kind;
    let before = wait_for("a window at rest", || {
        let before = live.snapshot();
        let delta = since(live, &id(&before));
        let quiet = ["added", "removed", "changed"].iter().all(|key| list(&delta, key).is_empty());
        (quiet && delta["unchanged_count"].as_u64() > Some(30)).then_some(before)
    });
    let [save] = &refs_named(&before, "button", "Save")[..] else { panic!("{kind}: no Save") };
    let [play] = &refs_named(&before, "button", "Play")[..] else { panic!("{kind}: no Play") };
    live.fixture.control("rename play Resume");
    let delta = wait_for("the change", || {
        let delta = since(live, &id(&before));
        list(&delta, "changed").iter().any(|c| c["now"]["name"] == "Resume").then_some(delta)
    });
    assert_eq!(delta["since"], before["snapshot_id"]);
    assert_eq!(delta["complete"], true, "{kind}: {delta}");
    let told = list(&delta, "changed").iter().find(|c| c["role"] == "button").expect("the button");
    assert_eq!((&told["was"], &told["now"]), (&json!({"name": "Play"}), &json!({"name": "Resume"})), "{kind}");
    // Only the button and the text in it; nothing else came or went but such a text.
    let texts = |key: &str| list(&delta, key).iter().all(|c| c["role"] == "statictext");
    assert!(list(&delta, "changed").iter().all(|c| c["was"]["name"] == "Play"), "{kind}: {delta}");
    assert!(texts("added") && texts("removed"), "{kind}: {delta}");
    // The ref of the answer acts on it; the old one of an element that did not change still does.
    let reference = told["ref"].as_str().expect("a ref");
    assert!(reference.starts_with(&format!("@{}:", id(&delta))), "{reference}");
    live.lands(&["click", reference], &json!({"event": "clicked", "id": "play", "value": "Play"}));
    live.lands(&["click", save], &json!({"event": "clicked", "id": "save"}));
    // Deltas chain: since the last one, the name has changed back.
    let next = wait_for("the change back", || {
        let next = since(live, &id(&delta));
        list(&next, "changed").iter().any(|c| c["now"]["name"] == "Play").then_some(next)
    });
    assert!(list(&next, "changed").iter().all(|c| c["was"]["name"] != "Save"), "{kind}: {next}");
    // As text: the same change in one line, with its ref.
    let text = live.desk.cli(&["snapshot", "--since", &id(&delta), "--format", "text", "--timeout-ms", "60000"]).stdout;
    assert!(text.starts_with(&format!("changes since {} | snapshot s", id(&delta))), "{text}");
    assert!(text.contains("name: \"Resume\" -> \"Play\""), "{kind}: {text}");
    drop(play.clone());
}

/// As many elements are added and removed as the independent reader finds new addresses and misses old ones.
#[test]
fn rows_come_and_go() {
    everywhere(&NATIVE, "twins", |live| {
        let kind = live.kind;
        let (before, then) = (live.snapshot(), paths(live));
        live.fixture.control("insert_row 1 Zebra");
        let (delta, now) = (since(live, &id(&before)), paths(live));
        assert_eq!(count_added(&delta), now.difference(&then).count(), "{kind}: {delta}");
        assert_eq!(count_gone(&delta, "removed"), then.difference(&now).count(), "{kind}: {delta}");
        let added: Vec<&Value> = list(&delta, "added").iter().flat_map(nodes).collect();
        assert!(added.iter().any(|n| n["name"] == "Zebra"), "{kind}: {delta}");
        let open = added.iter().find(|n| n["name"] == "Open").expect("the new row's button");
        let reference = open["ref_id"].as_str().expect("a ref");
        assert_eq!(live.desk.ok(&["get", reference])["value"], "Open");
        assert!(list(&delta, "added")[0]["parent"]["role"].is_string(), "{kind}: {delta}");

        live.fixture.control("remove_row 1");
        let (next, last) = (since(live, &id(&delta)), paths(live));
        assert_eq!(count_gone(&next, "removed"), now.difference(&last).count(), "{kind}: {next}");
        assert!(count_gone(&next, "removed") >= 2 && list(&next, "added").is_empty(), "{kind}: {next}");
    });
}

/// In GTK 4's list view the address that said one row says another one: that is a change, not the same element.
#[test]
fn a_recycled_slot_is_a_change() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk4", "recycled");
    let (before, old) = (live.snapshot(), live.oracle_rows("Delete"));
    live.fixture.control("insert_row 0 NewTop");
    let (was, now) = wait_for("the trap: an address that names another row", || {
        let new = live.oracle_rows("Delete");
        old.iter().find_map(|(address, row)| {
            let now = new.iter().find(|(a, _)| a == address)?;
            (now.1 != *row).then(|| (row.clone(), now.1.clone()))
        })
    });
    let delta = since(&live, &id(&before));
    let told =
        list(&delta, "changed").iter().any(|c| c["was"]["name"] == was.as_str() && c["now"]["name"] == now.as_str());
    assert!(told, "{was} is {now} now: {delta}");
}

/// The view of then holds, unless another one is asked for.
#[test]
fn the_view_is_the_snapshot_s() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    // Whatever a snapshot left out is compared all the same: what comes is often a text.
    let whole = nodes(&live.snapshot()["tree"]).len() as u64;
    for view in [&["-i", "--compact", "--max-depth", "60"][..], &["-i"], &["--skeleton"], &["--max-depth", "1"]] {
        let small = desk.ok(&[&["snapshot", "--app", &live.app], view].concat());
        assert!((nodes(&small["tree"]).len() as u64) < whole, "{view:?}");
        let same = since(&live, &id(&small));
        assert!(same["unchanged_count"].as_u64() >= Some(whole - 1), "{view:?}: {same}");
        assert!(same.get("view_differs").is_none() && list(&same, "added").is_empty(), "{view:?}: {same}");
    }
    let folded = desk.ok(&["snapshot", "--app", &live.app, "--budget-tokens", "400", "--max-depth", "60"]);
    let whole = since(&live, &id(&folded));
    assert!(list(&whole, "added").is_empty(), "what a budget folded is not new: {whole}");
    let wide = live.snapshot();
    let other = desk.ok(&["snapshot", "--since", &id(&wide), "-i"]);
    assert!(other.get("view_differs").is_none() && list(&other, "removed").is_empty(), "{other}");
    let other = desk.ok(&["snapshot", "--since", &id(&wide), "--skeleton"]);
    assert_eq!(other["view_differs"], true);
    assert!(list(&other, "removed").is_empty(), "{other}");
}

/// Windows that closed, that are others', applications that ended.
#[test]
fn nothing_to_compare_with() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "multi");
    let (first, second) = (live.snapshot_of("First window"), live.snapshot_of("Second window"));
    let other = first["window"]["id"].as_str().expect("an id");
    let error = desk.err(&["snapshot", "--since", &id(&second), "--window-id", other]);
    assert_eq!(
        (error["code"].as_str(), error["details"]["kind"].as_str()),
        (Some("INVALID_ARGS"), Some("since_other_window"))
    );
    let error = desk.err(&["snapshot", "--since", &id(&second), "--surface", "menu"]);
    assert_eq!(error["details"]["kind"], "since_other_surface");
    for bad in [&["--root", "@s8f3:e1"][..], &["--budget-tokens", "500"], &["--cell", "B7"]] {
        let args: Vec<&str> = ["snapshot", "--since", "s8f3"].into_iter().chain(bad.iter().copied()).collect();
        assert_eq!(desk.err(&args)["code"], "INVALID_ARGS", "{args:?}");
    }
    assert_eq!(desk.err(&["snapshot", "--since", "s8f3k2p9zz"])["code"], "SNAPSHOT_NOT_FOUND");

    // What showed nothing was never kept; what is torn is found to be.
    let found = desk.ok(&["find", "--app", &live.app, "--role", "button"]);
    let reference = found["matches"][0]["ref_id"].as_str().expect("a ref");
    let of_find = &reference[1..reference.find(':').expect("qualified")];
    let missing = |error: Value| {
        assert_eq!(
            (error["code"].as_str(), error["details"]["kind"].as_str()),
            (Some("SNAPSHOT_NOT_FOUND"), Some("baseline_missing")),
            "{error}"
        );
    };
    missing(desk.err(&["snapshot", "--since", of_find]));
    let file = desk.dir.path().join("state/snapshots").join(id(&first)).join("baseline.json");
    let text = std::fs::read_to_string(&file).expect("the baseline");
    std::fs::write(&file, &text[..text.len() / 2]).expect("torn");
    missing(desk.err(&["snapshot", "--since", &id(&first)]));
    let reference = nodes(&first["tree"]).into_iter().find_map(|n| n["ref_id"].as_str()).expect("a ref");
    desk.ok(&["get", reference, "--property", "role"]);

    let window = second["window"]["id"].as_str().expect("an id");
    let closed = desk.command("wmctrl").args(["-c", "Second window"]).status();
    assert!(closed.is_ok_and(|s| s.success()), "wmctrl closes the window");
    wait_for("the window to close", || {
        let all = desk.ok(&["list-windows", "--app", &live.app]);
        (!all.as_array()?.iter().any(|w| w["id"] == window)).then_some(())
    });
    let error = desk.err(&["snapshot", "--since", &id(&second)]);
    assert_eq!(
        (error["code"].as_str(), error["details"]["kind"].as_str()),
        (Some("WINDOW_NOT_FOUND"), Some("stale_window_id"))
    );

    let last = live.snapshot_of("First window");
    live.fixture.app.signal("KILL");
    let error = wait_for("the application to end", || {
        let reply = desk.cli(&["snapshot", "--since", &id(&last)]);
        (reply.code != 0).then(|| reply.error()).filter(|e| e["details"]["kind"] == "since_process_ended")
    });
    assert_eq!(error["code"], "WINDOW_NOT_FOUND");
}

/// Neither value nor digest of a password is kept, and a changed one is no change.
#[test]
fn passwords_are_neither_kept_nor_compared() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let secret = live.only("textfield", "Secret");
        let before = live.snapshot();
        live.desk.ok(&["set-value", &secret, "correct-horse"]);
        assert_eq!(live.fixture.state()["fields"]["secret"], "correct-horse", "{kind}");
        let delta = since(&live, &id(&before));
        let told = list(&delta, "changed").iter().any(|c| c["was"].get("value").is_some() && c["name"] == "Secret");
        assert!(!told, "{kind}: {delta}");
        for file in live.state_files() {
            let bytes = std::fs::read(&file).expect("a state file");
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains("correct-horse"), "{kind}: {}", file.display());
        }
    }
}
