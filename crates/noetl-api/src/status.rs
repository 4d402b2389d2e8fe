//! How the server fares.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The process and what it has to do. What the system does not tell is left out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ServerStatus {
    /// Always `ok`: a server that is not does not answer.
    pub status: String,
    pub version: String,
    pub started_at: String,
    pub uptime_seconds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    pub open_executions: u64,
    pub workers: usize,
    /// Inputs that wait for the drive loop.
    pub waiting_inputs: usize,
}

/// How busy the way to the store is. All changes go through the drive loop, so its room is what counts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PoolStatus {
    pub pool_min: usize,
    pub pool_max: usize,
    pub pool_size: usize,
    pub pool_available: usize,
    pub requests_waiting: usize,
    /// From 0 to 1.
    pub utilization: f64,
    pub slots_available: usize,
    /// `ok` or `saturated`.
    pub status: String,
}
