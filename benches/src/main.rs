//! The floor that reads are measured against: the very calls that a command sent, sent again raw with the replies
//! thrown away.
//!
//! ```text
//! floor record FILE -- CMD…    runs CMD and writes down every call that it sends on the accessibility bus; what goes over an
//!                              application's own line isn't seen, so that line has to be out of reach meanwhile
//! floor replay FILE [--free]   sends them again: in the same flights, or all in one
//! floor time N -- CMD…         runs CMD N times; wall milliseconds and peak memory as JSON
//! ```
//! `replay` joins the buses as a client has to (session bus, address, accessibility bus), so that both sides of a ratio
//! are whole processes.

mod calls;
mod record;
mod replay;
mod time;

use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["record", file, "--", command @ ..] if !command.is_empty() => record::record(file, command),
        ["replay", file] => replay::replay(file, false),
        ["replay", file, "--free"] => replay::replay(file, true),
        ["time", runs, "--", command @ ..] if !command.is_empty() => time::time(runs, command),
        _ => Err("usage: floor record FILE -- CMD | replay FILE [--free] | time N -- CMD".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("floor: {e}");
            ExitCode::FAILURE
        }
    }
}
