//! One execution as it stands.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_engine::{Run, apply};
use noetl_store::Execution;
use noetl_types::{ExecutionId, RunStatus, Slot};

use crate::app::{App, Code, Error};
use crate::catalog::{CatalogError, Reference};
use crate::drive::load_run;

/// An execution with its state and its playbook.
#[derive(Clone, Debug)]
pub struct Looked {
    pub execution: Execution,
    pub run: Run,
    /// Nothing when the playbook is gone or no longer valid.
    pub plan: Option<Arc<Plan>>,
}

/// Events folded at a time when an earlier state is made.
const PAGE: usize = 1000;

impl App {
    pub async fn execution(&self, id: ExecutionId) -> Result<Execution, Error> {
        self.store().find_execution(id).await?.ok_or_else(|| Error::execution_not_found(id))
    }

    /// An execution and its state now. Both tell of the same moment: the row is brought up to the state.
    pub async fn look(&self, id: ExecutionId) -> Result<Looked, Error> {
        let mut execution = self.execution(id).await?;
        let Some((run, _)) = load_run(&**self.store(), id).await? else {
            return Err(Error::execution_not_found(id));
        };
        execution.seq = run.seq;
        execution.row.status = run.status;
        execution.row.ended_at = run.ended_at;
        execution.row.error = run.error.as_ref().map(|error| error.message.clone());
        let plan = self.plan_of(&run).await?;
        Ok(Looked { execution, run, plan })
    }

    /// The state of an execution right after the event of this number, or the newest there is.
    pub async fn state_at(&self, id: ExecutionId, seq: u64) -> Result<(Run, Option<Arc<Plan>>), Error> {
        let execution = self.execution(id).await?;
        let last = seq.min(execution.seq);
        if last == 0 {
            return Err(Error::new(Code::ParameterInvalid, "events are numbered from 1"));
        }
        let mut run = Run::new();
        while run.seq < last {
            let wanted = usize::try_from(last - run.seq).unwrap_or(PAGE).min(PAGE);
            let events = self.store().load_events(id, run.seq, wanted).await?;
            if events.is_empty() {
                break;
            }
            for event in &events {
                apply(&mut run, event);
            }
        }
        if run.status == RunStatus::Pending {
            return Err(Error::execution_not_found(id));
        }
        let plan = self.plan_of(&run).await?;
        Ok((run, plan))
    }

    async fn plan_of(&self, run: &Run) -> Result<Option<Arc<Plan>>, Error> {
        match self.drive().playbooks().get(&Reference::Id(run.started.catalog_id)).await {
            Ok(playbook) => Ok(Some(playbook.plan)),
            Err(CatalogError::Store(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// Brings values that are stored aside into their slots while they fit into so many bytes together. Those that do not
    /// fit, or are gone, stay references.
    pub async fn resolve(&self, slots: Vec<&mut Slot>, room: usize) -> Result<(), Error> {
        let mut left = room;
        for slot in slots {
            let Slot::Stored(stored) = &*slot else {
                continue;
            };
            match self.drive().values().load_within(&**self.store(), stored, left).await {
                Ok(Some(value)) => {
                    left = left.saturating_sub(value.json_size_up_to(left));
                    *slot = Slot::Inline(value);
                }
                Ok(None) => {}
                Err(error) if error.is_retryable() => return Err(error.into()),
                Err(error) => tracing::warn!(uri = stored.uri, %error, "a stored value can't be shown"),
            }
        }
        Ok(())
    }
}
