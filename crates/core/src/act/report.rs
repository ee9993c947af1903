//! The answer to an action: what was sent, what was read back, and what may be concluded (spec 2, decisions D5).

use super::Terms;
use super::lease::Lease;
use super::rungs::{Climbed, End, Step};
use super::verify::{Holds, fails_by_contradiction, has_postcondition, holds};
use crate::deadline::Deadline;
use crate::error::{Code, Delivery, Error};
use crate::evidence::{Cause, Evidence};
use crate::platform::{Action, Effect, EffectKind, Presence, ProbeRequest, ProcessLife, Watch, WriteOutcome};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::unresponsive;
use crate::tree::raw::Facts;
use crate::vocab::capability::Capability;
use crate::vocab::state::State;
use crate::vocab::surface::Surface;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What the wait before an action cost; in every success's details (spec 1 §7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AutoWait {
    /// How often another caller held the lease.
    pub lease_contention_count: u64,
    /// For how long we held it.
    pub lease_hold_ms: u64,
    /// Assessments before the lease.
    pub read_only_preflight_attempts: u64,
    /// Resolutions before the lease.
    pub read_only_resolve_attempts: u64,
}

/// How long a stateful action's post-condition may take to show, in milliseconds. Effects in web content were seen
/// to take up to half a second (FINDINGS §5).
const SETTLE_MS: u64 = 1_000;
/// How long a post-condition must go on to hold before it counts, in milliseconds: controls that refuse spring back.
const CONFIRM_MS: u64 = 60;
/// Deadline of one read back, in milliseconds.
const READ_MS: u64 = 750;

/// A surface is announced a moment before it has its place on the screen: how often it is looked for, and the pause in
/// between, in milliseconds.
const SURFACE_LOOKS: u32 = 3;
const SURFACE_PAUSE_MS: u64 = 40;

/// What was read after a dispatch.
struct After {
    holds: Holds,
    facts: Option<Facts>,
    effects: Vec<Effect>,
    gone: bool,
    process_ended: bool,
    silent: bool,
}

/// Reads what became of the dispatch and makes the answer. Where the action has a post-condition the lease is held until
/// it was read: another caller's action in between would be taken for a contradiction.
pub fn finish(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    climbed: Climbed,
    lease: Lease,
    mut waited: AutoWait,
) -> Result<Value, Error> {
    let Climbed { mut steps, live, told, offscreen, end, deadline, physical } = climbed;
    let mut held = Some(lease);
    let mut release = |waited: &mut AutoWait| {
        if let Some(lease) = held.take() {
            waited.lease_hold_ms = lease.held_ms();
        }
    };
    if !has_postcondition(action) {
        release(&mut waited);
    }
    let mut details = Map::new();
    details.insert("identity".into(), json!(told.token()));
    if offscreen {
        details.insert("offscreen".into(), json!(true));
    }
    if let Some(physical) = physical {
        details.insert("point".into(), json!(physical.point));
        details.insert("hit_test".into(), physical.evidence);
        if physical.scrolled {
            details.insert("preparatory_scroll".into(), json!(true));
        }
        // Null: it can't be read.
        if physical.moved != Some(false) {
            details.insert("target_moved".into(), json!(physical.moved));
        }
    }
    let (outcome, mut watch, unheard) = match end {
        End::NotSent(error) => return Err(error),
        End::AlreadySatisfied => {
            release(&mut waited);
            details.insert("auto_wait".into(), json!(waited));
            details.insert("already_satisfied".into(), json!(true));
            let post = post_state(&live.facts);
            return Ok(answer(action, &steps, Some(post), None, details, Delivery::NotDelivered));
        }
        End::Sent { outcome, watch, unheard } => (outcome, watch, unheard),
    };
    let after = read_after(terms, map, entry, action, &live.facts, &mut *watch, deadline);
    release(&mut waited);
    details.insert("auto_wait".into(), json!(waited));
    if let (Some(step), true) = (steps.last_mut(), has_postcondition(action)) {
        step.verified = match after.holds {
            Holds::Yes => Some(true),
            Holds::No => Some(false),
            Holds::Unread | Holds::Secure => None,
        };
    }
    let post = after.facts.as_ref().map(post_state);
    let of_target = after.effects.iter().any(|e| e.of_target);
    let verified = after.holds == Holds::Yes || (of_target && !fails_by_contradiction(action));
    let effect_seen = !after.effects.is_empty();
    let error = match &outcome {
        _ if verified => None,
        WriteOutcome::NoReply if effect_seen => None,
        WriteOutcome::NoReply if after.silent => Some(unresponsive(map).with_delivery(Delivery::DeliveryUncertain)),
        WriteOutcome::NoReply => Some(
            Error::new(
                Code::Timeout,
                Delivery::DeliveryUncertain,
                "no reply to the action by its deadline, and no effect seen",
            )
            .kind("chain_deadline")
            .suggest("It may have landed: take a snapshot and read the state before anything else."),
        ),
        WriteOutcome::Uncertain(native) => Some(
            fault(after.process_ended)
                .platform(native.clone())
                .suggest("It may have landed: take a snapshot and read the state before anything else."),
        ),
        _ if after.holds == Holds::No && fails_by_contradiction(action) => Some(contradiction(action)),
        _ => None,
    };
    if let Some(mut error) = error {
        error = error.detail("after_action", json!({"steps": steps}));
        if let Some(post) = post {
            error = error.detail("post_state", post).detail("postcondition_satisfied", after.holds == Holds::Yes);
        }
        return Err(error);
    }
    if matches!(outcome, WriteOutcome::Pending | WriteOutcome::NoReply) {
        details.insert("reply".into(), json!("pending"));
    }
    describe(action, &after, verified, unheard, &mut details);
    let appeared = after.effects.iter().any(|e| e.kind == EffectKind::SurfaceAppeared);
    let surfaces = appeared.then(|| open_surfaces(terms, map, entry)).flatten();
    let delivery = if verified { Delivery::DeliveredVerified } else { Delivery::DeliveredUnverified };
    Ok(answer(action, &steps, post, surfaces, details, delivery))
}

