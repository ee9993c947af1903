//! HTML files of ours: one file that opens from disk and needs no network. What applications wrote is data in it: it
//! stands in a block of JSON that can't be left, and the page shows it as text.

use crate::refs::id::SnapshotId;
use std::io::{self, Write};

/// Fills a page: `@NONCE@`, `@STYLE@`, `@SCRIPT@` and `@DATA@` stand in it for what is put in. The nonce, new for each page,
/// is what lets its own style and script run, and nothing else.
pub(crate) fn write<W: Write>(
    out: &mut W,
    page: &str,
    style: &str,
    script: &str,
    data: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    let nonce = SnapshotId::generate().to_string();
    let mut data = Some(data);
    let mut rest = page;
    while let Some(at) = rest.find('@') {
        let (before, marked) = rest.split_at(at);
        out.write_all(before.as_bytes())?;
        let (mark, after) = marked[1..].split_once('@').unwrap_or((&marked[1..], ""));
        match mark {
            "NONCE" => out.write_all(nonce.as_bytes())?,
            "STYLE" => out.write_all(style.as_bytes())?,
            "SCRIPT" => out.write_all(script.as_bytes())?,
            _ => {
                if let Some(data) = data.take() {
                    data(out)?;
                }
            }
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// JSON that can stand in an HTML page: nothing in it ends the block or begins another.
pub(crate) fn safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}
