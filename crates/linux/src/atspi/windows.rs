//! Which X11 window is which AT-SPI window (FINDINGS §6 "Window <-> frame"): by process, then by place and title.

use crate::x11::{WindowType, X11Window};

/// What AT-SPI says about a window, as far as it helps to find it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its name; Qt's is often empty.
    pub title: String,
    /// Its extents, where they are those of the screen.
    pub extents: Option<(i32, i32, i32, i32)>,
}

/// For each frame of one process, the X11 window of the same process that it is. A window belongs to one frame at most;
/// where place and title leave it open, none is named.
pub fn matched(frames: &[Frame], windows: &[&X11Window]) -> Vec<Option<usize>> {
    let mut out = vec![None; frames.len()];
    let mut taken = vec![false; windows.len()];
    let mut scores: Vec<(i32, usize, usize)> = Vec::new();
    for (f, frame) in frames.iter().enumerate() {
        for (w, window) in windows.iter().enumerate() {
            scores.push((score(frame, window), f, w));
        }
    }
    scores.sort_by_key(|(s, _, _)| -s);
    for &(score, f, w) in &scores {
        if score <= 0 || out[f].is_some() || taken[w] {
            continue;
        }
        // Another pair of one of the two that agrees as well leaves it open.
        let rival = |&&(s, rf, rw): &&(i32, usize, usize)| {
            s == score && (rf, rw) != (f, w) && ((rf == f && !taken[rw]) || (rw == w && out[rf].is_none()))
        };
        if scores.iter().find(rival).is_none() {
            out[f] = Some(w);
            taken[w] = true;
        }
    }
    // The one that is left is the one that is left.
    let open: Vec<usize> = (0..frames.len()).filter(|f| out[*f].is_none()).collect();
    let free: Vec<usize> = (0..windows.len()).filter(|w| !taken[*w]).collect();
    if let ([f], [w]) = (open.as_slice(), free.as_slice()) {
        out[*f] = Some(*w);
    }
    out
}

/// How well they agree: a title counts more than a size, a place alone most.
fn score(frame: &Frame, window: &X11Window) -> i32 {
    let mut score = 0;
    if !frame.title.is_empty() && window.title.as_deref() == Some(frame.title.as_str()) {
        score += 4;
    }
    if let Some((x, y, width, height)) = frame.extents {
        let near = |a: i64, b: i64| (a - b).abs() <= 2;
        let frame_of = window.frame_extents.unwrap_or_default();
        let shadow = window.gtk_frame_extents.unwrap_or_default();
        let b = window.bounds;
        // The frame as the toolkit counts it: with what the window manager drew, or without, or without the shadow.
        let outer = [
            (0, 0, 0, 0),
            (
                -i64::from(frame_of.left),
                -i64::from(frame_of.top),
                i64::from(frame_of.left + frame_of.right),
                i64::from(frame_of.top + frame_of.bottom),
            ),
            (
                i64::from(shadow.left),
                i64::from(shadow.top),
                -i64::from(shadow.left + shadow.right),
                -i64::from(shadow.top + shadow.bottom),
            ),
        ];
        let size = |d: &(i64, i64, i64, i64)| {
            near(i64::from(width), i64::from(b.width) + d.2) && near(i64::from(height), i64::from(b.height) + d.3)
        };
        let place = |d: &(i64, i64, i64, i64)| {
            near(i64::from(x), i64::from(b.x) + d.0) && near(i64::from(y), i64::from(b.y) + d.1)
        };
        if outer.iter().any(size) {
            score += if outer.iter().any(|d| size(d) && place(d)) { 3 } else { 2 };
        }
    }
    score
}

/// Whether the window is one that a user would count: not a menu, tooltip, drag icon or the like.
pub fn is_counted(window: &X11Window) -> bool {
    matches!(
        window.window_type,
        WindowType::Normal | WindowType::Dialog | WindowType::Utility | WindowType::Toolbar | WindowType::Splash
    )
}

/// Whether a popup is one that a user opened: what only tells something (a tooltip) or follows the pointer is none.
pub fn is_opened(popup: &X11Window) -> bool {
    !matches!(popup.window_type, WindowType::Tooltip | WindowType::Notification | WindowType::Dnd)
}

/// Whether a popup says that it is a menu.
pub fn is_menu(popup: &X11Window) -> bool {
    matches!(popup.window_type, WindowType::Menu | WindowType::PopupMenu | WindowType::DropdownMenu)
}

/// Where begins what looks like the window: inside the shadow that GTK draws itself (FINDINGS §2 "Extents").
pub fn origin(window: &X11Window) -> (f64, f64) {
    let shadow = window.gtk_frame_extents.unwrap_or_default();
    (f64::from(window.bounds.x) + f64::from(shadow.left), f64::from(window.bounds.y) + f64::from(shadow.top))
}

