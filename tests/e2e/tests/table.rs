//! Tables as data, single cells, parts of texts, and answers within a token budget.

use agent_desktop_e2e::{Desk, Live, NATIVE, WEB, nodes, wait_for};
use serde_json::{Value, json};

/// Rows and columns are those of the fixture's model, also far below what is on the screen.
#[test]
fn rows_and_columns_of_every_toolkit() {
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "table");
        let data = desk.ok(&["table", "--app", &live.app, "--rows", "3..6", "--timeout-ms", "30000"]);
        let first = |data: &Value| -> Vec<String> {
            let rows = data["cells"].as_array().expect("rows").iter();
            rows.map(|row| row[0].as_str().unwrap_or("").to_owned()).collect()
        };
        assert_eq!(first(&data), ["Person003", "Person004", "Person005"], "{kind}: {data}");
        assert_eq!((&data["column_count"], &data["complete"]), (&json!(2), &json!(true)), "{kind}");
        assert_eq!(data["range"]["rows"], json!({"start": 3, "end": 6}));
        // GTK 4 publishes no Table interface: its tree holds the rows near the screen.
        let by = if kind == "gtk4" { "tree" } else { "table" };
        assert_eq!(data["source"], by, "{kind}");
        if kind != "gtk4" {
            assert_eq!(data["row_count"], 300, "{kind}: {data}");
            assert_eq!(data["headers"], json!(["Name", "Done"]), "{kind}");
            let data = desk.ok(&["table", "--app", &live.app, "--rows", "298..400", "--columns", "0..1"]);
            assert_eq!(data["cells"], json!([["Person298"], ["Person299"]]), "{kind}");
        }
        // The application is still there, and says the same to a reader that shares nothing with ours.
        let names: Vec<Value> = live.oracle().iter().map(|n| n["name"].clone()).collect();
        assert!(names.contains(&json!("Person003")), "{kind}");

        // A cell by its place has a ref that resolves to it; the table is found from any of its cells.
        let cell = desk.ok(&["snapshot", "--app", &live.app, "--cell", "A3", "--timeout-ms", "30000"]);
        assert_eq!(cell["cell"], json!({"cell": "A3", "row": 2, "column": 0}));
        assert_eq!(cell["tree"]["name"], "Person002", "{kind}: {cell}");
        let reference = cell["tree"]["ref_id"].as_str().expect("a ref");
        assert_eq!(desk.ok(&["get", reference])["value"], "Person002", "{kind}");
        let again = desk.ok(&["table", reference, "--rows", "0..1", "--timeout-ms", "30000"]);
        assert_eq!(first(&again), ["Person000"], "{kind}: {again}");
        let error = desk.err(&["snapshot", "--app", &live.app, "--cell", "A90000", "--timeout-ms", "30000"]);
        assert_eq!((&error["code"], &error["details"]["kind"]), (&json!("ELEMENT_NOT_FOUND"), &json!("no_such_cell")));
    }
}

#[test]
fn a_button_is_no_table() {
    let desk = Desk::new();
    let live = Live::start(&desk, "gtk3", "controls");
    let save = live.only("button", "Save");
    let error = desk.err(&["table", &save]);
    assert_eq!(
        (&error["code"], &error["details"]["kind"]),
        (&json!("ACTION_NOT_SUPPORTED"), &json!("no_table_interface"))
    );
    assert_eq!(desk.err(&["table", "--app", &live.app])["details"]["kind"], "no_table");
    for bad in [&["--rows", "5..3"][..], &["--rows", "x"], &["--rows", "0..2000"], &["--app", "x"]] {
        let args: Vec<&str> = ["table", save.as_str()].into_iter().chain(bad.iter().copied()).collect();
        assert_eq!(desk.err(&args)["code"], "INVALID_ARGS", "{args:?}");
    }
}

/// The page that the browser tests read.
#[test]
fn tables_of_pages() {
    for kind in WEB {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "table");
        let rows = wait_for("the page's table", || {
            let reply = desk.cli(&["table", "--app", &live.app, "--rows", "0..4", "--timeout-ms", "20000"]);
            (reply.code == 0).then(|| reply.data())
        });
        let text = rows["cells"].to_string();
        assert!(text.contains("Person000") && text.contains("Person002"), "{kind}: {rows}");
        assert_eq!(rows["source"], "table");
    }
}

