use super::*;
use crate::tree::budget::is_field;
use crate::tree::fixture::{Spec, node};
use crate::tree::name::name_of;
use crate::tree::present::{Earns, earns_ref};
use crate::vocab::capability::Capability;
use crate::vocab::role::Role;
use crate::vocab::surface::Surface;
use proptest::prelude::*;

fn source(title: &str) -> Source {
    Source {
        app: "app".into(),
        window_id: "w-1.2".into(),
        window_title: title.into(),
        surface: Surface::Window,
        others: Vec::new(),
    }
}

fn args(format: Option<Format>) -> Snapshot {
    Snapshot { format, ..Snapshot::default() }
}

/// What is printed under a budget, and what of the tree it shows.
fn printed(args: &Snapshot, tree: &RawTree, title: &str, budget: u32) -> (Value, Presented) {
    let source = source(title);
    let id = "s3w5e11264sgsf";
    let fitted = fit(args, &source, id, tree, 1, budget).unwrap();
    let numbered = allocate_refs(&fitted.presented, 1);
    let (source, tree) = fitted.shown(&source, tree);
    let printed = Printed { tree: &tree, presented: &fitted.presented, numbered: &numbered, clipped: fitted.clipped };
    (answer(args, &source, id, &printed, false), fitted.presented)
}

fn refs(value: &Value, out: &mut Vec<String>) {
    out.extend(value["ref_id"].as_str().map(str::to_owned));
    value["children"].as_array().into_iter().flatten().for_each(|c| refs(c, out));
}

#[test]
fn one_long_document_takes_no_control_s_place() {
    let tree = node(Role::Window)
        .name("Editor")
        .child(node(Role::TextField).name("Body").value(&"word ".repeat(5_000)))
        .child(node(Role::Button).name("Save").can(Capability::Click))
        .build();
    let (data, _) = printed(&args(None), &tree, "Editor", 300);
    let children = data["tree"]["children"].as_array().unwrap();
    assert_eq!(children[1]["name"], "Save");
    assert!(children[0]["value"].as_str().unwrap().ends_with('…'));
    assert_eq!(data["clipped_texts"], 1);
}

#[test]
fn what_fits_is_not_touched() {
    let tree = node(Role::Window).name("W").child(node(Role::Button).name("A")).build();
    let (data, _) = printed(&args(None), &tree, "W", 5_000);
    assert!(data.get("cut").is_none() && data.get("clipped_texts").is_none());
}

#[test]
fn what_is_folded_is_counted_by_role_and_has_a_way_in() {
    let texts = (0..500).map(|i| node(Role::StaticText).name(&format!("line {i}")));
    let list = node(Role::List).child(node(Role::Button).name("More").can(Capability::Click)).children(texts);
    let tree = node(Role::Window).name("W").child(list).build();
    let (data, shown) = printed(&args(None), &tree, "W", 400);
    let list = &data["tree"]["children"][0];
    assert_eq!(list["folded"]["count"], shown.folded);
    assert_eq!(list["folded"]["by_role"]["statictext"], shown.folded);
    assert_eq!((list["children_count"].as_u64(), list["subtree_truncated"].as_bool()), (Some(501), Some(true)));
    assert!(list["ref_id"].is_string(), "{list}");
    assert_eq!(data["cut"]["by_budget"], shown.folded);
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let text = || proptest::option::of(prop_oneof!["\\PC{0,20}", "[\"\\\\\n\u{2028}\u{1}]{0,400}", "[a-z ]{0,600}"]);
    let leaf = (0..80usize, text(), text(), text(), any::<[bool; 3]>()).prop_map(|(role, name, value, more, b)| {
        let mut s = node(Role::ALL[role % Role::ALL.len()]);
        s = name.iter().fold(s, |s, t| s.name(t));
        s = value.iter().fold(s, |s, t| s.value(t));
        s = more.iter().fold(s, |s, t| s.description(t));
        s = if b[0] { s.can(Capability::Click) } else { s };
        if b[1] { s.state(crate::vocab::state::State::Offscreen) } else { s }
    });
    leaf.prop_recursive(5, 120, 8, |inner| {
        (inner.clone(), proptest::collection::vec(inner, 0..8)).prop_map(|(s, c)| s.children(c))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn never_over_budget_and_never_an_anonymous_one_for_a_named_one(
        spec in any_spec(), title in "[\"\u{1}a-z]{0,300}", over in 0..3_000u32, as_text in any::<bool>(),
    ) {
        let tree = spec.build();
        let budget = crate::command::observe::MIN_BUDGET_TOKENS + over;
        let args = args(as_text.then_some(Format::Text));
        let (data, shown) = printed(&args, &tree, &title, budget);
        let tokens = estimate(&data, args.format);
        prop_assert!(tokens <= budget as usize, "{tokens} of {budget}: {data}");

        // What is printed with a ref is what gets one.
        if !as_text {
            let mut found = Vec::new();
            refs(&data["tree"], &mut found);
            let saved: Vec<String> = allocate_refs(&shown, 1)
                .iter()
                .map(|(n, _)| crate::tree::json::qualified("s3w5e11264sgsf", *n))
                .collect();
            prop_assert_eq!(&found, &saved);
        }

        // While a named element that can be acted on is missing, others are shown only around ones like it.
        let named = |raw: u32| {
            let facts = &tree.node(raw).facts;
            earns_ref(facts) && (name_of(facts).known().is_some() || is_field(facts))
        };
        let all = present(&tree, &options(&args));
        let there = |raw: u32| shown.nodes.iter().any(|n| n.raw == raw);
        if all.nodes.iter().any(|n| named(n.raw) && !there(n.raw)) {
            for n in shown.nodes.iter().skip(1).filter(|n| !named(n.raw)) {
                let leads = shown.nodes.iter().any(|m| named(m.raw) && tree.ancestors_or_self(m.raw).any(|a| a == n.raw));
                prop_assert!(leads || n.earns == Earns::Anchor, "{:?}", tree.node(n.raw).facts);
            }
        }
    }
}