fn fault(process_ended: bool) -> Error {
    let error =
        Error::new(Code::ActionFailed, Delivery::DeliveryUncertain, "the application answered the action with a fault");
    if process_ended { error.kind("process_ended") } else { error.kind("provider_fault") }
}

fn contradiction(action: &Action) -> Error {
    let error = Error::new(
        Code::ActionFailed,
        Delivery::DeliveredUnverified,
        format!("the application accepted {}, but reading back says otherwise", action.name()),
    );
    let error = match action {
        Action::Focus => error.kind("focus_verification"),
        Action::Select(_) => error.kind("selected_value_not_observed"),
        _ => error.kind("post_action_verification"),
    };
    error.suggest("Read post_state; do not repeat the action blindly.")
}

fn describe(action: &Action, after: &After, verified: bool, unheard: bool, details: &mut Map<String, Value>) {
    if after.process_ended {
        details.insert("process_ended".into(), json!(true));
    }
    if unheard {
        details.insert("commit_reason".into(), json!("application_not_told"));
    }
    if verified {
        let scope = match action {
            Action::SetValue(_) | Action::Type(_) | Action::Clear => Some("element_value"),
            // What the control shows as chosen; whether the application goes by it is its own affair.
            Action::Select(_) => Some("element_selection"),
            _ => None,
        };
        if let Some(scope) = scope {
            details.insert("verification_scope".into(), json!(scope));
            details.insert("application_commit".into(), json!("not_verified"));
        }
        return;
    }
    if has_postcondition(action) {
        let reason = if after.holds == Holds::Secure { "secure_field" } else { "insufficient_evidence" };
        details.insert("verification_scope".into(), json!("unavailable"));
        details.insert("verification_reason".into(), json!(reason));
    }
    let pick = |kind| after.effects.iter().find(|e| e.kind == kind);
    let seen = pick(EffectKind::SurfaceAppeared)
        .or_else(|| pick(EffectKind::TargetChanged))
        .or_else(|| pick(EffectKind::ChangedElsewhere));
    let token = match seen {
        _ if after.gone => "gone",
        Some(Effect { kind: EffectKind::SurfaceAppeared, .. }) => "surface_appeared",
        Some(Effect { kind: EffectKind::TargetChanged, .. }) => "target_changed",
        Some(_) => "changed_elsewhere",
        // Nobody could look: that is not the same as nothing to see.
        None if after.process_ended => "process_ended",
        None if after.silent || after.facts.is_none() => "unknown",
        None => "none_observed",
    };
    details.insert("effect".into(), json!(token));
    if let Some(effect) = seen.filter(|_| !after.gone) {
        details.insert("what".into(), json!(effect.what));
    }
}

