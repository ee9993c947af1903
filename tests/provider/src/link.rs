//! Connections: reading messages into the engine's queue and writing from one queue per connection.

use crate::engine::{Inbox, Msg};
use crate::wire::Body;
use futures_util::StreamExt;
use std::num::NonZeroU32;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zbus::message::Message;
use zbus::{Connection, MessageStream};

/// What a connection's writer is asked to do.
#[derive(Debug)]
pub enum Out {
    /// Send a message.
    Message(Message),
    /// End the process with this code, everything before being sent.
    Exit(i32),
}

/// The engine's end of a connection.
#[derive(Debug)]
pub struct Link {
    /// Application that it serves.
    pub app: usize,
    /// True for a connection to the bus, false for a private one.
    pub is_bus: bool,
    /// The connection.
    pub connection: Connection,
    out: UnboundedSender<Out>,
}

impl Link {
    /// Starts reading and writing. `number` is how the engine will know this link.
    pub fn start(mut stream: MessageStream, app: usize, is_bus: bool, number: usize, inbox: Inbox) -> Self {
        let (out, queue) = unbounded_channel();
        let connection = Connection::from(&stream);
        tokio::spawn(write(connection.clone(), queue));
        tokio::spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if inbox.send(Msg::Incoming { link: number, message }).is_err() {
                    break;
                }
            }
            let _ = inbox.send(Msg::Closed { link: number });
        });
        Self { app, is_bus, connection, out }
    }

    /// Queues something to send; a closed connection drops it.
    pub fn send(&self, out: Out) {
        let _ = self.out.send(out);
    }
}

async fn write(connection: Connection, mut queue: UnboundedReceiver<Out>) {
    while let Some(out) = queue.recv().await {
        match out {
            Out::Message(message) => {
                let _ = connection.send(&message).await;
            }
            Out::Exit(code) => std::process::exit(code),
        }
    }
}

/// A method reply.
pub fn method_reply(call: &Message, body: &Body) -> zbus::Result<Message> {
    raw(Message::method_return(&call.header())?, body)
}

/// An error reply.
pub fn error_reply(call: &Message, name: &str, message: &str) -> zbus::Result<Message> {
    raw(Message::error(&call.header(), name)?, &Body::string(message))
}

/// A broadcast signal.
pub fn signal(path: &str, interface: &str, member: &str, body: &Body) -> zbus::Result<Message> {
    raw(Message::signal(path, interface, member)?, body)
}

/// A method call.
pub fn method_call(destination: &str, path: &str, interface: &str, member: &str, body: &Body) -> zbus::Result<Message> {
    let builder = Message::method_call(path, member)?.interface(interface)?.destination(destination)?;
    raw(builder, body)
}

/// Serial of a message.
pub fn serial(message: &Message) -> NonZeroU32 {
    message.primary_header().serial_num()
}

fn raw(builder: zbus::message::Builder<'_>, body: &Body) -> zbus::Result<Message> {
    // A signature that is one struct must be wrapped: zbus writes the fields of an outermost
    // struct without its parentheses.
    let signature =
        if is_one_struct(&body.signature) { format!("({})", body.signature) } else { body.signature.clone() };
    // SAFETY: no file descriptors are attached; the bytes are either marshalled by `wire`, or are
    // wrong on purpose, which only the receiver's parser has to survive.
    unsafe { builder.build_raw_body(&body.bytes, signature.as_str(), Vec::new()) }
}

fn is_one_struct(signature: &str) -> bool {
    let mut depth = 0usize;
    for (at, byte) in signature.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return false,
            _ => {}
        }
        if depth == 0 {
            return byte == b')' && at + 1 == signature.len();
        }
    }
    false
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_struct_or_several_values() {
        assert!(is_one_struct("(so)"));
        assert!(is_one_struct("((so)(so)i)"));
        assert!(!is_one_struct("(so)(so)"));
        assert!(!is_one_struct("s"));
        assert!(!is_one_struct(""));
        // On the wire: one struct keeps its parentheses, two values have none.
        let on_the_wire = |body: &Body, signature: &[u8]| {
            let message = method_call(":1.1", "/", "a.b", "C", body).unwrap();
            message.data().windows(signature.len()).any(|window| window == signature)
        };
        assert!(on_the_wire(&Body::reference(":1.7", "/x"), b"\x04(so)\0"));
        let two = Body::new("ii", |w| {
            w.i32(1);
            w.i32(2);
        });
        assert!(on_the_wire(&two, b"\x02ii\0"));
    }
}
