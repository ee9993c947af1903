//! `wait --text`: a text somewhere in the window. An incomplete read proves no absence and no count.

use super::ear::{Ear, Of};
use super::{passes, until_described};
use crate::command::Context;
use crate::command::wait::Wait;
use crate::envelope::Answer;
use crate::error::{Code, Error};
use crate::observe::target::Scope;
use crate::observe::{find, locate};
use crate::platform::ReadPlan;
use crate::tree::name::shown_role;
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};
use std::cell::RefCell;

/// Looks until the text is there, so many times where a count is given.
pub fn wait(context: &Context, args: &Wait, text: &str, count: Option<usize>) -> Answer {
    let platform = context.platform()?;
    let scope = Scope { app: args.app.as_deref(), window_id: None };
    // The text itself may be private: only its length is reported.
    let mut details = vec![("text_chars", json!(text.chars().count()))];
    details.extend(count.map(|n| ("expected_count", json!(n))));
    // Where it was looked for: the caller may have meant another window.
    let looked = RefCell::new(None);
    let describe = |error: Error| {
        let error = details.iter().fold(error, |e, (key, value)| e.detail(key, value.clone()));
        match &*looked.borrow() {
            Some(window) => error.detail("window", Value::clone(window)),
            None => error,
        }
    };
    let mut ear = Ear::open(context, args.app.clone().map_or(Of::Active, Of::App));
    until_described(&mut ear, args.timeout(), "text", describe, passes, |deadline| {
        let root = locate::root(platform, scope, Surface::Window, deadline)?;
        looked.replace(Some(json!({"id": root.source.window_id, "title": root.source.window_title})));
        let tree = platform.read_tree(&root.handle, &root.above, &root.process, &ReadPlan::contract(deadline))?;
        let search = find::with_text(&tree, text)?;
        let found = &search.matches;
        let enough = match count {
            Some(n) => found.len() == n && search.complete(),
            None => !found.is_empty(),
        };
        if !enough {
            return if search.complete() {
                Ok(None)
            } else {
                Err(Error::before(Code::Timeout, "the window could not be read completely").kind("locator_incomplete"))
            };
        }
        let saved = find::save(context, root, &tree, found)?;
        let mut out = Map::new();
        out.insert("found".into(), json!(true));
        out.insert("text".into(), json!(text));
        if let Some(first) = found.first() {
            if let Some(id) = saved.qualified(*first) {
                out.insert("ref".into(), json!(id));
            }
            out.insert("role".into(), json!(shown_role(&tree.node(*first).facts)));
        }
        out.insert("snapshot_id".into(), json!(saved.snapshot_id));
        if count.is_some() {
            out.insert("count".into(), json!(found.len()));
        }
        Ok(Some(Value::Object(out)))
    })
}
