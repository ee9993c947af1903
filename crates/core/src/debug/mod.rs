//! `--debug --screenshot PATH.html`: one HTML file with a window's picture, its elements outlined on it, and its tree
//! beside it (spec 1 §8). It is for people and proves nothing. It never replaces a file, and once something may have been
//! sent it changes no answer: what went wrong with the file is a warning in the answer's `debug`.

mod file;
mod page;
mod view;

use crate::command::{Command, Context};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Error, Result};
use crate::observe::locate::Root;
use crate::observe::snapshot::Kept;
use crate::vocab::surface::Surface;
use file::NewFile;
use serde_json::{Value, json};
use std::cell::RefCell;
use view::View;

/// Time for the looks at the window around a click, and for a snapshot's picture, in milliseconds.
const LOOK_MS: u64 = 5_000;

/// What is seen while a command runs, for its page.
#[derive(Default)]
pub(crate) struct Seen(RefCell<Vec<View>>);

impl Seen {
    fn add(&self, view: View) {
        self.0.borrow_mut().push(view);
    }
}

/// Refuses what has no such page.
///
/// # Errors
/// `debug_window_only` for what is no window as a whole; `INVALID_ARGS`.
pub(crate) fn admit(command: &Command, context: &Context) -> Result<()> {
    if !context.globals().debug {
        return Ok(());
    }
    match command {
        Command::Click(_) => Ok(()),
        Command::Snapshot(args) => {
            if args.is_text() {
                return Err(Error::invalid("--debug answers in JSON: it doesn't go with --format text"));
            }
            let whole = args.root.is_none() && args.since.is_none() && args.cell.is_none();
            if whole && args.surface()? == Surface::Window {
                return Ok(());
            }
            Err(Error::invalid("--debug shows a window as a whole: no --root, --since, --cell or other --surface")
                .kind("debug_window_only"))
        }
        _ => Err(Error::invalid("--debug --screenshot goes with snapshot and click")),
    }
}

/// The page of one command, from before it runs.
pub(crate) struct Page {
    file: NewFile,
}

impl Page {
    /// Makes the file, so that what can't be written is said before anything runs. None where no page is wanted.
    ///
    /// # Errors
    /// `debug_file_exists` and the kinds of a path that can't be.
    pub fn reserve(context: &Context) -> Result<Option<Self>> {
        let path = context.globals().screenshot.as_deref().filter(|_| context.globals().debug);
        path.map(|path| NewFile::create(path).map(|file| Self { file })).transpose()
    }

    /// Looks at a click's window before it.
    pub fn before(&self, command: &Command, context: &Context) {
        if let Command::Click(args) = command {
            context.seen().add(View::of_click(context, args, "Before", Deadline::after_ms(LOOK_MS)));
        }
    }

    /// Writes the page and says in the answer where it is.
    pub fn finish(self, command: &Command, context: &Context, answer: Answer) -> Answer {
        if let Command::Click(args) = command
            && sent(&answer)
        {
            context.seen().add(View::of_click(context, args, "After", Deadline::after_ms(LOOK_MS)));
        }
        let views = context.seen().0.take();
        // Where nothing was seen there is nothing to show: the file goes again.
        if answer.is_err() && views.iter().all(View::is_empty) {
            return answer;
        }
        let mut warnings: Vec<String> =
            views.iter().flat_map(|v| v.warnings.iter().map(|w| format!("{}: {w}", v.label))).collect();
        let path = self.file.path().to_owned();
        let written = self.file.write(|out| page::write(out, command, &answer, &views, &warnings));
        if let Err(error) = written {
            warnings.push(format!("the file could not be written: {error}"));
        }
        let mut note = json!({"path": path});
        if !warnings.is_empty() {
            note["warning"] = json!(warnings.join("; "));
        }
        match answer {
            Ok(Value::Object(mut data)) => {
                data.insert("debug".into(), note);
                Ok(Value::Object(data))
            }
            Ok(other) => Ok(other),
            Err(error) => Err(error.detail("debug", note)),
        }
    }
}

/// Whether something may have been sent, so that there is an "after".
fn sent(answer: &Answer) -> bool {
    match answer {
        Ok(_) => true,
        Err(error) => error.delivery() != crate::error::Delivery::NotDelivered,
    }
}

/// Takes the picture of a snapshot that was just saved.
pub(crate) fn snapshot_saved(context: &Context, root: &Root, kept: &Kept) {
    if context.globals().debug {
        context.seen().add(View::of_snapshot(context, root, kept, Deadline::after_ms(LOOK_MS)));
    }
}
