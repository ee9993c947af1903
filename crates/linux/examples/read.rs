//! By hand: prints what the adapter reads: applications, windows, and trees of windows whose application's name
//! contains the first argument. A second argument prints every node.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for trials by hand")]
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::evidence::Evidence;
use agent_desktop_core::platform::{
    Apps, ChainEdge, Hit, Observe, Presence, ProbeRequest, ReadPlan, TextSource, Window, WitnessProbe,
};
use agent_desktop_core::tree::raw::{Link, RawNode, RawTree};
use agent_desktop_linux::LinuxPlatform;
use std::time::Instant;

fn text(e: &Evidence<String>) -> String {
    match e {
        Evidence::Known(s) => format!("{s:?}"),
        Evidence::Absent => String::new(),
        Evidence::Unknown(c) => format!("?{c:?}"),
    }
}

fn line(tree: &RawTree, at: usize) {
    let n: &RawNode = &tree.nodes[at];
    let f = &n.facts;
    let depth = tree.ancestors_or_self(at as u32).count() - 1;
    let set = |v: Vec<&str>| v.join(",");
    let names = [
        ("x", &f.names.explicit_label),
        ("by", &f.names.labelled_by_text),
        ("t", &f.names.native_title),
        ("s", &f.names.static_value),
        ("c", &f.names.child_label),
        ("p", &f.names.placeholder),
        ("d", &f.names.description),
    ];
    let names: Vec<String> =
        names.iter().filter(|(_, e)| **e != Evidence::Absent).map(|(k, e)| format!("{k}={}", text(e))).collect();
    println!(
        "{}{} [{}] {} v={} st={:?} ca={:?} id={:?} own={} cell={:?} {}{}{:?} b={:?} cut={:?} src={}",
        "  ".repeat(depth),
        f.role.known().map_or("?", |r| r.token()),
        f.native_role,
        names.join(" "),
        text(&f.value),
        f.states.known().map(|s| set(s.iter().map(|x| x.token()).collect())),
        f.capabilities.known().map(|s| set(s.iter().map(|x| x.token()).collect())),
        f.native_id.known().map(|i| format!("{}:{}", i.kind, i.value)),
        text(&f.own_text),
        f.cell.known(),
        if f.secure { "SECURE " } else { "" },
        if f.item { "item " } else { "" },
        f.grade,
        f.bounds.known().map(|b| (b.x, b.y, b.width, b.height)),
        n.cut,
        f.label_sources.len(),
    );
}

/// Probes every element that may hold a ref and compares what comes back with what the tree said.
fn probe_all(platform: &LinuxPlatform, tree: &RawTree, w: &Window) {
    let (mut count, mut differ, mut broken, mut dead) = (0, 0, 0, 0);
    let mut spent = std::time::Duration::ZERO;
    for (at, node) in tree.nodes.iter().enumerate() {
        let f = &node.facts;
        if !f.role.known().is_some_and(|r| r.interactive()) && f.own_text == Evidence::Absent {
            continue;
        }
        let mut edges: Vec<ChainEdge> = Vec::new();
        let mut parent = None;
        for link in &tree.above {
            edges.push(ChainEdge { parent: parent.replace(link.handle.clone()), child: link.clone() });
        }
        let mut path: Vec<u32> = tree.ancestors_or_self(at as u32).collect();
        path.reverse();
        for step in path {
            let n = tree.node(step);
            let child = Link { handle: n.handle.clone(), index: n.index };
            edges.push(ChainEdge { parent: parent.replace(n.handle.clone()), child });
        }
        let witness = WitnessProbe { handle: node.handle.clone(), source: TextSource::OwnText };
        let request = ProbeRequest {
            process: &w.process,
            target: &node.handle,
            label_sources: &f.label_sources,
            page_signs: f.in_page.then_some(f.page_signs.as_slice()),
            role: *f.role.known().unwrap_or(&agent_desktop_core::vocab::role::Role::Unknown),
            edges: &edges,
            witnesses: std::slice::from_ref(&witness),
            cells: &[],
            bounds: false,
            plan: 0,
        };
        let start = Instant::now();
        let probe = platform.probe(&request, Deadline::after_ms(3_000));
        spent += start.elapsed();
        count += 1;
        if !probe.edges.iter().all(|e| e.says_yes()) {
            broken += 1;
            if broken < 4 {
                println!("  BROKEN {:?} {} {:?}", probe.edges, node.handle.as_str(), f.native_role);
            }
        }
        if probe.witnesses[0] != f.own_text {
            println!("  WITNESS {:?} was {:?}", probe.witnesses[0], f.own_text);
        }
        match probe.element {
            Presence::Live(now) => {
                let mut was = f.clone();
                was.web_wrapper = now.web_wrapper;
                if *now != was {
                    differ += 1;
                    if differ < 6 {
                        let (was, now) = (format!("{was:#?}"), format!("{now:#?}"));
                        for (a, b) in was.lines().zip(now.lines()).filter(|(a, b)| a != b).take(4) {
                            println!("  WAS {a} NOW {b}");
                        }
                        println!("  -- {} {}", f.native_role, node.handle.as_str());
                    }
                }
            }
            other => {
                dead += 1;
                if dead < 4 {
                    println!("  {other:?} {}", node.handle.as_str());
                }
            }
        }
    }
    println!("  PROBED {count}: differ {differ}, broken {broken}, dead {dead}, {:?} each", spent / count.max(1));
}

