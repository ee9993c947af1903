//! Where physical input goes for a ref: the element's window, and a point of the element that it would receive
//! events at (spec 1 §7 "Actionability battery": stable, receives_events).

use crate::act::Terms;
use crate::act::ready::{ATTEMPT_MS, POLL_MS, torn, worth_another_look};
use crate::deadline::Deadline;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::geometry::{Point, Rect};
use crate::platform::{Hit, Platform, Window, WindowKey};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::{Purpose, Question, Resolved};
use crate::vocab::state::State;
use crate::vocab::surface::Surface;
use crate::windows::key_of;
use serde_json::{Value, json};
use std::time::Duration;

/// Samples of the bounds, their distance and tolerance (spec 1 §7 "stable").
const SAMPLES: u32 = 3;
const SAMPLE_MS: u64 = 17;
const TOLERANCE: f64 = 0.5;
/// The points that are tried, as parts of width and height, the best first.
const POINTS: [(f64, f64); 5] = [(0.5, 0.5), (0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)];

/// A point of the element, looked at a moment ago.
pub struct Aim {
    /// The element as it was proven with its bounds.
    pub resolved: Resolved,
    /// The point.
    pub point: Point,
    /// Whether the application says that the element itself is there; else nothing is known to be above it.
    pub reached: bool,
    /// What was found out about the point, for `details`.
    pub evidence: Value,
}

/// Why there is no point yet.
enum NotYet {
    /// It is out of view: scrolling may help.
    Offscreen,
    /// Waiting may help.
    Wait(Box<Error>),
}

/// The window of a ref, live: it must still be open, and the window system must know it.
pub fn window_of(
    platform: &dyn Platform,
    map: &RefMap,
    entry: &Entry,
    deadline: Deadline,
) -> Result<(Window, WindowKey)> {
    let app = map.application(entry.link).ok_or_else(torn)?;
    let mut windows = platform.windows(std::slice::from_ref(&app), deadline)?;
    let at = windows.iter().position(|w| w.id == map.source.window_id);
    // A menu or popover was observed by itself: it belongs to the window that has the keyboard, or to the only one.
    let of_layer = || {
        let focused = windows.iter().position(|w| w.focused.says_yes());
        focused.or((windows.len() == 1).then_some(0)).filter(|_| map.source.surface != Surface::Window)
    };
    let window = at.or_else(of_layer).map(|at| windows.swap_remove(at)).ok_or_else(|| {
        Error::before(Code::WindowNotFound, "the window of this ref is not open any more")
            .kind("stale_window_id")
            .suggest("Take a new snapshot.")
    })?;
    let key = key_of(&window)?.clone();
    Ok((window, key))
}

/// Finds a point that reaches the element, looking again until the deadline. `scroll` is tried once where the element
/// is out of view; it answers whether something was sent.
pub fn aim(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    window: &WindowKey,
    deadline: Deadline,
    mut scroll: impl FnMut(&Resolved) -> Result<bool>,
) -> Result<Aim> {
    let mut scrolled = false;
    loop {
        let failure = match look(terms.platform, map, entry, window) {
            Ok(Ok(aim)) => return Ok(aim),
            Ok(Err((NotYet::Offscreen, resolved))) if !scrolled => {
                scrolled = true;
                if scroll(&resolved)? {
                    continue;
                }
                not_aimed("visible", "the element is out of view", terms.timeout_ms)
            }
            Ok(Err((NotYet::Offscreen, _))) => not_aimed("visible", "the element is out of view", terms.timeout_ms),
            Ok(Err((NotYet::Wait(error), _))) => *error,
            Err(error) if worth_another_look(&error) => error,
            Err(error) => return Err(error),
        };
        if deadline.passed() {
            return Err(failure);
        }
        std::thread::sleep(Duration::from_millis(POLL_MS).min(deadline.left()));
    }
}

