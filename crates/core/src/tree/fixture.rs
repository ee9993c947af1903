//! Hand-built raw trees for tests: `node(Role::Window).name("Editor").child(node(Role::Button).name("Save")).build()`.
//!
//! Every fact of a built node is settled (known or absent) unless a test says otherwise, and its address follows it.

use super::raw::{Cut, Facts, Grade, Handle, RawNode, RawTree};
use crate::evidence::{Cause, Evidence};
use crate::geometry::Rect;
use crate::vocab::capability::{Capability, CapabilitySet};
use crate::vocab::native_id::{NativeId, NativeIdKind};
use crate::vocab::role::Role;
use crate::vocab::state::{State, StateSet};

/// A node under construction.
#[derive(Clone, Debug)]
pub struct Spec {
    facts: Facts,
    handle: Option<Handle>,
    index: Option<u32>,
    child_count: Option<Evidence<u64>>,
    cut: Option<Cut>,
    children: Vec<Spec>,
}

/// A node with a known role, no states, no capabilities and nothing else.
pub fn node(role: Role) -> Spec {
    let facts = Facts {
        role: Evidence::Known(role),
        native_role: role.token().into(),
        states: Evidence::Known(StateSet::EMPTY),
        capabilities: Evidence::Known(CapabilitySet::EMPTY),
        grade: Grade::Follows,
        ..Facts::default()
    };
    Spec { facts, handle: None, index: None, child_count: None, cut: None, children: Vec::new() }
}

/// A tree of `depth` nodes below each other, the last one without children.
pub fn chain(depth: usize, spec: impl Fn(usize) -> Spec) -> RawTree {
    let mut at = spec(depth.saturating_sub(1));
    for i in (0..depth.saturating_sub(1)).rev() {
        at = spec(i).child(at);
    }
    at.build()
}

impl Spec {
    /// Its native title, which becomes its name.
    #[must_use]
    pub fn name(self, text: &str) -> Self {
        self.facts(|f| f.names.native_title = Evidence::Known(text.to_owned()))
    }

    /// An explicit label, which becomes its name.
    #[must_use]
    pub fn label(self, text: &str) -> Self {
        self.facts(|f| f.names.explicit_label = Evidence::Known(text.to_owned()))
    }

    /// Its name can't be read.
    #[must_use]
    pub fn name_unknown(self) -> Self {
        self.facts(|f| f.names.native_title = Evidence::Unknown(Cause::Late))
    }

    /// Its value.
    #[must_use]
    pub fn value(self, text: &str) -> Self {
        self.facts(|f| f.value = Evidence::Known(text.to_owned()))
    }

    /// Its description.
    #[must_use]
    pub fn description(self, text: &str) -> Self {
        self.facts(|f| f.names.description = Evidence::Known(text.to_owned()))
    }

    /// Its placeholder.
    #[must_use]
    pub fn placeholder(self, text: &str) -> Self {
        self.facts(|f| f.names.placeholder = Evidence::Known(text.to_owned()))
    }

    /// Its native id, of kind `ax_identifier`.
    #[must_use]
    pub fn id(self, value: &str) -> Self {
        let id = NativeId { kind: NativeIdKind::AxIdentifier, value: value.to_owned() };
        self.facts(|f| f.native_id = Evidence::Known(id))
    }

    /// Adds a state.
    #[must_use]
    pub fn state(self, state: State) -> Self {
        self.facts(|f| f.states = Evidence::Known(f.states.known().copied().unwrap_or_default().with(state)))
    }

    /// Its source says nothing of this state.
    #[must_use]
    pub fn untold(self, state: State) -> Self {
        self.facts(|f| f.untold.insert(state))
    }

    /// Its states can't be read.
    #[must_use]
    pub fn states_unknown(self) -> Self {
        self.facts(|f| f.states = Evidence::Unknown(Cause::Late))
    }

    /// Adds a capability.
    #[must_use]
    pub fn can(self, capability: Capability) -> Self {
        self.facts(|f| {
            f.capabilities = Evidence::Known(f.capabilities.known().copied().unwrap_or_default().with(capability));
        })
    }

