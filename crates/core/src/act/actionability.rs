//! The actionability battery: seven checks over one resolved element (spec 1 §7, decisions D11). Pure.

use crate::error::{Code, Delivery, Error};
use crate::evidence::Evidence;
use crate::platform::{Action, Policy};
use crate::tree::raw::Facts;
use crate::vocab::capability::{Capability, CapabilitySet};
use crate::vocab::role::Role;
use crate::vocab::state::State;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// The read failed.
    Unknown,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Its id in the contract.
    pub check: &'static str,
    /// Its result.
    pub status: Status,
    /// Why, where that is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The whole battery.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// The checks that ran.
    pub checks: Vec<Check>,
    /// Whether the element is scrolled out of view or an item of a closed menu: not hidden for a semantic action.
    pub offscreen: bool,
    /// The error of a check that waiting can't mend.
    pub terminal: Option<Error>,
}

impl Report {
    /// Whether every check passed.
    pub fn actionable(&self) -> bool {
        self.checks.iter().all(|c| c.status == Status::Pass)
    }

    /// Whether only failed reads stand in the way.
    fn only_unknown(&self) -> bool {
        !self.actionable() && self.checks.iter().all(|c| c.status != Status::Fail)
    }

    /// As `details` show it.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("actionable".into(), json!(self.actionable()));
        out.insert("checks".into(), json!(self.checks));
        if self.offscreen {
            out.insert("offscreen".into(), json!(true));
        }
        Value::Object(out)
    }

    fn add(&mut self, check: &'static str, status: Status, reason: Option<&str>) {
        self.checks.push(Check { check, status, reason: reason.map(str::to_owned) });
    }
}

/// Runs the battery.
pub fn assess(facts: &Facts, action: &Action, policy: Policy) -> Report {
    let mut report = Report::default();
    let needs = Needs::of(action);
    if needs.visible {
        visible(facts, &mut report);
    }
    if needs.stable {
        // Waived for semantic delivery (decisions D11); pointer delivery samples by itself.
        report.add("stable", Status::Pass, Some("waived: semantic delivery"));
    }
    if needs.enabled {
        match &facts.states {
            Evidence::Known(s) if s.has(State::Disabled) => {
                report.add("enabled", Status::Fail, Some("the element is disabled"))
            }
            Evidence::Known(_) => report.add("enabled", Status::Pass, None),
            Evidence::Absent => report.add("enabled", Status::Pass, Some("the source has nothing to say")),
            Evidence::Unknown(_) => report.add("enabled", Status::Unknown, Some("states could not be read")),
        }
    }
    supported(facts, action, policy, &mut report);
    report.add("policy", Status::Pass, None);
    if needs.editable {
        editable(facts, action, &mut report);
    }
    if needs.receives_events {
        report.add("receives_events", Status::Pass, Some("semantic delivery goes through no point of the screen"));
    }
    if report.checks.iter().any(|c| c.check == "enabled" && c.status == Status::Fail) {
        // What a disabled element would do once it is enabled can't be told: Qt lists no actions on one.
        report.terminal = None;
    }
    report
}

/// The battery for delivery by pointer or keyboard, as far as the element's own states decide. Whether it is stable and
/// whether a point of it receives events is sampled when it is aimed at.
pub fn assess_physical(facts: &Facts, action: &Action) -> Report {
    let mut report = Report::default();
    match &facts.states {
        Evidence::Known(s) if s.has(State::Hidden) => {
            report.add("visible", Status::Fail, Some("the element, its page or its window is not shown"))
        }
        Evidence::Known(_) => report.add("visible", Status::Pass, None),
        Evidence::Absent => report.add("visible", Status::Pass, Some("the source has nothing to say")),
        Evidence::Unknown(_) => report.add("visible", Status::Unknown, Some("states could not be read")),
    }
    match &facts.states {
        Evidence::Known(s) if s.has(State::Disabled) => {
            report.add("enabled", Status::Fail, Some("the element is disabled"))
        }
        Evidence::Known(_) | Evidence::Absent => report.add("enabled", Status::Pass, None),
        Evidence::Unknown(_) => report.add("enabled", Status::Unknown, Some("states could not be read")),
    }
    report.add("supported_action", Status::Pass, Some("physical input"));
    report.add("policy", Status::Pass, None);
    if matches!(action, Action::Type(_) | Action::Clear) {
        editable(facts, action, &mut report);
    }
    if matches!(action, Action::Toggle | Action::Check | Action::Uncheck) {
        let offered = facts.capabilities.known().copied().unwrap_or(CapabilitySet::EMPTY);
        if !checkable(facts, offered) {
            report.add("supported_action", Status::Fail, Some("the element has no checked state"));
            report.terminal = Some(unsupported(facts, action, Policy::Headed, offered));
        }
    }
    report
}

