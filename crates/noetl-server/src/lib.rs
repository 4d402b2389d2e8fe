//! The control plane. [`drive`] is the one way in which runs change; [`app`] decides what requests come to, and [`http`]
//! translates. Everything but the drive loop asks it or reads the store.

pub mod app;
pub mod catalog;
pub mod clock;
pub mod drive;
pub mod http;
pub mod ids;
pub mod metrics;
pub mod tasks;
pub mod telemetry;
pub mod vault;
