//! Which elements fit a token budget: what can be acted on and what has a name come first (decisions D6).

use super::name::{name_of, value_of};
use super::present::{Earns, Work, capabilities_of, states_of};
use super::raw::{Facts, RawTree};
use crate::vocab::role::Role;
use crate::vocab::state::State;

/// Bytes of one token, as a rule of thumb for names and field names.
const BYTES_PER_TOKEN: usize = 4;

/// Bytes that an element costs besides its own texts: braces, field names and the role.
const FRAME: usize = 28;

/// Bytes of a qualified ref with its field name.
const REF: usize = 32;

/// Estimated tokens of one element in an answer.
fn cost(facts: &Facts, earns: Earns, bounds: bool) -> usize {
    let text = |field: usize, len: usize| if len == 0 { 0 } else { field + len };
    let name = name_of(facts).known().map_or(0, |n| n.text.len());
    let value = value_of(facts).known().map_or(0, |v| v.len());
    let states = states_of(facts).known().map_or(0, |s| s.iter().map(|s| s.token().len() + 3).sum());
    let actions: usize = capabilities_of(facts).iter().map(|c| c.token().len() + 3).sum();
    let bytes = FRAME
        + if earns == Earns::Nothing { 0 } else { REF }
        + text(10, name)
        + text(11, value)
        + text(12, states)
        + text(22, actions)
        + if bounds && facts.bounds.known().is_some() { 56 } else { 0 };
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// A field is what one types into, or reads the result in, and often has no name: it comes with what has one.
pub fn is_field(facts: &Facts) -> bool {
    matches!(facts.role.known(), Some(Role::TextField | Role::ComboBox | Role::Slider | Role::Incrementor))
}

/// How soon an element is chosen: lower is sooner. Among those of one kind, what is on the screen comes first.
fn class(facts: &Facts, earns: Earns) -> usize {
    let told = name_of(facts).known().is_some() || (is_field(facts) && earns == Earns::Action);
    let kind = match (earns, told) {
        (Earns::Action | Earns::Anchor, true) => 0,
        (Earns::Action | Earns::Anchor, false) => 1,
        (Earns::Nothing, true) => 2,
        (Earns::Nothing, false) => 3,
    };
    let away = states_of(facts).known().is_some_and(|s| s.has(State::Hidden) || s.has(State::Offscreen));
    kind * 2 + usize::from(away)
}

/// Which elements fit. Each brings the containers above it; the root is always chosen. Within a class the order is the
/// tree's, and the first that doesn't fit ends the choice, so that a larger budget never shows less.
pub(super) fn choose(tree: &RawTree, work: &[Work], tokens: usize, bounds: bool) -> Vec<bool> {
    let mut chosen = vec![false; work.len()];
    let shown = |w: &Work| w.keep && !w.splice;
    let facts = |w: &Work| &tree.node(w.raw).facts;
    let mut left = tokens;
    if let Some(root) = work.first() {
        chosen[0] = true;
        left = left.saturating_sub(cost(facts(root), root.earns, bounds));
    }
    let classes: Vec<usize> = work.iter().map(|w| class(facts(w), w.earns)).collect();
    for wanted in 0..8 {
        for at in (0..work.len()).filter(|at| classes[*at] == wanted && shown(&work[*at])) {
            let mut path = Vec::new();
            let mut price = 0;
            let mut up = Some(at as u32);
            while let Some(i) = up.filter(|i| !chosen[*i as usize]) {
                let w = &work[i as usize];
                if shown(w) {
                    price += cost(facts(w), w.earns, bounds);
                }
                path.push(i);
                up = w.parent;
            }
            if price > left {
                return chosen;
            }
            left -= price;
            for i in path {
                chosen[i as usize] = true;
            }
        }
    }
    chosen
}
