//! Variables of an execution that tools set and read, beside its events.

use noetl_store::{NewVariable, Variable};
use noetl_types::ExecutionId;

use super::{App, Code, Error};

impl App {
    /// Sets variables; those that exist are replaced.
    pub async fn set_variables(
        &self,
        execution: ExecutionId,
        variables: &[NewVariable],
    ) -> Result<(), Error> {
        self.expect_execution(execution).await?;
        Ok(self.store().set_variables(execution, variables, self.now()).await?)
    }

    pub async fn list_variables(&self, execution: ExecutionId) -> Result<Vec<Variable>, Error> {
        self.expect_execution(execution).await?;
        Ok(self.store().list_variables(execution).await?)
    }

    /// Reads a variable and counts the access.
    pub async fn read_variable(&self, execution: ExecutionId, name: &str) -> Result<Variable, Error> {
        let found = self.store().read_variable(execution, name, self.now()).await?;
        found.ok_or_else(|| variable_not_found(execution, name))
    }

    pub async fn delete_variable(&self, execution: ExecutionId, name: &str) -> Result<(), Error> {
        match self.store().delete_variable(execution, name).await? {
            true => Ok(()),
            false => Err(variable_not_found(execution, name)),
        }
    }

    /// Removes all and says how many there were.
    pub async fn delete_variables(&self, execution: ExecutionId) -> Result<u64, Error> {
        self.expect_execution(execution).await?;
        Ok(self.store().delete_variables(execution).await?)
    }

    async fn expect_execution(&self, execution: ExecutionId) -> Result<(), Error> {
        match self.store().find_execution(execution).await? {
            Some(_) => Ok(()),
            None => Err(Error::execution_not_found(execution)),
        }
    }
}

fn variable_not_found(execution: ExecutionId, name: &str) -> Error {
    Error::new(Code::VariableNotFound, format!("execution {execution} has no variable '{name}'"))
}
