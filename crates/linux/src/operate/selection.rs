//! The display texts of what is selected, for verification (spec 1 §7; FINDINGS §5 "combo / select").

use super::offer::{Offer, at};
use super::options::{children, gather, is_option, labels_inside};
use crate::atspi::interface::{ACCESSIBLE, COMPONENT, Interfaces, SELECTION};
use crate::atspi::role::{self, native as n};
use crate::atspi::state::Native as States;
use crate::atspi::toolkit::Toolkit;
use crate::bus::{Body, Call, Object, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::{Cause, Evidence};

/// Selected children that are read.
const MAX_SELECTED: i64 = 256;
/// Levels below a combo box's button.
const BUTTON_DEPTH: usize = 8;

/// What is selected in the element; of an option, itself where it is selected.
pub fn selection(wire: &dyn Wire, object: &Object, deadline: Deadline) -> Evidence<Vec<String>> {
    let offer = match Offer::read(wire, object, deadline) {
        Ok(offer) => offer,
        Err(e) => return Evidence::Unknown(Cause::Fault(e.message().to_owned())),
    };
    match read(wire, &offer, deadline) {
        Ok(Some(texts)) => Evidence::Known(texts),
        Ok(None) => Evidence::Absent,
        Err(cause) => Evidence::Unknown(cause),
    }
}

fn read(wire: &dyn Wire, offer: &Offer, deadline: Deadline) -> Result<Option<Vec<String>>, Cause> {
    let toolkit = offer.toolkit;
    let qt = matches!(toolkit, Toolkit::Qt5 | Toolkit::Qt6);
    match offer.role {
        // The name is what is chosen: combo boxes of LibreOffice and Qt, tab lists of Qt.
        n::COMBO_BOX if toolkit.combo_name_may_be_an_id() && offer.interfaces.has(Interfaces::SELECTION) => {
            match crate::atspi::selection::of_combo(wire, toolkit, &offer.object, deadline) {
                Evidence::Known(text) => return Ok(Some(vec![text])),
                Evidence::Unknown(cause) => return Err(cause),
                Evidence::Absent => return own_name(wire, &offer.object, deadline).map(Some),
            }
        }
        n::COMBO_BOX if toolkit.combo_name_is_value() => return own_name(wire, &offer.object, deadline).map(Some),
        n::PAGE_TAB_LIST if qt => return own_name(wire, &offer.object, deadline).map(Some),
        n::COMBO_BOX if toolkit == Toolkit::Gtk4 && !offer.interfaces.has(Interfaces::SELECTION) => {
            return shown_in_button(wire, &offer.object, deadline).map(Some);
        }
        _ => {}
    }
    if is_option(offer.role, offer.states) {
        // Qt reports no SELECTED on tabs (FINDINGS §5 "tab").
        if qt && offer.role == n::PAGE_TAB {
            return Err(Cause::NotRead);
        }
        let text = super::options::own(wire, offer, deadline).map_err(fault)?.map(|i| i.text);
        let text = text.ok_or(Cause::NotRead)?;
        return Ok(Some(if offer.states.has(States::SELECTED) { vec![text] } else { Vec::new() }));
    }
    if offer.interfaces.has(Interfaces::SELECTION) && offer.role != n::COMBO_BOX {
        return by_interface(wire, toolkit, &offer.object, deadline).map(Some);
    }
    if offer.role == n::COMBO_BOX {
        // On pages: of the list or menu inside.
        let inside = children(wire, [&offer.object].into_iter(), deadline).map_err(fault)?.pop().unwrap_or_default();
        for object in inside {
            let names = wire.call(Call::new(&object, ACCESSIBLE, "GetInterfaces"), deadline).and_then(|r| r.texts());
            if names.is_ok_and(|n| Interfaces::parse(&n).has(Interfaces::SELECTION)) {
                return by_interface(wire, toolkit, &object, deadline).map(Some);
            }
        }
        if offer.interfaces.has(Interfaces::SELECTION) {
            return by_interface(wire, toolkit, &offer.object, deadline).map(Some);
        }
        return Ok(None);
    }
    // Qt's views have no Selection: the items say it themselves.
    if matches!(offer.role, n::LIST | n::LIST_BOX | n::TABLE | n::TREE | n::TREE_TABLE) {
        let items = gather(wire, toolkit, offer, deadline).map_err(fault)?;
        return Ok(Some(items.into_iter().filter(|i| i.states.has(States::SELECTED)).map(|i| i.text).collect()));
    }
    Ok(None)
}

fn fault(e: agent_desktop_core::error::Error) -> Cause {
    Cause::Fault(e.message().to_owned())
}

fn own_name(wire: &dyn Wire, object: &Object, deadline: Deadline) -> Result<Vec<String>, Cause> {
    let name = wire.call(Call::get(object, ACCESSIBLE, "Name"), deadline).and_then(|r| r.text_property());
    name.map(|n| vec![n]).map_err(|e| Cause::Fault(crate::bus::join::describe(&e)))
}

/// `NSelectedChildren` and `GetSelectedChild`, as texts.
fn by_interface(wire: &dyn Wire, toolkit: Toolkit, on: &Object, deadline: Deadline) -> Result<Vec<String>, Cause> {
    let wrong = |e: crate::bus::CallError| Cause::Fault(crate::bus::join::describe(&e));
    let count = wire.call(Call::get(on, SELECTION, "NSelectedChildren"), deadline).and_then(|r| r.int_property());
    let count = count.map_err(wrong)?.clamp(0, MAX_SELECTED);
    let count = i32::try_from(count).unwrap_or(0);
    let calls = (0..count).map(|i| Call::with(on, SELECTION, "GetSelectedChild", Body::Int(i))).collect();
    let mut texts = Vec::new();
    for answer in wire.flight(calls, deadline) {
        let child = answer.and_then(|r| r.object()).map_err(wrong)?;
        if child.is_null() {
            continue;
        }
        texts.push(text_of(wire, toolkit, &child, deadline)?);
    }
    Ok(texts)
}

/// The text of one selected child: its name, or the labels inside.
fn text_of(wire: &dyn Wire, toolkit: Toolkit, child: &Object, deadline: Deadline) -> Result<String, Cause> {
    let calls = vec![Call::new(child, ACCESSIBLE, "GetRole"), Call::get(child, ACCESSIBLE, "Name")];
    let answers = wire.flight(calls, deadline);
    let role = at(&answers, 0).and_then(|r| r.uint()).unwrap_or(n::UNKNOWN);
    let name = at(&answers, 1).and_then(|r| r.text_property()).unwrap_or_default();
    if !name.trim().is_empty() && !toolkit.name_is_generic(role) && !toolkit.blank_name(role, &name) {
        return Ok(name);
    }
    let inside = labels_inside(wire, toolkit, vec![child.clone()], deadline).map_err(fault)?.pop().unwrap_or_default();
    Ok(inside.iter().map(|(_, text)| text.trim()).collect::<Vec<_>>().join(" "))
}

/// What a drop-down's button shows: the labels inside that have a size. The text for "nothing chosen" is beside it,
/// hidden (docs/linux-actions.md "select").
fn shown_in_button(wire: &dyn Wire, combo: &Object, deadline: Deadline) -> Result<Vec<String>, Cause> {
    let inside = children(wire, [combo].into_iter(), deadline).map_err(fault)?.pop().unwrap_or_default();
    let Some(button) = inside.into_iter().next() else { return Ok(Vec::new()) };
    shown_labels(wire, Toolkit::Gtk4, &button, deadline)
}

fn shown_labels(wire: &dyn Wire, toolkit: Toolkit, top: &Object, deadline: Deadline) -> Result<Vec<String>, Cause> {
    let mut level = vec![top.clone()];
    let mut texts = Vec::new();
    for _ in 0..BUTTON_DEPTH {
        let lists = children(wire, level.iter(), deadline).map_err(fault)?;
        let flat: Vec<Object> = lists.into_iter().flatten().filter(|o| !o.is_null()).collect();
        if flat.is_empty() {
            break;
        }
        let calls = flat
            .iter()
            .flat_map(|o| {
                [
                    Call::new(o, ACCESSIBLE, "GetRole"),
                    Call::get(o, ACCESSIBLE, "Name"),
                    Call::with(o, COMPONENT, "GetExtents", Body::UInt(0)),
                ]
            })
            .collect();
        let answers = wire.flight(calls, deadline);
        level = Vec::new();
        for (object, answers) in flat.into_iter().zip(answers.chunks(3)) {
            let role = at(answers, 0).and_then(|r| r.uint()).unwrap_or(n::UNKNOWN);
            let name = at(answers, 1).and_then(|r| r.text_property()).unwrap_or_default();
            let (_, _, width, height) = at(answers, 2).and_then(|r| r.extents()).unwrap_or_default();
            if width <= 0 || height <= 0 {
                continue;
            }
            if !role::is_label(role) {
                level.push(object);
            } else if !name.trim().is_empty() && !toolkit.blank_name(role, &name) {
                texts.push(name);
            }
        }
    }
    Ok(texts)
}
