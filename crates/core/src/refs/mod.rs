//! Refs: how an element is named to callers and found again.

pub mod id;
