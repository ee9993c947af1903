//! Displays: the monitors of RandR.

use super::connection::Connection;
use super::error::X11Error;
use super::property;
use super::windows::Rect;
use serde::{Deserialize, Serialize};
use x11rb::connection::RequestConnection;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

/// A monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Display {
    /// The server's name for it, such as `HDMI-1`; `screen` without RandR.
    pub id: String,
    /// Its part of the root window.
    pub bounds: Rect,
    /// The primary one; where the server names none, the first is.
    pub primary: bool,
    /// Pixels for one unit of length of applications. X11 has one for all displays: `Xft.dpi` / 96, 1 when unset.
    pub scale: f64,
}

/// All active displays in the server's order; at least one.
///
/// # Errors
/// `Timeout`, `Disconnected`, `Protocol`.
pub fn displays(x: &Connection) -> Result<Vec<Display>, X11Error> {
    let c = x.raw();
    let resources = c.get_property(false, x.root(), AtomEnum::RESOURCE_MANAGER, AtomEnum::STRING, 0, 1 << 16)?;
    let monitors = if has_monitors(x)? { c.randr_get_monitors(x.root(), true)?.reply()?.monitors } else { Vec::new() };
    let names = monitors.iter().map(|m| c.get_atom_name(m.name)).collect::<Result<Vec<_>, _>>()?;
    let scale = scale_of(property::text(Some(&resources.reply()?)).as_deref().unwrap_or_default());
    let mut found = Vec::new();
    for (m, name) in monitors.iter().zip(names) {
        found.push(Display {
            id: String::from_utf8_lossy(&name.reply()?.name).into_owned(),
            bounds: Rect { x: m.x.into(), y: m.y.into(), width: m.width.into(), height: m.height.into() },
            primary: m.primary,
            scale,
        });
    }
    if found.is_empty() {
        let s = x.screen();
        let bounds = Rect { x: 0, y: 0, width: s.width_in_pixels.into(), height: s.height_in_pixels.into() };
        found.push(Display { id: "screen".to_owned(), bounds, primary: true, scale });
    }
    if !found.iter().any(|d| d.primary) {
        found[0].primary = true;
    }
    Ok(found)
}

/// Monitors came with RandR 1.5.
fn has_monitors(x: &Connection) -> Result<bool, X11Error> {
    if x.raw().extension_information(randr::X11_EXTENSION_NAME)?.is_none() {
        return Ok(false);
    }
    let v = x.raw().randr_query_version(1, 5)?.reply()?;
    Ok((v.major_version, v.minor_version) >= (1, 5))
}

/// The scale in the text of the resource manager.
fn scale_of(resources: &str) -> f64 {
    resources
        .lines()
        .find_map(|l| l.strip_prefix("Xft.dpi:"))
        .and_then(|v| v.trim().parse::<f64>().ok())
        .filter(|dpi| (24.0..=960.0).contains(dpi))
        .map_or(1.0, |dpi| dpi / 96.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp, reason = "powers of two and their sums are exact")]
    fn scale() {
        assert_eq!(scale_of(""), 1.0);
        assert_eq!(scale_of("Xft.antialias:\t1\nXft.dpi:\t192\n"), 2.0);
        assert_eq!(scale_of("Xft.dpi: 144"), 1.5);
        assert_eq!(scale_of("Xft.dpi: zero"), 1.0);
        assert_eq!(scale_of("Xft.dpi: 0"), 1.0);
    }
}
