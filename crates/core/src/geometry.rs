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

    /// Whether the two rectangles share any area.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}
