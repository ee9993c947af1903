//! `scripted-provider`: see the README of this crate.

use agent_desktop_test_provider::args::Args;
use agent_desktop_test_provider::engine::{Engine, Inbox, Msg};
use agent_desktop_test_provider::oplog::OpLog;
use agent_desktop_test_provider::scenario::Scenario;
use agent_desktop_test_provider::{build, control, join};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scripted-provider: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let args = Args::parse(std::env::args().skip(1))?;
    let text = std::fs::read_to_string(&args.scenario).map_err(|e| format!("{}: {e}", args.scenario.display()))?;
    let scenario = Scenario::parse(&text).map_err(|e| format!("{}: {e}", args.scenario.display()))?;
    if args.check {
        build::tree(&scenario)?;
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    runtime.block_on(serve(args, scenario))
}

async fn serve(args: Args, scenario: Scenario) -> Result<(), String> {
    let (inbox, mut queue) = unbounded_channel();
    end_on_signal(SignalKind::terminate(), inbox.clone())?;
    end_on_signal(SignalKind::interrupt(), inbox.clone())?;
    if !args.ignore_stdin {
        end_with_stdin(inbox.clone());
    }
    let log = OpLog::create(&args.log)?;
    let mut engine = Engine::new(scenario, log, inbox.clone())?;
    let mut sockets = Vec::new();
    let names = join::all(&mut engine, &mut queue, &inbox, &mut sockets).await?;
    if let Some(path) = &args.control {
        control::listen(path, inbox)?;
        sockets.push(path.clone());
    }
    println!("ready {} {}", names.join(","), std::process::id());
    std::io::stdout().flush().map_err(|e| e.to_string())?;
    engine.serve(&mut queue).await;
    for socket in sockets {
        let _ = std::fs::remove_file(socket);
    }
    // The answer to `quit` is still on its way through the control socket's task.
    tokio::time::sleep(Duration::from_millis(10)).await;
    Ok(())
}

fn end_on_signal(kind: SignalKind, inbox: Inbox) -> Result<(), String> {
    let mut signal = signal(kind).map_err(|e| e.to_string())?;
    tokio::spawn(async move {
        signal.recv().await;
        let _ = inbox.send(Msg::Quit);
    });
    Ok(())
}

/// A thread, because reading stdin can't be cancelled; it ends with the process.
fn end_with_stdin(inbox: Inbox) {
    std::thread::spawn(move || {
        let mut sink = [0u8; 256];
        let mut stdin = std::io::stdin();
        while matches!(stdin.read(&mut sink), Ok(1..)) {}
        let _ = inbox.send(Msg::Quit);
    });
}
