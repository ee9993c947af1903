//! AT-SPI: what applications publish, read into core's facts.

pub mod cache;
pub mod capability;
pub mod compose;
pub mod flight;
pub mod grid;
pub mod interface;
pub mod labels;
pub mod native;
pub mod read;
pub mod role;
pub mod state;
pub mod toolkit;
pub mod tree;
pub mod visibility;
pub mod wants;
