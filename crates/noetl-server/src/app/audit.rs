//! The audit trail: who did what to what, and what came of it. Never the values.

use noetl_store::{AuditFilter, AuditRow};
use noetl_types::{ExecutionId, Value};

use super::{App, Error};

/// Something that somebody did.
#[derive(Clone, Debug)]
pub struct Deed {
    pub actor: String,
    pub action: String,
    pub target: String,
    pub outcome: Outcome,
    pub execution: Option<ExecutionId>,
    pub details: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    /// The caller may not do it.
    Denied,
    Error,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Denied => "denied",
            Outcome::Error => "error",
        }
    }
}

impl App {
    /// Writes it down.
    pub async fn audit(&self, deed: Deed) -> Result<(), Error> {
        Ok(self.store().append_audit(&[self.audit_row(deed)]).await?)
    }

    /// As it will stand in the trail.
    pub(in crate::app) fn audit_row(&self, deed: Deed) -> AuditRow {
        AuditRow {
            id: self.ids().next(),
            at: self.now(),
            actor: deed.actor.into(),
            action: deed.action.into(),
            target: deed.target.into(),
            outcome: deed.outcome.name().into(),
            execution: deed.execution,
            details: deed.details,
        }
    }

    /// Newest first.
    pub async fn list_audit(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<AuditRow>, Error> {
        Ok(self.store().list_audit(filter, limit).await?)
    }
}
