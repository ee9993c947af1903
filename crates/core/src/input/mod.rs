//! Physical input: what is played on the display, by which rules (spec 1 §7, decisions D3).
//!
//! ```text
//! policy ─ lease ─ nothing held by others ─ window in front ─ verified point ─▶ strokes under a guard ─▶ report
//! ```

pub mod aim;
pub mod drag;
pub mod held;
pub mod keyboard;
pub mod place;
pub mod pointer;
pub mod report;
pub mod stage;
pub mod strokes;
