//! Running an execution's playbook again.

use noetl_types::{ExecutionId, Value};

use crate::app::execute::{Start, Started};
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

/// What is to be different this time.
#[derive(Clone, Debug, Default)]
pub struct Rerun {
    /// Laid over what the execution was started with, key by key.
    pub payload: Value,
    /// Another playbook, or another version of it.
    pub playbook: Option<Reference>,
}

impl App {
    /// Starts a new execution with what another one was started with.
    pub async fn rerun(&self, id: ExecutionId, rerun: Rerun) -> Result<Started, Error> {
        let before = self.look(id).await?.run;
        let payload = match (&before.started.workload, rerun.payload) {
            (original, Value::Null) => original.clone(),
            (Value::Map(original), Value::Map(over)) => {
                let mut payload = (**original).clone();
                payload.extend(over.iter().map(|(key, value)| (key.clone(), value.clone())));
                payload.into()
            }
            (_, over @ Value::Map(_)) => over,
            (_, _) => return Err(Error::new(Code::BodyInvalid, "the workload is not an object")),
        };
        let meta = &before.started.meta;
        self.execute(Start {
            playbook: rerun.playbook.unwrap_or(Reference::Id(before.started.catalog_id)),
            payload,
            entry: None,
            parent: None,
            pool: meta.get("execution_pool").and_then(Value::as_str).map(str::to_owned),
            trace: None,
        })
        .await
    }
}
