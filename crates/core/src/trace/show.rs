//! `trace show`.

use super::read::{Source, merge};
use crate::command::session::Trace;
use crate::envelope::Answer;
use serde_json::{Map, Value, json};

/// Events that are shown where the caller names no limit (spec 2 §54).
const LIMIT: usize = 500;

/// The last events of all processes, in one order.
pub(super) fn show(source: &Source, args: &Trace) -> Answer {
    let prefix = args.event.as_deref().unwrap_or_default();
    let merged = merge(source, prefix, args.limit.unwrap_or(LIMIT))?;
    let mut out = Map::new();
    out.insert("session_id".into(), json!(source.session()));
    out.insert("segments".into(), json!(merged.segments));
    out.insert("total_events".into(), json!(merged.total));
    if args.event.is_some() {
        out.insert("matched_events".into(), json!(merged.matched));
    }
    out.insert("returned_events".into(), json!(merged.events.len()));
    out.insert("truncated".into(), json!((merged.events.len() as u64) < merged.matched));
    if let Some(warnings) = merged.warnings.json() {
        out.insert("warnings".into(), warnings);
    }
    out.insert("events".into(), Value::Array(merged.events));
    Ok(Value::Object(out))
}
