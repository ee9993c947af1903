//! The command line: parses a command, runs it, prints the one envelope. No rules: those are core's.

mod args;
mod docs;
mod host;
mod logging;
mod output;
mod parse_error;
mod signals;
mod stdin;
mod streams;

use agent_desktop_core::command::desktop::{Desktop, DesktopOperation};
use agent_desktop_core::command::{self, Command, Context, Host as _, not_available};
use agent_desktop_core::error::{Code, Delivery, Error};
use args::Parsed;
use output::{Exit, print_answer, print_text};
use std::ffi::OsString;

/// Generates `docs/commands.md`.
const DOCS: &str = "__docs";

fn main() {
    signals::survive_file_size();
    std::panic::set_hook(Box::new(|info| {
        // Whatever broke, the caller gets an answer that it can parse; nothing is known about delivery.
        output::complain(&format!("internal error: {info}"));
        let error = Error::new(Code::Internal, Delivery::Unknown, "internal error; standard error says where");
        std::process::exit(print_answer("unknown", &Err(error), Exit::Refused) as i32);
    }));
    let argv: Vec<OsString> = std::env::args_os().collect();
    std::process::exit(run(&argv));
}

fn run(argv: &[OsString]) -> i32 {
    let first = argv.get(1).and_then(|a| a.to_str()).unwrap_or_default();
    if first == DOCS {
        return print_text(&docs::markdown()) as i32;
    }
    if let Some(code) = host::hidden(first, argv.get(2..).unwrap_or_default()) {
        return code;
    }
    if !streams::output_is_open() {
        output::complain("agent-desktop: standard output is closed: nothing was done");
        return Exit::Refused as i32;
    }
    let (globals, command) = match args::parse(argv) {
        Parsed::Command(globals, command) => (globals, *command),
        Parsed::Text(text) => return print_text(&text) as i32,
        Parsed::Error(error) => return print_answer("unknown", &Err(error), Exit::Misused) as i32,
    };
    logging::install(globals.verbose);
    if let Command::Desktop(args) = &command
        && args.operation == DesktopOperation::Run
    {
        return desktop_run(args);
    }
    signals::answer_before_the_end(&command);
    let name = command.name();
    let format = output::format_of(&command);
    let answer = match Context::new(globals, Box::new(|name| std::env::var_os(name)), Box::new(host::Machine)) {
        Err(error) => Err(error),
        Ok(context) => stdin::fill(command).and_then(|command| command::run(&command, &context)),
    };
    output::print(name, &answer, format) as i32
}

/// The one command that passes its child's output and exit code through. Standard output is the child's, so our own
/// failures go to standard error.
fn desktop_run(args: &Desktop) -> i32 {
    let started =
        args.validate().and_then(|()| args.screen()).map_err(|e| (e, output::DESKTOP_FAILED)).and_then(|screen| {
            match host::Machine.desktops() {
                Some(desktops) => desktops.run(&args.args, screen),
                None => Err((not_available("desktop run"), output::DESKTOP_FAILED)),
            }
        });
    match started {
        Ok(code) => code,
        Err((error, code)) => {
            output::complain(&output::line("desktop", &Err(error)));
            code
        }
    }
}
