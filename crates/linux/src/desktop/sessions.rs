//! The running graphical sessions of this user, found by the environment of their processes: for SSH, cron and containers,
//! where the variables of the session are not ours.

use super::environment::MARKER;
use crate::process::tree;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// What has to be known of a session to join it.
const VARIABLES: [&str; 8] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_ID",
];

/// A graphical session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its variables, as far as processes carry them; at least the bus and a display.
    pub env: BTreeMap<String, String>,
    /// The private desktop that it is, if it is one.
    pub private: Option<String>,
    /// How many processes carry these variables.
    pub processes: usize,
}

impl Session {
    fn get(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str)
    }
}

/// Finds this user's graphical sessions whose bus and display answer. Other users' processes are never looked at,
/// not even by root. Our own session is among them. Private desktops stand last.
pub fn auto() -> Vec<Session> {
    let us = rustix::process::geteuid().as_raw();
    let found = tree::pids()
        .into_iter()
        .filter(|pid| tree::owner(*pid) == Some(us))
        .filter_map(tree::environment)
        .filter_map(|env| candidate(&env));
    let mut sessions = merge(found.collect());
    sessions.retain(is_alive);
    sessions
}

/// What one process says about its session; `None` when it has no display or no bus.
fn candidate(env: &HashMap<String, String>) -> Option<Session> {
    let said: BTreeMap<String, String> = VARIABLES
        .iter()
        .filter_map(|n| env.get(*n).filter(|v| !v.is_empty()).map(|v| ((*n).to_owned(), v.clone())))
        .collect();
    let graphical = said.contains_key("DISPLAY") || said.contains_key("WAYLAND_DISPLAY");
    (graphical && said.contains_key("DBUS_SESSION_BUS_ADDRESS")).then(|| Session {
        env: said,
        private: env.get(MARKER).cloned(),
        processes: 1,
    })
}

/// One session for all processes that agree: the same bus, and no different display. (One user bus can serve two X
/// sessions; in a Wayland session some processes know only one of the two displays.)
fn merge(mut candidates: Vec<Session>) -> Vec<Session> {
    // The best informed first, so that those that say less join them; then in a stable order.
    candidates.sort_by_key(|s| {
        let displays = ["DISPLAY", "WAYLAND_DISPLAY"].iter().filter(|n| s.get(n).is_some()).count();
        (std::cmp::Reverse((displays, s.env.len())), s.env.clone())
    });
    let mut sessions: Vec<Session> = Vec::new();
    for c in candidates {
        let same = |s: &Session| {
            bus_of(s) == bus_of(&c)
                && s.private == c.private
                && ["DISPLAY", "WAYLAND_DISPLAY"].iter().all(|n| agree(s.get(n), c.get(n), n))
        };
        match sessions.iter_mut().find(|s| same(s)) {
            Some(s) => {
                s.processes += 1;
                for (name, value) in c.env {
                    s.env.entry(name).or_insert(value);
                }
            }
            None => sessions.push(c),
        }
    }
    // The user's own desktop before private ones, the busiest first.
    sessions.sort_by_key(|s| (s.private.is_some(), std::cmp::Reverse(s.processes)));
    sessions
}

fn agree(a: Option<&str>, b: Option<&str>, name: &str) -> bool {
    let screenless = |v: &str| match (name, v.rsplit_once('.')) {
        ("DISPLAY", Some((display, _))) => display.to_owned(),
        _ => v.to_owned(),
    };
    match (a, b) {
        (Some(a), Some(b)) => screenless(a) == screenless(b),
        _ => true,
    }
}

/// The bus without the parts that differ between equal addresses.
fn bus_of(s: &Session) -> String {
    let address = s.get("DBUS_SESSION_BUS_ADDRESS").unwrap_or_default();
    address.split(',').filter(|p| !p.starts_with("guid=")).collect::<Vec<_>>().join(",")
}

