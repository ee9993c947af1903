//! `get` and `is`: one element, read again now. A failed read is an error, never an empty answer or a "no".

use super::saved;
use crate::command::Context;
use crate::command::observe::{Get, Is, Property, Question, READ_TIMEOUT_MS};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::evidence::{Cause, Evidence};
use crate::refs::resolve::Resolved;
use crate::tree::name::{name_of, value_of};
use crate::tree::raw::Facts;
use crate::vocab::capability::Capability;
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Runs `get`.
pub fn get(context: &Context, args: &Get) -> Answer {
    let property = args.property.unwrap_or_default();
    let bounds = property == Property::Bounds;
    let resolved = resolve(context, &args.ref_id.parse()?, bounds)?;
    if let Some(range) = &args.range {
        return part(context, args, &range.parse()?, &resolved);
    }
    let facts = &resolved.live.facts;
    let value = match property {
        Property::Text => text(facts)?,
        Property::Value => optional(value_of(facts).map(str::to_owned), "value")?,
        Property::Title => optional(name_of(facts).map(|n| n.text), "name")?,
        Property::Role => match &facts.role {
            Evidence::Known(role) => json!(role),
            Evidence::Absent => json!(Role::Unknown),
            Evidence::Unknown(cause) => return Err(unread("role", cause)),
        },
        Property::States => json!(states(facts)?),
        Property::Bounds => match &facts.bounds {
            Evidence::Known(rect) => json!(rect),
            Evidence::Absent => Value::Null,
            Evidence::Unknown(cause) => return Err(unread("bounds", cause)),
        },
    };
    let mut out = Map::new();
    out.insert("property".into(), json!(property));
    out.insert("ref".into(), json!(args.ref_id.0));
    if property == Property::Bounds {
        out.insert("live".into(), json!(!value.is_null()));
    }
    out.insert("value".into(), value);
    finish(out, &resolved)
}

/// A part of the text: nothing else of it is read for this.
fn part(context: &Context, args: &Get, range: &Range<u64>, resolved: &Resolved) -> Answer {
    let mut out = Map::new();
    out.insert("property".into(), json!(Property::Text));
    out.insert("ref".into(), json!(args.ref_id.0));
    if resolved.live.facts.secure {
        // As without a range: the content of a secure field is never told, nor how long it is.
        out.insert("value".into(), Value::Null);
        return finish(out, resolved);
    }
    let deadline = Deadline::after_ms(READ_TIMEOUT_MS);
    let part = context.platform()?.text_part(&resolved.live.handle, range, deadline)?;
    out.insert("value".into(), json!(part.text));
    out.insert("range".into(), json!({"start": part.range.start, "end": part.range.end}));
    out.insert("length".into(), json!(part.length));
    finish(out, resolved)
}

/// Runs `is`.
pub fn is(context: &Context, args: &Is) -> Answer {
    let question = args.property.unwrap_or_default();
    let resolved = resolve(context, &args.ref_id.parse()?, question == Question::Visible)?;
    let (result, applicable) = ask(&resolved.live.facts, question)?;
    let mut out = Map::new();
    out.insert("property".into(), json!(question));
    out.insert("ref".into(), json!(args.ref_id.0));
    out.insert("result".into(), json!(result));
    out.insert("applicable".into(), json!(applicable));
    finish(out, &resolved)
}

/// The answer to one question about an element, and whether the question applies to it.
pub fn ask(facts: &Facts, question: Question) -> Result<(bool, bool), Error> {
    let states = states(facts)?;
    let role = facts.role.known().copied().unwrap_or(Role::Unknown);
    let can = |c: Capability| facts.capabilities.known().is_some_and(|set| set.has(c));
    Ok(match question {
        Question::Visible => {
            if facts.shown_unsure() {
                return Ok((false, false));
            }
            let shown = !states.has(State::Hidden) && !states.has(State::Offscreen);
            match &facts.bounds {
                Evidence::Known(rect) => (shown && rect.has_area(), true),
                // Without bounds the states still say "no", but can't say "yes, with an area".
                _ => (shown, !shown),
            }
        }
        Question::Enabled => (!states.has(State::Disabled), true),
        Question::Checked => {
            let checkable = role.toggleable() || states.has(State::Checked) || can(Capability::Toggle);
            (states.has(State::Checked), checkable)
        }
        Question::Focused => (states.has(State::Focused), true),
        Question::Expanded => {
            let expandable = role.expandable() || can(Capability::Expand) || can(Capability::Collapse);
            (states.has(State::Expanded), expandable || states.has(State::Expanded))
        }
        Question::Selected => {
            let selectable = matches!(
                role,
                Role::Option | Role::Tab | Role::TreeItem | Role::Cell | Role::Row | Role::MenuItem | Role::RadioButton
            );
            let told = !facts.untold.has(State::Selected) && (selectable || can(Capability::Select));
            (states.has(State::Selected), told || states.has(State::Selected))
        }
    })
}

/// Content for fields whose text is their value, else the name; each falls back to the other where it is empty.
fn text(facts: &Facts) -> Result<Value, Error> {
    let name = || optional(name_of(facts).map(|n| n.text), "name");
    let value = || optional(value_of(facts).map(str::to_owned), "value");
    let content = facts.role.known().is_some_and(|r| r.text_is_value());
    let first = if content { value()? } else { name()? };
    if !first.is_null() || (content && facts.secure) {
        return Ok(first);
    }
    if content { name() } else { value() }
}

fn states(facts: &Facts) -> Result<StateSet, Error> {
    match crate::tree::present::states_of(facts) {
        Evidence::Known(states) => Ok(states),
        Evidence::Absent => Ok(StateSet::EMPTY),
        Evidence::Unknown(cause) => Err(unread("states", &cause)),
    }
}

fn optional(text: Evidence<String>, what: &str) -> Result<Value, Error> {
    match text {
        Evidence::Known(text) => Ok(json!(text)),
        Evidence::Absent => Ok(Value::Null),
        Evidence::Unknown(cause) => Err(unread(what, &cause)),
    }
}

/// The error for a property that could not be read.
pub(crate) fn unread(what: &str, cause: &Cause) -> Error {
    let error = |code| Error::before(code, format!("the element's {what} could not be read; that is no answer"));
    let error = match cause {
        Cause::Late => error(Code::Timeout).kind("property_late"),
        Cause::Gone => error(Code::StaleRef).kind("saved_ref_absent"),
        _ => error(Code::ActionFailed).kind("property_unread"),
    };
    error.detail("property", what).detail("cause", json!(cause))
}

fn resolve(context: &Context, id: &crate::refs::id::RefId, bounds: bool) -> Result<Resolved, Error> {
    let deadline = Deadline::after_ms(READ_TIMEOUT_MS);
    let map = saved::load(context, &id.snapshot)?;
    saved::proven(context, &map, id.number, bounds, deadline)
}

fn finish(mut out: Map<String, Value>, resolved: &Resolved) -> Answer {
    if let Some((was, now)) = &resolved.renamed {
        out.insert("details".into(), json!({"renamed": {"was": was, "now": now}}));
    }
    Ok(Value::Object(out))
}
