//! The look right before a write: one flight of reads, and what forbids sending (decisions D5). Pure but for the wire.

use super::ladder;
use super::offer::at;
use super::plan::{Choice, Guard, Plan, object};
use crate::atspi::interface::{ACCESSIBLE, ACTION, COMPONENT, TABLE, TEXT, VALUE};
use crate::atspi::state::Native as States;
use crate::atspi::toolkit::Toolkit;
use crate::bus::{Body, Call, CallError, Object, Reply};
use agent_desktop_core::act::verify::same_text;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::WriteOutcome;

/// Reads for one plan. `Look::judge` takes their answers in the same order.
pub struct Look<'a> {
    target: &'a Object,
    plan: &'a Plan,
    toolkit: Toolkit,
}

/// What the look found, as far as the write needs it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Current, least and greatest value; step.
    pub range: Option<Range>,
    /// Caret, length and selection of a text.
    pub caret: Option<Caret>,
    /// Row of the option.
    pub row: Option<i32>,
    /// Extents of target and scrolled window, each x, y, width, height.
    pub extents: Option<[(i32, i32, i32, i32); 2]>,
    /// Whether the named action stands elsewhere now: its names must be read again.
    pub moved: bool,
}

/// A range of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Range {
    pub now: f64,
    pub min: f64,
    pub max: f64,
    pub step: f64,
}

/// Where text goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Caret {
    pub at: i32,
    pub length: i32,
    pub selection: Option<(i32, i32)>,
}

impl<'a> Look<'a> {
    /// The look for one plan.
    pub fn new(target: &'a Object, plan: &'a Plan, toolkit: Toolkit) -> Self {
        Self { target, plan, toolkit }
    }

    /// The element that is written to, where it isn't the target.
    fn subject(&self) -> Object {
        let handle = match self.plan {
            Plan::DoOnChoice { choice, .. } | Plan::SelectChild { choice, .. } | Plan::SelectRow { choice, .. } => {
                Some(&choice.item)
            }
            Plan::ChooseInPopup { button } => Some(button),
            Plan::Bar { bar, .. } | Plan::BarTo { bar, .. } => Some(bar),
            Plan::Page { on, .. } => Some(on),
            _ => None,
        };
        handle.and_then(object).unwrap_or_else(|| self.target.clone())
    }

    /// The reads.
    pub fn calls(&self) -> Vec<Call> {
        let subject = self.subject();
        let mut calls =
            vec![Call::new(self.target, ACCESSIBLE, "GetState"), Call::new(&subject, ACCESSIBLE, "GetState")];
        if let Plan::Do { index, .. } | Plan::DoOnChoice { index, .. } | Plan::Page { index, .. } = self.plan {
            calls.push(Call::get(&subject, ACTION, "NActions"));
            calls.push(Call::with(&subject, ACTION, "GetName", Body::Int(*index)));
        }
        if let Some(choice) = self.choice() {
            if ladder::mints_addresses(self.toolkit) {
                calls.push(Call::new(&subject, ACCESSIBLE, "GetIndexInParent"));
            } else if let Some(parent) = object(&choice.parent) {
                calls.push(Call::with(&parent, ACCESSIBLE, "GetChildAtIndex", Body::Int(choice.index)));
            }
            if let Some(place) = object(&choice.text_at) {
                calls.push(Call::get(&place, ACCESSIBLE, "Name"));
            }
        }
        match self.plan {
            Plan::SetNumber(_) | Plan::Bar { .. } | Plan::BarTo { .. } => {
                calls.extend(
                    ["CurrentValue", "MinimumValue", "MaximumValue", "MinimumIncrement"]
                        .map(|p| Call::get(&subject, VALUE, p)),
                );
            }
            Plan::Insert => {
                calls.push(Call::get(&subject, TEXT, "CaretOffset"));
                calls.push(Call::get(&subject, TEXT, "CharacterCount"));
                calls.push(Call::new(&subject, TEXT, "GetNSelections"));
                calls.push(Call::with(&subject, TEXT, "GetSelection", Body::Int(0)));
            }
            Plan::SelectRow { on, choice } => {
                if let Some(table) = object(on) {
                    calls.push(Call::with(&table, TABLE, "GetRowAtIndex", Body::Int(choice.index)));
                }
            }
            _ => {}
        }
        if let Plan::BarTo { pane, .. } = self.plan
            && let Some(pane) = object(pane)
        {
            calls.push(Call::with(self.target, COMPONENT, "GetExtents", Body::UInt(0)));
            calls.push(Call::with(&pane, COMPONENT, "GetExtents", Body::UInt(0)));
        }
        calls
    }

