//! Executions that can reach each other: an execution, its ancestors, and everything below those; and those that borrow
//! values from them.

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
        UNION
        SELECT b.execution_id FROM family CROSS JOIN noetl.execution_borrow AS b ON b.lender_id = family.id
    )
    SELECT 1 FROM family CROSS JOIN noetl.execution_record AS e ON e.execution_id = family.id
    WHERE e.status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED') LIMIT 1";

const ANYONE_BORROWS: &str = "
    WITH RECURSIVE family (id) AS (
        VALUES (?1)
        UNION
        SELECT e.execution_id FROM family CROSS JOIN noetl.execution_record AS e ON e.parent_execution_id = family.id
    )
    SELECT 1 FROM family CROSS JOIN noetl.execution_borrow AS b ON b.lender_id = family.id
    WHERE b.execution_id NOT IN (SELECT id FROM family) LIMIT 1";

const BORROWER: &str =
    "SELECT execution_id FROM noetl.execution_borrow WHERE lender_id = ?1 ORDER BY execution_id LIMIT 1";

/// An execution that refers to values of this one.
pub fn find_borrower(connection: &Connection, lender: ExecutionId) -> rusqlite::Result<Option<ExecutionId>> {
    connection.prepare_cached(BORROWER)?.query_row([lender.0], |row| row.get(0).map(ExecutionId)).optional()
}

/// Answers for one transaction, each family asked about once.
pub struct Families<'a> {
    connection: &'a Connection,
    roots: HashMap<i64, i64>,
    /// By root, whether anyone runs.
    alive: HashMap<i64, bool>,
    /// By root, whether anyone outside refers to values of the family.
    borrowed: HashMap<i64, bool>,
}

impl<'a> Families<'a> {
    pub fn new(connection: &'a Connection) -> Families<'a> {
        Families { connection, roots: HashMap::new(), alive: HashMap::new(), borrowed: HashMap::new() }
    }

    /// Whether anyone runs who may look at values of an execution: its family, and those who borrow from it.
    pub fn is_alive(&mut self, execution: ExecutionId) -> rusqlite::Result<bool> {
        let root = self.root(execution)?;
        ask(self.connection, ANYONE_RUNS, root, &mut self.alive)
    }

    /// Whether an execution of another family refers to values of this one's.
    pub fn is_borrowed_from(&mut self, execution: ExecutionId) -> rusqlite::Result<bool> {
        let root = self.root(execution)?;
        ask(self.connection, ANYONE_BORROWS, root, &mut self.borrowed)
    }

    fn root(&mut self, execution: ExecutionId) -> rusqlite::Result<i64> {
        if let Some(root) = self.roots.get(&execution.0) {
            return Ok(*root);
        }
        let mut statement = self.connection.prepare_cached(ROOT)?;
        let root: Option<i64> = statement.query_row([execution.0], |row| row.get(0)).optional()?;
        let root = root.unwrap_or(execution.0);
        self.roots.insert(execution.0, root);
        Ok(root)
    }
}

/// The answer for a root, asked for unless it is known.
fn ask(
    connection: &Connection,
    sql: &str,
    root: i64,
    known: &mut HashMap<i64, bool>,
) -> rusqlite::Result<bool> {
    if let Some(answer) = known.get(&root) {
        return Ok(*answer);
    }
    let answer = connection.prepare_cached(sql)?.exists([root])?;
    known.insert(root, answer);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn families_are_walked_by_their_indexes() {
        assert_plan(ANYONE_RUNS, "execution_by_parent (parent_execution_id=?)");
        assert_plan(ANYONE_RUNS, "PRIMARY KEY (lender_id=?)");
        assert_plan(ANYONE_BORROWS, "PRIMARY KEY (lender_id=?)");
        assert_plan(BORROWER, "PRIMARY KEY (lender_id=?)");
    }
}
