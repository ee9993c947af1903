//! What a trace tells about a command: its arguments and its answer, without the texts in them.

use super::redact::{redacted, sensitive};
use crate::command::{Command, Context, Group};
use crate::envelope::Answer;
use crate::refs::id::RefId;
use crate::vocab::key::{Combo, Key, Modifier};
use crate::vocab::role::Role;
use serde_json::{Map, Value, json};

/// Arguments whose text is a token of ours, an id, or the name of an application. All other text of a caller may be
/// anything, and is not recorded.
const PLAIN: &[&str] = &[
    "app",
    "window_id",
    "expect_window",
    "surface",
    "operation",
    "direction",
    "button",
    "format",
    "state",
    "property",
    "predicate",
    "xy",
    "from_xy",
    "to_xy",
    "rect",
    "since",
    "cell",
    "modifiers",
    "wait_for_scope",
];
/// Arguments that are refs. What is given for one by mistake is often a text that was to be typed.
const REFS: &[&str] = &["ref_id", "root", "from", "to", "element"];
/// Longer texts are no tokens.
const MAX_PLAIN: usize = 128;

/// The fields of `command.start`.
pub(super) fn started(command: &Command, context: &Context) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("command".into(), json!(command.name()));
    out.insert("does".into(), json!(does(command)));
    out.insert("args".into(), arguments(command.args_json()));
    // What for is a text of the caller.
    let globals = context.globals();
    if globals.waits() {
        out.insert("waits".into(), json!(if globals.wait_for_gone.is_some() { "gone" } else { "for" }));
    }
    if context.globals().headed {
        out.insert("headed".into(), json!(true));
    }
    for (key, value) in [("agent", context.agent()), ("desktop", context.desktop())] {
        if let Some(value) = value {
            out.insert(key.into(), json!(value));
        }
    }
    out
}

/// What kind of command it is: most actions say what became of them in their disposition, but not all.
fn does(command: &Command) -> &'static str {
    let spec = command.spec();
    match spec.group {
        _ if spec.mutates => "action",
        Group::Wait => "wait",
        _ => "read",
    }
}

/// The fields of `command.end` that come from the answer: codes and ids, never messages, which may quote names.
pub(super) fn ended(answer: &Answer) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("ok".into(), json!(answer.is_ok()));
    match answer {
        Ok(data) => {
            // After a wait the action's own answer stands inside that of the wait.
            let action = data.get("after_action").unwrap_or(data);
            for key in ["snapshot_id", "ref_count", "complete", "count", "matched_count", "gone"] {
                if let Some(value) = data.get(key).filter(|v| !v.is_null() && (!v.is_string() || key == "snapshot_id"))
                {
                    out.insert(key.into(), value.clone());
                }
            }
            // A pid here would be taken for that of the event.
            for (key, to) in [("disposition", "disposition"), ("pid", "app_pid"), ("attached", "attached")] {
                if let Some(value) = action.get(key).filter(|v| !v.is_null() && !v.is_string()) {
                    out.insert(to.into(), value.clone());
                }
            }
            for key in ["identity", "effect", "already_satisfied"] {
                if let Some(value) = action.get("details").and_then(|d| d.get(key)) {
                    out.insert(key.into(), value.clone());
                }
            }
        }
        Err(error) => {
            out.insert("code".into(), json!(error.code()));
            if let Some(kind) = error.kind_name() {
                out.insert("kind".into(), json!(kind));
            }
            out.insert("disposition".into(), error.delivery().disposition());
        }
    }
    out
}

/// Arguments as they may be recorded: without what was not given, and without free text.
fn arguments(args: Value) -> Value {
    let Value::Object(args) = args else { return json!({}) };
    let given = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    Value::Object(args.into_iter().filter(|(_, v)| given(v)).map(|(k, v)| (k.clone(), argument(&k, v))).collect())
}

fn argument(key: &str, value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(|item| argument(key, item)).collect()),
        Value::String(text) if plain(key, &text) => Value::String(text),
        Value::Bool(_) | Value::Number(_) if !sensitive(key) => value,
        _ => redacted(),
    }
}

fn plain(key: &str, text: &str) -> bool {
    if REFS.contains(&key) {
        return RefId::parse(text).is_ok();
    }
    if key == "role" {
        return Role::from_query(text).is_some();
    }
    if key == "combo" {
        return Combo::parse(text).is_ok_and(|combo| !types_a_character(&combo));
    }
    PLAIN.contains(&key) && text.len() <= MAX_PLAIN && !text.chars().any(char::is_control)
}