    fn choice(&self) -> Option<&Choice> {
        match self.plan {
            Plan::DoOnChoice { choice, .. } | Plan::SelectChild { choice, .. } | Plan::SelectRow { choice, .. } => {
                Some(choice)
            }
            _ => None,
        }
    }

    /// Whether a disabled element must not be written to: an insensitive widget answers yes and does nothing, and a
    /// disabled text field even takes the text (FINDINGS §5 "Lies to know").
    fn must_be_enabled(&self) -> bool {
        !matches!(
            self.plan,
            Plan::GrabFocus
                | Plan::FocusIntoView
                | Plan::ScrollTo
                | Plan::Bar { .. }
                | Plan::BarTo { .. }
                | Plan::Page { .. }
                | Plan::Already
        )
    }

    /// Judges the answers. An error outcome means that nothing was sent.
    pub fn judge(&self, answers: &[Result<Reply, CallError>]) -> Result<Found, WriteOutcome> {
        let mut next = (0..).map(|i| at(answers, i));
        let mut take = || next.next().unwrap_or(Err(CallError::Late { sent: false }));
        for subject in [false, true] {
            let states =
                take().and_then(|r| r.states()).map(States).map_err(|e| WriteOutcome::Refused(unanswered(&e)))?;
            if states.defunct() {
                return Err(WriteOutcome::Refused(stale("the element says that it is dead")));
            }
            if self.must_be_enabled() && disabled(states) {
                return Err(WriteOutcome::Refused(insensitive()));
            }
            if subject {
                self.guard(states)?;
            }
        }
        let mut found = Found::default();
        if let Plan::Do { name, index, .. } | Plan::DoOnChoice { name, index, .. } | Plan::Page { name, index, .. } =
            self.plan
        {
            let count = take().and_then(|r| r.int_property());
            let named = take().and_then(|r| r.text());
            found.moved = match (count, named) {
                (Ok(count), Ok(now)) => i64::from(*index) >= count || now != *name,
                // An action that isn't there any more is told by reading all names.
                _ => true,
            };
        }
        if let Some(choice) = self.choice() {
            let same_place = if ladder::mints_addresses(self.toolkit) {
                take().and_then(|r| r.int()).is_ok_and(|at| at == choice.index)
            } else {
                object(&choice.parent)
                    .is_some_and(|_| take().and_then(|r| r.object()).is_ok_and(|o| o.handle() == choice.item))
            };
            let text = object(&choice.text_at).map(|_| take().and_then(|r| r.text_property()));
            let same_label = matches!(&text, Some(Ok(t)) if same_text(t, &choice.text));
            if !same_place || !same_label {
                return Err(WriteOutcome::Refused(moved_option()));
            }
        }
        if let Plan::SetNumber(_) | Plan::Bar { .. } | Plan::BarTo { .. } = self.plan {
            let mut real = || take().and_then(|r| r.real_property()).ok();
            let (now, min, max, step) = (real(), real(), real(), real());
            if let (Some(now), Some(min), Some(max)) = (now, min, max) {
                found.range = Some(Range { now, min, max, step: step.unwrap_or(0.0) });
            }
        }
        if *self.plan == Plan::Insert {
            let caret = take().and_then(|r| r.int_property());
            let length = take().and_then(|r| r.int_property());
            let selections = take().and_then(|r| r.int());
            let range: Result<(i32, i32), CallError> = take().and_then(|r| r.read("selection"));
            let (Ok(caret), Ok(length), Ok(selections)) = (caret, length, selections) else {
                return Err(WriteOutcome::Refused(unread_caret()));
            };
            let selection = match (selections, range) {
                (0, _) => None,
                (1, Ok((from, to))) => (from != to).then(|| (from.min(to), from.max(to))),
                // Several selections, or one whose ends can't be told: what would be replaced isn't known.
                _ => return Err(WriteOutcome::Refused(unread_caret())),
            };
            let length = i32::try_from(length).unwrap_or(i32::MAX);
            // Before the field had the focus there is no caret in some toolkits: -1 (FINDINGS §5 "caret").
            let at = i32::try_from(caret).ok().filter(|c| (0..=length).contains(c)).unwrap_or(length);
            found.caret = Some(Caret { at, length, selection });
        }
        if let Plan::SelectRow { .. } = self.plan {
            found.row = take().and_then(|r| r.int()).ok().filter(|r| *r >= 0);
        }
        if let Plan::BarTo { .. } = self.plan {
            let mut extents = || take().and_then(|r| r.extents()).ok();
            if let (Some(target), Some(pane)) = (extents(), extents()) {
                found.extents = Some([target, pane]);
            }
        }
        Ok(found)
    }

