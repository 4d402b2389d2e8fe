//! Subscriptions. Their events are in the event log like those of executions, with a body of their own form.

use async_trait::async_trait;
use noetl_store::{
    Error, Registration, Subscription, SubscriptionEvent, SubscriptionState, Subscriptions, Transition,
};
use noetl_types::{EventId, ExecutionId, Timestamp, Value};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::SqliteStore;
use crate::columns::{Iso, Micros, Subscribed, from_json, int};
use crate::error::{Fault, Outcome};

fn subscription(row: &Row<'_>) -> rusqlite::Result<Subscription> {
    Ok(Subscription {
        id: ExecutionId(row.get("subscription_id")?),
        path: row.get("path")?,
        catalog_id: row.get("catalog_id")?,
        state: row.get::<_, Subscribed>("state")?.0,
        last_event_type: row.get("last_event_type")?,
        version: row.get::<_, i64>("version")? as u64,
        seq: row.get::<_, i64>("seq")? as u64,
        created_at: row.get::<_, Iso>("created_at")?.0,
        updated_at: row.get::<_, Iso>("updated_at")?.0,
    })
}

fn find(connection: &Connection, id: ExecutionId) -> rusqlite::Result<Option<Subscription>> {
    let sql = "SELECT * FROM noetl.subscription WHERE subscription_id = ?1";
    connection.prepare_cached(sql)?.query_row([id.0], subscription).optional()
}

fn find_live(connection: &Connection, path: &str) -> rusqlite::Result<Option<Subscription>> {
    let sql = "SELECT * FROM noetl.subscription WHERE path = ?1 AND state <> 'DEACTIVATED'";
    connection.prepare_cached(sql)?.query_row([path], subscription).optional()
}

/// An event as it lies in the log. The view of events reads the same fields.
#[derive(Serialize, Deserialize)]
struct Body {
    #[serde(rename = "type")]
    event_type: std::sync::Arc<str>,
    path: std::sync::Arc<str>,
    catalog_id: i64,
    status: std::sync::Arc<str>,
    context: Value,
    meta: Value,
}

