//! What one element offers right now: the facts on which the ladder decides.

use crate::atspi::capability::{Verb, verb};
use crate::atspi::interface::{ACCESSIBLE, ACTION, APPLICATION, Interfaces};
use crate::atspi::state::Native as States;
use crate::atspi::toolkit::Toolkit;
use crate::bus::{Body, Call, CallError, Object, Reply, Wire};
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};

/// Actions of one element that are looked at. Java lists some 55 for a text field (FINDINGS §2 "Apps").
const MAX_ACTIONS: i64 = 64;

/// One element's offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The element.
    pub object: Object,
    /// Its application's toolkit.
    pub toolkit: Toolkit,
    /// Role number.
    pub role: u32,
    /// States.
    pub states: States,
    /// Interfaces.
    pub interfaces: Interfaces,
    /// Names of its actions, by index.
    pub actions: Vec<String>,
    /// Whether it was told, by more than the role number, that it opens a menu (Qt's menu buttons, FINDINGS §5).
    pub opens: bool,
}

impl Offer {
    /// Reads it in two flights.
    pub fn read(wire: &dyn Wire, object: &Object, deadline: Deadline) -> Result<Self, Error> {
        let root = Object::root_of(object.bus.clone());
        let mut calls = vec![
            Call::new(object, ACCESSIBLE, "GetRole"),
            Call::new(object, ACCESSIBLE, "GetState"),
            Call::new(object, ACCESSIBLE, "GetInterfaces"),
            Call::get(object, ACTION, "NActions"),
        ];
        calls.extend(toolkit_calls(&root));
        let answers = wire.flight(calls, deadline);
        let role = at(&answers, 0).and_then(|r| r.uint()).map_err(|e| unread(&e))?;
        let states = at(&answers, 1).and_then(|r| r.states()).map_err(|e| unread(&e))?;
        let interfaces = at(&answers, 2).and_then(|r| r.texts()).map_err(|e| unread(&e))?;
        let toolkit = toolkit_of(answers.get(4..).unwrap_or(&[]));
        // No such interface: no actions.
        let count = at(&answers, 3).and_then(|r| r.int_property()).unwrap_or(0).clamp(0, MAX_ACTIONS);
        let actions = names(wire, object, count, deadline)?;
        let interfaces = Interfaces::parse(&interfaces);
        Ok(Self { object: object.clone(), toolkit, role, states: States(states), interfaces, actions, opens: false })
    }

    /// The first action that does this, with its index.
    pub fn action(&self, wanted: Verb) -> Option<(i32, &str)> {
        let at = self.actions.iter().position(|name| verb(name) == Some(wanted))?;
        Some((i32::try_from(at).ok()?, &self.actions[at]))
    }

    /// The action of this name.
    pub fn named(&self, wanted: &str) -> Option<i32> {
        self.actions.iter().position(|name| name == wanted).and_then(|at| i32::try_from(at).ok())
    }
}

/// Names of the first actions: `GetName` by index, never `GetActions`, whose answers are translated, empty or garbage
/// (FINDINGS §3 "Other calls").
pub fn names(wire: &dyn Wire, object: &Object, count: i64, deadline: Deadline) -> Result<Vec<String>, Error> {
    let count = i32::try_from(count).unwrap_or(0);
    let calls = (0..count).map(|i| Call::with(object, ACTION, "GetName", Body::Int(i))).collect();
    let answers = wire.flight(calls, deadline);
    if let Some(Err(late @ CallError::Late { .. })) = answers.iter().find(|a| matches!(a, Err(CallError::Late { .. })))
    {
        return Err(unread(late));
    }
    Ok(answers.into_iter().map(|a| a.and_then(|r| r.text()).unwrap_or_default()).collect())
}

/// The calls that tell an application's toolkit.
pub fn toolkit_calls(root: &Object) -> [Call; 3] {
    [
        Call::get(root, APPLICATION, "ToolkitName"),
        Call::get(root, APPLICATION, "Version"),
        Call::get(root, ACCESSIBLE, "Name"),
    ]
}

/// What their answers say.
pub fn toolkit_of(answers: &[Result<Reply, CallError>]) -> Toolkit {
    let text = |i| at(answers, i).and_then(|r| r.text_property()).unwrap_or_default();
    Toolkit::of(&text(0), &text(1), &text(2))
}

/// One answer of a flight.
pub fn at(answers: &[Result<Reply, CallError>], index: usize) -> Result<Reply, CallError> {
    answers.get(index).cloned().unwrap_or(Err(CallError::Late { sent: false }))
}

/// What the element offers could not be read: nothing was sent.
pub fn unread(error: &CallError) -> Error {
    let late = matches!(error, CallError::Late { .. });
    let error = crate::bus::join::describe(error);
    if late {
        return Error::before(Code::AppUnresponsive, "the application did not say in time what the element offers")
            .kind("application_silent")
            .platform(error);
    }
    Error::before(Code::ActionFailed, "what the element offers could not be read")
        .kind("live_read_incomplete")
        .platform(error)
        .suggest("Take a new snapshot: the element may be gone.")
}
