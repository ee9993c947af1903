//! Calls as they are written down: flights of them, one JSON line each.

use crate::Result;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use zbus::{Connection, Message, connection::Builder};

/// One argument of a call: the kinds that reading needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    None,
    Text(String),
    Texts(String, String),
    Int(i32),
    Ints(i32, i32),
    UInt(u32),
    Bool(bool),
}

/// One call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    pub flight: usize,
    pub to: String,
    pub path: String,
    pub interface: String,
    pub member: String,
    pub arguments: Arguments,
}

impl Call {
    /// What a seen message asks.
    pub fn of(message: &Message, flight: usize) -> Result<Self> {
        let (header, body) = (message.header(), message.body());
        let arguments = match body.signature().to_string_no_parens().as_str() {
            "" => Arguments::None,
            "s" => Arguments::Text(body.deserialize()?),
            "ss" => {
                let (a, b) = body.deserialize()?;
                Arguments::Texts(a, b)
            }
            "i" => Arguments::Int(body.deserialize()?),
            "ii" => {
                let (a, b) = body.deserialize()?;
                Arguments::Ints(a, b)
            }
            "u" => Arguments::UInt(body.deserialize()?),
            "b" => Arguments::Bool(body.deserialize()?),
            other => return Err(format!("a call with arguments of type {other}: {header:?}").into()),
        };
        let text = |part: Option<String>| part.unwrap_or_default();
        Ok(Self {
            flight,
            to: text(header.destination().map(ToString::to_string)),
            path: text(header.path().map(ToString::to_string)),
            interface: text(header.interface().map(ToString::to_string)),
            member: text(header.member().map(ToString::to_string)),
            arguments,
        })
    }

    /// Whether it asks for the application's own line.
    pub fn opens_a_line(&self) -> bool {
        self.member == "GetApplicationBusAddress"
    }

    /// The message to send, with a destination for a bus.
    pub fn message(&self, to_bus: bool) -> Result<Message> {
        let builder =
            Message::method_call(self.path.as_str(), self.member.as_str())?.interface(self.interface.as_str())?;
        let builder = if to_bus { builder.destination(self.to.as_str())? } else { builder };
        Ok(match &self.arguments {
            Arguments::None => builder.build(&()),
            Arguments::Text(a) => builder.build(&a),
            Arguments::Texts(a, b) => builder.build(&(a, b)),
            Arguments::Int(a) => builder.build(&a),
            Arguments::Ints(a, b) => builder.build(&(a, b)),
            Arguments::UInt(a) => builder.build(&a),
            Arguments::Bool(a) => builder.build(&a),
        }?)
    }
}

/// Calls of one connection, with the flights told by their replies: a call that was sent when nothing was under way
/// begins a new one.
#[derive(Debug, Default)]
pub struct Flights {
    pub calls: Vec<Call>,
    open: HashSet<u32>,
    flight: usize,
}

impl Flights {
    pub fn sent(&mut self, message: &Message) -> Result<()> {
        if self.open.is_empty() {
            self.flight += 1;
        }
        self.open.insert(message.primary_header().serial_num().get());
        self.calls.push(Call::of(message, self.flight)?);
        Ok(())
    }

    pub fn answered(&mut self, serial: u32) {
        self.open.remove(&serial);
    }
}

/// Joins the accessibility bus as a client has to.
pub async fn accessibility_bus(queue: usize) -> Result<(Connection, Connection)> {
    let session = Builder::session()?.build().await?;
    let reply =
        session.call_method(Some("org.a11y.Bus"), "/org/a11y/bus", Some("org.a11y.Bus"), "GetAddress", &()).await?;
    let address: String = reply.body().deserialize()?;
    let bus = Builder::address(address.as_str())?.max_queued(queue).build().await?;
    Ok((session, bus))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: Arguments) -> Call {
        let text = |t: &str| t.to_owned();
        Call { flight: 1, to: text(":1.5"), path: text("/a"), interface: text("a.B"), member: text("C"), arguments }
    }

    #[test]
    fn what_is_written_down_is_what_is_sent() {
        let both = Arguments::Texts("x".to_owned(), "y".to_owned());
        for arguments in [Arguments::None, both, Arguments::Int(-1), Arguments::Ints(0, 9), Arguments::UInt(0)] {
            let first = call(arguments);
            let again = Call::of(&first.message(true).unwrap(), 1).unwrap();
            assert_eq!(format!("{first:?}"), format!("{again:?}"));
        }
    }

    #[test]
    fn flights_end_when_all_is_answered() {
        let mut flights = Flights::default();
        let messages: Vec<Message> = (0..3).map(|_| call(Arguments::None).message(true).unwrap()).collect();
        let serial = |m: &Message| m.primary_header().serial_num().get();
        flights.sent(&messages[0]).unwrap();
        flights.sent(&messages[1]).unwrap();
        flights.answered(serial(&messages[0]));
        flights.answered(serial(&messages[1]));
        flights.sent(&messages[2]).unwrap();
        let seen: Vec<usize> = flights.calls.iter().map(|c| c.flight).collect();
        assert_eq!(seen, [1, 1, 2]);
    }
}
