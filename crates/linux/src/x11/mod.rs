//! The X11 side of a desktop: connection, windows, displays. Reading only.

pub mod connection;
pub mod error;
pub mod xauth;

pub use connection::{Connection, connect};
pub use error::X11Error;
