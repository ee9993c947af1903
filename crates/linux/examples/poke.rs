//! scratch
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::tree::raw::Handle;
use agent_desktop_linux::atspi::interface::*;
use agent_desktop_linux::bus::{Body, Bus, Call, Object, Wire};
fn main() {
    let Ok(bus) = Bus::join(Deadline::after_ms(3_000)) else { return };
    let soon = || Deadline::after_ms(5_000);
    let registry = Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root");
    let mut stack = bus.call(Call::new(&registry, ACCESSIBLE, "GetChildren"), soon()).and_then(|r| r.objects()).unwrap_or_default();
    let _ = Handle::new("x");
    while let Some(o) = stack.pop() {
        let role = bus.call(Call::new(&o, ACCESSIBLE, "GetRole"), soon()).and_then(|r| r.uint()).unwrap_or(0);
        let cc = bus.call(Call::get(&o, ACCESSIBLE, "ChildCount"), soon()).and_then(|r| r.int_property()).unwrap_or(0);
        if matches!(role, 55 | 65 | 66 | 31) {
            let ext = bus.call(Call::with(&o, COMPONENT, "GetExtents", Body::UInt(0)), soon()).and_then(|r| r.extents());
            println!("{o:?} role {role} cc {cc} ext {ext:?}");
            if cc > 4096 {
                let (x, y, w, h) = ext.unwrap();
                for (dx, dy) in [(2, 2), (w / 8, h / 8), (w - 3, h - 3), (w * 7 / 8, h * 7 / 8), (w * 5 / 8, h * 5 / 8), (w/2, h/2)] {
                    for c in [0, 1] {
                    let (px, py) = if c == 0 { (x + dx, y + dy) } else { (dx, dy) };
                    let a = bus.call(Call::with(&o, COMPONENT, "GetAccessibleAtPoint", Body::Point(px, py, c)), soon()).and_then(|r| r.object());
                    println!("   at {px},{py} c{c} {a:?}");
                    if let Ok(a) = a { println!("     {:?}", bus.call(Call::get(&a, TABLE_CELL, "Position"), soon()).and_then(|r| r.ints_property()));
                     println!("     {:?}", bus.call(Call::new(&a, ACCESSIBLE, "GetIndexInParent"), soon()).and_then(|r| r.int())); }
                    }
                }
            } else if cc > 0 {
                for _ in 0..2 {
                    let kids = bus.call(Call::new(&o, ACCESSIBLE, "GetChildren"), soon()).and_then(|r| r.objects()).unwrap_or_default();
                    for (k, c) in kids.iter().enumerate().take(10) {
                        let at = bus.call(Call::with(&o, ACCESSIBLE, "GetChildAtIndex", Body::Int(k as i32)), soon()).and_then(|r| r.object());
                        let ix = bus.call(Call::new(c, ACCESSIBLE, "GetIndexInParent"), soon()).and_then(|r| r.int());
                        println!("   child {c:?} at {at:?} ix {ix:?}");
                    }
                    println!("  rows {:?} cols {:?}", bus.call(Call::get(&o, TABLE, "NRows"), soon()).and_then(|r| r.int_property()), bus.call(Call::get(&o, TABLE, "NColumns"), soon()).and_then(|r| r.int_property()));
                }
            }
        }
        if cc > 0 && cc < 4096 {
            stack.extend(bus.call(Call::new(&o, ACCESSIBLE, "GetChildren"), soon()).and_then(|r| r.objects()).unwrap_or_default());
        }
    }
}
