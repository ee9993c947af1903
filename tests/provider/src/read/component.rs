//! org.a11y.atspi.Component.

use super::{Answer, View, ok};
use crate::call::{Call, Reply};
use crate::tree::Idx;
use crate::wire::Body;

/// Methods.
pub fn method(view: &mut View<'_>, call: &Call) -> Answer {
    match call.member.as_str() {
        "GetExtents" => Some(call.args::<(u32,)>().map(|(kind,)| {
            let [x, y, width, height] = extents(view, view.idx, kind);
            Reply::Ok(Body::new("(iiii)", |w| {
                w.align(8);
                [x, y, width, height].iter().for_each(|n| w.i32(*n));
            }))
        })),
        "GetPosition" => Some(call.args::<(u32,)>().map(|(kind,)| {
            let [x, y, ..] = extents(view, view.idx, kind);
            Reply::Ok(pair(x, y))
        })),
        "GetSize" => {
            let [_, _, width, height] = extents(view, view.idx, 0);
            ok(pair(width, height))
        }
        "Contains" => Some(
            call.args::<(i32, i32, u32)>()
                .map(|(x, y, kind)| Reply::Ok(Body::boolean(contains(extents(view, view.idx, kind), x, y)))),
        ),
        "GetAccessibleAtPoint" => Some(call.args::<(i32, i32, u32)>().map(|(x, y, kind)| {
            let hit = at_point(view, x, y, kind);
            Reply::Ok(view.reference(hit))
        })),
        "GetLayer" => ok(Body::uint(if view.node().role == 23 { 7 } else { 3 })),
        "GetMDIZOrder" => ok(Body::new("n", |w| {
            w.u8(0);
            w.u8(0);
        })),
        "GetAlpha" => ok(Body::new("d", |w| w.f64(1.0))),
        _ => None,
    }
}

fn pair(a: i32, b: i32) -> Body {
    Body::new("ii", |w| {
        w.i32(a);
        w.i32(b);
    })
}

/// Extents in a coordinate system: 0 screen, 1 window, 2 parent.
fn extents(view: &View<'_>, idx: Idx, kind: u32) -> [i32; 4] {
    let own = |idx: Idx| view.tree.node(idx).extents.unwrap_or([0, 0, 0, 0]);
    let [x, y, width, height] = own(idx);
    let window_relative = kind == 1 || (kind == 0 && view.app().spec.screen_is_window);
    let [ox, oy] = if window_relative {
        let [ox, oy, ..] = own(view.tree.window_of(idx));
        [ox, oy]
    } else if kind == 2 {
        let parent = view.tree.node(idx).parent;
        let [ox, oy, ..] = parent.map_or([0; 4], own);
        [ox, oy]
    } else {
        [0, 0]
    };
    [x.wrapping_sub(ox), y.wrapping_sub(oy), width, height]
}

fn contains([ex, ey, width, height]: [i32; 4], x: i32, y: i32) -> bool {
    x >= ex && y >= ey && x < ex.saturating_add(width) && y < ey.saturating_add(height)
}

/// The deepest last child at a point.
fn at_point(view: &View<'_>, x: i32, y: i32, kind: u32) -> Option<Idx> {
    let mut at = view.idx;
    if !contains(extents(view, at, kind), x, y) {
        return None;
    }
    loop {
        let children = &view.tree.node(at).children;
        let hit = children.iter().rev().find(|child| contains(extents(view, **child, kind), x, y));
        match hit {
            Some(&child) => at = child,
            None => return Some(at),
        }
    }
}
