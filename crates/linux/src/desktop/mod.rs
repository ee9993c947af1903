//! Private desktops.
pub mod error;
pub mod runtime_dir;
