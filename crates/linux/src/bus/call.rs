//! What is sent: an object's address and one method call, as plain data that tests can compare.

use agent_desktop_core::tree::raw::Handle;
use std::fmt;
use std::sync::Arc;
use zbus::Message;

/// The path that AT-SPI uses for "none" (FINDINGS §2 "Null child").
const NULL_PATH: &str = "/org/a11y/atspi/null";

/// Between the parent's path and the index, in the address of a place. It can't stand in a path.
const PLACE: char = '#';

/// One accessible object: a connection's unique name and an object path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Object {
    /// Unique bus name, `:1.42`.
    pub bus: Arc<str>,
    /// Object path.
    pub path: Box<str>,
}

impl Object {
    /// The object of this connection at this path.
    pub fn new(bus: impl Into<Arc<str>>, path: impl Into<Box<str>>) -> Self {
        Self { bus: bus.into(), path: path.into() }
    }

    /// The root of an application's tree (FINDINGS §2: the same path everywhere).
    pub fn root_of(bus: impl Into<Arc<str>>) -> Self {
        Self::new(bus, "/org/a11y/atspi/accessible/root")
    }

    /// The handle text of decisions D1: the unique name, followed by the path.
    pub fn handle(&self) -> Handle {
        Handle::new(format!("{}{}", self.bus, self.path))
    }

    /// The object that a handle names; none where the text is no such handle.
    pub fn from_handle(handle: &Handle) -> Option<Self> {
        let (bus, path) = handle.as_str().split_at(handle.as_str().find('/')?);
        let (of, place) = path.split_once(PLACE).map_or((path, None), |(of, place)| (of, Some(place)));
        let plausible = bus.len() > 1 && bus.starts_with(':') && zbus::zvariant::ObjectPath::try_from(of).is_ok();
        let whole = place.is_none_or(|p| p.parse::<u32>().is_ok());
        (plausible && whole).then(|| Self::new(bus, path))
    }

    /// A child that its parent makes anew whenever it is asked for (cells of a spreadsheet): it has no lasting address but
    /// its place. [`super::Sender`] turns the place into the child of the moment, right before each call to it.
    pub fn placed(parent: &Object, index: u32) -> Self {
        Self::new(parent.bus.clone(), format!("{}{PLACE}{index}", parent.path))
    }

    /// Parent and index, where this is a place.
    pub fn place(&self) -> Option<(Object, u32)> {
        let (parent, index) = self.path.split_once(PLACE)?;
        Some((Self::new(self.bus.clone(), parent), index.parse().ok()?))
    }

    /// Whether this stands for "none" (FINDINGS §2 "Null child").
    pub fn is_null(&self) -> bool {
        self.bus.is_empty() || &*self.path == NULL_PATH || self.path.is_empty()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.bus, self.path)
    }
}

/// Arguments of a call: every shape that AT-SPI and the bus need.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `()`
    None,
    /// `i`
    Int(i32),
    /// `u`
    UInt(u32),
    /// `b`
    Bool(bool),
    /// `s`
    Text(String),
    /// `ii`
    Ints(i32, i32),
    /// `iii`
    Ints3(i32, i32, i32),
    /// `iiu`: a point in a coordinate system.
    Point(i32, i32, u32),
    /// `ss`: interface and property.
    Property(&'static str, &'static str),
    /// `ssv`: interface, property, number.
    SetNumber(&'static str, &'static str, f64),
    /// `ssv`: interface, property, yes or no.
    SetBool(&'static str, &'static str, bool),
    /// `isi`: position, text, length.
    Insert(i32, String, i32),
    /// `sass`: a registry event, properties, bus name.
    Register(String, Vec<String>, String),
    /// `sas`: registry event of at-spi2-core before 2.x's third argument.
    Strings(String, Vec<String>),
}

/// One method call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The object; for calls to a named service its well-known name stands as `bus`.
    pub object: Object,
    /// Interface.
    pub interface: &'static str,
    /// Method.
    pub member: &'static str,
    /// Arguments.
    pub body: Body,
}

