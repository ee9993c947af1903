//! Writing: an adapter proposes rungs for an action on an element and runs the one that core picks. Core
//! disposes: order, policy, deadline, evidence, and stopping after anything that may have landed.

use super::observe::ProcessKey;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::tree::raw::{Facts, Handle};
use serde::{Deserialize, Serialize};

/// What a caller permits (spec 1 §7), weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Semantic accessibility only.
    Headless,
    /// May move the focus.
    FocusFallback,
    /// May move focus and cursor, and send synthetic input.
    Headed,
}

/// How a rung reaches its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// The accessibility interface.
    SemanticApi,
    /// Synthetic input.
    PhysicalSynthetic,
}

/// Direction of scrolling: where the content's hidden part lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

/// One action on one element.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named after the commands of spec 2
pub enum Action {
    Click,
    DoubleClick,
    TripleClick,
    RightClick,
    /// Insert text at the caret or over the selection.
    Type(String),
    /// Replace the value.
    SetValue(String),
    Clear,
    Focus,
    /// Choose the option with this display text.
    Select(String),
    Toggle,
    Check,
    Uncheck,
    Expand,
    Collapse,
    Scroll {
        direction: Direction,
        amount: u32,
    },
    ScrollTo,
}

impl Action {
    /// The command's name.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Click => "click",
            Action::DoubleClick => "double-click",
            Action::TripleClick => "triple-click",
            Action::RightClick => "right-click",
            Action::Type(_) => "type",
            Action::SetValue(_) => "set-value",
            Action::Clear => "clear",
            Action::Focus => "focus",
            Action::Select(_) => "select",
            Action::Toggle => "toggle",
            Action::Check => "check",
            Action::Uncheck => "uncheck",
            Action::Expand => "expand",
            Action::Collapse => "collapse",
            Action::Scroll { .. } => "scroll",
            Action::ScrollTo => "scroll-to",
        }
    }
}

/// A live element that a resolution just proved.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Its address.
    pub handle: Handle,
    /// Its process.
    pub process: ProcessKey,
    /// The window's root, where known.
    pub window: Option<Handle>,
    /// What was read with the proof.
    pub facts: Facts,
}

/// One way to do an action, as an adapter proposes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// Label of the step (`Action.DoAction(click)`, `EditableText.SetTextContents`).
    pub label: String,
    /// How it reaches the target.
    pub mechanism: Mechanism,
    /// What the caller must permit.
    pub needs: Policy,
    /// Whether it is known that only the control changes by this way, and the code behind it does not hear of it.
    pub unheard: bool,
    /// The adapter's own key of this way.
    pub key: u32,
    /// The adapter's own arguments of this way (an action's index, a child's address).
    pub argument: String,
}

/// What became of one write, by the adapter's write table. Never by its read table: codes that make a read
/// worth repeating are exactly those where a write may have landed.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteOutcome {
    /// The provider said yes. Says nothing about the effect.
    Accepted,
    /// No reply yet, but an effect was seen: the handler runs on (a modal dialog, decisions D5).
    Pending,
    /// Proven: the element has no such affordance and nothing was delivered. The next rung may be tried.
    Absent(String),
    /// Proven: nothing was delivered, and no other way may be tried. The error says `not_delivered`.
    Refused(Error),
    /// No reply by the deadline and nothing seen: it may have landed.
    NoReply,
    /// The provider answered with a failure that proves nothing: it may have landed.
    Uncertain(String),
}

/// What was seen after a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// The target itself changed.
    TargetChanged,
    /// A window, dialog, menu or popup appeared.
    SurfaceAppeared,
    /// Something else in the application changed.
    ChangedElsewhere,
    /// The target is gone while its process lives.
    Gone,
}

/// One observed effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Its kind.
    pub kind: EffectKind,
    /// What was seen, in the vocabulary of the platform's events (no text of the application).
    pub what: String,
    /// Whether it proves the action's own post-condition: a menu or popup of the target itself.
    pub of_target: bool,
}

/// A subscription to one application's events, made before the dispatch.
pub trait Watch {
    /// Effects since the subscription; returns with the first ones seen, or when `until` passes.
    fn effects(&mut self, until: Deadline) -> Vec<Effect>;

    /// How long this toolkit may take to show an effect, in milliseconds (decisions D5: 100, web content 500).
    fn window_ms(&self) -> u64;

    /// Effects that follow because the application was still at work when the window ended: time in which it answers
    /// nobody is none in which it showed nothing. Returns at once where it answers.
    fn overtime(&mut self, deadline: Deadline) -> Vec<Effect> {
        let _ = deadline;
        Vec::new()
    }
}

/// A write that was sent, or proven not to be.
pub struct Dispatch {
    /// What became of it.
    pub outcome: WriteOutcome,
    /// The subscription that was made before it.
    pub watch: Box<dyn Watch>,
}

/// Writes to one desktop.
pub trait Operate {
    /// Ways to do the action on the element, best first. Empty: this element offers none; `Err` where the reason
    /// is worth more than that.
    fn rungs(&self, target: &Live, action: &Action, deadline: Deadline) -> Result<Vec<Rung>, Error>;

    /// Subscribes to the application's events, for input that core sends by another way.
    fn watch(&self, target: &Live, deadline: Deadline) -> Box<dyn Watch>;

    /// Subscribes to the application's events, then runs one way. Called under the lease, right after a
    /// resolution. Returns when the reply is there, or the deadline has passed, or an effect is seen while the
    /// reply stays away.
    fn dispatch(&self, target: &Live, action: &Action, rung: &Rung, deadline: Deadline) -> Dispatch;
}
