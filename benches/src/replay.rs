//! Sending recorded calls again, raw, with the replies thrown away. Where the application offers a line of its own, as the
//! recording shows that it was asked for, the rest goes over that line.

use crate::Result;
use crate::calls::{Call, accessibility_bus};
use futures_util::StreamExt;
use zbus::connection::Builder;
use zbus::message::Type;
use zbus::{Connection, Message, MessageStream};

/// Calls in flight: as many as the product has.
const WINDOW: usize = 128;

pub fn replay(file: &str, free: bool) -> Result<()> {
    let text = std::fs::read_to_string(file)?;
    let calls = text.lines().map(serde_json::from_str).collect::<std::result::Result<Vec<Call>, _>>()?;
    if calls.is_empty() {
        return Err("nothing was recorded".into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (_session, bus) = accessibility_bus(2 * WINDOW).await?;
        let mut over_bus = Line { stream: MessageStream::from(&bus), connection: bus, to_bus: true };
        let mut peer: Option<(String, Line)> = None;
        for flight in calls.chunk_by(|a, b| !a.opens_a_line() && !b.opens_a_line() && (free || a.flight == b.flight)) {
            let has_line = |c: &&Call| peer.as_ref().is_some_and(|(name, _)| *name == c.to);
            let (direct, rest): (Vec<&Call>, Vec<&Call>) = flight.iter().partition(has_line);
            let answers = match &mut peer {
                Some((_, line)) => futures_util::future::try_join(over_bus.fly(&rest), line.fly(&direct)).await?.0,
                None => over_bus.fly(&rest).await?,
            };
            if let (Some(call), Some(answer)) = (flight.iter().find(|c| c.opens_a_line()), answers)
                && let Ok(address) = answer.body().deserialize::<String>()
                && address.starts_with("unix:")
            {
                let connection = Builder::address(address.as_str())?.p2p().max_queued(2 * WINDOW).build().await?;
                peer = Some((
                    call.to.clone(),
                    Line { stream: MessageStream::from(&connection), connection, to_bus: false },
                ));
            }
        }
        Ok(())
    })
}

/// A connection: the bus, or an application's own.
struct Line {
    connection: Connection,
    stream: MessageStream,
    to_bus: bool,
}

impl Line {
    /// Sends all and waits for as many replies; the last one is given.
    async fn fly(&mut self, calls: &[&Call]) -> Result<Option<Message>> {
        let (mut open, mut rest, mut last) = (0, calls.iter(), None);
        loop {
            while open < WINDOW
                && let Some(call) = rest.next()
            {
                self.connection.send(&call.message(self.to_bus)?).await?;
                open += 1;
            }
            if open == 0 {
                return Ok(last);
            }
            let message = self.stream.next().await.ok_or("the connection was closed")??;
            if matches!(message.message_type(), Type::MethodReturn | Type::Error) {
                open -= 1;
                last = Some(message);
            }
        }
    }
}
