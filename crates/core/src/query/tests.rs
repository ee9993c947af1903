//! What find finds.

use super::ask::{Ask, MAX_CLAUSES, MAX_FIELD, Query};
use super::matcher::{Found, Verdict, search, verdict};
use super::result::{Selection, to_json, to_text};
use super::selector;
use crate::error::Code;
use crate::evidence::{Cause, Evidence};
use crate::tree::fixture::{Spec, chain, node};
use crate::tree::present::{Options, allocate_refs, present};
use crate::tree::raw::{Cut, Facts, RawTree};
use crate::tree::text::RefStyle;
use crate::vocab::capability::Capability;
use crate::vocab::role::Role;
use crate::vocab::state::State;
use proptest::prelude::*;
use serde_json::{Value, json};

fn query(ask: Ask<'_>) -> Query {
    ask.query().expect("a valid query")
}

fn facts(spec: Spec) -> Facts {
    spec.build().nodes.remove(0).facts
}

fn says(ask: Ask<'_>, spec: Spec) -> Verdict {
    verdict(&query(ask), &facts(spec))
}

fn number(tree: &RawTree) -> impl Fn(u32) -> Option<u32> + use<> {
    let refs = allocate_refs(&present(tree, &Options { max_depth: 50, ..Options::default() }), 1);
    move |raw| refs.iter().find(|(_, r)| *r == raw).map(|(n, _)| *n)
}

fn answer(tree: &RawTree, ask: Ask<'_>, selection: Selection) -> Value {
    let q = query(ask);
    to_json(tree, &q, &search(&q, tree), selection, &number(tree), "s8f3k2p9")
}

fn dialog() -> RawTree {
    node(Role::Window)
        .name("Files")
        .child(node(Role::List).name("Rows").children(["Alice", "Bob"].map(|who| {
            node(Role::Option)
                .name(who)
                .item()
                .child(node(Role::Button).name("Delete").can(Capability::Click).bounds(1.0, 2.0, 3.0, 4.0))
        })))
        .child(node(Role::Group).child(node(Role::TextField).label("Search").value("Straße 5").state(State::Focused)))
        .child(node(Role::StaticText).name("2  rows,\nnone deleted").bounds(5.0, 6.0, 7.0, 8.0))
        .build()
}

#[test]
fn recorded_answers() {
    let tree = dialog();
    let delete = || Ask { role: Some("button"), name: Some("delete"), ..Ask::default() };
    let none = || Ask { role: Some("slider"), ..Ask::default() };
    let recorded = json!({
        "list": answer(&tree, Ask { text: Some("DELETE"), ..Ask::default() }, Selection::default()),
        "limit": answer(&tree, delete(), Selection::List { limit: 1 }),
        "first": answer(&tree, delete(), Selection::First),
        "last": answer(&tree, delete(), Selection::Last),
        "nth": answer(&tree, delete(), Selection::Nth(1)),
        "nth_beyond": answer(&tree, delete(), Selection::Nth(2)),
        "count": answer(&tree, delete(), Selection::Count),
        "no_list": answer(&tree, none(), Selection::default()),
        "no_match": answer(&tree, none(), Selection::First),
    });
    insta::assert_json_snapshot!("find", recorded);
    let q = query(Ask { text: Some("e"), ..Ask::default() });
    let found = search(&q, &tree);
    insta::assert_snapshot!(
        "find_text",
        to_text(&tree, &q, &found, Selection::List { limit: 5 }, &number(&tree), "s8f3k2p9", RefStyle::Qualified)
    );
}

#[test]
fn text_is_compared_without_case_and_white_space() {
    let name = |name, exact| Ask { name: Some(name), exact, ..Ask::default() };
    let it = || node(Role::Button).name(" Save \u{200e}as\u{a0}\n file… ");
    assert_eq!(says(name("SAVE AS", false), it()), Verdict::Yes);
    assert_eq!(says(name("as  file", false), it()), Verdict::Yes);
    assert_eq!(says(name("save", true), node(Role::Button).name("Save")), Verdict::Yes);
    assert_eq!(says(name("sav", true), node(Role::Button).name("Save")), Verdict::No);
    assert_eq!(says(name("save as", true), node(Role::Button).name("Save  as")), Verdict::No);
    assert_eq!(says(name("ΟΔΟΣ", true), node(Role::Button).name("οδος")), Verdict::Yes);
}

