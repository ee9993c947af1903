//! What clap makes of the command line.

use crate::parse_error::structured;
use agent_desktop_core::command::{Command, Globals};
use agent_desktop_core::error::Error;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;

/// For agents that read help first.
const FOR_AGENTS: &str = "\
Agents, start here:
  agent-desktop skills get desktop     how to observe, act and verify
  agent-desktop skills get platform    what this operating system offers
  agent-desktop <command> --help       flags of one command

Every command prints one JSON envelope on one line: {version, ok, command, data | error}. Only --format text (where a
command has it), --help and --version print text; errors are JSON always.
Exit codes: 0 ok, 1 refused or failed (read error.code and error.disposition), 2 the command line could not be parsed.
Retry only where error.disposition.retry is \"safe\".";

/// Reads and operates desktop applications through the accessibility tree, for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "agent-desktop",
    version,
    after_help = FOR_AGENTS,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    subcommand_help_heading = "Commands",
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<Command>,
}

/// A command line, understood.
pub enum Parsed {
    /// A command.
    Command(Globals, Box<Command>),
    /// Help or version was asked for.
    Text(String),
    /// It could not be parsed.
    Error(Error),
}

/// The parser, for the docs.
pub fn parser() -> clap::Command {
    Cli::command()
}

/// Parses a command line, the program's name first.
pub fn parse(argv: &[OsString]) -> Parsed {
    if let Some(at) = argv.iter().skip(1).position(|arg| arg.to_str().is_none()) {
        return Parsed::Error(Error::invalid(format!("argument {} is not valid UTF-8", at + 1)).kind("not_utf8"));
    }
    let mut parser = Cli::command();
    match parser.try_get_matches_from_mut(argv).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(Cli { globals, command: Some(command) }) => match misspelt(&command, argv) {
            Some(error) => Parsed::Error(error),
            None => Parsed::Command(globals, Box::new(command)),
        },
        Ok(Cli { command: None, .. }) if argv.len() <= 1 => Parsed::Text(parser.render_help().to_string()),
        Ok(_) => Parsed::Error(Error::invalid("no command was given").suggest("'agent-desktop --help' lists them.")),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Parsed::Text(error.render().to_string())
        }
        Err(error) => Parsed::Error(structured(&error, argv)),
    }
}

/// Text that looks like a flag is taken for one that is misspelt: typed, it would do harm. After `--` everything is text.
fn misspelt(command: &Command, argv: &[OsString]) -> Option<Error> {
    let text = match command {
        Command::Type(args) => args.text.as_deref(),
        Command::SetValue(args) => args.value.as_deref(),
        Command::Select(args) => Some(args.value.as_str()),
        _ => None,
    }?;
    let name = |rest: &str| {
        let name = rest.split('=').next().unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let like_a_flag = text.strip_prefix("--").is_some_and(name);
    let at = argv.iter().position(|arg| arg.to_str() == Some(text))?;
    let is_text = argv[..at].iter().any(|arg| arg.to_str() == Some("--"));
    let name = command.name();
    // It may be a secret all the same, and is not shown.
    (like_a_flag && !is_text).then(|| {
        Error::invalid(format!("{name} has no such flag ({} bytes, starting with --)", text.len()))
            .kind("flag_or_text")
            .suggest(format!(
                "Text that starts with -- stands after --: {name} REF -- TEXT. '{name} --help' has the flags."
            ))
    })
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
