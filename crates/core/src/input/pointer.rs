//! The pointer at an element or a point (spec 2 §26, §28–30).

use super::aim::{Aim, aim, window_of};
use super::place::{expected, on_a_display};
use super::report::Operation;
use super::stage::{LEASE_WAIT_MS, Stage, front};
use super::strokes;
use crate::act::observe::{self, Observer};
use crate::act::{Terms, entry_of, reveal};
use crate::command::Context;
use crate::command::pointer::{Hover, MouseClick, MouseMove, MouseWheel, WHEEL_DY};
use crate::command::values::{RefArg, modifiers};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::geometry::Point;
use crate::observe::saved;
use crate::overlay;
use crate::platform::{Guard, Platform, Stroke};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::admissible;
use serde_json::{Value, json};

/// `hover`: the pointer goes over an element or to a point, and stays.
pub fn hover(context: &Context, args: &Hover) -> Answer {
    let timeout_ms = args.timeout();
    match (&args.ref_id, &args.xy) {
        (Some(reference), _) => over(context, reference, timeout_ms, args.observe),
        (None, Some(xy)) => move_to(context, "hover", xy.parse()?, args.expect_window.as_deref()),
        // Validation lets exactly one through.
        (None, None) => Err(crate::error::Error::invalid("hover needs a ref or a point")),
    }
}

/// `mouse-move`.
pub fn mouse_move(context: &Context, args: &MouseMove) -> Answer {
    move_to(context, "mouse-move", args.xy.parse()?, args.expect_window.as_deref())
}

/// `mouse-click`.
pub fn mouse_click(context: &Context, args: &MouseClick) -> Answer {
    let (point, keys) = (args.xy.parse()?, modifiers(&args.modifiers)?);
    let (button, count) = (args.button.unwrap_or_default(), args.count.unwrap_or(1));
    let requested = json!({"x": point.x, "y": point.y, "button": button, "count": count, "modifiers": keys});
    let strokes = strokes::clicks(point, button, count, &keys);
    at_point(context, "mouse-click", point, args.expect_window.as_deref(), requested, &strokes)
}

/// `mouse-wheel`.
pub fn mouse_wheel(context: &Context, args: &MouseWheel) -> Answer {
    let (point, keys) = (Point { x: args.x, y: args.y }, modifiers(&args.modifiers)?);
    // Whole steps of at most a thousand, by validation.
    let (dy, dx) = (args.dy.unwrap_or(WHEEL_DY) as i32, args.dx.unwrap_or(0.0) as i32);
    let requested = json!({"x": point.x, "y": point.y, "dy": dy, "dx": dx, "modifiers": keys});
    let strokes = strokes::wheel(point, dy, dx, &keys);
    at_point(context, "mouse-wheel", point, args.expect_window.as_deref(), requested, &strokes)
}

fn at_point(
    context: &Context,
    action: &str,
    point: Point,
    window: Option<&str>,
    requested: Value,
    strokes: &[Stroke],
) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(LEASE_WAIT_MS);
    on_a_display(platform, point, deadline)?;
    let guard = Guard { front: None, under: expected(platform, window, deadline)? };
    let deadline = deadline.later(overlay::to_point(context, platform, point, action == "mouse-click"));
    let stage = Stage::take(context, platform, deadline)?;
    let played =
        platform.play(strokes, &guard, Deadline::after_ms(context.chain_timeout_ms()?.max(duration(strokes))))?;
    Operation::new(action, pointer_target(point), requested)
        .observed(observed(platform))
        .detail("auto_wait", stage.auto_wait())
        .finish(action, &played, false)
}

