//! Lists: applications, windows, surfaces. One silent application never holds up the others (decisions D4).

use super::locate::{UNTOLD, untold};
use super::target::{display_late, find_app, known_as, pick_app};
use crate::command::Context;
use crate::command::observe::{ListSurfaces, READ_TIMEOUT_MS};
use crate::command::windows::{ListApps, ListWindows};
use crate::deadline::Deadline;
use crate::envelope::Answer;
use crate::evidence::Evidence;
use crate::platform::apps::surface_json;
use crate::platform::{App, Responsive, Window};
use crate::vocab::surface::Surface;
use serde_json::{Map, Value, json};

/// `list-apps`.
pub fn apps(context: &Context, args: &ListApps) -> Answer {
    let platform = context.platform()?;
    let all = platform.apps(Deadline::after_ms(READ_TIMEOUT_MS))?;
    let wanted = args.app.as_ref().map(|text| text.trim().to_lowercase());
    let shown = |app: &&App| {
        wanted.as_ref().is_none_or(|text| {
            std::iter::once(&app.name).chain(&app.names).any(|name| name.to_lowercase().contains(text.as_str()))
        })
    };
    let rows: Vec<Value> = all.iter().filter(shown).map(app_json).collect();
    // All silent ones, whatever the filter: their real names could not be asked.
    let silent: Vec<Value> = all
        .iter()
        .filter(|app| app.responsive == Responsive::No)
        .map(|app| json!({"name": app.name, "pid": app.process.pid}))
        .collect();
    let mut out = Map::new();
    out.insert("apps".into(), Value::Array(rows));
    if !silent.is_empty() {
        out.insert("unresponsive".into(), Value::Array(silent));
    }
    if !platform.display_answered() {
        // Applications that only the window system knows are missing.
        out.insert("complete".into(), json!(false));
    }
    Ok(Value::Object(out))
}

/// `list-windows`.
pub fn windows(context: &Context, args: &ListWindows) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(READ_TIMEOUT_MS);
    let mut apps = platform.apps(deadline)?;
    if let Some(name) = &args.app {
        let name = &*known_as(platform, name, &apps);
        // Two processes of one name are two rows here, not an ambiguity: a list chooses nothing.
        let named: Vec<App> = apps.iter().filter(|app| super::target::matches(name, app)).cloned().collect();
        apps = match named.is_empty() {
            true if !platform.display_answered() => return Err(display_late()),
            true => pick_app(name, &apps)?,
            false => named,
        };
    }
    let rows = platform.windows(&apps, deadline)?;
    // A list without what only the window system knows would say that it isn't there.
    if !platform.display_answered() {
        return Err(display_late());
    }
    Ok(Value::Array(rows.iter().map(window_json).collect()))
}

/// `list-surfaces`.
pub fn surfaces(context: &Context, args: &ListSurfaces) -> Answer {
    let platform = context.platform()?;
    let deadline = Deadline::after_ms(READ_TIMEOUT_MS);
    let apps = find_app(platform, args.app.as_deref(), deadline)?;
    let mut open = Vec::new();
    for app in &apps {
        open.extend(platform.surfaces(app, deadline)?);
    }
    let rows: Vec<Value> = open.iter().map(surface_json).collect();
    let mut out = json!({"pid": apps[0].process.pid, "surfaces": rows});
    let kinds: Vec<Surface> = open.iter().map(|s| s.kind).collect();
    let popups = untold(platform, &apps[0].process, &kinds, deadline);
    if let Evidence::Unknown(_) = popups {
        out["popups_unread"] = json!(true);
    }
    let popups = popups.into_known().unwrap_or_default();
    if !popups.is_empty() {
        out["popups"] = json!(popups);
        out["suggestion"] = json!(UNTOLD);
    }
    Ok(out)
}

/// An application as answers print it.
pub fn app_json(app: &App) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), json!(app.name));
    out.insert("pid".into(), json!(app.process.pid));
    if let Some(id) = &app.bundle_id {
        out.insert("bundle_id".into(), json!(id));
    }
    out.insert("process_instance".into(), json!(app.process.instance));
    if let Some(presentation) = app.presentation {
        out.insert("presentation".into(), json!(presentation));
    }
    if app.responsive == Responsive::No {
        out.insert("responsive".into(), json!(false));
    }
    Value::Object(out)
}

/// A window as answers print it. What could not be read is left out, never invented.
pub fn window_json(window: &Window) -> Value {
    let mut out = Map::new();
    out.insert("id".into(), json!(window.id));
    out.insert("title".into(), json!(window.title));
    out.insert("app_name".into(), json!(window.app_name));
    out.insert("pid".into(), json!(window.process.pid));
    out.insert("process_instance".into(), json!(window.process.instance));
    if let Evidence::Known(bounds) = &window.bounds {
        out.insert("bounds".into(), json!(bounds));
    }
    // The contract always has this one; only a positive answer counts.
    out.insert("is_focused".into(), json!(window.focused.says_yes()));
    for (key, value) in [
        ("visible", &window.visible),
        ("minimized", &window.minimized),
        ("maximized", &window.maximized),
        ("fullscreen", &window.fullscreen),
        ("modal", &window.modal),
    ] {
        if let Some(known) = value.known() {
            out.insert(key.into(), json!(known));
        }
    }
    if window.root.is_none() {
        out.insert("accessible".into(), json!(false));
        if let Some(reason) = &window.no_tree_reason {
            out.insert("reason".into(), json!(reason));
        }
    }
    if window.responsive == Responsive::No {
        out.insert("responsive".into(), json!(false));
    }
    Value::Object(out)
}
