//! The page of a command, as HTML.

use super::view::View;
use crate::capture::output::base64;
use crate::command::Command;
use crate::command::act::RefAction;
use crate::envelope::Answer;
use crate::html::{self, safe};
use crate::session::now_ms;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

const PAGE: &str = include_str!("debug.html");
const STYLE: &str = include_str!("debug.css");
const SCRIPT: &str = include_str!("debug.js");

/// Writes the page.
pub(super) fn write(
    out: &mut impl Write,
    command: &Command,
    answer: &Answer,
    views: &[View],
    warnings: &[String],
) -> io::Result<()> {
    html::write(out, PAGE, STYLE, SCRIPT, |out| {
        let about = json!({
            "command": command.name(),
            "made_at": now_ms(),
            "version": env!("CARGO_PKG_VERSION"),
            "warnings": warnings,
            "click": click(command, answer),
        });
        write!(out, "{{\"about\":{},\n\"views\":[", safe(&about.to_string()))?;
        for (at, view) in views.iter().enumerate() {
            let mut facts = view.facts.clone();
            facts.insert("label".into(), json!(view.label));
            let text = Value::Object(facts).to_string();
            // The object stays open for the picture, which needs no escaping.
            let open = text.strip_suffix('}').unwrap_or(&text);
            write!(out, "{}\n{}", if at == 0 { "" } else { "," }, safe(open))?;
            if let Some(png) = &view.png {
                write!(out, ",\n\"png\":\"data:image/png;base64,{}\"", base64(png))?;
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"]}")
    })
}

/// What became of a click.
fn click(command: &Command, answer: &Answer) -> Value {
    let Command::Click(args) = command else { return Value::Null };
    let mut out = Map::new();
    out.insert("ref".into(), json!(args.ref_id().0));
    match answer {
        Ok(data) => {
            // After a wait the answer is the window's, with the click's inside.
            let own = data.get("after_action").unwrap_or(data);
            for key in ["steps", "post_state", "surfaces", "details", "disposition"] {
                if let Some(value) = own.get(key) {
                    out.insert(key.into(), value.clone());
                }
            }
        }
        Err(error) => {
            out.insert("error".into(), error.to_json());
            out.insert("disposition".into(), error.delivery().disposition());
        }
    }
    Value::Object(out)
}
