//! The audit trail: who did what to what, and what came of it.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp, Value};

use crate::Error;

#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// Unique, and later rows have higher ones.
    pub id: i64,
    pub at: Timestamp,
    /// A user, a worker or a server.
    pub actor: Arc<str>,
    /// What was done: `credential.read`, `catalog.delete`…
    pub action: Arc<str>,
    /// What it was done to.
    pub target: Arc<str>,
    /// `success`, `denied` or `error`.
    pub outcome: Arc<str>,
    pub execution: Option<ExecutionId>,
    pub details: Value,
}

/// Which rows to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub actor: Option<String>,
    pub action: Option<String>,
    pub target: Option<String>,
    pub execution: Option<ExecutionId>,
    pub from: Option<Timestamp>,
    /// Before this instant.
    pub until: Option<Timestamp>,
    /// Only rows older than this id: the last of the page before.
    pub before: Option<i64>,
}

#[async_trait]
pub trait Audit {
    /// Adds rows. An id that is taken is passed over, so that a retry is harmless.
    async fn append_audit(&self, rows: &[AuditRow]) -> Result<(), Error>;

    /// Newest first, that is by descending id.
    async fn list_audit(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<AuditRow>, Error>;
}
