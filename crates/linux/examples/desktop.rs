//! Private desktops by hand, and the supervisor for the integration tests.
//!
//! `desktop [--base DIR] [--geometry WxH] [--wm NAME] start | run -- CMD… | list | stop ID | sweep | auto`

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for trials by hand")]

use agent_desktop_linux::desktop::{Desktops, RuntimeDir, StartOptions, SupervisorCommand, auto, supervisor_main};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

fn main() {
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|a| a == "supervisor") {
        std::process::exit(args.get(1).map_or(64, |dir| supervisor_main(Path::new(dir))));
    }
    let supervisor = SupervisorCommand {
        program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("desktop")),
        args: vec!["supervisor".into()],
    };
    let mut options = StartOptions::new(supervisor);
    let mut base = None;
    let outcome = (|| {
        while args.len() > 1 && args[0].to_string_lossy().starts_with("--") {
            let (name, value) = (args.remove(0), args.remove(0));
            let text = value.to_string_lossy();
            match name.to_str() {
                Some("--base") => base = Some(PathBuf::from(&value)),
                Some("--geometry") => options.geometry = text.parse()?,
                Some("--wm") => options.window_manager = text.parse()?,
                _ => return Ok(64),
            }
        }
        let runtime = match &base {
            Some(b) => RuntimeDir::at(b)?,
            None => RuntimeDir::for_user()?,
        };
        let desktops = Desktops::below(&runtime)?;
        let print = |v: serde_json::Value| println!("{v}");
        match args.first().and_then(|a| a.to_str()) {
            Some("start") => print(serde_json::json!(desktops.start(&options)?.record)),
            Some("run") => return desktops.run(&options, &args[2.min(args.len())..]),
            Some("list") => print(serde_json::json!(desktops.list()?)),
            Some("stop") => desktops.stop(&args.get(1).map(|a| a.to_string_lossy()).unwrap_or_default())?,
            Some("sweep") => print(serde_json::json!(desktops.sweep()?)),
            Some("auto") => print(serde_json::json!(auto())),
            _ => return Ok(64),
        }
        Ok(0)
    })();
    std::process::exit(outcome.unwrap_or_else(|e: agent_desktop_linux::desktop::DesktopError| {
        eprintln!("{}", serde_json::json!(e));
        e.run_exit_code()
    }));
}
