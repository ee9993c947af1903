//! Writing: ways of doing an action on an element, and running the one that core picks (architecture: Operate).
//!
//! ```text
//! offer ─ ladder, options, scroll ─▶ plans as rungs ─ checks, watch ─▶ dispatch ─▶ outcome by its own table
//! ```

pub mod ladder;
pub mod offer;
pub mod plan;
