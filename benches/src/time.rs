//! Wall time and peak memory of whole processes.

use crate::Result;
use std::process::{Command, Stdio};
use std::time::Instant;

pub fn time(runs: &str, command: &[&str]) -> Result<()> {
    let mut took = Vec::new();
    let mut peak = 0;
    for _ in 0..runs.parse::<usize>()? {
        let begun = Instant::now();
        let child = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let (code, kib) = wait(child.id())?;
        took.push(begun.elapsed().as_secs_f64() * 1_000.0);
        peak = peak.max(kib);
        if code != 0 {
            return Err(format!("{command:?} ended with {code}").into());
        }
    }
    took.sort_by(f64::total_cmp);
    let median = took.get(took.len() / 2).copied().ok_or("no run was asked for")?;
    println!("{}", serde_json::json!({"median_ms": median, "min_ms": took[0], "peak_kib": peak, "runs": took.len()}));
    Ok(())
}

/// Exit code and peak memory of a child. What it had before its own program began doesn't count: this process is small.
fn wait(pid: u32) -> Result<(i32, i64)> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid value to be overwritten.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = libc::pid_t::try_from(pid)?;
    // SAFETY: both pointers are to live locals.
    let got = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
    if got != pid {
        return Err(std::io::Error::last_os_error().into());
    }
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
    Ok((code, usage.ru_maxrss))
}
