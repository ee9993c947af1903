//! The one JSON object that every command prints (spec 3).

use crate::error::Error;
use serde_json::{Map, Value, json};

/// Version of the envelope.
pub const VERSION: &str = "2.6";

/// What a command answered.
pub type Answer = Result<Value, Error>;

/// The envelope of an answer.
pub fn envelope(command: &str, answer: &Answer) -> Value {
    let mut out = Map::new();
    out.insert("version".into(), json!(VERSION));
    out.insert("ok".into(), json!(answer.is_ok()));
    out.insert("command".into(), json!(command));
    match answer {
        Ok(data) => out.insert("data".into(), data.clone()),
        Err(error) => out.insert("error".into(), error.to_json()),
    };
    Value::Object(out)
}