fn look(
    platform: &dyn Platform,
    map: &RefMap,
    entry: &Entry,
    window: &WindowKey,
) -> Result<std::result::Result<Aim, (NotYet, Resolved)>> {
    let question = Question::new(map, entry).ok_or_else(torn)?;
    let mut last: Option<Rect> = None;
    let mut resolved = None;
    for sample in 0..SAMPLES {
        if sample > 0 {
            std::thread::sleep(Duration::from_millis(SAMPLE_MS));
        }
        let probe = question.ask(map, entry, true, platform, Deadline::after_ms(ATTEMPT_MS));
        let proven = question.judge(map, entry, probe, Purpose::Write)?;
        let bounds = match &proven.live.facts.bounds {
            Evidence::Known(bounds) if bounds.has_area() => *bounds,
            Evidence::Known(_) => return Ok(Err((NotYet::Offscreen, proven))),
            _ => {
                let error = Error::before(Code::ActionFailed, "where the element is on the screen can't be read")
                    .kind("live_read_incomplete")
                    .detail("check", "visible")
                    .not_retryable();
                return Ok(Err((NotYet::Wait(Box::new(error)), proven)));
            }
        };
        if proven.live.facts.states.known().is_some_and(|s| s.has(State::Offscreen)) {
            return Ok(Err((NotYet::Offscreen, proven)));
        }
        if last.is_some_and(|was| moved(was, bounds)) {
            let error = not_aimed("stable", "the element moves", 0);
            return Ok(Err((NotYet::Wait(Box::new(error)), proven)));
        }
        last = Some(bounds);
        resolved = Some(proven);
    }
    let (Some(bounds), Some(resolved)) = (last, resolved) else { return Err(torn()) };
    // The samples may have taken their time; what is asked now has its own.
    Ok(match reached(platform, &resolved, bounds, window, Deadline::after_ms(ATTEMPT_MS))? {
        Ok((point, reached, evidence)) => Ok(Aim { resolved, point, reached, evidence }),
        Err(error) => Err((NotYet::Wait(Box::new(error)), resolved)),
    })
}

fn moved(a: Rect, b: Rect) -> bool {
    [a.x - b.x, a.y - b.y, a.width - b.width, a.height - b.height].iter().any(|d| d.abs() > TOLERANCE)
}

/// The best point by the element's own application, and by the window system: nothing else may be above it there.
fn reached(
    platform: &dyn Platform,
    resolved: &Resolved,
    bounds: Rect,
    window: &WindowKey,
    deadline: Deadline,
) -> Result<std::result::Result<(Point, bool, Value), Error>> {
    let displays = platform.displays(deadline)?;
    let on_screen = |p: &Point| {
        displays.iter().any(|d| {
            let b = &d.bounds;
            p.x >= b.x && p.y >= b.y && p.x < b.x + b.width && p.y < b.y + b.height
        })
    };
    // The middle of a pixel, so that the point lies inside a narrow element too.
    let pixel = |p: Point| Point { x: p.x.floor().min((bounds.x + bounds.width - 1.0).floor()), y: p.y.floor() };
    let points: Vec<Point> = POINTS.iter().map(|(fx, fy)| pixel(bounds.at(*fx, *fy))).filter(on_screen).collect();
    if points.is_empty() {
        return Ok(Err(not_aimed("visible", "no part of the element is on a display", 0)));
    }
    let hits = platform.hit_test(&resolved.live.handle, &points, deadline);
    let count = |f: fn(&Hit) -> bool| hits.iter().filter(|h| f(h)).count();
    let (unknown, occluded) = (count(|h| matches!(h, Hit::Unknown)), count(|h| matches!(h, Hit::Other { .. })));
    let evidence = json!({"attempted": points.len(), "unknown": unknown, "occluded": occluded});
    // Those that reach it first; those that can't be told fail open (spec 1 §7), but not beside one that is known to be
    // covered: where the application does answer, what it doesn't say is no yes.
    let told = occluded > 0 || hits.iter().any(|h| matches!(h, Hit::Target));
    let mut order: Vec<(usize, &Hit)> = hits
        .iter()
        .enumerate()
        .filter(|(_, h)| if told { matches!(h, Hit::Target) } else { !matches!(h, Hit::Other { .. }) })
        .collect();
    order.sort_by_key(|(_, h)| !matches!(h, Hit::Target));
    let mut cover = None;
    for (at, hit) in order {
        let Some(point) = points.get(at).copied() else { continue };
        match platform.window_at(point, deadline) {
            Evidence::Known(above) if above.id != window.id && above.process != window.process => cover = Some(above),
            // A popup of the same process may be what shows the element; the guard looks once more at the press.
            _ => return Ok(Ok((point, matches!(hit, Hit::Target), evidence))),
        }
    }
    let mut error = not_aimed("receives_events", "something else is above the element", 0).detail("hit_test", evidence);
    if let Some(Hit::Other { role, name }) = hits.iter().find(|h| matches!(h, Hit::Other { .. })) {
        error = error.detail("occluder", json!({"role": role, "name": name}));
    }
    if let Some(above) = cover {
        error = error.detail("covered_by", json!({"pid": above.process.pid}));
    }
    Ok(Err(error))
}

fn not_aimed(check: &str, reason: &str, timeout_ms: u64) -> Error {
    let mut error = Error::before(Code::Timeout, format!("the element can't be reached on the screen: {reason}"))
        .kind("actionability_timeout")
        .detail("check", check)
        .suggest("Nothing was sent. Scroll it into view, close what covers it, or take a new snapshot.");
    if timeout_ms > 0 {
        error = error.detail("timeout_ms", timeout_ms);
    }
    error
}