/// The widest border that is believed to be one.
const MAX_BORDER: i64 = 32;

/// Where content of this size begins in the window. Without a compositor GTK 4 draws a border of its own, the same on
/// all sides, which no property of the window tells (5 pixels with its default theme, kept when maximised): it is what
/// the window is larger by. `None` where the rest is no such border: then one of the two sizes is of another moment, in
/// another unit, or of another window.
pub fn content(window: &X11Window, (width, height): (i32, i32)) -> Option<(f64, f64)> {
    let shadow = window.gtk_frame_extents.unwrap_or_default();
    let across = i64::from(window.bounds.width) - i64::from(shadow.left + shadow.right) - i64::from(width);
    let down = i64::from(window.bounds.height) - i64::from(shadow.top + shadow.bottom) - i64::from(height);
    let border = (across == down && across % 2 == 0).then_some(across / 2)?;
    let (x, y) = origin(window);
    (0..=MAX_BORDER).contains(&border).then_some((x + border as f64, y + border as f64))
}

/// What looks like the window: the client without the shadow.
pub fn bounds(window: &X11Window) -> agent_desktop_core::geometry::Rect {
    let shadow = window.gtk_frame_extents.unwrap_or_default();
    let (x, y) = origin(window);
    agent_desktop_core::geometry::Rect {
        x,
        y,
        width: (f64::from(window.bounds.width) - f64::from(shadow.left + shadow.right)).max(0.0),
        height: (f64::from(window.bounds.height) - f64::from(shadow.top + shadow.bottom)).max(0.0),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::x11::{Extents, Rect};

    pub(crate) fn window(client: u32, title: &str, x: i32, width: u32) -> X11Window {
        X11Window {
            client,
            pid: Some(1),
            title: Some(title.to_owned()),
            class: None,
            bounds: Rect { x, y: 0, width, height: 50 },
            frame_extents: None,
            gtk_frame_extents: None,
            minimized: false,
            maximized: false,
            fullscreen: false,
            modal: false,
            is_active: false,
            viewable: true,
            on_current_workspace: None,
            transient_for: None,
            window_type: WindowType::Normal,
        }
    }

    fn frame(title: &str, x: i32, width: i32) -> Frame {
        Frame { title: title.to_owned(), extents: Some((x, 0, width, 50)) }
    }

    fn find(frames: &[Frame], windows: &[X11Window]) -> Vec<Option<usize>> {
        matched(frames, &windows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn titles_and_sizes_decide() {
        let w = [window(1, "A", 0, 100), window(2, "B", 0, 200)];
        assert_eq!(find(&[frame("B", 0, 999), frame("A", 0, 999)], &w), [Some(1), Some(0)]);
        // Qt's frames have no name.
        assert_eq!(find(&[frame("", 0, 200), frame("", 0, 100)], &w), [Some(1), Some(0)]);
        assert_eq!(find(&[frame("x", 5, 7)], &w[..1]), [Some(0)], "one and one");
    }

    #[test]
    fn equal_windows_are_left_open() {
        let w = [window(1, "A", 0, 100), window(2, "A", 0, 100)];
        assert_eq!(find(&[frame("A", 0, 100), frame("A", 0, 100)], &w), [None, None]);
        let w = [window(1, "A", 0, 100), window(2, "A", 300, 100)];
        assert_eq!(find(&[frame("A", 300, 100), frame("A", 0, 100)], &w), [Some(1), Some(0)]);
    }

    #[test]
    fn shadows_are_not_the_window() {
        let mut w = window(1, "A", 10, 100);
        w.gtk_frame_extents = Some(Extents { left: 5, right: 5, top: 5, bottom: 5 });
        assert_eq!(bounds(&w).width, 90.0);
        assert_eq!(origin(&w), (15.0, 5.0));
    }

    #[test]
    fn a_border_is_the_same_on_all_sides() {
        let mut w = window(1, "A", 10, 110);
        assert_eq!(content(&w, (110, 50)), Some((10.0, 0.0)));
        assert_eq!(content(&w, (100, 40)), Some((15.0, 5.0)));
        for other in [(100, 50), (109, 49), (112, 52), (110, 40), (10, -50)] {
            assert_eq!(content(&w, other), None, "{other:?}");
        }
        w.gtk_frame_extents = Some(Extents { left: 5, right: 5, top: 3, bottom: 7 });
        assert_eq!(content(&w, (100, 40)), Some((15.0, 3.0)));
    }
}
