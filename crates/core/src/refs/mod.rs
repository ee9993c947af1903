//! Refs: what a saved element is (`entry`), by what it is told from its neighbours (`witness`), whether a live element
//! is still the same (`resolve`), and where they are kept (`store`). Decisions D1.

pub mod capture;
pub mod entry;
pub mod id;
pub mod resolve;
pub mod store;
pub mod witness;