    fn guard(&self, states: States) -> Result<(), WriteOutcome> {
        let (Plan::Do { guard, .. } | Plan::DoOnChoice { guard, .. }) = self.plan else { return Ok(()) };
        let pressed = self.toolkit.pressed_is_checked() && states.has(States::PRESSED);
        let checked = states.has(States::CHECKED) || pressed;
        let wrong = match guard {
            Guard::None => false,
            Guard::Unchecked => checked,
            // A toolkit that doesn't report the state where it could is found out by verification, not here.
            Guard::Checked => !checked && !pressed_like(states),
            Guard::Folded => states.has(States::EXPANDED),
            Guard::Unfolded => states.has(States::EXPANDABLE) && !states.has(States::EXPANDED),
            Guard::Unselected => states.has(States::SELECTED),
        };
        match (wrong, guard) {
            (false, _) => Ok(()),
            (true, Guard::Unselected) => Err(WriteOutcome::Refused(selected_already())),
            (true, _) => Err(WriteOutcome::Refused(changed_meanwhile())),
        }
    }

    /// Where the number may go.
    pub fn in_range(&self, number: f64, range: Option<Range>) -> Result<(), WriteOutcome> {
        match range {
            // Toolkits clamp without a word (FINDINGS §5 "Value set"). Equal ends say nothing.
            Some(r) if r.min < r.max && !(r.min..=r.max).contains(&number) => Err(WriteOutcome::Refused(
                Error::invalid("the number is outside the control's range")
                    .kind("value_out_of_range")
                    .detail("min", r.min)
                    .detail("max", r.max)
                    .suggest("Give a number between details.min and details.max."),
            )),
            _ => Ok(()),
        }
    }

    /// How long this toolkit's effects may take.
    pub fn window_ms(&self) -> u64 {
        ladder::window_ms(self.toolkit)
    }
}

fn pressed_like(states: States) -> bool {
    states.has(States::PRESSED | States::INDETERMINATE)
}

/// GTK 4 reports `sensitive` alone, others both: only the lack of both says disabled. No states at all say nothing.
fn disabled(states: States) -> bool {
    !states.is_empty() && !states.has(States::SENSITIVE | States::ENABLED)
}

fn insensitive() -> Error {
    Error::before(Code::ActionFailed, "the element was disabled right before the action: nothing was sent")
        .kind("insensitive")
        .suggest(
            "Wait until it is enabled: 'agent-desktop is --property enabled', or repeat with a longer --timeout-ms.",
        )
}

fn stale(why: &str) -> Error {
    Error::before(Code::StaleRef, format!("{why}: nothing was sent"))
        .kind("saved_ref_absent")
        .suggest("Take a new snapshot and use its ref.")
}

fn changed_meanwhile() -> Error {
    Error::before(Code::ActionFailed, "the element changed its state right before the action: nothing was sent")
        .kind("changed_meanwhile")
        .suggest("Read the state; if it is not what you want, repeat the action.")
}

fn selected_already() -> Error {
    Error::before(
        Code::ActionFailed,
        "the item is selected already, and its only action would take that back: nothing was sent",
    )
    .kind("already_selected")
    .suggest("Go on: it is selected. Opening or editing it takes physical input where that is available (--headed).")
}

