//! By hand: one action on one element, without the command line: what is proposed, what was answered, what was seen.
//!
//! act APP ROLE NAME[#N] ACTION [TEXT | DIRECTION AMOUNT]   (ROLE and NAME as the application gives them; NAME - is '')

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for trials by hand")]
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::Evidence;
use agent_desktop_core::platform::{Action, Direction, Live, ProcessKey, WriteOutcome};
use agent_desktop_core::tree::raw::Facts;
use agent_desktop_core::vocab::role::Role;
use agent_desktop_core::vocab::state::{State, StateSet};
use agent_desktop_linux::atspi::interface::ACCESSIBLE;
use agent_desktop_linux::atspi::{role, state::Native as States};
use agent_desktop_linux::bus::{Bus, Call, Object, Wire};
use agent_desktop_linux::operate;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [app, role_name, name, action, rest @ ..] = args.as_slice() else {
        eprintln!("act APP ROLE NAME[#N] ACTION [TEXT]");
        std::process::exit(64);
    };
    let action = match (action.as_str(), rest) {
        ("click", _) => Action::Click,
        ("right-click", _) => Action::RightClick,
        ("toggle", _) => Action::Toggle,
        ("check", _) => Action::Check,
        ("uncheck", _) => Action::Uncheck,
        ("expand", _) => Action::Expand,
        ("collapse", _) => Action::Collapse,
        ("focus", _) => Action::Focus,
        ("clear", _) => Action::Clear,
        ("scroll-to", _) => Action::ScrollTo,
        ("set-value", [t, ..]) => Action::SetValue(t.clone()),
        ("type", [t, ..]) => Action::Type(t.clone()),
        ("select", [t, ..]) => Action::Select(t.clone()),
        ("scroll", [d, n, ..]) => Action::Scroll {
            direction: match d.as_str() {
                "up" => Direction::Up,
                "left" => Direction::Left,
                "right" => Direction::Right,
                _ => Direction::Down,
            },
            amount: n.parse().unwrap_or(3),
        },
        ("look", _) => Action::DoubleClick,
        other => {
            eprintln!("what is {other:?}?");
            std::process::exit(64);
        }
    };
    let Ok(bus) = Bus::join(Deadline::after_ms(3_000)).map(Arc::new) else { std::process::exit(70) };
    let (name, nth) = match name.split_once('#') {
        Some((name, nth)) => (name, nth.parse().unwrap_or(0)),
        None => (name.as_str(), 0),
    };
    let name = if name == "-" { "" } else { name };
    let Some((object, role, states)) = find(&bus, app, role_name, name, nth) else {
        eprintln!("no such element");
        std::process::exit(1);
    };
    let states = States(states);
    let mut set = StateSet::EMPTY;
    if states.has(States::HAS_POPUP) {
        set.insert(State::HasPopup);
    }
    let facts = Facts {
        role: Evidence::Known(if role_name == "button menu" {
            Role::MenuButton
        } else {
            role::map(role, states, None)
        }),
        states: Evidence::Known(set),
        ..Facts::default()
    };
    let target = Live {
        handle: object.handle(),
        process: ProcessKey { pid: 1, instance: "by hand".into() },
        window: None,
        facts,
    };
    let deadline = Deadline::after_ms(5_000);
    let start = Instant::now();
    let rungs = operate::rungs(&*bus, &target, &action, deadline);
    println!(
        "rungs {:?} after {:.1?}",
        rungs.as_ref().map(|r| r.iter().map(|r| (&r.label, r.needs)).collect::<Vec<_>>()),
        start.elapsed()
    );
    let show = |outcome: &WriteOutcome| match outcome {
        WriteOutcome::Refused(e) => format!("Refused {}", e.to_json()),
        other => format!("{other:?}"),
    };
    if let Err(e) = &rungs {
        println!("  {}", e.to_json());
    }
    for rung in rungs.unwrap_or_default() {
        let start = Instant::now();
        let mut sent = operate::dispatch(&bus, &target, &action, &rung, deadline);
        println!("{}: {} after {:.1?}", rung.label, show(&sent.outcome), start.elapsed());
        if matches!(sent.outcome, WriteOutcome::Absent(_)) {
            continue;
        }
        let until = Deadline::after_ms(sent.watch.window_ms());
        let effects = sent.watch.effects(until);
        println!("  effects after {:.1?}: {effects:?}", start.elapsed());
        break;
    }
    if matches!(action, Action::Select(_) | Action::DoubleClick) {
        println!("  selected: {:?}", operate::selection(&*bus, &object, Deadline::after_ms(2_000)));
    }
    println!(
        "  states: {:#x} -> {:?}",
        states.0,
        bus.call(Call::new(&object, ACCESSIBLE, "GetState"), Deadline::after_ms(1_000))
            .and_then(|r| r.states())
            .map(|s| format!("{s:#x}"))
    );
}

fn find(bus: &Bus, app: &str, role_name: &str, name: &str, mut nth: usize) -> Option<(Object, u32, u64)> {
    let soon = || Deadline::after_ms(3_000);
    let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root");
    let apps = bus.call(Call::new(&registry, ACCESSIBLE, "GetChildren"), soon()).and_then(|r| r.objects()).ok()?;
    let named = |o: &Object| {
        bus.call(Call::get(o, ACCESSIBLE, "Name"), soon()).and_then(|r| r.text_property()).unwrap_or_default()
    };
    let root = apps.into_iter().find(|a| &*a.bus == app || named(a).contains(app))?;
    let mut level = vec![root];
    let mut all = Vec::new();
    // Depth first, as trees are shown.
    while let Some(o) = level.pop() {
        let f = bus.flight(
            vec![
                Call::new(&o, ACCESSIBLE, "GetRoleName"),
                Call::get(&o, ACCESSIBLE, "Name"),
                Call::get(&o, ACCESSIBLE, "ChildCount"),
                Call::new(&o, ACCESSIBLE, "GetRole"),
                Call::new(&o, ACCESSIBLE, "GetState"),
            ],
            soon(),
        );
        let get = |i: usize| f[i].clone();
        all.push(o.clone());
        let hit = get(0).and_then(|r| r.text()).is_ok_and(|r| r == role_name)
            && get(1).and_then(|r| r.text_property()).is_ok_and(|n| n == name);
        if hit && nth == 0 {
            return Some((o, get(3).and_then(|r| r.uint()).ok()?, get(4).and_then(|r| r.states()).ok()?));
        }
        nth -= usize::from(hit);
        let count = get(2).and_then(|r| r.int_property()).unwrap_or(0);
        if (1..=4096).contains(&count) {
            let kids = bus
                .call(Call::new(&o, ACCESSIBLE, "GetChildren"), soon())
                .and_then(|r| r.objects())
                .unwrap_or_default();
            level.extend(kids.into_iter().rev().filter(|k| !k.is_null()));
        }
    }
    None
}
