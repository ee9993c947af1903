//! Physical input: what is played on the display, by which rules (spec 1 §7, decisions D3).

pub mod drag;
pub mod held;
pub mod keyboard;
pub mod pointer;
