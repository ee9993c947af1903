//! What comes back: replies decoded totally (a wrong type is a fault, never a panic), errors with name and message.

use super::call::Object;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use zbus::Message;
use zbus::zvariant::{self, OwnedObjectPath, OwnedValue, Value};

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// No reply by the deadline. `sent` is false where the call never left: then nothing was delivered.
    Late {
        /// Whether the call left this process.
        sent: bool,
    },
    /// The other side answered with an error.
    Remote {
        /// D-Bus error name.
        name: String,
        /// Its text.
        message: String,
    },
    /// The reply is not what the interface promises.
    Malformed(String),
    /// The call could not be built; nothing was delivered.
    Invalid(String),
    /// The connection is gone. `sent` is false where the call never left.
    Broken {
        /// Whether the call left this process.
        sent: bool,
        /// What the transport said.
        why: String,
    },
}

/// A successful reply.
#[derive(Clone, Debug)]
pub struct Reply(pub Message);

/// A decoded answer.
pub type Decoded<T> = Result<T, CallError>;

type Pair = (String, OwnedObjectPath);

fn object((bus, path): Pair) -> Object {
    Object::new(bus, path.as_str())
}

fn malformed(what: &str, e: impl std::fmt::Display) -> CallError {
    CallError::Malformed(format!("{what}: {e}"))
}

impl Reply {
    /// The body as a type; any other shape is malformed.
    pub fn read<T>(&self, what: &str) -> Decoded<T>
    where
        T: for<'d> Deserialize<'d> + zvariant::Type,
    {
        self.0.body().deserialize::<T>().map_err(|e| malformed(what, e))
    }

