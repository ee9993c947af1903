//! The DevTools endpoint of a Chromium application: a free port, and the proof that it answers.

use crate::error::{Code, Delivery, Error, Result};
use crate::platform::ProcessKey;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// One attempt at most.
pub const ATTEMPT: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(100);
const BUDGET: Duration = Duration::from_secs(5);
const BODY_MAX: usize = 64 * 1024;

/// The part of a launch that is kept for the probe.
pub fn budget(left: Duration) -> Duration {
    BUDGET.min(left / 4)
}

/// A port that can be listened on: the one asked for, or a free one for 0.
pub fn reserve(port: u16) -> Result<u16> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).and_then(|l| l.local_addr()).map_or_else(
        |e| {
            Err(Error::invalid(format!("port {port} of 127.0.0.1 can't be used"))
                .kind("cdp_port_in_use")
                .detail("port", port)
                .platform(e.to_string())
                .suggest("Leave PORT out to get a free one."))
        },
        |address| Ok(address.port()),
    )
}

enum Responder {
    Silent,
    Other,
    DevTools(Value),
}

/// Asks `/json/version` until it answers as DevTools does, or the budget is spent. The application stays running.
pub fn probe(port: u16, process: &ProcessKey, budget: Duration) -> Result<Value> {
    let begun = Instant::now();
    let mut other = false;
    loop {
        match ask(port, ATTEMPT.min(budget.saturating_sub(begun.elapsed()).max(Duration::from_millis(1)))) {
            Responder::DevTools(body) => return Ok(endpoint(port, &body)),
            Responder::Other => other = true,
            Responder::Silent => {}
        }
        if begun.elapsed() + POLL >= budget {
            break;
        }
        std::thread::sleep(POLL);
    }
    // It was started: a repetition would meet a running application.
    let error = Error::new(
        Code::ActionFailed,
        Delivery::DeliveredUnverified,
        "it was started, but no DevTools endpoint answered; it was left running",
    )
    .kind("cdp_endpoint_unavailable")
    .detail("pid", process.pid)
    .detail("port", port)
    .detail("elapsed_ms", begun.elapsed().as_millis() as u64)
    .detail("probe_budget_ms", budget.as_millis() as u64)
    .detail("process_instance", process.instance.as_str())
    .suggest(
        "Only Chromium and Electron have one. Some refuse it for the default profile: give --arg --user-data-dir=DIR.",
    );
    Err(if other { error.detail("responder_without_devtools_body", true) } else { error })
}

fn endpoint(port: u16, body: &Value) -> Value {
    json!({
        "port": port,
        "http_endpoint": format!("http://127.0.0.1:{port}"),
        "websocket_url": body["webSocketDebuggerUrl"],
        "product": body["Browser"],
    })
}

fn ask(port: u16, limit: Duration) -> Responder {
    let end = Instant::now() + limit;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(mut stream) = TcpStream::connect_timeout(&address, limit) else { return Responder::Silent };
    let request = format!("GET /json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let _ = stream.set_write_timeout(Some(limit));
    if stream.write_all(request.as_bytes()).is_err() {
        return Responder::Silent;
    }
    let mut reply = Vec::new();
    let mut buffer = [0u8; 4096];
    while reply.len() <= BODY_MAX {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            break;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => reply.extend_from_slice(&buffer[..n]),
        }
        // Some servers keep the connection open although they were asked not to.
        if let Some(body) = devtools_body(&reply) {
            return Responder::DevTools(body);
        }
    }
    if reply.is_empty() { Responder::Silent } else { Responder::Other }
}

/// The JSON object of a complete reply, where it names a debugger's address.
fn devtools_body(reply: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(reply).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1) != Some("200") {
        return None;
    }
    let body: Value = serde_json::from_str(body.get(body.find('{')?..=body.rfind('}')?)?).ok()?;
    let url = body["webSocketDebuggerUrl"].as_str()?;
    url.starts_with("ws://").then_some(())?;
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(reply: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(reply.as_bytes());
            }
        });
        port
    }

    fn process() -> ProcessKey {
        ProcessKey { pid: 7, instance: "b-1".into() }
    }

    #[test]
    fn a_devtools_answer_is_passed_on() {
        let port = serve(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\
             {\"Browser\": \"Chrome/130\", \"webSocketDebuggerUrl\": \"ws://127.0.0.1:1/devtools/browser/x\"}",
        );
        let cdp = probe(port, &process(), Duration::from_secs(2)).unwrap();
        assert_eq!(cdp["product"], "Chrome/130");
        assert_eq!(cdp["http_endpoint"], format!("http://127.0.0.1:{port}"));
    }

    #[test]
    fn another_server_is_not_taken_for_it() {
        let port = serve("HTTP/1.1 200 OK\r\n\r\nhello {} world");
        let e = probe(port, &process(), Duration::from_millis(300)).unwrap_err();
        assert_eq!(e.kind_name(), Some("cdp_endpoint_unavailable"));
        assert_eq!(e.details()["responder_without_devtools_body"], true);
        assert_eq!(e.delivery(), Delivery::DeliveredUnverified);
    }

    #[test]
    fn a_port_in_use_is_refused_before_anything_starts() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let e = reserve(port).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some("cdp_port_in_use")));
        drop(listener);
        assert_ne!(reserve(0).unwrap(), 0);
    }

    #[test]
    fn the_budget_is_a_quarter_and_five_seconds_at_most() {
        assert_eq!(budget(Duration::from_secs(8)), Duration::from_secs(2));
        assert_eq!(budget(Duration::from_secs(60)), Duration::from_secs(5));
    }
}
