//! Faults that real applications won't produce on demand, played by the scripted provider. Its log of received
//! writes is the oracle: what we say was delivered stands there once, what we say was not delivered never does.

mod apps;
mod cache;
mod dead;
mod direct;
mod effects;
mod forms;
mod identity;
mod late;
mod mid_walk;
mod names;
mod scene;
mod silence;
mod size;