fn insert_event(connection: &Connection, row: &Subscription, event: &SubscriptionEvent) -> Outcome<()> {
    let body = Body {
        event_type: event.event_type.clone(),
        path: row.path.clone(),
        catalog_id: row.catalog_id,
        status: event.status.clone(),
        context: event.context.clone(),
        meta: event.meta.clone(),
    };
    let body = serde_json::to_string(&body)
        .map_err(|error| Error::invalid(format!("event {} cannot be written: {error}", event.id)))?;
    let sql = "
        INSERT INTO noetl.event_record (execution_id, seq, event_id, at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![row.id.0, int(row.seq), event.id.0, Micros(event.at), body];
    match connection.prepare_cached(sql)?.execute(values).map_err(Fault::from) {
        Ok(_) => Ok(()),
        Err(fault) if fault.is_constraint_violation() => {
            Err(Error::Conflict { what: format!("event {} of subscription {}", event.id, row.id) }.into())
        }
        Err(fault) => Err(fault),
    }
}

fn put(connection: &Connection, row: &Subscription) -> rusqlite::Result<()> {
    let sql = "
        INSERT INTO noetl.subscription (
            subscription_id, path, catalog_id, state, last_event_type, version, seq, created_at, updated_at
        ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (subscription_id) DO UPDATE SET
            state = excluded.state, last_event_type = excluded.last_event_type, version = excluded.version,
            seq = excluded.seq, updated_at = excluded.updated_at";
    connection.prepare_cached(sql)?.execute(params![
        row.id.0,
        &*row.path,
        row.catalog_id,
        row.state.as_str(),
        &*row.last_event_type,
        int(row.version),
        int(row.seq),
        Iso(row.created_at),
        Iso(row.updated_at),
    ])?;
    Ok(())
}

#[async_trait]
impl Subscriptions for SqliteStore {
    async fn register_subscription(
        &self,
        id: ExecutionId,
        path: &str,
        catalog_id: i64,
        event: &SubscriptionEvent,
    ) -> Result<Registration, Error> {
        let (path, event) = (path.to_owned(), event.clone());
        self.write(move |connection| {
            if let Some(live) = find_live(connection, &path)? {
                return Ok(Registration::Existing(live));
            }
            if find(connection, id)?.is_some() {
                return Err(Error::Conflict { what: format!("subscription {id}") }.into());
            }
            let row = Subscription {
                id,
                path: path.as_str().into(),
                catalog_id,
                state: SubscriptionState::Registered,
                last_event_type: event.event_type.clone(),
                version: 1,
                seq: 1,
                created_at: event.at,
                updated_at: event.at,
            };
            insert_event(connection, &row, &event)?;
            put(connection, &row)?;
            Ok(Registration::New(row))
        })
        .await
    }

    async fn change_subscription(
        &self,
        id: ExecutionId,
        expected_version: u64,
        state: SubscriptionState,
        event: &SubscriptionEvent,
    ) -> Result<Transition, Error> {
        let event = event.clone();
        self.write(move |connection| {
            let Some(row) = find(connection, id)? else {
                return Ok(Transition::NotFound);
            };
            if row.version != expected_version {
                return Ok(Transition::Moved(row));
            }
            if state.is_live()
                && let Some(live) = find_live(connection, &row.path)?.filter(|live| live.id != id)
            {
                return Ok(Transition::PathTaken(live));
            }
            let row = Subscription {
                state,
                last_event_type: event.event_type.clone(),
                version: row.version + 1,
                seq: row.seq + 1,
                updated_at: event.at,
                ..row
            };
            insert_event(connection, &row, &event)?;
            put(connection, &row)?;
            Ok(Transition::Done(row))
        })
        .await
    }

    async fn append_subscription_event(
        &self,
        id: ExecutionId,
        event: &SubscriptionEvent,
    ) -> Result<bool, Error> {
        let event = event.clone();
        self.write(move |connection| {
            let Some(row) = find(connection, id)? else {
                return Ok(false);
            };
            let known = "SELECT 1 FROM noetl.event_record WHERE execution_id = ?1 AND event_id = ?2";
            if !connection.prepare_cached(known)?.exists([id.0, event.id.0])? {
                let row = Subscription { seq: row.seq + 1, ..row };
                insert_event(connection, &row, &event)?;
                put(connection, &row)?;
            }
            Ok(true)
        })
        .await
    }

    async fn find_subscription(&self, id: ExecutionId) -> Result<Option<Subscription>, Error> {
        self.read(move |connection| Ok(find(connection, id)?)).await
    }

    async fn find_subscription_by_path(&self, path: &str) -> Result<Option<Subscription>, Error> {
        let path = path.to_owned();
        self.read(move |connection| {
            let sql = "
                SELECT * FROM noetl.subscription WHERE path = ?1
                ORDER BY state = 'DEACTIVATED', subscription_id DESC LIMIT 1";
            Ok(connection.prepare_cached(sql)?.query_row([&path], subscription).optional()?)
        })
        .await
    }

    async fn list_subscriptions(
        &self,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Subscription>, Error> {
        self.read(move |connection| {
            let sql = "
                SELECT * FROM noetl.subscription WHERE ?1 IS NULL OR subscription_id < ?1
                ORDER BY subscription_id DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![before.map(|id| id.0), int(limit)], subscription)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn list_subscription_events(
        &self,
        id: ExecutionId,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, SubscriptionEvent)>, Error> {
        self.read(move |connection| {
            // An execution of the same id has events of another form; they are none of a subscription's.
            if find(connection, id)?.is_none() {
                return Ok(Vec::new());
            }
            let sql = "
                SELECT seq, event_id, at, body FROM noetl.event_record
                WHERE execution_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
            let mut statement = connection.prepare_cached(sql)?;
            let events = statement.query_map(params![id.0, int(after_seq), int(limit)], |row| {
                let body: Body = from_json(row, 3)?;
                let event = SubscriptionEvent {
                    id: EventId(row.get(1)?),
                    event_type: body.event_type,
                    status: body.status,
                    at: Timestamp(row.get(2)?),
                    context: body.context,
                    meta: body.meta,
                };
                Ok((row.get::<_, i64>(0)? as u64, event))
            })?;
            Ok(events.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}
