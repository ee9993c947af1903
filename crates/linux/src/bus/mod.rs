//! The buses: find and join them; one place that sends (architecture: rooms of linux).
//!
//! Raw method calls only. A proxy's property cache calls `Properties.GetAll`, which kills Qt
//! (FINDINGS §3 "Other calls", §10).

pub mod call;
pub mod direct;
mod flight;
pub mod join;
pub mod patience;
pub mod peer;
pub mod place;
pub mod reply;
pub mod sender;

pub use call::{Body, Call, Object};
pub use join::Bus;
pub use peer::{Line, Peers};
pub use reply::{CallError, Reply};
pub use sender::{Incoming, Next, Sender, Signal, Ticket, Wire};
