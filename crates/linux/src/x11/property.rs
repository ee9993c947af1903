//! Values of window properties.

use x11rb::protocol::xproto::{AtomEnum, GetPropertyReply};

/// All 32-bit values of a property; empty when it is missing or of another form.
pub fn words(reply: Option<&GetPropertyReply>) -> Vec<u32> {
    reply.and_then(GetPropertyReply::value32).map(Iterator::collect).unwrap_or_default()
}

/// Text of a property. `None` when it is missing; an empty text is a text.
///
/// ICCCM says Latin-1 for STRING, but applications write UTF-8 there too: what is valid UTF-8 is taken as such.
pub fn text(reply: Option<&GetPropertyReply>) -> Option<String> {
    let reply = reply.filter(|r| r.type_ != u32::from(AtomEnum::NONE) && r.format == 8)?;
    // A property may end with a zero byte, or hold a list of texts; the first one counts.
    let bytes = reply.value.split(|b| *b == 0).next().unwrap_or_default();
    Some(match std::str::from_utf8(bytes) {
        Ok(t) => t.to_owned(),
        Err(_) if reply.type_ == u32::from(AtomEnum::STRING) => bytes.iter().map(|b| char::from(*b)).collect(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn of_text(type_: u32, bytes: &[u8]) -> GetPropertyReply {
        GetPropertyReply {
            format: 8,
            type_,
            value_len: bytes.len() as u32,
            value: bytes.to_vec(),
            ..Default::default()
        }
    }

    pub(crate) fn of_words(values: &[u32]) -> GetPropertyReply {
        GetPropertyReply {
            format: 32,
            type_: u32::from(AtomEnum::CARDINAL),
            value_len: values.len() as u32,
            value: values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn texts() {
        let latin = u32::from(AtomEnum::STRING);
        assert_eq!(text(None), None);
        assert_eq!(text(Some(&GetPropertyReply::default())), None);
        assert_eq!(text(Some(&of_text(latin, b""))).as_deref(), Some(""));
        assert_eq!(text(Some(&of_text(latin, b"caf\xe9"))).as_deref(), Some("café"));
        assert_eq!(text(Some(&of_text(latin, "café".as_bytes()))).as_deref(), Some("café"));
        assert_eq!(text(Some(&of_text(999, b"a\xff\0rest"))).as_deref(), Some("a\u{fffd}"));
    }

    #[test]
    fn numbers() {
        assert_eq!(words(Some(&of_words(&[1, 2, 3]))), [1, 2, 3]);
        assert_eq!(words(Some(&of_text(31, b"abcd"))), Vec::<u32>::new());
        assert_eq!(words(None), Vec::<u32>::new());
    }
}
