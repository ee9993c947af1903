//! Pictures of windows and of the root window.
//!
//! A window that is wholly in view is read as it is. Where something covers it, or it is partly off the screen, its
//! content has to be asked for (FINDINGS §6): the Composite extension gives it a pixmap of its own. With a compositor that
//! pixmap is there already. Without one it begins as a copy of the screen, other windows' pixels included, until the
//! application repaints. So the parts that were not in view are filled with a colour made up for this one picture before
//! the application may paint again, and no picture is given out while that colour is still in it.

use super::connection::Connection;
use super::cover::{self, Placed, Standing};
use super::error::X11Error;
use super::image::Layout;
use super::windows::{Extents, Rect};
use std::time::{Duration, Instant};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::composite::{self, ConnectionExt as _, Redirect};
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, CreateWindowAux, ImageFormat, Rectangle, WindowClass};

/// Pause between looks at a window that is to repaint itself.
const POLL: Duration = Duration::from_millis(16);
/// Equal pictures in a row that count as painted, once something was painted.
const STEADY: u32 = 3;
/// How long an application may take that shows no sign of painting; what it shows then is its background.
const IDLE: Duration = Duration::from_millis(300);
/// How long one may take that never stands still, or that has not painted everything.
const PAINTING: Duration = Duration::from_millis(1_500);
/// Between two pictures of a window in view that must be equal: applications paint what was uncovered within some frames.
const UNCOVERED: Duration = Duration::from_millis(60);
/// After how long a window in view that never stands still is taken as it is.
const RESTLESS: Duration = Duration::from_millis(400);
/// Windows inside one window that are cleared at most.
const MOST_INSIDE: usize = 4_096;
/// Held by whoever redirects windows for a picture: two at once would see each other's colour.
const TURN: &[u8] = b"_AGENT_DESKTOP_CAPTURE";

/// A picture as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Red, green, blue, alpha for each pixel.
    pub rgba: Vec<u8>,
    /// The part of the root window that it shows; also its size.
    pub bounds: Rect,
    /// Menus and the like that stand over it on the screen and are not in the picture.
    pub popups: Vec<Rect>,
    /// Whether it was read from the screen, where what the application has not painted yet is another window's.
    pub of_screen: bool,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server's answer.
    X(X11Error),
    /// The window is not on the screen: iconified, or on another workspace.
    NotViewable,
    /// Something covers it, and the server has no Composite extension.
    Covered,
    /// It was asked to paint what was not in view, and did not.
    NotRepainted,
    /// It moved, or was resized, meanwhile.
    Changed,
    /// Another program was taking such a picture until the deadline.
    Busy,
    /// The area is not on the screen.
    OffScreen,
}

impl From<X11Error> for Failure {
    fn from(e: X11Error) -> Failure {
        Failure::X(e)
    }
}

macro_rules! from_x11rb {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(e: $error) -> Failure {
                Failure::X(e.into())
            }
        })*
    };
}
from_x11rb!(ConnectionError, ReplyError, ReplyOrIdError);

/// The part of a client that is to be seen: without the shadow that GTK draws around itself.
fn within(client: Rect, shadow: Extents) -> Option<Rect> {
    let (across, down) = (shadow.left + shadow.right, shadow.top + shadow.bottom);
    let (x, y) = (i32::try_from(shadow.left).ok()?, i32::try_from(shadow.top).ok()?);
    let (width, height) = (client.width.checked_sub(across)?, client.height.checked_sub(down)?);
    (width > 0 && height > 0).then_some(Rect { x: client.x + x, y: client.y + y, width, height })
}

