//! Sequences of strokes for each gesture. Pure.

use crate::command::values::Button;
use crate::geometry::Point;
use crate::platform::{Direction, Guard, Stroke};
use crate::vocab::key::{Combo, Key, Modifier};

/// Between the clicks of a multiple click, in milliseconds: far below what any toolkit allows.
const BETWEEN_CLICKS_MS: u64 = 30;
/// From pressing the button to the first motion of a drag, in milliseconds: toolkits note the press first.
const GRIP_MS: u64 = 60;
/// Steps of a drag at most (spec 2 §27).
pub const DRAG_STEPS_MAX: u64 = 4_096;
/// Time of one step of a drag, in milliseconds: about a screen's refresh.
const STEP_MS: u64 = 16;

fn modifiers(keys: &[Modifier], down: bool) -> Vec<Stroke> {
    let one = |modifier: &Modifier| Stroke::Modifier { modifier: *modifier, down };
    if down { keys.iter().map(one).collect() } else { keys.iter().rev().map(one).collect() }
}

/// The strokes between modifiers going down and up again.
fn with(keys: &[Modifier], strokes: Vec<Stroke>) -> Vec<Stroke> {
    [modifiers(keys, true), strokes, modifiers(keys, false)].concat()
}

/// Clicks at a point.
pub fn clicks(at: Point, button: Button, count: u32, keys: &[Modifier]) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    for n in 0..count {
        if n > 0 {
            strokes.push(Stroke::Pause(BETWEEN_CLICKS_MS));
        }
        strokes.push(Stroke::Button { button, down: true });
        strokes.push(Stroke::Button { button, down: false });
    }
    [vec![Stroke::Move(at)], with(keys, strokes)].concat()
}

/// Turns of the wheel at a point.
pub fn wheel(at: Point, dy: i32, dx: i32, keys: &[Modifier]) -> Vec<Stroke> {
    [vec![Stroke::Move(at)], with(keys, vec![Stroke::Wheel { dy, dx }])].concat()
}

/// Turns of the wheel that bring into view what lies in a direction.
pub fn scroll(at: Point, direction: Direction, amount: u32) -> Vec<Stroke> {
    let steps = i32::try_from(amount).unwrap_or(i32::MAX);
    let (dy, dx) = match direction {
        Direction::Up => (steps, 0),
        Direction::Down => (-steps, 0),
        Direction::Left => (0, steps),
        Direction::Right => (0, -steps),
    };
    wheel(at, dy, dx, &[])
}

/// A combination, struck once. A character beyond ASCII, alone, is typed: few layouts have a key for it.
pub fn chord(combo: &Combo) -> Vec<Stroke> {
    if let (Some(Key::Character(c)), []) = (combo.key, &combo.modifiers[..])
        && !c.is_ascii()
    {
        return vec![Stroke::Text(c.to_string())];
    }
    let key = combo.key.map(|key| vec![Stroke::Key { key, down: true }, Stroke::Key { key, down: false }]);
    with(&combo.modifiers, key.unwrap_or_default())
}

/// Everything in the field with the focus, deleted.
pub fn clear() -> Vec<Stroke> {
    let all = Combo { modifiers: vec![Modifier::Ctrl], key: Some(Key::Character('a')) };
    let delete = Combo { modifiers: Vec::new(), key: Some(Key::Backspace) };
    [chord(&all), chord(&delete)].concat()
}

/// A drag from one point to another. `drop` is the guard of the place where it ends.
pub fn drag(from: Point, to: Point, travel_ms: u64, drop_delay_ms: u64, drop: Option<Guard>) -> Vec<Stroke> {
    let button = Button::Left;
    let mut strokes = vec![Stroke::Move(from), Stroke::Button { button, down: true }, Stroke::Pause(GRIP_MS)];
    let distance = (to.x - from.x).hypot(to.y - from.y);
    // Never fewer than a few: a toolkit takes a single far motion for no drag at all.
    let steps = (travel_ms / STEP_MS).clamp(8, DRAG_STEPS_MAX).min((distance.ceil() as u64).max(8));
    let mut spent = 0;
    for n in 1..=steps {
        let part = n as f64 / steps as f64;
        strokes.push(Stroke::Move(Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }));
        // Whole milliseconds that add up to the travel time.
        let due = travel_ms * n / steps;
        if due > spent {
            strokes.push(Stroke::Pause(due - spent));
            spent = due;
        }
    }
    if drop_delay_ms > 0 {
        strokes.push(Stroke::Pause(drop_delay_ms));
    }
    strokes.extend(drop.map(Stroke::Expect));
    strokes.push(Stroke::Button { button, down: false });
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Point = Point { x: 10.0, y: 20.0 };

    fn down_up_balance(strokes: &[Stroke]) -> bool {
        let mut open: Vec<String> = Vec::new();
        for stroke in strokes {
            let (what, down) = match stroke {
                Stroke::Button { button, down } => (format!("{button:?}"), *down),
                Stroke::Key { key, down } => (format!("{key:?}"), *down),
                Stroke::Modifier { modifier, down } => (format!("{modifier:?}"), *down),
                _ => continue,
            };
            match down {
                true => open.push(what),
                // Last down, first up.
                false if open.pop() == Some(what) => {}
                false => return false,
            }
        }
        open.is_empty()
    }

    #[test]
    fn everything_that_goes_down_comes_up_in_reverse_order() {
        let keys = [Modifier::Ctrl, Modifier::Shift];
        for strokes in [
            clicks(AT, Button::Right, 3, &keys),
            wheel(AT, -2, 1, &keys),
            chord(&Combo::parse("ctrl+alt+x").unwrap()),
            clear(),
            drag(AT, Point { x: 500.0, y: 20.0 }, 300, 500, Some(Guard::default())),
            drag(AT, AT, 0, 0, None),
        ] {
            assert!(down_up_balance(&strokes), "{strokes:?}");
        }
    }

    #[test]
    fn a_drag_takes_its_time_in_few_steps_and_ends_at_its_end() {
        let end = Point { x: 110.0, y: 20.0 };
        let strokes = drag(AT, end, 60_000, 10_000, None);
        let pauses: u64 = strokes.iter().map(|s| if let Stroke::Pause(ms) = s { *ms } else { 0 }).sum();
        assert_eq!(pauses, GRIP_MS + 60_000 + 10_000);
        let moves: Vec<&Stroke> = strokes.iter().filter(|s| matches!(s, Stroke::Move(_))).collect();
        assert!(moves.len() as u64 <= DRAG_STEPS_MAX + 1);
        assert_eq!(moves.last(), Some(&&Stroke::Move(end)));
    }

    #[test]
    fn scrolling_down_turns_the_wheel_down() {
        assert!(scroll(AT, Direction::Down, 3).contains(&Stroke::Wheel { dy: -3, dx: 0 }));
        assert!(scroll(AT, Direction::Right, 2).contains(&Stroke::Wheel { dy: 0, dx: -2 }));
    }
}
