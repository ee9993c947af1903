//! An element's part of its window's picture.

use super::mask;
use super::paint;
use super::screenshot::{Shot, steady};
use super::window;
use crate::command::Context;
use crate::command::observe::Screenshot;
use crate::deadline::Deadline;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::geometry::Rect;
use crate::observe::saved;
use crate::observe::target::{self, Scope};
use crate::platform::Platform;
use crate::refs::entry::RefMap;
use crate::refs::id::RefId;
use crate::refs::resolve::{Purpose, Resolved};
use crate::tree::present::states_of;
use crate::vocab::state::State;
use crate::vocab::surface::Surface;
use serde_json::json;

/// The picture of the element.
pub(super) fn shot(context: &Context, args: &Screenshot, id: &RefId, deadline: Deadline) -> Result<Shot> {
    let platform = context.platform()?;
    let map = saved::load(context, &id.snapshot)?;
    if !matches!(map.source.surface, Surface::Window | Surface::Focused) {
        return Err(in_popup("the element was seen in a surface that is a window of its own"));
    }
    let first = resolve(platform, &map, id, deadline)?;
    let scope = Scope { app: None, window_id: Some(&map.source.window_id) };
    let window = target::find_any_window(platform, scope, None, deadline)?;
    let mut seen = Some(first);
    steady(deadline, || {
        // The element is proven, and its place read, on both sides of the picture.
        let before = match seen.take() {
            Some(first) => first,
            None => resolve(platform, &map, id, deadline)?,
        };
        let place = bounds(&before)?;
        let Some(mut shot) = window::attempt(context, args, &window, deadline)? else { return Ok(None) };
        let after = resolve(platform, &map, id, deadline)?;
        if bounds(&after)? != place {
            return Ok(None);
        }
        if shot.popups.iter().any(|popup| popup.holds(place.at(0.5, 0.5))) {
            return Err(in_popup("a menu or another popup stands where the element is"));
        }
        let shown = place.shared(&shot.bounds).ok_or_else(|| not_on_screen("it lies outside of its window"))?;
        let (pixels, area) = paint::cut(&shot.pixels, &shot.bounds, &shown);
        shot.pixels = pixels;
        shot.bounds = area;
        if before.live.facts.secure && !args.masks() && !args.no_mask_secure {
            let all = [area];
            shot.facts.insert("masked".into(), json!(mask::fill(&mut shot.pixels, &area, &all)));
        }
        shot.facts.insert("ref".into(), json!(id.to_string()));
        if shown != place {
            shot.facts.insert("clipped".into(), json!(true));
        }
        if let Some((was, now)) = &after.renamed {
            shot.facts.insert("details".into(), json!({"renamed": {"was": was, "now": now}}));
        }
        Ok(Some(shot))
    })
}

fn resolve(platform: &dyn Platform, map: &RefMap, id: &RefId, deadline: Deadline) -> Result<Resolved> {
    saved::resolve_with(platform, map, id.number, Purpose::Read, true, deadline)
}

/// Where the element is, if it can be seen at all.
fn bounds(resolved: &Resolved) -> Result<Rect> {
    let facts = &resolved.live.facts;
    let says = |state| states_of(facts).known().is_some_and(|s| s.has(state));
    if says(State::Hidden) {
        return Err(not_on_screen("it is hidden"));
    }
    if says(State::Offscreen) {
        return Err(not_on_screen("it is scrolled out of view, or in a closed menu"));
    }
    match &facts.bounds {
        Evidence::Known(rect) if rect.has_area() => Ok(*rect),
        Evidence::Known(_) => Err(not_on_screen("its bounds are empty")),
        Evidence::Absent => Err(not_on_screen("it has no bounds")),
        Evidence::Unknown(cause) => Err(crate::observe::property::unread("bounds", cause)),
    }
}

fn not_on_screen(why: &str) -> Error {
    Error::before(Code::ActionFailed, format!("the element has no picture: {why}"))
        .kind("element_not_on_screen")
        .suggest("Bring it into view first, for example with scroll-to, or by opening its menu or page.")
}

fn in_popup(why: &str) -> Error {
    Error::before(Code::ActionNotSupported, format!("{why}: it is not in the window's picture"))
        .kind("element_in_popup")
        .suggest("Read its bounds with 'get REF --property bounds' and capture that part of the screen with --rect.")
}
