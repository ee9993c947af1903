//! Points and rectangles in screen pixels.

use serde::{Deserialize, Serialize};

/// A point in screen pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Distance from the left edge of the screen.
    pub x: f64,
    /// Distance from the top edge of the screen.
    pub y: f64,
}

/// A rectangle in screen pixels. Never identity, never stored (spec 1 §2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width; negative never occurs.
    pub width: f64,
    /// Height; negative never occurs.
    pub height: f64,
}

impl Rect {
    /// Whether the rectangle covers any pixel.
    pub fn has_area(&self) -> bool {
        self.width > 0.0 && self.height > 0.0
    }

    /// The point at the given fractions of width and height.
    pub fn at(&self, fx: f64, fy: f64) -> Point {
        Point { x: self.x + self.width * fx, y: self.y + self.height * fy }
    }

    /// The part that both rectangles cover; none where that is no area.
    pub fn shared(&self, other: &Rect) -> Option<Rect> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let width = (self.x + self.width).min(other.x + other.width) - x;
        let height = (self.y + self.height).min(other.y + other.height) - y;
        Some(Rect { x, y, width, height }).filter(Rect::has_area)
    }

    /// Whether the point lies inside.
    pub fn holds(&self, point: Point) -> bool {
        point.x >= self.x && point.x < self.x + self.width && point.y >= self.y && point.y < self.y + self.height
    }

    /// Whether the two rectangles share any area.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}
