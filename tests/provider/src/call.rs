//! A method call as the engine sees it, and what may be answered.

use crate::names;
use crate::wire::Body;
use zbus::message::Message;
use zbus::zvariant::{DynamicType, OwnedValue};

/// A call that came in.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which connection.
    pub link: usize,
    /// The message.
    pub message: Message,
    /// Object path.
    pub path: String,
    /// Interface, full; empty when the caller gave none.
    pub interface: String,
    /// Member.
    pub member: String,
    /// For `Properties.Get` and `Set`: interface and property.
    pub property: Option<(String, String)>,
    /// Caller.
    pub sender: String,
}

impl Call {
    /// Takes a message apart; `None` for what isn't a method call.
    pub fn new(link: usize, message: Message) -> Option<Self> {
        if message.primary_header().msg_type() != zbus::message::Type::MethodCall {
            return None;
        }
        let header = message.header();
        let interface = header.interface().map(ToString::to_string).unwrap_or_default();
        let member = header.member()?.to_string();
        let path = header.path()?.to_string();
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        let property = if interface == "org.freedesktop.DBus.Properties" {
            match member.as_str() {
                "Get" => message.body().deserialize::<(String, String)>().ok(),
                "Set" => message
                    .body()
                    .deserialize::<(String, String, OwnedValue)>()
                    .ok()
                    .map(|(interface, name, _)| (interface, name)),
                _ => None,
            }
        } else {
            None
        };
        Some(Self { link, path, interface, member, property, sender, message })
    }

    /// The arguments, when they have the types asked for.
    pub fn args<T>(&self) -> Result<T, Reply>
    where
        T: serde::de::DeserializeOwned + DynamicType + zbus::zvariant::Type,
    {
        self.message
            .body()
            .deserialize::<T>()
            .map_err(|error| Reply::error("org.freedesktop.DBus.Error.InvalidArgs", &error.to_string()))
    }

    /// Interface and member that are meant: the property's for `Properties.Get` and `Set`.
    pub fn meant(&self) -> (&str, &str) {
        match &self.property {
            Some((interface, name)) => (interface, name),
            None => (&self.interface, &self.member),
        }
    }

    /// True when a fault's interface and member fit this call, by what is called or what is meant.
    pub fn fits(&self, interface: Option<&str>, member: Option<&str>) -> bool {
        let full = interface.map(|name| names::interface_full(name).unwrap_or_default());
        let fits =
            |i: &str, m: &str| full.as_deref().is_none_or(|full| full == i) && member.is_none_or(|member| member == m);
        let (meant_interface, meant_member) = self.meant();
        fits(&self.interface, &self.member)
            || fits(meant_interface, meant_member)
            // libatspi's name of the write.
            || (self.member == "Set"
                && meant_member == "CurrentValue"
                && fits(meant_interface, "SetCurrentValue"))
    }

    /// Whether the caller waits for a reply.
    pub fn wants_reply(&self) -> bool {
        !self.message.primary_header().flags().contains(zbus::message::Flags::NoReplyExpected)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A method return.
    Ok(Body),
    /// An error.
    Error {
        /// D-Bus error name.
        name: String,
        /// Text.
        message: String,
    },
}

impl Reply {
    /// An error.
    pub fn error(name: &str, message: &str) -> Self {
        Self::Error { name: name.to_owned(), message: message.to_owned() }
    }

    /// In short, for the log.
    pub fn brief(&self) -> String {
        match self {
            Self::Ok(body) if body.signature == "b" => {
                if body.bytes.first() == Some(&0) {
                    "false".into()
                } else {
                    "true".into()
                }
            }
            Self::Ok(body) if body.signature.is_empty() => "ok".into(),
            Self::Ok(body) => format!("ok:{}", body.signature),
            Self::Error { name, .. } => format!("error:{name}"),
        }
    }
}

impl From<Body> for Reply {
    fn from(body: Body) -> Self {
        Self::Ok(body)
    }
}
