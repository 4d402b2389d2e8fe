//! What a step's tools were called with.
//!
//! Workers render it and nobody keeps it, since secrets may be in it. The same templates over the state at that event say it
//! again, without the secrets: those only workers have.

use std::sync::Arc;

use noetl_engine::{FirstStep, NoValues, Values, command_for, first_step};
use noetl_types::{CommandKey, EventBody, ExecutionId};

use crate::app::{App, Error};

/// The state is folded anew up to the call, which takes longer the farther in it is.
const FARTHEST: u64 = 50_000;

/// The first calls of a command, rendered again.
#[derive(Clone, Debug)]
pub struct CalledWith {
    pub key: CommandKey,
    pub attempt: u16,
    pub first: FirstStep,
}

/// Why it can't be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    #[error("the step gave no work to a worker")]
    NotCalled,
    #[error("the playbook that ran is no longer in the catalog")]
    NoPlaybook,
    #[error("its templates read values that are stored aside")]
    StoredAside,
    #[error("too many events lie before it")]
    TooFar,
}

impl App {
    /// What the newest command of the latest visit of a step called first.
    pub async fn called_with(
        &self,
        id: ExecutionId,
        step: &str,
    ) -> Result<Result<CalledWith, Untold>, Error> {
        let history = self.step_history(id, step).await?;
        let issued = history.events.iter().find_map(|event| match &event.body {
            EventBody::CommandIssued { command, attempt, .. } => Some((event, *command, *attempt)),
            _ => None,
        });
        let Some((event, key, attempt)) = issued else {
            return Ok(Err(Untold::NotCalled));
        };
        if event.seq > FARTHEST {
            return Ok(Err(Untold::TooFar));
        }
        let (run, plan) = self.state_at(id, event.seq).await?;
        let Some(plan) = plan else {
            return Ok(Err(Untold::NoPlaybook));
        };
        let values: Arc<dyn Values> = Arc::new(NoValues);
        let command = match command_for(&run, &plan, key, attempt, &values) {
            Ok(Some(command)) => command,
            Ok(None) => return Ok(Err(Untold::NotCalled)),
            Err(_) => return Ok(Err(Untold::StoredAside)),
        };
        let first = first_step(&plan, command, event.at);
        Ok(first.map_or(Err(Untold::StoredAside), |first| Ok(CalledWith { key, attempt, first })))
    }
}
