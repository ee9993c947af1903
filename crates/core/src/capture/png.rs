//! Pictures as PNG.

use crate::error::{Code, Error, Result};
use crate::platform::Pixels;

/// The picture as a file: eight bits for each of three colours. Fast rather than small; a screen takes some 10 ms.
pub(crate) fn encode(pixels: &Pixels) -> Result<Vec<u8>> {
    let failed = |e: png::EncodingError| {
        Error::before(Code::Internal, "the picture could not be encoded").platform(e.to_string())
    };
    let rgb: Vec<u8> = pixels.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, pixels.width, pixels.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&rgb).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_back_as_it_was() {
        let rgba: Vec<u8> = (0..7 * 5).flat_map(|i: u8| [i, 255 - i, i.wrapping_mul(37), 255]).collect();
        let file = encode(&Pixels { width: 7, height: 5, rgba: rgba.clone() }).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut rgb = vec![0; 7 * 5 * 3];
        reader.next_frame(&mut rgb).unwrap();
        let want: Vec<u8> = rgba.chunks_exact(4).flat_map(|p| p[..3].to_vec()).collect();
        assert_eq!(rgb, want);
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(encode(&Pixels { width: 0, height: 0, rgba: Vec::new() }).is_err());
    }
}
