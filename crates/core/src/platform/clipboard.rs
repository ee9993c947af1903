//! The clipboard: what its owner offers, and owning it beyond the end of a command.

use super::not_supported;
use crate::deadline::Deadline;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClipKind {
    /// Text.
    Text,
    /// A picture.
    Image,
    /// Files.
    FileUrls,
}

/// Content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clip {
    /// Text.
    Text(String),
    /// A PNG file's bytes.
    Png(Vec<u8>),
    /// `file://` URLs, percent-encoded.
    FileUrls(Vec<String>),
}

/// The clipboard of one desktop.
pub trait Clipboard {
    /// The kinds that the clipboard's content can be read as; empty where it is empty.
    ///
    /// # Errors
    /// `APP_UNRESPONSIVE` where its owner doesn't answer.
    fn clip_kinds(&self, deadline: Deadline) -> Result<Vec<ClipKind>, Error> {
        let _ = deadline;
        Err(not_supported("the clipboard"))
    }

    /// The content as this kind; none where there is none of it.
    ///
    /// # Errors
    /// `APP_UNRESPONSIVE` where its owner doesn't answer or stops in the middle; `ACTION_FAILED` where it is too large.
    fn clip(&self, kind: ClipKind, deadline: Deadline) -> Result<Option<Clip>, Error> {
        let _ = (kind, deadline);
        Err(not_supported("the clipboard"))
    }

    /// Makes this the content. It stays until somebody else sets another, also after this process has ended.
    ///
    /// # Errors
    /// Where it is not certain that the clipboard has it, with the delivery that is.
    fn set_clip(&self, clip: &Clip, deadline: Deadline) -> Result<(), Error> {
        let _ = (clip, deadline);
        Err(not_supported("the clipboard"))
    }

    /// Empties the clipboard.
    ///
    /// # Errors
    /// As [`Clipboard::set_clip`].
    fn clear_clip(&self, deadline: Deadline) -> Result<(), Error> {
        let _ = deadline;
        Err(not_supported("the clipboard"))
    }
}
