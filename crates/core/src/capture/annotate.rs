//! Boxes and labels of refs on a window's picture.

use super::font;
use super::paint::{Part, all, fill, inside, outline};
use crate::evidence::Evidence;
use crate::geometry::Rect;
use crate::platform::Pixels;
use crate::tree::present::states_of;
use crate::tree::raw::RawTree;
use crate::vocab::role::Role;
use crate::vocab::state::State;

const WHITE: [u8; 3] = [255, 255, 255];
/// Dark enough for white signs, and told apart side by side.
const COLOURS: [[u8; 3]; 6] = [[200, 0, 40], [0, 80, 220], [0, 115, 45], [140, 0, 180], [175, 75, 0], [0, 105, 125]];

/// One ref to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its number in its snapshot.
    pub number: u32,
    /// Its place in the picture.
    pub part: Part,
}

/// The refs that the picture shows: positively placed, neither hidden nor scrolled away, not in a popup over the window.
pub(super) fn marks(tree: &RawTree, numbered: &[(u32, u32)], window: &Rect, popups: &[Rect]) -> Vec<Mark> {
    let seen = |&(number, raw): &(u32, u32)| {
        let facts = &tree.node(raw).facts;
        let Evidence::Known(bounds) = &facts.bounds else { return None };
        let unseen = states_of(facts).known().is_some_and(|s| s.has(State::Hidden) || s.has(State::Offscreen));
        let over = popups.iter().any(|popup| popup.holds(bounds.at(0.5, 0.5)));
        let shown = bounds.has_area() && bounds.overlaps(window);
        (shown && !unseen && !over).then(|| Mark { number, part: inside(bounds, window) })
    };
    numbered.iter().filter_map(seen).collect()
}

/// Where text stands that no ref carries: labels of fields, paragraphs.
pub(super) fn texts(tree: &RawTree, window: &Rect) -> Vec<Part> {
    let leaves = tree.nodes.iter().filter(|n| n.children.is_empty());
    let texts = leaves.filter(|n| n.facts.role == Evidence::Known(Role::StaticText));
    texts.filter_map(|n| n.facts.bounds.known()).filter(|b| b.overlaps(window)).map(|b| inside(b, window)).collect()
}

/// Draws them, the labels so that they hide as little of each other, of the elements and of these texts as they can.
pub(super) fn draw(pixels: &mut Pixels, marks: &[Mark], texts: &[Part], scale: f64) {
    let dot = if scale >= 2.0 { 3 } else { 2 };
    let colour = |number: u32| COLOURS[number as usize % COLOURS.len()];
    for mark in marks {
        let part = mark.part.shared(all(pixels));
        outline(pixels, &part, 3, WHITE);
        outline(pixels, &part, 2, colour(mark.number));
    }
    // Labels come after all boxes, so that no box crosses one.
    let mut taken: Vec<Part> = Vec::new();
    for mark in marks {
        let text = format!("e{}", mark.number);
        let place = place(&text, mark, (marks, texts), &taken, all(pixels), dot);
        fill(pixels, &place, WHITE);
        fill(pixels, &place.grown(-1), colour(mark.number));
        write(pixels, &text, place, dot);
        taken.push(place);
    }
}

