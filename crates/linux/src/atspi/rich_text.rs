//! Text that a toolkit publishes with its markup (Qt's tooltips, which become descriptions: seen in featherpad as
//! `<p style='white-space:pre'>Save</p>`). Only what is markup beyond doubt is taken off: a text that begins with one of
//! the tags by which rich text begins, and in which every tag ends.

/// Tags by which rich text begins.
const FIRST: &[&str] = &[
    "html", "!doctype", "qt", "head", "body", "p", "b", "i", "u", "em", "strong", "span", "div", "font", "h1", "h2",
    "h3", "h4", "center", "table", "ul", "ol", "nobr",
];

/// Tags that end a line.
const LINES: &[&str] = &["p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4"];

/// The text as it is shown, where it is rich text.
pub fn plain(text: &str) -> Option<String> {
    let start = text.trim_start();
    if !start.starts_with('<') || !FIRST.contains(&tag(start)?.0.as_str()) {
        return None;
    }
    let mut out = String::new();
    let mut rest = start;
    let mut skipped: Option<String> = None;
    while let Some(at) = rest.find('<') {
        if skipped.is_none() {
            out.push_str(&unescaped(&rest[..at]));
        }
        let (name, end) = tag(&rest[at..])?;
        rest = &rest[at + end..];
        let (closing, name) = name.strip_prefix('/').map_or((false, name.as_str()), |n| (true, n));
        match &skipped {
            Some(open) if closing && open == name => skipped = None,
            // What is in these is never shown.
            None if !closing && matches!(name, "style" | "title" | "script") => skipped = Some(name.to_owned()),
            _ => {}
        }
        if LINES.contains(&name) && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
    }
    out.push_str(&unescaped(rest));
    Some(out.trim().to_owned())
}

/// The name of the tag at the start, with its slash where it has one, and where it ends.
fn tag(text: &str) -> Option<(String, usize)> {
    let end = text.find('>')?;
    let inner = text.get(1..end)?;
    let name: String = inner.chars().take_while(|c| !c.is_whitespace()).collect();
    let name = name.trim_end_matches('/').to_ascii_lowercase();
    let bare = name.strip_prefix('/').unwrap_or(&name);
    let sound = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '!' | '-'));
    sound.then_some((name, end + 1))
}

fn unescaped(text: &str) -> String {
    // The ampersand last: what it makes is text.
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn markup_goes_and_its_text_stays() {
        let is = |text: &str, shown: &str| assert_eq!(plain(text).as_deref(), Some(shown), "{text}");
        is("<p style='white-space:pre'>Save (Ctrl+S)</p>", "Save (Ctrl+S)");
        is(
            "<html><head><style>p { x: y }</style></head><body><p>One</p><p>Two &amp; &lt;three&gt;</p></body></html>",
            "One\nTwo & <three>",
        );
        is("<b>Bold</b> and<br/>next", "Bold and\nnext");
        is("<b>&amp;lt;</b>", "&lt;");
    }

    #[test]
    fn what_only_looks_like_markup_stays() {
        for text in ["a <b> c", "<name>", "<unknown tag> x", "<p unfinished", "2 < 3", "", "<b>1 < 2</b>", "<3"] {
            assert_eq!(plain(text), None, "{text}");
        }
    }
}
