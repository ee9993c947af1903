//! The X11 side of a desktop: connection, windows, displays, pictures, requests to the window manager, asking a window to close.

pub mod atoms;
pub mod capture;
pub mod close;
pub mod connection;
pub mod cover;
pub mod displays;
pub mod error;
pub mod image;
pub mod keymap;
pub mod keysym;
pub mod manage;
pub mod property;
pub mod windows;
pub mod xauth;
pub mod xtest;

pub use close::ask_to_close;
pub use connection::{Connection, connect};
pub use displays::{Display, displays};
pub use error::X11Error;
pub use windows::{Extents, OVERLAY_CLASS, Rect, WindowType, X11Window, active_window, popups, windows};
