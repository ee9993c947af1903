//! Printing: one envelope on one line, or one text. A closed pipe is a message on standard error, never a panic.

use agent_desktop_core::command::Command;
use agent_desktop_core::command::values::Format;
use agent_desktop_core::envelope::{Answer, envelope};
use serde_json::Value;
use std::io::Write;

/// Exit codes of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The answer is ok.
    Done = 0,
    /// The answer is a structured error, or it could not be written.
    Refused = 1,
    /// The command line could not be parsed.
    Misused = 2,
}

/// Exit code of `desktop run` where the desktop itself failed.
pub const DESKTOP_FAILED: i32 = 125;

/// How the command asks to be printed.
pub fn format_of(command: &Command) -> Format {
    match command {
        Command::Snapshot(args) => args.format,
        Command::Find(args) => args.format,
        _ => None,
    }
    .unwrap_or_default()
}

/// Prints an answer as the command asked: an outline as it is, all else in the envelope. Errors are always JSON.
pub fn print(name: &str, answer: &Answer, format: Format) -> Exit {
    match answer {
        Ok(Value::String(outline)) if format == Format::Text => print_text(outline),
        answer => print_answer(name, answer, Exit::Refused),
    }
}

/// Prints the envelope of an answer; `refused` is the exit code of an error.
pub fn print_answer(name: &str, answer: &Answer, refused: Exit) -> Exit {
    let exit = if answer.is_ok() { Exit::Done } else { refused };
    write(&(line(name, answer) + "\n"), exit)
}

/// Prints a text.
pub fn print_text(text: &str) -> Exit {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write(&format!("{text}{end}"), Exit::Done)
}

/// The envelope as one line, without the line break.
pub fn line(name: &str, answer: &Answer) -> String {
    // Line separators that JSON leaves as they are would break "one line" for some readers.
    envelope(name, answer).to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Prints one line before the answer, at once; whether anybody reads it.
pub fn emit(line: &Value) -> bool {
    let text = line.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029") + "\n";
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Prints a line on standard error, whether or not anybody reads it.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn write(text: &str, exit: Exit) -> Exit {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => exit,
        Err(error) => {
            complain(&format!("agent-desktop: the answer could not be written: {error}"));
            Exit::Refused
        }
    }
}
