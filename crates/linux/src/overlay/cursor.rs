//! One cursor: where it is, where it goes, and what is seen of it at a moment.

use super::draw::{Canvas, Layer, RIPPLE, tip};
use crate::x11::X11Error;
use agent_desktop_core::geometry::{Point, Rect};
use agent_desktop_core::platform::{CursorLook, CursorStep};
use std::time::{Duration, Instant};

/// The shortest and the longest way, and what a pixel takes: the longest is well below what an action waits.
const SHORTEST: Duration = Duration::from_millis(140);
const LONGEST: Duration = Duration::from_millis(600);
const MS_PER_PIXEL: f64 = 0.6;
/// How long a ripple, and an outline, is seen.
const RIPPLES: Duration = Duration::from_millis(420);
const OUTLINED: Duration = Duration::from_millis(1_300);
/// After so long without a step a cursor fades (spec 1 §8), and how long fading takes.
const IDLE: Duration = Duration::from_secs(6);
const FADES: Duration = Duration::from_millis(500);

/// The way that a cursor is on.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: Point,
    to: Point,
    since: Instant,
    takes: Duration,
}

impl Way {
    fn new(from: Point, to: Point, now: Instant) -> Self {
        let far = (to.x - from.x).hypot(to.y - from.y);
        let takes = Duration::from_millis((far * MS_PER_PIXEL) as u64).clamp(SHORTEST, LONGEST);
        let takes = if far < 1.0 { Duration::ZERO } else { takes };
        Self { from, to, since: now, takes }
    }

    fn end(&self) -> Instant {
        self.since + self.takes
    }

    /// Where it is: slow at both ends.
    fn at(&self, now: Instant) -> Point {
        let part = now.saturating_duration_since(self.since).as_secs_f64() / self.takes.as_secs_f64().max(1e-9);
        let t = part.clamp(0.0, 1.0);
        let eased = t * t * (3.0 - 2.0 * t);
        Point { x: self.from.x + (self.to.x - self.from.x) * eased, y: self.from.y + (self.to.y - self.from.y) * eased }
    }
}

/// A cursor with its windows, which are made once: others that look for new windows see none.
pub struct Cursor {
    arrow: Layer,
    label: Layer,
    ring: Layer,
    frame: Layer,
    look: Option<CursorLook>,
    way: Way,
    outline: Option<Rect>,
    ripple: bool,
    faded: bool,
}

