//! Running one way: subscribe, look once more, send once, wait for reply and effects.

use super::check::{Caret, Found, Look};
use super::event::Scene;
use super::ladder::{self, Unit, caret_width, insert_unit};
use super::offer::names;
use super::plan::{Plan, object};
use super::watch::{NoWatch, Sent, Watcher};
use super::{popup, scroll};
use crate::LinuxPlatform;
use crate::atspi::interface::{ACCESSIBLE, ACTION, COMPONENT, EDITABLE_TEXT, SELECTION, TABLE, TEXT, VALUE};
use crate::atspi::toolkit::Toolkit;
use crate::bus::direct::owner;
use crate::bus::{Body, Bus, Call, CallError, Object, Reply, Wire};
use crate::outcome::write::{Write, answered, failed};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::{Action, Dispatch, Live, Rung, Watch, WriteOutcome};
use agent_desktop_core::vocab::capability::Capability;
use agent_desktop_core::vocab::role::Role;
use agent_desktop_core::vocab::state::State;
use std::sync::Arc;

/// Time for the look right before a write, in milliseconds.
const LOOK_MS: u64 = 1_000;
/// The flag of `ScrollTo`: wherever it takes least (`SCROLL_ANYWHERE`).
const ANYWHERE: u32 = 6;

/// Runs one way. Nothing is sent where the look before it forbids that; nothing more is sent after a write that may
/// have landed.
pub fn dispatch(bus: &Arc<Bus>, target: &Live, action: &Action, rung: &Rung, deadline: Deadline) -> Dispatch {
    let (Some((plan, toolkit)), Some(object)) = (Plan::of(rung), Object::from_handle(&target.handle)) else {
        let error = Error::before(Code::Internal, "the adapter can't read its own proposal: nothing was sent");
        return Dispatch { outcome: WriteOutcome::Refused(error), watch: Box::new(NoWatch) };
    };
    let look = Look::new(&object, &plan, toolkit);
    let soon = deadline.within_ms(LOOK_MS);
    let mut watcher = Watcher::subscribe(bus.clone(), &object, look.window_ms(), soon);
    fill_scene(watcher.scene(), target, &plan);
    let mut calls = look.calls();
    let own = calls.len();
    calls.push(Call::new(&Object::root_of(object.bus.clone()), ACCESSIBLE, "GetChildren"));
    calls.push(Call::get(&object, ACCESSIBLE, "Parent"));
    calls.push(owner(&object.bus));
    calls.extend(watcher.registrations());
    let answers = bus.flight(calls, soon);
    let windows = answers.get(own).cloned().and_then(Result::ok).and_then(|r| r.objects().ok()).unwrap_or_default();
    let parent = answers.get(own + 1).cloned().and_then(Result::ok).and_then(|r| r.object_property().ok());
    watcher.scene().parent = parent.map(|p| p.path.to_string()).unwrap_or_default();
    watcher.scene().windows = windows.into_iter().map(|o| o.path.to_string()).collect();
    let pid = answers.get(own + 2).and_then(|a| a.as_ref().ok()?.uint().ok());
    let direct = toolkit.offers_a_line() || bus.is_direct(&object.bus);
    let line = pid.filter(|_| direct).and_then(|pid| bus.line_for_writes(&object.bus, pid, soon));
    watcher.write_over(line, direct);
    let mut writer = Writer { bus, watcher, target: object.clone(), toolkit, deadline };
    let outcome = match look.judge(&answers[..own]) {
        Ok(found) => writer.run(&plan, &look, action, &found),
        Err(refused) => refused,
    };
    Dispatch { outcome, watch: Box::new(writer.watcher) }
}

/// A subscription alone, for input that reaches the element by another way (`Operate::watch`).
pub fn watch(platform: &LinuxPlatform, target: &Live, deadline: Deadline) -> Box<dyn Watch> {
    let Some(object) = Object::from_handle(&target.handle) else { return Box::new(NoWatch) };
    let soon = deadline.within_ms(LOOK_MS);
    let Ok(toolkit) = platform.toolkit(&object.bus, soon) else { return Box::new(NoWatch) };
    let mut watcher = Watcher::subscribe(platform.bus.clone(), &object, ladder::window_ms(toolkit), soon);
    watcher.scene().own = Scene::own(&target.facts.label_sources);
    let mut calls = vec![Call::new(&Object::root_of(object.bus.clone()), ACCESSIBLE, "GetChildren")];
    calls.extend(watcher.registrations());
    let answers = platform.bus.flight(calls, soon);
    let windows = answers.into_iter().next().and_then(|a| a.ok()?.objects().ok()).unwrap_or_default();
    watcher.scene().windows = windows.into_iter().map(|o| o.path.to_string()).collect();
    fill_kind(watcher.scene(), target);
    Box::new(watcher)
}

