//! Variables of an execution that tools set and read through the API, beside its events.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp, Value};

use crate::Error;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VariableType {
    #[default]
    UserDefined,
    StepResult,
    Computed,
    IteratorState,
}

impl VariableType {
    pub fn as_str(self) -> &'static str {
        match self {
            VariableType::UserDefined => "user_defined",
            VariableType::StepResult => "step_result",
            VariableType::Computed => "computed",
            VariableType::IteratorState => "iterator_state",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewVariable {
    pub name: Arc<str>,
    pub variable_type: VariableType,
    pub value: Value,
    pub source_step: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub variable: NewVariable,
    pub created_at: Timestamp,
    pub accessed_at: Option<Timestamp>,
    pub access_count: u64,
}

#[async_trait]
pub trait Variables {
    /// Sets variables. One that exists is replaced; its time of creation and its count of accesses stay.
    async fn set_variables(
        &self,
        execution: ExecutionId,
        variables: &[NewVariable],
        now: Timestamp,
    ) -> Result<(), Error>;

    /// Reads a variable and counts the access.
    async fn read_variable(
        &self,
        execution: ExecutionId,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Variable>, Error>;

    /// By name, without counting an access.
    async fn list_variables(&self, execution: ExecutionId) -> Result<Vec<Variable>, Error>;

    async fn delete_variable(&self, execution: ExecutionId, name: &str) -> Result<bool, Error>;

    /// Removes all variables of an execution and says how many.
    async fn delete_variables(&self, execution: ExecutionId) -> Result<u64, Error>;
}
