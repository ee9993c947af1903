//! `/proc/PID/stat`, read into the few facts that are needed.

use std::io;

/// What `/proc/PID/stat` says about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: i32,
    /// `comm`: at most 15 bytes, chosen by the process itself.
    pub comm: String,
    /// State letter: `R`, `S`, `D`, `T` (stopped), `t` (traced), `Z` (zombie), `X` (dead), …
    pub state: char,
    /// Parent's process id; 0 for the first process of a pid namespace.
    pub parent: i32,
    /// Threads that haven't ended (field 20).
    pub threads: u32,
    /// Start time in clock ticks since boot (field 22).
    pub start_ticks: u64,
}

impl Stat {
    /// Stopped by a signal or a tracer: it will not answer anybody until it is continued.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    /// Ended, although its parent has not collected it yet. The state is that of the first thread, which may have ended
    /// alone: while others run, the process lives.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }
}

/// Parses the one line of `/proc/PID/stat`.
///
/// `comm` may hold spaces and parentheses, so it ends at the *last* `)` of the line. `None` when the line is not of that form.
pub fn parse(line: &str) -> Option<Stat> {
    let open = line.find('(')?;
    let close = line.rfind(')')?;
    let pid = line.get(..open)?.trim().parse().ok()?;
    let comm = line.get(open + 1..close)?.to_owned();
    let mut rest = line.get(close + 1..)?.split_ascii_whitespace();
    let state = rest.next()?.chars().next()?;
    let parent = rest.next()?.parse().ok()?;
    // `rest` started at field 3 and has given two: field 20 is the 16th of what is left, field 22 the second after it.
    let threads = rest.nth(15)?.parse().ok()?;
    let start_ticks = rest.nth(1)?.parse().ok()?;
    Some(Stat { pid, comm, state, parent, threads, start_ticks })
}

/// Reads the process's `stat`. `NotFound` means that no such process is visible to us.
pub fn read(pid: i32) -> io::Result<Stat> {
    let bytes = match std::fs::read(format!("/proc/{pid}/stat")) {
        // A process that ends between open and read answers ESRCH.
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
            return Err(io::ErrorKind::NotFound.into());
        }
        other => other?,
    };
    parse(&String::from_utf8_lossy(&bytes))
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unexpected form of /proc/PID/stat"))
}

/// Whether no thread of the process runs: all are stopped or ended. The process's own state is that of its first thread.
pub fn stands_still(pid: i32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|t| {
        std::fs::read(t.path().join("stat"))
            .ok()
            .and_then(|b| parse(&String::from_utf8_lossy(&b)))
            .is_none_or(|s| s.is_stopped() || matches!(s.state, 'Z' | 'X' | 'x'))
    })
}

/// Whether the process is stopped (SIGSTOP, a debugger). `None` when it can't be read.
pub fn is_stopped(pid: i32) -> Option<bool> {
    read(pid).ok().map(|s| s.is_stopped())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "S 7 1234 1234 0 -1 4194560 100 0 0 0 5 6 0 0 20 0 1 0 987654 1000 200 18446744073709551615";

    #[test]
    fn reads_the_fields() {
        let s = parse(&format!("4711 (bash) {TAIL}")).unwrap();
        assert_eq!((s.pid, s.comm.as_str(), s.state, s.parent, s.start_ticks), (4711, "bash", 'S', 7, 987654));
        assert!(!s.is_stopped() && !s.is_dead());
        let zombie = |threads| Stat { state: 'Z', threads, ..s.clone() }.is_dead();
        assert!(zombie(1) && !zombie(2), "the first thread may end before the process");
    }

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let s = parse(&format!("4711 (a) Z 1 (b c)) {TAIL}")).unwrap();
        assert_eq!((s.comm.as_str(), s.state, s.start_ticks), ("a) Z 1 (b c)", 'S', 987654));
    }

    #[test]
    fn short_or_foreign_lines_are_refused() {
        for bad in ["", "1", "1 (x", "1 (x)", "1 (x) S", "1 (x) S 2 3", "x (x) S 1 2 3", ")(", "4 )x( S"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn stillness_is_that_of_all_threads() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let signal = |s| rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), s).unwrap();
        assert!(!stands_still(pid));
        signal(rustix::process::Signal::STOP);
        while !stands_still(pid) {
            std::thread::yield_now();
        }
        assert_eq!(is_stopped(pid), Some(true));
        signal(rustix::process::Signal::KILL);
        child.wait().unwrap();
        assert!(stands_still(pid) && is_stopped(pid).is_none());
    }

    #[test]
    fn reads_ourselves() {
        let me = read(std::process::id() as i32).unwrap();
        assert_eq!(me.pid, std::process::id() as i32);
        assert!(me.start_ticks > 0 && !me.is_dead());
        assert_eq!(read(i32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
