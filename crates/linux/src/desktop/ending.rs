//! Ending everything that belongs to a desktop, and nothing else.

use super::environment::{DIRECTORY, MARKER};
use super::record::{self, ProcessRef, Record};
use crate::process::{spawn, stat, tree};
use rustix::process::{Pid, PidfdFlags, Signal};
use std::collections::{HashMap, HashSet};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long processes may take after SIGTERM, for instance to write their settings.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// How long processes may take to stop; one that waits for a disk takes longer and is not waited for.
const FREEZE_LIMIT: Duration = Duration::from_secs(3);
/// How long the kernel may take after SIGKILL.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// The mark that a process of ours carries: id and directory of its desktop.
fn mark(pid: i32) -> Option<(String, String)> {
    let mut env = tree::environment(pid)?;
    Some((env.remove(MARKER)?, env.remove(DIRECTORY)?))
}

/// Processes of this user that carry the mark of a desktop directly below `desktops`, with that desktop's id.
pub(crate) fn marked(desktops: &Path) -> Vec<(i32, String)> {
    let us = rustix::process::geteuid().as_raw();
    tree::pids()
        .into_iter()
        .filter_map(|pid| {
            let (id, dir) = mark(pid)?;
            // Root can read every environment: the mark alone doesn't make a process ours.
            let ours = Path::new(&dir) == desktops.join(&id) && tree::owner(pid) == Some(us);
            ours.then_some((pid, id))
        })
        .collect()
}

/// Signals exactly that generation of a process. The descriptor holds the process, so a number that was given to another
/// process in between is not hit.
pub(crate) fn signal_process(process: &ProcessRef, sig: Signal) {
    let Some(p) = Pid::from_raw(process.pid) else { return };
    match rustix::process::pidfd_open(p, PidfdFlags::empty()) {
        Ok(fd) => {
            if !process.is_dead() {
                let _ = rustix::process::pidfd_send_signal(&fd, sig);
            }
        }
        Err(rustix::io::Errno::SRCH) => {}
        // No pidfds here.
        Err(_) => {
            if !process.is_dead() {
                let _ = rustix::process::kill_process(p, sig);
            }
        }
    }
}

/// Ends all processes that `find` finds and all their descendants, except those to be spared, again and again until there
/// are none: SIGTERM, then SIGKILL. Returns those that are left.
///
/// Descendants are remembered from the first look on: programs such as Chromium overwrite the environment of their
/// helpers, and a helper that outlives its parent carries no mark and has lost its place in the tree.
pub(crate) fn end_all(find: impl Fn() -> Vec<i32>, spared: impl Fn(i32) -> bool, grace: Duration) -> Vec<i32> {
    let us = rustix::process::geteuid().as_raw();
    let mut known: HashMap<i32, ProcessRef> = HashMap::new();
    let mut look = || {
        let found = find();
        let table = tree::table();
        let below = found.iter().flat_map(|p| tree::below(*p, &table));
        for pid in found.iter().copied().chain(below).filter(|p| !spared(*p)) {
            if !known.contains_key(&pid)
                && tree::owner(pid) == Some(us)
                && let Ok(process) = ProcessRef::of(pid)
            {
                known.insert(pid, process);
            }
        }
        known.retain(|_, p| !p.is_dead());
        known.values().cloned().collect::<Vec<_>>()
    };
    freeze(&mut look);
    for (sig, limit) in [(Signal::TERM, grace), (Signal::KILL, KILL_LIMIT)] {
        let end = Instant::now() + limit;
        let mut told = HashSet::new();
        loop {
            let living = look();
            if living.is_empty() {
                return Vec::new();
            }
            for process in &living {
                if told.insert(process.pid) {
                    signal_process(process, sig);
                    signal_process(process, Signal::CONT);
                }
            }
            for process in &living {
                spawn::wait_gone(process.pid, end.saturating_duration_since(Instant::now()));
            }
            if Instant::now() >= end {
                break;
            }
        }
    }
    look().iter().map(|p| p.pid).collect()
}

