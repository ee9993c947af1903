//! Observing: which window (`target`, `locate`), what is in it (`snapshot`, `find`), one element again (`property`),
//! lists (`list`).

pub mod find;
pub mod list;
pub mod locate;
pub mod property;
pub mod saved;
pub mod snapshot;
pub mod target;
