//! The files in a desktop's directory.

use super::environment::DesktopEnv;
use super::error::DesktopError;
use super::options::{Geometry, Request};
use super::runtime_dir::write_private;
use crate::process::{Liveness, Token, alive};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{io, path::Path};

/// A process with its generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRef {
    /// Process id.
    pub pid: i32,
    /// Its generation.
    pub token: Token,
}

impl ProcessRef {
    /// The process with that id now.
    pub fn of(pid: i32) -> io::Result<ProcessRef> {
        Ok(ProcessRef { pid, token: Token::of(pid)? })
    }

    /// Ourselves.
    pub fn own() -> io::Result<ProcessRef> {
        ProcessRef::of(std::process::id() as i32)
    }

    /// Whether it still lives.
    pub fn liveness(&self) -> Liveness {
        alive(self.pid, &self.token)
    }

    /// Certainly ended: gone, or the id belongs to another process now.
    pub fn is_dead(&self) -> bool {
        matches!(self.liveness(), Liveness::Gone | Liveness::OtherGeneration)
    }
}

/// A desktop that is ready: `desktop.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The desktop's id.
    pub id: String,
    /// Size of its screen.
    pub geometry: Geometry,
    /// Executable name of the window manager, if one runs.
    pub window_manager: Option<String>,
    /// The supervisor.
    pub supervisor: ProcessRef,
    /// The X server.
    pub display_server: ProcessRef,
    /// Address of the accessibility bus. For ourselves only: applications must not have it in their environment.
    pub accessibility_bus: String,
    /// Seconds since 1970 at which it was ready.
    pub ready_at: u64,
    /// What programs in it get.
    pub env: DesktopEnv,
}

pub(crate) const OWNER: &str = "owner.json";
pub(crate) const REQUEST: &str = "request.json";
pub(crate) const READY: &str = "desktop.json";
pub(crate) const STOPPER: &str = "stopper.json";

/// Reads one of the files; `None` when it isn't there or isn't whole.
pub(crate) fn load<T: DeserializeOwned>(dir: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&std::fs::read(dir.join(name)).ok()?).ok()
}

pub(crate) fn store<T: Serialize>(dir: &Path, name: &str, value: &T) -> Result<(), DesktopError> {
    let path = dir.join(name);
    serde_json::to_vec(value)
        .map_err(io::Error::from)
        .and_then(|bytes| write_private(&path, &bytes))
        .map_err(|e| DesktopError::io(format!("write {}", path.display()), &e))
}

pub(crate) fn request(dir: &Path) -> Result<Request, DesktopError> {
    load(dir, REQUEST).ok_or_else(|| DesktopError::failed("supervisor", "the request can't be read"))
}

/// An id is a name in our directory and nothing else.
pub fn is_id(id: &str) -> bool {
    (1..=32).contains(&id.len())
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// A new id: `d` and eight hexadecimal digits.
pub(crate) fn new_id() -> Result<String, DesktopError> {
    let bytes = random::<4>()?;
    Ok(format!("d{:08x}", u32::from_be_bytes(bytes)))
}

/// Random bytes of the kernel.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], DesktopError> {
    let mut bytes = [0; N];
    // Up to 256 bytes come whole once the kernel's pool is ready.
    match rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()) {
        Ok(n) if n == N => Ok(bytes),
        Ok(_) => Err(DesktopError::io("read random bytes", &io::ErrorKind::UnexpectedEof.into())),
        Err(e) => Err(DesktopError::io("read random bytes", &e.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names() {
        assert!(is_id(&new_id().unwrap()));
        for bad in ["", ".", "..", "a/b", "D1", "1d", "d-1", ".new", "d\0", &"d".repeat(33)] {
            assert!(!is_id(bad), "{bad}");
        }
    }

    #[test]
    fn files_come_back_whole_or_not_at_all() {
        let t = tempfile::tempdir().unwrap();
        assert_eq!(load::<ProcessRef>(t.path(), OWNER), None);
        let me = ProcessRef::own().unwrap();
        store(t.path(), OWNER, &me).unwrap();
        assert_eq!(load::<ProcessRef>(t.path(), OWNER), Some(me));
        std::fs::write(t.path().join(OWNER), "{\"pid\":1").unwrap();
        assert_eq!(load::<ProcessRef>(t.path(), OWNER), None);
    }
}
