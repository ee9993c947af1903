//! Filling and cutting pictures.

use crate::geometry::Rect;
use crate::platform::Pixels;

/// A part of a picture in its own whole pixels; it may reach beyond the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub left: i64,
    pub top: i64,
    pub right: i64,
    pub lower: i64,
}

impl Part {
    /// What it shares with another one.
    pub fn shared(self, other: Part) -> Part {
        Part {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            lower: self.lower.min(other.lower),
        }
    }

    /// Pixels in it.
    pub fn area(self) -> i64 {
        (self.right - self.left).max(0) * (self.lower - self.top).max(0)
    }

    /// Larger by so much on each side.
    pub fn grown(self, by: i64) -> Part {
        Part { left: self.left - by, top: self.top - by, right: self.right + by, lower: self.lower + by }
    }
}

/// The whole picture.
pub(super) fn all(pixels: &Pixels) -> Part {
    Part { left: 0, top: 0, right: pixels.width.into(), lower: pixels.height.into() }
}

/// An area of the screen within a picture that begins at `origin`: every pixel that it touches.
pub(super) fn inside(area: &Rect, origin: &Rect) -> Part {
    let whole = |v: f64| v.clamp(-1e9, 1e9) as i64;
    Part {
        left: whole((area.x - origin.x).floor()),
        top: whole((area.y - origin.y).floor()),
        right: whole((area.x + area.width - origin.x).ceil()),
        lower: whole((area.y + area.height - origin.y).ceil()),
    }
}

/// Fills a part; what lies outside of the picture is left out.
pub(super) fn fill(pixels: &mut Pixels, part: &Part, colour: [u8; 3]) {
    let p = part.shared(all(pixels));
    if p.area() == 0 {
        return;
    }
    let [r, g, b] = colour;
    let width = pixels.width as usize;
    for row in p.top as usize..p.lower as usize {
        let (from, to) = ((row * width + p.left as usize) * 4, (row * width + p.right as usize) * 4);
        for pixel in pixels.rgba[from..to].chunks_exact_mut(4) {
            pixel.copy_from_slice(&[r, g, b, 255]);
        }
    }
}

/// The inner edge of a part, so many pixels thick.
pub(super) fn outline(pixels: &mut Pixels, part: &Part, thick: i64, colour: [u8; 3]) {
    let p = *part;
    for edge in [
        Part { lower: p.lower.min(p.top + thick), ..p },
        Part { top: p.top.max(p.lower - thick), ..p },
        Part { right: p.right.min(p.left + thick), ..p },
        Part { left: p.left.max(p.right - thick), ..p },
    ] {
        fill(pixels, &edge, colour);
    }
}

/// Cuts an area of the screen out of a picture that begins at `origin`. Gives it with the area that it really shows.
pub(super) fn cut(pixels: &Pixels, origin: &Rect, area: &Rect) -> (Pixels, Rect) {
    let p = inside(area, origin).shared(all(pixels));
    let (width, height) = ((p.right - p.left).max(0) as usize, (p.lower - p.top).max(0) as usize);
    let mut rgba = Vec::with_capacity(width * height * 4);
    for row in p.top..p.top + height as i64 {
        let from = (row as usize * pixels.width as usize + p.left as usize) * 4;
        rgba.extend_from_slice(&pixels.rgba[from..from + width * 4]);
    }
    let shown =
        Rect { x: origin.x + p.left as f64, y: origin.y + p.top as f64, width: width as f64, height: height as f64 };
    (Pixels { width: width as u32, height: height as u32, rgba }, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Rect = Rect { x: 10.0, y: 20.0, width: 4.0, height: 3.0 };

    fn blank() -> Pixels {
        Pixels { width: 4, height: 3, rgba: [9, 9, 9, 255].repeat(12) }
    }

    #[test]
    fn parts_beyond_the_edges_are_left_out() {
        let mut p = blank();
        fill(&mut p, &inside(&Rect { x: 12.5, y: 19.0, width: 9.0, height: 2.0 }, &ORIGIN), [1, 2, 3]);
        let filled: Vec<usize> = (0..12).filter(|i| p.rgba[i * 4] == 1).collect();
        assert_eq!(filled, [2, 3]);
        fill(&mut p, &Part { left: -5, top: -5, right: 0, lower: 99 }, [7, 7, 7]);
        outline(&mut p, &Part { left: -9, top: -9, right: 99, lower: 99 }, 2, [7, 7, 7]);
        assert!(!p.rgba.contains(&7));
    }

    #[test]
    fn cutting_says_what_it_shows() {
        let mut p = blank();
        fill(&mut p, &Part { left: 1, top: 1, right: 3, lower: 2 }, [1, 2, 3]);
        let (cut, shown) = cut(&p, &ORIGIN, &Rect { x: 11.2, y: 21.0, width: 1.5, height: 9.0 });
        assert_eq!(shown, Rect { x: 11.0, y: 21.0, width: 2.0, height: 2.0 });
        let mut want = [1, 2, 3, 255].repeat(2);
        want.extend([9, 9, 9, 255].repeat(2));
        assert_eq!(cut, Pixels { width: 2, height: 2, rgba: want });
    }
}
