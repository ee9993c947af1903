//! Writing down what a command sends, by watching the accessibility bus.

use crate::Result;
use crate::calls::{Flights, accessibility_bus};
use futures_util::StreamExt;
use std::collections::HashMap;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;
use tokio::time::timeout;
use zbus::message::Type;
use zbus::{Message, MessageStream};

/// Messages that wait here while the command floods the bus.
const QUEUE: usize = 1 << 17;

/// The watcher is behind the command by a moment at most; after this long without a message nothing more comes.
const SETTLED: Duration = Duration::from_millis(300);

pub fn record(file: &str, command: &[&str]) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let messages = runtime.block_on(watch(command))?;
    let mut by_sender: HashMap<String, Flights> = HashMap::new();
    for message in &messages {
        let header = message.header();
        let name = |n: Option<String>| n.unwrap_or_default();
        match message.message_type() {
            Type::MethodCall => {
                by_sender.entry(name(header.sender().map(ToString::to_string))).or_default().sent(message)?
            }
            Type::MethodReturn | Type::Error => {
                let to = name(header.destination().map(ToString::to_string));
                if let (Some(flights), Some(serial)) = (by_sender.get_mut(&to), header.reply_serial()) {
                    flights.answered(serial.get());
                }
            }
            Type::Signal => {}
        }
    }
    // Whoever asked most is the command: the bus was at rest before. `Hello` is sent by joining.
    let flights = by_sender.into_values().max_by_key(|f| f.calls.len()).ok_or("the command sent nothing")?;
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    for call in flights.calls.iter().filter(|c| c.member != "Hello") {
        writeln!(out, "{}", serde_json::to_string(call)?)?;
    }
    out.flush()?;
    let last = flights.calls.last().map_or(0, |c| c.flight);
    println!("{}", serde_json::json!({"calls": flights.calls.len(), "flights": last}));
    Ok(())
}

async fn watch(command: &[&str]) -> Result<Vec<Message>> {
    let (_session, bus) = accessibility_bus(QUEUE).await?;
    let mut stream = MessageStream::from(&bus);
    let rules: Vec<&str> = Vec::new();
    let (path, monitoring) = ("/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring");
    bus.call_method(Some("org.freedesktop.DBus"), path, Some(monitoring), "BecomeMonitor", &(rules, 0u32)).await?;
    let mut child = std::process::Command::new(command[0]).args(&command[1..]).stdout(Stdio::null()).spawn()?;
    let mut seen = Vec::new();
    loop {
        match timeout(SETTLED, stream.next()).await {
            Ok(Some(message)) => seen.push(message?),
            Ok(None) => return Err("the bus closed the watcher's connection".into()),
            Err(_) => {
                if let Some(status) = child.try_wait()? {
                    return status.success().then_some(seen).ok_or_else(|| format!("{command:?}: {status}").into());
                }
            }
        }
    }
}
