//! `close-app`: asks, then looks whether the process has ended.

use crate::command::Context;
use crate::command::windows::CloseApp;
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::observe::target::find_app;
use crate::platform::CloseRequest;
use crate::platform::apps::surface_json;
use serde_json::{Map, Value, json};

/// How long closing may take, every step included.
pub const CLOSE_TIMEOUT_MS: u64 = 10_000;
/// How long is looked for the dialog that keeps an application open.
const SURFACES_MS: u64 = 1_000;

/// `close-app`.
pub fn close(context: &Context, args: &CloseApp) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(CLOSE_TIMEOUT_MS);
    let apps = find_app(platform, Some(&args.app), deadline)?;
    let app = &apps[0];
    let closed = platform.close(app, CloseRequest { force: args.force }, deadline)?;
    let mut out = Map::new();
    out.insert("action".into(), json!("close-app"));
    out.insert(
        "target".into(),
        json!({
            "kind": "app",
            "name": app.name,
            "pid": app.process.pid,
            "process_instance": app.process.instance,
        }),
    );
    out.insert("requested".into(), json!({"force": args.force}));
    out.insert("observed".into(), json!({"closed": closed.closed}));
    if !closed.steps.is_empty() {
        let steps: Vec<Value> =
            closed.steps.iter().map(|step| json!({"label": step.label, "outcome": "attempted"})).collect();
        out.insert("steps".into(), Value::Array(steps));
    }
    if !closed.closed {
        // What keeps it open is usually a question to the user.
        let until = Deadline::after_ms(SURFACES_MS);
        let surfaces: Vec<Value> = apps
            .iter()
            .filter_map(|app| platform.surfaces(app, until).ok())
            .flatten()
            .map(|surface| surface_json(&surface))
            .collect();
        if !surfaces.is_empty() {
            out.insert("surfaces".into(), Value::Array(surfaces));
        }
    }
    out.insert("disposition".into(), closed.delivery.disposition());
    Ok(Value::Object(out))
}
