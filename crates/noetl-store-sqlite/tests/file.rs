//! The file itself: damage is noticed, foreign files are left alone, the log stays bounded, people can query it.

mod common;

use std::path::Path;

use common::*;
use noetl_store::{
    CommandRow, Commands, Error, Executions, LogChunk, LogLimit, LogStream, Queries, Query, ResultRef,
    ResultRow, Results, Snapshot, StepLogs, SubscriptionEvent, Subscriptions,
};
use noetl_store_sqlite::{Options, SqliteStore, query};
use noetl_types::{
    CommandKey, ErrorKind, EventBody, EventId, ExecutionId, Item, Outcome, Report, RunStatus, Slot,
    StoredValue, Timestamp, ToolError, Value, VisitId,
};

const RUN: ExecutionId = ExecutionId(7);

/// Changes a file behind the store's back.
fn tamper(database: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(database).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    std::fs::write(&database, "not a database, by any means ".repeat(100)).unwrap();
    let error = SqliteStore::open(&database, &Options::default()).expect_err("it is no database");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn damaged_pages_are_errors_not_answers() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    for round in 0..50 {
        commit(&store, vec![write(7, round * 10, 10, 2_000)]).await.unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&database).unwrap();
    let half = bytes.len() / 2;
    for page in bytes[half..].chunks_mut(8192) {
        page[..16].fill(0xff);
    }
    std::fs::write(&database, bytes).unwrap();
    let error = match SqliteStore::open(&database, &Options::default()) {
        Err(error) => error,
        Ok(store) => store.load_events(RUN, 0, usize::MAX).await.expect_err("half of it is gone"),
    };
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn rows_changed_from_outside_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    let at = ResultRef { execution: RUN, name: "big".into(), id: 1 };
    let mut first = write(7, 0, 2, 10);
    first.snapshot = Some(Snapshot { seq: 2, last_event: EventId(2), state: b"{\"a\":1}"[..].into() });
    first.results = vec![ResultRow::json(at.clone(), &b"[1]"[..], Timestamp(0))];
    commit(&store, vec![first]).await.unwrap();
    drop(store);
    tamper(&database, "UPDATE event_record SET body = '{\"type\":\"play' WHERE seq = 2");
    tamper(&database, "UPDATE projection_snapshot SET snapshot = '{\"a\":2}'");
    tamper(&database, "UPDATE result_store SET data = '[2]'");
    let store = open(&database);
    let corrupt = |error: &Error| assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    corrupt(&store.load_events(RUN, 0, 10).await.expect_err("an event is cut off"));
    corrupt(&store.load_snapshot(RUN).await.expect_err("the snapshot was changed"));
    corrupt(&store.find_result(&at).await.expect_err("the result was changed"));
    assert_eq!(store.load_events(RUN, 0, 1).await.unwrap().len(), 1, "what is whole can still be read");
}

#[tokio::test]
async fn the_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    drop(connection);
    let before = std::fs::read(&database).unwrap();
    let error = SqliteStore::open(&database, &Options::default()).expect_err("it is somebody else's");
    assert!(error.to_string().contains("another program"), "{error}");
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[tokio::test]
async fn folders_on_the_way_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("a/b/it's 100% \"odd\".db");
    commit(&open(&database), vec![write(7, 0, 1, 10)]).await.unwrap();
    assert_eq!(gapless_seq(&open(&database), 7).await, 1);
}

#[tokio::test]
async fn a_folder_in_place_of_the_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(folder.path(), &Options::default()).expect_err("it is a folder");
    assert!(matches!(error, Error::Unavailable { .. }), "{error}");
}

#[tokio::test]
async fn the_log_stays_bounded_under_load_that_never_pauses() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let options = Options { synchronous: noetl_store_sqlite::Synchronous::Normal, ..Options::default() };
    let store = SqliteStore::open(&database, &options).unwrap();
    let (mut written, mut largest): (u64, u64) = (0, 0);
    commit(&store, vec![write(7, 0, 1, 10)]).await.unwrap();
    for id in 0..250 {
        let at = ResultRef { execution: RUN, name: "big".into(), id };
        let mut next = write(7, 1, 0, 0);
        next.results = vec![ResultRow::json(at, vec![7; 1_000_000], Timestamp(0))];
        commit(&store, vec![next]).await.unwrap();
        written += 1_000_000;
        largest = largest.max(std::fs::metadata(folder.path().join("noetl.db-wal")).unwrap().len());
    }
    assert!(written > 2 * largest, "the log would hold nearly all of {written} bytes");
}