/// Reads the element until the post-condition shows, or its time is up; for other actions takes the first effect.
fn read_after(
    terms: &Terms<'_>,
    map: &RefMap,
    entry: &Entry,
    action: &Action,
    before: &Facts,
    watch: &mut dyn Watch,
    deadline: Deadline,
) -> After {
    let mut after = After {
        holds: Holds::Unread,
        facts: None,
        effects: Vec::new(),
        gone: false,
        process_ended: false,
        silent: false,
    };
    let settle = deadline.within_ms(if has_postcondition(action) { SETTLE_MS } else { watch.window_ms() });
    if !has_postcondition(action) {
        after.effects.extend(watch.effects(settle));
        let greatest = |e: &Effect| matches!(e.kind, EffectKind::SurfaceAppeared | EffectKind::Gone);
        if !after.effects.iter().any(greatest) {
            after.effects.extend(watch.overtime(deadline));
        }
    }
    let mut pause = 5;
    let mut confirmed = false;
    loop {
        read_once(terms, map, entry, action, before, &mut after);
        // Controls spring back: what shows must still show a moment later.
        let shows = after.holds == Holds::Yes && has_postcondition(action);
        if shows && !confirmed && !deadline.passed() {
            confirmed = true;
            std::thread::sleep(deadline.left().min(Duration::from_millis(CONFIRM_MS)));
            continue;
        }
        confirmed = shows;
        let done = matches!(after.holds, Holds::Yes | Holds::Secure) || after.gone || after.process_ended;
        if done || !has_postcondition(action) || settle.passed() {
            break;
        }
        let slice = settle.within_ms(pause);
        after.effects.extend(watch.effects(slice));
        std::thread::sleep(slice.left().min(Duration::from_millis(pause)));
        pause = (pause * 2).min(80);
    }
    if after.effects.is_empty() && has_postcondition(action) {
        after.effects.extend(watch.effects(deadline.within_ms(1)));
    }
    if let Some(facts) = &after.facts
        && !after.effects.iter().any(|e| e.kind == EffectKind::TargetChanged)
        && changed(before, facts)
    {
        after.effects.push(Effect { kind: EffectKind::TargetChanged, what: "read back".into(), of_target: false });
    }
    if matches!(action, Action::Click | Action::RightClick) && opened(before, after.facts.as_ref()) {
        // A menu or popup of the target itself is the one thing that proves a click (decisions D5).
        after.effects.push(Effect { kind: EffectKind::SurfaceAppeared, what: "expanded".into(), of_target: true });
    }
    after
}

fn read_once(terms: &Terms<'_>, map: &RefMap, entry: &Entry, action: &Action, before: &Facts, after: &mut After) {
    let Some(row) = map.links.get(entry.link as usize) else { return };
    let target = &row.link.handle;
    let request = ProbeRequest {
        process: &map.process,
        target,
        label_sources: &entry.label_sources,
        page_signs: entry.page_signs.as_deref(),
        role: entry.role,
        edges: &[],
        witnesses: &[],
        cells: &[],
        bounds: false,
        plan: entry.plan,
    };
    let probe = terms.platform.probe(&request, Deadline::after_ms(READ_MS));
    after.silent = probe.silent;
    after.process_ended = matches!(probe.process, ProcessLife::Gone | ProcessLife::OtherGeneration);
    match probe.element {
        Presence::Live(facts) => {
            let selected = match action {
                Action::Select(_) => terms.platform.selection(target, Deadline::after_ms(READ_MS)),
                _ => Evidence::Unknown(Cause::NotRead),
            };
            after.holds = holds(action, before, &facts, &selected);
            after.facts = Some(*facts);
            after.gone = false;
        }
        // Gone is an effect only while the process lives: a crash is not "gone" (decisions D5).
        Presence::Dead(_) => {
            let lives = !after.process_ended && probe.process == ProcessLife::Alive;
            let published = lives.then(|| still_published(terms, map)).flatten();
            after.gone = published == Some(true);
            after.process_ended |= published == Some(false);
            after.holds = Holds::Unread;
            after.facts = None;
        }
        Presence::Unknown(_) => {
            after.holds = Holds::Unread;
            after.facts = None;
        }
    }
}

