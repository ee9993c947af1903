//! What stands where: a client's frame, what covers it, what is inside it. To be read while the server is grabbed, so
//! that the answers belong together.

use super::connection::Connection;
use super::error::X11Error;
use super::windows::{OVERLAY_CLASS, Rect, class_of};
use x11rb::connection::RequestConnection as _;
use x11rb::errors::ReplyError;
use x11rb::protocol::shape::{self, ConnectionExt as _, SK};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetGeometryReply, GetWindowAttributesReply, MapState, Rectangle, WindowClass,
};

/// A window with its place on the root window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The window.
    pub window: u32,
    /// Its outer edges, border included.
    pub outer: Rect,
    /// What of that it really covers: windows may have any shape.
    pub parts: Vec<Rect>,
    /// Its depth.
    pub depth: u8,
    /// Its visual.
    pub visual: u32,
    /// Whether it asked the window manager to leave it alone: a menu, a tooltip.
    pub popup: bool,
}

/// A client as it stands on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The client.
    pub id: u32,
    /// The client's inside.
    pub client: Rect,
    /// Its depth.
    pub depth: u8,
    /// Its visual.
    pub visual: u32,
    /// The child of the root window that holds it; the client itself without a frame.
    pub frame: Placed,
    /// What is on the screen above the frame, the lowest first.
    pub above: Vec<Placed>,
}

/// Where a client stands. `None` where it is not on the screen.
///
/// # Errors
/// `is_gone` where the client has ended.
pub fn standing(x: &Connection, client: u32) -> Result<Option<Standing>, X11Error> {
    let c = x.raw();
    let (attributes, geometry) = (c.get_window_attributes(client)?, c.get_geometry(client)?);
    let place = c.translate_coordinates(client, x.root(), 0, 0)?;
    let (attributes, geometry, place) = (attributes.reply()?, geometry.reply()?, place.reply()?);
    if attributes.map_state != MapState::VIEWABLE {
        return Ok(None);
    }
    let mut frame = client;
    let siblings = loop {
        let tree = c.query_tree(frame)?.reply()?;
        if tree.parent == x.root() || tree.parent == x11rb::NONE {
            break c.query_tree(x.root())?.reply()?.children;
        }
        frame = tree.parent;
    };
    let from = siblings.iter().position(|w| *w == frame).unwrap_or(0);
    let mut seen = placed(x, &siblings[from..])?;
    if seen.first().is_none_or(|p| p.window != frame) {
        return Ok(None);
    }
    Ok(Some(Standing {
        id: client,
        client: Rect {
            x: place.dst_x.into(),
            y: place.dst_y.into(),
            width: geometry.width.into(),
            height: geometry.height.into(),
        },
        depth: geometry.depth,
        visual: attributes.visual,
        frame: seen.remove(0),
        above: seen,
    }))
}

/// Those of the windows that show something, in their order.
fn placed(x: &Connection, windows: &[u32]) -> Result<Vec<Placed>, X11Error> {
    let shapes = x.raw().extension_information(shape::X11_EXTENSION_NAME)?.is_some();
    let asked = windows
        .iter()
        .map(|w| {
            let class = x.raw().get_property(false, *w, AtomEnum::WM_CLASS, AtomEnum::ANY, 0, 64)?;
            let shape = if shapes { Some(x.raw().shape_get_rectangles(*w, SK::BOUNDING)?) } else { None };
            Ok((*w, x.raw().get_window_attributes(*w)?, x.raw().get_geometry(*w)?, class, shape))
        })
        .collect::<Result<Vec<_>, X11Error>>()?;
    let mut out = Vec::new();
    for (window, attributes, geometry, class, shape) in asked {
        let shape = shape.and_then(|shape| shape.reply().ok());
        let ours = class.reply().is_ok_and(|c| class_of(Some(&c)).as_deref() == Some(OVERLAY_CLASS));
        let (attributes, geometry): (GetWindowAttributesReply, GetGeometryReply) =
            match (attributes.reply(), geometry.reply()) {
                (Ok(a), Ok(g)) => (a, g),
                (Err(ReplyError::X11Error(_)), _) | (_, Err(ReplyError::X11Error(_))) => continue,
                (Err(e), _) | (_, Err(e)) => return Err(e.into()),
            };
        if attributes.map_state != MapState::VIEWABLE || attributes.class != WindowClass::INPUT_OUTPUT {
            continue;
        }
        let border = u32::from(geometry.border_width);
        let outer = Rect {
            x: geometry.x.into(),
            y: geometry.y.into(),
            width: u32::from(geometry.width) + 2 * border,
            height: u32::from(geometry.height) + 2 * border,
        };
        // Counted from the corner inside the border.
        let part = |r: &Rectangle| {
            let (x, y) = (outer.x + border as i32 + i32::from(r.x), outer.y + border as i32 + i32::from(r.y));
            shared(outer, Rect { x, y, width: r.width.into(), height: r.height.into() })
        };
        let parts = shape.map_or_else(|| vec![outer], |shape| shape.rectangles.iter().filter_map(part).collect());
        out.push(Placed {
            window,
            outer,
            parts,
            depth: geometry.depth,
            visual: attributes.visual,
            // An agent's cursor covers pixels, but it is nothing of an application.
            popup: attributes.override_redirect && !ours,
        });
    }
    Ok(out)
}

