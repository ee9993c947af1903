//! The focus while text is typed: it was proven before the first key, and may leave in mid-text. Fields of codes hand
//! it on, applications open dialogs. What is left of the text must not go there.

use super::Terms;
use super::ready::{ATTEMPT_MS, resolve, worth_another_look};
use crate::deadline::Deadline;
use crate::error::{Code, Error, Result};
use crate::evidence::Evidence;
use crate::platform::{Live, Presence, ProbeRequest, ReadPlan, Window};
use crate::refs::entry::{Entry, RefMap};
use crate::refs::resolve::Purpose;
use crate::tree::name::stable_name;
use crate::tree::raw::{Facts, Handle, Link, RawNode};
use crate::vocab::role::Role;
use crate::vocab::state::State;
use serde_json::{Value, json};
use std::time::Duration;

/// Between two looks at a focus that seems to have left, in milliseconds: one that is only passing by is none.
const AGAIN_MS: u64 = 30;
/// For how long a focus that can't be read is asked for again, in milliseconds.
const UNREAD_MS: u64 = 1_500;
/// How long it is looked for where the focus has gone, in milliseconds.
const SEARCH_MS: u64 = 1_000;
/// How many elements of the active window are looked at for it.
const SEARCH_NODES: usize = 5_000;

/// Watches one element's focus.
pub struct Typing<'a> {
    terms: &'a Terms<'a>,
    map: &'a RefMap,
    entry: &'a Entry,
    target: Handle,
    text: &'a str,
    /// Characters that the field showed before.
    before: Option<usize>,
}

impl<'a> Typing<'a> {
    /// Of an element that has the focus.
    pub fn begin(terms: &'a Terms<'a>, map: &'a RefMap, entry: &'a Entry, live: &Live, text: &'a str) -> Self {
        Self { terms, map, entry, target: live.handle.clone(), text, before: shown(&live.facts) }
    }

    /// Whether the element still has the focus, after so many events of the text.
    ///
    /// # Errors
    /// `ACTION_FAILED` / `focus_moved` where it is elsewhere, `focus_unread` where it can't be read.
    pub fn still(&self, events: usize) -> Result<()> {
        // Twice: Qt tells that it has taken a key before it has come to it, and answers a question in between.
        if (0..2).all(|_| self.facts().as_ref().is_some_and(focused)) {
            return Ok(());
        }
        let patience = Deadline::after_ms(UNREAD_MS);
        let mut elsewhere = 0;
        loop {
            std::thread::sleep(Duration::from_millis(AGAIN_MS));
            match resolve(self.terms, self.map, self.entry, Purpose::Write, Deadline::after_ms(ATTEMPT_MS)) {
                Ok(resolved) if focused(&resolved.live.facts) => return Ok(()),
                Ok(resolved) if resolved.live.facts.states.settled() => {
                    elsewhere += 1;
                    if elsewhere == 2 {
                        return self.left(events);
                    }
                }
                Ok(_) => {}
                Err(error) if worth_another_look(&error) => {}
                // It is gone, or can't be told from another any more.
                Err(_) => return self.left(events),
            }
            if patience.passed() {
                let error = Error::before(Code::ActionFailed, "whether the element still has the focus can't be read");
                return Err(error.kind("focus_unread"));
            }
        }
    }

    fn left(&self, events: usize) -> Result<()> {
        let now = self.whereabouts();
        if let Some(Whereabouts::Element { facts, .. }) = &now
            && self.goes_on_in(facts, events)
        {
            return Ok(());
        }
        Err(Error::before(Code::ActionFailed, "the focus left the element while its text was typed")
            .kind("focus_moved")
            .detail("focus", now.map_or(Value::Null, |w| w.json())))
    }

    /// A document whose paragraphs are elements of their own goes on in the next one after a line's end.
    fn goes_on_in(&self, other: &Facts, events: usize) -> bool {
        self.entry.role == Role::Paragraph
            && other.role.known() == Some(&Role::Paragraph)
            && self.text.chars().take(events / 2).any(|c| matches!(c, '\n' | '\r'))
    }

