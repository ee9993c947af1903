//! Points that a caller names: they must lie on a display, and where `--expect-window` names a window, on that.

use crate::deadline::Deadline;
use crate::error::{Code, Error, Result, echo};
use crate::geometry::Point;
use crate::platform::{DisplayInfo, Platform, WindowKey};
use crate::windows::key_of;
use serde_json::json;

/// A point that lies on a display, or `INVALID_ARGS`: the display would clamp it to somewhere else.
pub fn on_a_display(platform: &dyn Platform, point: Point, deadline: Deadline) -> Result<()> {
    let displays = platform.displays(deadline)?;
    if displays.iter().any(|d| contains(d, point)) {
        return Ok(());
    }
    Err(Error::invalid(format!("the point {},{} lies on no display", point.x, point.y))
        .kind("point_off_screen")
        .detail("displays", json!(displays))
        .suggest("'agent-desktop list-displays' shows the displays' bounds."))
}

fn contains(display: &DisplayInfo, p: Point) -> bool {
    let b = &display.bounds;
    p.x >= b.x && p.y >= b.y && p.x < b.x + b.width && p.y < b.y + b.height
}

/// The window of an id of `list-windows`, and its identity for the window system.
pub fn expected(platform: &dyn Platform, id: Option<&str>, deadline: Deadline) -> Result<Option<WindowKey>> {
    let Some(id) = id else { return Ok(None) };
    let windows = platform.windows(&platform.apps(deadline)?, deadline)?;
    let window = windows.into_iter().find(|w| w.id == id).ok_or_else(|| {
        Error::before(Code::WindowNotFound, format!("there is no window {}", echo(id)))
            .suggest("'agent-desktop list-windows' shows ids.")
    })?;
    Ok(Some(key_of(&window)?.clone()))
}