/// The window and everything inside it, at most `most`.
///
/// # Errors
/// Only when the server can't be read.
pub fn inside(x: &Connection, window: u32, most: usize) -> Result<Vec<u32>, X11Error> {
    let mut out = vec![window];
    let mut from = 0;
    while from < out.len() && out.len() < most {
        let asked = out[from..].iter().map(|w| x.raw().query_tree(*w)).collect::<Result<Vec<_>, _>>()?;
        from = out.len();
        for tree in asked {
            match tree.reply() {
                Ok(tree) => out.extend(tree.children),
                Err(ReplyError::X11Error(_)) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
    out.truncate(most);
    Ok(out)
}

/// What two rectangles share; none where that is nothing.
pub fn shared(a: Rect, b: Rect) -> Option<Rect> {
    let (x, y) = (a.x.max(b.x), a.y.max(b.y));
    let right = right_of(a).min(right_of(b));
    let lower = lower_of(a).min(lower_of(b));
    let size = |from: i32, to: i64| u32::try_from(to - i64::from(from)).ok().filter(|s| *s > 0);
    Some(Rect { x, y, width: size(x, right)?, height: size(y, lower)? })
}

fn right_of(r: Rect) -> i64 {
    i64::from(r.x) + i64::from(r.width)
}

fn lower_of(r: Rect) -> i64 {
    i64::from(r.y) + i64::from(r.height)
}

/// The parts of an area that the screen doesn't show: outside of it, or under these. They may overlap.
pub fn unseen(area: Rect, screen: Rect, above: &[Placed]) -> Vec<Rect> {
    let far = 1 << 20;
    let end = |n: i64| i32::try_from(n).unwrap_or(i32::MAX);
    let (right, lower) = (end(right_of(screen)), end(lower_of(screen)));
    let outside = [
        Rect { x: screen.x - far, y: screen.y - far, width: far as u32, height: 2 * far as u32 },
        Rect { x: right, y: screen.y - far, width: far as u32, height: 2 * far as u32 },
        Rect { x: screen.x - far, y: screen.y - far, width: 2 * far as u32, height: far as u32 },
        Rect { x: screen.x - far, y: lower, width: 2 * far as u32, height: far as u32 },
    ];
    outside
        .into_iter()
        .chain(above.iter().flat_map(|p| p.parts.iter().copied()))
        .filter_map(|r| shared(area, r))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn shared_parts() {
        assert_eq!(shared(rect(0, 0, 10, 10), rect(5, 6, 10, 10)), Some(rect(5, 6, 5, 4)));
        assert_eq!(shared(rect(0, 0, 10, 10), rect(10, 0, 5, 5)), None, "side by side");
        assert_eq!(shared(rect(-5, -5, 10, 10), rect(0, 0, 100, 100)), Some(rect(0, 0, 5, 5)));
    }

    #[test]
    fn what_the_screen_does_not_show() {
        let screen = rect(0, 0, 100, 100);
        let over = |r| Placed { window: 1, outer: r, parts: vec![r], depth: 24, visual: 1, popup: false };
        assert_eq!(unseen(rect(10, 10, 20, 20), screen, &[]), []);
        assert_eq!(unseen(rect(10, 10, 20, 20), screen, &[over(rect(50, 50, 9, 9))]), []);
        assert_eq!(unseen(rect(90, 10, 20, 20), screen, &[]), [rect(100, 10, 10, 20)]);
        assert_eq!(unseen(rect(-5, -6, 20, 20), screen, &[]), [rect(-5, -6, 5, 20), rect(-5, -6, 20, 6)]);
        assert_eq!(unseen(rect(0, 0, 20, 20), screen, &[over(rect(19, 0, 5, 5))]), [rect(19, 0, 1, 5)]);
        let frame = Placed { parts: vec![rect(0, 0, 20, 2)], ..over(rect(0, 0, 20, 20)) };
        assert_eq!(unseen(rect(0, 0, 20, 20), screen, &[frame]), [rect(0, 0, 20, 2)], "one sees through its middle");
    }
}
