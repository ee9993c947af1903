//! What is at a point, seen from the element's own window (spec 5 "hit test"). Where the toolkit doesn't say, the
//! answer is unknown; nothing is inferred from bounds.

use super::compose::label_text;
use super::flight::{self, Subject};
use super::interface as i;
use super::native::{Field, Native};
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::Toolkit;
use crate::LinuxPlatform;
use crate::bus::{Body, Call, Object, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::Hit;
use agent_desktop_core::tree::raw::Handle;
use agent_desktop_core::vocab::role::Role;

/// How far chains are followed.
const MAX_DEPTH: usize = 60;

/// What is at each point.
pub fn test(platform: &LinuxPlatform, target: &Handle, points: &[Point], deadline: Deadline) -> Vec<Hit> {
    let unknown = vec![Hit::Unknown; points.len()];
    let Some(target) = Object::from_handle(target) else { return unknown };
    let Ok(toolkit) = platform.toolkit(&target.bus, deadline) else { return unknown };
    let (chain, in_page) = climb(&platform.bus, &target, deadline);
    let Some(window) = chain.last() else { return unknown };
    let Some(((dx, dy), popover)) = shift(platform, toolkit, &chain, deadline) else { return unknown };
    // What is drawn in a window of its own isn't found from the one below.
    let window = popover.as_ref().unwrap_or(window);
    let at = |p: &Point| ((p.x - dx).round() as i32, (p.y - dy).round() as i32);
    let places: Vec<(i32, i32)> = points.iter().map(at).collect();
    let hits = descend(&platform.bus, window, &places, deadline);
    let judged = |hit: Option<Object>| match hit {
        // Browsers name what is at a point of a page to the innermost: a container means that the element isn't there.
        Some(object) if in_page && object != target && chain.contains(&object) => {
            Hit::Other { role: Role::Group, name: None }
        }
        Some(object) => judge(&platform.bus, toolkit, &object, &target, &chain, deadline),
        None => Hit::Unknown,
    };
    hits.into_iter().map(judged).collect()
}

/// The element and its parents up to its window, as they say themselves, and whether a page is among them. It serves only
/// to find the window.
fn climb(wire: &dyn Wire, from: &Object, deadline: Deadline) -> (Vec<Object>, bool) {
    let mut chain = vec![from.clone()];
    let mut in_page = false;
    while let Some(last) = chain.last().filter(|_| chain.len() < MAX_DEPTH) {
        let calls = vec![Call::get(last, i::ACCESSIBLE, "Parent"), Field::Role.call(last)];
        let mut answers = wire.flight(calls, deadline).into_iter();
        let parent = answers.next().and_then(|a| a.ok()?.object_property().ok());
        let role = answers.next().and_then(|a| a.ok()?.uint().ok()).unwrap_or(0);
        in_page |= role == n::DOCUMENT_WEB;
        match parent {
            Some(p)
                if !p.is_null()
                    && p.bus == from.bus
                    && p != Object::root_of(from.bus.clone())
                    && !chain.contains(&p) =>
            {
                chain.push(p);
            }
            // Below the application, or of a kind that may stand there (FINDINGS §4b: Chromium's frames have no parent).
            Some(p) if p == Object::root_of(from.bus.clone()) || role::is_window(role) => return (chain, in_page),
            _ => return (Vec::new(), false),
        }
    }
    (Vec::new(), false)
}

/// What to subtract from screen coordinates to get the toolkit's own; and the popover that they are looked up in, where
/// the element, the first of the chain, is drawn in one.
fn shift(
    platform: &LinuxPlatform,
    toolkit: Toolkit,
    chain: &[Object],
    deadline: Deadline,
) -> Option<((f64, f64), Option<Object>)> {
    if !toolkit.extents_are_of_window() {
        return Some(((0.0, 0.0), None));
    }
    let (window, inner) = chain.split_last()?;
    let ask = Call::driver("GetConnectionUnixProcessID", Body::Text(window.bus.to_string()));
    let pid = platform.bus.call(ask, deadline).ok()?.uint().ok()?;
    let inner: Vec<Object> = inner.iter().rev().cloned().collect();
    let (origin, popover) = platform.origin_of(window, &inner, pid, deadline);
    Some((origin.into_known()?, popover))
}

/// Follows `GetAccessibleAtPoint` from the window down: toolkits answer with the child or with the innermost element.
fn descend(wire: &dyn Wire, window: &Object, places: &[(i32, i32)], deadline: Deadline) -> Vec<Option<Object>> {
    let mut at: Vec<Option<Object>> = vec![None; places.len()];
    let mut open: Vec<usize> = (0..places.len()).collect();
    for _ in 0..MAX_DEPTH {
        if open.is_empty() {
            break;
        }
        let ask = |k: &usize| {
            let (x, y) = places[*k];
            let from = at[*k].as_ref().unwrap_or(window);
            Call::with(from, i::COMPONENT, "GetAccessibleAtPoint", Body::Point(x, y, 0))
        };
        let answers = wire.flight(open.iter().map(ask).collect(), deadline);
        let mut next = Vec::new();
        for (k, answer) in open.into_iter().zip(answers) {
            match answer.and_then(|r| r.object()) {
                Ok(o) if !o.is_null() && Some(&o) != at[k].as_ref() && o != *window => {
                    at[k] = Some(o);
                    next.push(k);
                }
                _ => {}
            }
        }
        open = next;
    }
    at
}

fn judge(
    wire: &dyn Wire,
    toolkit: Toolkit,
    hit: &Object,
    target: &Object,
    chain: &[Object],
    deadline: Deadline,
) -> Hit {
    if hit == target {
        return Hit::Target;
    }
    if let Some((table, index)) = target.place() {
        let ask = vec![Call::new(hit, i::ACCESSIBLE, "GetIndexInParent"), Call::get(hit, i::ACCESSIBLE, "Parent")];
        let answers = wire.flight(ask, deadline);
        let at = answers.first().and_then(|a| a.as_ref().ok()?.int().ok());
        let of = answers.get(1).and_then(|a| a.as_ref().ok()?.object_property().ok());
        if at.and_then(|k| u32::try_from(k).ok()) == Some(index) && of == Some(table) {
            return Hit::Target;
        }
    }
    // A container of the target: the toolkit did not look further.
    if chain.contains(hit) {
        return Hit::Unknown;
    }
    let (above, _) = climb(wire, hit, deadline);
    if above.contains(target) {
        return Hit::Target;
    }
    if above.is_empty() {
        return Hit::Unknown;
    }
    let mut subjects = [Subject { object: hit.clone(), native: Native::default() }];
    let jobs = [Field::Role, Field::States, Field::Name].map(|f| (0, f)).to_vec();
    flight::read(wire, toolkit, &mut subjects, jobs, deadline);
    let native = &subjects[0].native;
    let Some(number) = native.role_number() else { return Hit::Unknown };
    // An element that says it isn't on screen can't be what a click would reach.
    let states = native.states_or_none();
    if toolkit.showing_is_reported() && !states.has(States::SHOWING) {
        return Hit::Unknown;
    }
    // Containers overlap everything in some toolkits (seen in Chromium's title bar and LibreOffice's tool bars) and take
    // no clicks: only what does is in the way.
    let role = role::map(number, states, None);
    let stays = takes_clicks(role) || (toolkit.web() && is_content(number));
    if !stays {
        return Hit::Unknown;
    }
    Hit::Other { role, name: label_text(native, toolkit).into_known().filter(|n| !n.trim().is_empty()) }
}

/// Whether it is content of a page: that lies above what it covers, whether or not it does anything.
fn is_content(number: u32) -> bool {
    matches!(
        number,
        n::SECTION
            | n::PARAGRAPH
            | n::HEADING
            | n::STATIC
            | n::LABEL
            | n::TEXT
            | n::IMAGE
            | n::ARTICLE
            | n::LIST
            | n::LIST_ITEM
    )
}

/// Whether a click on an element of this role stays there.
fn takes_clicks(role: Role) -> bool {
    use Role::*;
    role.interactive() || matches!(role, Menu | Dialog | AlertDialog | Alert | Sheet | Popover | Tooltip | Window)
}
