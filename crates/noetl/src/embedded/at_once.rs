//! What the drive loop does itself, because no worker is needed for it.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_engine::Values;
use noetl_server::drive::AtOnce;
use noetl_types::{Command, Outcome, Timestamp};
use noetl_worker::Inline;

/// The work of the worker in this process that takes no time, for the pools that it works for.
#[derive(Debug)]
pub struct WithoutWorker {
    pub inline: Inline,
    pub pools: Vec<Arc<str>>,
}

impl AtOnce for WithoutWorker {
    fn run(
        &self,
        command: &Command,
        plan: &Arc<Plan>,
        pool: &str,
        values: &Arc<dyn Values>,
        now: Timestamp,
    ) -> Option<Outcome> {
        let is_ours = self.pools.iter().any(|ours| **ours == *pool);
        is_ours.then(|| self.inline.run(plan, command, values.clone(), now)).flatten()
    }
}
