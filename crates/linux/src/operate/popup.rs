//! GTK 4's drop-down: its options exist only while it is open, and only activation takes the choice over
//! (docs/linux-actions.md "select"). Open, select in the list that appears, activate.

use super::dispatch::Writer;
use super::offer::Offer;
use super::options::{Item, children, gather, one};
use crate::atspi::interface::{ACCESSIBLE, Interfaces, SELECTION};
use crate::atspi::role::native as n;
use crate::atspi::state::Native as States;
use crate::bus::{Body, Call, Object, Wire};
use crate::outcome::write::Write;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Delivery, Error};
use agent_desktop_core::platform::WriteOutcome;
use std::time::Duration;

/// How long the popup may take to open, in milliseconds. The button acts after a quarter of a second.
const OPEN_MS: u64 = 1_500;
/// Pause between two looks, in milliseconds.
const POLL_MS: u64 = 40;
/// The popup's action that activates what is selected in it.
const ACTIVATE: &str = "default.activate";
/// The button's action.
const OPEN: &str = "click";

/// The button inside a combo box that has no list yet; none where it has a Selection of its own.
pub fn button(wire: &dyn Wire, combo: &Offer, deadline: Deadline) -> Option<Object> {
    if combo.interfaces.has(Interfaces::SELECTION) || combo.role != n::COMBO_BOX {
        return None;
    }
    let inside = children(wire, [&combo.object].into_iter(), deadline).ok()?.pop()?;
    let roles = wire.flight(inside.iter().map(|o| Call::new(o, ACCESSIBLE, "GetRole")).collect(), deadline);
    let at =
        roles.into_iter().position(|r| matches!(r.and_then(|r| r.uint()), Ok(n::PUSH_BUTTON | n::TOGGLE_BUTTON)))?;
    Some(inside[at].clone())
}

/// Chooses the option with this text.
pub(super) fn choose(writer: &mut Writer<'_>, button: &Object, wanted: &str) -> WriteOutcome {
    if !is_open(writer, button, writer.deadline) {
        match writer.act(button.clone(), OPEN, 0, true) {
            WriteOutcome::Accepted | WriteOutcome::Pending => {}
            other => return other,
        }
    }
    let (popup, items) = match opened(writer, button) {
        Some(found) => found,
        None => return half_done("the list did not appear"),
    };
    let item = match one(items, wanted) {
        Ok(item) => item,
        Err(error) => return closed_again(writer, button, error),
    };
    let call = Call::with(&item.parent, SELECTION, "SelectChild", Body::Int(item.index));
    match writer.yes_or_no(&call, Write::Select) {
        WriteOutcome::Accepted => {}
        WriteOutcome::NoReply => return WriteOutcome::NoReply,
        _ => return half_done("the list was opened, but the option could not be selected in it"),
    }
    if !is_selected(writer, &item) {
        return half_done("the list was opened, but another option than the wanted one is selected in it");
    }
    match writer.act(popup, ACTIVATE, 0, true) {
        WriteOutcome::Absent(_) | WriteOutcome::Refused(_) => half_done("the list is open and can't be activated"),
        other => other,
    }
}

/// The popup with its options, once it is there.
fn opened(writer: &Writer<'_>, button: &Object) -> Option<(Object, Vec<Item>)> {
    let until = writer.deadline.within_ms(OPEN_MS);
    loop {
        // The list of an earlier time is still in the tree; what is selected in it is set anew when it opens.
        if is_open(writer, button, until)
            && let Some(found) = look(writer, until)
        {
            return Some(found);
        }
        if until.passed() {
            return None;
        }
        std::thread::sleep(until.left().min(Duration::from_millis(POLL_MS)));
    }
}

fn look(writer: &Writer<'_>, until: Deadline) -> Option<(Object, Vec<Item>)> {
    let wire: &dyn Wire = &**writer.bus;
    let inside = children(wire, [&writer.target].into_iter(), until).ok()?.pop()?;
    // The popup is the last child; before it opened there was the button alone.
    let popup = inside.into_iter().skip(1).next_back()?;
    let offer = Offer::read(wire, &popup, until).ok()?;
    offer.named(ACTIVATE)?;
    let items = gather(wire, writer.toolkit, &offer, until).ok()?;
    let listed = items.iter().any(|i| i.parent_interfaces.has(Interfaces::SELECTION));
    listed.then_some((popup, items))
}

/// The button stays pressed as long as the list is open.
fn is_open(writer: &Writer<'_>, button: &Object, until: Deadline) -> bool {
    let states = writer.bus.call(Call::new(button, ACCESSIBLE, "GetState"), until).and_then(|r| r.states());
    states.is_ok_and(|s| States(s).has(States::PRESSED))
}

/// Activation takes over whatever is selected: it must be the wanted option.
fn is_selected(writer: &Writer<'_>, item: &Item) -> bool {
    let calls = vec![
        Call::get(&item.parent, SELECTION, "NSelectedChildren"),
        Call::with(&item.parent, SELECTION, "GetSelectedChild", Body::Int(0)),
    ];
    let mut answers = writer.bus.flight(calls, writer.deadline).into_iter();
    let count = answers.next().and_then(Result::ok).and_then(|r| r.int_property().ok());
    let chosen = answers.next().and_then(Result::ok).and_then(|r| r.object().ok());
    count == Some(1) && chosen.as_ref() == Some(&item.object)
}

/// Nothing was chosen, but the list was opened and is closed again.
fn closed_again(writer: &mut Writer<'_>, button: &Object, error: Error) -> WriteOutcome {
    let closed = writer.act(button.clone(), OPEN, 0, true) == WriteOutcome::Accepted;
    let delivery = Delivery::DeliveredUnverified;
    WriteOutcome::Refused(
        error.with_delivery(delivery).detail("popup", if closed { "opened_and_closed" } else { "left_open" }),
    )
}

fn half_done(why: &str) -> WriteOutcome {
    WriteOutcome::Uncertain(format!("the drop-down was opened: {why}"))
}
