//! `wait`: looks again until something is true. Exactly one mode; a timeout says what was waited for.

pub mod ear;
mod element;
pub mod event;
pub(crate) mod place;
pub mod selector;
mod text;
mod view;

use crate::command::Context;
use crate::command::wait::{Mode, Wait};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::observe::list::window_json;
use crate::observe::locate::{told_of, untold};
use crate::observe::target::{find_app, matches};
use crate::platform::{Platform, Popup, Window};
use crate::vocab::surface::Surface;
use ear::{Ear, Of};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// One look at most: a silent application must not eat the whole wait unnoticed.
const LOOK_MS: u64 = 2_000;
/// One look at least: one that has begun may finish, so that the last one, or the only one of `--timeout 0`, is not cut
/// to nothing and then told as silence.
const LOOK_AT_LEAST_MS: u64 = 500;
/// Titles that a wait for a window names when its time is up, and characters of each.
const MAX_TITLES: usize = 20;
const MAX_TITLE_CHARS: usize = 120;

/// `wait`.
pub fn run(context: &Context, args: &Wait) -> Answer {
    let timeout = args.timeout();
    match args.mode()? {
        Mode::Pause(ms) => {
            std::thread::sleep(Duration::from_millis(ms));
            Ok(json!({"waited_ms": ms}))
        }
        Mode::Window(title) => {
            let platform = context.platform()?;
            let seen = RefCell::new(Vec::new());
            let describe = |error: Error| error.detail("title", title).detail("titles_seen", json!(&*seen.borrow()));
            let of = args.app.clone().map_or(Of::Desktop, Of::App);
            until_described(&mut Ear::open(context, of), timeout, "window", describe, passes, |deadline| {
                let (found, titles) = window(platform, args.app.as_deref(), title, deadline)?;
                seen.replace(titles);
                Ok(found.map(|w| json!({"found": true, "window": window_json(&w)})))
            })
        }
        Mode::Menu => menu(context, args, "menu", true),
        Mode::MenuClosed => menu(context, args, "menu-closed", false),
        Mode::Element { element, predicate, value, action } => {
            element::wait(context, timeout, element, predicate, value, action)
        }
        Mode::Text { text, count } => text::wait(context, args, text, count),
        Mode::Event(kind) => event::wait(context, args, kind),
        Mode::Notification => Err(crate::command::not_available("wait --notification")),
    }
}

/// Looks until there is an answer; adds `elapsed_ms`. Errors that may pass are waited out: an application that isn't
/// there yet, one that is silent for a while. One that was silent at the end ends the wait as such.
pub fn until(
    timeout_ms: u64,
    predicate: &str,
    details: &[(&str, Value)],
    look: impl FnMut(Deadline) -> Result<Option<Value>>,
) -> Answer {
    let describe = |error: Error| details.iter().fold(error, |e, (key, value)| e.detail(key, value.clone()));
    until_described(&mut Ear::deaf(), timeout_ms, predicate, describe, passes, look)
}

/// The same, with an ear for changes, and the caller's own view of what the timeout says and of which refusals may pass.
/// The ear was opened before the first look, and the last look begins when the time is over.
pub(crate) fn until_described(
    ear: &mut Ear<'_>,
    timeout_ms: u64,
    predicate: &str,
    describe: impl Fn(Error) -> Error,
    may_pass: impl Fn(&Error) -> bool,
    mut look: impl FnMut(Deadline) -> Result<Option<Value>>,
) -> Answer {
    let begun = Instant::now();
    let deadline = Deadline::after_ms(timeout_ms);
    loop {
        let over = deadline.passed();
        let asked = Instant::now();
        let last = match look(deadline.within_ms(LOOK_MS).max(Deadline::after_ms(LOOK_AT_LEAST_MS))) {
            Ok(Some(mut answer)) => {
                if let Some(map) = answer.as_object_mut() {
                    map.insert("elapsed_ms".into(), json!(begun.elapsed().as_millis() as u64));
                }
                return Ok(answer);
            }
            Ok(None) => None,
            Err(e) if may_pass(&e) => Some(e),
            Err(e) => return Err(e),
        };
        if over || timeout_ms == 0 {
            return Err(match last {
                Some(e) if e.code() == Code::AppUnresponsive => e,
                last => describe(timed_out(timeout_ms, predicate, last.as_ref())),
            });
        }
        ear.pause(deadline, asked.elapsed());
    }
}

/// Whether looking again may help.
fn passes(error: &Error) -> bool {
    if error.kind_name() == Some("process_changed") {
        return false;
    }
    matches!(error.code(), Code::AppNotFound | Code::WindowNotFound | Code::AppUnresponsive | Code::Timeout)
        || error.kind_name() == Some("window_without_accessibility_element")
}

