//! Traces (spec 1 §8): what the commands of a session did, one JSON object a line, one file for each process.
//!
//! ```text
//! <session>/trace/<pid>-<ms>.jsonl   the first line is trace.meta; a line is written by one call, so that it is whole
//!                 screens/           pictures of windows before and after actions (session start --screenshots)
//!                 refmaps/           the ref maps that actions went by
//! ```
//!
//! Every event has `event`, `ts_ms` (milliseconds since 1970, never going back within a process), `seq` (counted within
//! a process), `pid`. Texts of applications and of callers are not recorded: see [`redact`]. Pictures and ref maps are
//! not redacted.

pub mod artifacts;
mod event;
mod export;
mod read;
pub mod redact;
mod show;
mod write;

pub use write::{Call, MAX_EVENT, MAX_FILE, Recorder, SCHEMA};

use crate::command::Context;
use crate::command::session::{Trace, TraceOperation};
use crate::envelope::Answer;
use crate::error::{Error, Result};
use crate::session::{Sessions, not_found};
use crate::state::private;
use read::Source;
use std::path::PathBuf;

/// `trace`. Needs no desktop.
pub fn run(context: &Context, args: &Trace) -> Answer {
    let source = source(context)?;
    match args.operation {
        TraceOperation::Show => show::show(&source, args),
        TraceOperation::Export => export::export(&source, args),
    }
}

/// Which trace is meant: the file of `--trace`, else the session's.
fn source(context: &Context) -> Result<Source> {
    if let Some(path) = &context.globals().trace {
        let file = PathBuf::from(path);
        if !file.is_file() {
            return Err(Error::invalid("--trace names no file that could be read")
                .kind("trace_not_found")
                .detail("path", path.as_str()));
        }
        return Ok(Source::File { file, session: context.session().map(str::to_owned) });
    }
    let id = context.session().ok_or_else(|| {
        Error::invalid("which trace?").suggest("Give --session ID, AGENT_DESKTOP_SESSION, or --trace PATH.")
    })?;
    let dir = Sessions::of(context.state_root()).dir(id)?;
    if !private::check_dir(&dir)? {
        return Err(not_found(id));
    }
    Ok(Source::Session { id: id.to_owned(), dir })
}
