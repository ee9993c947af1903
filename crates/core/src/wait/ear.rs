//! When to look again: as soon as something is announced, in any case after a while, and never so often that looking
//! is all that is done.

use crate::command::Context;
use crate::deadline::Deadline;
use crate::observe::target::matches;
use crate::platform::{ChangeScope, Listening, Platform, ProcessKey};
use std::time::{Duration, Instant};

/// Pause between looks where nothing announces changes.
pub const POLL: Duration = Duration::from_millis(100);
/// Pause where changes are announced: the safety net for what announces nothing.
const SAFETY: Duration = Duration::from_millis(1_500);
/// It grows to this as long as nothing is announced: a wait for hours must not ask all the time.
const SAFETY_MOST: Duration = Duration::from_millis(6_000);
/// The same while the application that was named is not there yet: it may announce itself by another name.
const ABSENT: Duration = Duration::from_millis(400);
/// After the first announcement, how long others of the same change may follow.
const BURST: Duration = Duration::from_millis(8);
/// A look costs time of the application: between two of them lies three times what the last one took, and at least this.
const LEAST: Duration = Duration::from_millis(20);
/// However long a look took, the next one is not later than this after an announcement.
const MOST: Duration = Duration::from_millis(1_000);
/// How soon it is noticed that the program was told to end.
const SLICE: Duration = Duration::from_millis(300);
/// Time for opening an ear.
const OPEN_MS: u64 = 500;

/// Whose changes a wait is about.
#[derive(Clone, Debug)]
pub enum Of {
    /// The desktop's windows and applications.
    Desktop,
    /// An application, by the name that `--app` has.
    App(String),
    /// A process.
    Process(ProcessKey),
    /// The application of the active window.
    Active,
}

/// The ear of one wait.
pub struct Ear<'a> {
    context: Option<&'a Context>,
    platform: Option<&'a dyn Platform>,
    of: Of,
    heard: Option<Box<dyn Listening + 'a>>,
    scope: Option<ChangeScope>,
    net: Duration,
}

impl<'a> Ear<'a> {
    /// Opens an ear before the first look. Where that can't be done the wait asks again and again.
    pub fn open(context: &'a Context, of: Of) -> Self {
        let mut ear = Self {
            context: Some(context),
            platform: context.platform().ok(),
            of,
            heard: None,
            scope: None,
            net: SAFETY,
        };
        ear.bind();
        ear
    }

    /// An ear that hears nothing: looks follow one another at the pace of [`POLL`].
    pub fn deaf() -> Self {
        Self { context: None, platform: None, of: Of::Desktop, heard: None, scope: None, net: SAFETY }
    }

    /// The process that is meant, where it is there.
    fn process(&self, platform: &dyn Platform) -> Option<ProcessKey> {
        let deadline = Deadline::after_ms(OPEN_MS);
        match &self.of {
            Of::Desktop => None,
            Of::Process(process) => Some(process.clone()),
            Of::App(name) => {
                let apps = platform.apps(deadline).ok()?;
                apps.into_iter().find(|app| app.root.is_some() && matches(name, app)).map(|app| app.process)
            }
            Of::Active => platform.active_window(deadline).ok()?.map(|window| window.process),
        }
    }

    /// Listens to what is meant, as soon as it is there, and to the desktop until then.
    fn bind(&mut self) {
        let Some(platform) = self.platform else { return };
        let wanted = self.process(platform).map_or(ChangeScope::Desktop, ChangeScope::Process);
        if self.scope.as_ref() == Some(&wanted) {
            return;
        }
        // The old ear closes first: both may hang on one line.
        self.heard = None;
        match platform.listen(&wanted, Deadline::after_ms(OPEN_MS)) {
            Ok(heard) => (self.heard, self.scope) = (Some(heard), Some(wanted)),
            Err(error) => {
                tracing::debug!(%error, "changes are not announced: the wait polls");
                self.scope = None;
            }
        }
    }

    /// Whether the ear listens to what is meant.
    fn bound(&self) -> bool {
        matches!((&self.of, &self.scope), (Of::Desktop, Some(_)) | (_, Some(ChangeScope::Process(_))))
    }

    /// Waits until another look is worth while. `cost` is what the last one took.
    pub fn pause(&mut self, deadline: Deadline, cost: Duration) {
        let looked = Instant::now();
        if self.heard.is_none() {
            std::thread::sleep(POLL.min(deadline.left()));
            return;
        }
        let net = if self.bound() { self.net } else { ABSENT };
        let end = deadline.min(Deadline::after(net));
        let came = loop {
            let came = self.heard.as_mut().is_some_and(|ear| ear.next(end.min(Deadline::after(SLICE))));
            if came || end.passed() {
                break came;
            }
            if self.context.is_some_and(Context::is_interrupted) {
                return;
            }
        };
        self.net = if came { SAFETY } else { (self.net * 2).min(SAFETY_MOST) };
        if came {
            let least = (cost * 3).clamp(LEAST, MOST).saturating_sub(looked.elapsed());
            let until = deadline.min(Deadline::after(least.max(BURST)));
            std::thread::sleep(until.left());
            if let Some(ear) = &mut self.heard {
                ear.drain();
            }
        }
        if !self.bound() || matches!(self.of, Of::Active) {
            self.bind();
        }
    }
}
