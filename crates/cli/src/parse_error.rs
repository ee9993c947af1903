//! clap's errors as structured ones: its first line, bounded, without text that is odd or may be secret, and what
//! was expected instead.

use agent_desktop_core::command::{NAMES, secret};
use agent_desktop_core::error::{Error, echo};
use clap::ArgAction;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

const MAX_CHARS: usize = 512;

/// The structured error.
pub fn structured(error: &clap::Error, argv: &[OsString]) -> Error {
    let command = command_of(argv);
    let rendered = error.render().to_string();
    let line = rendered.lines().next().unwrap_or_default();
    let mut line = line.strip_prefix("error: ").unwrap_or(line).to_owned();
    if error.kind() == ErrorKind::MissingRequiredArgument {
        let missing = strings(error, ContextKind::InvalidArg);
        if !missing.is_empty() {
            line = format!("missing {}", missing.join(", "));
        }
    }
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand] {
        for given in strings(error, kind) {
            // Names of our own flags may be quoted; what the caller wrote only where it is plain and not secret.
            let ours = kind == ContextKind::InvalidArg && error.kind() != ErrorKind::UnknownArgument;
            let hide = command.is_some_and(secret) && !given.starts_with('-');
            if ours || given.is_empty() {
                continue;
            }
            let quoted = format!("'{given}'");
            let shown = if hide { format!("token of {} bytes", given.len()) } else { echo(&given) };
            // A line break inside the token ends clap's line early: then the whole line is ours to write.
            line = match line.contains(&quoted) {
                true => line.replace(&quoted, &shown),
                false if given.contains('\n') => format!("unexpected {shown}"),
                false => line,
            };
        }
    }
    let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
    let mut out = Error::invalid(line);
    let allowed = [strings(error, ContextKind::ValidValue), strings(error, ContextKind::ValidSubcommand)].concat();
    if !allowed.is_empty() {
        out = out.detail("expected", allowed.clone()).suggest(format!("Expected one of: {}.", allowed.join(", ")));
    } else if let Some(meant) = meant(error) {
        out = out.detail("did_you_mean", meant.as_str()).suggest(format!("Did you mean {meant}?"));
    } else {
        out = out.suggest(match command {
            Some(name) => format!("'agent-desktop {name} --help' shows its arguments."),
            None => "'agent-desktop --help' lists commands.".to_owned(),
        });
    }
    out
}

/// The command that a command line names, as far as it can be told: flags may stand before it, some with a value.
pub fn command_of(argv: &[OsString]) -> Option<&'static str> {
    let parser = crate::args::parser();
    let takes_value = |flag: &str| {
        let name = flag.trim_start_matches('-');
        let named =
            |arg: &&clap::Arg| arg.get_long() == Some(name) || arg.get_short().is_some_and(|s| *name == s.to_string());
        parser
            .get_arguments()
            .find(named)
            .is_some_and(|arg| matches!(arg.get_action(), ArgAction::Set | ArgAction::Append))
    };
    let mut words = argv.iter().skip(1).map(|a| a.to_str().unwrap_or_default());
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return NAMES.iter().copied().find(|name| *name == word);
        }
        if takes_value(word) {
            words.next();
        }
    }
    None
}

/// What the caller may have meant: the last of the similar ones is the most similar.
fn meant(error: &clap::Error) -> Option<String> {
    [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| strings(error, kind).pop())
}

fn strings(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(list)) => list.clone(),
        _ => Vec::new(),
    }
}
