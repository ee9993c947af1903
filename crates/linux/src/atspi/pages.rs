//! Which of several pages in one place is shown, where states don't tell (GTK 4.8 reports no SHOWING, and a page that was
//! shown once keeps its place and size: finding L2-3). Asked for what is at its own middle (`GetAccessibleAtPoint`), a label
//! that is on the screen always names itself, and nothing that isn't on the screen ever names anything. Other elements that
//! are on the screen often name nothing: of those only an answer counts.

use super::flight::Subject;
use super::interface as i;
use super::native::{Field, Native};
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::Toolkit;
use super::tree::Node;
use super::visibility::{Above, sentinel};
use crate::bus::{Body, Call, Object, Wire};
use agent_desktop_core::deadline::Deadline;

type Extents = (i32, i32, i32, i32);

/// Elements asked of one page: labels, and others.
const SIGNS: usize = 3;

/// What is known of the page in which an element stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// It stands in no place that several share, or its page is on the screen.
    #[default]
    Shown,
    /// Its page is not on the screen.
    NotShown,
    /// Nothing tells.
    Unsure,
}

impl Page {
    /// The same, where something above disables it: then silence says nothing.
    #[must_use]
    pub fn unless_disabled(self, above: Above) -> Self {
        if self == Self::NotShown && above.disabled { Self::Unsure } else { self }
    }
}

/// A page, with the elements that tell whether it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its place in the walk.
    pub at: usize,
    /// What they say now.
    pub page: Page,
    /// What to ask next time, labels first.
    pub signs: Vec<Object>,
}

fn extents(native: &Native) -> Option<Extents> {
    native.extents.known().copied().filter(|e| !sentinel(*e))
}

fn area(e: Extents) -> i64 {
    i64::from(e.2) * i64::from(e.3)
}

/// Whether one lies on the other, for half of the smaller at least.
fn overlap(a: Extents, b: Extents) -> bool {
    let side = |a: i32, al: i32, b: i32, bl: i32| i64::from((a + al).min(b + bl) - a.max(b)).max(0);
    let both = side(a.0, a.2, b.0, b.2) * side(a.1, a.3, b.1, b.3);
    both * 2 >= area(a).min(area(b))
}

/// Which children of a node share their place with a sibling that can be seen as far as states tell.
fn sharing(nodes: &[Node], subjects: &[Subject], parent: usize, toolkit: Toolkit) -> Vec<usize> {
    let popover = |native: &Native, number| native.name.known().is_some_and(|name| toolkit.is_popover(number, name));
    let visible = |c: &&usize| {
        let native = &subjects[**c].native;
        let number = native.role_number().unwrap_or(n::INVALID);
        // What opens above the rest counts from its own corner: its place says nothing.
        let opens = matches!(number, n::SCROLL_BAR | n::MENU | n::POPUP_MENU) || popover(native, number);
        // Rows that a list doesn't lay out now keep the place they had, where others are: those are no pages.
        let apart = opens || role::is_item(number);
        native.states_or_none().has(States::VISIBLE) && !role::is_window(number) && !apart
    };
    let all: Vec<usize> = nodes[parent].children.iter().filter(visible).copied().collect();
    let own = extents(&subjects[parent].native);
    let shares = |at: &usize| {
        let Some(e) = extents(&subjects[*at].native) else { return false };
        all.iter().filter(|o| *o != at).any(|other| match extents(&subjects[*other].native) {
            Some(o) => overlap(e, o),
            // A page that was never shown has no size yet; the one that was fills the stack.
            None => !nodes[*other].children.is_empty() && own.is_some_and(|p| area(e) * 10 >= area(p) * 9),
        })
    };
    all.iter().copied().filter(shares).collect()
}

fn is_label(native: &Native) -> bool {
    native.role_number().is_some_and(role::is_label)
}

/// Whether a label's silence says that it isn't on the screen: what is not sensitive is never named.
fn telling(native: &Native) -> bool {
    is_label(native) && native.states_or_none().has(States::SENSITIVE) && extents(native).is_some()
}

/// What is asked of an element: its middle, and near its corner, where no child is.
fn calls(object: &Object, native: &Native) -> Vec<Call> {
    let Some((x, y, w, h)) = extents(native) else { return Vec::new() };
    let points =
        if is_label(native) { vec![(x + w / 2, y + h / 2)] } else { vec![(x + w / 2, y + h / 2), (x + 2, y + 2)] };
    points
        .into_iter()
        .map(|(x, y)| Call::with(object, i::COMPONENT, "GetAccessibleAtPoint", Body::Point(x, y, 0)))
        .collect()
}

/// Whether each of these is on the screen: `Some(true)` where it names something, `Some(false)` where a label that could
/// doesn't, `None` where nothing follows.
fn ask(wire: &dyn Wire, signs: &[(&Object, &Native)], deadline: Deadline) -> Vec<Option<bool>> {
    let asked: Vec<Vec<Call>> = signs.iter().map(|(o, native)| calls(o, native)).collect();
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    let mut answers = wire.flight(asked.into_iter().flatten().collect(), deadline).into_iter();
    let judge = |(count, (_, native)): (usize, &(&Object, &Native))| {
        let got: Vec<_> = answers.by_ref().take(count).map(|a| a.and_then(|r| r.object())).collect();
        if got.iter().any(|a| a.as_ref().is_ok_and(|o| !o.is_null())) {
            return Some(true);
        }
        let silent = !got.is_empty() && got.iter().all(Result::is_ok);
        (silent && telling(native)).then_some(false)
    };
    counts.into_iter().zip(signs).map(judge).collect()
}

