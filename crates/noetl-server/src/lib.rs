//! The control plane. [`drive`] is the one way in which runs change; everything else asks it or reads the store.

pub mod catalog;
pub mod clock;
pub mod drive;
pub mod ids;
pub mod tasks;
