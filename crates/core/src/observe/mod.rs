//! Observing: which window, what is in it, one element again.

pub mod target;
