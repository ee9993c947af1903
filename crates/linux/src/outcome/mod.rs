//! Native answers as outcomes: reads here, writes in a table of their own (architecture: a write never consults the read table).

pub mod read;