fn move_to(context: &Context, action: &str, point: Point, window: Option<&str>) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(LEASE_WAIT_MS);
    on_a_display(platform, point, deadline)?;
    let under = expected(platform, window, deadline)?;
    let deadline = deadline.later(overlay::to_point(context, platform, point, false));
    let stage = Stage::take(context, platform, deadline)?;
    let mut strokes = vec![Stroke::Move(point)];
    // The guard of a motion is where it ends.
    strokes.extend(under.map(|under| Stroke::Expect(Guard { front: None, under: Some(under) })));
    let played = platform.play(&strokes, &Guard::default(), Deadline::after_ms(context.chain_timeout_ms()?))?;
    let there = is_at(platform, point);
    Operation::new(action, pointer_target(point), json!({"x": point.x, "y": point.y}))
        .observed(observed(platform))
        .detail("auto_wait", stage.auto_wait())
        .finish(action, &played, there)
}

fn over(context: &Context, reference: &RefArg, timeout_ms: u64, observe: bool) -> Answer {
    let id = reference.parse()?;
    let map = saved::load(context, &id.snapshot)?;
    let entry = entry_of(&map, id.number)?;
    let observer = observe.then(|| Observer::new(context, &map, entry));
    let answer = over_entry(context, reference, (&map, entry), timeout_ms, observer.as_ref());
    observe::add(answer, || observer.as_ref()?.changes())
}

fn over_entry(
    context: &Context,
    reference: &RefArg,
    (map, entry): (&RefMap, &Entry),
    timeout_ms: u64,
    observer: Option<&Observer<'_>>,
) -> Answer {
    let platform = context.platform()?;
    let id = reference.parse()?;
    admissible(entry)?;
    let terms = Terms::new(context, map, timeout_ms)?;
    let deadline = Deadline::after_ms(timeout_ms);
    // Refused before anything moves where it can't be proven.
    saved::live(platform, map, id.number, deadline)?;
    let (window, key) = window_of(platform, map, entry, deadline)?;
    let deadline = deadline.later(overlay::to_element(&terms, map, entry, None));
    if let Some(observer) = observer {
        observer.look();
    }
    let stage = Stage::take(context, platform, deadline)?;
    front(platform, &key, deadline)?;
    let mut scrolled = false;
    let Aim { point, reached, evidence, .. } = aim(&terms, map, entry, &key, deadline, |resolved| {
        scrolled = reveal::into_view(&terms, resolved);
        Ok(scrolled)
    })?;
    let under = Guard { front: None, under: Some(key) };
    let strokes = [Stroke::Move(point), Stroke::Expect(under)];
    let played = platform.play(&strokes, &Guard::default(), Deadline::after_ms(terms.chain_timeout_ms))?;
    let there = is_at(platform, point);
    let mut operation = Operation::new(
        "hover",
        json!({"kind": "element", "ref": reference.0, "window": window.id, "x": point.x, "y": point.y}),
        json!({"ref": reference.0}),
    )
    .observed(observed(platform))
    .detail("auto_wait", stage.auto_wait())
    .detail("hit_test", evidence);
    if scrolled {
        operation = operation.detail("preparatory_scroll", json!(true));
    }
    operation.finish("hover", &played, there && reached)
}

/// `{kind: "pointer", x, y}`.
pub fn pointer_target(point: Point) -> Value {
    json!({"kind": "pointer", "x": point.x, "y": point.y})
}

/// Where the pointer is now, as `observed` shows it; empty where it can't be read.
pub fn observed(platform: &dyn Platform) -> Value {
    match platform.pointer(Deadline::after_ms(500)).into_known() {
        Some(at) => json!({"x": at.x, "y": at.y}),
        None => json!({}),
    }
}

fn is_at(platform: &dyn Platform, point: Point) -> bool {
    let at = platform.pointer(Deadline::after_ms(500));
    at.known().is_some_and(|at| (at.x - point.x).abs() <= 1.0 && (at.y - point.y).abs() <= 1.0)
}

/// How long a sequence may take: its pauses, and room for its events.
pub fn duration(strokes: &[Stroke]) -> u64 {
    let one = |stroke: &Stroke| match stroke {
        Stroke::Pause(ms) => *ms,
        Stroke::Text(text) => text.chars().count() as u64 * crate::act::TYPE_MS_PER_CHARACTER,
        _ => 5,
    };
    strokes.iter().map(one).sum::<u64>() + 2_000
}
