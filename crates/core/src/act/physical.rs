//! Ref actions by pointer and keyboard, under `--headed` (spec 1 §7 "Interaction policy"): the ref's exact window comes
//! to the front, a point of the element is verified, and the guard looks once more right before each event.

use super::actionability::{Report, assess_physical, timed_out};
use super::lease::Lease;
use super::ready::{ATTEMPT_MS, POLL_MS, resolve, worth_another_look};
use super::report::{self, AutoWait};
use super::rungs::{Climbed, End, Step, StepOutcome};
use super::story::{self, Story};
use super::typing::Typing;
use super::verify::already_satisfied;
use super::{TYPE_MS_PER_CHARACTER, Terms, reveal};
use crate::command::values::Button;
use crate::deadline::Deadline;
use crate::error::{Code, Delivery, Error, Result};
use crate::evidence::Evidence;
use crate::geometry::Point;
use crate::input::aim::{Aim, aim, window_of};
use crate::input::report::stopped;
use crate::input::stage::{front, nothing_held_by_others};
use crate::input::strokes;
use crate::overlay;
use crate::platform::{Action, Guard, Mechanism, Presence, Stroke, Window, WindowKey, WriteOutcome};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::{Purpose, Question, Resolved};
use crate::vocab::state::State;
use serde_json::{Value, json};
use std::time::Duration;

/// How long the focus may take to arrive, in milliseconds (spec 1 §7 "Focus settle").
const FOCUS_MS: u64 = 750;
/// Pause between two looks at the focus, in milliseconds.
const FOCUS_POLL_MS: u64 = 50;

/// Whether the caller's policy makes this action physical. The others stay semantic under `--headed` too.
pub fn prefers(action: &Action) -> bool {
    matches!(
        action,
        Action::Click
            | Action::DoubleClick
            | Action::TripleClick
            | Action::RightClick
            | Action::Type(_)
            | Action::Clear
            | Action::Scroll { .. }
    )
}

/// Whether a click does it where no accessibility action does: check boxes of toolkits that publish none.
pub fn stands_in(action: &Action) -> bool {
    matches!(action, Action::Toggle | Action::Check | Action::Uncheck)
}

/// Runs one action on one saved ref physically.
pub fn perform(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    deadline: Deadline,
    single_shot: bool,
) -> Result<Value> {
    let mut waited = AutoWait::default();
    wait(terms, map, entry, action, deadline, single_shot, &mut waited)?;
    // A single shot still needs the time of one look.
    let looking = if single_shot { Deadline::after_ms(ATTEMPT_MS) } else { deadline };
    let (_, key) = window_of(terms.platform, map, entry, looking)?;
    let on_the_way = overlay::to_element(terms, map, entry, Some(action));
    let (deadline, looking) = (deadline.later(on_the_way), looking.later(on_the_way));
    terms.look();
    let lease = Lease::take(&terms.lease_path, deadline, single_shot, &mut waited.lease_contention_count)?;
    nothing_held_by_others(terms.platform, terms.session.as_deref())?;
    let climbed = climb(terms, map, entry, action, &key, looking)?;
    let live = climbed.live.clone();
    report::finish(terms, map, entry, action, climbed, lease, waited).map_err(|error| match action {
        // All of it was sent, and the field doesn't show it: the focus may have left behind the last look.
        Action::Type(text) if error.kind_name() == Some("post_action_verification") => {
            Typing::begin(terms, map, entry, &live, text).tell(error, 2 * text.chars().count())
        }
        _ => error,
    })
}

/// Waits without the lease until the element is there, shown and enabled.
fn wait(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    deadline: Deadline,
    single_shot: bool,
    waited: &mut AutoWait,
) -> Result<()> {
    let mut story = Story::begin(terms, map, entry, action);
    let looked = look(terms, map, entry, action, deadline, single_shot, waited, &mut story);
    story.end(&looked);
    looked
}

#[allow(clippy::too_many_arguments)]
fn look(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    deadline: Deadline,
    single_shot: bool,
    waited: &mut AutoWait,
    story: &mut Story<'_>,
) -> Result<()> {
    let mut asked = false;
    loop {
        waited.read_only_resolve_attempts += 1;
        let failure = match resolve(terms, map, entry, Purpose::Write, Deadline::after_ms(ATTEMPT_MS)) {
            Ok(resolved) => {
                story.resolved(resolved.told);
                waited.read_only_preflight_attempts += 1;
                let report = assess_physical(&resolved.live.facts, action);
                if let Some(error) = report.terminal {
                    return Err(error);
                }
                if report.actionable() {
                    return Ok(());
                }
                timed_out(&report, terms.timeout_ms)
            }
            Err(error) if worth_another_look(&error) => error,
            Err(error) => return Err(error),
        };
        // Toolkits hide what is in an iconified window: no time brings it back.
        if !std::mem::replace(&mut asked, true)
            && let Ok((window, _)) = window_of(terms.platform, map, entry, Deadline::after_ms(ATTEMPT_MS))
            && window.minimized.says_yes()
        {
            return Err(iconified(&window));
        }
        if single_shot || deadline.passed() {
            return Err(failure);
        }
        std::thread::sleep(Duration::from_millis(POLL_MS).min(deadline.left()));
    }
}