/// Which checks an action needs, by the contract's matrix.
struct Needs {
    visible: bool,
    stable: bool,
    enabled: bool,
    editable: bool,
    receives_events: bool,
}

impl Needs {
    fn of(action: &Action) -> Self {
        use Action::*;
        let none = Self { visible: false, stable: false, enabled: false, editable: false, receives_events: false };
        match action {
            Click | DoubleClick | TripleClick | RightClick => {
                Self { visible: true, stable: true, enabled: true, receives_events: true, ..none }
            }
            Type(_) | SetValue(_) | Clear => Self { visible: true, enabled: true, editable: true, ..none },
            Select(_) => Self { visible: true, enabled: true, ..none },
            Toggle | Check | Uncheck | Expand | Collapse | Scroll { .. } => {
                Self { visible: true, stable: true, enabled: true, ..none }
            }
            ScrollTo => Self { stable: true, ..none },
            Focus => none,
        }
    }
}

fn visible(facts: &Facts, report: &mut Report) {
    match &facts.states {
        Evidence::Known(s) if s.has(State::Hidden) => {
            report.add("visible", Status::Fail, Some("the element, its page or its window is not shown"))
        }
        Evidence::Known(s) if facts.shown_unsure() && !s.has(State::Offscreen) => {
            report.add("visible", Status::Pass, Some("nothing tells whether its page is shown"))
        }
        Evidence::Known(s) => {
            report.offscreen = s.has(State::Offscreen);
            report.add("visible", Status::Pass, report.offscreen.then_some("offscreen; semantic delivery reaches it"));
        }
        Evidence::Absent => report.add("visible", Status::Pass, Some("the source has nothing to say")),
        Evidence::Unknown(_) => report.add("visible", Status::Unknown, Some("states could not be read")),
    }
}

/// The capabilities of which an action needs one (spec 1 §3).
pub fn capabilities_for(action: &Action) -> &'static [Capability] {
    use Capability as C;
    match action {
        Action::Click | Action::DoubleClick | Action::TripleClick => &[C::Click],
        Action::RightClick => &[C::RightClick],
        Action::Type(_) => &[C::TypeText],
        Action::SetValue(_) | Action::Clear => &[C::SetValue],
        Action::Focus => &[C::SetFocus],
        Action::Select(_) => &[C::Select, C::Click],
        Action::Toggle | Action::Check | Action::Uncheck => &[C::Toggle, C::Click],
        Action::Expand => &[C::Expand],
        Action::Collapse => &[C::Collapse],
        Action::Scroll { .. } => &[C::Scroll],
        Action::ScrollTo => &[],
    }
}

fn supported(facts: &Facts, action: &Action, policy: Policy, report: &mut Report) {
    let wanted = capabilities_for(action);
    if wanted.is_empty() {
        return report.add("supported_action", Status::Pass, None);
    }
    let offered = match &facts.capabilities {
        Evidence::Known(offered) => *offered,
        Evidence::Absent => CapabilitySet::EMPTY,
        Evidence::Unknown(_) => {
            return report.add("supported_action", Status::Unknown, Some("what it offers could not be read"));
        }
    };
    if wanted.iter().any(|c| offered.has(*c)) && (!checks(action) || checkable(facts, offered)) {
        return report.add("supported_action", Status::Pass, None);
    }
    report.add("supported_action", Status::Fail, Some("the element offers no such action"));
    report.terminal = Some(unsupported(facts, action, policy, offered));
}

