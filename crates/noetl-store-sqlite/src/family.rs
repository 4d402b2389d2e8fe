//! Executions that can reach each other: an execution, its ancestors, and everything below those.

use std::collections::HashMap;

use noetl_types::ExecutionId;
use rusqlite::{Connection, OptionalExtension};

/// The topmost ancestor that is stored. `UNION` ends what would go round in a circle.
const ROOT: &str = "
    WITH RECURSIVE line (id, parent, height) AS (
        SELECT execution_id, parent_execution_id, 0 FROM noetl.execution_record WHERE execution_id = ?1
        UNION
        SELECT e.execution_id, e.parent_execution_id, line.height + 1
        FROM line CROSS JOIN noetl.execution_record AS e ON e.execution_id = line.parent
        WHERE line.height < 1000
    )
    SELECT id FROM line ORDER BY height DESC LIMIT 1";

const ANYONE_RUNS: &str = "
    WITH RECURSIVE family (id) AS (
        VALUES (?1)
        UNION
        SELECT e.execution_id FROM family CROSS JOIN noetl.execution_record AS e ON e.parent_execution_id = family.id
    )
    SELECT 1 FROM family CROSS JOIN noetl.execution_record AS e ON e.execution_id = family.id
    WHERE e.status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED') LIMIT 1";

/// Answers for one transaction, each family asked about once.
pub struct Families<'a> {
    connection: &'a Connection,
    known: HashMap<i64, bool>,
}

impl<'a> Families<'a> {
    pub fn new(connection: &'a Connection) -> Families<'a> {
        Families { connection, known: HashMap::new() }
    }

    /// Whether anyone in the family of an execution runs.
    pub fn is_alive(&mut self, execution: ExecutionId) -> rusqlite::Result<bool> {
        if let Some(answer) = self.known.get(&execution.0) {
            return Ok(*answer);
        }
        let mut root = self.connection.prepare_cached(ROOT)?;
        let root: Option<i64> = root.query_row([execution.0], |row| row.get(0)).optional()?;
        let root = root.unwrap_or(execution.0);
        let answer = match self.known.get(&root) {
            Some(answer) => *answer,
            None => self.connection.prepare_cached(ANYONE_RUNS)?.exists([root])?,
        };
        self.known.extend([(execution.0, answer), (root, answer)]);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_walked_by_their_indexes() {
        crate::plan::assert_plan(ANYONE_RUNS, "execution_by_parent (parent_execution_id=?)");
    }
}
