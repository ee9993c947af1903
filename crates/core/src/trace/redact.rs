//! What a trace must not hold: the value of every sensitive key, at any depth, is `{"redacted": true}` (spec 1 §8).

use serde_json::{Map, Value, json};

/// Words that make a key sensitive: alone, in the plural, or as a part of a longer key such as `window_title`.
pub const SENSITIVE: &[&str] = &[
    "text",
    "value",
    "expected",
    "name",
    "username",
    "description",
    "label",
    "query",
    "secret",
    "token",
    "password",
    "title",
    "url",
    "help",
    "placeholder",
];

/// Whether the key may hold what nobody else should read.
pub fn sensitive(key: &str) -> bool {
    words(key).any(|word| {
        let word = word.to_lowercase();
        SENSITIVE.iter().any(|s| word == *s || word.strip_suffix('s') == Some(s))
    })
}

/// The words of a key: apart by anything that is no letter or digit, and by a capital after a small letter.
fn words(key: &str) -> impl Iterator<Item = &str> {
    let mut starts = vec![0];
    let mut before = ' ';
    for (at, c) in key.char_indices() {
        if before.is_lowercase() && c.is_uppercase() {
            starts.push(at);
        }
        before = c;
    }
    starts.push(key.len());
    let parts: Vec<&str> = starts.windows(2).filter_map(|w| key.get(w[0]..w[1])).collect();
    parts.into_iter().flat_map(|part| part.split(|c: char| !c.is_alphanumeric()))
}

/// What stands in the place of a value.
pub fn redacted() -> Value {
    json!({"redacted": true})
}

/// The same with every sensitive value taken out. Doing it twice changes nothing.
pub fn redact(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(fields_of(fields)),
        Value::Array(items) => Value::Array(items.into_iter().map(redact).collect()),
        other => other,
    }
}

/// The same for the fields of one object.
pub fn fields_of(fields: Map<String, Value>) -> Map<String, Value> {
    fields
        .into_iter()
        .map(|(key, value)| {
            // Nothing there is nothing to hide, and tells more than a mark.
            let value = if sensitive(&key) && !value.is_null() { redacted() } else { redact(value) };
            (key, value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_of_the_contract_and_what_is_made_of_them() {
        for key in SENSITIVE {
            assert!(sensitive(key), "{key}");
            assert!(sensitive(&key.to_uppercase()), "{key}");
            assert!(sensitive(&format!("window_{key}")) && sensitive(&format!("{key}-before")), "{key}");
            assert!(sensitive(&format!("seen{}{}s", key[..1].to_uppercase(), &key[1..])), "{key}");
        }
        for key in ["event", "ts_ms", "pid", "command", "ref", "app", "contextual", "labelled", "native_id", ""] {
            assert!(!sensitive(key), "{key}");
        }
    }

    /// JSON whose sensitive values are all the secret, at any depth.
    fn planted() -> impl Strategy<Value = Value> {
        let key = prop_oneof![
            3 => prop::sample::select(SENSITIVE.to_vec()).prop_map(str::to_owned),
            1 => prop::sample::select(vec!["post_value", "Text", "old-label", "apiToken", "titles"]).prop_map(str::to_owned),
            3 => "[a-d]{1,3}",
        ];
        let leaf =
            prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), any::<i64>().prop_map(Value::from)];
        leaf.prop_recursive(6, 64, 6, move |inner| {
            let fields = prop::collection::vec((key.clone(), inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(Value::Array),
                fields.prop_map(|fields| {
                    let plant = |key: String, value: Value| {
                        // A secret hides in any shape.
                        let value = match (sensitive(&key), value) {
                            (true, Value::Array(items)) => json!([items, "s3cret"]),
                            (true, Value::Object(map)) => json!({"inner": map, "deep": ["s3cret"]}),
                            (true, _) => json!("s3cret"),
                            (false, value) => value,
                        };
                        (key, value)
                    };
                    Value::Object(fields.into_iter().map(|(k, v)| plant(k, v)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_secret_at_any_depth(value in planted()) {
            let once = redact(value.clone());
            prop_assert!(!once.to_string().contains("s3cret"), "{once}");
            prop_assert_eq!(redact(once.clone()), once, "doing it twice changes nothing");
        }

        #[test]
        fn nothing_else_is_lost(value in planted()) {
            fn keys(value: &Value, hidden: bool, out: &mut Vec<String>) {
                match value {
                    Value::Object(map) => for (key, value) in map {
                        if !hidden { out.push(key.clone()); }
                        keys(value, hidden || sensitive(key), out);
                    },
                    Value::Array(items) => items.iter().for_each(|v| keys(v, hidden, out)),
                    _ => {}
                }
            }
            let (mut before, mut after) = (Vec::new(), Vec::new());
            keys(&value, false, &mut before);
            keys(&redact(value.clone()), false, &mut after);
            prop_assert_eq!(before, after);
        }
    }
}
