//! Physical input by hand, and the holder for the integration tests.
//!
//! `input play | hold SESSION LIMIT_MS | release SESSION | held | release-all | front | at X Y`, JSON on standard input
//! where something is to be played: `{"strokes": […], "guard": {…}}`, `{"hold": …, "guard": {…}}`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for trials by hand")]

use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::geometry::Point;
use agent_desktop_core::platform::input::{Guard, Hold, Input, Played, Stroke};
use agent_desktop_core::platform::{ProcessKey, WindowKey};
use agent_desktop_linux::LinuxPlatform;
use agent_desktop_linux::input::{HOLDER, holder_main};
use agent_desktop_linux::process::Token;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::Instant;

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|a| a == HOLDER) {
        std::process::exit(holder_main(&args[1..]));
    }
    let text = |at: usize| args.get(at).and_then(|a| a.to_str()).unwrap_or_default().to_owned();
    let session = |at: usize| Some(text(at)).filter(|s| !s.is_empty() && s != "-");
    let platform = LinuxPlatform::join().unwrap().with_program(std::env::current_exe().ok());
    let deadline = Deadline::after_ms(std::env::var("MS").ok().and_then(|m| m.parse().ok()).unwrap_or(60_000));
    let input = || -> Value { serde_json::from_reader(std::io::stdin()).unwrap() };
    let guard = |v: &Value| -> Guard { serde_json::from_value(v["guard"].clone()).unwrap_or_default() };
    let hold = |v: &Value| -> Hold { serde_json::from_value(v["hold"].clone()).unwrap() };
    let started = Instant::now();
    let out = match text(0).as_str() {
        "play" => {
            let asked = input();
            let strokes: Vec<Stroke> = serde_json::from_value(asked["strokes"].clone()).unwrap();
            played(platform.play(&strokes, &guard(&asked), deadline))
        }
        "hold" => {
            let asked = input();
            let limit = text(2).parse().unwrap_or(30_000);
            played(platform.hold(&hold(&asked), session(1).as_deref(), limit, &guard(&asked), deadline))
        }
        "release" => played(platform.release(&hold(&input()), session(1).as_deref(), deadline)),
        "held" => listed(platform.held(deadline)),
        "release-all" => listed(platform.release_all(session(1).as_deref(), deadline)),
        "front" => {
            let windows = platform.x_windows(deadline).unwrap_or_default();
            let active = windows.iter().find(|w| w.is_active);
            json!(active.and_then(|w| {
                let pid = w.pid?;
                let process = ProcessKey { pid: pid as u32, instance: Token::of(pid).ok()?.to_string() };
                Some(WindowKey { id: w.client.to_string(), process })
            }))
        }
        "at" => {
            let n = |at: usize| text(at).parse().unwrap();
            json!({"window": format!("{:?}", platform.window_at(Point { x: n(1), y: n(2) }, deadline)),
                "pointer": format!("{:?}", platform.pointer(deadline))})
        }
        _ => std::process::exit(64),
    };
    println!("{out}");
    eprintln!("{} ms", started.elapsed().as_millis());
}

fn played(answer: Result<Played, agent_desktop_core::error::Error>) -> Value {
    match answer {
        Ok(p) => json!({"planned": p.planned, "delivered": p.delivered, "touched": p.touched, "uncertain": p.uncertain,
            "stopped": p.stopped.map(|e| e.to_json()), "release": p.release}),
        Err(e) => json!({"error": e.to_json()}),
    }
}

fn listed(answer: Result<Vec<agent_desktop_core::platform::input::Held>, agent_desktop_core::error::Error>) -> Value {
    match answer {
        Ok(all) => json!({"held": all}),
        Err(e) => json!({"error": e.to_json()}),
    }
}
