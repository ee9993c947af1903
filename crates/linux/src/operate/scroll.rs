//! Scrolling without a pointer: scroll bars' values, and the scroll actions of web areas.

use super::check::{Found, Range};
use super::dispatch::Writer;
use super::ladder::bar_actions;
use super::offer::{Offer, at};
use super::options::children;
use super::plan::Plan;
use crate::atspi::interface::{ACCESSIBLE, COMPONENT, Interfaces, VALUE};
use crate::atspi::role::native as n;
use crate::atspi::state::Native as States;
use crate::bus::{Body, Call, Object, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Delivery, Error};
use agent_desktop_core::platform::{Direction, WriteOutcome};
use std::time::Duration;

/// Ancestors that are looked at for a scrolled window.
const MAX_UP: usize = 24;
/// Children of an ancestor beyond which it is no scrolled window: it has a viewport and two bars.
const MAX_BESIDE: usize = 12;
/// A step where the toolkit names none: GTK 4's increment reads 0 (docs/linux-actions.md "scroll").
const STEP: f64 = 40.0;
/// Repetitions of a scroll action.
const MAX_TIMES: u32 = 50;
/// How long a bar's value may take to read changed, in milliseconds.
const SETTLE_MS: u64 = 250;

/// A scrolled window with its bars' values.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pane {
    object: Option<Object>,
    vertical: Option<Object>,
    horizontal: Option<Object>,
}

/// Ways of scrolling the nearest scrolled window around an element, itself included.
pub fn ways(
    wire: &dyn Wire,
    offer: &Offer,
    direction: Direction,
    amount: u32,
    deadline: Deadline,
) -> Result<Vec<Plan>, Error> {
    let action = match direction {
        Direction::Up => "scrollUp",
        Direction::Down => "scrollDown",
        Direction::Left => "scrollLeft",
        Direction::Right => "scrollRight",
    };
    let web = offer.toolkit.web();
    let mut own = offer.clone();
    for _ in 0..MAX_UP {
        if let Some(index) = own.named(action) {
            let times = amount.clamp(1, MAX_TIMES);
            return Ok(vec![Plan::Page { on: own.object.handle(), name: action.to_owned(), index, times }]);
        }
        let pane = if web { Pane::default() } else { pane(wire, &own.object, deadline)? };
        let sideways = matches!(direction, Direction::Left | Direction::Right);
        if let Some(bar) = if sideways { pane.horizontal } else { pane.vertical } {
            let back = matches!(direction, Direction::Up | Direction::Left);
            if let Some(names) = bar_actions(offer.toolkit) {
                let name = names[usize::from(!back)];
                let index = Offer::read(wire, &bar, deadline)?.named(name);
                let times = amount.clamp(1, MAX_TIMES);
                let page = |index| Plan::Page { on: bar.handle(), name: name.to_owned(), index, times };
                return Ok(index.map(page).into_iter().collect());
            }
            let steps = i64::from(amount.max(1)) * if back { -1 } else { 1 };
            return Ok(vec![Plan::Bar { bar: bar.handle(), steps }]);
        }
        let Some(up) = parent(wire, &own.object, deadline) else { break };
        own = if web { Offer::read(wire, &up, deadline)? } else { Offer { object: up, actions: Vec::new(), ..own } };
    }
    Ok(Vec::new())
}

/// Ways of bringing an element into view where its toolkit has no `ScrollTo`.
pub fn ways_to(wire: &dyn Wire, offer: &Offer, deadline: Deadline) -> Result<Vec<Plan>, Error> {
    let mut ways = Vec::new();
    let mut object = offer.object.clone();
    let by_value = bar_actions(offer.toolkit).is_none();
    for _ in 0..if by_value { MAX_UP } else { 0 } {
        let Some(up) = parent(wire, &object, deadline) else { break };
        let pane = pane(wire, &up, deadline)?;
        if let Some(window) = &pane.object {
            let extents = |o: &Object| Call::with(o, COMPONENT, "GetExtents", Body::UInt(0));
            let answers = wire.flight(vec![extents(&offer.object), extents(window)], deadline);
            let both = [0, 1].map(|i| at(&answers, i).and_then(|r| r.extents()).ok());
            let [Some(target), Some(around)] = both else { break };
            if !real(target) || !real(around) {
                break;
            }
            let span = |horizontal: bool| distance(target, around, horizontal) != 0.0;
            for (sideways, bar) in [(false, &pane.vertical), (true, &pane.horizontal)] {
                if let (true, Some(bar)) = (span(sideways), bar) {
                    ways.push(Plan::BarTo { bar: bar.handle(), pane: window.handle(), sideways });
                }
            }
            if ways.is_empty() && !span(false) && !span(true) {
                ways.push(Plan::Already);
            }
            break;
        }
        object = up;
    }
    if ways.is_empty() && offer.toolkit.grabs_focus() && offer.states.has(States::FOCUSABLE) {
        // GTK 3 has no extents for what is scrolled out, but its scrolled windows follow the focus.
        ways.push(Plan::FocusIntoView);
    }
    Ok(ways)
}

