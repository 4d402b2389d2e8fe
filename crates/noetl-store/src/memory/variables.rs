//! Variables of executions.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use crate::{Error, NewVariable, Variable, Variables};

#[async_trait]
impl Variables for MemoryStore {
    async fn set_variables(
        &self,
        execution: ExecutionId,
        variables: &[NewVariable],
        now: Timestamp,
    ) -> Result<(), Error> {
        self.with(|state| {
            for variable in variables {
                state
                    .variables
                    .entry((execution, variable.name.clone()))
                    .and_modify(|known| known.variable = variable.clone())
                    .or_insert_with(|| Variable {
                        variable: variable.clone(),
                        created_at: now,
                        accessed_at: None,
                        access_count: 0,
                    });
            }
        })
    }

    async fn read_variable(
        &self,
        execution: ExecutionId,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Variable>, Error> {
        self.with(|state| {
            let variable = state.variables.get_mut(&(execution, Arc::from(name)))?;
            variable.access_count += 1;
            variable.accessed_at = Some(now);
            Some(variable.clone())
        })
    }

    async fn list_variables(&self, execution: ExecutionId) -> Result<Vec<Variable>, Error> {
        self.with(|state| {
            let all = state.variables.iter().filter(|((owner, _), _)| *owner == execution);
            all.map(|(_, variable)| variable.clone()).collect()
        })
    }

    async fn delete_variable(&self, execution: ExecutionId, name: &str) -> Result<bool, Error> {
        self.with(|state| state.variables.remove(&(execution, Arc::from(name))).is_some())
    }

    async fn delete_variables(&self, execution: ExecutionId) -> Result<u64, Error> {
        self.with(|state| {
            let all = state.variables.len();
            state.variables.retain(|(owner, _), _| *owner != execution);
            (all - state.variables.len()) as u64
        })
    }
}
