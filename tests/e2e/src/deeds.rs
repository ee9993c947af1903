//! Actions on the scenes, the same in every toolkit: what each sends, and that it arrives exactly once.

use crate::desk::wait_for;
use crate::live::Live;
use serde_json::{Value, json};

/// A text that no locale's ASCII carries.
pub const FOREIGN: &str = "Grüße, 日本語 – ½ 😀";
/// A text that must be echoed nowhere.
pub const SECRET: &str = "hunter2-Ünique-secret";

/// How an answer says it was delivered.
pub fn delivery(data: &Value) -> &str {
    data["disposition"]["delivery"].as_str().unwrap_or("")
}

/// Numbers are written as 42 by some toolkits and as 42.0 by others.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(n) => json!(n.as_f64()),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), plain(v))).collect::<serde_json::Map<_, _>>().into(),
        other => other.clone(),
    }
}

impl Live<'_> {
    /// Runs a command that arrives as exactly this line. Gives `data`.
    pub fn once(&self, args: &[&str], event: &str, id: &str, value: Value) -> Value {
        let mut line = json!({"event": event, "id": id});
        if !value.is_null() {
            line["value"] = value;
        }
        let before = self.landed().len();
        let data = self.desk.ok(args);
        assert_ne!(delivery(&data), "not_delivered", "{} {args:?}: {data}", self.kind);
        wait_for(&format!("{} {args:?} to arrive as {line}: {data}", self.kind), || {
            (self.landed().len() > before).then_some(())
        });
        let new: Vec<Value> = self.landed()[before..].iter().map(plain).collect();
        assert_eq!(new, [plain(&line)], "{} {args:?}: {data}", self.kind);
        data
    }

    /// The same, and its post-condition was read back.
    pub fn once_verified(&self, args: &[&str], event: &str, id: &str, value: Value) -> Value {
        let data = self.once(args, event, id, value);
        assert_eq!(delivery(&data), "delivered_verified", "{} {args:?}: {data}", self.kind);
        data
    }

    /// Runs a command that writes a text: at most two lines (deleted, inserted), the last of which has the whole.
    pub fn writes_text(&self, args: &[&str], input: Option<&str>, id: &str, whole: &str) -> Value {
        let before = self.landed().len();
        let reply = self.desk.cli_with(args, &[], input);
        let data = reply.data();
        let arrived = |lines: &[Value]| lines.last().is_some_and(|l| l["value"] == whole);
        wait_for(&format!("{} {args:?} to arrive: {data}", self.kind), || {
            arrived(&self.landed()[before..]).then_some(())
        });
        let new = self.landed()[before..].to_vec();
        assert!(new.len() <= 2 && arrived(&new), "{} {args:?}: {new:?}", self.kind);
        assert!(new.iter().all(|l| l["event"] == "text" && l["id"] == id), "{} {args:?}: {new:?}", self.kind);
        assert_eq!(self.field(id), whole, "{}", self.kind);
        data
    }

    /// Runs a command that answers ok and sends nothing.
    pub fn satisfied(&self, args: &[&str]) {
        let before = self.landed();
        let data = self.desk.ok(args);
        assert_eq!(delivery(&data), "not_delivered", "{} {args:?}: {data}", self.kind);
        assert_eq!(data["details"]["already_satisfied"], true, "{} {args:?}: {data}", self.kind);
        assert_eq!(self.landed(), before, "{} {args:?}", self.kind);
    }

    /// The widget's own value.
    pub fn field(&self, id: &str) -> Value {
        self.fixture.state()["fields"][id].clone()
    }

    /// Every button of scene `controls` once, the twins apart.
    pub fn press_buttons(&self) {
        for (name, id) in [("Save", "save"), ("Described", "described")] {
            let data = self.once(&["click", &self.only("button", name)], "clicked", id, Value::Null);
            assert_eq!(delivery(&data), "delivered_unverified", "{}: a click proves nothing: {data}", self.kind);
            assert!(data["details"]["effect"].is_string(), "{data}");
        }
        let twins = crate::refs_named(&self.snapshot(), "button", "OK");
        assert_eq!(twins.len(), 2, "{}", self.kind);
        // One after the other without a pause: a button that is still shown pressed would swallow the second.
        for (at, id) in [(1, "ok2"), (0, "ok1"), (0, "ok1"), (0, "ok1")] {
            if self.is_web() {
                // Two of many buttons side by side, with one label: a page may show anything in their place.
                self.refused(&["click", &twins[at]], "AMBIGUOUS_TARGET", &["identity_not_unique"]);
                continue;
            }
            self.once(&["click", &twins[at]], "clicked", id, Value::Null);
        }
    }

    /// A button without a handler: delivered, and nothing is claimed.
    pub fn press_dead(&self) {
        let dead = self.only("button", "Dead");
        let before = self.landed();
        let data = self.desk.ok(&["click", &dead]);
        assert_eq!(delivery(&data), "delivered_unverified", "{}: {data}", self.kind);
        assert!(
            self.fixture.state()["fields"]["countdown"].is_number() || data["details"]["effect"] != "gone",
            "{data}"
        );
        assert_eq!(self.landed(), before, "{}", self.kind);
    }

    /// A disabled button is refused as such; one that becomes enabled is waited for.
    pub fn press_disabled(&self) {
        let disabled = self.only("button", "Disabled");
        for timeout in ["0", "400"] {
            let args = ["click", disabled.as_str(), "--timeout-ms", timeout];
            let error = self.refused(&args, "TIMEOUT", &["actionability_timeout"]);
            assert_eq!(error["details"]["check"], "enabled", "{}: {error}", self.kind);
        }
        self.fixture.control("late_button 1500 enable");
        let late = self.only("button", "Late");
        let data = self.once(&["click", &late, "--timeout-ms", "30000"], "clicked", "late", Value::Null);
        assert!(data["details"]["auto_wait"]["read_only_resolve_attempts"].as_u64() >= Some(1), "{data}");
    }

    /// Check, uncheck and toggle of a two-state control; repeating changes nothing.
    pub fn two_states(&self, role: &str, name: &str, id: &str) {
        let on = self.only(role, name);
        let checked = |wanted: bool| {
            let data = self.desk.ok(&["is", &on, "--property", "checked"]);
            assert_eq!(data["result"], wanted, "{}: {data}", self.kind);
            // GTK 4's toggle button that isn't pressed can't be told from a plain button.
            let told = wanted || self.kind != "gtk4" || role != "button";
            assert_eq!(data["applicable"], told, "{}: {data}", self.kind);
            assert_eq!(self.field(id), wanted, "{} {id}", self.kind);
        };
        self.once_verified(&["check", &on], "toggled", id, json!(true));
        checked(true);
        self.satisfied(&["check", &on]);
        self.once_verified(&["uncheck", &on], "toggled", id, json!(false));
        checked(false);
        self.satisfied(&["uncheck", &on]);
        self.once_verified(&["toggle", &on], "toggled", id, json!(true));
        self.once(&["click", &on], "toggled", id, json!(false));
        checked(false);
    }

    /// Radio buttons: one is chosen, none is unchecked by itself.
    pub fn radios(&self) {
        let snapshot = self.snapshot();
        let radio = |name: &str| crate::refs_named(&snapshot, "radiobutton", name).remove(0);
        self.once(&["click", &radio("Green")], "selected", "radio", json!("Green"));
        self.once_verified(&["check", &radio("Blue")], "selected", "radio", json!("Blue"));
        self.satisfied(&["check", &radio("Blue")]);
        self.refused(&["uncheck", &radio("Blue")], "ACTION_NOT_SUPPORTED", &["no_semantic_way"]);
        assert_eq!(self.field("radio"), "Blue", "{}", self.kind);
    }

    /// The expander: both ways, verified, idempotent.
    pub fn fold(&self, role: &str) {
        let more = self.only(role, "More");
        self.once_verified(&["expand", &more], "expanded", "more", json!(true));
        self.satisfied(&["expand", &more]);
        assert_eq!(self.field("more"), true, "{}", self.kind);
        self.once_verified(&["collapse", &more], "expanded", "more", json!(false));
        self.satisfied(&["collapse", &more]);
    }

    /// Text fields: set, type at the caret, clear; any letters.
    pub fn write_texts(&self) {
        let name = self.only("textfield", "Name");
        let verified = |data: &Value| {
            assert_eq!(delivery(data), "delivered_verified", "{}: {data}", self.kind);
            assert_eq!(data["details"]["verification_scope"], "element_value", "{data}");
        };
        verified(&self.writes_text(&["set-value", &name, FOREIGN], None, "name", FOREIGN));
        assert_eq!(self.desk.ok(&["get", &name, "--property", "value"])["value"], FOREIGN, "{}", self.kind);
        verified(&self.writes_text(&["set-value", &name, "-5 plain"], None, "name", "-5 plain"));
        verified(&self.writes_text(&["clear", &name], None, "name", ""));
        verified(&self.writes_text(&["type", &name, "ab ö"], None, "name", "ab ö"));
        verified(&self.writes_text(&["type", &name, "😀cd"], None, "name", "ab ö😀cd"));
        let notes = self.only("textfield", "Notes");
        let lines = "first line\nsecond – line";
        verified(&self.writes_text(&["set-value", &notes, "--stdin"], Some(lines), "notes", lines));
    }

    /// Sliders and number fields: exact numbers; what would be clamped is refused.
    pub fn set_numbers(&self) {
        let volume = self.only("slider", "Volume");
        self.once_verified(&["set-value", &volume, "42"], "value", "volume", json!(42));
        assert_eq!(self.field("volume").as_f64(), Some(42.0), "{}", self.kind);
        for (bad, kind) in [("500", "value_out_of_range"), ("-1", "value_out_of_range"), ("five", "not_a_number")] {
            self.refused(&["set-value", &volume, bad], "INVALID_ARGS", &[kind]);
        }
        let count = self.only("incrementor", "Count");
        if self.kind == "firefox" {
            // The field has the number, and the page is not told: the answer says that no more was verified.
            let data = self.desk.ok(&["set-value", &count, "7"]);
            assert_eq!(data["details"]["application_commit"], "not_verified", "{data}");
            assert_eq!(data["details"]["commit_reason"], "application_not_told", "{data}");
        } else {
            self.once_verified(&["set-value", &count, "7"], "value", "count", json!(7));
        }
        assert_eq!(self.field("count").as_f64(), Some(7.0), "{}", self.kind);
        self.refused(&["set-value", &count, "11"], "INVALID_ARGS", &["value_out_of_range"]);
    }

    /// Options of the list, by container and by their own ref.
    pub fn choose_in_list(&self, role: &str) {
        let list = self.only(role, "Greek");
        self.once_verified(&["select", &list, "Gamma"], "selected", "list", json!("Gamma"));
        assert_eq!(self.field("list"), "Gamma", "{}", self.kind);
        self.refused(&["select", &list, "Omega"], "ACTION_FAILED", &["select_menu_item_not_found"]);
        self.refused(&["select", &list, "gamma"], "ACTION_FAILED", &["select_menu_item_not_found"]);
        self.once_verified(&["select", &list, "Alpha"], "selected", "list", json!("Alpha"));
    }

    /// Options by their own refs, where the list itself offers nothing.
    pub fn choose_options(&self, container: &str) {
        let option = |name: &str| {
            let found = crate::beside(&self.snapshot(), container, "option", name);
            found.unwrap_or_else(|| panic!("{}: option {name}", self.kind))
        };
        self.once_verified(&["select", &option("Gamma"), "Gamma"], "selected", "list", json!("Gamma"));
        self.once(&["click", &option("Beta")], "selected", "list", json!("Beta"));
        assert_eq!(self.field("list"), "Beta", "{}", self.kind);
        let before = self.landed();
        self.desk.cli(&["click", &option("Beta"), "--timeout-ms", "0"]);
        assert_eq!(
            (self.landed(), self.field("list")),
            (before, json!("Beta")),
            "{}: nothing is taken back",
            self.kind
        );
    }

    /// The combo box by its option's text.
    pub fn choose_in_combo(&self) {
        let pick = self.only("combobox", "Pick");
        if self.kind == "firefox" {
            // The box shows the option, and the page is not told.
            let data = self.desk.ok(&["select", &pick, "Three"]);
            wait_for("the choice", || (self.field("pick") == "Three").then_some(()));
            assert_eq!(delivery(&data), "delivered_verified", "{data}");
            assert_eq!(data["details"]["application_commit"], "not_verified", "{data}");
            assert_eq!(data["details"]["commit_reason"], "application_not_told", "{data}");
            return;
        }
        self.once_verified(&["select", &pick, "Three"], "selected", "pick", json!("Three"));
        assert_eq!(self.field("pick"), "Three", "{}", self.kind);
        let before = self.landed();
        let error = self.desk.err(&["select", &pick, "Four"]);
        assert_eq!(error["details"]["kind"], "select_menu_item_not_found", "{}: {error}", self.kind);
        // Where the options exist only in the open list, it was opened, which is told.
        let delivery = if error["details"]["popup"].is_string() { "delivered_unverified" } else { "not_delivered" };
        assert_eq!(error["disposition"]["delivery"], delivery, "{}: {error}", self.kind);
        assert_eq!((self.landed(), self.field("pick")), (before, json!("Three")), "{}", self.kind);
        self.once_verified(&["select", &pick, "One"], "selected", "pick", json!("One"));
    }

    /// Tabs: a page that isn't shown is not acted on; after choosing its tab it is.
    pub fn choose_tab(&self, container: &str) {
        let snapshot = self.snapshot();
        let hidden = crate::refs_named(&snapshot, "button", "Apply");
        if let [apply] = &hidden[..] {
            self.refused(&["click", apply, "--timeout-ms", "0"], "TIMEOUT", &["actionability_timeout"]);
        }
        let tab = crate::refs_named(&snapshot, "tab", "Advanced").remove(0);
        let args = if container.is_empty() { vec!["click", &tab] } else { vec!["select", &tab, "Advanced"] };
        self.once(&args, "selected", "tabs", json!("Advanced"));
        assert_eq!(self.field("tabs"), "Advanced", "{}", self.kind);
        self.once(&["click", &self.only("button", "Apply")], "clicked", "apply", Value::Null);
    }

    /// A field whose value is withheld: written through standard input, echoed nowhere.
    pub fn keep_secret(&self, writable: bool) {
        let secret = self.only("textfield", "Secret");
        let mut said = Vec::new();
        let mut run = |args: &[&str], input: Option<&str>| {
            let reply = self.desk.cli_with(args, &[("RUST_LOG", "trace")], input);
            let envelope = reply.envelope();
            said.push((format!("{args:?}"), format!("{}{}", reply.stdout, reply.stderr)));
            envelope
        };
        let set = run(&["-v", "set-value", &secret, "--stdin"], Some(SECRET));
        if writable {
            assert_eq!(set["ok"], true, "{}: {set}", self.kind);
            assert_eq!(set["data"]["disposition"]["delivery"], "delivered_unverified", "{set}");
            assert_eq!(set["data"]["details"]["verification_reason"], "secure_field", "{set}");
            wait_for("the secret to arrive", || (self.field("secret") == SECRET).then_some(()));
            let typed = run(&["type", &secret, "--stdin"], Some("-more"));
            assert_eq!(typed["ok"], true, "{}: {typed}", self.kind);
            wait_for("the rest to arrive", || {
                self.field("secret")
                    .as_str()
                    .is_some_and(|t| t.contains("-more") && t.len() == SECRET.len() + 5)
                    .then_some(())
            });
            self.writes_text(&["set-value", &secret, "--stdin"], Some(SECRET), "secret", SECRET);
        } else {
            assert_eq!(set["error"]["disposition"]["delivery"], "not_delivered", "{set}");
        }
        let outline = self.desk.cli(&["snapshot", "--app", &self.app, "--format", "text", "--timeout-ms", "60000"]);
        assert!(outline.code == 0 && !outline.stdout.contains(SECRET), "{}: {}", self.kind, outline.stdout);
        let get = run(&["get", &secret, "--property", "value"], None);
        assert!(get["data"]["value"].is_null() || get["data"]["value"] == "", "{}: {get}", self.kind);
        run(&["get", &secret], None);
        for property in ["text", "states", "title", "role"] {
            run(&["get", &secret, "--property", property], None);
        }
        let app = self.app.as_str();
        let snapshot = run(&["snapshot", "--app", app, "--max-depth", "60", "--timeout-ms", "60000"], None);
        let at = crate::refs_named(&snapshot["data"], "textfield", "Secret");
        assert_eq!(at.len(), 1, "{}: it is seen, without its value", self.kind);
        for query in [["--value", SECRET], ["--text", SECRET], ["--name", "Secret"], ["--role", "textfield"]] {
            let found = run(&["find", "--app", app, query[0], query[1], "--timeout-ms", "30000"], None);
            if query[1] == SECRET {
                assert_eq!(found["data"]["matches"], json!([]), "{}: not by its value: {found}", self.kind);
            }
        }
        run(&["set-value", &secret, "--stdin", "--timeout-ms", "x"], Some(SECRET));
        run(&["set-value", "@sabc:e1", "--stdin"], Some(SECRET));
        run(&["wait", "--element", &secret, "--predicate", "value", "--value", "other", "--timeout", "300"], None);
        for (what, text) in &said {
            // What the caller asked for by name may be named back only in shortened form.
            assert!(!text.contains(SECRET), "{}: {what} echoes it: {text}", self.kind);
        }
        for file in self.state_files() {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{}: {} keeps it", self.kind, file.display());
        }
    }
}

