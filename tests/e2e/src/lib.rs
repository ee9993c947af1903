//! End-to-end tests: the built binary on real applications in a private desktop that our own code did not start,
//! judged by what the applications wrote down and by a reader that shares nothing with ours.
//!
//! Nothing here skips: a missing program, a session that does not start or a fixture that is not ready is a failure.

mod compare;
mod deeds;
mod desk;
mod fixture;
mod live;
mod reply;

pub use compare::{Compared, Oracle, Rate, cells, resolve_rate, steady};
pub use deeds::{FOREIGN, SECRET, delivery};
pub use desk::{App, Desk, binary, repo, wait_for};
pub use fixture::{Fixture, Provider};
pub use live::{Live, NATIVE, WEB, beside};
pub use reply::{Reply, nodes, refs_named};
