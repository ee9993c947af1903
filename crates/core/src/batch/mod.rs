//! `batch`: several commands one after the other in one process (spec 2 §59). Everything is checked before anything
//! runs; then each entry answers for itself, with its own disposition. Nothing is undone and nothing is tried again.

mod entry;
mod output;
mod source;
mod strict;

use crate::command::system::Batch;
use crate::command::{self, Command, Context};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::overlay;
use crate::wait::event::Baseline;
use entry::{Entry, Limited};
use output::{Added, Output, Stop};

/// Entries of a batch at most.
pub const MAX_ENTRIES: usize = 64;
/// Bytes of a batch's answer at most.
pub const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of them that are kept for what stands beside the results.
pub const OUTPUT_RESERVE_BYTES: usize = 8 * 1024;

/// Runs `batch`.
pub fn run(context: &Context, args: &Batch) -> Answer {
    let text = source::read(args)?;
    let entries = entry::parse(&text)?;
    let contexts =
        entries.iter().map(|entry| in_entry(entry, entry.context(context))).collect::<Result<Vec<Context>>>()?;
    for (entry, context) in entries.iter().zip(&contexts) {
        in_entry(entry, overlay::admit(&entry.command, context))?;
    }
    let deadline = Deadline::after_ms(args.timeout());
    let mut out = Output::new(entries.len(), args.timeout());
    for (at, (entry, context)) in entries.iter().zip(&contexts).enumerate() {
        let limited = if deadline.passed() { Err(deadline_error()) } else { entry.within(deadline) };
        let limited = match limited {
            Ok(limited) => limited,
            // What follows a pause counts on it: without the pause it isn't run.
            Err(error) => {
                out.stop(Stop::Deadline { index: at });
                out.not_started(entry, "deadline", &error);
                entries[at + 1..].iter().for_each(|late| out.not_started(late, "deadline", &deadline_error()));
                break;
            }
        };
        // What the next entry compares with is what was there before this one.
        if let Some((next, wait)) = entries.get(at + 1).and_then(|next| Some((next, next.waits_for_event()?))) {
            match Baseline::capture(&contexts[next.index], wait) {
                Ok(before) => contexts[next.index].leave_baseline(before),
                Err(error) => {
                    out.not_started(entry, "pre_action_baseline_failed", &baseline_error(&error));
                    out.stop(Stop::Baseline { index: at, blocked: next.index });
                    break;
                }
            }
        }
        let answer = dispatch(entry, &limited, context, deadline);
        let failed = answer.is_err();
        match out.completed(entry, &answer) {
            Added::Whole if failed && args.stop_on_error && at + 1 < entries.len() => {
                out.stop(Stop::OnError { after: at });
                break;
            }
            Added::Whole => {}
            Added::Cut => {
                out.stop(Stop::OutputLimit { after: at });
                break;
            }
        }
    }
    Ok(out.finish())
}

/// Runs one entry within the time that the whole had left.
fn dispatch(entry: &Entry, limited: &Limited, context: &Context, deadline: Deadline) -> Answer {
    context.end_by(deadline);
    let answer = command::run(limited.command(&entry.command), context);
    match answer {
        Err(error) if limited.is_cut() && error.code() == Code::Timeout => Err(error.detail("limited_by", "batch")),
        answer => answer,
    }
}

fn deadline_error() -> Error {
    Error::before(Code::Timeout, "the batch's time was over before this entry")
        .kind("batch_deadline")
        .suggest("Run it again by itself, or give the batch a longer --timeout-ms.")
}

fn baseline_error(cause: &Error) -> Error {
    Error::before(cause.code(), "what the next entry waits for could not be looked at before this entry")
        .kind("pre_action_baseline_failed")
        .detail("cause", cause.to_json())
        .suggest("Nothing of this entry was done. Look again, then repeat it with the entry that waits.")
}

/// An entry's refusal, with where it stands. Nothing of the batch has run.
fn in_entry<T>(entry: &Entry, checked: Result<T>) -> Result<T> {
    checked.map_err(|cause| entry::refused(entry.index, Some(entry.command.name()), &cause))
}

/// What can't be an entry, whatever its arguments.
fn out_of_place(command: &Command) -> Option<&'static str> {
    match command {
        Command::Batch(_) => Some("a batch holds no other batch"),
        Command::CursorOverlay(_) => Some("cursor-overlay belongs to a session, not to an entry: run it by itself"),
        Command::Desktop(_) => Some("desktop is no entry: run it by itself, then point the batch at it with --desktop"),
        other if other.stdin_limit().is_some() => {
            Some("--stdin works on the command line only: put the text into the entry")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
