//! Pictures of a display or of a region, between two looks at the displays (spec 1 §4 "identity sandwich").

use super::mask;
use super::screenshot::{Shot, scale_at, steady};
use super::window::{layout, plan};
use crate::command::Context;
use crate::command::observe::Screenshot;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::geometry::Rect;
use crate::observe::target::summary;
use crate::platform::{DisplayInfo, Platform, Responsive, Window, WindowKey};
use crate::tree::raw::RawTree;
use crate::vocab::role::Role;
use serde_json::{Map, Value, json};

/// The picture of the display or region that the arguments name; without any, of the primary display.
pub(super) fn shot(context: &Context, args: &Screenshot, deadline: Deadline) -> Result<Shot> {
    let platform = context.platform()?;
    steady(deadline, || attempt(platform, args, deadline))
}

fn attempt(platform: &dyn Platform, args: &Screenshot, deadline: Deadline) -> Result<Option<Shot>> {
    let before = platform.displays(deadline)?;
    let (area, display) = match args.region()? {
        Some(rect) => (whole(&rect, &before)?, None),
        None => {
            let display = chosen(args.screen, &before)?;
            (display.bounds, Some(display))
        }
    };
    let seen = args.masks().then(|| secrets(platform, &area, deadline)).transpose()?;
    let mut pixels = platform.capture_area(area, deadline)?;
    let again = args.masks().then(|| secrets(platform, &area, deadline)).transpose()?;
    let after = platform.displays(deadline)?;
    // A region belongs to the whole arrangement, a display only to itself.
    let same = match display {
        Some(display) => after.contains(display),
        None => after == before,
    };
    if !same || seen != again {
        return Ok(None);
    }
    let mut facts = Map::new();
    if let Some(display) = display {
        facts.insert("display".into(), json!({"id": display.id, "is_primary": display.is_primary}));
    }
    if let Some(seen) = seen {
        let areas: Vec<Rect> = seen.into_iter().flat_map(|s| s.areas).collect();
        facts.insert("masked".into(), json!(mask::fill(&mut pixels, &area, &areas)));
    }
    Ok(Some(Shot { pixels, bounds: area, scale: scale_at(&before, &area), popups: Vec::new(), facts }))
}

fn chosen(index: Option<usize>, displays: &[DisplayInfo]) -> Result<&DisplayInfo> {
    let found = match index {
        Some(index) => displays.get(index),
        None => displays.iter().find(|d| d.is_primary).or(displays.first()),
    };
    found.ok_or_else(|| about("there is no display with this index", displays).kind("no_such_display"))
}

/// The region in whole pixels, wholly within what the displays span.
fn whole(rect: &Rect, displays: &[DisplayInfo]) -> Result<Rect> {
    let (x, y) = (rect.x.floor(), rect.y.floor());
    let area = Rect { x, y, width: (rect.x + rect.width).ceil() - x, height: (rect.y + rect.height).ceil() - y };
    let span = displays.iter().map(|d| d.bounds).reduce(|a, b| {
        let (x, y) = (a.x.min(b.x), a.y.min(b.y));
        let (right, lower) = ((a.x + a.width).max(b.x + b.width), (a.y + a.height).max(b.y + b.height));
        Rect { x, y, width: right - x, height: lower - y }
    });
    if span.and_then(|span| span.shared(&area)) == Some(area) {
        return Ok(area);
    }
    Err(about("the region is not wholly on the screen", displays).kind("region_off_screen"))
}

fn about(message: &str, displays: &[DisplayInfo]) -> Error {
    let ids: Vec<&str> = displays.iter().map(|d| d.id.as_str()).collect();
    Error::invalid(message)
        .detail("display_count", displays.len())
        .detail("display_ids", ids)
        .suggest("'agent-desktop list-displays' shows displays and their bounds.")
}

/// One window's secure fields.
#[derive(Debug, PartialEq)]
struct Secrets {
    window: Option<WindowKey>,
    place: Evidence<Rect>,
    layout: Vec<(Evidence<Role>, bool, Value)>,
    areas: Vec<Rect>,
}

/// The secure fields of every window that may show in the area, the covered ones included.
fn secrets(platform: &dyn Platform, area: &Rect, deadline: Deadline) -> Result<Vec<Secrets>> {
    let apps = platform.apps(deadline)?;
    let windows = platform.windows(&apps, deadline)?;
    let shows = |w: &&Window| {
        w.visible != Evidence::Known(false) && w.bounds.known().is_none_or(|bounds| bounds.overlaps(area))
    };
    windows.iter().filter(shows).map(|w| of_window(platform, w, deadline)).collect()
}

fn of_window(platform: &dyn Platform, window: &Window, deadline: Deadline) -> Result<Secrets> {
    let unproven = |why: &str| mask::unproven(why, &Error::invalid("")).detail("window", summary(window));
    let Some(root) = window.root.as_ref().filter(|_| window.responsive == Responsive::Yes) else {
        return Err(unproven("a window in the picture has no tree, or its application is silent"));
    };
    let tree: RawTree = platform.read_tree(root, &window.above, &window.process, &plan(deadline)).map_err(|e| {
        mask::unproven("a window in the picture could not be read", &e).detail("window", summary(window))
    })?;
    let place = match &window.bounds {
        Evidence::Known(bounds) => *bounds,
        _ => return Err(unproven("a window in the picture has no known place")),
    };
    let areas = mask::areas(&tree, &place).map_err(|e| e.detail("window", summary(window)))?;
    Ok(Secrets { window: window.key.clone(), place: window.bounds.clone(), layout: layout(&tree, false), areas })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(id: &str, x: f64, width: f64, primary: bool) -> DisplayInfo {
        let bounds = Rect { x, y: 0.0, width, height: 100.0 };
        DisplayInfo { id: id.into(), bounds, is_primary: primary, scale: 1.0 }
    }

    #[test]
    fn displays_by_index_and_the_primary_one_without() {
        let all = [display("R", 100.0, 50.0, true), display("L", 0.0, 100.0, false)];
        assert_eq!(chosen(None, &all).unwrap().id, "R");
        assert_eq!(chosen(Some(1), &all).unwrap().id, "L");
        let e = chosen(Some(2), &all).unwrap_err();
        assert_eq!(
            (e.details()["display_count"].clone(), e.details()["display_ids"].clone()),
            (json!(2), json!(["R", "L"]))
        );
    }

    #[test]
    fn regions_are_whole_pixels_on_the_screen() {
        let all = [display("L", 0.0, 100.0, true), display("R", 100.0, 50.0, false)];
        let rect = |x, y, width, height| Rect { x, y, width, height };
        assert_eq!(whole(&rect(90.5, 0.0, 20.0, 100.0), &all).unwrap(), rect(90.0, 0.0, 21.0, 100.0), "across both");
        for bad in [rect(-1.0, 0.0, 5.0, 5.0), rect(149.0, 0.0, 2.0, 1.0), rect(0.0, 99.5, 1.0, 1.0)] {
            assert_eq!(whole(&bad, &all).unwrap_err().kind_name(), Some("region_off_screen"), "{bad:?}");
        }
    }
}
