//! The tree as it was read: an arena of facts with what was cut and why (architecture: RawTree).

use crate::evidence::{Cause, Evidence};
use crate::geometry::Rect;
use crate::vocab::capability::CapabilitySet;
use crate::vocab::native_id::NativeId;
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};
use serde::{Deserialize, Serialize};

/// An adapter's own address of an element: opaque to core, serialisable, comparable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Handle(pub Box<str>);

impl Handle {
    /// A handle from the adapter's text.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The adapter's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether an address follows its element, or the slot that shows it (decisions D1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Measured: the address follows the element.
    Follows,
    /// Measured to follow the slot, or not measured: witnesses must speak for the element.
    Slot,
}

/// The seven ranked sources of a name (spec 1 §3), each with its own read status. Role gating is
/// folded in by the adapter: a source that does not apply to the element is `Absent`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameSlots {
    /// 1: a name that the author gave explicitly.
    pub explicit_label: Evidence<String>,
    /// 2: text of the elements that label this one.
    pub labelled_by_text: Evidence<String>,
    /// 3: the toolkit's own title.
    pub native_title: Evidence<String>,
    /// 4: a value that never changes (static text).
    pub static_value: Evidence<String>,
    /// 5: text of label children.
    pub child_label: Evidence<String>,
    /// 6: placeholder.
    pub placeholder: Evidence<String>,
    /// 7: description.
    pub description: Evidence<String>,
}

impl NameSlots {
    /// Does something to each text that is known.
    pub fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        for slot in [
            &mut self.explicit_label,
            &mut self.labelled_by_text,
            &mut self.native_title,
            &mut self.static_value,
            &mut self.child_label,
            &mut self.placeholder,
            &mut self.description,
        ] {
            if let Evidence::Known(text) = slot {
                change(text);
            }
        }
    }
}

impl Default for NameSlots {
    fn default() -> Self {
        Self {
            explicit_label: Evidence::Absent,
            labelled_by_text: Evidence::Absent,
            native_title: Evidence::Absent,
            static_value: Evidence::Absent,
            child_label: Evidence::Absent,
            placeholder: Evidence::Absent,
            description: Evidence::Absent,
        }
    }
}

/// What was read about one element, at capture or live. The same function of an adapter composes both,
/// so that the two can be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The role by the closed vocabulary; `Known(Role::Unknown)` is a positive statement.
    pub role: Evidence<Role>,
    /// The native role's own name, for diagnostics.
    pub native_role: Box<str>,
    /// Sources of the name.
    pub names: NameSlots,
    /// Elements whose text entered `labelled_by_text` or `child_label`: read again with the element.
    pub label_sources: Vec<Handle>,
    /// The value as text; withheld (`Absent`) in secure fields.
    pub value: Evidence<String>,
    /// The states, positively reported ones only.
    pub states: Evidence<StateSet>,
    /// What can be done, positively offered only.
    pub capabilities: Evidence<CapabilitySet>,
    /// The application's identifier.
    pub native_id: Evidence<NativeId>,
    /// Bounds on the screen; `Unknown(NotRead)` where the plan left them out.
    pub bounds: Evidence<Rect>,
    /// Text by which an item is told from its siblings: the stable text of labels and static text, or
    /// of an item that carries its text itself. Never a value.
    pub own_text: Evidence<String>,
    /// Row and column of a cell in a table.
    pub cell: Evidence<(i64, i64)>,
    /// Whether this is a secure field: its value and related text are withheld everywhere.
    pub secure: bool,
    /// Whether the native role is an item (list item, row, tree item, cell, option …).
    pub item: bool,
    /// Whether the address follows the element.
    pub grade: Grade,
    /// States of which the source says nothing for this element, so that their absence is no "no": `hidden` where nothing
    /// tells whether its page is shown, `selected` where the toolkit publishes no choice.
    pub untold: StateSet,
    /// Whether it stands in a page that shares its place with others.
    pub in_page: bool,
    /// Elements by which the adapter tells whether that page is shown; empty where there are none.
    pub page_signs: Vec<Handle>,
    /// Whether the element is an anonymous wrapper of web content: spends no logical depth (spec 1 §2).
    pub web_wrapper: bool,
    /// The adapter's own note of what is worth reading of this element; kept with its ref, so that it is asked for
    /// nothing that it does not have.
    pub plan: u32,
}

