//! The worker under a control plane in memory that runs the real engine: whole playbooks through real tools.

mod conformance;
mod control;
mod data;
mod pipelines;
mod secrets;
mod stopping;
mod support;
