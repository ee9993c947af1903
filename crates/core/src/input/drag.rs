//! Drag and drop (spec 2 §27): from an element or a point to another, also into another application.

use super::aim::{aim, window_of};
use super::place::{expected, on_a_display};
use super::pointer::{duration, observed};
use super::report::Operation;
use super::stage::{Stage, front};
use super::strokes;
use crate::act::observe::{self, Observer};
use crate::act::{Terms, entry_of, reveal};
use crate::command::Context;
use crate::command::pointer::{DRAG_MS, DROP_DELAY_MS, Drag};
use crate::command::values::{RefArg, XyArg};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Error, Result};
use crate::geometry::Point;
use crate::observe::saved;
use crate::overlay;
use crate::platform::{Guard, Platform, WindowKey};
use crate::refs::entry::RefMap;
use crate::refs::id::RefId;
use crate::refs::resolve::admissible;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// One end of a drag.
enum End {
    /// A ref, with its snapshot and its window.
    Element { id: RefId, map: Box<RefMap>, key: WindowKey },
    /// A point, with the window that must be there.
    Point { at: Point, under: Option<WindowKey> },
}

/// `drag`.
pub fn drag(context: &Context, args: &Drag) -> Answer {
    let Some(reference) = args.scoped().filter(|_| args.observe) else { return drag_with(context, args, None) };
    let id = reference.parse()?;
    let map = saved::load(context, &id.snapshot)?;
    let observer = Observer::new(context, &map, entry_of(&map, id.number)?);
    observe::add(drag_with(context, args, Some(&observer)), || observer.changes())
}

fn drag_with(context: &Context, args: &Drag, observer: Option<&Observer<'_>>) -> Answer {
    let platform = context.platform()?;
    let timeout_ms = args.timeout();
    let deadline = Deadline::after_ms(timeout_ms);
    let window = args.expect_window.as_deref();
    let from = end(context, platform, args.from.as_ref(), args.from_xy.as_ref(), window, deadline)?;
    let to = end(context, platform, args.to.as_ref(), args.to_xy.as_ref(), window, deadline)?;
    let deadline = deadline.later(to_grip(context, platform, &from, timeout_ms)?);
    if let Some(observer) = observer {
        observer.look();
    }
    let stage = Stage::take(context, platform, deadline)?;
    // The window of the drop comes to the front first, so that the grip's window ends up in front of it: where the two
    // overlap at the drop's point, the look at that point says so.
    for end in [&to, &from] {
        if let End::Element { key, .. } = end {
            front(platform, key, deadline)?;
        }
    }
    let mut details = Map::new();
    let (drop, drop_guard) = place(context, &to, timeout_ms, deadline, "to", &mut details)?;
    let (grip, grip_guard) = place(context, &from, timeout_ms, deadline, "from", &mut details)?;
    let (travel, delay) = (args.duration.unwrap_or(DRAG_MS), args.drop_delay.unwrap_or(DROP_DELAY_MS));
    let strokes = strokes::drag(grip, drop, travel, delay, drop_guard.under.is_some().then_some(drop_guard));
    let played = platform.play(&strokes, &grip_guard, Deadline::after_ms(duration(&strokes) + 2_000))?;
    let target = json!({"kind": "pointer", "x": drop.x, "y": drop.y});
    let requested = json!({
        "from": shown(args.from.as_ref(), grip),
        "to": shown(args.to.as_ref(), drop),
        "duration_ms": travel,
        "drop_delay_ms": delay,
    });
    let mut operation =
        Operation::new("drag", target, requested).observed(observed(platform)).detail("auto_wait", stage.auto_wait());
    for (name, value) in details {
        operation = operation.detail(&name, value);
    }
    operation.finish("drag", &played, false)
}

/// Takes the agent's cursor to where the drag begins.
fn to_grip(context: &Context, platform: &dyn Platform, from: &End, timeout_ms: u64) -> Result<Duration> {
    Ok(match from {
        End::Point { at, .. } => overlay::to_point(context, platform, *at, false),
        End::Element { id, map, .. } => {
            overlay::to_element(&Terms::new(context, map, timeout_ms)?, map, entry_of(map, id.number)?, None)
        }
    })
}

fn shown(reference: Option<&RefArg>, at: Point) -> Value {
    match reference {
        Some(reference) => json!({"ref": reference.0, "x": at.x, "y": at.y}),
        None => json!({"x": at.x, "y": at.y}),
    }
}

fn end(
    context: &Context,
    platform: &dyn Platform,
    reference: Option<&RefArg>,
    xy: Option<&XyArg>,
    window: Option<&str>,
    deadline: Deadline,
) -> Result<End> {
    if let Some(reference) = reference {
        let id = reference.parse()?;
        let map = saved::load(context, &id.snapshot)?;
        let entry = entry_of(&map, id.number)?;
        admissible(entry)?;
        // Refused before anything moves where it can't be proven.
        saved::live(platform, &map, id.number, deadline)?;
        let (_, key) = window_of(platform, &map, entry, deadline)?;
        return Ok(End::Element { id, map: Box::new(map), key });
    }
    let at = xy.ok_or_else(|| Error::invalid("a drag needs two ends"))?.parse()?;
    on_a_display(platform, at, deadline)?;
    Ok(End::Point { at, under: expected(platform, window, deadline)? })
}

/// The point of an end, and what must be there.
fn place(
    context: &Context,
    end: &End,
    timeout_ms: u64,
    deadline: Deadline,
    name: &str,
    details: &mut Map<String, Value>,
) -> Result<(Point, Guard)> {
    match end {
        End::Point { at, under } => Ok((*at, Guard { front: None, under: under.clone() })),
        End::Element { id, map, key } => {
            let terms = Terms::new(context, map, timeout_ms)?;
            let entry = entry_of(map, id.number)?;
            let mut scrolled = false;
            let found = aim(&terms, map, entry, key, deadline, |resolved| {
                scrolled = reveal::into_view(&terms, resolved);
                Ok(scrolled)
            })?;
            details.insert(format!("{name}_hit_test"), found.evidence);
            if scrolled {
                details.insert("preparatory_scroll".into(), json!(true));
            }
            Ok((found.point, Guard { front: None, under: Some(key.clone()) }))
        }
    }
}
