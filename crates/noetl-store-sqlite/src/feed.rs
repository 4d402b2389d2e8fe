//! The events of all executions in the order in which they were stored: rows are only ever added behind the last one, by
//! one writer.

use async_trait::async_trait;
use noetl_store::{Error, FedEvent, Feed, FeedPosition};
use noetl_types::ExecutionId;

use crate::SqliteStore;
use crate::columns::int;
use crate::executions::event;

/// The log also has the events of subscriptions, which are no executions.
const FEED: &str = "
    SELECT event_id, seq, at, body, rowid, execution_id FROM noetl.event_record AS this
    WHERE rowid > ?1 AND EXISTS (SELECT 1 FROM noetl.execution_record AS of WHERE of.execution_id = this.execution_id)
    ORDER BY rowid LIMIT ?2";

#[async_trait]
impl Feed for SqliteStore {
    async fn read_feed(&self, after: FeedPosition, limit: usize) -> Result<Vec<FedEvent>, Error> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(FEED)?;
            let events = statement.query_map([after.0, int(limit)], |row| {
                Ok(FedEvent {
                    position: FeedPosition(row.get(4)?),
                    execution: ExecutionId(row.get(5)?),
                    event: event(row)?,
                })
            })?;
            Ok(events.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn end_of_feed(&self) -> Result<FeedPosition, Error> {
        self.read(|connection| {
            let sql = "SELECT coalesce(max(rowid), 0) FROM noetl.event_record";
            Ok(FeedPosition(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn the_feed_is_read_in_the_order_of_its_rows() {
        assert_plan(FEED, "SEARCH this USING INTEGER PRIMARY KEY (rowid>?)");
    }
}
