//! Observing: which window, what is in it, one element again.

pub mod list;
pub mod target;

use crate::command::Context;
use crate::command::observe::{Find, Get, Is, Snapshot};
use crate::envelope::Answer;
use crate::error::{Code, Error};

/// `snapshot`.
pub fn snapshot(_: &Context, _: &Snapshot) -> Answer {
    Err(Error::before(Code::Internal, "snapshot is not wired yet"))
}

/// `find`.
pub fn find(_: &Context, _: &Find) -> Answer {
    Err(Error::before(Code::Internal, "find is not wired yet"))
}

/// `get`.
pub fn get(_: &Context, _: &Get) -> Answer {
    Err(Error::before(Code::Internal, "get is not wired yet"))
}

/// `is`.
pub fn is(_: &Context, _: &Is) -> Answer {
    Err(Error::before(Code::Internal, "is is not wired yet"))
}
