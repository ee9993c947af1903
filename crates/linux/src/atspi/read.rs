//! From a walk to core's raw tree.

use super::compose::{Place, compose};
use super::origin::Origins;
use super::role::native as n;
use super::toolkit::Toolkit;
use super::tree::{Walk, root_answered};
use crate::bus::{Object, Wire};
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::platform::ReadPlan;
use agent_desktop_core::tree::raw::{Link, RawNode, RawTree};

/// Nodes of a Chromium window that shows its own controls at least; without web content there are four
/// (FINDINGS §1 "Chromium without the flag").
const CHROME_NODES: usize = 32;

/// Reads the tree below a root.
pub fn read_tree(
    wire: &dyn Wire,
    toolkit: Toolkit,
    root: Object,
    above: &[Link],
    plan: &ReadPlan,
    origins: &Origins<'_>,
) -> Result<RawTree, Error> {
    let mut walk = Walk::new(wire, toolkit, plan, root);
    walk.stand_below(above);
    walk.structure();
    let first = &walk.subjects[0].native;
    if let Some(why) = &first.dead {
        return Err(Error::before(Code::WindowNotFound, "the window is gone")
            .suggest("List the windows again with 'agent-desktop list-windows'.")
            .platform(why.clone()));
    }
    if !root_answered(first) {
        return Err(Error::before(Code::AppUnresponsive, "the application does not answer")
            .kind("application_silent")
            .retry_after(1_000)
            .suggest("Wait until the application responds again, or raise --timeout-ms."));
    }
    walk.details();
    Ok(raw(&walk, toolkit, above, plan, origins))
}

/// The arena in pre-order.
fn raw(walk: &Walk<'_>, toolkit: Toolkit, above: &[Link], plan: &ReadPlan, origins: &Origins<'_>) -> RawTree {
    let origin_of = drawn_in(walk, toolkit, plan, origins);
    let mut order = Vec::with_capacity(walk.nodes.len());
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        order.push(at);
        stack.extend(walk.nodes[at].children.iter().rev());
    }
    let mut place_of = vec![0u32; walk.nodes.len()];
    for (new, old) in order.iter().enumerate() {
        place_of[*old] = u32::try_from(new).unwrap_or(u32::MAX);
    }
    let node = |at: &usize| {
        let (node, subject) = (&walk.nodes[*at], &walk.subjects[*at]);
        // The chain above a window is its application alone.
        let top = node.parent.is_none() && above.len() == 1;
        let place = Place { toolkit, above: node.above, top, origin: origin_of[*at].clone(), bounds: plan.bounds };
        let mut facts = compose(&subject.native, &place);
        facts.in_page = node.page.is_some() || !node.signs.is_empty() || node.above.unsure;
        facts.page_signs = node.signs.iter().map(Object::handle).collect();
        RawNode {
            handle: node.place.as_ref().unwrap_or(&subject.object).handle(),
            parent: node.parent.map(|p| place_of[p]),
            index: node.index,
            children: node.children.iter().map(|c| place_of[*c]).collect(),
            child_count: subject.native.child_count.clone(),
            cut: node.cut.clone(),
            facts,
        }
    };
    RawTree {
        nodes: order.iter().map(node).collect(),
        above: above.to_vec(),
        notes: walk.notes(),
        kind: without_web_content(walk, toolkit).then_some("renderer_accessibility_activation_required"),
    }
}

/// Where each node's coordinates begin: with those of the innermost popover around it, else with the root's.
fn drawn_in(walk: &Walk<'_>, toolkit: Toolkit, plan: &ReadPlan, origins: &Origins<'_>) -> Vec<Evidence<(f64, f64)>> {
    let mut out: Vec<Option<Evidence<(f64, f64)>>> = vec![None; walk.nodes.len()];
    if !plan.bounds || !toolkit.extents_are_of_window() {
        return vec![origins.root.clone(); walk.nodes.len()];
    }
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        let (node, native) = (&walk.nodes[at], &walk.subjects[at].native);
        let around = node.parent.map_or(&origins.root, |p| out[p].as_ref().unwrap_or(&origins.root)).clone();
        let own = native.role_number().zip(native.name.known());
        let popover =
            node.parent.is_some() && own.is_some_and(|(role, name)| toolkit.has_window_of_its_own(role, name));
        out[at] = Some(match &native.extents {
            _ if !popover => around,
            // A closed one has no window.
            Evidence::Known((_, _, width, height)) if *width <= 0 || *height <= 0 => around,
            Evidence::Known(e) => (origins.popover)(*e),
            Evidence::Absent => around,
            Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
        });
        stack.extend(&node.children);
    }
    out.into_iter().map(|o| o.unwrap_or(Evidence::Unknown(Cause::NotRead))).collect()
}

/// Whether this is a browser window whose page publishes nothing (case `empty-tree-unexplained`).
fn without_web_content(walk: &Walk<'_>, toolkit: Toolkit) -> bool {
    let document = |at: usize| {
        walk.subjects[at].native.role_number() == Some(n::DOCUMENT_WEB)
            && walk.subjects[at].native.child_count.known().is_some_and(|c| *c > 0)
    };
    toolkit.renders_pages_on_demand()
        && walk.subjects[0].native.role_number() == Some(n::FRAME)
        && walk.nodes.len() < CHROME_NODES
        && !(0..walk.nodes.len()).any(document)
}

#[cfg(test)]
mod tests;
