//! Observing: which window (`target`, `locate`), what is in it (`snapshot`, `find`), one element again (`property`),
//! tables as data and single cells (`table`, `cell`),
//! lists (`list`), what changed since a snapshot (`since`, `delta`).

pub mod cell;
pub mod changes;
pub mod delta;
pub mod find;
pub mod fit;
pub mod list;
pub mod locate;
pub mod property;
pub mod saved;
pub mod since;
pub mod snapshot;
pub mod table;
pub mod target;