/// Scenes beside `controls`, and several callers at once.
impl Live<'_> {
    /// Gives the focus to a field.
    pub fn focus(&self, role: &str, name: &str) {
        let field = self.only(role, name);
        let before = self.landed();
        let data = self.desk.ok(&["focus", &field]);
        assert_eq!(delivery(&data), "delivered_verified", "{}: {data}", self.kind);
        self.satisfied(&["focus", &field]);
        let data = self.desk.ok(&["is", &field, "--property", "focused"]);
        assert_eq!(data["result"], true, "{}: {data}", self.kind);
        assert_eq!(self.landed(), before, "{}", self.kind);
    }

    /// Brings the far button into view and presses it.
    pub fn scroll_to_far(&self) {
        let far = self.only("button", "Far away");
        let envelope = self.desk.cli(&["scroll-to", &far]).envelope();
        let data = &envelope["data"];
        if envelope["ok"] == false {
            assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{}: {envelope}", self.kind);
        }
        if delivery(data) == "delivered_verified" {
            let seen = self.desk.ok(&["is", &far, "--property", "visible"]);
            assert_eq!(seen["result"], true, "{}: {seen}", self.kind);
        }
        self.once(&["click", &far], "clicked", "far", Value::Null);
    }

    /// Items of closed menus.
    pub fn menu_items_closed(&self) {
        let snapshot = self.snapshot();
        let item = |name: &str| crate::refs_named(&snapshot, "menuitem", name).first().cloned();
        for (name, id) in [("New", "new"), ("Second file", "recent2"), ("Open…", "open")] {
            let item = item(name).unwrap_or_else(|| panic!("{}: {name} in {snapshot}", self.kind));
            let data = self.once(&["click", &item], "menu", id, Value::Null);
            assert_eq!(delivery(&data), "delivered_unverified", "{}: {data}", self.kind);
        }
        let toolbar = item("Show Toolbar").unwrap_or_else(|| panic!("{}: Show Toolbar in {snapshot}", self.kind));
        let was = self.field("show_toolbar") == true;
        self.once(&["click", &toolbar], "toggled", "show_toolbar", json!(!was));
    }

    /// The context menu of an area, where there is a semantic way to it; else a refusal that says so.
    pub fn context_menu(&self) {
        let snapshot = self.snapshot();
        let area = crate::nodes(&snapshot["tree"])
            .into_iter()
            .find(|n| n["name"] == "Context area" && n["ref_id"].is_string())
            .and_then(|n| n["ref_id"].as_str());
        let Some(area) = area else { return };
        let before = self.landed();
        let envelope = self.desk.cli(&["right-click", area]).envelope();
        match envelope["ok"] == true {
            true => {
                let inspect = self.only("menuitem", "Inspect");
                self.once(&["click", &inspect], "menu", "inspect", Value::Null);
            }
            false => {
                assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{envelope}");
                assert_eq!(self.landed(), before, "{}", self.kind);
            }
        }
    }

    /// A menu item that runs a modal dialog: answered at once, pressed once.
    pub fn modal_from_menu(&self, pending: bool) {
        self.fixture.control("stay");
        let item = self.only("menuitem", "Run modal");
        let data = self.once(&["click", &item], "menu", "modal", Value::Null);
        assert_eq!(delivery(&data), "delivered_unverified", "{}: {data}", self.kind);
        assert_eq!(data["details"]["effect"], "surface_appeared", "{}: {data}", self.kind);
        assert_eq!(
            self.fixture.state()["dialog"],
            "Nested",
            "{}: answered while the dialog is open: {data}",
            self.kind
        );
        if pending {
            assert_eq!(data["details"]["reply"], "pending", "{}: {data}", self.kind);
        }
        // A modal dialog stops no read.
        let ok = crate::refs_named(&self.snapshot_of("Dialog Nested"), "button", "OK");
        self.once(&["click", &ok[0]], "clicked", "dialog_nested_ok", Value::Null);
    }

    /// A dialog that comes by itself while a dead button is pressed verifies nothing.
    pub fn popup(&self) {
        let dead = self.only("button", "Dead");
        let before = self.landed();
        self.fixture.control("popup_later 200 Surprise");
        let envelope = self.desk.cli(&["click", &dead]).envelope();
        wait_for("the dialog", || (self.fixture.state()["dialog"] == "Surprise").then_some(()));
        if envelope["ok"] == true {
            assert_eq!(delivery(&envelope["data"]), "delivered_unverified", "{}: {envelope}", self.kind);
        } else {
            // In a page the dialog takes everything else out of the tree.
            assert_eq!(envelope["error"]["disposition"]["delivery"], "not_delivered", "{}: {envelope}", self.kind);
        }
        assert_eq!(self.landed(), before, "{}", self.kind);
    }

    /// The application dies of the click: that is neither done nor gone.
    pub fn crash(&self) {
        let (crash, save) = (self.only("button", "Crash"), self.only("button", "Save"));
        let envelope = self.desk.cli(&["click", &crash]).envelope();
        let text = std::fs::read_to_string(self.fixture.log_path()).expect("the log");
        let pressed = text.lines().filter(|l| l.contains("\"clicked\"")).count();
        assert_eq!(pressed, 1, "{}: {text}", self.kind);
        let (data, error) = (&envelope["data"], &envelope["error"]);
        assert_ne!(delivery(data), "delivered_verified", "{envelope}");
        assert_ne!(data["details"]["effect"], "gone", "{envelope}");
        assert!(
            data["details"]["process_ended"] == true || error["details"]["kind"] == "process_ended",
            "{}: {envelope}",
            self.kind
        );
        let error = self.desk.err(&["click", &save]);
        assert_eq!(
            (&error["code"], &error["details"]["kind"]),
            (&json!("STALE_REF"), &json!("saved_ref_absent")),
            "{error}"
        );
    }

    /// Ten callers press at once: each press arrives, none twice.
    pub fn ten_callers_press(&self) {
        let refs: Vec<String> = ["Save", "Described"].iter().map(|n| self.only("button", n)).collect();
        let before = self.landed().len();
        let callers: Vec<_> =
            (0..10).map(|i| self.desk.cli_spawn(&["click", &refs[i % 2], "--timeout-ms", "60000"])).collect();
        for caller in callers {
            let out = caller.wait_with_output().expect("a caller ends");
            assert!(out.status.success(), "{}: {}", self.kind, String::from_utf8_lossy(&out.stdout));
        }
        let count = |id: &str| self.landed()[before..].iter().filter(|l| l["id"] == id).count();
        wait_for("ten presses", || (self.landed().len() - before >= 10).then_some(()));
        assert_eq!((count("save"), count("described"), self.landed().len() - before), (5, 5, 10), "{}", self.kind);
    }

    /// Ten callers type into one field at once: no text is lost, cut or mixed.
    pub fn ten_callers_type(&self) {
        let name = self.only("textfield", "Name");
        let words: Vec<String> = (0..10).map(|i| format!("<caller {i}>")).collect();
        let callers: Vec<_> =
            words.iter().map(|w| self.desk.cli_spawn(&["type", &name, w, "--timeout-ms", "60000"])).collect();
        for caller in callers {
            let out = caller.wait_with_output().expect("a caller ends");
            assert!(out.status.success(), "{}: {}", self.kind, String::from_utf8_lossy(&out.stdout));
        }
        let text = self.field("name").as_str().unwrap_or("").to_owned();
        assert_eq!(text.chars().count(), 100, "{}: {text:?}", self.kind);
        for word in &words {
            assert_eq!(text.matches(word.as_str()).count(), 1, "{}: {word} in {text:?}", self.kind);
        }
    }
}
