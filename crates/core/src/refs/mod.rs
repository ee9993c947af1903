//! Refs: what they look like, what they stand for, where they are kept (`store`).

pub mod store;