/// Whether the application still has its tree. A process that is about to end leaves the desktop first.
fn still_published(terms: &Terms<'_>, map: &RefMap) -> Option<bool> {
    let apps = terms.platform.apps(Deadline::after_ms(READ_MS)).ok()?;
    Some(apps.iter().any(|app| app.process == map.process && app.root.is_some()))
}

fn changed(before: &Facts, after: &Facts) -> bool {
    fn differs<T: PartialEq>(a: &Evidence<T>, b: &Evidence<T>) -> bool {
        a.settled() && b.settled() && a != b
    }
    // Focus moves by itself; it is no sign of the action.
    let states = |f: &Facts| {
        f.states.clone().map(|mut s| {
            s.remove(State::Focused);
            s
        })
    };
    differs(&states(before), &states(after))
        || differs(&before.names.native_title, &after.names.native_title)
        || (!before.secure && !after.secure && differs(&before.value, &after.value))
}

fn opened(before: &Facts, after: Option<&Facts>) -> bool {
    let expanded = |f: &Facts| f.states.known().map(|s| s.has(State::Expanded));
    let opens = before.states.known().is_some_and(|s| s.has(State::HasPopup))
        || before.capabilities.known().is_some_and(|c| c.has(Capability::Expand) || c.has(Capability::Collapse));
    opens && expanded(before) == Some(false) && after.and_then(expanded) == Some(true)
}

/// What the element is after the action. A secure field's value is never shown.
pub fn post_state(facts: &Facts) -> Value {
    let mut out = Map::new();
    if let Evidence::Known(role) = &facts.role {
        out.insert("role".into(), json!(role));
    }
    if let Evidence::Known(states) = &facts.states {
        if !states.is_empty() {
            out.insert("states".into(), json!(states));
        }
        out.insert("enabled".into(), json!(!states.has(State::Disabled)));
        out.insert("hidden".into(), json!(states.has(State::Hidden)));
        out.insert("offscreen".into(), json!(states.has(State::Offscreen)));
    }
    if let (Evidence::Known(value), false) = (&facts.value, facts.secure) {
        out.insert("value".into(), json!(value));
    }
    Value::Object(out)
}

fn open_surfaces(terms: &Terms<'_>, map: &RefMap, entry: &Entry) -> Option<Value> {
    let app = map.application(entry.link)?;
    let mut open = terms.platform.surfaces(&app, Deadline::after_ms(READ_MS)).ok()?;
    for _ in 1..SURFACE_LOOKS {
        // A menu bar is always there: it is not what appeared.
        if open.iter().any(|s| s.kind != Surface::Menubar) {
            break;
        }
        std::thread::sleep(Duration::from_millis(SURFACE_PAUSE_MS));
        open = terms.platform.surfaces(&app, Deadline::after_ms(READ_MS)).ok()?;
    }
    let rows: Vec<Value> = open.iter().map(crate::platform::apps::surface_json).collect();
    (!rows.is_empty()).then_some(Value::Array(rows))
}

fn answer(
    action: &Action,
    steps: &[Step],
    post: Option<Value>,
    surfaces: Option<Value>,
    details: Map<String, Value>,
    delivery: Delivery,
) -> Value {
    let mut out = Map::new();
    out.insert("action".into(), json!(action.name()));
    if !steps.is_empty() {
        out.insert("steps".into(), json!(steps));
    }
    if let Some(post) = post {
        out.insert("post_state".into(), post);
    }
    if let Some(surfaces) = surfaces {
        out.insert("surfaces".into(), surfaces);
    }
    out.insert("details".into(), Value::Object(details));
    out.insert("disposition".into(), delivery.disposition());
    Value::Object(out)
}
