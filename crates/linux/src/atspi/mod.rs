//! AT-SPI: what applications publish, read into core's facts.

pub mod apps;
pub mod cache;
pub mod capability;
pub mod compose;
pub mod flight;
pub mod frames;
pub mod grid;
pub mod hit;
pub mod identity;
pub mod interface;
pub mod labels;
pub mod native;
pub mod origin;
mod pages;
pub mod read;
mod rich_text;
pub mod role;
pub mod selection;
pub mod state;
pub mod surfaces;
pub mod table;
pub mod toolkit;
pub mod tree;
pub mod visibility;
pub mod wants;
pub mod windows;
