//! Signals that must not end the program without an answer.

use agent_desktop_core::command::Command;
#[cfg(unix)]
use serde_json::json;

/// A file that grows beyond `ulimit -f` ends the program by a signal: without an answer, with half a file left, and
/// possibly after an action was done. Caught, the same write fails with an error that every caller of it handles. It is
/// caught and not ignored, since what is ignored stays so in programs that are started from here.
pub fn survive_file_size() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGXFSZ;
        let came = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        // Where it can't be caught, all is as it would be without.
        let _ = signal_hook::flag::register(SIGXFSZ, came);
    }
}

/// A `watch` that is told to end gives its answer first, as it does at the end of its time.
pub fn answer_before_the_end(command: &Command) {
    #[cfg(unix)]
    if let Command::Watch(_) = command {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let begun = std::time::Instant::now();
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP]) else { return };
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                let elapsed = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                crate::output::end_with(
                    "watch",
                    |lines| json!({"lines": lines, "ended": "signal", "elapsed_ms": elapsed}),
                );
            }
        });
    }
    #[cfg(not(unix))]
    let _ = command;
}