/// A sheet of a million rows: the cells are those of the file that it was opened from, and nothing is walked.
#[test]
fn a_spreadsheet() {
    let desk = Desk::new();
    let lines: Vec<String> = (1..=2_000).map(|r| format!("a{r};{};word {r}", r * 3)).collect();
    let file = desk.dir.path().join("book.csv");
    std::fs::write(&file, lines.join("\n")).expect("the file");
    // Without the import dialog: converted by the suite itself.
    let home = desk.dir.path().join("profile");
    let profile = format!("-env:UserInstallation=file://{}", home.display());
    let dir = desk.dir.path().to_str().expect("UTF-8").to_owned();
    let filter = "--infilter=CSV:59,34,76,1";
    let convert =
        ["--headless", &profile, filter, "--convert-to", "ods", "--outdir", &dir, file.to_str().expect("UTF-8")];
    let done = desk.command("soffice").args(convert).output().expect("soffice runs");
    assert!(done.status.success(), "{done:?}");
    let book = desk.dir.path().join("book.ods");
    let _office =
        desk.spawn("soffice", &["--norestore", "--nologo", &profile, "--calc", book.to_str().expect("UTF-8")]);
    let data = wait_for("the sheet", || {
        let reply =
            desk.cli(&["table", "--app", "soffice", "--rows", "0..3", "--columns", "0..4", "--timeout-ms", "20000"]);
        (reply.code == 0).then(|| reply.data())
    });
    assert_eq!(data["cells"], json!([["a1", "3", "word 1", ""], ["a2", "6", "word 2", ""], ["a3", "9", "word 3", ""]]));
    assert_eq!(data["row_count"], 1_048_576);
    let far =
        desk.ok(&["table", "--app", "soffice", "--rows", "1998..2001", "--columns", "1..3", "--timeout-ms", "20000"]);
    assert_eq!(far["cells"], json!([["5997", "word 1999"], ["6000", "word 2000"], ["", ""]]));
    // Without ranges only what holds something is printed, and what was read and holds nothing is told.
    let usual = desk.ok(&["table", "--app", "soffice", "--timeout-ms", "20000"]);
    assert_eq!((&usual["rows"], &usual["columns"]), (&json!(50), &json!(3)), "{usual}");
    assert_eq!(usual["empty"], json!({"columns": {"start": 3, "end": 50}}));
    assert_eq!(usual["cells"][49], json!(["a50", "150", "word 50"]));
    // A cell that is nowhere near the screen.
    let cell = desk.ok(&["snapshot", "--app", "soffice", "--cell", "C1500", "--timeout-ms", "20000"]);
    assert_eq!((&cell["tree"]["name"], &cell["tree"]["value"]), (&json!("C1500"), &json!("word 1500")), "{cell}");
    let reference = cell["tree"]["ref_id"].as_str().expect("a ref");
    assert_eq!(desk.ok(&["get", reference, "--property", "value"])["value"], "word 1500");
    let part = desk.ok(&["get", reference, "--range", "5..9"]);
    assert_eq!((&part["value"], &part["length"]), (&json!("1500"), &json!(9)), "{part}");
    // From row 131,073 the application's own index of a cell overflows: such a cell is there, but has no address.
    let last = desk.ok(&["snapshot", "--app", "soffice", "--cell", "B131072", "--timeout-ms", "20000"]);
    assert_eq!(last["tree"]["name"], "B131072", "{last}");
    for name in ["B131073", "A1048576", "XFD1048576"] {
        let error = desk.err(&["snapshot", "--app", "soffice", "--cell", name, "--timeout-ms", "20000"]);
        assert_eq!(error["details"]["kind"], "cell_out_of_reach", "{name}: {error}");
    }
    let far = desk.ok(&["table", "--app", "soffice", "--rows", "1048574..1048576", "--columns", "0..2"]);
    assert_eq!(far["cells"], json!([["", ""], ["", ""]]));
    let error = desk.err(&["snapshot", "--app", "soffice", "--cell", "A1048577", "--timeout-ms", "20000"]);
    assert_eq!(error["details"]["kind"], "no_such_cell", "{error}");
}