/// Whether an action changes a checked state.
fn checks(action: &Action) -> bool {
    matches!(action, Action::Toggle | Action::Check | Action::Uncheck)
}

/// Whether the element has a checked state that its main action changes. A click is no way to check a plain button:
/// pressing it does something else.
fn checkable(facts: &Facts, offered: CapabilitySet) -> bool {
    offered.has(Capability::Toggle)
        || facts.role.known().is_some_and(|r| r.toggleable())
        || facts.states.known().is_some_and(|s| s.has(State::Checked) || s.has(State::Indeterminate))
}

/// Cells of a spreadsheet are written by their program's own commands alone.
const BY_CLIPBOARD: &str = "A cell takes text by the keyboard or the clipboard: 'focus REF' (or '--headed click REF'), \
     'clipboard-set TEXT', then 'press ctrl+v' with --app; read it again with 'get REF --property value'.";

/// Whether the action puts text into something.
fn enters(action: &Action) -> bool {
    matches!(action, Action::Type(_) | Action::Clear | Action::SetValue(_))
}

/// The refusal of an action that the element does not offer.
fn unsupported(facts: &Facts, action: &Action, policy: Policy, offered: CapabilitySet) -> Error {
    let role = facts.role.known().copied().unwrap_or(Role::Unknown);
    if checks(action) && offered.has(Capability::Click) && matches!(role, Role::Button | Role::MenuItem) {
        return unsaid(action, role, facts, offered);
    }
    let pointer = matches!(action, Action::Click | Action::DoubleClick | Action::TripleClick | Action::RightClick);
    let message = format!("this {role} publishes no semantic way to {}: its toolkit offers none here", action.name());
    let error = if pointer && policy < Policy::Headed {
        Error::before(Code::PolicyDenied, message).kind("needs_headed")
    } else {
        Error::before(Code::ActionNotSupported, message).kind("no_semantic_way")
    };
    let error = described(error, role, facts, offered);
    let code = error.code();
    error.suggest(match (offered.is_empty(), code) {
        (true, _) if !(enters(action) && matches!(role, Role::Cell | Role::Table | Role::Grid)) => "Act on a related control, such as one of the same name inside it: only physical input (--headed) reaches this element itself.",
        (false, Code::PolicyDenied) => {
            "Use one of available_actions; physical input (--headed) takes over the pointer and is your user's decision."
        }
        (_, _) if enters(action) && role == Role::Cell => BY_CLIPBOARD,
        (_, _) if enters(action) && matches!(role, Role::Table | Role::Grid) => {
            "A table takes no text, its cells may: 'snapshot --root REF --cell B7' gives the ref of one."
        }
        (false, _) if enters(action) => {
            "None of available_actions enters text here. '--headed type' does it with the keyboard, which takes over focus \
             and is your user's decision; in a page of a browser that was launched with --cdp, its protocol does."
        }
        (false, _) if matches!(action, Action::Expand | Action::Collapse | Action::Toggle | Action::Check | Action::Uncheck) => {
            "Use one of available_actions (Select takes an option's text: 'select @ref TEXT'), a related control, or \
             '--headed click', which takes over the pointer and is your user's decision."
        }
        (_, _) => "Use one of available_actions, a related control, or physical input (--headed).",
    })
}

/// A refusal with what the element is and offers.
fn described(error: Error, role: Role, facts: &Facts, offered: CapabilitySet) -> Error {
    let error = error
        .detail("check", "supported_action")
        .detail("role", role.token())
        .detail("available_actions", json!(offered));
    if facts.native_role.is_empty() { error } else { error.detail("native_role", facts.native_role.to_string()) }
}

