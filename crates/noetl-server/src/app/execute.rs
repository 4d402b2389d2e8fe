//! Starting runs.

use std::sync::Arc;

use noetl_types::{CommandKey, ExecutionId, Map, ParentLink, Value, VisitId};

use super::{App, Code, Error};
use crate::catalog::{Playbook, Reference};
use crate::drive::ExecuteRequest;

/// A run to start.
#[derive(Clone, Debug)]
pub struct Start {
    pub playbook: Reference,
    pub payload: Value,
    pub entry: Option<Arc<str>>,
    /// The run that this one belongs to, without a step of it waiting for the outcome. It need not be known here: what a
    /// subscription starts belongs to the subscription.
    pub parent: Option<ExecutionId>,
    pub pool: Option<String>,
    pub trace: Option<Value>,
}

/// A run that has begun.
#[derive(Clone, Debug)]
pub struct Started {
    pub execution: ExecutionId,
    pub playbook: Playbook,
    /// How many commands went out at once.
    pub commands: usize,
}

impl App {
    /// Starts a run and returns once that is durable.
    pub async fn execute(&self, start: Start) -> Result<Started, Error> {
        if !matches!(start.payload, Value::Map(_) | Value::Null) {
            return Err(Error::new(Code::BodyInvalid, "the payload is not an object")
                .help("give the values as {\"name\": value}"));
        }
        let playbook = self.drive().playbooks().get(&start.playbook).await?;
        let request = ExecuteRequest {
            playbook: Reference::Id(playbook.catalog_id),
            meta: self.meta(&start).await?,
            payload: start.payload,
            entry: start.entry,
            parent: start.parent.map(|execution| ParentLink {
                execution,
                command: CommandKey::whole(VisitId(0)),
                detached: true,
                return_step: None,
            }),
        };
        let applied = self.drive().execute(request).await?;
        Ok(Started { execution: applied.execution, playbook, commands: applied.commands })
    }

    /// Pool and trace as asked for, else those of the parent.
    async fn meta(&self, start: &Start) -> Result<Value, Error> {
        let inherited = match start.parent {
            Some(parent) => self.store().find_execution(parent).await?.map(|parent| parent.row.meta),
            None => None,
        };
        let inherited = |key: &str| inherited.as_ref().and_then(|meta| meta.get(key)).cloned();
        let given = [
            ("execution_pool", start.pool.clone().map(Value::from).or_else(|| inherited("execution_pool"))),
            ("trace", start.trace.clone().or_else(|| inherited("trace"))),
        ];
        let meta: Map =
            given.into_iter().filter_map(|(key, value)| value.map(|value| (key.into(), value))).collect();
        Ok(if meta.is_empty() { Value::Null } else { meta.into() })
    }
}
