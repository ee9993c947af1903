//! What is cut by depth and what `-i` folds: counted, marked, and with a way in.

use super::*;

#[test]
fn any_depth_leads_into_every_cut_branch_and_counts_them() {
    let deep = |name: &str| {
        let leaf = node(Role::Button).name("x").can(Capability::Click);
        node(Role::Group).name(name).child(node(Role::Group).slot().child(leaf))
    };
    let tree = node(Role::Window).name("w").child(deep("a")).child(deep("b")).build();
    let options = Options { max_depth: 2, ..Options::default() };
    let p = present(&tree, &options);
    assert!(p.complete, "a cut that was asked for");
    assert_eq!((p.clamped, p.closed), (2, 0));
    // A group of the slot grade without a name can't be found again: the one above leads there.
    assert_eq!(p.nodes.iter().map(|n| n.earns).collect::<Vec<_>>(), {
        use Earns::{Anchor as A, Nothing as N};
        [N, A, N, A, N]
    });
    assert_eq!(crate::tree::json::cut_json(&p), Some(serde_json::json!({"by_depth": 2})));
    assert!(text(&tree, &options, RefStyle::Qualified).lines().next().is_some_and(|l| l.ends_with("| 2 cut by depth")));
    assert_eq!(crate::tree::json::cut_json(&present(&tree, &Options::default())), None);
    // What `-i` drops at any depth is not cut off by this one.
    let inert = node(Role::Window).name("w").child(node(Role::Group).child(node(Role::StaticText).name("t"))).build();
    let p = present(&inert, &Options { max_depth: 1, interactive_only: true, ..Options::default() });
    assert_eq!((p.nodes.len(), p.clamped), (1, 0));
}

#[test]
fn without_a_named_depth_wrappers_of_one_child_spend_none() {
    let wrapped = |wrapper: fn() -> Spec| {
        node(Role::Window).child(wrapper().child(wrapper().child(node(Role::Button).name("Buy")))).build()
    };
    let options = Options { max_depth: 1, free_wrappers: true, ..Options::default() };
    assert_eq!(present(&wrapped(|| node(Role::Group)), &options).nodes.len(), 4);
    let named = Options { free_wrappers: false, ..options.clone() };
    assert_eq!(present(&wrapped(|| node(Role::Group)), &named).nodes.len(), 2);
    for wrapper in [
        || node(Role::Group).name("Cart"),
        || node(Role::Group).name_unknown(),
        || node(Role::Group).can(Capability::Click),
        || node(Role::Group).state(State::Hidden),
        || node(Role::Group).child(node(Role::StaticText)),
        || node(Role::List),
    ] {
        assert_eq!(present(&wrapped(wrapper), &options).clamped, 1);
    }
}

#[test]
fn interactive_folds_closed_menus_and_pages_that_are_not_shown() {
    let entry = |name: &str| node(Role::MenuItem).name(name).can(Capability::Click).state(State::Offscreen);
    let menu = |name: &str| node(Role::MenuItem).name(name).can(Capability::Click);
    let button = |name: &str| node(Role::Button).name(name).can(Capability::Click);
    let file = menu("File").child(entry("Open")).child(node(Role::Separator)).child(entry("Recent").child(entry("a")));
    let tree = node(Role::Window)
        .name("w")
        .child(node(Role::Menu).child(file).child(menu("Edit").child(menu("Copy")).child(entry("Paste"))))
        .child(
            node(Role::Group)
                .state(State::Hidden)
                .child(node(Role::Group).state(State::Hidden).child(button("Later").state(State::Hidden))),
        )
        .child(button("Now"))
        .build();
    let options = Options { interactive_only: true, ..Options::default() };
    let p = present(&tree, &options);
    assert_eq!((p.clamped, p.closed), (0, 2));
    // "Edit" is open: one of its entries is on the screen.
    assert_eq!(
        text(&tree, &options, RefStyle::Qualified).lines().skip(1).collect::<Vec<_>>(),
        [
            "window \"w\"",
            "  menu",
            "    menuitem \"File\" (3 children, folded) @s8f3k2p9:e1",
            "    menuitem \"Edit\" @s8f3k2p9:e2",
            "      menuitem \"Copy\" @s8f3k2p9:e3",
            "      menuitem \"Paste\" [offscreen] @s8f3k2p9:e4",
            "  group [hidden] (1 children, folded) @s8f3k2p9:e5",
            "  button \"Now\" @s8f3k2p9:e6",
        ]
    );
    let v = json(&tree, &options);
    let folded = &v["children"][0]["children"][0];
    assert_eq!((&folded["folded"], &folded["subtree_truncated"]), (&Value::from(true), &Value::from(true)));
    // The choices of a combo box stay.
    let combo = node(Role::ComboBox).child(node(Role::Menu).state(State::Offscreen).child(entry("One")));
    assert_eq!(present(&node(Role::Window).child(combo).build(), &options).nodes.len(), 4);
    // Without `-i` all of it is there, and who drills into it sees it.
    assert_eq!(present(&tree, &Options::default()).nodes.len(), tree.nodes.len());
    let inside = entry("File").child(entry("Open")).child(entry("Save")).build();
    assert_eq!(present(&inside, &options).nodes.len(), 3);
    // Also where the entry has a menu of its own below it; a submenu in there is folded again.
    let own = || node(Role::Menu).state(State::Offscreen).child(entry("Open")).child(entry("Recent").child(entry("a")));
    let p = present(&entry("File").child(own()).build(), &options);
    assert_eq!((p.nodes.len(), p.closed), (4, 1));
}

#[test]
fn interactive_counts_single_controls_that_are_not_shown_and_leaves_them_out() {
    let bit = |name: &str| node(Role::Button).name(name).can(Capability::Click);
    let hidden = |name: &str| bit(name).state(State::Hidden);
    let tree = || {
        node(Role::Window)
            .name("w")
            .child(bit("Now"))
            .child(hidden("63").child(node(Role::StaticText).name("63")))
            .child(hidden("62"))
            .child(hidden("Here").state(State::Focused))
            .child(node(Role::ComboBox).child(node(Role::Menu).child(hidden("One"))))
            .build()
    };
    let options = Options { interactive_only: true, ..Options::default() };
    let p = present(&tree(), &options);
    assert_eq!((p.closed, p.complete), (2, true));
    let names: Vec<_> = p
        .nodes
        .iter()
        .filter_map(|n| crate::tree::name::name_of(&tree().node(n.raw).facts).into_known())
        .map(|n| n.text)
        .collect();
    assert_eq!(names, ["w", "Now", "Here", "One"]);
    assert_eq!(crate::tree::json::cut_json(&p), Some(serde_json::json!({"folded": 2})));
    assert_eq!(present(&tree(), &Options::default()).nodes.len(), tree().nodes.len());
    // Who asks for the part that isn't shown sees what is in it.
    let page = node(Role::Group).name("page").state(State::Hidden).child(hidden("Later")).build();
    assert_eq!(present(&page, &options).nodes.len(), 2);
}
