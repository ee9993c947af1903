use super::*;
use crate::evidence::{Cause, Evidence};
use crate::tree::fixture::{Spec, node};
use crate::tree::present::{Options, allocate_refs, present};
use crate::tree::raw::Cut;

fn options() -> Options {
    Options::default()
}

fn base(tree: &RawTree) -> Baseline {
    let shown = present(tree, &options());
    Baseline::of(tree, &shown, &allocate_refs(&shown, 1), &options())
}

fn delta(was: Spec, now: Spec) -> Delta {
    let (was, now) = (was.build(), now.build());
    compare(&base(&was), &now, &present(&now, &options()))
}

fn button(handle: &str, name: &str) -> Spec {
    node(Role::Button).handle(handle).name(name)
}

fn window() -> Spec {
    node(Role::Window).handle("w").name("W")
}

#[test]
fn nothing_changed() {
    let tree = || window().child(button("a", "A")).child(button("b", "B"));
    let d = delta(tree(), tree());
    assert_eq!((d.unchanged, d.added.len(), d.removed.len(), d.changed.len()), (3, 0, 0, 0));
}

#[test]
fn added_and_removed_are_told_by_address_and_from_their_top() {
    let was = window().child(button("a", "A")).child(node(Role::Group).handle("g").child(button("b", "B")));
    let now = window().child(node(Role::List).handle("l").child(button("c", "C"))).child(button("a", "A"));
    let d = delta(was, now);
    assert_eq!(d.added, [1]);
    assert_eq!(d.fresh, [false, true, true, false]);
    assert_eq!(d.removed, [Gone { row: 2, below: 1 }]);
    assert!(d.moved.is_empty() && d.changed.is_empty());
}

#[test]
fn a_recycled_slot_has_changed() {
    let d = delta(window().child(button("a", "Alice")), window().child(button("a", "Bob")));
    let text = |t: &str| Some(Said::Text(t.into()));
    assert_eq!(d.changed, [(1, 1, vec![Field::Text("name", text("Alice"), text("Bob"))])]);
}

#[test]
fn what_is_missing_from_an_incomplete_read_is_not_removed() {
    let was = window().child(node(Role::Group).handle("g").child(button("b", "B")));
    let now = window().child(node(Role::Group).handle("g").cut(Cut::Late));
    let d = delta(was, now);
    assert!(d.removed.is_empty());
    assert_eq!(d.unproven, [Gone { row: 2, below: 0 }]);
}

#[test]
fn what_scrolled_out_of_a_virtual_container_is_hidden() {
    let grid = |cell: Spec| {
        let count = Evidence::Known(1_000_000);
        window().child(node(Role::Table).handle("t").cut(Cut::Virtual).child_count(count).child(cell))
    };
    let d = delta(grid(button("c1", "1")), grid(button("c2", "2")));
    assert_eq!((d.hidden.len(), d.removed.len(), d.added.len()), (1, 0, 1));
}

#[test]
fn an_unread_field_is_no_change() {
    let was = window().child(button("a", "A").value("1"));
    let now = window().child(
        node(Role::Button)
            .handle("a")
            .name_unknown()
            .states_unknown()
            .facts(|f| f.value = Evidence::Unknown(Cause::Late)),
    );
    let d = delta(was, now);
    assert!(d.changed.is_empty(), "{:?}", d.changed);
}

#[test]
fn a_secure_field_tells_nothing_of_its_value() {
    let field = |value: &str| window().child(node(Role::TextField).handle("p").value(value).secure());
    let d = delta(field("one"), field("two"));
    assert!(d.changed.is_empty());
    let d = delta(field("one"), window().child(node(Role::TextField).handle("p").value("open")));
    assert!(d.changed[0].2.iter().all(|f| matches!(f, Field::States(..))), "{:?}", d.changed);
}

#[test]
fn only_what_moved_has_moved() {
    let list = |order: &[&str]| window().children(order.iter().map(|n| button(n, n)));
    let d = delta(list(&["a", "b", "c", "d"]), list(&["d", "a", "b", "c"]));
    assert_eq!(d.moved, [(1, 4)]);
    // A new one in between moves nobody.
    let d = delta(list(&["a", "b"]), list(&["a", "x", "b"]));
    assert!(d.moved.is_empty());
    assert_eq!(d.added, [2]);
}

#[test]
fn what_only_scrolled_is_counted() {
    let d = delta(window().child(button("a", "A")), window().child(button("a", "A").state(State::Offscreen)));
    assert_eq!((d.scrolled, d.changed.len(), d.unchanged), ((0, 1), 0, 1));
    let was = window().child(button("a", "A").state(State::Offscreen));
    let d = delta(was, window().child(button("a", "A").state(State::Disabled)));
    assert_eq!((d.scrolled, d.changed.len()), ((0, 0), 1));
}

#[test]
fn states_and_roles_are_compared() {
    let was = window().child(node(Role::CheckBox).handle("c").name("C"));
    let now = window().child(node(Role::Switch).handle("c").name("C").state(State::Checked));
    let d = delta(was, now);
    assert_eq!(d.changed[0].2.len(), 2);
}

#[test]
fn one_that_was_made_anew_is_paired_only_where_it_is_the_only_one() {
    let tree = |a: &str, b: &str, name: &str| window().child(button(a, "A")).child(button(b, name));
    let d = delta(tree("1", "2", "B"), tree("3", "4", "B"));
    assert_eq!(d.replaced, [(1, 1), (2, 2)]);
    assert!(d.removed.is_empty() && d.added.is_empty());
    let d = delta(tree("1", "2", "A"), tree("3", "4", "A"));
    assert!(d.replaced.is_empty());
    assert_eq!((d.removed.len(), d.added.len()), (2, 2));
}

#[test]
fn a_long_rise_is_found() {
    let mut rise: Vec<usize> = longest_rise(&[3, 1, 2, 9, 4, 5]).into_iter().collect();
    rise.sort_unstable();
    assert_eq!(rise, [1, 2, 4, 5]);
    assert!(longest_rise(&[]).is_empty());
}