#[test]
fn clauses_look_where_they_say() {
    let it = || node(Role::ComboBox).label("Size").value("Large").description("Of the text").id("size-box");
    for (ask, want) in [
        (Ask { role: Some("ComboBox"), ..Ask::default() }, Verdict::Yes),
        (Ask { role: Some("button"), ..Ask::default() }, Verdict::No),
        (Ask { name: Some("large"), ..Ask::default() }, Verdict::No),
        (Ask { value: Some("large"), ..Ask::default() }, Verdict::Yes),
        (Ask { description: Some("text"), ..Ask::default() }, Verdict::Yes),
        (Ask { text: Some("size"), ..Ask::default() }, Verdict::Yes),
        (Ask { text: Some("large"), ..Ask::default() }, Verdict::Yes),
        (Ask { text: Some("of the"), ..Ask::default() }, Verdict::Yes),
        (Ask { text: Some("size-box"), ..Ask::default() }, Verdict::No),
        (Ask { native_id: Some("size-box"), ..Ask::default() }, Verdict::Yes),
        (Ask { native_id: Some("Size-Box"), ..Ask::default() }, Verdict::No),
        (Ask { native_id: Some("size"), ..Ask::default() }, Verdict::No),
        (Ask { name: Some("size"), value: Some("small"), ..Ask::default() }, Verdict::No),
    ] {
        assert_eq!(says(ask.clone(), it()), want, "{ask:?}");
    }
    let alias = Ask { role: Some("searchbox"), ..Ask::default() };
    assert_eq!(says(alias, node(Role::TextField)), Verdict::Yes);
}

#[test]
fn a_state_that_the_source_does_not_publish_is_no_no() {
    let tab = || node(Role::Tab).label("Page").untold(State::Selected).untold(State::Hidden);
    let state = |text| Ask { states: vec![text], ..Ask::default() };
    assert_eq!(says(state("selected=false"), tab()), Verdict::Undecided);
    assert_eq!(says(state("hidden=false"), tab()), Verdict::Undecided);
    // What is published counts, and states are claimed on positive evidence only.
    assert_eq!(says(state("selected"), tab()), Verdict::No);
    assert_eq!(says(state("selected"), tab().state(State::Selected)), Verdict::Yes);
    assert_eq!(says(state("selected=false"), tab().state(State::Selected)), Verdict::No);
    assert_eq!(says(state("disabled=false"), tab()), Verdict::Yes);
    assert_eq!(says(Ask { role: Some("button"), ..state("hidden=false") }, tab()), Verdict::No);
    // Told as such, and no reason to look again.
    let tree = node(Role::Window).child(tab()).child(node(Role::Tab).label("Other")).build();
    let found = search(&query(Ask { role: Some("tab"), ..state("selected=false") }), &tree);
    assert_eq!((&found.matches[..], found.untold, found.complete()), (&[2][..], 1, true));
}

#[test]
fn states_that_cant_be_read_match_neither_way() {
    let state = |s| Ask { states: vec![s], ..Ask::default() };
    let off = || node(Role::Button).state(State::Disabled);
    for (clause, on_off, on_plain) in [
        ("disabled", Verdict::Yes, Verdict::No),
        ("enabled", Verdict::No, Verdict::Yes),
        ("Enabled=false", Verdict::Yes, Verdict::No),
        ("disabled=FALSE", Verdict::No, Verdict::Yes),
        ("checked=false", Verdict::Yes, Verdict::Yes),
    ] {
        assert_eq!(says(state(clause), off()), on_off, "{clause}");
        assert_eq!(says(state(clause), node(Role::Button)), on_plain, "{clause}");
        assert_eq!(says(state(clause), node(Role::Button).states_unknown()), Verdict::Undecided, "{clause}");
    }
    assert_eq!(says(state("secure"), node(Role::TextField).facts(|f| f.secure = true)), Verdict::Yes);
    for bad in ["on", "checked=1", "checked=", "visible", "="] {
        assert_eq!(state(bad).query().expect_err(bad).code(), Code::InvalidArgs);
    }
}

#[test]
fn a_secure_value_never_matches() {
    let it = || node(Role::TextField).label("Password").value("hunter2").secure();
    assert_eq!(says(Ask { value: Some("hunter2"), ..Ask::default() }, it()), Verdict::No);
    assert_eq!(says(Ask { text: Some("hunter2"), ..Ask::default() }, it()), Verdict::No);
    assert_eq!(says(Ask { text: Some("password"), ..Ask::default() }, it()), Verdict::Yes);
}

