//! Trees of elements: what was read (`raw`), and how it is shown.

pub mod raw;
