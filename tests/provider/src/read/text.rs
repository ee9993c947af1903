//! org.a11y.atspi.Text, reading. Offsets are characters.

use super::{Answer, View, ok};
use crate::call::{Call, Reply};
use crate::tree::TextState;
use crate::wire::Body;

/// Property names.
pub const PROPERTIES: &[&str] = &["CharacterCount", "CaretOffset"];

/// Part of a text by characters; an end of -1 is the text's end.
pub fn slice(content: &str, start: i32, end: i32) -> String {
    let start = usize::try_from(start).unwrap_or(0);
    match usize::try_from(end) {
        Ok(end) => content.chars().skip(start).take(end.saturating_sub(start)).collect(),
        Err(_) => content.chars().skip(start).collect(),
    }
}

/// Number of characters.
pub fn length(content: &str) -> i32 {
    i32::try_from(content.chars().count()).unwrap_or(i32::MAX)
}

/// Methods.
pub fn method(view: &mut View<'_>, call: &Call) -> Answer {
    let empty = TextState::default();
    let text = view.node().text.as_ref().unwrap_or(&empty);
    match call.member.as_str() {
        "GetText" => Some(
            call.args::<(i32, i32)>().map(|(start, end)| Reply::Ok(Body::string(&slice(&text.content, start, end)))),
        ),
        "GetCharacterAtOffset" => Some(call.args::<(i32,)>().map(|(at,)| {
            let character = slice(&text.content, at, at.saturating_add(1)).chars().next();
            Reply::Ok(Body::int(character.map_or(0, |c| c as i32)))
        })),
        "GetStringAtOffset" | "GetTextAtOffset" => {
            Some(call.args::<(i32, u32)>().map(|(at, kind)| Reply::Ok(around(text, at, kind))))
        }
        "GetNSelections" => ok(Body::int(i32::try_from(text.selections.len()).unwrap_or(i32::MAX))),
        "GetSelection" => Some(call.args::<(i32,)>().map(|(number,)| {
            let place = usize::try_from(number).ok();
            let selection = place.and_then(|n| text.selections.get(n).copied());
            let (start, end) = selection.unwrap_or((0, 0));
            Reply::Ok(Body::new("ii", |w| {
                w.i32(start);
                w.i32(end);
            }))
        })),
        "GetAttributes" | "GetAttributeRun" => ok(Body::new("a{ss}ii", |w| {
            w.array(8, |_| {});
            w.i32(0);
            w.i32(length(&text.content));
        })),
        "GetDefaultAttributes" | "GetDefaultAttributeSet" => ok(Body::new("a{ss}", |w| w.array(8, |_| {}))),
        "GetCharacterExtents" | "GetRangeExtents" => {
            let [x, y, width, height] = view.node().extents.unwrap_or_default();
            ok(Body::new("iiii", |w| {
                [x, y, width, height].iter().for_each(|n| w.i32(*n));
            }))
        }
        "GetOffsetAtPoint" => ok(Body::int(0)),
        _ => None,
    }
}

/// Properties.
pub fn property(view: &View<'_>, name: &str) -> Option<Body> {
    let empty = TextState::default();
    let text = view.node().text.as_ref().unwrap_or(&empty);
    match name {
        "CharacterCount" => Some(Body::int(length(&text.content))),
        "CaretOffset" => Some(Body::int(text.caret)),
        _ => None,
    }
}

/// One character (granularity 0), else the line around an offset.
fn around(text: &TextState, at: i32, kind: u32) -> Body {
    let (start, end) = if kind == 0 {
        (at, at.saturating_add(1))
    } else {
        let before = slice(&text.content, 0, at);
        let start = before.rfind('\n').map_or(0, |byte| length(&before[..=byte]));
        let after = slice(&text.content, at, -1);
        let line = after.find('\n').map_or(after.as_str(), |byte| &after[..=byte]);
        (start, at.saturating_add(length(line)))
    };
    let part = slice(&text.content, start, end);
    Body::new("sii", |w| {
        w.string(part.as_bytes());
        w.i32(start);
        w.i32(end);
    })
}