/// Where a label stands: at its box, outside rather than inside, where it hides least.
fn place(text: &str, mark: &Mark, (marks, texts): (&[Mark], &[Part]), taken: &[Part], picture: Part, dot: i64) -> Part {
    let signs = text.len() as i64;
    let (width, height) = ((signs * (font::WIDTH + 1) - 1) * dot + 6, font::HEIGHT * dot + 6);
    let b = mark.part.shared(picture);
    let at = |left: i64, top: i64| {
        let left = left.min(picture.right - width).max(0);
        let top = top.min(picture.lower - height).max(0);
        Part { left, top, right: left + width, lower: top + height }
    };
    let middle = (b.top + b.lower - height) / 2;
    let candidates = [
        at(b.left, b.top - height),
        at(b.left, b.lower),
        at(b.right - width, b.top - height),
        at(b.right - width, b.lower),
        at(b.left - width, middle),
        at(b.right, middle),
        // Astride the edge.
        at(b.right - width, b.lower - height / 2),
        at(b.right - width, b.top - height / 2),
        at(b.left, b.lower - height / 2),
        at(b.left, b.top - height / 2),
        at(b.right - width, middle),
        at(b.right - width, b.top),
        at(b.right - width, b.lower - height),
        at(b.left, b.top),
        at(b.left, b.lower - height),
    ];
    // A box that holds this one hides nothing of use below its labels.
    let own = b.area();
    let hides = |p: &Part| {
        let labels: i64 = taken.iter().map(|t| p.shared(*t).area()).sum();
        let others: i64 = marks
            .iter()
            .filter(|m| m.number != mark.number && m.part.shared(b).area() < own)
            .map(|m| p.shared(m.part.shared(picture)).area())
            .sum();
        let texts: i64 = texts.iter().map(|t| p.shared(*t).area()).sum();
        // Its own content counts too, but less than a neighbour's.
        8 * labels + 2 * others + 2 * texts + p.shared(b).area()
    };
    let mut best = candidates[0];
    for candidate in &candidates[1..] {
        if hides(candidate) < hides(&best) {
            best = *candidate;
        }
    }
    best
}

fn write(pixels: &mut Pixels, text: &str, place: Part, dot: i64) {
    for (at, sign) in text.chars().enumerate() {
        let left = place.left + 3 + at as i64 * (font::WIDTH + 1) * dot;
        for (row, dots) in font::rows(sign).into_iter().enumerate() {
            let top = place.top + 3 + row as i64 * dot;
            for column in (0..font::WIDTH).filter(|c| dots >> (font::WIDTH - 1 - c) & 1 == 1) {
                let left = left + column * dot;
                fill(pixels, &Part { left, top, right: left + dot, lower: top + dot }, WHITE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::node;
    use crate::vocab::state::StateSet;

    fn part(left: i64, top: i64, width: i64, height: i64) -> Part {
        Part { left, top, right: left + width, lower: top + height }
    }

    #[test]
    fn labels_hide_neither_each_other_nor_neighbours() {
        let marks: Vec<Mark> =
            (0..4).map(|i| Mark { number: i + 8, part: part(20 + i64::from(i) * 60, 40, 50, 24) }).collect();
        let picture = part(0, 0, 400, 100);
        let mut taken = Vec::new();
        for mark in &marks {
            let p = place(&format!("e{}", mark.number), mark, (&marks, &[]), &taken, picture, 2);
            assert_eq!(p.shared(picture), p, "on the picture");
            assert!(taken.iter().all(|t: &Part| t.shared(p).area() == 0));
            assert!(marks.iter().all(|m| m.part.shared(p).area() == 0));
            taken.push(p);
        }
    }

    #[test]
    fn a_label_fits_any_picture() {
        let mark = Mark { number: 4_000_000_000, part: part(-5, -5, 20, 20) };
        let mut pixels = Pixels { width: 10, height: 10, rgba: vec![0; 400] };
        draw(&mut pixels, &[mark], &[], 1.0);
        assert_eq!(pixels.rgba.len(), 400);
    }

    #[test]
    fn only_what_is_seen_is_drawn() {
        let mut tree = node(Role::Window)
            .child(node(Role::Button))
            .child(node(Role::Button))
            .child(node(Role::Button))
            .child(node(Role::Button))
            .build();
        let window = Rect { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };
        for (at, x) in [(1, 0.0), (2, 20.0), (3, 200.0), (4, 50.0)] {
            tree.nodes[at].facts.bounds = Evidence::Known(Rect { x, y: 0.0, width: 10.0, height: 10.0 });
        }
        tree.nodes[2].facts.states = Evidence::Known(StateSet::EMPTY.with(State::Offscreen));
        let popup = Rect { x: 50.0, y: 0.0, width: 50.0, height: 50.0 };
        let numbered = [(1, 1), (2, 2), (3, 3), (4, 4)];
        let found = marks(&tree, &numbered, &window, &[popup]);
        assert_eq!(found, [Mark { number: 1, part: part(0, 0, 10, 10) }]);
    }
}
