//! Native answers as outcomes: reads and writes in two tables of their own (architecture: a write never consults
//! the read table).

pub mod read;
pub mod write;
