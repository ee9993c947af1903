//! The Xauthority file: a list of cookies, each for an address and a display.
//!
//! Form (Xau(3)): family, then address, display number, name and data, each as a 16-bit length and bytes, all big-endian.

use std::io;
use std::path::Path;

/// The one method that local X servers use.
pub const MAGIC_COOKIE: &str = "MIT-MAGIC-COOKIE-1";

const FAMILY_LOCAL: u16 = 256;
const FAMILY_WILD: u16 = 65535;

/// One entry of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Kind of address; 256 is a host name, 65535 matches any.
    pub family: u16,
    /// Address in the family's own form.
    pub address: Vec<u8>,
    /// Display number in decimal digits; empty matches any.
    pub number: Vec<u8>,
    /// Method, for instance [`MAGIC_COOKIE`].
    pub name: Vec<u8>,
    /// The secret.
    pub data: Vec<u8>,
}

impl Entry {
    /// A cookie for any address and any display number: the server's file is written before the server has chosen its number.
    pub fn any_display(cookie: &[u8]) -> Entry {
        Entry {
            family: FAMILY_WILD,
            address: Vec::new(),
            number: Vec::new(),
            name: MAGIC_COOKIE.into(),
            data: cookie.to_owned(),
        }
    }

    /// The entry's bytes. Fields over 65,535 bytes are cut, which no method has.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.family.to_be_bytes().to_vec();
        for field in [&self.address, &self.number, &self.name, &self.data] {
            let len = u16::try_from(field.len()).unwrap_or(u16::MAX);
            out.extend(len.to_be_bytes());
            out.extend(&field[..len.into()]);
        }
        out
    }
}

/// All whole entries of the bytes; a torn tail is dropped.
pub fn parse(mut bytes: &[u8]) -> Vec<Entry> {
    fn short(b: &mut &[u8]) -> Option<u16> {
        let (head, tail) = b.split_first_chunk::<2>()?;
        *b = tail;
        Some(u16::from_be_bytes(*head))
    }
    fn field(b: &mut &[u8]) -> Option<Vec<u8>> {
        let len = short(b)?.into();
        let (head, tail) = b.split_at_checked(len)?;
        *b = tail;
        Some(head.to_owned())
    }
    fn entry(b: &mut &[u8]) -> Option<Entry> {
        Some(Entry { family: short(b)?, address: field(b)?, number: field(b)?, name: field(b)?, data: field(b)? })
    }
    std::iter::from_fn(|| entry(&mut bytes)).collect()
}

/// The cookie for a local display: any-address entries and those of this host count, the first one wins (XauGetBestAuthByAddr).
pub fn cookie_for(entries: &[Entry], host: &[u8], display_number: u16) -> Option<Vec<u8>> {
    let number = display_number.to_string().into_bytes();
    entries
        .iter()
        .filter(|e| e.family == FAMILY_WILD || e.family == FAMILY_LOCAL && e.address == host)
        .filter(|e| e.number.is_empty() || e.number == number)
        .find(|e| e.name == MAGIC_COOKIE.as_bytes())
        .map(|e| e.data.clone())
}

/// Reads a cookie for the local display from the file. `None` when the file has none.
pub fn read_cookie(path: &Path, display_number: u16) -> io::Result<Option<Vec<u8>>> {
    let host = rustix::system::uname().nodename().to_bytes().to_owned();
    Ok(cookie_for(&parse(&std::fs::read(path)?), &host, display_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(family: u16, address: &str, number: &str, name: &str, data: &str) -> Entry {
        Entry { family, address: address.into(), number: number.into(), name: name.into(), data: data.into() }
    }

    #[test]
    fn bytes_are_those_of_xauth() {
        let e = Entry::any_display(&[7; 16]);
        let mut want = vec![0xff, 0xff, 0, 0, 0, 0, 0, 18];
        want.extend(b"MIT-MAGIC-COOKIE-1");
        want.extend([0, 16]);
        want.extend([7; 16]);
        assert_eq!(e.to_bytes(), want);
        assert_eq!(parse(&want), std::slice::from_ref(&e));
    }

    #[test]
    fn a_torn_tail_is_dropped() {
        let mut bytes = Entry::any_display(&[1; 16]).to_bytes();
        let whole = bytes.len();
        bytes.extend(Entry::any_display(&[2; 16]).to_bytes());
        for cut in whole..bytes.len() {
            assert_eq!(parse(&bytes[..cut]).len(), 1);
        }
        assert_eq!(parse(&bytes).len(), 2);
    }

    #[test]
    fn picks_the_first_that_fits() {
        let list = [
            entry(256, "other", "3", MAGIC_COOKIE, "wrong host"),
            entry(256, "here", "4", MAGIC_COOKIE, "wrong display"),
            entry(256, "here", "3", "XDM-AUTHORIZATION-1", "wrong method"),
            entry(256, "here", "3", MAGIC_COOKIE, "right"),
            entry(65535, "", "", MAGIC_COOKIE, "later"),
        ];
        assert_eq!(cookie_for(&list, b"here", 3).unwrap(), b"right");
        assert_eq!(cookie_for(&list, b"elsewhere", 3).unwrap(), b"later");
        assert_eq!(cookie_for(&list[..4], b"here", 9), None);
    }
}
