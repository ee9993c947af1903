//! A hand-written D-Bus body writer.
//!
//! The provider has to be able to send what a well-behaved library refuses to build, so bodies are
//! bytes with a signature beside them, and nothing checks that the two agree.

/// A message body: its signature and its little-endian bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Signature as it stands in the message header.
    pub signature: String,
    /// Marshalled bytes, offset 0 being 8-byte aligned.
    pub bytes: Vec<u8>,
}

impl Body {
    /// An empty body.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A body written by `fill`.
    pub fn new(signature: &str, fill: impl FnOnce(&mut Writer)) -> Self {
        let mut writer = Writer::default();
        fill(&mut writer);
        Self { signature: signature.to_owned(), bytes: writer.bytes }
    }

    /// A body of one string.
    pub fn string(text: &str) -> Self {
        Self::new("s", |w| w.string(text.as_bytes()))
    }

    /// A body of one boolean.
    pub fn boolean(value: bool) -> Self {
        Self::new("b", |w| w.u32(u32::from(value)))
    }

    /// A body of one signed number.
    pub fn int(value: i32) -> Self {
        Self::new("i", |w| w.i32(value))
    }

    /// A body of one unsigned number.
    pub fn uint(value: u32) -> Self {
        Self::new("u", |w| w.u32(value))
    }

    /// A body of one object reference.
    pub fn reference(bus: &str, path: &str) -> Self {
        Self::new("(so)", |w| w.reference(bus, path))
    }

    /// This body's single value as a variant, as `Properties.Get` returns it.
    pub fn into_variant(self) -> Self {
        Self::new("v", |w| w.variant(&self))
    }
}

/// Writes D-Bus values with their alignment.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Pads to a boundary.
    pub fn align(&mut self, boundary: usize) {
        while !self.bytes.len().is_multiple_of(boundary) {
            self.bytes.push(0);
        }
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// An unsigned 32-bit number (also a boolean).
    pub fn u32(&mut self, value: u32) {
        self.align(4);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A signed 32-bit number.
    pub fn i32(&mut self, value: i32) {
        self.align(4);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A double.
    pub fn f64(&mut self, value: f64) {
        self.align(8);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A string or an object path, from bytes that nobody checks.
    pub fn string(&mut self, value: &[u8]) {
        self.u32(value.len() as u32);
        self.bytes.extend_from_slice(value);
        self.bytes.push(0);
    }

    /// A signature.
    pub fn signature(&mut self, value: &str) {
        self.bytes.push(value.len() as u8);
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(0);
    }

    /// An object reference `(so)`.
    pub fn reference(&mut self, bus: &str, path: &str) {
        self.align(8);
        self.string(bus.as_bytes());
        self.string(path.as_bytes());
    }

    /// An array whose elements align to `boundary`.
    pub fn array(&mut self, boundary: usize, fill: impl FnOnce(&mut Self)) {
        self.u32(0);
        let length_at = self.bytes.len() - 4;
        self.align(boundary);
        let start = self.bytes.len();
        fill(self);
        let length = (self.bytes.len() - start) as u32;
        self.bytes[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// A body's single value as a variant. Alignment holds because it is written again from its
    /// own offset 0: only values whose padding doesn't depend on the position are copied.
    pub fn variant(&mut self, body: &Body) {
        self.signature(&body.signature);
        // Every value that properties carry starts with an alignment of 4 or 8; its inner padding
        // is right only when it starts at a multiple of 8, or has no 8-aligned parts.
        let boundary = match body.signature.as_bytes().first() {
            Some(b'(' | b'd' | b'x' | b't') => 8,
            Some(b's' | b'o' | b'i' | b'u' | b'b') => 4,
            Some(b'y' | b'g' | b'v') => 1,
            _ => 8,
        };
        self.align(boundary);
        self.bytes.extend_from_slice(&body.bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn array_length_excludes_the_padding_before_the_first_element() {
        let body = Body::new("a(so)", |w| w.array(8, |w| w.reference(":1.1", "/a")));
        // length 4 + padding 4, then the struct: 4+4+1, pad to 12, 4+2+1 = 19
        assert_eq!(body.bytes.len(), 8 + 19);
        assert_eq!(&body.bytes[..4], &19u32.to_le_bytes());
    }

    #[test]
    fn variant_of_a_string() {
        let body = Body::string("ab").into_variant();
        assert_eq!(body.bytes, [1, b's', 0, 0, 2, 0, 0, 0, b'a', b'b', 0]);
    }

    #[test]
    fn bodies_read_back_through_zbus() {
        let body = Body::new("a(so)", |w| {
            w.array(8, |w| {
                w.reference(":1.1", "/a");
                w.reference(":1.22", "/b/c");
            });
        });
        let message = crate::link::method_call(":1.5", "/", "a.b", "C", &body).unwrap();
        let read: Vec<(String, zbus::zvariant::OwnedObjectPath)> = message.body().deserialize().unwrap();
        assert_eq!(read[1].0, ":1.22");
        assert_eq!(read[1].1.as_str(), "/b/c");
    }
}
