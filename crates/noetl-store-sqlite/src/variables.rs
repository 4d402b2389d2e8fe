//! Variables of executions.

use async_trait::async_trait;
use noetl_store::{Error, NewVariable, Variable, Variables};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Iso, Json, VariableKind};

fn variable(row: &Row<'_>) -> rusqlite::Result<Variable> {
    Ok(Variable {
        variable: NewVariable {
            name: row.get("var_name")?,
            variable_type: row.get::<_, VariableKind>("var_type")?.0,
            value: row.get::<_, Json>("var_value")?.0,
            source_step: row.get("source_step")?,
        },
        created_at: row.get::<_, Iso>("created_at")?.0,
        accessed_at: row.get::<_, Option<Iso>>("accessed_at")?.map(|at| at.0),
        access_count: row.get::<_, i64>("access_count")? as u64,
    })
}

#[async_trait]
impl Variables for SqliteStore {
    async fn set_variables(
        &self,
        execution: ExecutionId,
        variables: &[NewVariable],
        now: Timestamp,
    ) -> Result<(), Error> {
        let variables = variables.to_vec();
        self.write(move |connection| {
            let sql = "
                INSERT INTO noetl.transient (execution_id, var_name, var_type, var_value, source_step, created_at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (execution_id, var_name) DO UPDATE SET
                    var_type = excluded.var_type, var_value = excluded.var_value, source_step = excluded.source_step";
            let mut upsert = connection.prepare_cached(sql)?;
            for variable in &variables {
                upsert.execute(params![
                    execution.0,
                    &*variable.name,
                    variable.variable_type.as_str(),
                    variable.value.to_string(),
                    variable.source_step.as_deref(),
                    Iso(now),
                ])?;
            }
            Ok(())
        })
        .await
    }

    async fn read_variable(
        &self,
        execution: ExecutionId,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Variable>, Error> {
        let name = name.to_owned();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.transient SET access_count = access_count + 1, accessed_at = ?3
                WHERE execution_id = ?1 AND var_name = ?2 RETURNING *";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row(params![execution.0, name, Iso(now)], variable).optional()?)
        })
        .await
    }

    async fn list_variables(&self, execution: ExecutionId) -> Result<Vec<Variable>, Error> {
        self.read(move |connection| {
            let sql = "SELECT * FROM noetl.transient WHERE execution_id = ?1 ORDER BY var_name";
            let mut statement = connection.prepare_cached(sql)?;
            let variables = statement.query_map([execution.0], variable)?;
            Ok(variables.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_variable(&self, execution: ExecutionId, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM noetl.transient WHERE execution_id = ?1 AND var_name = ?2";
            Ok(connection.prepare_cached(sql)?.execute(params![execution.0, name])? > 0)
        })
        .await
    }

    async fn delete_variables(&self, execution: ExecutionId) -> Result<u64, Error> {
        self.write(move |connection| {
            let mut delete =
                connection.prepare_cached("DELETE FROM noetl.transient WHERE execution_id = ?1")?;
            Ok(delete.execute([execution.0])? as u64)
        })
        .await
    }
}
