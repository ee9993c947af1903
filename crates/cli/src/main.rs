//! agent-desktop
fn main() {}
