//! How the content travels to the owner, over its standard input: never as an argument, which everybody could read.
//! One line `kind length`, then so many bytes. What is shorter was cut and is not served.

use agent_desktop_core::platform::Clip;
use std::io::{self, BufRead, Error, ErrorKind, Read, Write};

/// More than any content that core lets through.
const MAX: usize = 256 * 1024 * 1024;

/// Writes it.
pub fn write(clip: &Clip, mut to: impl Write) -> io::Result<()> {
    let joined;
    let (kind, bytes): (&str, &[u8]) = match clip {
        Clip::Text(text) => ("text", text.as_bytes()),
        Clip::Png(bytes) => ("png", bytes),
        Clip::Files { urls, cut } => {
            joined = urls.join("\n");
            (if *cut == Some(true) { "cut" } else { "copy" }, joined.as_bytes())
        }
    };
    writeln!(to, "{kind} {}", bytes.len())?;
    to.write_all(bytes)?;
    to.flush()
}

/// Reads it.
pub fn read(mut from: impl BufRead) -> io::Result<Clip> {
    let bad = || Error::from(ErrorKind::InvalidData);
    let mut line = String::new();
    from.by_ref().take(64).read_line(&mut line)?;
    let (kind, length) = line.strip_suffix('\n').and_then(|l| l.split_once(' ')).ok_or_else(bad)?;
    let length = length.parse().ok().filter(|n| *n <= MAX).ok_or_else(bad)?;
    let mut bytes = Vec::with_capacity(length);
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let text = |bytes| String::from_utf8(bytes).map_err(|_| bad());
    Ok(match kind {
        "text" => Clip::Text(text(bytes)?),
        "png" => Clip::Png(bytes),
        "copy" | "cut" => {
            Clip::Files { urls: text(bytes)?.lines().map(str::to_owned).collect(), cut: Some(kind == "cut") }
        }
        _ => return Err(bad()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_or_not_at_all() {
        for clip in [
            Clip::Text("two\r\nlines 😀\n".into()),
            Clip::Text(String::new()),
            Clip::Png(vec![0, 10, 255]),
            Clip::Files { urls: vec!["file:///a".into(), "file:///b%0A".into()], cut: Some(true) },
        ] {
            let mut bytes = Vec::new();
            write(&clip, &mut bytes).unwrap();
            assert_eq!(read(&bytes[..]).unwrap(), clip);
            let content = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
            for cut in (0..bytes.len()).filter(|cut| *cut != content || bytes.len() > content) {
                assert!(read(&bytes[..cut]).is_err(), "{clip:?} cut at {cut}");
            }
        }
        assert!(read(&b"text 999999999999\nx"[..]).is_err());
    }
}
