//! Files of ours on disk (spec 1 §8): private to the user, never through a link, written whole or not at all.

pub mod private;
mod unix;