/// Whether the keys type a character: key by key, somebody may type a password. Names such as `period` and `space` do.
fn types_a_character(combo: &Combo) -> bool {
    let shifted = combo.modifiers.iter().all(|modifier| *modifier == Modifier::Shift);
    shifted && matches!(combo.key, Some(Key::Character(_) | Key::Space))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, Delivery, Error};

    fn recorded(name: &str, args: Value) -> Value {
        arguments(Command::from_json(name, args).unwrap().args_json())
    }

    #[test]
    fn tokens_stay_and_texts_go() {
        let all =
            recorded("find", json!({"app": "gedit", "role": "button", "name": "s3cret", "exact": true, "limit": 3}));
        assert_eq!(
            all,
            json!({"app": "gedit", "role": "button", "name": {"redacted": true}, "exact": true, "limit": 3})
        );
        let all = recorded("type", json!({"ref_id": "@s0001:e1", "text": "s3cret"}));
        assert_eq!(all, json!({"ref_id": "@s0001:e1", "text": {"redacted": true}}));
        // Given the wrong way round.
        assert!(!recorded("type", json!({"ref_id": "s3cret", "text": "@s0001:e1"})).to_string().contains("s3cret"));
        for (name, args) in [
            ("launch", json!({"app": "x", "arg": ["--key=s3cret"], "env": ["K=s3cret"], "cwd": "/s3cret"})),
            ("screenshot", json!({"path": "/home/s3cret.png"})),
            ("wait", json!({"window": "s3cret"})),
            ("wait", json!({"text": "s3cret"})),
            ("clipboard-set", json!({"file_url": ["file:///s3cret"]})),
            ("batch", json!({"json": "[{\"command\":\"type\",\"args\":{\"text\":\"s3cret\"}}]"})),
            ("notification-action", json!({"index": 1, "action": "s3cret", "expected_title": "s3cret"})),
        ] {
            assert!(!recorded(name, args).to_string().contains("s3cret"), "{name}");
        }
    }

    #[test]
    fn keys_that_type_are_not_recorded() {
        for (combo, shown) in [("ctrl+s", true), ("enter", true), ("shift+tab", true), ("a", false), ("shift+a", false)]
        {
            assert_eq!(recorded("press", json!({"combo": combo}))["combo"] == json!(combo), shown, "{combo}");
        }
    }

    #[test]
    fn answers_leave_codes_and_dispositions() {
        let error =
            Error::new(Code::StaleRef, Delivery::NotDelivered, "the button 's3cret' is gone").kind("label_changed");
        let end = ended(&Err(error));
        assert_eq!(end["code"], "STALE_REF");
        assert_eq!(end["kind"], "label_changed");
        assert_eq!(end["disposition"]["retry"], "safe");
        let data =
            json!({"snapshot_id": "s1234", "tree": {"name": "s3cret"}, "pid": 7, "details": {"identity": "retained"}});
        let end = ended(&Ok(data));
        assert_eq!(
            (&end["snapshot_id"], &end["app_pid"], &end["identity"]),
            (&json!("s1234"), &json!(7), &json!("retained"))
        );
        assert!(!json!(end).to_string().contains("s3cret"));
    }

    #[test]
    fn what_an_action_became_is_told_whatever_was_waited_for() {
        let action = json!({"disposition": {"delivery": "delivered_verified", "retry": "unsafe"},
                            "details": {"identity": "retained", "effect": "gone"}, "snapshot_id": "sold"});
        let data = json!({"snapshot_id": "snew", "matched_count": 2, "matched": [{"name": "s3cret"}],
                          "matched_selector": "button:s3cret", "after_action": action});
        let end = ended(&Ok(data));
        assert_eq!(end["disposition"]["delivery"], "delivered_verified");
        assert_eq!((&end["effect"], &end["snapshot_id"]), (&json!("gone"), &json!("snew")));
        assert_eq!(end["matched_count"], 2);
        assert!(!json!(end).to_string().contains("s3cret"));
    }

    #[test]
    fn actions_waits_and_reads() {
        let of = |name: &str, args: Value| does(&Command::from_json(name, args).unwrap());
        assert_eq!(of("launch", json!({"app": "x"})), "action");
        assert_eq!(of("wait", json!({"ms": 1})), "wait");
        assert_eq!((of("watch", json!({})), of("list-windows", json!({}))), ("wait", "read"));
    }
}
