//! Who started whom, who owns what, and the environment a process was started with.

use super::stat::{self, Stat};
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;

/// All process ids that `/proc` shows us.
pub fn pids() -> Vec<i32> {
    let Ok(dir) = std::fs::read_dir("/proc") else { return Vec::new() };
    dir.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// The user a process runs as; `None` when it is gone or hidden.
pub fn owner(pid: i32) -> Option<u32> {
    // The directory of a process that isn't dumpable belongs to root, so the status file is asked first.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok();
    status.and_then(|s| effective_uid(&s)).or_else(|| std::fs::metadata(format!("/proc/{pid}")).ok().map(|m| m.uid()))
}

/// The effective user id in the text of `/proc/PID/status`.
fn effective_uid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|l| l.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The environment that a process was started with. `None` when it is gone, a zombie or not ours to read.
///
/// Later changes by the process itself are not in it.
pub fn environment(pid: i32) -> Option<HashMap<String, String>> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    (!bytes.is_empty()).then(|| parse_environment(&bytes))
}

/// Splits the bytes of `/proc/PID/environ`. Where a name stands twice, the first one counts, as for `getenv`.
pub fn parse_environment(bytes: &[u8]) -> HashMap<String, String> {
    let mut map = HashMap::new();
    for entry in bytes.split(|b| *b == 0) {
        let entry = String::from_utf8_lossy(entry);
        if let Some((name, value)) = entry.split_once('=').filter(|(n, _)| !n.is_empty()) {
            map.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
    map
}

/// The ancestors of a process, nearest first, without the process itself.
pub fn ancestors(pid: i32) -> Vec<i32> {
    climb(pid, |p| stat::read(p).ok().map(|s| s.parent))
}

/// Our own ancestors, nearest first.
pub fn own_ancestors() -> Vec<i32> {
    ancestors(std::process::id() as i32)
}

fn climb(pid: i32, parent_of: impl Fn(i32) -> Option<i32>) -> Vec<i32> {
    let mut found = Vec::new();
    let mut at = pid;
    // The table changes while it is read, so a circle is possible in principle.
    while let Some(parent) = parent_of(at).filter(|p| *p > 0 && *p != pid && !found.contains(p)) {
        found.push(parent);
        at = parent;
    }
    found
}

/// One look at the whole process table.
pub fn table() -> Vec<Stat> {
    pids().into_iter().filter_map(|p| stat::read(p).ok()).collect()
}

/// The direct children of a process. Zombies are left out.
pub fn children(pid: i32) -> Vec<i32> {
    table().into_iter().filter(|s| s.parent == pid && !s.is_dead()).map(|s| s.pid).collect()
}

/// All descendants of a process in breadth-first order. Zombies are left out, their children are not.
pub fn descendants(pid: i32) -> Vec<i32> {
    below(pid, &table())
}

/// [`descendants`] in a table that was read before.
pub fn below(pid: i32, table: &[Stat]) -> Vec<i32> {
    let mut by_parent: HashMap<i32, Vec<&Stat>> = HashMap::new();
    for s in table {
        by_parent.entry(s.parent).or_default().push(s);
    }
    let (mut found, mut seen, mut at) = (Vec::new(), HashSet::from([pid]), 0);
    let mut queue = vec![pid];
    while at < queue.len() {
        for s in by_parent.get(&queue[at]).into_iter().flatten() {
            if seen.insert(s.pid) {
                queue.push(s.pid);
                if !s.is_dead() {
                    found.push(s.pid);
                }
            }
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: i32, parent: i32, state: char) -> Stat {
        Stat { pid, comm: String::new(), state, parent, threads: 1, start_ticks: 1 }
    }

    #[test]
    fn environment_takes_the_first_of_two() {
        let e = parse_environment(b"A=1\0B=x=y\0A=2\0junk\0=z\0E=\0");
        assert_eq!(e.len(), 3);
        assert_eq!((e["A"].as_str(), e["B"].as_str(), e["E"].as_str()), ("1", "x=y", ""));
    }

    #[test]
    fn climbing_ends_in_circles() {
        let up = HashMap::from([(5, 4), (4, 3), (3, 4), (2, 1), (1, 0)]);
        assert_eq!(climb(5, |p| up.get(&p).copied()), [4, 3]);
        assert_eq!(climb(2, |p| up.get(&p).copied()), [1]);
        assert_eq!(climb(9, |p| up.get(&p).copied()), Vec::<i32>::new());
    }

    #[test]
    fn descendants_pass_through_zombies() {
        let t = [stat(1, 0, 'S'), stat(2, 1, 'S'), stat(3, 2, 'Z'), stat(4, 3, 'S'), stat(9, 8, 'S')];
        assert_eq!(below(1, &t), [2, 4]);
    }

    #[test]
    fn effective_uid_is_the_second() {
        assert_eq!(effective_uid("Name:\tx\nUid:\t1000\t0\t0\t0\n"), Some(0));
        assert_eq!(effective_uid("Name:\tx\n"), None);
    }

    #[test]
    fn sees_this_process() {
        let me = std::process::id() as i32;
        assert!(pids().contains(&me));
        assert_eq!(owner(me), Some(rustix::process::geteuid().as_raw()));
        assert!(!own_ancestors().contains(&me));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(children(me).contains(&(child.id() as i32)));
        assert!(descendants(me).contains(&(child.id() as i32)));
        assert!(ancestors(child.id() as i32).contains(&me));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