/// A window's own content without its shadow, also where other windows cover it or it lies off the screen.
///
/// The connection should serve nothing else: when it ends, everything that was asked for here ends too.
///
/// # Errors
/// See [`Failure`].
pub fn window(x: &Connection, client: u32, shadow: Extents, end: Instant) -> Result<Picture, Failure> {
    let composite = has_composite(x)?;
    let begun = Instant::now();
    let mut last: Option<Vec<u8>> = None;
    loop {
        let grab = Grab::take(x)?;
        let now = cover::standing(x, client)?.ok_or(Failure::NotViewable)?;
        let bounds = within(now.client, shadow).ok_or(Failure::NotViewable)?;
        let popups = now.above.iter().filter(|p| p.popup).filter_map(|p| cover::shared(bounds, p.outer)).collect();
        let picture = |rgba| Picture { rgba, bounds, popups, of_screen: false };
        if composite && has_own_pixmap(x, &now.frame)? {
            let pixmap = name_pixmap(x, now.frame.window)?;
            let read = Source::pixmap(x, pixmap, &now.frame, bounds)?.read(x);
            x.raw().free_pixmap(pixmap)?;
            return Ok(picture(read?.0));
        }
        let screen =
            Rect { x: 0, y: 0, width: x.screen().width_in_pixels.into(), height: x.screen().height_in_pixels.into() };
        let unseen = cover::unseen(bounds, screen, &now.above);
        if unseen.is_empty() {
            let rgba = Source::client(x, client, &now, bounds)?.read(x)?.0;
            // What was uncovered a moment ago shows the cover until the application has painted. So two pictures must be
            // equal; one that never stands still is painting.
            if last.as_ref() == Some(&rgba) || begun.elapsed() >= RESTLESS {
                return Ok(Picture { of_screen: true, ..picture(rgba) });
            }
            last = Some(rgba);
            drop(grab);
            std::thread::sleep(UNCOVERED);
            continue;
        }
        if !composite {
            return Err(Failure::Covered);
        }
        if let Some(turn) = Turn::take(x)? {
            let painted =
                Redirected::start(x, now.frame.window).and_then(|r| r.painted(x, grab, &now, bounds, &unseen, end));
            drop(turn);
            return painted.map(picture);
        }
        drop(grab);
        if Instant::now() >= end {
            return Err(Failure::Busy);
        }
        std::thread::sleep(POLL);
    }
}

/// What the screen shows in an area.
///
/// # Errors
/// `OffScreen` where the area isn't wholly on the root window.
pub fn area(x: &Connection, area: Rect) -> Result<Vec<u8>, Failure> {
    let root = x.raw().get_geometry(x.root())?.reply()?;
    let screen = Rect { x: 0, y: 0, width: root.width.into(), height: root.height.into() };
    if cover::shared(area, screen) != Some(area) {
        return Err(Failure::OffScreen);
    }
    let layout = Layout::of(x, root.depth, x.screen().root_visual)?;
    let source = Source { drawable: x.root(), x: area.x, y: area.y, width: area.width, height: area.height, layout };
    Ok(source.read(x)?.0)
}

/// Version 0.2 named pixmaps.
fn has_composite(x: &Connection) -> Result<bool, X11Error> {
    if x.raw().extension_information(composite::X11_EXTENSION_NAME)?.is_none() {
        return Ok(false);
    }
    let v = x.raw().composite_query_version(0, 4)?.reply()?;
    Ok((v.major_version, v.minor_version) >= (0, 2))
}

/// Whether the window has been painting into a pixmap of its own all along: because of a compositor, or because its depth
/// differs from the screen's.
fn has_own_pixmap(x: &Connection, frame: &Placed) -> Result<bool, X11Error> {
    let name = format!("_NET_WM_CM_S{}", x.screen_number());
    let atom = x.raw().intern_atom(false, name.as_bytes())?.reply()?.atom;
    let compositor = x.raw().get_selection_owner(atom)?.reply()?.owner != x11rb::NONE;
    if !compositor && frame.depth == x.screen().root_depth {
        return Ok(false);
    }
    // A compositor may leave single windows alone, full-screen ones for instance.
    match name_pixmap(x, frame.window) {
        Ok(pixmap) => {
            x.raw().free_pixmap(pixmap)?;
            Ok(true)
        }
        Err(X11Error::Protocol { error, .. }) if error == "Match" => Ok(false),
        Err(e) => Err(e),
    }
}

fn name_pixmap(x: &Connection, window: u32) -> Result<u32, X11Error> {
    let pixmap = x.raw().generate_id()?;
    x.raw().composite_name_window_pixmap(window, pixmap)?.check()?;
    Ok(pixmap)
}

/// Where an image is read.
struct Source {
    drawable: u32,
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    layout: Layout,
}

