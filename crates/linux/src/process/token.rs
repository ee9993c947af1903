//! Process generations: a process id alone is used again, boot id and start time together are not.

use super::stat;
use serde::{Deserialize, Serialize};
use std::{fmt, io, str::FromStr};

/// One generation of a process id: the boot it lives in and its start time in that boot.
///
/// Written as `BOOT_ID:TICKS`, for example `3f0c…-…:8123`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token {
    boot: String,
    start_ticks: u64,
}

impl Token {
    /// The token of the process that has this id now. `NotFound` when there is none (a zombie counts as ended).
    pub fn of(pid: i32) -> io::Result<Token> {
        let s = stat::read(pid)?;
        if s.is_dead() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Token { boot: boot_id()?, start_ticks: s.start_ticks })
    }

    /// Our own token.
    pub fn own() -> io::Result<Token> {
        Token::of(rustix::process::getpid().as_raw_nonzero().get())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.boot, self.start_ticks)
    }
}

impl From<Token> for String {
    fn from(t: Token) -> String {
        t.to_string()
    }
}

impl FromStr for Token {
    type Err = String;
    fn from_str(s: &str) -> Result<Token, String> {
        let bad = || format!("not a process token: {s:?}");
        let (boot, ticks) = s.rsplit_once(':').ok_or_else(bad)?;
        let start_ticks = ticks.parse().map_err(|_| bad())?;
        if boot.is_empty() || !boot.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return Err(bad());
        }
        Ok(Token { boot: boot.to_owned(), start_ticks })
    }
}

impl TryFrom<String> for Token {
    type Error = String;
    fn try_from(s: String) -> Result<Token, String> {
        s.parse()
    }
}

/// The kernel's id of this boot.
pub fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Whether a recorded process still lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// The process of that token lives.
    Alive,
    /// No process has that id (or only a zombie has it).
    Gone,
    /// Another process has that id now; the recorded one is gone.
    OtherGeneration,
    /// It could not be read (a hidden `/proc`, another user's): neither alive nor gone is proven.
    Unknown,
}

/// Whether the process recorded as `pid` and `token` still lives.
pub fn alive(pid: i32, token: &Token) -> Liveness {
    decide(Token::of(pid), token, || exists(pid))
}

/// The rule of [`alive`], over what was read.
fn decide(read: io::Result<Token>, token: &Token, exists: impl FnOnce() -> bool) -> Liveness {
    match read {
        Ok(now) if now == *token => Liveness::Alive,
        Ok(_) => Liveness::OtherGeneration,
        // With `hidepid` the directory of another user's living process is missing as well.
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if exists() {
                Liveness::Unknown
            } else {
                Liveness::Gone
            }
        }
        Err(_) => Liveness::Unknown,
    }
}

/// A process with that id exists but can't be seen by us: signalling it is forbidden, not impossible.
fn exists(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|p| rustix::process::test_kill_process(p) == Err(rustix::io::Errno::PERM))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(s: &str) -> Token {
        s.parse().unwrap()
    }

    #[test]
    fn is_one_string() {
        let t = token("0b7a2c0e-1111-2222-3333-444455556666:42");
        assert_eq!(t.to_string(), "0b7a2c0e-1111-2222-3333-444455556666:42");
        assert_eq!(serde_json::from_str::<Token>(&serde_json::to_string(&t).unwrap()).unwrap(), t);
        for bad in ["", ":", "x:1", "ab", "ab:", "ab:-1", ":1", "ab:1:z"] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
    }

    #[test]
    fn four_answers() {
        let t = token("ab:1");
        let no = || io::Result::Err(io::ErrorKind::NotFound.into());
        assert_eq!(decide(Ok(token("ab:1")), &t, || false), Liveness::Alive);
        assert_eq!(decide(Ok(token("ab:2")), &t, || false), Liveness::OtherGeneration);
        assert_eq!(decide(Ok(token("ac:1")), &t, || false), Liveness::OtherGeneration);
        assert_eq!(decide(no(), &t, || false), Liveness::Gone);
        assert_eq!(decide(no(), &t, || true), Liveness::Unknown);
        assert_eq!(decide(Err(io::ErrorKind::PermissionDenied.into()), &t, || false), Liveness::Unknown);
    }

    #[test]
    fn we_live_and_a_collected_or_uncollected_child_is_gone() {
        let me = std::process::id() as i32;
        assert_eq!(alive(me, &Token::own().unwrap()), Liveness::Alive);
        assert_eq!(alive(me, &token("ab:1")), Liveness::OtherGeneration);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (pid, t) = (child.id() as i32, Token::of(child.id() as i32).unwrap());
        assert_eq!(alive(pid, &t), Liveness::Alive);
        child.kill().unwrap();
        // Not collected yet: the kernel needs a moment to make it a zombie.
        while alive(pid, &t) == Liveness::Alive {
            std::thread::yield_now();
        }
        assert_eq!(alive(pid, &t), Liveness::Gone);
        child.wait().unwrap();
        assert_eq!(alive(pid, &t), Liveness::Gone);
    }
}
