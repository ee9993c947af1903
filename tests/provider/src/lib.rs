//! A scripted AT-SPI application.
//!
//! It joins the accessibility bus like any toolkit does, shows the tree that a scenario file
//! describes, logs every write it receives, and misbehaves exactly where the scenario says so.
//! `README.md` beside this crate has the formats.

pub mod args;
pub mod build;
pub mod call;
pub mod control;
pub mod engine;
pub mod join;
pub mod link;
pub mod names;
pub mod oplog;
pub mod read;
pub mod refuse;
pub mod scenario;
pub mod steps;
pub mod tree;
pub mod wire;
