//! Screenshots (spec 2 §5): what is shown, proof that it stood still meanwhile, what is blacked out and drawn on it,
//! and how it is given out.

mod annotate;
mod element;
mod font;
mod mask;
mod masked;
pub(crate) mod output;
mod paint;
mod png;
mod screen;
mod screenshot;
mod window;

pub(crate) use masked::{Masked, masked};
pub(crate) use png::encode;
pub use screenshot::screenshot;
