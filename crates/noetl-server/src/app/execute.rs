//! Starting runs.

use std::sync::Arc;

use noetl_types::{CommandKey, ExecutionId, Map, ParentLink, Value, VisitId};

use super::{App, Code, Error};
use crate::catalog::{Playbook, Reference};
use crate::drive::{Applied, ExecuteRequest};

/// A run to start.
#[derive(Clone, Debug)]
pub struct Start {
    pub playbook: Reference,
    pub payload: Value,
    pub entry: Option<Arc<str>>,
    /// The run that this one belongs to, without a step of it waiting for the outcome.
    pub parent: Option<ExecutionId>,
    pub pool: Option<String>,
    pub trace: Option<Value>,
}

impl App {
    /// Starts a run and returns once that is durable.
    pub async fn execute(&self, start: Start) -> Result<(Playbook, Applied), Error> {
        if !matches!(start.payload, Value::Map(_) | Value::Null) {
            return Err(Error::new(Code::BodyInvalid, "the payload is not an object")
                .help("give the values as {\"name\": value}"));
        }
        let playbook = self.drive().playbooks().get(&start.playbook).await?;
        let mut meta = Map::new();
        if let Some(pool) = start.pool {
            meta.insert("execution_pool".into(), Value::from(pool));
        }
        if let Some(trace) = start.trace {
            meta.insert("trace".into(), trace);
        }
        let request = ExecuteRequest {
            playbook: Reference::Id(playbook.catalog_id),
            payload: start.payload,
            entry: start.entry,
            parent: start.parent.map(|execution| ParentLink {
                execution,
                command: CommandKey::whole(VisitId(0)),
                detached: true,
                return_step: None,
            }),
            meta: if meta.is_empty() { Value::Null } else { Value::from(meta) },
        };
        let applied = self.drive().execute(request).await?;
        Ok((playbook, applied))
    }
}