    /// Its bounds.
    #[must_use]
    pub fn bounds(self, x: f64, y: f64, width: f64, height: f64) -> Self {
        self.facts(|f| f.bounds = Evidence::Known(Rect { x, y, width, height }))
    }

    /// The text by which it is told from its siblings.
    #[must_use]
    pub fn own_text(self, text: &str) -> Self {
        self.facts(|f| f.own_text = Evidence::Known(text.to_owned()))
    }

    /// Its row and column in a table.
    #[must_use]
    pub fn cell(self, row: i64, column: i64) -> Self {
        self.facts(|f| f.cell = Evidence::Known((row, column)))
    }

    /// A secure field: flag and state.
    #[must_use]
    pub fn secure(self) -> Self {
        self.state(State::Secure).facts(|f| f.secure = true)
    }

    /// Its native role is an item's.
    #[must_use]
    pub fn item(self) -> Self {
        self.facts(|f| f.item = true)
    }

    /// Its address follows the slot.
    #[must_use]
    pub fn slot(self) -> Self {
        self.facts(|f| f.grade = Grade::Slot)
    }

    /// An anonymous wrapper of web content.
    #[must_use]
    pub fn web_wrapper(self) -> Self {
        self.facts(|f| f.web_wrapper = true)
    }

    /// Changes any facts.
    #[must_use]
    pub fn facts(mut self, change: impl FnOnce(&mut Facts)) -> Self {
        change(&mut self.facts);
        self
    }

    /// Its address; else `h0`, `h1`, … in pre-order.
    #[must_use]
    pub fn handle(mut self, text: &str) -> Self {
        self.handle = Some(Handle::new(text));
        self
    }

    /// Its index among its parent's children; else its position.
    #[must_use]
    pub fn index(mut self, index: u32) -> Self {
        self.index = Some(index);
        self
    }

    /// How many children the application claims; else how many were given.
    #[must_use]
    pub fn child_count(mut self, count: Evidence<u64>) -> Self {
        self.child_count = Some(count);
        self
    }

    /// Children are missing here.
    #[must_use]
    pub fn cut(mut self, cut: Cut) -> Self {
        self.cut = Some(cut);
        self
    }

    /// Adds a child.
    #[must_use]
    pub fn child(mut self, child: Spec) -> Self {
        self.children.push(child);
        self
    }

    /// Adds children.
    #[must_use]
    pub fn children(mut self, children: impl IntoIterator<Item = Spec>) -> Self {
        self.children.extend(children);
        self
    }

    /// The tree with this node as its root. Doesn't recurse: chains may be deep.
    pub fn build(self) -> RawTree {
        let mut nodes: Vec<RawNode> = Vec::new();
        let mut open = vec![(self, None::<u32>, 0u32)];
        while let Some((mut spec, parent, position)) = open.pop() {
            let at = nodes.len() as u32;
            let children = std::mem::take(&mut spec.children);
            nodes.push(RawNode {
                handle: spec.handle.unwrap_or_else(|| Handle::new(format!("h{at}"))),
                parent,
                index: spec.index.unwrap_or(position),
                children: Vec::with_capacity(children.len()),
                child_count: spec.child_count.unwrap_or(Evidence::Known(children.len() as u64)),
                cut: spec.cut,
                facts: spec.facts,
            });
            if let Some(parent) = parent {
                nodes[parent as usize].children.push(at);
            }
            let placed = children.into_iter().enumerate().map(|(i, c)| (c, Some(at), i as u32));
            open.extend(placed.rev());
        }
        RawTree { nodes, above: Vec::new(), notes: Vec::new(), kind: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stand_in_pre_order() {
        let tree = node(Role::Window)
            .child(node(Role::Group).child(node(Role::Button).name("A")))
            .child(node(Role::Button).name("B"))
            .build();
        let order: Vec<u32> = tree.subtree(0).collect();
        assert_eq!(order, [0, 1, 2, 3]);
        assert_eq!(tree.node(3).parent, Some(0));
        assert_eq!(tree.node(3).index, 1);
        assert_eq!(tree.node(0).children, [1, 3]);
        assert!(tree.complete());
    }

    #[test]
    fn a_deep_chain_is_built_without_recursion() {
        assert_eq!(chain(10_000, |_| node(Role::Group)).nodes.len(), 10_000);
    }
}