#[test]
fn one_decided_clause_is_enough_to_rule_out() {
    let ask = |role| Ask { role: Some(role), name: Some("save"), ..Ask::default() };
    assert_eq!(says(ask("button"), node(Role::Button).name_unknown()), Verdict::Undecided);
    assert_eq!(says(ask("link"), node(Role::Button).name_unknown()), Verdict::No);
    // Text over three fields: a match in one decides.
    let text = |text| Ask { text: Some(text), ..Ask::default() };
    assert_eq!(says(text("x"), node(Role::TextField).name_unknown().value("x")), Verdict::Yes);
    assert_eq!(says(text("y"), node(Role::TextField).name_unknown().value("x")), Verdict::Undecided);
}

#[test]
fn limits_and_blanks_are_refused() {
    let long = "x".repeat(MAX_FIELD + 1);
    let full = "x".repeat(MAX_FIELD);
    for ask in [
        Ask { name: Some(&long), ..Ask::default() },
        Ask { name: Some(" "), ..Ask::default() },
        Ask { native_id: Some(""), ..Ask::default() },
        Ask { role: Some("knob"), ..Ask::default() },
        Ask { states: vec!["checked"; MAX_CLAUSES + 1], ..Ask::default() },
        Ask { states: vec![&full; 17], ..Ask::default() },
    ] {
        assert_eq!(ask.query().expect_err("refused").code(), Code::InvalidArgs);
    }
    assert!(Ask { states: vec!["checked"; MAX_CLAUSES], ..Ask::default() }.query().is_ok());
    assert!(Ask { name: Some(&full), ..Ask::default() }.query().is_ok());
}

#[test]
fn what_could_hide_a_match_is_counted() {
    let buttons = Ask { role: Some("button"), name: Some("ok"), ..Ask::default() };
    let find = |tree: &RawTree| search(&query(buttons.clone()), tree);
    let ok = || node(Role::Button).name("OK");
    let tree = node(Role::Window).child(ok()).child(node(Role::List).cut(Cut::Late)).child(ok()).build();
    let f = find(&tree);
    assert_eq!((f.matches.as_slice(), f.cuts, f.complete()), ([1, 3].as_slice(), 1, false));
    assert!(f.certain(0) && !f.certain(1));
    assert!(Selection::First.certain(&f) && !Selection::Nth(1).certain(&f));
    assert!(!Selection::Last.certain(&f) && !Selection::Count.certain(&f) && !Selection::default().certain(&f));

    let f = find(&node(Role::Window).child(node(Role::Button).name_unknown()).child(ok()).build());
    assert_eq!((f.undecided, f.complete(), Selection::First.certain(&f)), (1, false, false));
    // A nameless slider is no button, whatever it is called.
    let f = find(&node(Role::Window).child(node(Role::Slider).name_unknown()).build());
    assert!(f.complete() && Selection::First.certain(&f));
    let f = find(&node(Role::Window).child(node(Role::Table).cut(Cut::Virtual)).build());
    assert_eq!((f.complete(), f.virtual_containers), (true, 1));
    let mut tree = node(Role::Window).build();
    tree.kind = Some("renderer_accessibility_activation_required");
    assert!(!find(&tree).complete());
    assert!(!find(&RawTree { nodes: vec![], ..tree }).complete());
}

#[test]
fn selectors_run_the_same_matcher() {
    let f = search(&selector::parse("textbox:strasse").expect("valid"), &dialog());
    assert!(f.matches.is_empty(), "ß is no ss: what isn't equal isn't equal");
    assert_eq!(search(&selector::parse(":STRAßE").expect("valid"), &dialog()).matches.len(), 1);
}

#[test]
fn a_deep_chain_is_searched_without_recursion() {
    let tree = chain(10_000, |i| node(if i == 9_999 { Role::Button } else { Role::Group }));
    let v = answer(&tree, Ask { role: Some("button"), ..Ask::default() }, Selection::First);
    assert_eq!(v["match"]["role"], "button");
}

