//! Answers about the program itself and the desktop as a whole.

use crate::command::desktop::{Desktop, DesktopOperation};
use crate::command::system::Permissions;
use crate::command::{Context, not_available};
use crate::envelope::Answer;
use crate::error::Error;
use serde_json::{Map, Value, json};

/// `version`.
pub fn version() -> Answer {
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "target": env!("AGENT_DESKTOP_TARGET"),
        "os": std::env::consts::OS,
    }))
}

/// `status`.
pub fn status(context: &Context) -> Answer {
    let platform = context.platform()?;
    let (snapshot_id, ref_count) = latest(context);
    let mut out = Map::new();
    out.insert("platform".into(), json!(platform.name()));
    out.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    out.insert("permissions".into(), platform.permissions());
    out.insert("snapshot_id".into(), json!(snapshot_id));
    out.insert("ref_count".into(), json!(ref_count));
    out.insert("session_id".into(), json!(context.session()));
    out.insert("tracing".into(), json!(false));
    out.insert("supported_surfaces".into(), json!(platform.supported_surfaces()));
    out.insert("state_root".into(), json!(context.state_root().to_string_lossy()));
    out.insert("desktop".into(), json!(platform.desktop_id()?));
    match platform.status_details() {
        Value::Null => {}
        Value::Object(more) => {
            for (key, value) in more {
                out.entry(key).or_insert(value);
            }
        }
        other => {
            out.insert("details".into(), other);
        }
    }
    Ok(Value::Object(out))
}

/// The latest snapshot of the namespace and how many refs it has, where there is one.
fn latest(context: &Context) -> (Option<String>, Option<usize>) {
    let _ = context;
    (None, None)
}

/// `permissions`.
pub fn permissions(context: &Context, args: &Permissions) -> Answer {
    let mut out = context.platform()?.permissions();
    if args.guide
        && let Some(map) = out.as_object_mut()
    {
        map.entry("guide").or_insert(json!("not_needed"));
    }
    Ok(out)
}

/// `desktop`, but for `run`, which has no answer of its own.
pub fn desktop(context: &Context, args: &Desktop) -> Answer {
    let desktops = context.host().desktops().ok_or_else(|| not_available("desktop"))?;
    match args.operation {
        DesktopOperation::Start => desktops.start(args.screen()?),
        DesktopOperation::List => desktops.list(),
        DesktopOperation::Stop => desktops.stop(args.args.first().map_or("", String::as_str)),
        DesktopOperation::Run => {
            Err(Error::invalid("desktop run passes its command's output through: it works on the command line only")
                .suggest("Use desktop start, then --desktop ID."))
        }
    }
}
