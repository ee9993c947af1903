//! `-i`: what isn't on the screen is folded (decisions D6). Closed menus and pages that aren't shown are most of many
//! trees, and few tasks need them: their container stays, says how many children it has and leads into them with `--root`.
//! `find` looks into them all the same.

use super::present::{children, earns_ref, states_of};
use super::raw::{RawNode, RawTree};
use crate::evidence::Evidence;
use crate::vocab::role::Role;
use crate::vocab::state::State;

/// What a tree holds below each of its elements.
pub(super) struct Closed {
    /// Whether something stands below that `-i` doesn't drop: what earns a ref, or could not be read.
    something: Vec<bool>,
}

impl Closed {
    pub(super) fn of(tree: &RawTree) -> Self {
        let mut something = vec![false; tree.nodes.len()];
        // Parents stand before their children.
        for at in (1..tree.nodes.len()).rev() {
            let node = &tree.nodes[at];
            let kept = something[at] || earns_ref(&node.facts) || !node.facts.role.settled() || node.cut.is_some();
            if let (true, Some(up)) = (kept, node.parent.and_then(|p| something.get_mut(p as usize))) {
                *up = true;
            }
        }
        Self { something }
    }

    /// Whether anything stands below an element that `-i` doesn't drop.
    pub(super) fn something_below(&self, at: u32) -> bool {
        self.something[at as usize]
    }

    /// Whether what is below the element is folded: it isn't shown, or is a closed menu. Never the root's, which was
    /// asked for, and only at the outermost element: who drills into it wants to see what is inside.
    pub(super) fn folds(&self, tree: &RawTree, at: u32) -> bool {
        let node = tree.node(at);
        let Some(parent) = node.parent else { return false };
        if !self.something_below(at) {
            return false;
        }
        let not_shown = has(node, State::Hidden) && !has(tree.node(parent), State::Hidden);
        not_shown || closed_menu(tree, at)
    }
}

impl Closed {
    /// Whether an element is left out: it isn't shown, and nothing stands below it into which anybody could drill. It
    /// stays where it has the focus or could not be read, where its container was asked for although it isn't shown, and
    /// as what a combo box offers.
    pub(super) fn drops(&self, tree: &RawTree, at: u32) -> bool {
        let node = tree.node(at);
        let Some(parent) = node.parent else { return false };
        let read = node.facts.role.settled() && node.facts.states.settled() && node.cut.is_none();
        read && earns_ref(&node.facts)
            && has(node, State::Hidden)
            && !has(node, State::Focused)
            && !has(tree.node(parent), State::Hidden)
            && !self.something_below(at)
            && !tree
                .ancestors_or_self(parent)
                .take(3)
                .any(|a| tree.node(a).facts.role == Evidence::Known(Role::ComboBox))
    }
}

/// Whether an element is known not to be shown: it says so itself, or stands in something hidden or in a closed menu.
pub(crate) fn away(tree: &RawTree, at: u32) -> bool {
    let around = |a: u32| tree.node(a).parent.is_some() && (has(tree.node(a), State::Hidden) || closed_menu(tree, a));
    has(tree.node(at), State::Hidden) || tree.ancestors_or_self(at).skip(1).any(around)
}

fn has(node: &RawNode, state: State) -> bool {
    states_of(&node.facts).known().is_some_and(|s| s.has(state))
}

/// A menu, or an entry that opens one, none of whose entries is on the screen.
fn closed_menu(tree: &RawTree, at: u32) -> bool {
    let off = |c: u32| {
        let child = tree.node(c);
        has(child, State::Hidden)
            || has(child, State::Offscreen)
            || child.facts.role == Evidence::Known(Role::Separator)
    };
    // Some toolkits put a menu of its own below the entry that opens it: who drills into the entry wants the entries.
    let of_root = tree.node(at).parent == Some(0)
        && matches!(tree.node(0).facts.role, Evidence::Known(Role::MenuItem | Role::MenuButton));
    let opens = matches!(tree.node(at).facts.role, Evidence::Known(Role::Menu | Role::MenuItem | Role::MenuButton));
    // A separator alone says nothing about the menu.
    let entry = |c: u32| tree.node(c).facts.role != Evidence::Known(Role::Separator);
    // What a combo box offers is what one chooses by.
    let parent = tree.node(at).parent.map(|p| &tree.node(p).facts.role);
    let offer = parent == Some(&Evidence::Known(Role::ComboBox));
    let passed = of_root && tree.node(at).facts.role == Evidence::Known(Role::Menu);
    opens && !offer && !passed && children(tree, at).any(entry) && children(tree, at).all(off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::node;

    #[test]
    fn what_stands_in_something_hidden_or_in_a_closed_menu_is_away() {
        let entry = |state: Option<State>| state.iter().fold(node(Role::MenuItem), |n, s| n.state(*s));
        let tree = node(Role::Window)
            .child(node(Role::Button).state(State::Disabled))
            .child(node(Role::StaticText).state(State::Offscreen))
            .child(node(Role::Group).state(State::Hidden).child(node(Role::Button)))
            .child(node(Role::Menu).child(entry(Some(State::Offscreen))).child(entry(Some(State::Hidden))))
            .child(node(Role::Menu).child(entry(None)).child(entry(Some(State::Offscreen))))
            .build();
        let gone: Vec<u32> = (0..tree.nodes.len() as u32).filter(|at| away(&tree, *at)).collect();
        assert_eq!(gone, [3, 4, 6, 7]);
    }
}