fn parent(wire: &dyn Wire, object: &Object, deadline: Deadline) -> Option<Object> {
    let up = wire.call(Call::get(object, ACCESSIBLE, "Parent"), deadline).and_then(|r| r.object_property()).ok()?;
    (!up.is_null() && up != *object).then_some(up)
}

/// The bars of a scrolled window: its children (GTK 3), children of these (GTK 4: the value is inside the bar; Qt: the
/// bar is inside a container).
fn pane(wire: &dyn Wire, object: &Object, deadline: Deadline) -> Result<Pane, Error> {
    let Ok(mut lists) = children(wire, [object].into_iter(), deadline) else { return Ok(Pane::default()) };
    let beside = lists.pop().unwrap_or_default();
    if beside.len() < 2 || beside.len() > MAX_BESIDE {
        return Ok(Pane::default());
    }
    let near = look(wire, &beside, deadline);
    let mut bars: Vec<Object> = near.iter().filter(|k| k.bar && k.value).map(|k| k.object.clone()).collect();
    let deeper: Vec<&Object> = near.iter().filter(|k| !k.value && (k.bar || k.plain)).map(|k| &k.object).collect();
    if bars.is_empty() && !deeper.is_empty() {
        let lists = children(wire, deeper.iter().copied(), deadline).unwrap_or_default();
        // A bar is alone in its container; the viewport's contents are not bars of this window.
        let single: Vec<Object> = lists.into_iter().filter(|l| l.len() == 1).flatten().collect();
        let gtk4 = near.iter().any(|k| k.bar);
        bars = look(wire, &single, deadline)
            .into_iter()
            .filter(|k| k.value && (k.bar || gtk4))
            .map(|k| k.object)
            .collect();
    }
    let mut found = Pane::default();
    for bar in bars {
        let calls =
            vec![Call::new(&bar, ACCESSIBLE, "GetState"), Call::with(&bar, COMPONENT, "GetExtents", Body::UInt(0))];
        let answers = wire.flight(calls, deadline);
        let states = States(at(&answers, 0).and_then(|r| r.states()).unwrap_or(0));
        let (_, _, width, height) = at(&answers, 1).and_then(|r| r.extents()).unwrap_or_default();
        // Qt reports no orientation; the shape tells it, where there is one.
        let horizontal = match (states.has(States::HORIZONTAL), states.has(States::VERTICAL)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ if width != height && width > 0 && height > 0 => Some(width > height),
            _ => None,
        };
        found.object = Some(object.clone());
        match horizontal {
            Some(true) => found.horizontal = Some(bar),
            Some(false) => found.vertical = Some(bar),
            None => {}
        }
    }
    if found.vertical.is_none() && found.horizontal.is_none() {
        found.object = None;
    }
    Ok(found)
}

struct Kind {
    object: Object,
    bar: bool,
    plain: bool,
    value: bool,
}

fn look(wire: &dyn Wire, objects: &[Object], deadline: Deadline) -> Vec<Kind> {
    let calls = objects
        .iter()
        .flat_map(|o| [Call::new(o, ACCESSIBLE, "GetRole"), Call::new(o, ACCESSIBLE, "GetInterfaces")])
        .collect();
    let answers = wire.flight(calls, deadline);
    let kind = |(object, answers): (&Object, &[_])| {
        let role = at(answers, 0).and_then(|r| r.uint()).unwrap_or(n::UNKNOWN);
        let names = at(answers, 1).and_then(|r| r.texts()).unwrap_or_default();
        Kind {
            object: object.clone(),
            bar: role == n::SCROLL_BAR,
            plain: matches!(role, n::FILLER | n::PANEL),
            value: Interfaces::parse(&names).has(Interfaces::VALUE),
        }
    };
    objects.iter().zip(answers.chunks(2)).map(kind).collect()
}

/// Moves a bar by steps. The reply carries nothing, so the value is read again: one that didn't move is inert.
pub(super) fn by_steps(writer: &mut Writer<'_>, bar: &Object, steps: i64, found: &Found) -> WriteOutcome {
    let Some(range) = found.range else {
        return WriteOutcome::Refused(unread());
    };
    let step = if range.step > 0.0 { range.step } else { STEP };
    move_to(writer, bar, range, range.now + step * steps as f64)
}