fn verdict(answers: &[Option<bool>]) -> Page {
    if answers.contains(&Some(true)) {
        Page::Shown
    } else if answers.contains(&Some(false)) {
        Page::NotShown
    } else {
        Page::Unsure
    }
}

/// The pages of a tree whose extents have been read, outermost first.
pub fn of_tree(
    wire: &dyn Wire,
    toolkit: Toolkit,
    nodes: &[Node],
    subjects: &[Subject],
    deadline: Deadline,
) -> Vec<Found> {
    let mut shares = vec![false; nodes.len()];
    for parent in (0..nodes.len()).filter(|p| nodes[*p].children.len() > 1) {
        sharing(nodes, subjects, parent, toolkit).into_iter().for_each(|at| shares[at] = true);
    }
    let pages: Vec<(usize, Vec<usize>)> =
        (0..nodes.len()).filter(|at| shares[*at]).map(|at| (at, signs(nodes, subjects, &shares, at))).collect();
    let all: Vec<(&Object, &Native)> =
        pages.iter().flat_map(|(_, s)| s).map(|s| (&subjects[*s].object, &subjects[*s].native)).collect();
    let mut answers = ask(wire, &all, deadline).into_iter();
    let found = |(at, signs): (usize, Vec<usize>)| {
        let answers: Vec<Option<bool>> = answers.by_ref().take(signs.len()).collect();
        let page = verdict(&answers);
        // Who is asked again: labels, and one of the others that answered.
        let worth = signs.iter().zip(&answers).filter(|(s, a)| telling(&subjects[**s].native) || **a == Some(true));
        Found { at, page, signs: worth.map(|(s, _)| subjects[*s].object.clone()).take(SIGNS + 1).collect() }
    };
    pages.into_iter().map(found).collect()
}

/// The elements that tell of a page: the first labels in it that no deeper page holds and nothing above them disables, and
/// as many others, the page itself first.
fn signs(nodes: &[Node], subjects: &[Subject], shares: &[bool], page: usize) -> Vec<usize> {
    let (mut labels, mut others) = (Vec::new(), Vec::new());
    let mut level = vec![page];
    while !level.is_empty() && labels.len() < SIGNS {
        let mut next = Vec::new();
        for at in level {
            let native = &subjects[at].native;
            let sensitive = native.states_or_none().has(States::SENSITIVE);
            if !sensitive || !native.states_or_none().has(States::VISIBLE) || (at != page && shares[at]) {
                continue;
            }
            if extents(native).is_some() {
                let list = if telling(native) { &mut labels } else { &mut others };
                if list.len() < SIGNS * (1 + usize::from(!is_label(native))) {
                    list.push(at);
                }
            }
            next.extend(nodes[at].children.iter().copied());
        }
        level = next;
    }
    labels.into_iter().chain(others).collect()
}

/// The fields of a sign that must be known before it is asked.
pub const SIGN: &[Field] = &[Field::Role, Field::States, Field::Extents];

/// What the signs of a page say now.
pub fn of_signs(wire: &dyn Wire, signs: &[Subject], deadline: Deadline) -> Page {
    if signs.is_empty() {
        return Page::Unsure;
    }
    let all: Vec<(&Object, &Native)> = signs.iter().map(|s| (&s.object, &s.native)).collect();
    verdict(&ask(wire, &all, deadline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_desktop_core::evidence::Evidence;

    #[test]
    fn pages_lie_on_each_other_and_neighbours_do_not() {
        let page = (205, 102, 860, 633);
        assert!(overlap(page, page) && overlap(page, (205, 102, 700, 500)));
        assert!(!overlap((0, 0, 100, 20), (0, 20, 100, 20)));
        assert!(!overlap((0, 0, 100, 20), (95, 0, 100, 20)));
    }

    #[test]
    fn an_answer_outweighs_silence_and_only_labels_speak_by_it() {
        assert_eq!(verdict(&[Some(false), Some(true)]), Page::Shown);
        assert_eq!(verdict(&[Some(false), None]), Page::NotShown);
        assert_eq!(verdict(&[None, None]), Page::Unsure);
        let native = |number, states| Native {
            role: Evidence::Known(number),
            states: Evidence::Known(States(states)),
            extents: Evidence::Known((1, 1, 20, 20)),
            ..Native::default()
        };
        assert!(telling(&native(n::LABEL, States::VISIBLE | States::SENSITIVE)));
        assert!(!telling(&native(n::LABEL, States::VISIBLE)), "nothing that is disabled is ever named");
        assert!(!telling(&native(n::PUSH_BUTTON, States::VISIBLE | States::SENSITIVE)));
    }
}