fn moved_option() -> Error {
    Error::before(Code::ActionFailed, "the option moved or changed while it was chosen: nothing was sent")
        .kind("changed_meanwhile")
        .suggest("Repeat the action: nothing was delivered.")
}

fn unread_caret() -> Error {
    Error::before(Code::ActionFailed, "where the text would go could not be read: nothing was sent")
        .kind("live_read_incomplete")
        .suggest("Use set-value to replace the whole text.")
}

/// A state that could not be read: nothing was sent.
fn unanswered(error: &CallError) -> Error {
    let native = crate::bus::join::describe(error);
    match error {
        CallError::Late { .. } => Error::before(
            Code::AppUnresponsive,
            "the application did not answer right before the action: nothing was sent",
        )
        .kind("application_silent")
        .platform(native)
        .suggest("Wait until the application answers again."),
        // GetState is a method that every live object has, whatever the toolkit (FINDINGS §4 "NB").
        CallError::Remote { .. } => stale("the element is gone").platform(native),
        _ => Error::before(Code::ActionFailed, "the element's state could not be read: nothing was sent")
            .kind("live_read_incomplete")
            .platform(native),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_desktop_core::error::Delivery;
    use zbus::Message;
    use zbus::zvariant::Value;

    fn reply<B: serde::Serialize + zbus::zvariant::DynamicType>(body: &B) -> Result<Reply, CallError> {
        let call = Message::method_call("/", "M").unwrap().build(&()).unwrap();
        Ok(Reply(Message::method_return(&call.header()).unwrap().build(body).unwrap()))
    }

    fn states(bits: u64) -> Result<Reply, CallError> {
        reply(&vec![bits as u32, (bits >> 32) as u32])
    }

    const ON: u64 = States::SENSITIVE | States::ENABLED;

    fn judge(plan: &Plan, toolkit: Toolkit, answers: &[Result<Reply, CallError>]) -> Result<Found, WriteOutcome> {
        Look::new(&Object::new(":1.1", "/t"), plan, toolkit).judge(answers)
    }

    fn kind(outcome: Result<Found, WriteOutcome>) -> String {
        match outcome {
            Err(WriteOutcome::Refused(e)) if e.delivery() == Delivery::NotDelivered => {
                e.kind_name().unwrap().to_owned()
            }
            other => format!("{other:?}"),
        }
    }

    fn click(guard: Guard) -> Plan {
        Plan::Do { name: "click".into(), index: 0, guard }
    }

    #[test]
    fn a_disabled_button_is_never_pressed() {
        let off = || states(States::VISIBLE);
        assert_eq!(kind(judge(&click(Guard::None), Toolkit::Gtk3, &[off(), off()])), "insensitive");
        assert!(judge(&Plan::GrabFocus, Toolkit::Gtk3, &[off(), off()]).is_ok());
        // GTK 4 reports sensitive alone.
        let on = || states(States::SENSITIVE);
        let answers = [on(), on(), reply(&Value::from(1i32)), reply(&"click")];
        assert_eq!(judge(&click(Guard::None), Toolkit::Gtk4, &answers), Ok(Found::default()));
    }

    #[test]
    fn an_action_that_moved_is_looked_for_again() {
        let on = || states(ON);
        let moved = |n: i32, name: &str| {
            judge(&click(Guard::None), Toolkit::Gtk3, &[on(), on(), reply(&Value::from(n)), reply(&name)])
                .unwrap()
                .moved
        };
        assert!(!moved(1, "click"));
        // GTK 3 answers True to an index out of range: never sent.
        assert!(moved(0, "click") && moved(1, "delete"));
    }

    #[test]
    fn a_state_that_changed_by_itself_is_not_undone() {
        let at = |guard, bits| kind(judge(&click(guard), Toolkit::Gtk3, &[states(bits), states(bits)]));
        assert_eq!(at(Guard::Unchecked, ON | States::CHECKED), "changed_meanwhile");
        assert_eq!(at(Guard::Checked, ON), "changed_meanwhile");
        assert_eq!(at(Guard::Folded, ON | States::EXPANDED), "changed_meanwhile");
        assert_eq!(at(Guard::Unselected, ON | States::SELECTED), "already_selected");
        // A combo box that never reports it.
        assert!(judge(&click(Guard::Unfolded), Toolkit::Qt5, &[states(ON), states(ON)]).is_ok());
    }

    #[test]
    fn the_dead_and_the_silent_are_told_apart() {
        let gone =
            CallError::Remote { name: "org.freedesktop.DBus.Error.UnknownObject".into(), message: String::new() };
        assert_eq!(kind(judge(&Plan::SetText, Toolkit::Qt6, &[Err(gone)])), "saved_ref_absent");
        assert_eq!(
            kind(judge(&Plan::SetText, Toolkit::Qt6, &[Err(CallError::Late { sent: true })])),
            "application_silent"
        );
        assert_eq!(kind(judge(&Plan::SetText, Toolkit::Gtk3, &[states(ON | States::DEFUNCT)])), "saved_ref_absent");
        assert_eq!(kind(judge(&Plan::SetText, Toolkit::Gtk3, &[])), "application_silent");
    }

    #[test]
    fn out_of_range_is_refused_with_the_range() {
        let plan = Plan::SetNumber(500.0);
        let object = Object::new(":1.1", "/t");
        let look = Look::new(&object, &plan, Toolkit::Gtk3);
        let range = Range { now: 1.0, min: 0.0, max: 100.0, step: 1.0 };
        let Err(WriteOutcome::Refused(e)) = look.in_range(500.0, Some(range)) else { panic!() };
        assert_eq!((e.details()["min"].as_f64(), e.details()["max"].as_f64()), (Some(0.0), Some(100.0)));
        assert_eq!(e.code(), Code::InvalidArgs);
        assert!(look.in_range(100.0, Some(range)).is_ok() && look.in_range(500.0, None).is_ok());
        assert!(look.in_range(5.0, Some(Range::default())).is_ok());
    }

    #[test]
    fn the_caret_where_there_is_none_is_the_end() {
        let insert = |caret: i32, selections: i32, range: (i32, i32)| {
            let answers = [
                states(ON),
                states(ON),
                reply(&Value::from(caret)),
                reply(&Value::from(5i32)),
                reply(&selections),
                reply(&range),
            ];
            judge(&Plan::Insert, Toolkit::Gtk3, &answers).map(|f| f.caret.unwrap())
        };
        assert_eq!(insert(2, 0, (0, 0)), Ok(Caret { at: 2, length: 5, selection: None }));
        assert_eq!(insert(-1, 0, (0, 0)).unwrap().at, 5);
        assert_eq!(insert(2, 1, (4, 1)).unwrap().selection, Some((1, 4)));
        assert_eq!(insert(2, 1, (2, 2)).unwrap().selection, None);
        assert_eq!(kind(judge(&Plan::Insert, Toolkit::Gtk3, &[states(ON), states(ON)])), "live_read_incomplete");
        assert!(insert(2, 2, (0, 1)).is_err());
    }

    #[test]
    fn an_option_that_moved_is_not_chosen() {
        use agent_desktop_core::tree::raw::Handle;
        let choice = Choice {
            parent: Handle::new(":1.1/list"),
            index: 1,
            item: Handle::new(":1.1/item"),
            text_at: Handle::new(":1.1/item"),
            text: "Two".into(),
        };
        let plan = Plan::SelectChild { on: Handle::new(":1.1/list"), choice };
        let path = |p: &str| zbus::zvariant::OwnedObjectPath::try_from(p.to_owned()).unwrap();
        let look = |item: &str, text: &str| {
            let answers = [states(ON), states(ON), reply(&((":1.1", path(item)),)), reply(&Value::from(text))];
            judge(&plan, Toolkit::Gtk3, &answers)
        };
        assert!(look("/item", " Two").is_ok());
        assert_eq!(kind(look("/other", "Two")), "changed_meanwhile");
        assert_eq!(kind(look("/item", "Three")), "changed_meanwhile");
        // Qt's trees answer with another address each time.
        let own = |index: i32| {
            judge(&plan, Toolkit::Qt6, &[states(ON), states(ON), reply(&index), reply(&Value::from("Two"))])
        };
        assert!(own(1).is_ok());
        assert_eq!(kind(own(2)), "changed_meanwhile");
    }
}
