//! Whether a file is a whole PNG of a size that can be handled. The pixels are not unpacked.

/// Pixels beyond this are refused: unpacked they take 256 MiB.
pub const MAX_PIXELS: u64 = 64_000_000;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Width and height.
///
/// Signature, header, and the chain of chunks up to the end are looked at, so that a file that was cut is found out.
///
/// # Errors
/// What is wrong with it, in words.
pub fn size(bytes: &[u8]) -> Result<(u32, u32), String> {
    let mut rest = bytes.strip_prefix(SIGNATURE).ok_or("it has not the signature of a PNG")?;
    let mut size = None;
    let mut data = false;
    loop {
        let (kind, content, after) = chunk(rest).ok_or("it ends in the middle")?;
        match (kind, size) {
            (b"IHDR", None) => size = Some(header(content)?),
            (_, None) => return Err("it has no header".to_owned()),
            (b"IDAT", _) => data = true,
            (b"IEND", Some(size)) if data => return Ok(size),
            (b"IEND", _) => return Err("it has no pixels".to_owned()),
            _ => {}
        }
        rest = after;
    }
}

/// One chunk: its kind, its content, and what comes after its checksum.
fn chunk(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_at_checked(4)?;
    let (content, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((kind, content, rest.get(4..)?))
}

fn header(content: &[u8]) -> Result<(u32, u32), String> {
    let [w0, w1, w2, w3, h0, h1, h2, h3, _, _, _, _, _] = *content else {
        return Err("its header has the wrong length".to_owned());
    };
    let (width, height) = (u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]));
    match u64::from(width) * u64::from(height) {
        0 => Err("it has no size".to_owned()),
        pixels if pixels > MAX_PIXELS => {
            Err(format!("it has {width} x {height} pixels, more than {MAX_PIXELS} in all"))
        }
        _ => Ok((width, height)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file of these dimensions whose pixels nobody unpacks.
    pub fn png(width: u32, height: u32) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
        for (kind, content) in [(b"IHDR", &header[..]), (b"IDAT", b"x"), (b"IEND", b"")] {
            out.extend((content.len() as u32).to_be_bytes());
            out.extend(kind);
            out.extend(content);
            out.extend([0; 4]);
        }
        out
    }

    #[test]
    fn a_whole_file_tells_its_size() {
        assert_eq!(size(&png(640, 480)), Ok((640, 480)));
        assert_eq!(size(&png(64_000, 1_000)), Ok((64_000, 1_000)));
    }

    #[test]
    fn what_is_no_whole_png_is_refused() {
        let whole = png(2, 2);
        for cut in 0..whole.len() {
            assert!(size(&whole[..cut]).is_err(), "cut at {cut}");
        }
        assert!(size(b"GIF89a").is_err());
        assert!(size(&png(0, 5)).is_err());
        assert!(size(&png(64_001, 1_000)).is_err());
        assert!(size(&png(u32::MAX, u32::MAX)).is_err());
    }
}
