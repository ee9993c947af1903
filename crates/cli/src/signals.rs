//! Signals that must not end the program without an answer.

use agent_desktop_core::command::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Whether a signal said that the program is to end.
static CAME: AtomicBool = AtomicBool::new(false);

/// Whether the program was told to end by a signal that [`answer_before_the_end`] waits for.
pub fn came() -> bool {
    CAME.load(Ordering::Relaxed)
}

/// How long a `watch` that was told to end may take for its answer: one look, and a reader that takes it.
const ANSWER: Duration = Duration::from_secs(4);

/// A `watch` that is told to end gives its answer first, as it does at the end of its time. One that can't, since nobody
/// reads its lines, or that is told a second time, ends without. What was ignored when it started stays so (`nohup`).
pub fn answer_before_the_end(command: &Command) {
    #[cfg(unix)]
    if let Command::Watch(_) = command {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let wanted: Vec<i32> = [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|s| !is_ignored(*s)).collect();
        let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
        std::thread::spawn(move || {
            let Some(signal) = signals.forever().next() else { return };
            CAME.store(true, Ordering::Relaxed);
            std::thread::spawn(move || {
                std::thread::sleep(ANSWER);
                std::process::exit(128 + signal);
            });
            if let Some(signal) = signals.forever().next() {
                std::process::exit(128 + signal);
            }
        });
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Whether whoever started us had this signal ignored; where that can't be read, it wasn't.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    u32::try_from(signal - 1).ok().and_then(|bit| mask.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}
