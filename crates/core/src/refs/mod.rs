//! Refs: what a saved element is (`entry`), by what it is told from its neighbours (`witness`), whether a live element
//! is still the same (`resolve`), where they are kept (`store`), and what was
//! shown with them (`baseline`). Decisions D1.

pub mod baseline;
pub mod capture;
pub mod entry;
pub mod id;
pub mod resolve;
pub mod store;
pub mod witness;
