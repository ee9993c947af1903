//! Observing: which window (`target`, `locate`), what is in it (`snapshot`), one element again (`property`).

pub mod find;
pub mod locate;
pub mod property;
pub mod saved;
pub mod snapshot;
pub mod target;
