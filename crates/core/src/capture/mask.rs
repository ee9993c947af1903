//! Where secure fields are in a picture, and blacking them out. What can't be proven to be told completely is refused: a
//! picture can't be taken back.

use super::paint;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::geometry::Rect;
use crate::platform::Pixels;
use crate::tree::present::states_of;
use crate::tree::raw::{Facts, RawTree};
use crate::vocab::state::State;

/// What stands where a secure field was.
const BLACK: [u8; 3] = [0, 0, 0];
/// Pixels around a field that are blacked out as well: toolkits round its edges.
const MARGIN: f64 = 2.0;
/// A window this many times as large as its own tree says is counted in other units than the screen's.
const OTHER_UNITS: f64 = 1.5;

/// The areas of secure fields in a window's tree, read with bounds.
///
/// # Errors
/// `mask_unproven` where the tree doesn't tell them all.
pub(super) fn areas(tree: &RawTree, window: &Rect) -> Result<Vec<Rect>> {
    let refuse = |why: &str| Err(unproven(why, &Error::invalid("")));
    if !tree.complete() {
        return refuse("the window's tree is incomplete");
    }
    let mut out = Vec::new();
    for (at, node) in tree.nodes.iter().enumerate() {
        let facts = &node.facts;
        if !facts.role.settled() || !facts.states.settled() {
            return refuse("an element could not be read");
        }
        if at == 0 && in_other_units(facts, window) {
            return refuse("the application counts its bounds in other units than the screen's pixels");
        }
        if !facts.secure || says(facts, State::Hidden) {
            continue;
        }
        match &facts.bounds {
            Evidence::Known(bounds) if bounds.has_area() => out.push(Rect {
                x: bounds.x - MARGIN,
                y: bounds.y - MARGIN,
                width: bounds.width + 2.0 * MARGIN,
                height: bounds.height + 2.0 * MARGIN,
            }),
            Evidence::Known(_) | Evidence::Absent if says(facts, State::Offscreen) => {}
            _ => return refuse("the place of a secure field could not be read"),
        }
    }
    Ok(out)
}

fn says(facts: &Facts, state: State) -> bool {
    states_of(facts).known().is_some_and(|s| s.has(state))
}

fn in_other_units(root: &Facts, window: &Rect) -> bool {
    root.bounds.known().is_some_and(|own| {
        own.has_area() && window.width >= own.width * OTHER_UNITS && window.height >= own.height * OTHER_UNITS
    })
}

/// Blacks out areas of the screen in a picture that begins at `origin`. Gives how many of them it shows.
pub(super) fn fill(pixels: &mut Pixels, origin: &Rect, areas: &[Rect]) -> usize {
    let shown = areas.iter().filter(|a| a.overlaps(origin));
    shown.map(|a| paint::fill(pixels, &paint::inside(a, origin), BLACK)).count()
}

/// The refusal.
pub(super) fn unproven(why: &str, because: &Error) -> Error {
    let error = Error::before(Code::ActionFailed, format!("secure fields can't be blacked out: {why}"))
        .kind("mask_unproven")
        .suggest("Retry, or name a window that can be read. Only if what is shown may be seen: --no-mask-secure.");
    match because.kind_name() {
        Some(kind) => error.detail("cause", kind),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Cause;
    use crate::tree::fixture::node;
    use crate::tree::raw::Cut;
    use crate::vocab::role::Role;

    const WINDOW: Rect = Rect { x: 100.0, y: 100.0, width: 200.0, height: 100.0 };

    fn tree() -> RawTree {
        let mut tree = node(Role::Window).child(node(Role::TextField).name("Password")).build();
        tree.nodes[0].facts.bounds = Evidence::Known(WINDOW);
        tree.nodes[1].facts.secure = true;
        tree.nodes[1].facts.bounds = Evidence::Known(Rect { x: 110.0, y: 120.0, width: 50.0, height: 20.0 });
        tree
    }

    fn refused(change: impl FnOnce(&mut RawTree)) {
        let mut tree = tree();
        change(&mut tree);
        let e = areas(&tree, &WINDOW).unwrap_err();
        assert_eq!(e.kind_name(), Some("mask_unproven"));
    }

    #[test]
    fn areas_have_a_margin_and_are_blacked_out() {
        let all = areas(&tree(), &WINDOW).unwrap();
        assert_eq!(all, [Rect { x: 108.0, y: 118.0, width: 54.0, height: 24.0 }]);
        let mut pixels = Pixels { width: 200, height: 100, rgba: vec![255; 200 * 100 * 4] };
        assert_eq!(fill(&mut pixels, &WINDOW, &all), 1);
        let black = pixels.rgba.chunks_exact(4).filter(|p| p[..3] == BLACK).count();
        assert_eq!(black, 54 * 24);
        assert_eq!(&pixels.rgba[(18 * 200 + 8) * 4..][..4], [0, 0, 0, 255]);
    }

    #[test]
    fn what_is_not_proven_is_refused() {
        refused(|t| t.nodes[1].facts.bounds = Evidence::Unknown(Cause::Late));
        refused(|t| t.nodes[1].facts.bounds = Evidence::Absent);
        refused(|t| t.nodes[1].cut = Some(Cut::Late));
        refused(|t| t.nodes[1].facts.role = Evidence::Unknown(Cause::Late));
        refused(|t| t.nodes[1].facts.states = Evidence::Unknown(Cause::Late));
        refused(|t| t.kind = Some("renderer_accessibility_activation_required"));
        // Twice as large on the screen as by its own word: scaled.
        refused(|t| t.nodes[0].facts.bounds = Evidence::Known(Rect { width: 100.0, height: 50.0, ..WINDOW }));
    }
}
