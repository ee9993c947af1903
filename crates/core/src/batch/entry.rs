//! One entry: `{command, args?, session?, wait_for?, wait_for_gone?, wait_timeout?, wait_view?}`, checked as the command line would check it.

use super::strict::Strict;
use super::{MAX_ENTRIES, out_of_place};
use crate::command::globals::WaitView;
use crate::command::wait::Wait;
use crate::command::{Command, Context, Globals};
use crate::deadline::Deadline;
use crate::error::{Code, Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A checked entry.
#[derive(Debug)]
pub struct Entry {
    /// Its place in the array, from 0.
    pub index: usize,
    /// Its command.
    pub command: Command,
    /// The command's arguments as given.
    args: Value,
    session: Option<String>,
    /// What it waits for afterwards.
    waits: Globals,
}

/// Keys of an entry that stand for global flags of the same name.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waits {
    wait_for: Option<String>,
    wait_for_gone: Option<String>,
    wait_timeout: Option<u64>,
    wait_view: Option<WaitView>,
}

/// All entries of an array, or the first thing that is wrong with one.
pub fn parse(text: &str) -> Result<Vec<Entry>> {
    let Strict(array) = serde_json::from_str(text).map_err(|e| {
        let what = if e.is_data() { "has an object with a key that stands twice" } else { "is not valid JSON" };
        Error::invalid(format!("the batch {what} (line {}, column {})", e.line(), e.column())).kind("batch_malformed")
    })?;
    let Value::Array(rows) = array else {
        return Err(Error::invalid("a batch is an array of {command, args?, session?}").kind("batch_malformed"));
    };
    if rows.is_empty() || rows.len() > MAX_ENTRIES {
        return Err(Error::invalid(format!("a batch has 1 to {MAX_ENTRIES} entries, not {}", rows.len()))
            .kind("batch_malformed"));
    }
    rows.into_iter().enumerate().map(|(index, row)| one(index, row)).collect()
}

/// `INVALID_ARGS` about one entry; nothing of the batch has run.
pub fn refused(index: usize, command: Option<&str>, cause: &Error) -> Error {
    let error =
        Error::invalid(format!("entry {index} of the batch is refused, and nothing was run: {}", cause.message()))
            .kind("batch_entry_invalid")
            .detail("batch_index", index);
    let error = command.into_iter().fold(error, |e, name| e.detail("batch_command", name));
    let cause = cause.to_json();
    let error = cause["suggestion"].as_str().into_iter().fold(error, |e, text| e.suggest(text));
    match cause.get("details") {
        Some(details) => error.detail("cause_details", details.clone()),
        None => error,
    }
}

fn one(index: usize, row: Value) -> Result<Entry> {
    let Value::Object(mut row) = row else {
        return Err(refused(index, None, &Error::invalid("it is not an object {command, args?, session?}")));
    };
    let Some(Value::String(name)) = row.remove("command") else {
        return Err(refused(index, None, &Error::invalid("it has no command")));
    };
    let known = crate::command::NAMES.iter().copied().find(|n| *n == name);
    let wrong = |cause: &Error| refused(index, known, cause);
    let args = row.remove("args").unwrap_or_else(|| Value::Object(Map::new()));
    let session = match row.remove("session") {
        None => None,
        Some(Value::String(id)) => Some(id),
        Some(_) => return Err(wrong(&Error::invalid("session must be a text"))),
    };
    // The parser's own words may quote a value.
    let waits: Waits = serde_json::from_value(Value::Object(row)).map_err(|_| {
        wrong(&Error::invalid(
            "beside command, args and session it takes wait_for, wait_for_gone, wait_timeout (milliseconds) and wait_view (full, compact, none)",
        ))
    })?;
    let Waits { wait_for, wait_for_gone, wait_timeout, wait_view } = waits;
    let waits = Globals { wait_for, wait_for_gone, wait_timeout, wait_view, ..Globals::default() };
    if !args.is_object() {
        return Err(wrong(&Error::invalid("args must be an object")));
    }
    let command = Command::from_json(&name, args.clone()).map_err(|e| wrong(&e))?;
    if let Some(why) = out_of_place(&command) {
        return Err(wrong(&Error::invalid(why)));
    }
    command.validate().map_err(|e| wrong(&e))?;
    waits.validate().map_err(|e| wrong(&e))?;
    crate::wait::selector::admit(&command, &waits).map_err(|e| wrong(&e))?;
    Ok(Entry { index, command, args, session, waits })
}

/// The command as it is run: with a time limit that the batch's time allows.
pub enum Limited {
    /// As given.
    AsGiven,
    /// With less time.
    Cut(Box<Command>),
}

impl Limited {
    /// The command to run.
    pub fn command<'a>(&'a self, given: &'a Command) -> &'a Command {
        match self {
            Limited::AsGiven => given,
            Limited::Cut(command) => command,
        }
    }

    /// Whether it has less time than it asked for.
    pub fn is_cut(&self) -> bool {
        matches!(self, Limited::Cut(_))
    }
}

impl Entry {
    /// Its arguments where it waits for an event, which is told by what was there before.
    pub fn waits_for_event(&self) -> Option<&Wait> {
        match &self.command {
            Command::Wait(args) if args.event.is_some() => Some(args),
            _ => None,
        }
    }

    /// The context that it runs in.
    pub fn context(&self, batch: &Context) -> Result<Context> {
        batch.for_entry(self.session.as_deref(), &self.waits)
    }

    /// The command within the batch's time: its own limit cut to what is left. A pause that would not end in time is
    /// refused: cut short it would be another pause.
    pub fn within(&self, deadline: Deadline) -> Result<Limited> {
        let left = u64::try_from(deadline.left().as_millis()).unwrap_or(u64::MAX);
        let Some((key, limit)) = limit(&self.command) else { return Ok(Limited::AsGiven) };
        if limit <= left {
            return Ok(Limited::AsGiven);
        }
        if key == PAUSE {
            return Err(Error::before(Code::Timeout, "the pause would outlast the batch's time")
                .kind("batch_deadline")
                .detail("left_ms", left)
                .suggest("Give the batch a longer --timeout-ms."));
        }
        let mut args = self.args.clone();
        if let Some(map) = args.as_object_mut() {
            // Under its other name it would be given twice.
            map.remove("timeout_ms");
            map.insert(key.to_owned(), json!(left));
        }
        Command::from_json(self.command.name(), args).map(|c| Limited::Cut(Box::new(c)))
    }
}

/// The argument of a pause.
const PAUSE: &str = "ms";

/// The argument that limits a command's time, and its value: the one given, or the default.
fn limit(command: &Command) -> Option<(&'static str, u64)> {
    if let Some(action) = command.ref_action() {
        return Some(("timeout_ms", action.timeout()));
    }
    match command {
        Command::Snapshot(args) => Some(("timeout_ms", args.timeout())),
        Command::Find(args) => Some(("timeout_ms", args.timeout())),
        Command::Hover(args) => Some(("timeout_ms", args.timeout())),
        Command::Drag(args) => Some(("timeout_ms", args.timeout())),
        Command::Launch(args) => Some(("timeout", args.timeout())),
        Command::Watch(args) => Some(("for", args.time())),
        Command::Wait(args) => match args.ms {
            Some(ms) => Some((PAUSE, ms)),
            None => Some(("timeout", args.timeout())),
        },
        _ => None,
    }
}
