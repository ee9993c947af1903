//! Finding elements in a tree that was read: what is asked (`ask`, `selector`), what matches (`matcher`) and how the
//! answer looks (`result`). Pure; spec 2 §2.

pub mod ask;
pub mod fold;
pub mod matcher;
pub mod result;
pub mod selector;

#[cfg(test)]
mod tests;
