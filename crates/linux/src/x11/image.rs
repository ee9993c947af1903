//! From the server's image bytes to red, green, blue, alpha.

use super::connection::Connection;
use super::error::X11Error;
use x11rb::protocol::xproto::{ImageOrder, VisualClass, Visualtype};

/// How pixels of one depth and visual lie in the server's images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    bits: u8,
    pad: u8,
    most_significant_first: bool,
    channels: [Channel; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Channel {
    shift: u32,
    max: u32,
}

impl Channel {
    fn of(mask: u32) -> Option<Channel> {
        let shift = mask.trailing_zeros();
        let max = mask.checked_shr(shift)?;
        (max.count_ones() == u32::BITS - max.leading_zeros()).then_some(Channel { shift, max })
    }

    /// The channel of a pixel on the scale to 255.
    fn read(self, pixel: u32) -> u8 {
        let value = (pixel >> self.shift) & self.max;
        if self.max == 255 {
            return value as u8;
        }
        ((u64::from(value) * 255 + u64::from(self.max) / 2) / u64::from(self.max)) as u8
    }
}

impl Layout {
    /// The layout of a depth and visual.
    ///
    /// # Errors
    /// `Unsupported` for visuals whose pixels are indices into a table of colours, and for unknown ones.
    pub fn of(x: &Connection, depth: u8, visual: u32) -> Result<Layout, X11Error> {
        use x11rb::connection::Connection as _;
        let unsupported = |what: &str| X11Error::Unsupported { what: format!("{what} for a picture of depth {depth}") };
        let setup = x.raw().setup();
        let format = setup.pixmap_formats.iter().find(|f| f.depth == depth).ok_or_else(|| unsupported("format"))?;
        let visual = x
            .screen()
            .allowed_depths
            .iter()
            .flat_map(|d| &d.visuals)
            .find(|v| v.visual_id == visual)
            .ok_or_else(|| unsupported("visual"))?;
        let most_significant_first = setup.image_byte_order == ImageOrder::MSB_FIRST;
        Layout::from(visual, format.bits_per_pixel, format.scanline_pad, most_significant_first)
            .ok_or_else(|| unsupported("colours in the pixels"))
    }

    fn from(visual: &Visualtype, bits: u8, pad: u8, most_significant_first: bool) -> Option<Layout> {
        let direct = matches!(visual.class, VisualClass::TRUE_COLOR | VisualClass::DIRECT_COLOR);
        let sound = direct && matches!(bits, 16 | 24 | 32) && matches!(pad, 8 | 16 | 32);
        let channels = [Channel::of(visual.red_mask)?, Channel::of(visual.green_mask)?, Channel::of(visual.blue_mask)?];
        sound.then_some(Layout { bits, pad, most_significant_first, channels })
    }

    /// Bytes of one row.
    fn stride(&self, width: u32) -> usize {
        let pad = usize::from(self.pad);
        (width as usize * usize::from(self.bits)).div_ceil(pad) * pad / 8
    }

    /// One pixel's number.
    pub fn pixel(&self, bytes: &[u8]) -> u32 {
        let fold = |n: u32, b: &u8| (n << 8) | u32::from(*b);
        if self.most_significant_first { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
    }

    /// The pixels of one row.
    pub fn row<'d>(&self, data: &'d [u8], width: u32, row: u32) -> impl Iterator<Item = &'d [u8]> + use<'d> {
        let bytes = usize::from(self.bits / 8);
        let stride = self.stride(width);
        let from = (row as usize * stride).min(data.len());
        let to = (from + width as usize * bytes).min(data.len());
        data[from..to].chunks_exact(bytes)
    }

    /// Whether the data has all rows.
    pub fn is_whole(&self, data: &[u8], width: u32, height: u32) -> bool {
        data.len() >= self.stride(width) * height as usize
    }

    /// Four bytes a pixel, opaque.
    pub fn rgba(&self, data: &[u8], width: u32, height: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(width as usize * height as usize * 4);
        let byte = |at: usize| Channel { shift: at as u32 * 8, max: 255 };
        let usual = self.bits == 32 && !self.most_significant_first && self.channels == [byte(2), byte(1), byte(0)];
        for row in 0..height {
            if usual {
                out.extend(self.row(data, width, row).flat_map(|p| [p[2], p[1], p[0], 255]));
                continue;
            }
            for bytes in self.row(data, width, row) {
                let pixel = self.pixel(bytes);
                let [r, g, b] = self.channels.map(|c| c.read(pixel));
                out.extend([r, g, b, 255]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visual(red: u32, green: u32, blue: u32) -> Visualtype {
        Visualtype {
            visual_id: 1,
            class: VisualClass::TRUE_COLOR,
            bits_per_rgb_value: 8,
            colormap_entries: 256,
            red_mask: red,
            green_mask: green,
            blue_mask: blue,
        }
    }

    #[test]
    fn either_byte_order() {
        let v = visual(0xff0000, 0xff00, 0xff);
        let little = Layout::from(&v, 32, 32, false).unwrap();
        assert_eq!(little.rgba(&[3, 2, 1, 9, 6, 5, 4, 9], 2, 1), [1, 2, 3, 255, 4, 5, 6, 255]);
        let big = Layout::from(&v, 32, 32, true).unwrap();
        assert_eq!(big.rgba(&[9, 1, 2, 3], 1, 1), [1, 2, 3, 255]);
        // A server whose red is the low byte.
        let swapped = Layout::from(&visual(0xff, 0xff00, 0xff0000), 32, 32, false).unwrap();
        assert_eq!(swapped.rgba(&[1, 2, 3, 9], 1, 1), [1, 2, 3, 255]);
    }

    #[test]
    fn sixteen_and_thirty_bits() {
        let v = visual(0xf800, 0x07e0, 0x001f);
        let layout = Layout::from(&v, 16, 32, false).unwrap();
        // Three pixels of two bytes: rows are padded to eight.
        let data = [0x00, 0xf8, 0xe0, 0x07, 0x1f, 0x00, 9, 9, 0xff, 0xff, 0, 0, 0x10, 0x84, 9, 9];
        assert!(layout.is_whole(&data, 3, 2) && !layout.is_whole(&data[..15], 3, 2));
        let want = [
            [255, 0, 0, 255],
            [0, 255, 0, 255],
            [0, 0, 255, 255],
            [255, 255, 255, 255],
            [0, 0, 0, 255],
            [132, 130, 132, 255],
        ];
        assert_eq!(layout.rgba(&data, 3, 2), want.concat());
        let deep = Layout::from(&visual(0x3ff0_0000, 0xf_fc00, 0x3ff), 32, 32, false).unwrap();
        let pixel: u32 = (1023 << 20) | (512 << 10);
        assert_eq!(deep.rgba(&pixel.to_le_bytes(), 1, 1), [255, 128, 0, 255]);
    }

    #[test]
    fn tables_of_colours_are_refused() {
        let mut v = visual(0xff0000, 0xff00, 0xff);
        v.class = VisualClass::PSEUDO_COLOR;
        assert_eq!(Layout::from(&v, 32, 32, false), None);
        assert_eq!(Layout::from(&visual(0, 0xff00, 0xff), 32, 32, false), None);
        assert_eq!(Layout::from(&visual(0xff0000, 0xff00, 0xff), 8, 32, false), None);
    }
}
