//! Why a read of the X server failed.

use std::fmt;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::ErrorKind;

/// A failed read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum X11Error {
    /// The display's name makes no sense, or it isn't on this machine.
    BadDisplay {
        /// The name as given.
        display: String,
    },
    /// Nothing listens there.
    NoServer {
        /// The display.
        display: String,
        /// The system's words.
        reason: String,
    },
    /// The server refused us: no cookie, or a wrong one.
    Refused {
        /// The display.
        display: String,
        /// The server's words.
        reason: String,
    },
    /// The server was silent until the deadline.
    Timeout,
    /// The connection broke: the server ended.
    Disconnected {
        /// The system's words.
        reason: String,
    },
    /// The server answered with an error.
    Protocol {
        /// Which, for instance `Window` (no such window) or `Access`.
        error: String,
        /// The object it is about.
        object: u32,
    },
    /// The server lacks what is needed.
    Unsupported {
        /// Extension or property, for instance `RANDR` or `_NET_CLIENT_LIST`.
        what: String,
    },
}

impl X11Error {
    /// The object that was asked about is gone: skip it, nothing else is wrong.
    pub fn is_gone(&self) -> bool {
        matches!(self, X11Error::Protocol { error, .. } if error == "Window" || error == "Drawable")
    }

    pub(crate) fn connecting(display: &str, error: ConnectError) -> X11Error {
        let display = display.to_owned();
        match error {
            ConnectError::SetupFailed(f) => {
                X11Error::Refused { display, reason: String::from_utf8_lossy(&f.reason).trim().to_owned() }
            }
            ConnectError::SetupAuthenticate(f) => {
                X11Error::Refused { display, reason: String::from_utf8_lossy(&f.reason).trim().to_owned() }
            }
            ConnectError::IoError(e) if e.kind() == std::io::ErrorKind::TimedOut => X11Error::Timeout,
            ConnectError::DisplayParsingError(_) => X11Error::BadDisplay { display },
            other => X11Error::NoServer { display, reason: other.to_string() },
        }
    }
}

impl From<ConnectionError> for X11Error {
    fn from(e: ConnectionError) -> X11Error {
        match e {
            ConnectionError::IoError(e) if e.kind() == std::io::ErrorKind::TimedOut => X11Error::Timeout,
            ConnectionError::UnsupportedExtension => X11Error::Unsupported { what: "extension".to_owned() },
            other => X11Error::Disconnected { reason: other.to_string() },
        }
    }
}

impl From<ReplyError> for X11Error {
    fn from(e: ReplyError) -> X11Error {
        match e {
            ReplyError::ConnectionError(e) => e.into(),
            ReplyError::X11Error(e) => X11Error::Protocol {
                error: match e.error_kind {
                    ErrorKind::Unknown(code) => format!("code {code}"),
                    kind => format!("{kind:?}"),
                },
                object: e.bad_value,
            },
        }
    }
}

impl From<ReplyOrIdError> for X11Error {
    fn from(e: ReplyOrIdError) -> X11Error {
        match e {
            ReplyOrIdError::ConnectionError(e) => e.into(),
            ReplyOrIdError::X11Error(e) => ReplyError::X11Error(e).into(),
            ReplyOrIdError::IdsExhausted => X11Error::Disconnected { reason: "no ids left".to_owned() },
        }
    }
}

impl fmt::Display for X11Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            X11Error::BadDisplay { display } => write!(f, "{display:?} is not a display of this machine"),
            X11Error::NoServer { display, reason } => write!(f, "no X server at {display}: {reason}"),
            X11Error::Refused { display, reason } => write!(f, "the X server at {display} refused us: {reason}"),
            X11Error::Timeout => write!(f, "the X server did not answer in time"),
            X11Error::Disconnected { reason } => write!(f, "the connection to the X server broke: {reason}"),
            X11Error::Protocol { error, object } => write!(f, "X error {error} for {object:#x}"),
            X11Error::Unsupported { what } => write!(f, "the X server has no {what}"),
        }
    }
}

impl std::error::Error for X11Error {}