/// Moves a bar so that the target's place comes into view.
pub(super) fn into_view(writer: &mut Writer<'_>, bar: &Object, sideways: bool, found: &Found) -> WriteOutcome {
    let (Some(range), Some([target, pane])) = (found.range, found.extents) else {
        return WriteOutcome::Refused(unread());
    };
    move_to(writer, bar, range, range.now + distance(target, pane, sideways))
}

fn move_to(writer: &mut Writer<'_>, bar: &Object, range: Range, wanted: f64) -> WriteOutcome {
    let wanted = wanted.clamp(range.min, range.max.max(range.min));
    if (wanted - range.now).abs() < 0.5 {
        let error = Error::before(Code::ActionFailed, "it is scrolled to its end in this direction: nothing was sent")
            .kind("scroll_at_end")
            .detail("position", range.now)
            .detail("min", range.min)
            .detail("max", range.max)
            .suggest("There is nothing more in this direction.");
        return WriteOutcome::Refused(error);
    }
    let outcome = writer.set_number(bar, wanted);
    if outcome != WriteOutcome::Accepted {
        return outcome;
    }
    let until = writer.deadline.within_ms(SETTLE_MS);
    loop {
        let now = writer.bus.call(Call::get(bar, VALUE, "CurrentValue"), until).and_then(|r| r.real_property());
        match now {
            Ok(now) if (now - range.now).abs() >= 0.5 => return WriteOutcome::Accepted,
            Ok(_) if until.passed() => return WriteOutcome::Refused(inert()),
            Ok(_) => std::thread::sleep(until.left().min(Duration::from_millis(20))),
            // It was accepted; what it did can't be read.
            Err(_) => return WriteOutcome::Accepted,
        }
    }
}

/// Sends a scroll action so many times, and no more after one that may not have landed.
pub(super) fn by_pages(
    writer: &mut Writer<'_>,
    on: &Object,
    name: &str,
    index: i32,
    moved: bool,
    times: u32,
) -> WriteOutcome {
    let mut outcome = WriteOutcome::Absent("nothing was to be scrolled".to_owned());
    for sent in 0..times {
        let next = writer.act(on.clone(), name, index, moved);
        outcome = match next {
            WriteOutcome::Accepted => next,
            WriteOutcome::Absent(why) if sent > 0 => {
                return WriteOutcome::Uncertain(format!("stopped after {sent}: {why}"));
            }
            WriteOutcome::Refused(e) if sent > 0 => {
                return WriteOutcome::Uncertain(format!("stopped after {sent}: {}", e.message()));
            }
            other => return other,
        };
    }
    outcome
}

/// How far the content must move so that the target lies inside: 0 where it does, or where it is larger than the
/// window and covers it.
fn distance(target: (i32, i32, i32, i32), pane: (i32, i32, i32, i32), sideways: bool) -> f64 {
    let (from, size, start, room) =
        if sideways { (target.0, target.2, pane.0, pane.2) } else { (target.1, target.3, pane.1, pane.3) };
    let (from, size, start, room) = (f64::from(from), f64::from(size), f64::from(start), f64::from(room));
    let (before, after) = (from - start, from + size - (start + room));
    match (before < 0.0, after > 0.0) {
        (true, false) => before,
        // As far as needed, but not so far that its beginning is lost.
        (false, true) => after.min(before),
        _ => 0.0,
    }
}

/// Sentinels for "not on screen" are no place (FINDINGS §2 "Not on screen").
fn real((x, y, width, height): (i32, i32, i32, i32)) -> bool {
    width > 0 && height > 0 && x > -1_000_000 && y > -1_000_000
}

fn unread() -> Error {
    Error::before(Code::ActionFailed, "where the scroll bar stands could not be read: nothing was sent")
        .kind("live_read_incomplete")
}

fn inert() -> Error {
    Error::new(Code::ActionFailed, Delivery::DeliveredUnverified, "the scroll bar took the new value and did not move")
        .kind("scroll_advertised_but_inert")
        .suggest("Use scroll-to on the element that you need, or --headed scrolling where it is available.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_moves_as_far_as_needed() {
        let pane = (0, 100, 200, 100);
        let d = |y, h| distance((0, y, 50, h), pane, false);
        assert_eq!(d(120, 20), 0.0);
        assert_eq!(d(300, 20), 120.0);
        assert_eq!(d(50, 20), -50.0);
        // Larger than the window: its beginning shows.
        assert_eq!(d(250, 300), 150.0);
        assert_eq!(d(90, 300), 0.0);
        assert_eq!(distance((500, 0, 50, 10), (0, 0, 200, 100), true), 350.0);
    }

    #[test]
    fn sentinels_are_no_place() {
        assert!(!real((i32::MIN, i32::MIN, 189, 34)));
        assert!(!real((-1, -1, -1, -1)));
        assert!(!real((0, 0, 0, 0)));
        assert!(real((588, 1582, 155, 24)));
    }
}
