//! By hand: a raw walk by GetChildren, without cache or plan: the oracle for the adapter's own reads.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for trials by hand")]
use agent_desktop_core::deadline::Deadline;
use agent_desktop_linux::atspi::{interface::*, role};
use agent_desktop_linux::bus::{Body, Bus, Call, Object, Reply, Wire};

fn main() {
    let Ok(bus) = Bus::join(Deadline::after_ms(3_000)) else { std::process::exit(1) };
    let filter = std::env::args().nth(1).unwrap_or_default();
    let brief = std::env::args().nth(2).is_some();
    let soon = || Deadline::after_ms(5_000);
    let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root");
    let apps = bus.call(Call::new(&registry, ACCESSIBLE, "GetChildren"), soon()).and_then(|r| r.objects()).unwrap_or_default();
    for app in apps {
        let get = |p| bus.call(Call::get(&app, ACCESSIBLE, p), soon()).and_then(|r| r.text_property());
        let name = get("Name").unwrap_or_default();
        let toolkit = bus.call(Call::get(&app, APPLICATION, "ToolkitName"), soon()).and_then(|r| r.text_property());
        let version = bus.call(Call::get(&app, APPLICATION, "Version"), soon()).and_then(|r| r.text_property());
        println!("APP {app:?} {name:?} {toolkit:?} {version:?}");
        if !name.contains(&filter) {
            continue;
        }
        let start = std::time::Instant::now();
        let mut stack = vec![(app.clone(), 0usize)];
        let mut count = 0;
        while let Some((o, depth)) = stack.pop() {
            count += 1;
            let f = bus.flight(
                vec![
                    Call::new(&o, ACCESSIBLE, "GetRole"),
                    Call::new(&o, ACCESSIBLE, "GetRoleName"),
                    Call::get(&o, ACCESSIBLE, "Name"),
                    Call::get(&o, ACCESSIBLE, "Description"),
                    Call::new(&o, ACCESSIBLE, "GetState"),
                    Call::new(&o, ACCESSIBLE, "GetInterfaces"),
                    Call::get(&o, ACCESSIBLE, "ChildCount"),
                    Call::new(&o, ACCESSIBLE, "GetAttributes"),
                    Call::with(&o, COMPONENT, "GetExtents", Body::UInt(0)),
                    Call::get(&o, ACTION, "NActions"),
                    Call::get(&o, TEXT, "CharacterCount"),
                    Call::get(&o, VALUE, "CurrentValue"),
                    Call::get(&o, ACCESSIBLE, "AccessibleId"),
                    Call::new(&o, ACCESSIBLE, "GetRelationSet"),
                ],
                soon(),
            );
            let ok = |i: usize| f[i].clone();
            let r = ok(0).and_then(|r| r.uint()).unwrap_or(9999);
            let n = ok(9).and_then(|r| r.int_property()).unwrap_or(0);
            let mut more: Vec<Call> = (0..n.min(6)).map(|i| Call::with(&o, ACTION, "GetName", Body::Int(i as i32))).collect();
            let chars = ok(10).and_then(|r| r.int_property()).unwrap_or(0);
            more.push(Call::with(&o, TEXT, "GetText", Body::Ints(0, chars.min(40) as i32)));
            let m = bus.flight(more, soon());
            let actions: Vec<String> = m.iter().take(n.min(6) as usize).map(|a| a.clone().and_then(|r: Reply| r.text()).unwrap_or_else(|e| format!("{e:?}"))).collect();
            let text = m.last().cloned().unwrap().and_then(|r| r.text());
            let cc = ok(6).and_then(|r| r.int_property()).unwrap_or(-1);
            if !brief {
                let st = ok(4).and_then(|r| r.states()).unwrap_or(0);
                let names = ["INV","active","armed","busy","checked","collapsed","DEFUNCT","editable","enabled","expandable","expanded","focusable","focused","tooltip","horiz","iconified","modal","multiline","multisel","opaque","pressed","resizable","selectable","selected","sensitive","showing","single","stale","transient","vert","visible","managesdesc","indet","required","trunc","anim","invalid","autocomp","seltext","default","visited","checkable","haspopup","readonly"];
                let states: Vec<&str> = (0..44).filter(|i| st >> i & 1 == 1).map(|i| names[i]).collect();
                let ifs: Vec<String> = ok(5).and_then(|r| r.texts()).unwrap_or_default().iter().map(|s| s.rsplit('.').next().unwrap_or("").to_owned()).collect();
                println!(
                    "{}{} {}({:?}) name={:?} desc={:?} n={cc} [{}] if=[{}] attrs={:?} ext={:?} act={n}{actions:?} text={chars}:{:?} val={:?} id={:?} rel={:?}",
                    "  ".repeat(depth), o.path.rsplit('/').next().unwrap_or(""), r, ok(1).and_then(|r| r.text()).unwrap_or_default(),
                    ok(2).and_then(|r| r.text_property()).unwrap_or_else(|e| format!("{e:?}")), ok(3).and_then(|r| r.text_property()).unwrap_or_default(),
                    states.join(" "), ifs.join(","), ok(7).and_then(|r| r.attributes()).unwrap_or_default(), ok(8).and_then(|r| r.extents()).ok(),
                    text.ok(), ok(11).and_then(|r| r.real_property()).ok(), ok(12).and_then(|r| r.text_property()).ok(),
                    ok(13).and_then(|r| r.relations()).ok().map(|v| v.iter().map(|(k, t)| format!("{k}:{}", t.iter().map(|o| o.path.rsplit('/').next().unwrap_or("").to_owned()).collect::<Vec<_>>().join("+"))).collect::<Vec<_>>()),
                );
            }
            if cc > 0 && cc <= 4096 {
                let kids = bus.call(Call::new(&o, ACCESSIBLE, "GetChildren"), soon()).and_then(|r| r.objects()).unwrap_or_default();
                stack.extend(kids.into_iter().rev().filter(|k| !k.is_null()).map(|k| (k, depth + 1)));
            }
        }
        println!("NODES {count} {:?} {}", start.elapsed(), role::name(0).unwrap_or(""));
    }
}