/// What becomes of a refusal that sends the caller to the pointer, once it is known where the element is: what has no
/// place on the screen can't be reached by it either, and permission for it would change nothing.
pub fn by_pointer(error: Error, action: &Action, facts: &Facts) -> Error {
    let nowhere = match &facts.bounds {
        Evidence::Absent => true,
        Evidence::Known(place) => place.width <= 0.0 || place.height <= 0.0,
        Evidence::Unknown(_) => false,
    };
    if error.code() != Code::PolicyDenied || !nowhere {
        return error;
    }
    let role = facts.role.known().copied().unwrap_or(Role::Unknown);
    let offered = facts.capabilities.known().copied().unwrap_or(CapabilitySet::EMPTY);
    let message = format!(
        "this {role} publishes no semantic way to {}, and has no place on the screen where a pointer could reach it",
        action.name()
    );
    let error = Error::before(Code::ActionNotSupported, message).kind("no_semantic_way");
    described(error, role, facts, offered).suggest("Act on a related control, or on what shows this element first.")
}

/// The refusal of a check on what may be a toggle that is off: entries of Qt's menus and GTK 4's toggle buttons report
/// a checked state only while they are on, so that an ordinary one looks the same.
fn unsaid(action: &Action, role: Role, facts: &Facts, offered: CapabilitySet) -> Error {
    let message = format!(
        "this {role} reports no checked state: whether it is an ordinary one, or one that can be checked and is off, can't \
         be read"
    );
    let error = Error::before(Code::ActionNotSupported, message).kind("no_semantic_way");
    described(error, role, facts, offered).suggest(match action {
        Action::Uncheck => {
            "If it is one that can be checked, it is off, or its toolkit never reports the state: then 'click' it and look."
        }
        _ => {
            "If it is one that can be checked, 'click' switches it: its state can be read while it is on, if at all. An \
             ordinary one does what its name says."
        }
    })
}

fn editable(facts: &Facts, action: &Action, report: &mut Report) {
    let field = matches!(facts.role, Evidence::Known(Role::TextField | Role::ComboBox));
    let writable =
        matches!(&facts.capabilities, Evidence::Known(c) if c.has(Capability::SetValue) || c.has(Capability::TypeText));
    let readonly = matches!(&facts.states, Evidence::Known(s) if s.has(State::Readonly));
    if readonly || !(field || writable) {
        let reason = if readonly { "the element is read-only" } else { "the element is not a text or value control" };
        report.add("editable", Status::Fail, Some(reason));
        let error = Error::before(Code::ActionFailed, format!("can't {}: {reason}", action.name()))
            .kind("not_editable")
            .detail("check", "editable")
            .not_retryable();
        let cell = matches!(facts.role, Evidence::Known(Role::Cell)) && !readonly;
        let error = if cell { error.suggest(BY_CLIPBOARD) } else { error };
        report.terminal.get_or_insert(error);
    } else {
        report.add("editable", Status::Pass, None);
    }
}

/// The error when the battery did not pass in time: nothing was sent.
pub fn timed_out(report: &Report, timeout_ms: u64) -> Error {
    if report.only_unknown() {
        return Error::new(
            Code::ActionFailed,
            Delivery::NotDelivered,
            "what the action needs to know could not be read",
        )
        .kind("live_read_incomplete")
        .detail("report", report.to_json())
        .not_retryable();
    }
    let why = report.checks.iter().find(|c| c.status == Status::Fail);
    let reason = why.and_then(|c| c.reason.clone()).unwrap_or_default();
    let mut error = Error::before(Code::Timeout, format!("the element can't be acted on: {reason}"))
        .kind("actionability_timeout")
        .detail("timeout_ms", timeout_ms)
        .detail("report", report.to_json());
    if let Some(check) = why {
        error = error.detail("check", check.check);
    }
    error.suggest(match why {
        Some(c) if c.check == "visible" => {
            "Nothing was sent. What isn't shown doesn't appear by waiting: choose the tab or page that it is on first \
             ('find --role tab' lists them), or open what holds it; then take a new snapshot."
        }
        _ => "Nothing was sent. Wait for the state you need, or take a new snapshot to see what changed.",
    })
}
