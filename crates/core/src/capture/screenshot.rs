//! `screenshot`: from the arguments to the answer.

use super::output::{File, base64};
use super::{element, png, screen, window};
use crate::command::Context;
use crate::command::observe::Screenshot;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::geometry::Rect;
use crate::observe::target::Scope;
use crate::platform::{DisplayInfo, Pixels};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Time limit: reading a large tree twice and waiting for a covered window to paint fit in.
const TIMEOUT_MS: u64 = 10_000;
/// Pause before another picture of something that moved.
const PAUSE: Duration = Duration::from_millis(50);

/// A picture with what the answer says about it.
pub(super) struct Shot {
    pub pixels: Pixels,
    /// The part of the screen that it stands for.
    pub bounds: Rect,
    pub scale: f64,
    /// Menus and the like that stood over it and are not in it.
    pub popups: Vec<Rect>,
    /// More fields of the answer.
    pub facts: Map<String, Value>,
}

/// `screenshot`.
pub fn screenshot(context: &Context, args: &Screenshot) -> Answer {
    // A file that can't be written is said before anything is looked at.
    let file = args.path.as_deref().map(File::check).transpose()?;
    let deadline = Deadline::after_ms(TIMEOUT_MS);
    let shot = if let Some(id) = &args.ref_id {
        element::shot(context, args, &id.parse()?, deadline)?
    } else if args.annotate || args.scope() != Scope::default() {
        window::shot(context, args, deadline)?
    } else {
        screen::shot(context, args, deadline)?
    };
    let bytes = png::encode(&shot.pixels)?;
    let mut out = Map::new();
    match (file, &args.path) {
        (Some(file), Some(path)) => {
            file.write(&bytes)?;
            out.insert("path".into(), json!(path));
        }
        _ => drop(out.insert("data".into(), base64(&bytes).into())),
    }
    out.insert("format".into(), json!("png"));
    out.insert("width".into(), json!(shot.pixels.width));
    out.insert("height".into(), json!(shot.pixels.height));
    out.insert("scale_factor".into(), json!(shot.scale));
    out.insert("bounds".into(), json!(shot.bounds));
    if !shot.popups.is_empty() {
        out.insert("popups".into(), json!(shot.popups));
    }
    out.extend(shot.facts);
    Ok(Value::Object(out))
}

/// Takes pictures until one is of something that stood still: an attempt without a result, or one that says so, found
/// that something changed while it looked, and its pixels are gone.
pub(super) fn steady<T>(deadline: Deadline, mut attempt: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    loop {
        match attempt() {
            Ok(Some(shot)) => return Ok(shot),
            Ok(None) => {}
            Err(e) if e.kind_name() == Some("changed_during_capture") => {}
            Err(e) => return Err(e),
        }
        if deadline.left() <= PAUSE {
            return Err(Error::before(Code::ActionFailed, "what was to be shown changed whenever it was looked at")
                .kind("changed_during_capture")
                .suggest("Take the picture again once it stands still."));
        }
        std::thread::sleep(PAUSE);
    }
}

/// The scale of the display that shows most of an area.
pub(super) fn scale_at(displays: &[DisplayInfo], area: &Rect) -> f64 {
    let shown = |d: &DisplayInfo| d.bounds.shared(area).map_or(0.0, |r| r.width * r.height);
    displays.iter().max_by(|a, b| shown(a).total_cmp(&shown(b))).map_or(1.0, |d| d.scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_is_looked_at_again_until_the_deadline() {
        let mut left = 2;
        let answer = steady(Deadline::after_ms(10_000), || {
            left -= 1;
            Ok((left == 0).then_some("still"))
        });
        assert_eq!(answer.unwrap(), "still");
        let never = || Err::<Option<()>, _>(Error::invalid("moved").kind("changed_during_capture"));
        let e = steady(Deadline::after_ms(0), never).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::ActionFailed, Some("changed_during_capture")));
        let e = steady::<()>(Deadline::after_ms(10_000), || Err(Error::invalid("other"))).unwrap_err();
        assert_eq!(e.code(), Code::InvalidArgs, "other refusals are final");
    }

    #[test]
    fn the_display_that_shows_most_gives_the_scale() {
        let display = |x: f64, scale| DisplayInfo {
            id: "d".into(),
            bounds: Rect { x, y: 0.0, width: 100.0, height: 100.0 },
            is_primary: false,
            scale,
        };
        let area = Rect { x: 80.0, y: 0.0, width: 50.0, height: 10.0 };
        assert!((scale_at(&[display(0.0, 1.0), display(100.0, 2.0)], &area) - 2.0).abs() < f64::EPSILON);
        assert!((scale_at(&[], &area) - 1.0).abs() < f64::EPSILON);
    }
}
