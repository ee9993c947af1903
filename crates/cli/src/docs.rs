//! `docs/commands.md`, from the table and the argument structs.

use crate::args::parser;
use agent_desktop_core::command::table::{Group, Spec, TABLE};
use agent_desktop_core::command::{Command, Permission};
use clap::{Arg, ArgAction};
use serde_json::Value;
use std::fmt::Write;

const HEAD: &str = "\
# Commands

Made by `agent-desktop __docs` from the definitions of the commands; a test fails when this file and the program drift apart.

Every command prints one JSON envelope on one line ([json-output.md](json-output.md); text with `--format text`) and exits with 0 (ok), 1 (a
structured error) or 2 (the command line could not be parsed). The JSON names of arguments are those of their fields:
`--timeout-ms` is `timeout_ms`, the positional REF is `ref_id`. Unknown names are refused.

A ref is `@<snapshot_id>:eN`, as `snapshot` and `find` print it. `--app NAME` is a whole name without regard to case;
`--window-id ID` comes from `list-windows`. Commands marked *not built yet* answer `PLATFORM_NOT_SUPPORTED`,
`details.kind: \"not_available\"`.

Where the operating system has an accessibility permission, all commands need it but for those that need no desktop,
`list-apps`, `list-windows`, `list-displays`, `clipboard-*`, `status`, `permissions` and a bare `screenshot`.
";

/// The whole document.
pub fn markdown() -> String {
    let parser = parser();
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "\n## Flags of every command\n");
    out.push_str("Before or after the command's name.\n\n");
    for arg in parser.get_arguments().filter(|arg| arg.is_global_set()) {
        let _ = writeln!(out, "- {}", argument(arg, None));
    }
    let mut group: Option<Group> = None;
    for spec in TABLE {
        if group != Some(spec.group) {
            group = Some(spec.group);
            let _ = writeln!(out, "\n## {}", spec.group.title());
        }
        if let Some(command) = parser.find_subcommand(spec.name) {
            section(&mut out, spec, command);
        }
    }
    out
}

fn section(out: &mut String, spec: &Spec, command: &clap::Command) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(out, "\n### {}\n\n{}", spec.name, sentence(&about));
    let facts = facts(spec);
    if !facts.is_empty() {
        let _ = writeln!(out, "\n*{}.*", facts.join("; "));
    }
    let arguments: Vec<&Arg> =
        command.get_arguments().filter(|a| !a.is_global_set() && !a.is_hide_set() && a.get_id() != "help").collect();
    if arguments.is_empty() {
        return;
    }
    out.push('\n');
    let schema = Command::schema(spec.name).unwrap_or_default();
    for arg in arguments {
        let _ = writeln!(out, "- {}", argument(arg, Some(&schema)));
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

fn facts(spec: &Spec) -> Vec<&'static str> {
    [
        (!spec.built, "not built yet"),
        (spec.headed, "needs `--headed`"),
        (spec.mutates, "changes something"),
        (!spec.platform, "needs no desktop"),
        (spec.permission == Permission::ScreenRecording, "needs the screen recording permission where there is one"),
    ]
    .into_iter()
    .filter_map(|(holds, fact)| holds.then_some(fact))
    .collect()
}

fn argument(arg: &Arg, schema: Option<&Value>) -> String {
    let value = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let value = match value.filter(|_| takes) {
        Some(value) if arg.is_positional() => value,
        Some(value) if optional => format!(" [{value}]"),
        Some(value) => format!(" {value}"),
        None => String::new(),
    };
    let long = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let mut out = format!("`{short}{long}{value}`");
    let field = arg.get_id().as_str();
    if schema.is_some() && (arg.is_positional() || long.trim_start_matches('-').replace('-', "_") != field) {
        let _ = write!(out, " (`{field}`)");
    }
    if let Some(help) = arg.get_help() {
        let _ = write!(out, ": {}", sentence(&help.to_string()));
    }
    let choices: Vec<String> =
        arg.get_possible_values().iter().filter(|v| !v.is_hide_set()).map(|v| format!("`{}`", v.get_name())).collect();
    if takes && !choices.is_empty() {
        let _ = write!(out, " One of {}.", choices.join(", "));
    }
    out
}
