//! `watch`: changes as they happen, one JSON object a line, then the answer. What is told is what two looks differ in, so
//! a line is never a toolkit's bare word; when to look is what the toolkits announce.

mod desktop;
pub(crate) mod silence;
mod window;

use crate::command::watch::Watch;
use crate::command::{Context, Emitted};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Result};
use crate::observe::target;
use crate::session::now_ms;
use crate::wait::ear::{Ear, Of};
use desktop::Desktop;
pub(crate) use desktop::is_layer;
use serde_json::{Map, Value, json};
use std::time::Instant;
use window::Trees;

/// Time of one look, in milliseconds.
const LOOK_MS: u64 = 3_000;

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Time,
    Max,
    Gone,
    Closed,
    Signal,
}

impl End {
    fn token(self) -> &'static str {
        match self {
            End::Time => "time",
            End::Max => "max",
            End::Gone => "target_gone",
            End::Closed => "output_closed",
            End::Signal => "signal",
        }
    }
}

/// Where lines go: to whoever reads them as they come, else into the answer.
struct Lines<'a> {
    context: &'a Context,
    max: usize,
    count: usize,
    kept: Vec<Value>,
    end: Option<End>,
    /// Whether something could not be seen at some time.
    unseen: bool,
}

impl Lines<'_> {
    /// One change. Ignored once the limit is reached.
    fn tell(&mut self, event: &str, fields: Map<String, Value>) {
        if self.end.is_some() {
            return;
        }
        let mut line = Map::new();
        line.insert("event".into(), json!(event));
        line.insert("ts_ms".into(), json!(now_ms()));
        line.extend(fields);
        let line = Value::Object(line);
        match self.context.emit(&line) {
            Emitted::Printed => {}
            Emitted::NoStream => self.kept.push(line),
            Emitted::Closed => {
                self.end = Some(End::Closed);
                return;
            }
        }
        self.count += 1;
        if self.count >= self.max {
            self.end = Some(End::Max);
        }
    }
}

/// Fields of a line.
fn fields<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// `watch`.
pub fn watch(context: &Context, args: &Watch) -> Answer {
    let begun = Instant::now();
    let deadline = Deadline::after_ms(args.time());
    let platform = context.platform()?;
    let first = Deadline::after_ms(LOOK_MS);
    // Named targets must be there: a watch that waits for what never comes would look like one that saw nothing.
    let named = match args.scope() {
        target::Scope { app: None, window_id: None } => None,
        scope => Some(target::find_any_window(platform, scope, None, first).or_else(|error| {
            match (scope.app, error.code()) {
                // Several windows are one application all the same.
                (Some(name), Code::AmbiguousTarget) if scope.window_id.is_none() => {
                    let app = target::find_app(platform, Some(name), first)?;
                    platform.windows(&app, first)?.into_iter().next().ok_or(error)
                }
                _ => Err(error),
            }
        })?),
    };
    let mut ear = Ear::open(context, named.as_ref().map_or(Of::Desktop, |w| Of::Process(w.process.clone())));
    let process = named.as_ref().map(|w| w.process.clone());
    let mut desktop = Desktop::look(platform, process.clone(), first)?;
    let mut trees = Trees::new(args, process);
    trees.begin(context, &desktop, first)?;
    let mut lines = Lines { context, max: args.lines(), count: 0, kept: Vec::new(), end: None, unseen: false };
    desktop.tell_unanswered(&mut lines);
    let mut cost = std::time::Duration::ZERO;
    let mut unread: Option<Code> = None;
    let end = loop {
        if let Some(end) = lines.end {
            break end;
        }
        if context.is_interrupted() {
            break End::Signal;
        }
        if deadline.passed() {
            break End::Time;
        }
        ear.pause(deadline, cost);
        if context.is_interrupted() {
            break End::Signal;
        }
        let asked = Instant::now();
        let seen = round(context, &mut desktop, &mut trees, &mut lines);
        cost = asked.elapsed();
        match seen {
            Ok(true) => break lines.end.unwrap_or(End::Gone),
            Ok(false) if unread.take().is_some() => lines.tell("readable", Map::new()),
            Ok(false) => {}
            Err(error) if unread != Some(error.code()) => {
                unread = Some(error.code());
                lines.unseen = true;
                lines.tell("unreadable", fields([("error", error.to_json())]));
            }
            Err(_) => {}
        }
    };
    let mut out = Map::new();
    out.insert("lines".into(), json!(lines.count));
    out.insert("ended".into(), json!(end.token()));
    // What nobody could see is not told, and not known to be nothing.
    let left_out = trees.left_out(&desktop);
    out.insert("complete".into(), json!(!lines.unseen && left_out.is_empty()));
    if !left_out.is_empty() {
        out.insert("windows_not_watched".into(), json!(left_out));
    }
    let silent: Vec<Value> = desktop.unanswered().into_iter().map(target::app_summary).collect();
    if !silent.is_empty() {
        out.insert("unresponsive".into(), Value::Array(silent));
    }
    out.insert("elapsed_ms".into(), json!(begun.elapsed().as_millis() as u64));
    if !lines.kept.is_empty() {
        out.insert("events".into(), Value::Array(lines.kept));
    }
    Ok(Value::Object(out))
}

/// One look, and what differs from the last one; whether what was named is gone.
fn round(context: &Context, desktop: &mut Desktop, trees: &mut Trees<'_>, lines: &mut Lines<'_>) -> Result<bool> {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(LOOK_MS);
    let mut now = Desktop::look(platform, desktop.of(), deadline)?;
    let renamed = now.settle(desktop);
    trees.rename(&renamed);
    now.tell_since(platform, desktop, lines);
    *desktop = now;
    if desktop.target_ended(platform) || trees.target_closed(desktop) {
        return Ok(true);
    }
    trees.tell(context, desktop, lines, deadline)?;
    Ok(false)
}
