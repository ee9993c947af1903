//! The rules of agent-desktop, free of any platform: what is observed, what a ref means, what an action may
//! claim. Faces (command line, MCP, C) parse and print; adapters read and write one operating system.

pub mod act;
pub mod apps;
pub mod batch;
pub mod capture;
pub mod clipboard;
pub mod command;
pub mod deadline;
mod debug;
pub mod envelope;
pub mod error;
pub mod evidence;
pub mod geometry;
mod html;
pub mod input;
pub mod observe;
pub mod overlay;
pub mod platform;
pub mod policy;
pub mod query;
pub mod refs;
pub mod session;
pub mod skills;
pub mod state;
pub mod system;
pub mod trace;
pub mod tree;
pub mod vocab;
pub mod wait;
pub mod watch;
pub mod windows;