#[test]
fn results_as_text_cant_be_forged() {
    let tree = node(Role::Window).name("a\" @s1:e1\n").child(node(Role::Button).name("OK\n@s1:e2")).build();
    let q = query(Ask { role: Some("button"), ..Ask::default() });
    let out = to_text(&tree, &q, &search(&q, &tree), Selection::First, &number(&tree), "s8f3k2p9", RefStyle::Qualified);
    assert_eq!(
        out,
        "snapshot s8f3k2p9 | 1 of 1 matches\nbutton \"OK\\n@s1:e2\" {} in \"window:a\\\" @s1:e1\" @s8f3k2p9:e1\n"
    );
}

fn any_leaf() -> impl Strategy<Value = Spec> {
    (0..4usize, "[a-c ]{0,3}", "[a-c ]{0,3}", 0..3u8, 0..3u8, any::<bool>()).prop_map(
        |(role, name, value, n, s, cut)| {
            let it = node([Role::Button, Role::Group, Role::TextField, Role::Link][role]).value(&value);
            let it = if n == 0 { it.name_unknown() } else { it.name(&name) };
            let it = match s {
                0 => it.states_unknown(),
                1 => it.state(State::Disabled),
                _ => it,
            };
            if cut { it.cut(Cut::Late) } else { it }
        },
    )
}

/// Every way in which what is unknown about an element could turn out.
fn worlds(f: &Facts) -> Vec<Facts> {
    let names = ["", "a", "b", "c", "aa", "ab", "zz"].map(|n| Evidence::Known(n.to_owned()));
    let unread_name = !f.names.native_title.settled();
    let unread_states = !f.states.settled();
    let mut out = Vec::new();
    for name in if unread_name { &names[..] } else { std::slice::from_ref(&f.names.native_title) } {
        let states = facts(node(Role::Button)).states;
        let disabled = facts(node(Role::Button).state(State::Disabled)).states;
        for s in if unread_states { vec![states, disabled] } else { vec![f.states.clone()] } {
            let mut g = f.clone();
            g.names.native_title = name.clone();
            g.states = s;
            out.push(g);
        }
    }
    out
}

proptest! {
    #[test]
    fn a_verdict_holds_in_every_world(
        spec in any_leaf(), role in 0..3usize, name in "[a-c]{0,2}", text in "[a-c]{0,2}", state in 0..3usize, exact in any::<bool>(),
    ) {
        let some = |s: &'static str| if s.is_empty() { None } else { Some(s) };
        let ask = Ask {
            role: some(["", "button", "textfield"][role]),
            name: Some(name.as_str()).filter(|s| !s.is_empty()),
            text: Some(text.as_str()).filter(|s| !s.is_empty()),
            states: some(["", "enabled", "disabled"][state]).into_iter().collect(),
            exact,
            ..Ask::default()
        };
        let q = query(ask);
        let f = facts(spec);
        let all: Vec<Verdict> = worlds(&f).iter().map(|w| verdict(&q, w)).collect();
        match verdict(&q, &f) {
            Verdict::Undecided => {}
            decided => prop_assert!(all.iter().all(|v| *v == decided)),
        }
    }

    #[test]
    fn selections_agree(children in proptest::collection::vec(any_leaf(), 0..12), n in 0..14usize) {
        let tree = node(Role::Window).children(children).build();
        let q = query(Ask { role: Some("button"), ..Ask::default() });
        let f: Found = search(&q, &tree);
        let all = Selection::List { limit: 0 }.pick(&f);
        prop_assert_eq!(all, f.matches.as_slice());
        prop_assert_eq!(Selection::First.pick(&f).first(), all.first());
        prop_assert_eq!(Selection::Last.pick(&f).first(), all.last());
        prop_assert_eq!(Selection::Nth(n).pick(&f).first(), all.get(n));
        prop_assert_eq!(Selection::List { limit: n + 1 }.pick(&f), &all[..all.len().min(n + 1)]);
        prop_assert!(all.windows(2).all(|w| w[0] < w[1]));
        // What is certain stays so when more is read.
        let whole: Vec<u32> = f.matches.clone();
        for (i, at) in whole.iter().enumerate() {
            if f.certain(i) {
                prop_assert!(tree.nodes[..*at as usize].iter().all(|n| n.cut.is_none()));
            }
        }
    }
}

#[test]
fn causes_do_not_matter() {
    for cause in [Cause::Late, Cause::Gone, Cause::Denied, Cause::NotRead, Cause::Fault("x".into())] {
        let it = node(Role::Button).facts(|f| f.names.native_title = Evidence::Unknown(cause));
        assert_eq!(says(Ask { name: Some("x"), ..Ask::default() }, it), Verdict::Undecided);
    }
}
