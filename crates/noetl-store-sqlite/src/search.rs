//! What executions are searched by: their paths, labels and errors, each text once, with an index of its three-letter
//! parts, and for each label and error the executions that have it.
//!
//! There are far fewer texts than executions, so that a commit seldom adds one. New texts enter the index some dozens at a
//! time, which costs a fraction of adding them one by one; until then they are few enough to be looked at each time.

use noetl_types::ExecutionId;
use rusqlite::{Connection, OptionalExtension, params};

use noetl_store::searched_part;

/// New texts that are put into the index together.
const INDEX_TOGETHER: i64 = 64;

/// Parts of a search text that the index is asked for. More would not narrow it further.
const MAX_PARTS: usize = 24;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Path,
    Label,
    Error,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Path => "path",
            Kind::Label => "label",
            Kind::Error => "error",
        }
    }
}

/// A text that an execution is found by.
pub struct Text {
    pub kind: Kind,
    pub text: String,
}

impl Text {
    pub fn path(path: &str) -> Text {
        Text { kind: Kind::Path, text: path.to_owned() }
    }

    pub fn label(key: &str, value: &str) -> Text {
        Text { kind: Kind::Label, text: searched_part(&format!("{key}={value}")).to_owned() }
    }

    pub fn error(error: &str) -> Text {
        Text { kind: Kind::Error, text: searched_part(error).to_owned() }
    }
}

/// Notes what executions are found by, inside the transaction that writes them.
pub fn note<'a>(
    connection: &Connection,
    texts: impl Iterator<Item = (ExecutionId, &'a Text)>,
) -> rusqlite::Result<()> {
    let mut is_new = false;
    let mut find =
        connection.prepare_cached("SELECT text_id FROM noetl.search_text WHERE kind = ?1 AND text = ?2")?;
    for (execution, text) in texts {
        let values = params![text.kind.as_str(), text.text];
        let id: i64 = match find.query_row(values, |row| row.get(0)).optional()? {
            Some(id) => id,
            None => {
                is_new = true;
                let sql = "INSERT INTO noetl.search_text (kind, text) VALUES (?1, ?2) RETURNING text_id";
                connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?
            }
        };
        // Executions have an index on their path already.
        if text.kind != Kind::Path {
            let sql = "INSERT OR IGNORE INTO noetl.execution_text (text_id, execution_id) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute([id, execution.0])?;
        }
    }
    if is_new { index_new(connection) } else { Ok(()) }
}

/// Forgets that an execution is found by its labels and its error. The texts stay: others may have them too.
pub fn forget(connection: &Connection, execution: ExecutionId) -> rusqlite::Result<()> {
    let sql = "
        DELETE FROM noetl.execution_text WHERE execution_id = ?1 AND text_id IN (
            SELECT text_id FROM noetl.execution_record CROSS JOIN json_each(labels) CROSS JOIN noetl.search_text
            WHERE execution_id = ?1 AND kind = 'label' AND text = substr(key || '=' || json_each.value, 1, 1000)
            UNION ALL
            SELECT text_id FROM noetl.execution_record CROSS JOIN noetl.search_text
            WHERE execution_id = ?1 AND kind = 'error' AND text = substr(error, 1, 1000)
        )";
    connection.prepare_cached(sql)?.execute([execution.0])?;
    Ok(())
}

/// Puts new texts into the index when there are enough of them.
fn index_new(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "
        SELECT (SELECT max(text_id) FROM noetl.search_text), (SELECT last_text_id FROM noetl.search_progress)";
    let (newest, indexed): (i64, i64) =
        connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if newest - indexed < INDEX_TOGETHER {
        return Ok(());
    }
    let sql = "
        INSERT INTO noetl.search_index (rowid, text)
        SELECT text_id, text FROM noetl.search_text WHERE text_id > ?1 AND text_id <= ?2";
    connection.prepare_cached(sql)?.execute([indexed, newest])?;
    connection.prepare_cached("UPDATE noetl.search_progress SET last_text_id = ?1")?.execute([newest])?;
    Ok(())
}

/// A text that was found.
pub struct Found {
    pub id: i64,
    pub is_path: bool,
    pub text: String,
}

/// Texts that contain the given one, which is in lower case and has at least three characters. Nothing when there are
/// more than `limit`.
pub fn find_containing(
    connection: &Connection,
    text: &str,
    paths_only: bool,
    limit: usize,
) -> rusqlite::Result<Option<Vec<Found>>> {
    let sql = "
        SELECT t.text_id, t.kind, t.text
        FROM noetl.search_index CROSS JOIN noetl.search_text AS t ON t.text_id = search_index.rowid
        WHERE search_index MATCH ?1 AND instr(lower(t.text), ?2) > 0 AND (NOT ?3 OR t.kind = 'path')
        UNION ALL
        SELECT text_id, kind, text FROM noetl.search_text
        WHERE text_id > (SELECT last_text_id FROM noetl.search_progress)
            AND instr(lower(text), ?2) > 0 AND (NOT ?3 OR kind = 'path')";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![all_parts(text), text, paths_only])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() == limit {
            return Ok(None);
        }
        let kind: String = row.get(1)?;
        found.push(Found { id: row.get(0)?, is_path: kind == Kind::Path.as_str(), text: row.get(2)? });
    }
    Ok(Some(found))
}

/// Asks the index for texts that have all three-letter parts of the given one.
fn all_parts(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let parts = letters.windows(3).take(MAX_PARTS).map(|part| {
        let part: String = part.iter().collect();
        format!("\"{}\"", part.replace('"', "\"\""))
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// The paths in a range of texts. Nothing when there are more than `limit`.
pub fn find_paths(
    connection: &Connection,
    from: &str,
    before: Option<&str>,
    limit: usize,
) -> rusqlite::Result<Option<Vec<String>>> {
    let sql = "
        SELECT text FROM noetl.search_text
        WHERE kind = 'path' AND text >= ?1 AND (?2 IS NULL OR text < ?2) LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let paths = statement.query_map(params![from, before, limit as i64 + 1], |row| row.get(0))?;
    let paths: Vec<String> = paths.collect::<rusqlite::Result<_>>()?;
    Ok((paths.len() <= limit).then_some(paths))
}

/// The number of a label's text, if any execution ever had it.
pub fn find_label(connection: &Connection, key: &str, value: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT text_id FROM noetl.search_text WHERE kind = 'label' AND text = ?1";
    connection.prepare_cached(sql)?.query_row([Text::label(key, value).text], |row| row.get(0)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_asked_for_by_its_parts() {
        assert_eq!(all_parts("abc"), r#""abc""#);
        assert_eq!(all_parts("a\"é/"), r#""a""é" AND """é/""#);
    }

    #[test]
    fn a_long_text_is_asked_for_by_some_of_its_parts() {
        assert_eq!(all_parts(&"x".repeat(1000)).matches(" AND ").count(), MAX_PARTS - 1);
    }
}
