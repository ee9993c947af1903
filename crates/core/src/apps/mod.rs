//! Starting and ending applications.

pub mod cdp;
pub mod close;
pub mod launch;