impl Source {
    fn client(x: &Connection, client: u32, now: &Standing, bounds: Rect) -> Result<Source, X11Error> {
        Ok(Source {
            drawable: client,
            x: bounds.x - now.client.x,
            y: bounds.y - now.client.y,
            width: bounds.width,
            height: bounds.height,
            layout: Layout::of(x, now.depth, now.visual)?,
        })
    }

    /// The pixmap begins at the frame's outer edge.
    fn pixmap(x: &Connection, pixmap: u32, frame: &Placed, bounds: Rect) -> Result<Source, X11Error> {
        Ok(Source {
            drawable: pixmap,
            x: bounds.x - frame.outer.x,
            y: bounds.y - frame.outer.y,
            width: bounds.width,
            height: bounds.height,
            layout: Layout::of(x, frame.depth, frame.visual)?,
        })
    }

    fn bytes(&self, x: &Connection) -> Result<Vec<u8>, Failure> {
        let place = i16::try_from(self.x).ok().zip(i16::try_from(self.y).ok());
        let size = u16::try_from(self.width).ok().zip(u16::try_from(self.height).ok());
        let ((left, top), (width, height)) = place.zip(size).ok_or(Failure::OffScreen)?;
        let image =
            x.raw().get_image(ImageFormat::Z_PIXMAP, self.drawable, left, top, width, height, u32::MAX)?.reply()?;
        if !self.layout.is_whole(&image.data, self.width, self.height) {
            return Err(Failure::X(X11Error::Unsupported { what: "image of the expected size".to_owned() }));
        }
        Ok(image.data)
    }

    fn read(&self, x: &Connection) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let bytes = self.bytes(x)?;
        Ok((self.layout.rgba(&bytes, self.width, self.height), bytes))
    }
}

/// The server serves nobody else meanwhile.
struct Grab<'x>(&'x Connection);

impl<'x> Grab<'x> {
    fn take(x: &'x Connection) -> Result<Grab<'x>, X11Error> {
        x.raw().grab_server()?;
        Ok(Grab(x))
    }
}

impl Drop for Grab<'_> {
    fn drop(&mut self) {
        // A connection that is broken holds no grab either.
        let _ = self.0.raw().ungrab_server();
        let _ = self.0.raw().flush();
    }
}

/// The right to redirect windows, one holder at a time. To be taken while the server is grabbed.
struct Turn<'x> {
    x: &'x Connection,
    window: u32,
}

impl<'x> Turn<'x> {
    fn take(x: &'x Connection) -> Result<Option<Turn<'x>>, X11Error> {
        let c = x.raw();
        let atom = c.intern_atom(false, TURN)?.reply()?.atom;
        if c.get_selection_owner(atom)?.reply()?.owner != x11rb::NONE {
            return Ok(None);
        }
        let window = c.generate_id()?;
        let aux = CreateWindowAux::new().override_redirect(1);
        c.create_window(0, window, x.root(), -1, -1, 1, 1, 0, WindowClass::INPUT_ONLY, x11rb::COPY_FROM_PARENT, &aux)?
            .check()?;
        c.set_selection_owner(window, atom, x11rb::CURRENT_TIME)?.check()?;
        Ok(Some(Turn { x, window }))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = self.x.raw().destroy_window(self.window);
        let _ = self.x.raw().flush();
    }
}

/// A colour that stands where nothing has been painted yet.
struct Mark {
    pixel: u32,
    bits: u32,
    /// Where it was filled in, on the root window.
    parts: Vec<Rect>,
}

impl Mark {
    fn fill(x: &Connection, pixmap: u32, frame: &Placed, parts: &[Rect]) -> Result<Mark, X11Error> {
        let c = x.raw();
        let bits = u32::MAX.checked_shr(u32::BITS.saturating_sub(frame.depth.into())).unwrap_or(u32::MAX);
        let mark = Mark { pixel: unlikely() & bits, bits, parts: parts.to_vec() };
        let gc = c.generate_id()?;
        c.create_gc(gc, pixmap, &CreateGCAux::new().foreground(mark.pixel))?.check()?;
        let inside = |r: &Rect| {
            Some(Rectangle {
                x: i16::try_from(r.x - frame.outer.x).ok()?,
                y: i16::try_from(r.y - frame.outer.y).ok()?,
                width: u16::try_from(r.width).ok()?,
                height: u16::try_from(r.height).ok()?,
            })
        };
        let too_large = || X11Error::Unsupported { what: "window of that size".to_owned() };
        let parts: Option<Vec<Rectangle>> = parts.iter().map(inside).collect();
        c.poly_fill_rectangle(pixmap, gc, &parts.ok_or_else(too_large)?)?.check()?;
        c.free_gc(gc)?;
        Ok(mark)
    }

