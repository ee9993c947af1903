//! Trees of elements: what was read (`raw`), what it is called (`name`), what of it is shown (`present`, `budget`) and
//! how (`json`, `text`).

pub mod budget;
pub(crate) mod closed;
#[cfg(any(test, feature = "testing"))]
pub mod fixture;
pub mod json;
pub mod name;
pub mod present;
pub mod raw;
pub mod text;

#[cfg(test)]
mod tests;