impl Call {
    /// A call without arguments.
    pub fn new(object: &Object, interface: &'static str, member: &'static str) -> Self {
        Self::with(object, interface, member, Body::None)
    }

    /// A call with arguments.
    pub fn with(object: &Object, interface: &'static str, member: &'static str, body: Body) -> Self {
        Self { object: object.clone(), interface, member, body }
    }

    /// `Properties.Get` of one property. `GetAll` does not exist here (FINDINGS §3).
    pub fn get(object: &Object, interface: &'static str, property: &'static str) -> Self {
        Self::with(object, "org.freedesktop.DBus.Properties", "Get", Body::Property(interface, property))
    }

    /// A call to the bus itself.
    pub fn driver(member: &'static str, body: Body) -> Self {
        Self::with(&Object::new("org.freedesktop.DBus", "/org/freedesktop/DBus"), "org.freedesktop.DBus", member, body)
    }

    /// The message, with the destination for a bus or without one for a peer.
    pub(super) fn message(&self, to_bus: bool) -> zbus::Result<Message> {
        let mut builder = Message::method_call(&*self.object.path, self.member)?.interface(self.interface)?;
        if to_bus {
            builder = builder.destination(&*self.object.bus)?;
        }
        match &self.body {
            Body::None => builder.build(&()),
            Body::Int(a) => builder.build(a),
            Body::UInt(a) => builder.build(a),
            Body::Bool(a) => builder.build(a),
            Body::Text(a) => builder.build(a),
            Body::Ints(a, b) => builder.build(&(a, b)),
            Body::Ints3(a, b, c) => builder.build(&(a, b, c)),
            Body::Point(a, b, c) => builder.build(&(a, b, c)),
            Body::Property(a, b) => builder.build(&(a, b)),
            Body::SetNumber(a, b, v) => builder.build(&(a, b, zbus::zvariant::Value::from(*v))),
            Body::SetBool(a, b, v) => builder.build(&(a, b, zbus::zvariant::Value::from(*v))),
            Body::Insert(a, b, c) => builder.build(&(a, b, c)),
            Body::Register(a, b, c) => builder.build(&(a, b, c)),
            Body::Strings(a, b) => builder.build(&(a, b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_name_and_path() {
        let o = Object::new(":1.42", "/org/a11y/atspi/accessible/12");
        assert_eq!(o.handle().as_str(), ":1.42/org/a11y/atspi/accessible/12");
        assert_eq!(Object::from_handle(&o.handle()), Some(o));
        for bad in ["", "/a", ":1.2", "x/a", ":/a", ":1.2/a b", ":1.2//"] {
            assert_eq!(Object::from_handle(&Handle::new(bad)), None, "{bad}");
        }
    }

    #[test]
    fn a_place_is_an_address_too() {
        let cell = Object::placed(&Object::new(":1.4", "/t/1"), 7);
        assert_eq!(cell.handle().as_str(), ":1.4/t/1#7");
        assert_eq!(Object::from_handle(&cell.handle()), Some(cell.clone()));
        assert_eq!(cell.place(), Some((Object::new(":1.4", "/t/1"), 7)));
        for bad in [":1.4/t#", ":1.4/t#x", ":1.4/t#-1", ":1.4/t#1#2"] {
            assert_eq!(Object::from_handle(&Handle::new(bad)), None, "{bad}");
        }
    }

    #[test]
    fn none_is_recognised() {
        assert!(Object::new(":1.2", "/org/a11y/atspi/null").is_null());
        assert!(Object::new("", "/org/a11y/atspi/null").is_null());
        assert!(!Object::root_of(":1.2").is_null());
    }

    #[test]
    fn a_peer_gets_no_destination() {
        let call = Call::get(&Object::root_of(":1.2"), "org.a11y.atspi.Accessible", "Name");
        assert!(call.message(true).unwrap().header().destination().is_some());
        assert!(call.message(false).unwrap().header().destination().is_none());
    }
}
