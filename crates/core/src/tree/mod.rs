//! Trees of elements: what was read (`raw`), what it is called (`name`), and how it is shown (`present`, `json`, `text`).

#[cfg(any(test, feature = "testing"))]
pub mod fixture;
pub mod name;
pub mod raw;