    /// The body as a variant (`Properties.Get`), converted.
    fn variant<T>(&self, what: &str, f: impl FnOnce(&Value<'_>) -> Option<T>) -> Decoded<T> {
        let value: OwnedValue = self.read(what)?;
        f(&value).ok_or_else(|| CallError::Malformed(format!("{what}: unexpected type {}", value.value_signature())))
    }

    /// `s`
    pub fn text(&self) -> Decoded<String> {
        self.read("text")
    }

    /// `b`
    pub fn bool(&self) -> Decoded<bool> {
        self.read("bool")
    }

    /// `i`
    pub fn int(&self) -> Decoded<i32> {
        self.read("int")
    }

    /// `u`
    pub fn uint(&self) -> Decoded<u32> {
        self.read("uint")
    }

    /// `as`
    pub fn texts(&self) -> Decoded<Vec<String>> {
        self.read("texts")
    }

    /// `au` of a state set, low word first.
    pub fn states(&self) -> Decoded<u64> {
        let words: Vec<u32> = self.read("states")?;
        let at = |i: usize| u64::from(words.get(i).copied().unwrap_or(0));
        Ok(at(0) | at(1) << 32)
    }

    /// `(so)`
    pub fn object(&self) -> Decoded<Object> {
        self.read::<Pair>("object").map(object)
    }

    /// `a(so)`, nulls left out (FINDINGS §2). The bus name is shared where it repeats.
    pub fn objects(&self) -> Decoded<Vec<Object>> {
        let list: Vec<Pair> = self.read("objects")?;
        let mut shared: Option<Arc<str>> = None;
        let mut out = Vec::with_capacity(list.len());
        for (bus, path) in list {
            let name = match &shared {
                Some(s) if **s == *bus => s.clone(),
                _ => Arc::from(bus),
            };
            shared = Some(name.clone());
            out.push(Object::new(name, path.as_str()));
        }
        Ok(out)
    }

    /// `a(sss)`: the names of actions, each with a description and a key.
    pub fn action_names(&self) -> Decoded<Vec<String>> {
        let list: Vec<(String, String, String)> = self.read("actions")?;
        Ok(list.into_iter().map(|(name, _, _)| name).collect())
    }

    /// `(iiii)`: x, y, width, height.
    pub fn extents(&self) -> Decoded<(i32, i32, i32, i32)> {
        self.read("extents")
    }

    /// `a{ss}`
    pub fn attributes(&self) -> Decoded<HashMap<String, String>> {
        self.read("attributes")
    }

    /// `a(ua(so))`: relations with their targets.
    pub fn relations(&self) -> Decoded<Vec<(u32, Vec<Object>)>> {
        let list: Vec<(u32, Vec<Pair>)> = self.read("relations")?;
        Ok(list.into_iter().map(|(kind, targets)| (kind, targets.into_iter().map(object).collect())).collect())
    }

    /// A text property.
    pub fn text_property(&self) -> Decoded<String> {
        self.variant("text property", |v| match v {
            Value::Str(s) => Some(s.to_string()),
            _ => None,
        })
    }

    /// A number property of any integer type (toolkits differ).
    pub fn int_property(&self) -> Decoded<i64> {
        self.variant("number property", |v| match v {
            Value::I32(n) => Some(i64::from(*n)),
            Value::U32(n) => Some(i64::from(*n)),
            Value::I64(n) => Some(*n),
            Value::U64(n) => i64::try_from(*n).ok(),
            Value::I16(n) => Some(i64::from(*n)),
            Value::U16(n) => Some(i64::from(*n)),
            _ => None,
        })
    }

    /// A `b` property.
    pub fn bool_property(&self) -> Decoded<bool> {
        self.variant("bool property", |v| match v {
            Value::Bool(b) => Some(*b),
            _ => None,
        })
    }

    /// A `d` property.
    pub fn real_property(&self) -> Decoded<f64> {
        self.variant("real property", |v| match v {
            Value::F64(n) => Some(*n),
            Value::I32(n) => Some(f64::from(*n)),
            _ => None,
        })
    }

    /// An `(so)` property.
    pub fn object_property(&self) -> Decoded<Object> {
        self.variant("object property", |v| {
            let Value::Structure(s) = v else { return None };
            match s.fields() {
                [Value::Str(bus), Value::ObjectPath(path)] => Some(Object::new(bus.as_str(), path.as_str())),
                _ => None,
            }
        })
    }

    /// An `(ii)` property.
    pub fn ints_property(&self) -> Decoded<(i32, i32)> {
        self.variant("position property", |v| {
            let Value::Structure(s) = v else { return None };
            match s.fields() {
                [Value::I32(a), Value::I32(b)] => Some((*a, *b)),
                _ => None,
            }
        })
    }
}

/// The outcome of a message that answers a call.
pub(super) fn outcome(message: Message) -> Result<Reply, CallError> {
    if message.message_type() == zbus::message::Type::MethodReturn {
        return Ok(Reply(message));
    }
    let header = message.header();
    let name = header.error_name().map(|n| n.to_string()).unwrap_or_default();
    let text = message.body().deserialize::<String>().unwrap_or_default();
    Err(CallError::Remote { name, message: text })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde::Serialize;

    /// A recorded reply with this body.
    pub(crate) fn reply<B: Serialize + zvariant::DynamicType>(body: &B) -> Reply {
        let call = Message::method_call("/", "M").unwrap().build(&()).unwrap();
        Reply(Message::method_return(&call.header()).unwrap().build(body).unwrap())
    }

    #[test]
    fn other_types_are_malformed_not_fatal() {
        assert!(matches!(reply(&7i32).text(), Err(CallError::Malformed(_))));
        assert!(matches!(reply(&()).objects(), Err(CallError::Malformed(_))));
        assert!(matches!(reply(&Value::from(1i32)).text_property(), Err(CallError::Malformed(_))));
        assert!(matches!(reply(&"x").states(), Err(CallError::Malformed(_))));
    }

    #[test]
    fn well_formed_replies_are_read() {
        assert_eq!(reply(&vec![1u32, 2]).states(), Ok(1 | 2 << 32));
        assert_eq!(reply(&Vec::<u32>::new()).states(), Ok(0));
        assert_eq!(reply(&((1, 2, 3, 4),)).extents(), Ok((1, 2, 3, 4)));
        assert_eq!(reply(&Value::from("n")).text_property(), Ok("n".to_owned()));
        assert_eq!(reply(&Value::from((3i32, 1i32))).ints_property(), Ok((3, 1)));
        let path = zvariant::ObjectPath::try_from("/a").unwrap();
        let objects = reply(&vec![(":1.1", &path), (":1.1", &path)]).objects().unwrap();
        assert!(Arc::ptr_eq(&objects[0].bus, &objects[1].bus));
    }

    #[test]
    fn errors_keep_name_and_text() {
        let call = Message::method_call("/", "M").unwrap().build(&()).unwrap();
        let error = Message::error(&call.header(), "org.freedesktop.DBus.Error.UnknownObject").unwrap();
        let got = outcome(error.build(&"no such path").unwrap());
        let Err(CallError::Remote { name, message }) = got else { panic!("{got:?}") };
        assert_eq!((name.as_str(), message.as_str()), ("org.freedesktop.DBus.Error.UnknownObject", "no such path"));
    }
}
