//! Tools that are called for real: `noop` always, other kinds where a case allows them. Whoever runs the case brings them.

use std::sync::Arc;

use noetl_engine::pipeline::TaskCall;
use noetl_types::{Map, Report, Value};

/// Calls tools for real.
pub trait RealTools: Sync {
    fn call(&self, call: RealCall<'_>) -> Report;
}

/// One call, with everything rendered.
#[derive(Debug)]
pub struct RealCall<'c> {
    pub task: &'c TaskCall,
    /// The path of the playbook, for tracebacks.
    pub playbook: &'c Arc<str>,
    /// Who is calling: `execution_id`, `step`, `variables` and the like.
    pub names: Value,
    /// By name: `{type, data}`.
    pub credentials: &'c Map,
}
