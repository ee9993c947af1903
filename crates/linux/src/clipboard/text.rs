//! Bytes of the clipboard as text and as files.

use super::offers::{STRING, TEXT, TEXT_PLAIN, TEXT_UTF8, UTF8_STRING};

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16; without a mark at its start in the machine's own order.
    Utf16,
    /// ICCCM's STRING. Programs put UTF-8 there as well: what is valid UTF-8 is taken as such.
    Latin1,
}

/// The formats of text that are read, the best first.
pub fn formats(offered: &[String]) -> Vec<(&str, Encoding)> {
    let rank = |name: &str| -> Option<(usize, Encoding)> {
        let plain = name.replace([' ', '"'], "").to_ascii_lowercase();
        Some(match name {
            UTF8_STRING => (0, Encoding::Utf8),
            TEXT_UTF8 => (1, Encoding::Utf8),
            _ if plain == TEXT_UTF8 => (2, Encoding::Utf8),
            _ if plain.starts_with("text/plain;charset=utf-16") || plain == "text/unicode" => (3, Encoding::Utf16),
            STRING => (4, Encoding::Latin1),
            TEXT_PLAIN => (5, Encoding::Latin1),
            TEXT => (6, Encoding::Latin1),
            _ => return None,
        })
    };
    let mut all: Vec<_> = offered.iter().filter_map(|n| rank(n).map(|(at, e)| (at, n.as_str(), e))).collect();
    all.sort_by_key(|(at, ..)| *at);
    all.into_iter().map(|(_, name, encoding)| (name, encoding)).collect()
}

/// The text. Nothing is replaced: bytes that are no text are an error.
///
/// # Errors
/// What is wrong with it, in words that show none of it.
pub fn decode(bytes: &[u8], encoding: Encoding) -> Result<String, String> {
    match encoding {
        Encoding::Utf8 => utf8(bytes),
        Encoding::Latin1 => Ok(utf8(bytes).unwrap_or_else(|_| bytes.iter().map(|b| char::from(*b)).collect())),
        Encoding::Utf16 => utf16(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(e) => Err(format!("it is said to be UTF-8 and is not, from byte {} of {}", e.valid_up_to(), bytes.len())),
    }
}

fn utf16(bytes: &[u8]) -> Result<String, String> {
    if !bytes.len().is_multiple_of(2) {
        return Err("it is said to be UTF-16 and has an odd number of bytes".to_owned());
    }
    let (bytes, big) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, false),
        [0xfe, 0xff, rest @ ..] => (rest, true),
        all => (all, cfg!(target_endian = "big")),
    };
    let unit = |pair: [u8; 2]| if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .map_err(|_| "it is said to be UTF-16 and has half a character".to_owned())
}

/// The `file:` URLs of a `text/uri-list`, as they stand there; comments and other schemes are left out.
pub fn uri_list(text: &str) -> Vec<String> {
    // A NUL ends the list of pcmanfm, as if it were a C string.
    let blank = |c: char| c.is_whitespace() || c == '\0';
    text.lines().map(|l| l.trim_matches(blank)).filter(|l| is_file(l)).map(str::to_owned).collect()
}

/// The same of `x-special/gnome-copied-files`, whose first line is `copy` or `cut`.
pub fn gnome_files(text: &str) -> (Vec<String>, Option<bool>) {
    let cut = match text.lines().next().map(str::trim) {
        Some("cut") => Some(true),
        Some("copy") => Some(false),
        _ => None,
    };
    (uri_list(text), cut)
}

fn is_file(line: &str) -> bool {
    line.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_format_first() {
        let offered = ["TEXT", "STRING", "text/plain;charset=UTF-8", "image/png", "UTF8_STRING"].map(str::to_owned);
        let names: Vec<_> = formats(&offered).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["UTF8_STRING", "text/plain;charset=UTF-8", "STRING", "TEXT"]);
        assert!(formats(&["COMPOUND_TEXT".to_owned()]).is_empty());
    }

    #[test]
    fn nothing_is_guessed_or_replaced() {
        assert_eq!(decode("ä😀\r\n".as_bytes(), Encoding::Utf8).unwrap(), "ä😀\r\n");
        let e = decode(b"secret\xff", Encoding::Utf8).unwrap_err();
        assert!(e.contains("byte 6 of 7") && !e.contains("secret"), "{e}");
        assert_eq!(decode(b"caf\xe9", Encoding::Latin1).unwrap(), "café");
        assert_eq!(decode("café".as_bytes(), Encoding::Latin1).unwrap(), "café");
        assert_eq!(decode(b"\xff\xfea\0=\xd8\0\xde", Encoding::Utf16).unwrap(), "a😀");
        assert_eq!(decode(b"\xfe\xff\0a", Encoding::Utf16).unwrap(), "a");
        assert!(decode(b"\xff\xfe=\xd8", Encoding::Utf16).is_err());
        assert!(decode(b"abc", Encoding::Utf16).is_err());
    }

    #[test]
    fn files_and_nothing_else() {
        assert_eq!(uri_list("# c\r\nfile:///a%20b\r\nhttp://x/\r\nFILE:///c\r\n"), ["file:///a%20b", "FILE:///c"]);
        assert_eq!(uri_list("file:///a\r\nfile:///b\r\n\0"), ["file:///a", "file:///b"]);
        assert_eq!(uri_list("file:///a\nfile:///b \0\0"), ["file:///a", "file:///b"], "pcmanfm ends it with NUL");
        assert_eq!(gnome_files("cut\nfile:///a"), (vec!["file:///a".to_owned()], Some(true)));
        assert_eq!(gnome_files("file:///a"), (vec!["file:///a".to_owned()], None));
    }
}