/// What is in an iconified window can't be seen, and often not be proven.
fn iconified(window: &Window) -> Error {
    Error::before(Code::ActionFailed, "the window of the element is minimized, and the element not shown")
        .kind("window_minimized")
        .detail("check", "visible")
        .detail("window_id", window.id.as_str())
        .suggest(format!("Nothing was sent. 'restore --window-id {}' brings it back; then repeat this.", window.id))
}

/// Under the lease: to the front, aimed, focused where text is typed, played.
fn climb(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    key: &WindowKey,
    looking: Deadline,
) -> Result<Climbed> {
    story::dispatching(terms, map, entry, action, json!({"mechanism": Mechanism::PhysicalSynthetic}))?;
    front(terms.platform, key, looking)?;
    let mut scrolled = false;
    let aimed = aim(terms, map, entry, key, looking, |resolved| {
        scrolled = reveal::into_view(terms, resolved);
        Ok(scrolled)
    });
    let Aim { resolved, point, evidence, .. } = aimed.map_err(|error| after_scroll(error, scrolled))?;
    let characters = if let Action::Type(text) = action { text.chars().count() as u64 } else { 0 };
    let deadline = Deadline::after_ms(terms.chain_timeout_ms.saturating_add(characters * TYPE_MS_PER_CHARACTER));
    let mut climbed = Climbed {
        steps: Vec::new(),
        live: resolved.live.clone(),
        told: resolved.told,
        offscreen: false,
        end: End::AlreadySatisfied,
        deadline,
        physical: Some(Physical { point, evidence, scrolled, moved: Some(false) }),
    };
    if already_satisfied(action, &resolved.live.facts) {
        climbed.steps.push(step("already so", StepOutcome::Skipped));
        return Ok(climbed);
    }
    let last = assess_physical(&resolved.live.facts, action);
    if !last.actionable() {
        return Err(refused(last, terms.timeout_ms));
    }
    let under = Guard { front: None, under: Some(key.clone()) };
    let keyboard = Guard { front: Some(key.clone()), under: None };
    let (label, strokes, guard) = match action {
        Action::Click | Action::Toggle | Action::Check | Action::Uncheck => {
            ("pointer click", strokes::clicks(point, Button::Left, 1, &[]), under)
        }
        Action::DoubleClick => ("pointer double-click", strokes::clicks(point, Button::Left, 2, &[]), under),
        Action::TripleClick => ("pointer triple-click", strokes::clicks(point, Button::Left, 3, &[]), under),
        Action::RightClick => ("pointer right-click", strokes::clicks(point, Button::Right, 1, &[]), under),
        Action::Scroll { direction, amount } => ("wheel", strokes::scroll(point, *direction, *amount), under),
        Action::Type(text) => ("keyboard text", vec![Stroke::Text(text.clone())], keyboard),
        Action::Clear => ("keyboard select all, delete", strokes::clear(), keyboard),
        other => {
            return Err(Error::before(Code::ActionNotSupported, format!("{} has no physical way", other.name()))
                .kind("no_physical_way"));
        }
    };
    if matches!(action, Action::Type(_) | Action::Clear) {
        climbed.live = focused(terms, map, entry, &resolved, key, point, &mut climbed.steps)?;
    }
    let watch = terms.platform.watch(&climbed.live, deadline);
    let typing = match action {
        Action::Type(text) => Some(Typing::begin(terms, map, entry, &climbed.live, text)),
        _ => None,
    };
    let played = match &typing {
        Some(typing) => terms.platform.play_while(&strokes, &guard, deadline, &mut |events| typing.still(events))?,
        None => terms.platform.play(&strokes, &guard, deadline)?,
    };
    if let Some(mut error) = stopped(&played) {
        if let (Some(typing), true) = (&typing, played.touched) {
            error = typing.tell(error, played.delivered);
        }
        return Err(after_scroll(error, scrolled));
    }
    story::dispatched(terms, map, entry, action, json!({"mechanism": Mechanism::PhysicalSynthetic, "how": label}));
    // What the wheel scrolls may well be the target's own place.
    if guard.under.is_some()
        && !matches!(action, Action::Scroll { .. })
        && let Some(physical) = &mut climbed.physical
    {
        physical.moved = moved_away(terms, map, entry, point);
    }
    climbed.steps.push(step(label, StepOutcome::Succeeded));
    climbed.end = End::Sent { outcome: WriteOutcome::Accepted, watch, unheard: false };
    Ok(climbed)
}

