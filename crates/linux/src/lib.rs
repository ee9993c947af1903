//! agent-desktop
