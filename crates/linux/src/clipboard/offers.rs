//! What the owner offers of a content: the formats that programs ask for, each with its bytes.

use agent_desktop_core::platform::Clip;
use std::rc::Rc;

/// Text as Unix programs name it.
pub const UTF8_STRING: &str = "UTF8_STRING";
/// Text as GTK, Qt and browsers name it.
pub const TEXT_UTF8: &str = "text/plain;charset=utf-8";
/// Text in whatever the owner prefers.
pub const TEXT_PLAIN: &str = "text/plain";
/// Latin-1 (ICCCM §2.6.2).
pub const STRING: &str = "STRING";
/// Text in the owner's own choice of encoding; the reply's type says which.
pub const TEXT: &str = "TEXT";
/// The one format of pictures that every toolkit has.
pub const PNG: &str = "image/png";
/// Files (RFC 2483).
pub const URI_LIST: &str = "text/uri-list";
/// Files, and whether they were cut, as GNOME, Xfce, Cinnamon and MATE say it.
pub const GNOME_FILES: &str = "x-special/gnome-copied-files";
/// Whether files were cut, as KDE says it.
pub const KDE_CUT: &str = "application/x-kde-cutselection";

/// One format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub target: &'static str,
    /// The type of the property that carries it.
    pub type_: &'static str,
    /// Its bytes, shared by all transfers.
    pub bytes: Rc<[u8]>,
}

/// All formats of a content, the best first.
pub fn offers(clip: &Clip) -> Vec<Offer> {
    match clip {
        Clip::Text(text) => of_text(text),
        Clip::Png(bytes) => vec![same(PNG, bytes.as_slice().into())],
        Clip::Files { urls, cut } => {
            let list: String = urls.iter().flat_map(|u| [u, "\r\n"]).collect();
            let verb = if *cut == Some(true) { "cut" } else { "copy" };
            let gnome = std::iter::once(verb).chain(urls.iter().map(String::as_str)).collect::<Vec<_>>().join("\n");
            let mut all = vec![same(URI_LIST, list.as_bytes().into()), same(GNOME_FILES, gnome.as_bytes().into())];
            all.extend(of_text(&urls.iter().map(|u| path_of(u)).collect::<Vec<_>>().join("\n")));
            all
        }
    }
}

fn same(target: &'static str, bytes: Rc<[u8]>) -> Offer {
    Offer { target, type_: target, bytes }
}

fn of_text(text: &str) -> Vec<Offer> {
    let utf8: Rc<[u8]> = text.as_bytes().into();
    let mut all = [UTF8_STRING, TEXT_UTF8, TEXT_PLAIN].map(|target| same(target, utf8.clone())).to_vec();
    let latin: Option<Rc<[u8]>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    match latin {
        Some(latin) => {
            all.push(same(STRING, latin.clone()));
            all.push(Offer { target: TEXT, type_: STRING, bytes: latin });
        }
        // STRING can't carry it: who asks for it gets a refusal, not question marks.
        None => all.push(Offer { target: TEXT, type_: UTF8_STRING, bytes: utf8 }),
    }
    all
}

/// The path of a `file://` URL of ours, for those who paste files as text; a path that is no text stays a URL.
fn path_of(url: &str) -> String {
    let decoded = url.strip_prefix("file://").and_then(|path| {
        let mut bytes = Vec::with_capacity(path.len());
        let mut rest = path.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let (byte, after) = match (first, after.split_first_chunk::<2>()) {
                (b'%', Some((digits, after))) => {
                    (u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, after)
                }
                _ => (*first, after),
            };
            bytes.push(byte);
            rest = after;
        }
        String::from_utf8(bytes).ok()
    });
    decoded.unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(all: &[Offer], target: &str) -> Option<Vec<u8>> {
        all.iter().find(|o| o.target == target).map(|o| o.bytes.to_vec())
    }

    #[test]
    fn latin_1_only_where_nothing_is_lost() {
        let all = offers(&Clip::Text("café".into()));
        assert_eq!(bytes(&all, STRING).unwrap(), b"caf\xe9");
        assert_eq!(bytes(&all, UTF8_STRING).unwrap(), "café".as_bytes());
        let all = offers(&Clip::Text("日本 €".into()));
        assert_eq!(bytes(&all, STRING), None);
        assert_eq!(bytes(&all, TEXT_PLAIN).unwrap(), "日本 €".as_bytes());
        assert_eq!(all.iter().find(|o| o.target == TEXT).unwrap().type_, UTF8_STRING);
    }

    #[test]
    fn files_for_every_file_manager() {
        let urls = vec!["file:///a%20b".to_owned(), "file:///%FF".to_owned()];
        let all = offers(&Clip::Files { urls, cut: Some(false) });
        assert_eq!(bytes(&all, URI_LIST).unwrap(), b"file:///a%20b\r\nfile:///%FF\r\n");
        assert_eq!(bytes(&all, GNOME_FILES).unwrap(), b"copy\nfile:///a%20b\nfile:///%FF");
        assert_eq!(bytes(&all, UTF8_STRING).unwrap(), b"/a b\nfile:///%FF");
    }
}