/// Where and how a physical action was aimed, for `details`.
pub struct Physical {
    /// The point.
    pub point: Point,
    /// What was found out about it.
    pub evidence: Value,
    /// Whether the element was scrolled into view first.
    pub scrolled: bool,
    /// Whether the element lies elsewhere right after the press; none where that can't be read.
    pub moved: Option<bool>,
}

/// Whether the element now lies elsewhere than at the point: then what was pressed may have been another that took its
/// place between the last look and the press. What is hidden or gone has not moved: a menu closes at the click.
fn moved_away(terms: &Terms<'_>, map: &RefMap, entry: &Entry, point: Point) -> Option<bool> {
    let probe = Question::new(map, entry)?.ask(map, entry, true, terms.platform, Deadline::after_ms(ATTEMPT_MS));
    let facts = match probe.element {
        Presence::Live(facts) => facts,
        Presence::Dead(_) => return Some(false),
        Presence::Unknown(_) => return None,
    };
    match facts.bounds {
        Evidence::Known(b) => {
            let inside = (b.x..b.x + b.width).contains(&point.x) && (b.y..b.y + b.height).contains(&point.y);
            let hidden = facts.states.known().is_some_and(|s| s.has(State::Hidden) || s.has(State::Offscreen));
            Some(b.has_area() && !hidden && !inside)
        }
        Evidence::Absent => Some(false),
        Evidence::Unknown(_) => None,
    }
}

fn step(label: &str, outcome: StepOutcome) -> Step {
    Step { label: label.into(), outcome, mechanism: Some(Mechanism::PhysicalSynthetic), verified: None }
}

/// A failure after scrolling says so, and never asks for an automatic retry: the view has changed.
fn after_scroll(error: Error, scrolled: bool) -> Error {
    if scrolled { error.detail("preparatory_scroll", true).not_retryable() } else { error }
}

fn refused(report: Report, timeout_ms: u64) -> Error {
    match report.terminal {
        Some(error) => error,
        None => timed_out(&report, timeout_ms),
    }
}

/// The element with the keyboard's focus. Nothing is sent where it has it already: a focus call moves the caret and
/// selects (GTK 3 selects all).
fn focused(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    resolved: &Resolved,
    key: &WindowKey,
    point: Point,
    steps: &mut Vec<Step>,
) -> Result<crate::platform::Live> {
    let has = |r: &Resolved| matches!(&r.live.facts.states, Evidence::Known(s) if s.has(State::Focused));
    if has(resolved) {
        return Ok(resolved.live.clone());
    }
    let soon = Deadline::after_ms(FOCUS_MS);
    let mut sent = false;
    for rung in terms.platform.rungs(&resolved.live, &Action::Focus, soon).unwrap_or_default() {
        match terms.platform.dispatch(&resolved.live, &Action::Focus, &rung, soon).outcome {
            WriteOutcome::Absent(_) | WriteOutcome::Refused(_) => {}
            _ => {
                steps.push(Step {
                    label: rung.label,
                    outcome: StepOutcome::Attempted,
                    mechanism: Some(rung.mechanism),
                    verified: None,
                });
                sent = true;
                break;
            }
        }
    }
    if sent && let Some(live) = await_focus(terms, map, entry, has)? {
        return Ok(live);
    }
    // The way that every toolkit has: a click into the field.
    let guard = Guard { front: None, under: Some(key.clone()) };
    let played = terms.platform.play(
        &strokes::clicks(point, Button::Left, 1, &[]),
        &guard,
        Deadline::after_ms(terms.chain_timeout_ms),
    )?;
    if let Some(error) = stopped(&played) {
        return Err(error);
    }
    steps.push(step("pointer click for the focus", StepOutcome::Succeeded));
    await_focus(terms, map, entry, has)?.ok_or_else(|| {
        Error::new(Code::ActionFailed, Delivery::DeliveredUnverified, "the element did not take the keyboard's focus")
            .kind("focus_verification")
            .detail("text_delivered", false)
            .suggest("It was clicked, nothing was typed. Take a snapshot and see what has the focus.")
    })
}

fn await_focus(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    has: impl Fn(&Resolved) -> bool,
) -> Result<Option<crate::platform::Live>> {
    let end = Deadline::after_ms(FOCUS_MS);
    let mut confirmed = 0;
    loop {
        match resolve(terms, map, entry, Purpose::Write, Deadline::after_ms(ATTEMPT_MS)) {
            Ok(resolved) if has(&resolved) => {
                confirmed += 1;
                // Twice: a focus that is only passing by is none (spec 1 §7 "Focus settle").
                if confirmed == 2 {
                    return Ok(Some(resolved.live));
                }
            }
            Ok(_) => confirmed = 0,
            Err(error) if worth_another_look(&error) => {}
            Err(error) => return Err(error),
        }
        if end.passed() {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(FOCUS_POLL_MS).min(end.left()));
    }
}