impl Cursor {
    /// One that is nowhere yet; its first way begins here.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn new(canvas: &Canvas<'_>, at: Point, now: Instant) -> Result<Self, X11Error> {
        Ok(Self {
            frame: canvas.layer("agent's target")?,
            ring: canvas.layer("agent's click")?,
            label: canvas.layer("agent's label")?,
            arrow: canvas.layer("agent's cursor")?,
            look: None,
            way: Way::new(at, at, now),
            outline: None,
            ripple: false,
            faded: false,
        })
    }

    /// Takes a step; answers with when it will be there.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn step(&mut self, canvas: &Canvas<'_>, step: &CursorStep, now: Instant) -> Result<Instant, X11Error> {
        if self.look.as_ref() != Some(&step.look) {
            let look = &step.look;
            canvas.arrow(&self.arrow, look.size, look.fill, look.rim)?;
            if let Some(text) = &look.label {
                canvas.label(&self.label, text, look.size, look.fill, look.rim)?;
            }
            self.look = Some(look.clone());
        }
        let from = self.way.at(now);
        self.way = Way::new(from, step.to.unwrap_or(from), now);
        (self.outline, self.ripple, self.faded) = (step.outline, step.ripple, false);
        canvas.show(&mut self.frame, false)?;
        canvas.show(&mut self.ring, false)?;
        for layer in [&self.arrow, &self.label] {
            canvas.fade(layer, 1.0)?;
        }
        // Windows may have come on top since.
        for layer in [&self.frame, &self.ring, &self.label, &self.arrow] {
            canvas.raise(layer)?;
        }
        self.draw(canvas, now)?;
        Ok(self.way.end())
    }

    /// Shows what is to be seen now.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn draw(&mut self, canvas: &Canvas<'_>, now: Instant) -> Result<(), X11Error> {
        let Some(look) = self.look.clone() else { return Ok(()) };
        let (at, end) = (self.way.at(now), self.way.end());
        let (x, y) = (at.x.round() as i32, at.y.round() as i32);
        let edge = i32::from(tip(look.size));
        if now >= end + IDLE + FADES {
            self.faded = true;
            for layer in [&mut self.arrow, &mut self.label, &mut self.ring, &mut self.frame] {
                canvas.show(layer, false)?;
            }
            return canvas.flush();
        }
        if now >= end + IDLE {
            let part = 1.0 - now.duration_since(end + IDLE).as_secs_f64() / FADES.as_secs_f64();
            for layer in [&self.arrow, &self.label] {
                canvas.fade(layer, part)?;
            }
        }
        let since = now.saturating_duration_since(end);
        let there = now >= end;
        if let Some(target) = self.outline.filter(|_| there && since < OUTLINED) {
            let broad = (3.0 * look.size).round().clamp(2.0, 8.0);
            let side = |n: f64| (n + 2.0 * broad).round().clamp(1.0, 32_000.0) as u16;
            canvas.place(&self.frame, (target.x - broad).round() as i32, (target.y - broad).round() as i32)?;
            canvas.frame(&self.frame, (side(target.width), side(target.height)), broad as u16, look.accent)?;
            canvas.show(&mut self.frame, true)?;
        } else {
            canvas.show(&mut self.frame, false)?;
        }
        if self.ripple && there && since < RIPPLES {
            let part = since.as_secs_f64() / RIPPLES.as_secs_f64();
            let radius = (RIPPLE - 3.0) * look.size * (0.25 + 0.75 * part);
            let half = (RIPPLE * look.size).ceil() as i32;
            canvas.place(&self.ring, x - half, y - half)?;
            canvas.ring(&self.ring, look.size, radius, look.accent)?;
            canvas.show(&mut self.ring, true)?;
        } else {
            canvas.show(&mut self.ring, false)?;
        }
        canvas.place(&self.arrow, x - edge, y - edge)?;
        if look.label.is_some() {
            let beside = (13.0 * look.size).round() as i32;
            canvas.place(&self.label, x + beside, y + (17.0 * look.size).round() as i32)?;
        }
        canvas.show(&mut self.label, look.label.is_some())?;
        canvas.show(&mut self.arrow, true)?;
        canvas.flush()
    }

    /// How soon it will look different; none: never, unless it is told.
    pub fn next(&self, now: Instant) -> Option<Duration> {
        let end = self.way.end();
        if self.faded || self.look.is_none() {
            return None;
        }
        let moves = now < end || (self.ripple && now < end + RIPPLES) || now >= end + IDLE;
        if moves {
            return Some(Duration::from_millis(16));
        }
        let next = if self.outline.is_some() && now < end + OUTLINED { end + OUTLINED } else { end + IDLE };
        Some(next.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_ends_before_an_action_stops_waiting() {
        let now = Instant::now();
        let at = |x: f64, y: f64| Point { x, y };
        let way = Way::new(at(0.0, 0.0), at(7_680.0, 4_320.0), now);
        assert!(way.takes < Duration::from_millis(agent_desktop_core::overlay::ARRIVAL_MS - 200));
        assert_eq!(way.at(now), at(0.0, 0.0));
        assert_eq!(way.at(way.end()), at(7_680.0, 4_320.0));
        let half = way.at(now + way.takes / 2);
        assert!((half.x - 3_840.0).abs() < 1.0 && (half.y - 2_160.0).abs() < 1.0);
        assert_eq!(Way::new(at(5.0, 5.0), at(5.0, 5.0), now).takes, Duration::ZERO, "it is there");
    }
}
