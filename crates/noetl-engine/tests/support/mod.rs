//! A stage for engine cases: a run, a fake outside that does what it is told, and a transcript in words.

mod script;
mod words;
mod world;

pub use script::play;
pub use world::World;
