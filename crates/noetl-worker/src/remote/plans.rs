//! Playbooks by catalog id: fetched and compiled once. An entry of the catalog never changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noetl_client::Client;
use noetl_dsl::{Options, Plan, Severity, check};

use super::chain;

/// Compiled playbooks kept at hand.
const KEPT: usize = 1000;

pub enum PlanError {
    /// Asking again later may help.
    Unavailable(String),
    /// Asking again will not help.
    Unusable(String),
}

#[derive(Debug)]
pub struct Plans {
    client: Client,
    kept: Mutex<HashMap<i64, Arc<Plan>>>,
}

impl Plans {
    pub fn new(client: Client) -> Plans {
        Plans { client, kept: Mutex::default() }
    }

    pub async fn get(&self, catalog_id: i64) -> Result<Arc<Plan>, PlanError> {
        if let Some(plan) = self.kept().get(&catalog_id) {
            return Ok(plan.clone());
        }
        let entry = self.client.entry(catalog_id).await.map_err(|error| {
            let reason = format!("the playbook {catalog_id} could not be fetched: {}", chain(&error));
            if error.is_transient() { PlanError::Unavailable(reason) } else { PlanError::Unusable(reason) }
        })?;
        let checked = check(&entry.content.unwrap_or_default(), &Options::default());
        let Some(plan) = checked.plan else {
            let first = checked.diagnostics.iter().find(|found| found.severity == Severity::Error);
            let detail =
                first.map_or(String::new(), |found| format!("line {}: {}", found.line, found.message));
            let reason = format!("this worker can't read playbook '{}': {detail}", entry.path);
            return Err(PlanError::Unusable(reason));
        };
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            // They are cheap to fetch again; commands hold on to the ones they use.
            kept.clear();
        }
        kept.insert(catalog_id, plan.clone());
        Ok(plan)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<i64, Arc<Plan>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
