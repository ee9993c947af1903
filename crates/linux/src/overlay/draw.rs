//! Windows that are only looked at: shaped, without an input area, left alone by window managers.

use crate::x11::{Connection, OVERLAY_CLASS, X11Error};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::shape::{self, ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{
    Arc, AtomEnum, CapStyle, ChangeWindowAttributesAux, Char2b, ClipOrdering, ConfigureWindowAux, ConnectionExt as _,
    CoordMode, CreateGCAux, CreateWindowAux, EventMask, JoinStyle, Point, PolyShape, PropMode, Rectangle, StackMode,
    WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

/// A colour: red, green, blue.
pub type Colour = [u8; 3];

/// The fonts of the server that are tried: those with most letters first. All servers have the last.
const FONTS: [(&str, f64); 5] = [
    ("-misc-fixed-bold-r-normal--13-*-75-75-c-*-iso10646-1", 1.2),
    ("-misc-fixed-bold-r-normal--18-*-100-100-c-*-iso10646-1", 2.2),
    ("-misc-fixed-medium-r-normal--20-*-75-75-c-*-iso10646-1", 9.0),
    ("-misc-fixed-medium-r-normal--13-*-75-75-c-*-iso10646-1", 9.0),
    ("fixed", 9.0),
];

/// One window of a cursor.
#[derive(Debug)]
pub struct Layer {
    /// The window.
    pub window: u32,
    /// Whether it is shown.
    shown: bool,
}

/// Draws on one display.
pub struct Canvas<'a> {
    /// The display.
    pub x: &'a Connection,
    opacity: u32,
}

impl<'a> Canvas<'a> {
    /// Ready to draw.
    ///
    /// # Errors
    /// Where the server has no shapes: a window that takes clicks would be worse than none.
    pub fn new(x: &'a Connection) -> Result<Self, X11Error> {
        if x.raw().extension_information(shape::X11_EXTENSION_NAME)?.is_none() {
            return Err(X11Error::Unsupported { what: "SHAPE".into() });
        }
        x.raw().shape_query_version()?.reply()?;
        let opacity = x.raw().intern_atom(false, b"_NET_WM_WINDOW_OPACITY")?.reply()?.atom;
        Ok(Self { x, opacity })
    }

    /// A new window, not shown yet.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn layer(&self, name: &str) -> Result<Layer, X11Error> {
        let c = self.x.raw();
        let window = c.generate_id()?;
        let aux = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::NO_EVENT).background_pixel(0);
        c.create_window(0, window, self.x.root(), -100, -100, 1, 1, 0, WindowClass::INPUT_OUTPUT, 0, &aux)?;
        let class = format!("{OVERLAY_CLASS}\0{OVERLAY_CLASS}\0");
        let string = AtomEnum::STRING;
        c.change_property8(PropMode::REPLACE, window, AtomEnum::WM_CLASS, string, class.as_bytes())?;
        c.change_property8(PropMode::REPLACE, window, AtomEnum::WM_NAME, string, name.as_bytes())?;
        let names: [&[u8]; 7] = [
            b"_NET_WM_WINDOW_TYPE",
            b"_NET_WM_WINDOW_TYPE_NOTIFICATION",
            b"_NET_WM_STATE",
            b"_NET_WM_STATE_SKIP_TASKBAR",
            b"_NET_WM_STATE_SKIP_PAGER",
            b"_NET_WM_STATE_ABOVE",
            b"_NET_WM_PID",
        ];
        let mut atoms = [0; 7];
        for (atom, name) in atoms.iter_mut().zip(names) {
            *atom = c.intern_atom(false, name)?.reply()?.atom;
        }
        let [kind, notification, state, taskbar, pager, above, pid] = atoms;
        let atom = AtomEnum::ATOM;
        c.change_property32(PropMode::REPLACE, window, kind, atom, &[notification])?;
        c.change_property32(PropMode::REPLACE, window, state, atom, &[taskbar, pager, above])?;
        let cardinal = AtomEnum::CARDINAL;
        c.change_property32(PropMode::REPLACE, window, pid, cardinal, &[std::process::id()])?;
        // Clicks, drops and the wheel go to what is below.
        c.shape_rectangles(SO::SET, SK::INPUT, ClipOrdering::UNSORTED, window, 0, 0, &[])?;
        Ok(Layer { window, shown: false })
    }

    /// Shows a window above all others, or takes it away.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn show(&self, layer: &mut Layer, shown: bool) -> Result<(), X11Error> {
        if layer.shown == shown {
            return Ok(());
        }
        layer.shown = shown;
        if shown {
            self.x.raw().map_window(layer.window)?;
            return self.raise(layer);
        }
        self.x.raw().unmap_window(layer.window)?;
        Ok(())
    }

    /// Puts a window above all others.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn raise(&self, layer: &Layer) -> Result<(), X11Error> {
        let top = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        self.x.raw().configure_window(layer.window, &top)?;
        Ok(())
    }

    /// Moves a window.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn place(&self, layer: &Layer, x: i32, y: i32) -> Result<(), X11Error> {
        let at = ConfigureWindowAux::new().x(x).y(y);
        self.x.raw().configure_window(layer.window, &at)?;
        Ok(())
    }

    /// How much of a window is seen, where a compositor runs: 0 to 1.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn fade(&self, layer: &Layer, part: f64) -> Result<(), X11Error> {
        let value = (part.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32;
        let cardinal = AtomEnum::CARDINAL;
        self.x.raw().change_property32(PropMode::REPLACE, layer.window, self.opacity, cardinal, &[value])?;
        Ok(())
    }

    fn pixel(&self, colour: Colour) -> Result<u32, X11Error> {
        let [r, g, b] = colour.map(|c| u16::from(c) * 257);
        Ok(self.x.raw().alloc_color(self.x.screen().default_colormap, r, g, b)?.reply()?.pixel)
    }

    /// Gives a window its size, what is painted on it, and the part of it that is there. `paint` gets a pixmap of the
    /// screen's depth, `shape` one of bits, cleared.
    fn dress(
        &self,
        layer: &Layer,
        (width, height): (u16, u16),
        paint: impl FnOnce(u32) -> Result<(), X11Error>,
        shape: impl FnOnce(u32, u32) -> Result<(), X11Error>,
    ) -> Result<(), X11Error> {
        let c = self.x.raw();
        let size = ConfigureWindowAux::new().width(u32::from(width)).height(u32::from(height));
        c.configure_window(layer.window, &size)?;
        let picture = c.generate_id()?;
        c.create_pixmap(self.x.screen().root_depth, picture, self.x.root(), width, height)?;
        paint(picture)?;
        let mask = c.generate_id()?;
        c.create_pixmap(1, mask, self.x.root(), width, height)?;
        let (clear, set) = (c.generate_id()?, c.generate_id()?);
        c.create_gc(clear, mask, &CreateGCAux::new().foreground(0))?;
        c.poly_fill_rectangle(mask, clear, &[Rectangle { x: 0, y: 0, width, height }])?;
        c.create_gc(set, mask, &pen(1, 1))?;
        shape(mask, set)?;
        c.shape_mask(SO::SET, SK::BOUNDING, layer.window, 0, 0, mask)?;
        let aux = ChangeWindowAttributesAux::new().background_pixmap(picture);
        c.change_window_attributes(layer.window, &aux)?;
        c.clear_area(false, layer.window, 0, 0, 0, 0)?;
        c.free_gc(clear)?;
        c.free_gc(set)?;
        c.free_pixmap(mask)?;
        c.free_pixmap(picture)?;
        Ok(())
    }

    fn flat(&self, picture: u32, (width, height): (u16, u16), colour: Colour) -> Result<u32, X11Error> {
        let c = self.x.raw();
        let gc = c.generate_id()?;
        c.create_gc(gc, picture, &pen(self.pixel(colour)?, 1))?;
        c.poly_fill_rectangle(picture, gc, &[Rectangle { x: 0, y: 0, width, height }])?;
        Ok(gc)
    }

    /// An arrow whose tip is [`tip`] from the window's corner.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn arrow(&self, layer: &Layer, size: f64, fill: Colour, rim: Colour) -> Result<(), X11Error> {
        let c = self.x.raw();
        let edge = tip(size);
        let points: Vec<Point> = ARROW
            .iter()
            .map(|(x, y)| Point { x: edge + (x * size).round() as i16, y: edge + (y * size).round() as i16 })
            .collect();
        let side = |most: f64| (most * size).ceil() as u16 + 2 * edge as u16 + 1;
        let size_of = (side(14.0), side(21.0));
        let mut outline = points.clone();
        outline.extend(points.first());
        let broad = 2 * edge as u32 - 1;
        self.dress(
            layer,
            size_of,
            |picture| {
                let gc = self.flat(picture, size_of, rim)?;
                let inner = c.generate_id()?;
                c.create_gc(inner, picture, &pen(self.pixel(fill)?, 1))?;
                c.fill_poly(picture, inner, PolyShape::NONCONVEX, CoordMode::ORIGIN, &points)?;
                c.free_gc(inner)?;
                c.free_gc(gc)?;
                Ok(())
            },
            |mask, gc| {
                c.fill_poly(mask, gc, PolyShape::NONCONVEX, CoordMode::ORIGIN, &points)?;
                let rim = c.generate_id()?;
                c.create_gc(rim, mask, &pen(1, broad))?;
                c.poly_line(CoordMode::ORIGIN, mask, rim, &outline)?;
                c.free_gc(rim)?;
                Ok(())
            },
        )
    }

    /// A text on a rounded plate.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn label(&self, layer: &Layer, text: &str, size: f64, fill: Colour, rim: Colour) -> Result<(), X11Error> {
        let c = self.x.raw();
        let font = c.generate_id()?;
        let opens = |name: &str| c.open_font(font, name.as_bytes()).is_ok_and(|cookie| cookie.check().is_ok());
        let opened = FONTS.iter().find(|(name, most)| size <= *most && opens(name));
        let Some((name, _)) = opened else {
            return Err(X11Error::Unsupported { what: "fonts".into() });
        };
        let known = if name.contains("iso10646") { text.to_owned() } else { latin(text) };
        let signs: Vec<Char2b> =
            known.encode_utf16().map(|u| Char2b { byte1: (u >> 8) as u8, byte2: u as u8 }).collect();
        let extents = c.query_text_extents(font, &signs)?.reply()?;
        let (up, down) = (extents.font_ascent, extents.font_descent);
        let width = u16::try_from(extents.overall_width).unwrap_or(0).saturating_add(14).min(1_200);
        let height = u16::try_from(up + down).unwrap_or(13) + 6;
        let all = (width, height);
        self.dress(
            layer,
            all,
            |picture| {
                let plate = self.flat(picture, all, rim)?;
                let ink = c.generate_id()?;
                let aux =
                    CreateGCAux::new().foreground(self.pixel(ink_on(rim))?).background(self.pixel(rim)?).font(font);
                c.create_gc(ink, picture, &aux)?;
                // One request has room for 255 signs; a label has fewer.
                if let Some(signs) = signs.chunks(255).next() {
                    c.image_text16(picture, ink, 7, 3 + up, signs)?;
                }
                let border = c.generate_id()?;
                c.create_gc(border, picture, &pen(self.pixel(fill)?, 2))?;
                c.poly_line(
                    CoordMode::ORIGIN,
                    picture,
                    border,
                    &[Point { x: 0, y: height as i16 - 1 }, Point { x: width as i16, y: height as i16 - 1 }],
                )?;
                for gc in [plate, ink, border] {
                    c.free_gc(gc)?;
                }
                Ok(())
            },
            |mask, gc| {
                let (w, h) = (width, height);
                let parts = [(2, 0, w - 4, h), (1, 1, w - 2, h - 2), (0, 2, w, h - 4)];
                let parts = parts.map(|(x, y, width, height)| Rectangle { x, y, width, height });
                c.poly_fill_rectangle(mask, gc, &parts)?;
                Ok(())
            },
        )?;
        c.close_font(font)?;
        Ok(())
    }

    /// A circle of this radius around the middle of a window of twice [`RIPPLE`] and size.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn ring(&self, layer: &Layer, size: f64, radius: f64, colour: Colour) -> Result<(), X11Error> {
        let c = self.x.raw();
        let side = (2.0 * RIPPLE * size).ceil() as u16;
        let broad = (2.5 * size).round().max(2.0) as u32;
        let edge = (f64::from(side) / 2.0 - radius).round() as i16;
        let across = (2.0 * radius).round() as u16;
        self.dress(
            layer,
            (side, side),
            |picture| {
                let gc = self.flat(picture, (side, side), colour)?;
                c.free_gc(gc)?;
                Ok(())
            },
            |mask, _| {
                let gc = c.generate_id()?;
                c.create_gc(gc, mask, &pen(1, broad))?;
                let arc = Arc { x: edge, y: edge, width: across, height: across, angle1: 0, angle2: 360 * 64 };
                c.poly_arc(mask, gc, &[arc])?;
                c.free_gc(gc)?;
                Ok(())
            },
        )
    }

    /// A frame of this size.
    ///
    /// # Errors
    /// Where the display fails.
    pub fn frame(
        &self,
        layer: &Layer,
        (width, height): (u16, u16),
        broad: u16,
        colour: Colour,
    ) -> Result<(), X11Error> {
        let c = self.x.raw();
        let size = ConfigureWindowAux::new().width(u32::from(width)).height(u32::from(height));
        c.configure_window(layer.window, &size)?;
        let inner = height.saturating_sub(2 * broad);
        let parts = [
            (0, 0, width, broad),
            (0, height.saturating_sub(broad), width, broad),
            (0, broad, broad, inner),
            (width.saturating_sub(broad), broad, broad, inner),
        ];
        let parts = parts.map(|(x, y, width, height)| Rectangle { x: x as i16, y: y as i16, width, height });
        c.shape_rectangles(SO::SET, SK::BOUNDING, ClipOrdering::UNSORTED, layer.window, 0, 0, &parts)?;
        let pixel = self.pixel(colour)?;
        let aux = ChangeWindowAttributesAux::new().background_pixel(pixel);
        c.change_window_attributes(layer.window, &aux)?;
        c.clear_area(false, layer.window, 0, 0, 0, 0)?;
        Ok(())
    }

    /// Sends what was asked for and hears whether the server is still there.
    ///
    /// # Errors
    /// Where it isn't.
    pub fn flush(&self) -> Result<(), X11Error> {
        self.x.raw().flush()?;
        Ok(())
    }
}

