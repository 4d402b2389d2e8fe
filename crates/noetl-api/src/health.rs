//! Health and readiness.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The process answers.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Alive {
    /// Always `ok`.
    pub status: String,
}

/// Whether the server can do its work.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok` or `unhealthy`.
    pub status: String,
    /// `connected` or `disconnected`.
    pub database: String,
    /// `connected`, or `not_configured` where commands stay within this server.
    pub nats: String,
    pub uptime_seconds: u64,
    pub version: String,
}
