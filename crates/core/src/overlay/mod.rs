//! The agent's cursor (spec 1 §8): which session shows one, how it looks, when it moves. It moves before the lease is
//! taken, so that cursors travel while actions wait for each other; the action waits until it is there, for a while. None
//! of it changes a policy, a delivery or an answer: whatever fails is said on standard error only.

mod command;
mod settings;

pub(crate) use command::end;
pub use command::run;
pub use settings::Settings;

use crate::act::Terms;
use crate::act::ready::torn;
use crate::command::{Command, Context, Group};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::geometry::{Point, Rect};
use crate::platform::{Action, CursorLook, CursorStep, Platform};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::{Purpose, Question};
use crate::vocab::state::State;
use std::time::{Duration, Instant};

/// How long an action waits for its cursor, in milliseconds (spec 1 §8).
pub const ARRIVAL_MS: u64 = 900;

/// A session's cursor, as a command uses it.
#[derive(Clone, Debug)]
pub struct Cursor {
    session: String,
    agent: Option<String>,
    settings: Settings,
}

impl Cursor {
    /// The cursor of this context; none where its session shows none.
    pub fn of(context: &Context) -> Option<Self> {
        let manifest = context.manifest().filter(|m| m.ended_at.is_none())?;
        let settings = Settings::of(manifest.cursor.as_ref()?)?;
        let agent = context.agent().filter(|_| settings.multi_agent).map(str::to_owned);
        Some(Self { session: manifest.session_id.clone(), agent, settings })
    }

    fn look(&self) -> CursorLook {
        self.settings.look(&self.session, self.agent.as_deref())
    }

    fn step(&self, to: Option<Point>, outline: Option<Rect>, ripple: bool) -> CursorStep {
        CursorStep {
            session: self.session.clone(),
            agent: self.agent.clone(),
            look: self.look(),
            to,
            outline: outline.filter(|_| self.settings.highlight),
            ripple: ripple && self.settings.ripple,
        }
    }

    fn go(&self, platform: &dyn Platform, to: Point, outline: Option<Rect>, ripple: bool, deadline: Deadline) {
        if let Err(error) = platform.overlay_step(&self.step(Some(to), outline, ripple), deadline) {
            tracing::warn!(session = self.session, %error, "the agent's cursor is not shown; the command goes on");
        }
    }
}

/// With a cursor for each agent, whoever acts says who it is.
///
/// # Errors
/// `agent_id_required`.
pub fn admit(command: &Command, context: &Context) -> Result<()> {
    let spec = command.spec();
    let acts = spec.mutates && matches!(spec.group, Group::Act | Group::Keyboard | Group::Pointer);
    if !acts || context.agent().is_some() {
        return Ok(());
    }
    match Cursor::of(context) {
        Some(cursor) if cursor.settings.multi_agent => {
            Err(Error::invalid("this session has a cursor for each agent: who acts?")
                .kind("agent_id_required")
                .suggest("Give --agent-id ID, or set AGENT_DESKTOP_AGENT_ID."))
        }
        _ => Ok(()),
    }
}

/// Takes the cursor to the element that an action is for. Answers with the time that this took: it is not the action's.
pub fn to_element(terms: &Terms<'_>, map: &RefMap, entry: &Entry, action: Option<&Action>) -> Duration {
    let begun = Instant::now();
    if let Some(cursor) = &terms.cursor {
        let deadline = Deadline::after_ms(ARRIVAL_MS);
        match place(terms, map, entry, deadline) {
            Ok(Some(bounds)) => {
                let ripple = action.is_some_and(presses);
                cursor.go(terms.platform, bounds.at(0.5, 0.5), Some(bounds), ripple, deadline);
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the agent's cursor doesn't know where to go"),
        }
    }
    begun.elapsed()
}

/// Where the element is on the screen, where that can be told. Nothing is concluded from it.
fn place(terms: &Terms<'_>, map: &RefMap, entry: &Entry, deadline: Deadline) -> Result<Option<Rect>> {
    let question = Question::new(map, entry).ok_or_else(torn)?;
    let probe = question.ask(map, entry, true, terms.platform, deadline);
    let facts = question.judge(map, entry, probe, Purpose::Write)?.live.facts;
    let unseen = facts.states.known().is_some_and(|s| s.has(State::Offscreen) || s.has(State::Hidden));
    Ok(match facts.bounds {
        Evidence::Known(bounds) if bounds.has_area() && !unseen => Some(bounds),
        _ => None,
    })
}

/// Takes the cursor to a point that a command is for. Answers with the time that this took.
pub fn to_point(context: &Context, platform: &dyn Platform, point: Point, ripple: bool) -> Duration {
    let begun = Instant::now();
    if let Some(cursor) = Cursor::of(context) {
        cursor.go(platform, point, None, ripple, Deadline::after_ms(ARRIVAL_MS));
    }
    begun.elapsed()
}

/// Whether an action is a press on the element, which the ripple stands for.
fn presses(action: &Action) -> bool {
    matches!(
        action,
        Action::Click
            | Action::DoubleClick
            | Action::TripleClick
            | Action::RightClick
            | Action::Toggle
            | Action::Check
            | Action::Uncheck
    )
}

#[cfg(test)]
mod tests;