#[tokio::test]
async fn closing_leaves_one_file_and_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    commit(&store, vec![write(7, 0, 1, 10)]).await.unwrap();
    drop(store);
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["noetl.db", "noetl.db.lock"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_belongs_to_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    commit(&store, vec![write(7, 0, 1, 10)]).await.unwrap();
    for name in ["noetl.db", "noetl.db-wal", "noetl.db-shm"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// A run with an event of most kinds, a command, a log and a result.
async fn a_run(store: &SqliteStore) {
    let item = CommandKey { visit: VisitId(2), item: Item::At(3), part: 1 };
    let mut first = write(7, 0, 1, 3);
    let stored = Slot::Stored(std::sync::Arc::new(StoredValue {
        uri: "noetl://execution/7/result/big/1".to_owned(),
        store: "kv".to_owned(),
        bytes: 100_000,
        sha256: Some("ab".repeat(32)),
        media_type: "application/json".to_owned(),
        extract: Value::Null,
    }));
    let done = |data| Outcome::finished(Report { data, duration_ms: 1500.0, ..Report::default() });
    let failed = Outcome::finished(Report::failure(ToolError::new(ErrorKind::Timeout, "it took too long")));
    let bodies = vec![
        EventBody::CommandIssued { command: item, step: "work".into(), attempt: 2, tool: "http".into() },
        EventBody::CommandStarted { command: item, step: "work".into(), attempt: 2, worker: "w-1".into() },
        EventBody::CallDone {
            command: item,
            step: "work".into(),
            attempt: 2,
            outcome: done(Value::map([("rows", Value::Int(3))]).into()),
        },
        EventBody::CallDone { command: item, step: "work".into(), attempt: 2, outcome: done(stored) },
        EventBody::CallFailed { command: item, step: "work".into(), attempt: 2, outcome: failed },
        EventBody::Resumed,
        EventBody::PlaybookFailed {
            error: ToolError::new(ErrorKind::Timeout, "it took too long"),
            failed_steps: vec!["work".into()],
        },
    ];
    first.events.extend(bodies.into_iter().zip(2..).map(|(body, seq)| event(seq, body)));
    first.issue = vec![CommandRow {
        key: item,
        attempt: 2,
        event: EventId(2),
        step: "work".into(),
        tool: "http".into(),
        pool: "shared".into(),
        priority: 0,
        issued_at: Timestamp(1_790_000_000_000_002),
        lease: None,
        body: b"{\"tool\":\"http\"}"[..].into(),
    }];
    commit(store, vec![first]).await.unwrap();
}

fn ask(database: &Path, sql: &str) -> Vec<Vec<Value>> {
    query(database, sql, 100).unwrap_or_else(|error| panic!("{sql}: {error}")).rows
}

fn cell(database: &Path, sql: &str) -> Value {
    ask(database, sql).remove(0).remove(0)
}

#[tokio::test]
async fn events_are_queried_by_their_documented_names() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    a_run(&store).await;
    let rows = ask(
        &database,
        "SELECT event_type, node_name, status FROM noetl.event WHERE execution_id = 7 ORDER BY seq",
    );
    let rows: Vec<String> = rows.iter().map(|row| Value::list(row.clone()).to_string()).collect();
    assert_eq!(
        rows,
        [
            r#"["playbook_started","","STARTED"]"#,
            r#"["command.issued","work","PENDING"]"#,
            r#"["command.started","work","STARTED"]"#,
            r#"["call.done","work","COMPLETED"]"#,
            r#"["call.done","work","COMPLETED"]"#,
            r#"["call.error","work","FAILED"]"#,
            r#"["playbook.resumed","playbook","RUNNING"]"#,
            r#"["playbook.failed","playbook","FAILED"]"#,
        ]
    );
    let value = |sql: &str| cell(&database, sql);
    let data = "SELECT result ->> '$.context.result.context.data.rows' FROM noetl.event WHERE seq = 4";
    assert_eq!(value(data), Value::Int(3), "step data is where people look for it");
    let reference = "SELECT result ->> '$.context.result.reference.ref' FROM noetl.event WHERE seq = 5";
    assert_eq!(value(reference), Value::text("noetl://execution/7/result/big/1"));
    assert_eq!(value("SELECT error FROM noetl.event WHERE seq = 6"), Value::text("it took too long"));
    assert_eq!(value("SELECT duration FROM noetl.event WHERE seq = 4"), Value::Float(1.5));
    assert_eq!(
        value("SELECT meta ->> '$.command_key' FROM noetl.event WHERE seq = 2"),
        Value::text("2.i3+1")
    );
    assert_eq!(value("SELECT current_index FROM noetl.event WHERE seq = 2"), Value::Int(3));
    assert_eq!(value("SELECT worker_id FROM noetl.event WHERE seq = 3"), Value::text("w-1"));
    assert_eq!(value("SELECT prev_event_id FROM noetl.event WHERE seq = 3"), Value::Int(2));
    assert_eq!(value("SELECT catalog_id FROM noetl.event WHERE seq = 3"), Value::Int(5));
    assert_eq!(
        value("SELECT created_at FROM noetl.event WHERE seq = 4"),
        Value::text(Timestamp(1_790_000_000_000_004).to_string())
    );
    let odd = "SELECT count(*) FROM noetl.event, json_each(result)
        WHERE json_each.key NOT IN ('status', 'context', 'reference') OR result ->> '$.status' IS NULL";
    assert_eq!(value(odd), Value::Int(0), "results have the documented shape");
    assert_eq!(value("SELECT count(*) FROM noetl.event_log"), Value::Int(8));
}

#[tokio::test]
async fn events_of_subscriptions_are_queried_by_their_documented_names() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    let registered = SubscriptionEvent {
        id: EventId(501),
        event_type: "subscription.registered".into(),
        status: "REGISTERED".into(),
        at: Timestamp(1_790_000_000_000_000),
        context: Value::map([("path", Value::text("subs/orders"))]),
        meta: Value::map([("subscription_lifecycle", Value::Bool(true))]),
    };
    store.register_subscription(ExecutionId(50), "subs/orders", 5, &registered).await.unwrap();
    let rows = ask(
        &database,
        "SELECT event_type, node_id, node_name, node_type, status, catalog_id, context ->> '$.path',
            meta ->> '$.subscription_lifecycle', result, aggregate_type
        FROM noetl.event WHERE execution_id = 50",
    );
    let rows: Vec<String> = rows.iter().map(|row| Value::list(row.clone()).to_string()).collect();
    assert_eq!(
        rows,
        [concat!(
            r#"["subscription.registered","subscription","subs/orders","subscription","REGISTERED",5,"subs/orders","#,
            r#"1,null,"subscription"]"#
        )]
    );
}

