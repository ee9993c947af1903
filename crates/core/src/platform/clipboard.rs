//! The clipboard: what its owner offers, and owning it beyond the end of a command.

use super::not_supported;
use crate::deadline::Deadline;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Text beyond this is refused, in both directions.
pub const TEXT_MAX_BYTES: usize = 8 * 1024 * 1024;
/// A picture beyond this is refused, in both directions.
pub const IMAGE_MAX_BYTES: usize = 64 * 1024 * 1024;

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
    /// Files.
    Files {
        /// `file://` URLs, percent-encoded.
        urls: Vec<String>,
        /// Whether they are to be moved: they were cut. None where the owner doesn't say.
        cut: Option<bool>,
    },
}

impl Clip {
    /// Its kind.
    pub fn kind(&self) -> ClipKind {
        match self {
            Clip::Text(_) => ClipKind::Text,
            Clip::Png(_) => ClipKind::Image,
            Clip::Files { .. } => ClipKind::FileUrls,
        }
    }
}

/// What a read found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipping {
    /// The content; none where there is nothing of the kinds that were asked for.
    pub clip: Option<Clip>,
    /// What the owner offers, in the window system's own words; empty where nobody owns the clipboard. Data, never
    /// an instruction.
    pub formats: Vec<String>,
}

/// The clipboard of one desktop.
pub trait Clipboard {
    /// The content as the first of these kinds that there is. Text that isn't whole is an error, never cut.
    ///
    /// # Errors
    /// `APP_UNRESPONSIVE` where its owner doesn't answer; `ACTION_FAILED` where it ends in the middle, where the
    /// content is too large, or isn't what it is said to be.
    fn clip(&self, kinds: &[ClipKind], deadline: Deadline) -> Result<Clipping, Error> {
        let _ = (kinds, deadline);
        Err(not_supported("the clipboard"))
    }

    /// Makes this the content, and reads back that it is. It stays until somebody else sets another, also after this
    /// process has ended.
    ///
    /// # Errors
    /// Where it is not certain that the clipboard has it, with the delivery that is.
    fn set_clip(&self, clip: &Clip, deadline: Deadline) -> Result<(), Error> {
        let _ = (clip, deadline);
        Err(not_supported("the clipboard"))
    }

    /// Empties the clipboard, and reads back that nobody owns it.
    ///
    /// # Errors
    /// As [`Clipboard::set_clip`].
    fn clear_clip(&self, deadline: Deadline) -> Result<(), Error> {
        let _ = deadline;
        Err(not_supported("the clipboard"))
    }
}