impl Facts {
    /// Whether nothing tells that it is shown: it may be visible or not.
    pub fn shown_unsure(&self) -> bool {
        self.untold.has(State::Hidden)
    }
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            role: Evidence::Unknown(Cause::NotRead),
            native_role: "".into(),
            names: NameSlots::default(),
            label_sources: Vec::new(),
            value: Evidence::Absent,
            states: Evidence::Unknown(Cause::NotRead),
            capabilities: Evidence::Unknown(Cause::NotRead),
            native_id: Evidence::Absent,
            bounds: Evidence::Unknown(Cause::NotRead),
            own_text: Evidence::Absent,
            cell: Evidence::Absent,
            secure: false,
            item: false,
            grade: Grade::Slot,
            untold: StateSet::EMPTY,
            in_page: false,
            page_signs: Vec::new(),
            web_wrapper: false,
            plan: 0,
        }
    }
}

/// Why children of a node are missing from the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The time ran out or a node did not answer: the tree is incomplete here.
    Late,
    /// The element vanished while it was read.
    Gone,
    /// The source answered with a fault.
    Fault(String),
    /// An observation limit of the contract.
    Limit,
    /// A virtual container (huge child count): only visible children are listed; not incomplete (D6).
    Virtual,
    /// A child that is its own ancestor, or was seen elsewhere in the tree.
    Cycle,
}

impl Cut {
    /// Whether the cut makes an observation incomplete.
    pub fn incomplete(&self) -> bool {
        !matches!(self, Cut::Virtual)
    }
}

/// One element in the arena.
#[derive(Clone, Debug, PartialEq)]
pub struct RawNode {
    /// Address.
    pub handle: Handle,
    /// Arena index of the parent; none for the root.
    pub parent: Option<u32>,
    /// Index among the parent's children, as the application counts.
    pub index: u32,
    /// Arena indices of the children that were read, in order.
    pub children: Vec<u32>,
    /// How many children the application says there are.
    pub child_count: Evidence<u64>,
    /// Why children are missing, if any are.
    pub cut: Option<Cut>,
    /// What was read.
    pub facts: Facts,
}

/// One step of a chain from the application down to an element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Address of the element of this step.
    #[serde(rename = "h")]
    pub handle: Handle,
    /// Its index among the children of the step before.
    #[serde(rename = "i")]
    pub index: u32,
}

/// A tree as read: nodes in pre-order, the root first.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTree {
    /// The arena, pre-order, root at 0.
    pub nodes: Vec<RawNode>,
    /// The chain above the root, outermost first: for a window the application's own element. Empty
    /// where the adapter's elements have no chain.
    pub above: Vec<Link>,
    /// Round trips or other figures for diagnostics.
    pub notes: Vec<String>,
    /// Facts that a caller should know about the whole tree (e.g. `renderer_accessibility_activation_required`).
    pub kind: Option<&'static str>,
}

impl RawTree {
    /// Whether nothing that should be there is missing.
    pub fn complete(&self) -> bool {
        self.kind.is_none() && !self.nodes.iter().any(|n| n.cut.as_ref().is_some_and(Cut::incomplete))
    }

    /// The node at an arena index.
    pub fn node(&self, at: u32) -> &RawNode {
        &self.nodes[at as usize]
    }

    /// Arena indices from the node up to the root, the node first.
    pub fn ancestors_or_self(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(at), move |i| self.node(*i).parent)
    }

    /// Arena indices of the node and its descendants, in pre-order.
    pub fn subtree(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let mut stack = vec![at];
        std::iter::from_fn(move || {
            let next = stack.pop()?;
            stack.extend(self.node(next).children.iter().rev());
            Some(next)
        })
    }
}