/// Hit tests the middle of every button that is on screen.
fn hits(platform: &LinuxPlatform, tree: &RawTree) {
    let start = Instant::now();
    let (mut target, mut other, mut unknown) = (0, 0, 0);
    for n in tree
        .nodes
        .iter()
        .filter(|n| n.facts.native_role.contains("button") && n.facts.states.known().is_some_and(|s| s.is_empty()))
    {
        let Some(b) = n.facts.bounds.known() else { continue };
        match &platform.hit_test(&n.handle, &[b.at(0.5, 0.5)], Deadline::after_ms(1_000))[0] {
            Hit::Target => target += 1,
            Hit::Other { role, name } => {
                other += 1;
                println!("  HIT {role} {name:?} at {b:?} of {}", n.handle.as_str());
            }
            Hit::Unknown => unknown += 1,
        }
    }
    println!("  HITS target {target} other {other} unknown {unknown} {:?}", start.elapsed());
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (filter, all) = (args.next().unwrap_or_default(), args.next());
    let start = Instant::now();
    let platform = match LinuxPlatform::join() {
        Ok(p) => p,
        Err(e) => {
            eprintln!("{}", e.to_json());
            std::process::exit(1)
        }
    };
    println!("joined {:?}", start.elapsed());
    let deadline = || Deadline::after_ms(10_000);
    let step = Instant::now();
    let apps = platform.apps(deadline()).expect("apps");
    println!("apps {:?}", step.elapsed());
    for a in &apps {
        println!(
            "  APP {} {:?} pid {} {:?} {:?} {:?} {:?}",
            a.name, a.names, a.process.pid, a.presentation, a.responsive, a.bundle_id, a.root
        );
    }
    let step = Instant::now();
    let windows = platform.windows(&apps, deadline()).expect("windows");
    println!("windows {:?}", step.elapsed());
    for w in &windows {
        println!(
            "  WINDOW {} {:?} of {} focused {:?} visible {:?} min {:?} modal {:?} {:?} {:?} {:?}",
            w.id,
            w.title,
            w.app_name,
            w.focused,
            w.visible,
            w.minimized,
            w.modal,
            w.bounds,
            w.responsive,
            w.no_tree_reason
        );
    }
    println!("active {:?}", platform.active_window(deadline()).map(|w| w.map(|w| w.id)));
    for a in apps.iter().filter(|a| a.name.to_lowercase().contains(&filter.to_lowercase())) {
        let step = Instant::now();
        let surfaces = platform.surfaces(a, deadline());
        println!("surfaces {:?}", step.elapsed());
        for s in surfaces.iter().flatten() {
            println!(
                "  SURFACE {} {} {:?} items {:?} above {} of {:?}",
                s.kind,
                s.id,
                s.title,
                s.item_count,
                s.above.len(),
                s.window_id
            );
        }
    }
    for w in windows.iter().filter(|w| w.app_name.to_lowercase().contains(&filter.to_lowercase())) {
        let Some(root) = &w.root else { continue };
        for run in 0..3 {
            let step = Instant::now();
            let mut plan = ReadPlan::contract(deadline());
            plan.bounds = run == 2;
            match platform.read_tree(root, &w.above, &w.process, &plan) {
                Ok(tree) => {
                    let refs = tree.nodes.iter().filter(|n| {
                        n.facts.role.known().is_some_and(|r| r.interactive())
                            || n.facts.capabilities.known().is_some_and(|c| !c.iter().all(|c| c.token() == "SetFocus"))
                    });
                    println!(
                        "TREE {} {:?} nodes {} refs {} complete {} {:?} {:?} {}",
                        w.app_name,
                        step.elapsed(),
                        tree.nodes.len(),
                        refs.count(),
                        tree.complete(),
                        tree.kind,
                        tree.notes,
                        if plan.bounds { "bounds" } else { "" }
                    );
                    for n in tree.nodes.iter().filter(|n| n.cut.is_some()) {
                        println!(
                            "  CUT {:?} {:?} of {:?} at {} {}",
                            n.cut,
                            n.children.len(),
                            n.child_count,
                            n.handle.as_str(),
                            n.facts.native_role
                        );
                    }
                    if run == 1 {
                        probe_all(&platform, &tree, w);
                    }
                    if run == 2 {
                        hits(&platform, &tree);
                    }
                    if run == 2 && all.is_some() {
                        (0..tree.nodes.len()).for_each(|at| line(&tree, at));
                    }
                }
                Err(e) => println!("ERROR {e} {:?}", e.to_json()),
            }
        }
    }
}
