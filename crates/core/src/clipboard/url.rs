//! Paths as `file://` URLs and back (RFC 8089, RFC 3986).

/// The URL of an absolute path. Every byte but letters, digits, `-._~` and `/` is percent-encoded.
pub fn of_path(path: &[u8]) -> String {
    let mut out = String::from("file://");
    for byte in path {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(*byte)),
            other => {
                use std::fmt::Write as _;
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

/// The path of a `file:` URL of this machine: `file:///p`, `file://localhost/p`, `file:/p`.
///
/// None for other schemes, other machines, a bad escape, a query or a fragment, and a path with a NUL.
pub fn to_path(url: &str) -> Option<Vec<u8>> {
    let rest = scheme(url)?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let at = rest.find('/')?;
            (at == 0 || rest[..at].eq_ignore_ascii_case("localhost")).then(|| &rest[at..])?
        }
        None => rest,
    };
    if !path.starts_with('/') || path.contains(['?', '#']) {
        return None;
    }
    decode(path.as_bytes()).filter(|p| !p.contains(&0))
}

/// What follows `file:`.
pub fn scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("file:").then_some(rest)
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        let [high, low] = digits.map(|d| char::from(d).to_digit(16));
        out.push(u8::try_from(high? * 16 + low?).ok()?);
        rest = after;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for path in ["/", "/a b/ä%20#?.txt", "/日本/😀", "/a\nb", "/-._~"] {
            let url = of_path(path.as_bytes());
            assert!(url.is_ascii() && !url.contains([' ', '\n', '#', '?']), "{url}");
            assert_eq!(to_path(&url).as_deref(), Some(path.as_bytes()), "{url}");
        }
        assert_eq!(of_path(b"/a b\xff"), "file:///a%20b%FF");
        assert_eq!(to_path("file:///a%20b%ff").as_deref(), Some(&b"/a b\xff"[..]));
        assert_eq!(to_path("FILE://localhost/x+y&z").as_deref(), Some(&b"/x+y&z"[..]));
        assert_eq!(to_path("file:/x").as_deref(), Some(&b"/x"[..]));
    }

    #[test]
    fn what_is_no_file_here() {
        for bad in [
            "http://a/b",
            "file://host/x",
            "file:x",
            "file://x",
            "file:///a%2",
            "file:///a%zz",
            "file:///a%00b",
            "é",
            "",
        ] {
            assert_eq!(to_path(bad), None, "{bad}");
        }
    }
}
