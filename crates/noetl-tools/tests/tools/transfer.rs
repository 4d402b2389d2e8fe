use noetl_types::{ErrorKind, Report, Value, value};

use crate::harness::*;
use crate::http_server::{answer, serve};
use crate::postgres_server::{Server, unique};

macro_rules! server {
    () => {
        match Server::find() {
            Some(server) => server,
            None => return,
        }
    };
}

fn transfer(pg: &Server, settings: Value) -> Report {
    let mut call = pg.with(settings);
    call.config = call.config.with_path(&["auth"], Value::Null);
    block_on(shared().call("transfer", call))
}

fn sql(pg: &Server, text: String) -> Value {
    data(&pg.call(value!({"command": text}))).get("rows").cloned().unwrap_or_default()
}

#[test]
fn rows_of_a_query_go_into_a_table_in_chunks() {
    let pg = server!();
    let (from, to) = (unique("src"), unique("dst"));
    sql(
        pg,
        format!(
            "CREATE TABLE {from} (id int, label text); CREATE TABLE {to} (key bigint, name text); \
        INSERT INTO {from} VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL), (5, 'it''s')"
        ),
    );
    let report = transfer(
        pg,
        value!({
            "source": {"type": "postgres", "auth": "pg", "query": format!("SELECT id, label FROM {from} WHERE id > 1 ORDER BY id; -- note")},
            "target": {"type": "postgres", "auth": "pg", "table": to, "mapping": {"key": "id", "name": "label"}},
            "chunk_size": 2,
        }),
    );
    assert_eq!(
        *data(&report),
        value!({
            "status": "success", "direction": "postgres_to_postgres", "source_type": "postgres", "target_type": "postgres", "mode": "append",
            "rows_transferred": 4, "chunks_processed": 2, "target_table": to, "columns": ["key", "name"],
        })
    );
    let copied = sql(pg, format!("SELECT key, name FROM {to} ORDER BY key"));
    assert_eq!(
        copied,
        value!([{"key": 2, "name": "b"}, {"key": 3, "name": "c"}, {"key": 4, "name": null}, {"key": 5, "name": "it's"}])
    );
}

#[test]
fn every_type_survives_the_way() {
    let pg = server!();
    let (from, to) = (unique("src"), unique("dst"));
    sql(
        pg,
        format!(
            "CREATE TABLE {from} AS SELECT '\\x00ff'::bytea AS b, ARRAY['a\"', NULL] AS l, '{{\"k\": 1}}'::jsonb AS j, \
        1.230::numeric AS n, now() AS t, INTERVAL '1 mon' AS i, int4range(1, 2) AS r; CREATE TABLE {to} (LIKE {from})"
        ),
    );
    let ends =
        |table: &str| value!({"auth": "pg", "table": table, "query": format!("SELECT * FROM {table}")});
    data(&transfer(pg, value!({"source": ends(&from), "target": ends(&to)})));
    assert_eq!(
        sql(
            pg,
            format!("SELECT count(*) AS same FROM (SELECT * FROM {from} INTERSECT SELECT * FROM {to}) x")
        ),
        value!([{"same": 1}])
    );
}

#[test]
fn replace_empties_the_table_and_upsert_updates_by_key() {
    let pg = server!();
    let table = unique("modes");
    sql(
        pg,
        format!(
            "CREATE TABLE {table} (id int PRIMARY KEY, v text); INSERT INTO {table} VALUES (1, 'old'), (9, 'old')"
        ),
    );
    let with_mode = |mode: &str| {
        transfer(
            pg,
            value!({
                "source": {"auth": "pg", "query": "SELECT 1 AS id, 'new' AS v UNION ALL SELECT 2, 'new'"},
                "target": {"auth": "pg", "table": format!("public.{table}")},
                "mode": mode,
            }),
        )
    };
    assert_fails(&with_mode("append"), ErrorKind::DbConstraint, "duplicate key");
    data(&with_mode("upsert"));
    let all = format!("SELECT id, v FROM {table} ORDER BY id");
    assert_eq!(
        sql(pg, all.clone()),
        value!([{"id": 1, "v": "new"}, {"id": 2, "v": "new"}, {"id": 9, "v": "old"}])
    );
    data(&with_mode("replace"));
    assert_eq!(sql(pg, all), value!([{"id": 1, "v": "new"}, {"id": 2, "v": "new"}]));
    assert_fails(&with_mode("merge"), ErrorKind::Config, "`mode` must be");
}

#[test]
fn a_transfer_that_fails_half_way_leaves_nothing_behind() {
    let pg = server!();
    let table = unique("half");
    sql(pg, format!("CREATE TABLE {table} (n int CHECK (n < 5))"));
    let report = transfer(
        pg,
        value!({
            "source": {"auth": "pg", "query": "SELECT n FROM generate_series(1, 9) n ORDER BY n"},
            "target": {"auth": "pg", "table": table}, "chunk_size": 2,
        }),
    );
    assert_fails(&report, ErrorKind::DbConstraint, "violates check constraint");
    assert_eq!(sql(pg, format!("SELECT count(*) AS n FROM {table}")), value!([{"n": 0}]));
}

#[test]
fn an_answer_over_http_goes_into_a_table() {
    let pg = server!();
    let table = unique("web");
    sql(pg, format!("CREATE TABLE {table} (id int, doc jsonb, at timestamptz)"));
    let base = serve(|_| {
        answer(
            200,
            "application/json",
            r#"{"data": {"items": [{"id": 1, "doc": {"a": [1]}}, {"id": 2, "at": "2024-02-29T12:00:00Z"}]}}"#,
        )
    });
    let settings = |path: &str| {
        value!({
            "source": {"type": "http", "url": base, "data_path": path}, "target": {"auth": "pg", "table": table},
        })
    };
    assert_eq!(data(&transfer(pg, settings("data.items"))).get("rows_transferred"), Some(&value!(2)));
    let expected = value!([{"id": 1, "doc": {"a": [1]}, "at": null}, {"id": 2, "doc": null, "at": "2024-02-29T12:00:00+00:00"}]);
    assert_eq!(sql(pg, format!("SELECT id, doc, at FROM {table} ORDER BY id")), expected);
    assert_fails(&transfer(pg, settings("data.rows")), ErrorKind::Schema, "set `source.data_path`");
}

#[test]
fn wrong_settings_are_told() {
    assert_fails(&run("transfer", value!({})), ErrorKind::Config, "`source` is missing");
    let ends = |source: Value, target: Value| run("transfer", value!({"source": source, "target": target}));
    assert_fails(
        &ends(value!({"type": "duckdb"}), value!({})),
        ErrorKind::Config,
        "no source of type 'duckdb'",
    );
    assert_fails(&ends(value!({}), value!({"type": "gcs"})), ErrorKind::Config, "no target of type 'gcs'");
    assert_fails(&ends(value!({}), value!({})), ErrorKind::Config, "`target.table` is missing");
}