/// Somebody listens on the bus and on a display: variables outlive sessions, for instance in terminal multiplexers.
fn is_alive(s: &Session) -> bool {
    let bus = bus_of(s).split(';').any(bus_answers);
    let x = s
        .get("DISPLAY")
        .and_then(crate::x11::connection::local_display)
        .is_some_and(|(n, _)| crate::x11::connection::open_socket(n).is_ok());
    let wayland = || {
        s.get("WAYLAND_DISPLAY").is_some_and(|w| {
            let path = Path::new(s.get("XDG_RUNTIME_DIR").unwrap_or("/")).join(w);
            UnixStream::connect(path).is_ok()
        })
    };
    bus && (x || wayland())
}

fn bus_answers(address: &str) -> bool {
    use std::os::linux::net::SocketAddrExt;
    for part in address.trim_start_matches("unix:").split(',') {
        let answered = match part.split_once('=') {
            Some(("path", p)) => UnixStream::connect(unescape(p)),
            Some(("abstract", p)) => std::os::unix::net::SocketAddr::from_abstract_name(unescape(p))
                .and_then(|a| UnixStream::connect_addr(&a)),
            _ => continue,
        };
        return answered.is_ok();
    }
    false
}

/// D-Bus addresses escape bytes as `%xx`.
fn unescape(value: &str) -> String {
    let mut out = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%')
            .then(|| tail.get(..2).and_then(|h| u8::from_str_radix(std::str::from_utf8(h).ok()?, 16).ok()))
            .flatten();
        match code {
            Some(byte) => {
                out.push(byte);
                rest = &tail[2..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(vars: &[(&str, &str)]) -> Option<Session> {
        candidate(&vars.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect())
    }

    const BUS: (&str, &str) = ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus");

    #[test]
    fn needs_a_display_and_a_bus() {
        assert!(process(&[BUS]).is_none());
        assert!(process(&[("DISPLAY", ":0")]).is_none());
        assert!(process(&[BUS, ("DISPLAY", "")]).is_none());
        assert!(process(&[BUS, ("DISPLAY", ":0")]).is_some());
        assert!(process(&[BUS, ("WAYLAND_DISPLAY", "wayland-0")]).is_some());
    }

    #[test]
    fn processes_of_one_session_are_one() {
        let all = [
            process(&[BUS, ("WAYLAND_DISPLAY", "wayland-0")]),
            process(&[BUS, ("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0"), ("XAUTHORITY", "/x")]),
            process(&[("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus,guid=ab"), ("DISPLAY", ":0.0")]),
        ];
        let s = merge(all.into_iter().flatten().collect());
        assert_eq!(s.len(), 1, "{s:?}");
        assert_eq!((s[0].processes, s[0].get("XAUTHORITY")), (3, Some("/x")));
    }

    #[test]
    fn two_displays_on_one_bus_are_two_and_private_ones_come_last() {
        let all = [
            process(&[("DBUS_SESSION_BUS_ADDRESS", "unix:path=/p"), ("DISPLAY", ":9"), (MARKER, "d1")]),
            process(&[("DBUS_SESSION_BUS_ADDRESS", "unix:path=/p"), ("DISPLAY", ":9"), (MARKER, "d1")]),
            process(&[BUS, ("DISPLAY", ":0")]),
            process(&[BUS, ("DISPLAY", ":1")]),
        ];
        let s = merge(all.into_iter().flatten().collect());
        let shown: Vec<_> = s.iter().map(|s| (s.get("DISPLAY"), s.private.as_deref())).collect();
        assert_eq!(shown, [(Some(":0"), None), (Some(":1"), None), (Some(":9"), Some("d1"))]);
    }

    #[test]
    fn addresses() {
        assert_eq!(unescape("/a%20b%"), "/a b%");
        assert!(!bus_answers("unix:path=/nonexistent/bus"));
        assert!(!bus_answers("tcp:host=localhost,port=1"));
    }
}