fn timed_out(timeout_ms: u64, predicate: &str, last: Option<&Error>) -> Error {
    let error = Error::before(Code::Timeout, format!("{} within {timeout_ms} ms", unmet(predicate)))
        .kind("wait_timeout")
        .detail("predicate", predicate)
        .detail("timeout_ms", timeout_ms);
    match last {
        Some(last) => error.detail("last_error", last.to_json()),
        None => error,
    }
}

/// What did not come true, in words.
fn unmet(predicate: &str) -> String {
    match predicate {
        "window" => "no window had this title".to_owned(),
        "text" => "the text did not appear (as often as asked)".to_owned(),
        "menu" => "no menu opened".to_owned(),
        "menu-closed" => "a menu was still open".to_owned(),
        "exists" => "the element could not be seen".to_owned(),
        "event" => "it did not happen".to_owned(),
        "selector" => "no element matched the selector".to_owned(),
        "selector-gone" => "an element still matched the selector, or its window could not be read".to_owned(),
        "value" => "the element's value did not become the one asked for".to_owned(),
        state => format!("the element did not become {state}"),
    }
}

/// The window whose title is, or else contains, the text; and the titles there are.
fn window(
    platform: &dyn Platform,
    app: Option<&str>,
    title: &str,
    deadline: Deadline,
) -> Result<(Option<Window>, Vec<String>)> {
    let mut apps = platform.apps(deadline)?;
    if let Some(name) = app {
        apps.retain(|a| matches(name, a));
    }
    let windows = platform.windows(&apps, deadline)?;
    let wanted = title.to_lowercase();
    let equal = windows.iter().find(|w| w.title.to_lowercase() == wanted);
    let found = equal.or_else(|| windows.iter().find(|w| w.title.to_lowercase().contains(&wanted))).cloned();
    let titles = windows.iter().filter(|w| !w.title.is_empty()).take(MAX_TITLES);
    Ok((found, titles.map(|w| w.title.chars().take(MAX_TITLE_CHARS).collect()).collect()))
}

fn menu(context: &Context, args: &Wait, predicate: &str, open: bool) -> Answer {
    let platform = context.platform()?;
    // Popups that no tree tells of, as last seen.
    let seen: RefCell<Vec<Popup>> = RefCell::default();
    let describe = |error: Error| {
        let error = args.app.iter().fold(error, |e, name| e.detail("app", name.as_str()));
        told_of(error, &seen.borrow())
    };
    let mut ear = Ear::open(context, args.app.clone().map_or(Of::Active, Of::App));
    until_described(&mut ear, args.timeout(), predicate, describe, passes, |deadline| {
        let (mut any, mut unread) = (false, false);
        seen.borrow_mut().clear();
        for app in find_app(platform, args.app.as_deref(), deadline)? {
            let kinds: Vec<Surface> = platform.surfaces(&app, deadline)?.iter().map(|s| s.kind).collect();
            any |= kinds.contains(&Surface::Menu);
            match untold(platform, &app.process, &kinds, deadline) {
                Evidence::Known(popups) => seen.borrow_mut().extend(popups),
                // What could not be looked at proves no absence.
                Evidence::Unknown(_) => unread = true,
                Evidence::Absent => {}
            }
        }
        // A menu that publishes no tree can't be read, so that it is none to wait for; but it is not closed.
        unread |= seen.borrow().iter().any(|popup| popup.menu);
        let done = if open { any } else { !any && !unread };
        Ok(done.then(|| json!({"found": true})))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_looks_until_it_is_true() {
        let mut looks = 0;
        let answer = until(5_000, "menu", &[], |_| {
            looks += 1;
            Ok((looks == 2).then(|| json!({"found": true})))
        });
        assert_eq!(answer.unwrap()["found"], true);
        assert_eq!(looks, 2);
    }

    #[test]
    fn the_only_look_of_a_wait_without_time_may_finish() {
        let answer = until(0, "menu", &[], |deadline| {
            assert!(deadline.left() >= Duration::from_millis(LOOK_AT_LEAST_MS / 2));
            Ok(Some(json!({"found": true})))
        });
        assert_eq!(answer.unwrap()["found"], true);
    }

    #[test]
    fn a_timeout_says_what_was_waited_for() {
        let e = until(0, "window", &[("title", json!("x"))], |_| Ok(None)).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::Timeout, Some("wait_timeout")));
        assert_eq!(e.details()["title"], "x");
        let e = until(0, "window", &[], |_| Err(Error::before(Code::AppNotFound, "no"))).unwrap_err();
        assert_eq!(e.details()["last_error"]["code"], "APP_NOT_FOUND");
    }

    #[test]
    fn silence_at_the_end_is_told_as_such_and_real_errors_at_once() {
        let e = until(0, "menu", &[], |_| Err(Error::before(Code::AppUnresponsive, "silent"))).unwrap_err();
        assert_eq!(e.code(), Code::AppUnresponsive);
        let e = until(60_000, "menu", &[], |_| Err(Error::before(Code::AmbiguousTarget, "two"))).unwrap_err();
        assert_eq!(e.code(), Code::AmbiguousTarget);
    }
}
