//! Takes commands, runs them through the pipeline interpreter with real tools, and reports what they came to.
//!
//! A [`Worker`] knows the control plane only as a [`ControlPlane`], so that the same worker serves a server in its own
//! process and one at the other end of a network. What a step means is the interpreter's business; here it gets its
//! tools, credentials, stored values, time limits and a place for its output.

mod aside;
mod attempt;
mod backoff;
mod calls;
mod clock;
mod config;
mod control;
mod credentials;
mod heartbeat;
mod inline;
mod keychain;
mod limits;
mod logs;
mod needs;
mod redact;
mod remote;
mod reporting;
mod running;
mod shared;
mod values;
mod worker;

pub use config::{LogConfig, WorkerConfig};
pub use control::{
    Accepted, Assigned, AttemptId, CommandReport, ControlError, ControlPlane, LogChunk, Released, WorkerInfo,
};
pub use inline::Inline;
pub use noetl_types::{extract_of, tier_of};
pub use remote::RemoteControl;
pub use worker::Worker;
