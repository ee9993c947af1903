//! `wait`: look again until it is so, or the time is up. A look that failed is no answer: it is reported with the
//! timeout, and never taken for "not there".

mod element;

use crate::command::Context;
use crate::command::wait::{Mode, Wait};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::observe::locate;
use crate::observe::target::Scope;
use crate::platform::apps::window_json;
use crate::platform::{Platform, ReadPlan, Responsive};
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Pause between two looks at an element (spec 1 §10).
pub(crate) const ELEMENT_POLL: Duration = Duration::from_millis(100);
/// Pause between two looks at windows, menus and texts.
const SCENE_POLL: Duration = Duration::from_millis(100);
/// Deadline of one look at a window's tree, in milliseconds.
const LOOK_MS: u64 = 3_000;

/// Runs `wait`.
pub fn wait(context: &Context, args: &Wait) -> Answer {
    let clock = Clock::start(args.timeout());
    match args.mode()? {
        Mode::Pause(ms) => {
            std::thread::sleep(Duration::from_millis(ms));
            Ok(json!({"waited_ms": ms}))
        }
        Mode::Element { element, predicate, value, action } => {
            element::wait(context, element, predicate, value, action, &clock)
        }
        Mode::Window(title) => window(context.platform()?, args, title, &clock),
        Mode::Text { text, count } => text_in_window(context, args, text, count, &clock),
        Mode::Menu => menu(context.platform()?, args, true, &clock),
        Mode::MenuClosed => menu(context.platform()?, args, false, &clock),
        Mode::Notification | Mode::Event(_) => Err(crate::platform::not_supported("this kind of wait")),
    }
}

/// The time of one wait.
pub(crate) struct Clock {
    begun: Instant,
    deadline: Deadline,
    timeout_ms: u64,
}

impl Clock {
    fn start(timeout_ms: u64) -> Self {
        Self { begun: Instant::now(), deadline: Deadline::after_ms(timeout_ms), timeout_ms }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Looks until `look` answers, then gives its answer. `look` gives `Err(Some)` for a look that failed, `Err(None)`
    /// for one that says "not yet".
    pub(crate) fn until(
        &self,
        poll: Duration,
        predicate: &str,
        describe: impl Fn(Error) -> Error,
        mut look: impl FnMut() -> Result<Value, Look>,
    ) -> Answer {
        let mut last_error: Option<Error> = None;
        loop {
            match look() {
                Ok(answer) => return Ok(answer),
                Err(Look::Never(error)) => return Err(error),
                Err(Look::NotYet) => last_error = None,
                Err(Look::Failed(error)) => last_error = Some(error),
            }
            if self.deadline.passed() {
                let mut error =
                    Error::before(Code::Timeout, format!("not so within {} ms: {predicate}", self.timeout_ms))
                        .kind("wait_timeout")
                        .detail("predicate", predicate)
                        .detail("timeout_ms", self.timeout_ms);
                if let Some(last) = &last_error {
                    error = error.detail("last_error", last.to_json());
                }
                return Err(describe(error));
            }
            std::thread::sleep(poll.min(self.deadline.left()));
        }
    }
}

/// One look that did not find what was waited for.
pub(crate) enum Look {
    /// It was seen that it is not so.
    NotYet,
    /// It could not be seen.
    Failed(Error),
    /// It can never become so.
    Never(Error),
}

impl Look {
    /// A failed look, unless time can't mend it.
    fn of(error: Error) -> Self {
        match error.code() {
            Code::InvalidArgs | Code::PlatformNotSupported | Code::PermDenied | Code::AmbiguousTarget => {
                Look::Never(error)
            }
            _ => Look::Failed(error),
        }
    }
}

fn scope(args: &Wait) -> Scope<'_> {
    Scope { app: args.app.as_deref(), window_id: None }
}

fn window(platform: &dyn Platform, args: &Wait, title: &str, clock: &Clock) -> Answer {
    let wanted = title.to_lowercase();
    clock.until(
        SCENE_POLL,
        "window",
        |e| e.detail("title", title),
        || {
            let deadline = clock.deadline().within_ms(LOOK_MS);
            let apps = platform.apps(deadline).map_err(Look::of)?;
            let apps = match args.app {
                Some(_) => crate::observe::target::matching(scope(args), &apps).map_err(|e| match e.code() {
                    Code::AppNotFound => Look::NotYet,
                    _ => Look::of(e),
                })?,
                None => apps,
            };
            let windows = platform.windows(&apps, deadline).map_err(Look::of)?;
            let found = windows.iter().find(|w| w.title.to_lowercase().contains(&wanted));
            let found = found.ok_or_else(|| match apps.iter().any(|a| a.responsive == Responsive::No) {
                true => Look::Failed(Error::before(Code::AppUnresponsive, "an application did not answer")),
                false => Look::NotYet,
            })?;
            Ok(json!({"found": true, "window": window_json(found), "elapsed_ms": clock.elapsed_ms()}))
        },
    )
}

fn text_in_window(context: &Context, args: &Wait, text: &str, count: Option<usize>, clock: &Clock) -> Answer {
    let platform = context.platform()?;
    clock.until(
        SCENE_POLL,
        "text",
        |e| e.detail("text_chars", text.chars().count()).detail("expected_count", json!(count)),
        || {
            let deadline = clock.deadline().within_ms(LOOK_MS);
            let root = locate::root(platform, scope(args), Surface::Window, deadline).map_err(Look::of)?;
            let plan = ReadPlan::contract(deadline);
            let tree = platform.read_tree(&root.handle, &root.above, &root.process, &plan).map_err(Look::of)?;
            let search = crate::observe::find::with_text(&tree, text).map_err(Look::of)?;
            let found = &search.matches;
            let enough = match count {
                Some(n) => found.len() == n && search.complete(),
                None => !found.is_empty(),
            };
            if !enough {
                // An incomplete tree proves no absence and no count.
                return Err(if search.complete() {
                    Look::NotYet
                } else {
                    Look::Failed(Error::before(Code::Timeout, "the window could not be read completely"))
                });
            }
            let mut out = Map::new();
            out.insert("found".into(), json!(true));
            out.insert("text".into(), json!(text));
            let saved = crate::observe::find::save(context, root, &tree, found).map_err(Look::of)?;
            if let Some(first) = found.first() {
                if let Some(id) = saved.qualified(*first) {
                    out.insert("ref".into(), json!(id));
                }
                out.insert("role".into(), json!(crate::tree::name::shown_role(&tree.node(*first).facts)));
            }
            out.insert("snapshot_id".into(), json!(saved.snapshot_id));
            out.insert("elapsed_ms".into(), json!(clock.elapsed_ms()));
            if count.is_some() {
                out.insert("count".into(), json!(found.len()));
            }
            Ok(Value::Object(out))
        },
    )
}

fn menu(platform: &dyn Platform, args: &Wait, open: bool, clock: &Clock) -> Answer {
    clock.until(
        SCENE_POLL,
        if open { "menu" } else { "menu_closed" },
        |e| e,
        || {
            let deadline = clock.deadline().within_ms(LOOK_MS);
            let (app, _) = locate::window(platform, scope(args), deadline).map_err(Look::of)?;
            let surfaces = platform.surfaces(&app, deadline).map_err(Look::of)?;
            let is_open = surfaces.iter().any(|s| s.kind == Surface::Menu);
            if is_open == open {
                Ok(json!({"found": true, "elapsed_ms": clock.elapsed_ms()}))
            } else {
                Err(Look::NotYet)
            }
        },
    )
}