/// Characters of a field by their offsets; what the application holds is the oracle.
#[test]
fn parts_of_texts() {
    const TEXT: &str = "Grüße, ein längerer Text mit vielen Wörtern";
    for kind in NATIVE {
        let desk = Desk::new();
        let live = Live::start(&desk, kind, "controls");
        let notes = live.only("textfield", "Notes");
        desk.ok(&["set-value", &notes, TEXT]);
        assert_eq!(live.fixture.state()["fields"]["notes"], TEXT, "{kind}");
        let part = |range: &str| desk.ok(&["get", &notes, "--range", range]);
        let chars = |from: usize, to: usize| TEXT.chars().skip(from).take(to - from).collect::<String>();
        let length = TEXT.chars().count();
        let middle = part("2..15");
        assert_eq!(middle["value"], chars(2, 15).as_str(), "{kind}: {middle}");
        assert_eq!((&middle["range"], &middle["length"]), (&json!({"start": 2, "end": 15}), &json!(length)), "{kind}");
        assert_eq!(part("40..500")["value"], chars(40, length).as_str(), "{kind}");
        assert_eq!(
            (part("7..7")["value"].clone(), part("900..901")["value"].clone()),
            (json!(""), json!("")),
            "{kind}"
        );
        // A password has no parts.
        let secret = live.only("textfield", "Secret");
        desk.ok(&["set-value", &secret, "hidden"]);
        let none = desk.ok(&["get", &secret, "--range", "0..3"]);
        assert_eq!((&none["value"], none.get("length")), (&Value::Null, None), "{kind}");
        let save = live.only("button", "Save");
        if kind != "qt5" && kind != "qt6" {
            let error = desk.cli(&["get", &save, "--range", "0..2"]);
            assert!(error.code == 0 || error.error()["details"]["kind"] == "no_text_interface", "{kind}: {error:?}");
        }
        for bad in ["3..1", "a..b", "0..100001"] {
            assert_eq!(desk.err(&["get", &notes, "--range", bad])["code"], "INVALID_ARGS");
        }
        assert_eq!(desk.err(&["get", &notes, "--property", "role", "--range", "0..1"])["code"], "INVALID_ARGS");
    }
}

/// What is printed keeps to the budget, what is printed with a ref resolves, and what is folded is counted.
#[test]
fn within_a_budget() {
    let desk = Desk::new();
    let _app = desk.launch(&["gtk4-widget-factory"], 500);
    let whole = desk.ok(&["snapshot", "--app", "gtk4-widget-factory"]);
    for budget in ["300", "500", "1200", "4000"] {
        for format in ["json", "text"] {
            let args = ["snapshot", "--app", "gtk4-widget-factory", "--budget-tokens", budget, "--format", format];
            let reply = desk.cli(&args);
            let allowed = 4 * budget.parse::<usize>().expect("a number");
            assert!(reply.code == 0 && reply.stdout.len() <= allowed, "{} of {allowed}: {reply:?}", reply.stdout.len());
            if format == "text" {
                continue;
            }
            let data = reply.data();
            let all = nodes(&data["tree"]);
            assert!(all.len() > 1 && all.len() < nodes(&whole["tree"]).len());
            let counted: u64 = all.iter().filter_map(|n| n["folded"]["count"].as_u64()).sum();
            assert_eq!(Some(counted), data["cut"]["by_budget"].as_u64(), "{data}");
            let refs: Vec<&str> = all.iter().filter_map(|n| n["ref_id"].as_str()).collect();
            assert_eq!(data["ref_count"], refs.len());
            for reference in refs.iter().take(5) {
                desk.ok(&["get", reference, "--property", "role"]);
            }
        }
    }
    let error = desk.err(&["snapshot", "--app", "gtk4-widget-factory", "--budget-tokens", "299"]);
    assert_eq!(error["code"], "INVALID_ARGS");
}
