//! Answers about the program itself and the desktop as a whole.

use crate::act::lease::Lease;
use crate::command::desktop::{Desktop, DesktopOperation};
use crate::command::system::{Permissions, Status};
use crate::command::{Context, not_available};
use crate::envelope::Answer;
use crate::error::{Code, Error, Result};
use crate::policy::POLICY_FILE;
use crate::refs::entry::RefMap;
use crate::refs::store::Store;
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
pub fn status(context: &Context, args: &Status) -> Answer {
    let platform = match context.platform() {
        // Letting go is no risk, whatever the rules may be; nothing else is told then.
        Err(error) if args.release && error.kind_name() == Some(POLICY_FILE) => {
            let let_go = crate::input::held::status(context, true)?;
            return Err(error.detail("released", let_go["released"].clone()));
        }
        platform => platform?,
    };
    let latest = latest(context)?;
    let mut out = Map::new();
    out.insert("platform".into(), json!(platform.name()));
    out.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    out.insert("permissions".into(), platform.permissions());
    out.insert("snapshot_id".into(), json!(latest.as_ref().map(|(id, _)| id)));
    out.insert("ref_count".into(), json!(latest.as_ref().map(|(_, refs)| refs)));
    out.insert("session_id".into(), json!(context.session()));
    out.insert("tracing".into(), json!(context.trace().on()));
    if let Some(manifest) = context.manifest() {
        out.insert("artifacts".into(), json!(manifest.artifacts));
    }
    out.insert("supported_surfaces".into(), json!(platform.supported_surfaces()));
    out.insert("state_root".into(), json!(context.state_root().to_string_lossy()));
    out.insert("desktop".into(), json!(platform.desktop_id()?));
    if let Some(rules) = context.rules()? {
        out.insert("allowed_apps".into(), json!(rules.names()));
    }
    // The id that `--desktop` takes; `desktop` is the bus's own.
    if let Some(id) = context.desktop().filter(|id| *id != "auto") {
        out.insert("private_desktop".into(), json!(id));
    }
    match platform.status_details() {
        Value::Null => {}
        Value::Object(more) => {
            // What the platform could not find out is left out, as everywhere.
            for (key, value) in more.into_iter().filter(|(_, value)| !value.is_null()) {
                out.entry(key).or_insert(value);
            }
        }
        other => {
            out.insert("details".into(), other);
        }
    }
    if let Value::Object(input) = crate::input::held::status(context, args.release)? {
        out.extend(input);
    }
    Ok(Value::Object(out))
}

/// The latest snapshot of the namespace and how many refs it has, where there is one that can be read.
fn latest(context: &Context) -> Result<Option<(String, usize)>> {
    let store = Store::open(context.state_root(), context.session())?;
    let Some(id) = store.latest()? else { return Ok(None) };
    match store.load::<RefMap>(&id) {
        Ok(map) => Ok(Some((id, map.entries.len()))),
        // Pruned or torn meanwhile: there is no snapshot that a ref could be looked up in.
        Err(e) if e.code() == Code::SnapshotNotFound => Ok(None),
        Err(e) => Err(e),
    }
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
        DesktopOperation::Start => {
            Lease::sweep();
            desktops.start(args.screen()?)
        }
        DesktopOperation::List => desktops.list(),
        DesktopOperation::Stop => desktops.stop(args.args.first().map_or("", String::as_str)),
        DesktopOperation::Run => {
            Err(Error::invalid("desktop run passes its command's output through: it works on the command line only")
                .suggest("Use desktop start, then --desktop ID."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Globals, Host};
    use crate::platform::Platform;
    use crate::platform::fake::Fake;
    use crate::refs::entry::{FORMAT, Source};
    use crate::tree::fixture::node;
    use crate::vocab::role::Role;
    use crate::vocab::surface::Surface;
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    struct One;

    impl Host for One {
        fn open(&self, _: Option<&str>) -> Result<Box<dyn Platform>> {
            Ok(Box::new(Fake::new(node(Role::Window).build())))
        }
    }

    fn context(home: &std::path::Path, session: Option<&str>) -> Context {
        let home = OsString::from(home);
        let env = Box::new(move |name: &str| (name == "AGENT_DESKTOP_HOME").then(|| home.clone()));
        Context::new(Globals { session: session.map(str::to_owned), ..Globals::default() }, env, Box::new(One)).unwrap()
    }

    #[test]
    fn status_names_the_latest_snapshot_of_the_namespace() {
        let home = tempfile::tempdir().unwrap();
        let shown = |session| {
            let answer = status(&context(home.path(), session), &Status::default()).unwrap();
            (answer["snapshot_id"].clone(), answer["ref_count"].clone())
        };
        assert_eq!(shown(None), (Value::Null, Value::Null));
        let map = RefMap {
            format: FORMAT,
            snapshot_id: "slast".into(),
            desktop: "fake-desktop".into(),
            process: Fake::process(),
            source: Source {
                app: "app".into(),
                window_id: "w-1".into(),
                window_title: String::new(),
                surface: Surface::Window,
                others: Vec::new(),
            },
            next: 1,
            links: Vec::new(),
            entries: BTreeMap::new(),
        };
        Store::open(home.path(), None).unwrap().save("slast", &map).unwrap();
        assert_eq!(shown(None), (json!("slast"), json!(0)));
        assert_eq!(shown(Some("other")), (Value::Null, Value::Null));
        std::fs::write(home.path().join("snapshots/slast/refmap.json"), "{").unwrap();
        assert_eq!(shown(None), (Value::Null, Value::Null));
    }
}
