//! The clipboard (spec 2 §49–51).
//!
//! Nothing here moves focus or pointer, so neither `--headed` nor the interaction lease is needed: the window system
//! lets one of several callers win, whole.

mod picture;
mod png;
mod url;

use crate::command::Context;
use crate::command::clipboard::{ClipboardFormat, ClipboardGet, ClipboardSet};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Delivery, Error, Result, echo};
use crate::platform::clipboard::IMAGE_MAX_BYTES;
use crate::platform::{Clip, ClipKind};
use serde_json::{Map, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// All of a read: an owner that goes on sending may take so long. One that is silent is given up much earlier.
const READ_MS: u64 = 30_000;
/// All of a write.
const WRITE_MS: u64 = 10_000;
/// Names of offered formats that are shown.
const MAX_FORMATS: usize = 64;

/// `clipboard-get`.
pub fn get(context: &Context, args: &ClipboardGet) -> Answer {
    let format = args.format.unwrap_or_default();
    let kinds: &[ClipKind] = match format {
        ClipboardFormat::Text => &[ClipKind::Text],
        ClipboardFormat::Image => &[ClipKind::Image],
        ClipboardFormat::FileUrls => &[ClipKind::FileUrls],
        ClipboardFormat::Auto => &[ClipKind::FileUrls, ClipKind::Image, ClipKind::Text],
    };
    let found = context.clipboard()?.clip(kinds, Deadline::after_ms(READ_MS))?;
    let mut data = Map::new();
    let Some(clip) = found.clip else {
        let kind = if let [kind] = kinds { json!(kind) } else { json!("auto") };
        data.insert("type".into(), kind);
        data.insert("found".into(), json!(false));
        if !found.formats.is_empty() {
            let shown: Vec<&String> = found.formats.iter().take(MAX_FORMATS).collect();
            data.insert("details".into(), json!({"offered": shown, "offered_count": found.formats.len()}));
        }
        return Ok(data.into());
    };
    data.insert("type".into(), json!(clip.kind()));
    match clip {
        Clip::Text(text) => {
            data.insert("text".into(), text.into());
        }
        Clip::Files { urls, cut } => {
            data.insert("file_urls".into(), urls.into());
            if let Some(cut) = cut {
                data.insert("details".into(), json!({"operation": if cut { "cut" } else { "copy" }}));
            }
        }
        Clip::Png(bytes) => {
            let (width, height) = png::size(&bytes).map_err(|why| {
                Error::before(Code::ActionFailed, format!("the picture in the clipboard can't be used: {why}"))
                    .kind("clipboard_content_invalid")
            })?;
            let path = picture::keep(context, args.out.as_deref(), &bytes)?;
            data.insert("path".into(), path.display().to_string().into());
            data.insert("width".into(), width.into());
            data.insert("height".into(), height.into());
        }
    }
    Ok(data.into())
}

/// `clipboard-set`.
pub fn set(context: &Context, args: &ClipboardSet) -> Answer {
    let clip = match (&args.text, &args.image) {
        (Some(text), _) => Clip::Text(text.clone()),
        (None, Some(image)) => Clip::Png(read_png(Path::new(image))?),
        (None, None) => {
            Clip::Files { urls: args.file_url.iter().map(|f| file_url(f)).collect::<Result<_>>()?, cut: Some(false) }
        }
    };
    context.clipboard()?.set_clip(&clip, Deadline::after_ms(WRITE_MS))?;
    Ok(json!({"ok": true, "type": clip.kind(), "disposition": Delivery::DeliveredVerified.disposition()}))
}

/// `clipboard-clear`.
pub fn clear(context: &Context) -> Answer {
    context.clipboard()?.clear_clip(Deadline::after_ms(WRITE_MS))?;
    Ok(json!({"cleared": true, "disposition": Delivery::DeliveredVerified.disposition()}))
}

fn read_png(path: &Path) -> Result<Vec<u8>> {
    let refuse = |why: &str| {
        Error::invalid(format!("--image: {why}")).kind("bad_image").detail("path", path.display().to_string())
    };
    let unreadable = |e: std::io::Error| refuse("the file can't be read").platform(e.to_string());
    // Looked at before it is opened: a pipe would keep us waiting for a writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(refuse("it is not a file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(IMAGE_MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > IMAGE_MAX_BYTES {
        return Err(refuse(&format!("it has more than {IMAGE_MAX_BYTES} bytes")));
    }
    png::size(&bytes).map_err(|why| refuse(&why))?;
    Ok(bytes)
}

/// The URL of a file that exists, given as a path or as a `file:` URL.
fn file_url(given: &str) -> Result<String> {
    let refuse = |why: &str| Error::invalid(format!("--file-url: {why}")).kind("bad_file_url").detail("given", given);
    let path = if url::scheme(given).is_some() {
        let bytes = url::to_path(given).ok_or_else(|| refuse("it is not the URL of a file of this machine"))?;
        String::from_utf8(bytes).map_err(|_| refuse("its path is not valid UTF-8"))?
    } else if given.contains("://") {
        return Err(refuse("only file:// URLs and paths can be put there"));
    } else {
        given.to_owned()
    };
    let path = std::path::absolute(&path).map_err(|e| refuse("the path makes no sense").platform(e.to_string()))?;
    // The link itself counts: whoever pastes it decides whether to follow.
    if let Err(e) = path.symlink_metadata() {
        let message = format!("there is no file {}", echo(given));
        return Err(refuse(&message).platform(e.to_string()));
    }
    Ok(url::of_path(path.as_os_str().as_encoded_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_absolute_encoded_and_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a b%#é.txt");
        std::fs::write(&path, "").unwrap();
        let url = file_url(path.to_str().unwrap()).unwrap();
        assert!(url.starts_with("file:///") && url.ends_with("/a%20b%25%23%C3%A9.txt"), "{url}");
        assert_eq!(file_url(&url).unwrap(), url);
        assert!(file_url("Cargo.toml").unwrap().ends_with("/Cargo.toml"));
        for bad in ["/no/such/file", "https://example.org/", "file://elsewhere/etc/passwd", "file:///etc/%zz"] {
            let e = file_url(bad).unwrap_err();
            assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some("bad_file_url")), "{bad}");
        }
    }

    #[test]
    fn only_whole_png_files_are_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.png");
        std::fs::write(&path, png::tests::png(3, 4)).unwrap();
        assert!(read_png(&path).is_ok());
        std::fs::write(&path, b"text").unwrap();
        assert_eq!(read_png(&path).unwrap_err().kind_name(), Some("bad_image"));
        assert_eq!(read_png(dir.path()).unwrap_err().kind_name(), Some("bad_image"));
        assert_eq!(read_png(Path::new("/dev/zero")).unwrap_err().kind_name(), Some("bad_image"));
    }
}