fn fill_scene(scene: &mut Scene, target: &Live, plan: &Plan) {
    let mut own = Scene::own(&target.facts.label_sources);
    if let Plan::DoOnChoice { choice, .. } | Plan::SelectChild { choice, .. } | Plan::SelectRow { choice, .. } = plan {
        own.extend(Scene::own([&choice.item]));
    }
    match plan {
        Plan::ChooseInPopup { button } => own.extend(Scene::own([button])),
        Plan::Bar { bar, .. } | Plan::BarTo { bar, .. } => own.extend(Scene::own([bar])),
        Plan::Page { on, .. } => own.extend(Scene::own([on])),
        _ => {}
    }
    scene.own = own;
    fill_kind(scene, target);
}

fn fill_kind(scene: &mut Scene, target: &Live) {
    let role = target.facts.role.known().copied();
    let popup = target.facts.states.known().is_some_and(|s| s.has(State::HasPopup));
    scene.toggles = target.facts.capabilities.known().is_some_and(|c| c.has(Capability::Toggle));
    scene.menu_item = role == Some(Role::MenuItem);
    scene.opens = popup || matches!(role, Some(Role::ComboBox | Role::MenuButton | Role::MenuItem | Role::Menu));
}

/// One write under way.
pub(super) struct Writer<'b> {
    pub(super) bus: &'b Arc<Bus>,
    pub(super) watcher: Watcher,
    pub(super) target: Object,
    pub(super) toolkit: Toolkit,
    pub(super) deadline: Deadline,
}