    /// Whether it still stands anywhere.
    fn is_left(&self, source: &Source, bounds: Rect, bytes: &[u8]) -> bool {
        let is_mark = |pixel: &[u8]| source.layout.pixel(pixel) & self.bits == self.pixel;
        self.parts.iter().any(|part| {
            let (left, top) = (part.x.abs_diff(bounds.x), part.y.abs_diff(bounds.y));
            (top..top + part.height).any(|row| {
                let row = source.layout.row(bytes, bounds.width, row);
                row.skip(left as usize).take(part.width as usize).any(is_mark)
            })
        })
    }
}

/// A pixel that hardly any application paints, another one each time.
fn unlikely() -> u32 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    random as u32
}

/// A window with a pixmap of its own for a while. Its application sees that it has to paint, at both ends; the keyboard
/// stays where it was (measured).
struct Redirected<'x> {
    x: &'x Connection,
    frame: u32,
}

impl<'x> Redirected<'x> {
    /// To be called while the server is grabbed.
    fn start(x: &'x Connection, frame: u32) -> Result<Redirected<'x>, Failure> {
        x.raw().composite_redirect_window(frame, Redirect::AUTOMATIC)?.check()?;
        Ok(Redirected { x, frame })
    }

    /// The content, once the application has painted what was not in view.
    fn painted(
        self,
        x: &Connection,
        grab: Grab<'_>,
        was: &Standing,
        bounds: Rect,
        unseen: &[Rect],
        end: Instant,
    ) -> Result<Vec<u8>, Failure> {
        let pixmap = name_pixmap(x, self.frame)?;
        let source = Source::pixmap(x, pixmap, &was.frame, bounds)?;
        let mark = Mark::fill(x, pixmap, &was.frame, unseen)?;
        // Windows with a background get it back at once. What they draw on it they were already told to draw, when
        // they were mapped again. Those without a picture of their own refuse, which is of no account.
        for window in cover::inside(x, was.frame.window, MOST_INSIDE)? {
            x.raw().clear_area(false, window, 0, 0, 0, 0)?.ignore_error();
        }
        let mut last = source.bytes(x)?;
        drop(grab);
        let begun = Instant::now();
        let (mut drawn, mut steady) = (false, 0);
        loop {
            std::thread::sleep(POLL);
            let next = source.bytes(x)?;
            drawn |= next != last;
            steady = if next == last { steady + 1 } else { 0 };
            last = next;
            let marked = mark.is_left(&source, bounds, &last);
            let waited = begun.elapsed();
            let late = waited >= PAINTING || Instant::now() >= end;
            if marked && late {
                return Err(Failure::NotRepainted);
            }
            if !marked && (late || (drawn && steady >= STEADY) || (!drawn && waited >= IDLE)) {
                break;
            }
        }
        // The picture is of the window as it stood: where it moved or grew meanwhile, the pixmap is not its own any more.
        let grab = Grab::take(x)?;
        let now = cover::standing(x, was.id)?.ok_or(Failure::NotViewable)?;
        if (now.client, &now.frame) != (was.client, &was.frame) {
            return Err(Failure::Changed);
        }
        let (rgba, bytes) = source.read(x)?;
        drop(grab);
        if mark.is_left(&source, bounds, &bytes) {
            return Err(Failure::NotRepainted);
        }
        x.raw().free_pixmap(pixmap)?;
        Ok(rgba)
    }
}

impl Drop for Redirected<'_> {
    fn drop(&mut self) {
        // Where the connection is broken the server has done so already.
        let undone = self.x.raw().composite_unredirect_window(self.frame, Redirect::AUTOMATIC).map(|c| c.check());
        if !matches!(undone, Ok(Ok(()))) {
            tracing::debug!(window = self.frame, "a window could not be unredirected");
        }
    }
}