    /// What a caller needs to mend a text that stopped, or was not seen whole: what was sent, what the field shows, and
    /// for a stop by the window guard where the focus is now.
    pub fn tell(&self, mut error: Error, events: usize) -> Error {
        error = error.detail("characters_sent", events / 2).detail("characters_planned", self.text.chars().count());
        if let Some(before) = self.before {
            error = error.detail("characters_before", before);
        }
        if let Some(now) = self.facts().as_ref().and_then(shown) {
            error = error.detail("characters_shown", now);
        }
        if error.details().get("focus").is_none()
            && let Some(now) = self.whereabouts()
        {
            error = error.detail("focus", now.json());
        }
        error
    }

    fn facts(&self) -> Option<Facts> {
        let request = ProbeRequest {
            process: &self.map.process,
            target: &self.target,
            label_sources: &[],
            page_signs: None,
            role: self.entry.role,
            edges: &[],
            witnesses: &[],
            cells: &[],
            bounds: false,
            plan: self.entry.plan,
        };
        match self.terms.platform.probe(&request, Deadline::after_ms(ATTEMPT_MS)).element {
            Presence::Live(facts) => Some(*facts),
            Presence::Dead(_) | Presence::Unknown(_) => None,
        }
    }

    /// What has the focus now.
    fn whereabouts(&self) -> Option<Whereabouts> {
        let platform = self.terms.platform;
        let window = platform.active_window(Deadline::after_ms(SEARCH_MS)).ok().flatten();
        // Where the window system doesn't say, the focus is looked for in the element's own window.
        let (root, above, process) = match &window {
            Some(window) => (window.root.clone()?, window.above.clone(), window.process.clone()),
            None => {
                let row = self.root_row()?;
                (row.handle.clone(), Vec::new(), self.map.process.clone())
            }
        };
        let plan = ReadPlan { max_nodes: SEARCH_NODES, ..ReadPlan::contract(Deadline::after_ms(SEARCH_MS)) };
        let tree = platform.read_tree(&root, &above, &process, &plan).ok();
        // The deepest: toolkits say it of what holds the focused element as well.
        let found = tree.and_then(|t| t.nodes.into_iter().skip(1).rfind(|n| focused(&n.facts)));
        match found {
            Some(RawNode { facts, .. }) => Some(Whereabouts::Element { facts: Box::new(facts), window }),
            None => window.map(Whereabouts::Window),
        }
    }

    /// The outermost element that is no application.
    fn root_row(&self) -> Option<&Link> {
        let mut at = self.entry.link;
        let mut below = None;
        loop {
            let row = self.map.links.get(at as usize)?;
            let Some(parent) = row.parent else { return below.or(Some(&row.link)) };
            below = Some(&row.link);
            at = parent;
        }
    }
}

/// Where the focus is.
enum Whereabouts {
    Element {
        facts: Box<Facts>,
        window: Option<Window>,
    },
    /// Nothing in it says that it has the focus.
    Window(Window),
}

impl Whereabouts {
    fn json(&self) -> Value {
        let (mut out, window) = match self {
            Whereabouts::Element { facts, window } => {
                let mut out = json!({});
                if let Evidence::Known(role) = &facts.role {
                    out["role"] = json!(role);
                }
                // A field whose value is hidden says nothing of itself but what it is.
                if let (Evidence::Known(name), false) = (stable_name(facts), facts.secure) {
                    out["name"] = json!(name);
                }
                (out, window.as_ref())
            }
            Whereabouts::Window(window) => (json!({}), Some(window)),
        };
        if let Some(window) = window {
            out["window"] = json!({"id": window.id, "title": window.title, "app": window.app_name});
        }
        out
    }
}

fn focused(facts: &Facts) -> bool {
    facts.states.known().is_some_and(|s| s.has(State::Focused))
}

/// How many characters a field shows; a secure field's number is its own affair.
fn shown(facts: &Facts) -> Option<usize> {
    if facts.secure {
        return None;
    }
    match &facts.value {
        Evidence::Known(value) => Some(value.chars().count()),
        Evidence::Absent => Some(0),
        Evidence::Unknown(_) => None,
    }
}
