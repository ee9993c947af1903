//! A window's picture with its secure fields blacked out, together with the tree that it shows.

use super::mask;
use super::screenshot::steady;
use super::window::{layout, now, plan};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::geometry::Rect;
use crate::observe::locate::Root;
use crate::platform::{Pixels, Platform, WindowKey, WindowPicture};
use crate::tree::raw::RawTree;

/// The picture, and what was read around it.
pub(crate) struct Masked {
    pub pixels: Pixels,
    /// The part of the screen that it stands for.
    pub bounds: Rect,
    /// Menus and the like that stood over the window and are not in its picture.
    pub popups: Vec<Rect>,
    /// The window's tree right before the picture, with bounds.
    pub tree: RawTree,
    /// Whether an element that can be acted on moved, came or went between `known`, or else `tree`, and the picture.
    pub moved: bool,
}

/// Takes the picture between two reads of the tree. `known` is the tree, with bounds, that the picture is to show.
///
/// # Errors
/// `mask_unproven` where a secret might show; those of the picture.
pub(crate) fn masked(
    platform: &dyn Platform,
    window: &WindowKey,
    root: &Root,
    known: Option<&RawTree>,
    deadline: Deadline,
) -> Result<Masked> {
    let unread = |e| mask::unproven("the window's elements could not be read", &e);
    let read = || platform.read_tree(&root.handle, &root.above, &root.process, &plan(deadline)).map_err(unread);
    steady(deadline, || {
        let before = now(platform, window, deadline)?;
        let tree = read()?;
        let WindowPicture { mut pixels, bounds, popups } = platform.capture_window(window, deadline)?;
        let again = read()?;
        let after = now(platform, window, deadline)?;
        if before.bounds != after.bounds || bounds != after.bounds || layout(&tree, false) != layout(&again, false) {
            return Ok(None);
        }
        mask::fill(&mut pixels, &bounds, &mask::areas(&tree, &bounds)?);
        let moved = layout(known.unwrap_or(&tree), true) != layout(&again, true);
        Ok(Some(Masked { pixels, bounds, popups, tree, moved }))
    })
}