/// Radius of a ripple at its end, at size 1.
pub const RIPPLE: f64 = 26.0;

/// The corners of the arrow at size 1, its tip first.
const ARROW: [(f64, f64); 7] =
    [(0.0, 0.0), (0.0, 17.0), (4.0, 13.2), (6.9, 20.0), (9.7, 18.8), (6.9, 12.2), (12.4, 12.2)];

/// How far the tip is from the edges of its window: the rim lies around it.
pub fn tip(size: f64) -> i16 {
    (1.5 * size).round().clamp(1.0, 5.0) as i16 + 1
}

fn pen(pixel: u32, broad: u32) -> CreateGCAux {
    CreateGCAux::new()
        .foreground(pixel)
        .line_width(broad)
        .join_style(JoinStyle::ROUND)
        .cap_style(CapStyle::ROUND)
        .graphics_exposures(0)
}

/// A text in the letters that every font has.
fn latin(text: &str) -> String {
    let plain = text.replace('…', "...");
    plain.chars().map(|c| if u32::from(c) < 0x100 { c } else { '?' }).collect()
}

/// White or black: what can be read on this colour.
fn ink_on([r, g, b]: Colour) -> Colour {
    let light = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    if light > 140.0 { [0, 0, 0] } else { [255, 255, 255] }
}
