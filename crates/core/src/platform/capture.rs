//! Pictures of windows and of parts of the screen.

use super::not_supported;
use super::windows::WindowKey;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::geometry::Rect;

/// A picture: rows from the top, four bytes a pixel (red, green, blue, alpha), alpha always opaque.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

/// A window's picture with the place that it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowPicture {
    /// The pixels.
    pub pixels: Pixels,
    /// The part of the screen that the pixels stand for, so that elements can be found in them.
    pub bounds: Rect,
    /// Menus and the like that stand over the window on the screen: they are windows of their own and not in the
    /// picture, although their elements may belong to the window's tree.
    pub popups: Vec<Rect>,
}

/// Captures of one desktop.
pub trait Capture {
    /// A window's own content, also where other windows cover it.
    ///
    /// # Errors
    /// `WINDOW_NOT_FOUND` where the key names no window any more; `ACTION_FAILED` / `window_not_viewable` where it has
    /// no content to show (iconified); `window_covered` and `window_not_repainted` where what it would show under other
    /// windows can't be had; `changed_during_capture` where it moved meanwhile.
    fn capture_window(&self, window: &WindowKey, deadline: Deadline) -> Result<WindowPicture, Error> {
        let _ = (window, deadline);
        Err(not_supported("screenshot"))
    }

    /// What the screen shows in an area, which lies inside the displays' bounds.
    ///
    /// # Errors
    /// Where the area is not on the screen any more.
    fn capture_area(&self, area: Rect, deadline: Deadline) -> Result<Pixels, Error> {
        let _ = (area, deadline);
        Err(not_supported("screenshot"))
    }
}