/// Stops everything that `look` finds until it finds nothing new. A helper that is forked between a look and its parent's
/// end would never be found.
fn freeze(look: &mut impl FnMut() -> Vec<ProcessRef>) {
    let end = Instant::now() + FREEZE_LIMIT;
    let mut told = HashSet::new();
    let mut still = false;
    loop {
        let living = look();
        let mut new = false;
        for process in &living {
            if told.insert(process.pid) {
                new = true;
                signal_process(process, Signal::STOP);
            }
        }
        // Only a look that was begun when everything stood still has seen every fork.
        if (still && !new) || Instant::now() >= end {
            return;
        }
        still = living.iter().all(|p| stat::stands_still(p.pid));
        if !still {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Clears away a desktop whose supervisor is dead: its processes, the X server's socket, its directory.
/// Returns processes that could not be ended.
pub(crate) fn clear(desktops: &Path, id: &str) -> Vec<i32> {
    let dir = desktops.join(id);
    let record: Option<Record> = record::load(&dir, record::READY);
    let us = std::process::id() as i32;
    let find = || marked(desktops).into_iter().filter(|(_, i)| i == id).map(|(p, _)| p).collect();
    let left = end_all(find, |p| p == us, GRACE);
    if let Some(r) = record {
        remove_x_socket(r.env.get("DISPLAY").unwrap_or_default(), &r.display_server);
    }
    // Renamed first, so that nobody takes a half removed directory for a desktop.
    let dead = desktops.join(format!(".dead-{id}-{us}"));
    if std::fs::rename(&dir, &dead).is_ok() {
        let _ = std::fs::remove_dir_all(&dead);
    }
    left
}

/// A killed X server leaves its socket behind (and a lock file, unless it chose its display itself). They go only when
/// that server is dead and nobody else listens there.
pub(crate) fn remove_x_socket(display: &str, server: &ProcessRef) {
    let Some((number, _)) = crate::x11::connection::local_display(display) else { return };
    if !server.is_dead() {
        return;
    }
    let socket = format!("/tmp/.X11-unix/X{number}");
    if UnixStream::connect(&socket).is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused) {
        let _ = std::fs::remove_file(socket);
    }
    let lock = format!("/tmp/.X{number}-lock");
    if std::fs::read_to_string(&lock).is_ok_and(|t| t.trim().parse() == Ok(server.pid)) {
        let _ = std::fs::remove_file(lock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn sleeper(id: &str, dir: &Path, script: &str) -> std::process::Child {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{script} echo; exec sleep 60")])
            .env(MARKER, id)
            .env(DIRECTORY, dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The trap is set once the line is there.
        let mut line = [0; 1];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        child
    }

    #[test]
    fn a_helper_without_a_mark_ends_with_its_parent() {
        let t = tempfile::tempdir().unwrap();
        let dir = t.path().join("dc");
        let script =
            format!("env -u {MARKER} sleep 61 & echo $! >{0}.part; mv {0}.part {0};", t.path().join("pid").display());
        let mut parent = sleeper("dc", &dir, &script);
        let helper: i32 = std::fs::read_to_string(t.path().join("pid")).unwrap().trim().parse().unwrap();
        let helper = ProcessRef::of(helper).unwrap();
        let find = || marked(t.path()).into_iter().map(|(p, _)| p).collect();
        assert_eq!(end_all(find, |_| false, Duration::from_secs(2)), Vec::<i32>::new());
        assert!(helper.is_dead());
        let _ = parent.wait();
    }

    #[test]
    fn finds_and_ends_only_marked_ones_of_its_directory() {
        let t = tempfile::tempdir().unwrap();
        let mut ours = sleeper("da", &t.path().join("da"), "");
        let mut stubborn = sleeper("da", &t.path().join("da"), "trap '' TERM;");
        let mut other_id = sleeper("db", &t.path().join("db"), "");
        let mut other_dir = sleeper("da", Path::new("/elsewhere/da"), "");
        let mut found: Vec<i32> = marked(t.path()).into_iter().filter(|(_, i)| i == "da").map(|(p, _)| p).collect();
        found.sort_unstable();
        let mut want = [ours.id() as i32, stubborn.id() as i32];
        want.sort_unstable();
        assert_eq!(found, want);
        let find = || marked(t.path()).into_iter().filter(|(_, i)| i == "da").map(|(p, _)| p).collect();
        assert_eq!(end_all(find, |_| false, Duration::from_millis(200)), Vec::<i32>::new());
        assert!(other_id.try_wait().unwrap().is_none());
        assert!(other_dir.try_wait().unwrap().is_none());
        for c in [&mut ours, &mut stubborn, &mut other_id, &mut other_dir] {
            let _ = c.kill();
            let _ = c.wait();
        }
    }
}