impl Writer<'_> {
    fn run(&mut self, plan: &Plan, look: &Look<'_>, action: &Action, found: &Found) -> WriteOutcome {
        match plan {
            Plan::Do { name, index, .. } => self.act(self.target.clone(), name, *index, found.moved),
            Plan::DoOnChoice { name, index, choice, .. } => match object(&choice.item) {
                Some(item) => self.act(item, name, *index, found.moved),
                None => broken_plan(),
            },
            Plan::SetText => {
                let text = match action {
                    Action::SetValue(text) => text.clone(),
                    _ => String::new(),
                };
                let call = Call::with(&self.target, EDITABLE_TEXT, "SetTextContents", Body::Text(text));
                self.yes_or_no(&call, Write::Text)
            }
            Plan::SetNumber(number) => match look.in_range(*number, found.range) {
                Ok(()) => self.set_number(&self.target.clone(), *number),
                Err(refused) => refused,
            },
            Plan::Insert => match (action, found.caret) {
                (Action::Type(text), Some(caret)) => self.insert(text, caret),
                _ => broken_plan(),
            },
            Plan::Already => WriteOutcome::Accepted,
            Plan::GrabFocus | Plan::FocusIntoView => {
                let call = Call::new(&self.target, COMPONENT, "GrabFocus");
                self.yes_or_no(&call, Write::Focus)
            }
            Plan::SelectChild { on, choice } => match object(on) {
                Some(on) => {
                    let call = Call::with(&on, SELECTION, "SelectChild", Body::Int(choice.index));
                    self.yes_or_no(&call, Write::Select)
                }
                None => broken_plan(),
            },
            Plan::SelectRow { on, .. } => match (object(on), found.row) {
                (Some(table), Some(row)) => {
                    let call = Call::with(&table, TABLE, "AddRowSelection", Body::Int(row));
                    self.yes_or_no(&call, Write::Select)
                }
                _ => WriteOutcome::Absent("the option's row can't be told".to_owned()),
            },
            Plan::ChooseInPopup { button } => match (object(button), action) {
                (Some(button), Action::Select(wanted)) => popup::choose(self, &button, wanted),
                _ => broken_plan(),
            },
            Plan::ScrollTo => {
                let call = Call::with(&self.target, COMPONENT, "ScrollTo", Body::UInt(ANYWHERE));
                self.yes_or_no(&call, Write::ScrollTo)
            }
            Plan::Bar { bar, steps } => match object(bar) {
                Some(bar) => scroll::by_steps(self, &bar, *steps, found),
                None => broken_plan(),
            },
            Plan::Page { on, name, index, times } => match object(on) {
                Some(on) => scroll::by_pages(self, &on, name, *index, found.moved, *times),
                None => broken_plan(),
            },
            Plan::BarTo { bar, sideways, .. } => match object(bar) {
                Some(bar) => scroll::into_view(self, &bar, *sideways, found),
                None => broken_plan(),
            },
        }
    }

    /// `DoAction` by the name's index now.
    pub(super) fn act(&mut self, on: Object, name: &str, index: i32, moved: bool) -> WriteOutcome {
        let index = match moved {
            false => Some(index),
            true => self.find(&on, name),
        };
        let Some(index) = index else {
            return WriteOutcome::Absent("the element has no such action any more".to_owned());
        };
        let call = Call::with(&on, ACTION, "DoAction", Body::Int(index));
        let outcome = self.yes_or_no(&call, Write::DoAction);
        let busy = ladder::press_ms(self.toolkit, name);
        if busy > 0 && outcome == WriteOutcome::Accepted {
            // The lease is held until the button takes the next press, or the next caller's would be lost. The answer
            // to one more question shows that a busy application has come to it.
            self.watcher.linger(busy, self.deadline);
            let _ = self.bus.call(Call::new(&on, ACCESSIBLE, "GetState"), self.deadline.within_ms(LOOK_MS));
        }
        outcome
    }

    fn find(&self, on: &Object, name: &str) -> Option<i32> {
        let soon = self.deadline.within_ms(LOOK_MS);
        let count = self.bus.call(Call::get(on, ACTION, "NActions"), soon).and_then(|r| r.int_property()).ok()?;
        let all = names(&**self.bus, on, count.clamp(0, 64), soon).ok()?;
        all.iter().position(|n| n == name).and_then(|at| i32::try_from(at).ok())
    }

    /// Sets a value; its reply carries nothing.
    pub(super) fn set_number(&mut self, on: &Object, number: f64) -> WriteOutcome {
        let call =
            Call::with(on, "org.freedesktop.DBus.Properties", "Set", Body::SetNumber(VALUE, "CurrentValue", number));
        self.send(&call, Write::Value, |_| Ok(true))
    }

    /// Sends a call that answers yes or no.
    pub(super) fn yes_or_no(&mut self, call: &Call, write: Write) -> WriteOutcome {
        self.send(call, write, Reply::bool)
    }

    fn send(&mut self, call: &Call, write: Write, read: impl Fn(&Reply) -> Result<bool, CallError>) -> WriteOutcome {
        match self.watcher.send(call, self.deadline) {
            Sent::Pending => WriteOutcome::Pending,
            Sent::Silent => WriteOutcome::NoReply,
            Sent::Answer(answer) => match answer.and_then(|reply| read(&reply)) {
                Ok(yes) => answered(yes, write, self.toolkit),
                Err(error) => failed(&error, write, self.toolkit),
            },
        }
    }

    /// Inserts at the caret, or over the selection: then two writes, and the answer says so when the second fails.
    fn insert(&mut self, text: &str, caret: Caret) -> WriteOutcome {
        let at = match caret.selection {
            None => caret.at,
            Some((from, to)) => {
                let call = Call::with(&self.target, EDITABLE_TEXT, "DeleteText", Body::Ints(from, to));
                match self.yes_or_no(&call, Write::Text) {
                    WriteOutcome::Accepted => from,
                    other => return other,
                }
            }
        };
        let length = match insert_unit(self.toolkit) {
            Unit::Bytes => text.len(),
            Unit::Utf16 => text.encode_utf16().count(),
        };
        let Ok(length) = i32::try_from(length) else {
            return WriteOutcome::Refused(Error::invalid("the text is too long"));
        };
        let body = Body::Insert(at, text.to_owned(), length);
        let outcome = self.yes_or_no(&Call::with(&self.target, EDITABLE_TEXT, "InsertText", body), Write::Text);
        if outcome == WriteOutcome::Accepted {
            self.put_caret(at, text);
        }
        match outcome {
            WriteOutcome::Absent(why) if caret.selection.is_some() => half_done(&why),
            WriteOutcome::Refused(error) if caret.selection.is_some() => half_done(error.message()),
            other => other,
        }
    }

    /// Puts the caret behind the new text, as typing does: GTK leaves it before, so that a second text would come out
    /// in front of the first (docs/linux-actions.md "type"). Nobody waits for the answer.
    fn put_caret(&mut self, at: i32, text: &str) {
        let Some(end) = i32::try_from(caret_width(self.toolkit, text)).ok().and_then(|w| at.checked_add(w)) else {
            return;
        };
        let call = Call::with(&self.target, TEXT, "SetCaretOffset", Body::Int(end));
        if ladder::caret_stays_behind(self.toolkit) {
            self.watcher.post(&call, self.deadline);
        }
    }
}

fn half_done(why: &str) -> WriteOutcome {
    WriteOutcome::Uncertain(format!("the selected text was deleted, but the new text was not inserted: {why}"))
}

pub(super) fn broken_plan() -> WriteOutcome {
    WriteOutcome::Refused(Error::before(Code::Internal, "the adapter can't read its own proposal: nothing was sent"))
}
