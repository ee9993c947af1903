//! Processes: who is it, is it still the same one, who started it, how to start one.

pub mod spawn;
pub mod stat;
pub mod token;
pub mod tree;

pub use token::{Liveness, Token, alive};
