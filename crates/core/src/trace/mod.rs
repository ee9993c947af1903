//! Traces (spec 1 §8): what the commands of a session did, one JSON object a line, one file for each process.
//!
//! ```text
//! <session>/trace/<pid>-<ms>.jsonl   the first line is trace.meta; a line is written by one call, so that it is whole
//! ```
//!
//! Every event has `event`, `ts_ms` (milliseconds since 1970, never going back within a process), `seq` (counted within
//! a process), `pid`. Texts of applications and of callers are not recorded: see [`redact`].

mod event;
pub mod redact;
mod write;

pub use write::{Call, MAX_EVENT, MAX_FILE, Recorder, SCHEMA};

use crate::command::session::Trace;
use crate::command::{Context, not_available};
use crate::envelope::Answer;

/// `trace`.
pub fn run(_context: &Context, _args: &Trace) -> Answer {
    Err(not_available("trace"))
}
