//! Sending recorded calls again, raw, with the replies thrown away.

use crate::Result;
use crate::calls::{Call, accessibility_bus};
use futures_util::StreamExt;
use zbus::message::Type;
use zbus::{Connection, MessageStream};

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
        let mut stream = MessageStream::from(&bus);
        if free {
            return fly(&bus, &mut stream, &calls).await;
        }
        for flight in calls.chunk_by(|a, b| a.flight == b.flight) {
            fly(&bus, &mut stream, flight).await?;
        }
        Ok(())
    })
}

async fn fly(bus: &Connection, stream: &mut MessageStream, calls: &[Call]) -> Result<()> {
    let (mut open, mut rest) = (0, calls.iter());
    loop {
        while open < WINDOW
            && let Some(call) = rest.next()
        {
            bus.send(&call.message()?).await?;
            open += 1;
        }
        if open == 0 {
            return Ok(());
        }
        let message = stream.next().await.ok_or("the bus closed the connection")??;
        if matches!(message.message_type(), Type::MethodReturn | Type::Error) {
            open -= 1;
        }
    }
}
