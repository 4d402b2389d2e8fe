//! A command put together again from what is stored, for workers that claim it by name or gave it back.

use std::sync::Arc;

use noetl_engine::{Values, command_for};
use noetl_types::{CommandKey, ExecutionId};

use super::dispatch::Dispatched;
use super::session::{load_run, pool_of};
use super::trace::of_attempt;
use super::turn::AtHand;
use super::{Drive, DriveError};
use crate::catalog::Reference;

impl Drive {
    /// The command as its worker needs it, with the data as it is now. Nothing when the run has no such work any more.
    pub async fn find_work(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
    ) -> Result<Option<Dispatched>, DriveError> {
        let shared = self.shared();
        let Some((run, _)) = load_run(&*shared.store, execution).await? else {
            return Ok(None);
        };
        if !run.is_open(key, attempt) {
            return Ok(None);
        }
        let playbook = shared.playbooks.get(&Reference::Id(run.started.catalog_id)).await?;
        let at_hand = AtHand::new(&shared.values);
        let values: Arc<dyn Values> = at_hand.clone();
        loop {
            match command_for(&run, &playbook.plan, key, attempt, &values) {
                Ok(command) => {
                    let traces = shared.config.traces;
                    return Ok(command.map(|command| Dispatched {
                        trace: of_attempt(&run.started, traces, execution, key, attempt),
                        command,
                        plan: playbook.plan.clone(),
                        catalog_id: playbook.catalog_id,
                        pool: pool_of(&run.started.meta, &run.started.path),
                    }));
                }
                Err(missing) => {
                    for stored in missing {
                        let value = shared.values.load(&*shared.store, &stored).await?;
                        at_hand.pin(&stored.uri, value);
                    }
                }
            }
        }
    }
}