#[tokio::test]
async fn every_documented_table_has_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let _store = open(&database);
    for (table, columns) in [
        ("resource", "name, meta"),
        ("catalog", "catalog_id, path, version, kind, content, layout, payload, meta, created_at, credential_id, archived_at"),
        ("event", "execution_id, catalog_id, event_id, parent_event_id, parent_execution_id, created_at, event_type,
            node_id, node_name, node_type, status, duration, context, result, meta, error, current_index, current_item,
            worker_id, distributed_state, context_key, context_value, trace_component, stack_trace, tenant_id,
            organization_id, stream_id, stream_version, aggregate_id, aggregate_type, schema_name, schema_version,
            event_time, ingest_time, producer, causation_id, correlation_id, idempotency_key, payload_ref,
            envelope_checksum, prev_event_id, command_id, stage_id, frame_id"),
        ("command", "command_id, event_id, execution_id, catalog_id, parent_execution_id, parent_command_id, step_name,
            tool_kind, status, worker_id, claimed_at, started_at, completed_at, attempt, context, context_key,
            loop_event_id, iter_index, meta, result, error, latest_event_id, prev_event_id, stage_id, frame_id,
            created_at, updated_at"),
        ("execution", "execution_id, catalog_id, parent_execution_id, status, last_event_type, last_node_name,
            last_event_id, start_time, end_time, error, state, created_at, updated_at"),
        ("transient", "execution_id, var_name, var_type, var_value, source_step, created_at, accessed_at, access_count,
            expires_at, scope"),
        ("credential", "id, name, type, data_encrypted, schema, meta, tags, description, created_at, updated_at"),
        ("keychain", "cache_key, keychain_name, catalog_id, credential_type, cache_type, scope_type, execution_id,
            parent_execution_id, data_encrypted, schema, expires_at, created_at, accessed_at, access_count, auto_renew,
            renew_config"),
        ("runtime", "runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat, created_at,
            updated_at"),
        ("schedule", "schedule_id, playbook_path, playbook_version, cron, interval_seconds, enabled, timezone,
            next_run_at, last_run_at, last_status, input_payload, created_at, updated_at, meta"),
        ("outbox", "outbox_id, execution_id, event_id, subject, payload, payload_bytes, payload_codec, status, attempts,
            available_at, locked_at, published_at, last_error, created_at, updated_at"),
        ("projection_snapshot", "aggregate_id, aggregate_type, tenant_id, organization_id, version, snapshot, checksum,
            meta, created_at, updated_at"),
        ("result_store", "result_id, execution_id, name, scope, source_step, data, bytes, sha256, media_type, created_at,
            expires_at"),
        ("plugin_module", "path, version, digest, media_type, bytes, created_at"),
        ("object_store", "object_key, digest, media_type, bytes, created_at"),
        ("subscription_dedup", "subscription_id, dedup_key, execution_id, seen_at"),
        ("secret_audit", "audit_id, occurred_at, credential, operation, outcome, worker_id, execution_id,
            parent_execution_id, server_region, broker_region, kek_version, notes"),
    ] {
        ask(&database, &format!("SELECT {columns} FROM noetl.{table}"));
    }
}

#[tokio::test]
async fn runs_and_commands_are_queried_by_their_documented_names() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    a_run(&store).await;
    let mut second = write(7, 8, 1, 3);
    second.snapshot =
        Some(Snapshot { seq: 9, last_event: EventId(9), state: b"{\"phase\":\"running\"}"[..].into() });
    commit(&store, vec![second]).await.unwrap();
    let value = |sql: &str| cell(&database, sql);
    assert_eq!(value("SELECT state ->> '$.phase' FROM noetl.execution"), Value::text("running"));
    assert_eq!(
        value("SELECT start_time FROM noetl.execution"),
        Value::text(Timestamp(1_790_000_000_000_000).to_string())
    );
    assert_eq!(value("SELECT event_count FROM noetl.execution"), Value::Int(9));
    let snapshot = "SELECT version || ' ' || (meta ->> '$.applied_count') FROM noetl.projection_snapshot";
    assert_eq!(value(snapshot), Value::text("9 9"));
    assert_eq!(value("SELECT status FROM noetl.command"), Value::text("PENDING"));
    assert_eq!(value("SELECT context ->> '$.tool' FROM noetl.command"), Value::text("http"));
    assert_eq!(value("SELECT iter_index FROM noetl.command"), Value::Int(3));
    let command = store.find_command_by_event(EventId(2)).await.unwrap().unwrap();
    assert_eq!(command.row.attempt, 2);
}

#[tokio::test]
async fn queries_change_nothing_and_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    a_run(&store).await;
    let cut = query(&database, "SELECT seq FROM noetl.event ORDER BY seq", 3).unwrap();
    assert_eq!((cut.rows.len(), cut.is_cut), (3, true));
    for sql in [
        "DELETE FROM noetl.event_record",
        "UPDATE noetl.execution_record SET status = 'x'",
        "CREATE TABLE noetl.mine (x)",
        "DROP TABLE noetl.event_record",
    ] {
        let error = query(&database, sql, 10).expect_err("it would change something");
        assert!(matches!(error, Error::Invalid { .. } | Error::ReadOnly { .. }), "{sql}: {error}");
    }
    for (sql, mistake) in [
        ("SELECT nothing FROM noetl.event", "nothing"),
        ("SELEKT 1", "SELEKT"),
        ("SELECT ?1", "parameters"),
        ("SELECT json('{')", "malformed JSON"),
        ("SELECT 1; SELECT 2", "statement"),
        ("", "statement"),
    ] {
        let error = query(&database, sql, 10).expect_err("it is wrong");
        assert!(matches!(&error, Error::Invalid { reason } if reason.contains(mistake)), "{sql}: {error}");
    }
    let error = query(folder.path().join("none.db"), "SELECT 1", 10).expect_err("there is no such file");
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert_eq!(gapless_seq(&store, 7).await, 8);
}

#[tokio::test]
async fn an_open_store_answers_queries() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    a_run(&store).await;
    let sql = "SELECT seq, event_type FROM noetl.event WHERE seq >= ?1 AND event_type LIKE ?2 ORDER BY seq";
    let parameters = vec![Value::Int(4), Value::text("call.%")];
    let answer = store.query(&Query { parameters, max_rows: 2, ..Query::new(sql) }).await.unwrap();
    assert_eq!(answer.columns, ["seq", "event_type"]);
    assert_eq!(
        answer.rows,
        [[Value::Int(4), Value::text("call.done")], [Value::Int(5), Value::text("call.done")]]
    );
    assert!(answer.is_cut);
    let json = Query {
        parameters: vec![Value::list([Value::Int(7)])],
        ..Query::new("SELECT json_extract(?1, '$[0]')")
    };
    assert_eq!(store.query(&json).await.unwrap().rows, [[Value::Int(7)]]);
}

#[tokio::test]
async fn queries_of_an_open_store_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    a_run(&store).await;
    for sql in [
        "DELETE FROM noetl.event_record",
        "CREATE TEMP TABLE mine (x)",
        "ATTACH 'other.db' AS other",
        "PRAGMA query_only = OFF",
        "BEGIN IMMEDIATE",
        "SELECT 1; DELETE FROM noetl.event_record",
        "SELECT ?1",
    ] {
        let error = store.query(&Query::new(sql)).await.expect_err("it does more than read");
        assert!(matches!(error, Error::Invalid { .. }), "{sql}: {error}");
    }
    assert_eq!(gapless_seq(&store, 7).await, 8);
}

#[tokio::test]
async fn a_query_that_takes_too_long_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    let endless = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let query = Query { max_time: std::time::Duration::ZERO, ..Query::new(endless) };
    let error = store.query(&query).await.expect_err("it has no end");
    assert!(matches!(&error, Error::Invalid { reason } if reason.contains("took longer than")), "{error}");
}

#[tokio::test]
async fn administrators_can_change_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    a_run(&store).await;
    let sql = "UPDATE noetl.execution_record SET status = ?1 WHERE execution_id = ?2";
    let parameters = vec![Value::text("CANCELLED"), Value::Int(7)];
    let changed = store.execute(&Query { parameters, ..Query::new(sql) }).await.unwrap();
    assert_eq!((changed.changed, changed.columns.len()), (1, 0));
    let returning = "DELETE FROM noetl.command_record RETURNING step_name";
    let deleted = store.execute(&Query::new(returning)).await.unwrap();
    assert_eq!((deleted.rows, deleted.changed), (vec![vec![Value::text("work")]], 1));
    let status = store.find_execution(RUN).await.unwrap().unwrap().row.status;
    assert_eq!(status, RunStatus::Cancelled);
    for sql in [
        "BEGIN",
        "PRAGMA noetl.user_version = 7",
        "ATTACH 'other.db' AS other",
        "DELETE FROM noetl.timer; SELECT 1",
    ] {
        let error = store.execute(&Query::new(sql)).await.expect_err("it is not for them either");
        assert!(matches!(error, Error::Invalid { .. }), "{sql}: {error}");
    }
    commit(&store, vec![write(8, 0, 1, 3)]).await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_closed_can_be_queried_too() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    a_run(&store).await;
    let chunk = LogChunk {
        execution: RUN,
        step: "work".into(),
        command: CommandKey::whole(VisitId(1)),
        attempt: 1,
        stream: LogStream::Stdout,
        chunk: 0,
        at: Timestamp(0),
        bytes: b"hello"[..].into(),
    };
    store.append_logs(&[chunk], LogLimit::default()).await.unwrap();
    drop(store);
    assert_eq!(cell(&database, "SELECT count(*) FROM noetl.event"), Value::Int(8));
    assert_eq!(cell(&database, "SELECT CAST(bytes AS TEXT) FROM noetl.step_log"), Value::text("hello"));
}
