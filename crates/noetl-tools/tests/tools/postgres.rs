use std::time::{Duration, Instant};

use noetl_tools::{Call, Toolbox};
use noetl_types::{ErrorKind, Report, Value, value};

use crate::harness::*;
use crate::postgres_server::{PASSWORD, Server, unique};

/// Gives the server to a test, or ends it where there is none.
macro_rules! server {
    () => {
        match Server::find() {
            Some(server) => server,
            None => return,
        }
    };
}

#[track_caller]
fn rows(report: &Report) -> Value {
    data(report).get("rows").unwrap().clone()
}

#[track_caller]
fn field(report: &Report, name: &str) -> Value {
    data(report).get(name).cloned().unwrap_or_default()
}

#[test]
fn a_query_gives_rows_columns_and_counts() {
    let pg = server!();
    let report = pg.call(value!({"query": "SELECT 1 AS n, 'a;b' AS t"}));
    let expected = value!({
        "status": "success", "columns": ["n", "t"], "rows": [{"n": 1, "t": "a;b"}], "row_count": 1, "affected_rows": 0,
        "message": "SELECT gave 1 rows",
    });
    assert_eq!(field(&report, "command_0"), expected);
    assert_eq!(rows(&report), value!([{"n": 1, "t": "a;b"}]));
    assert_eq!(field(&report, "statement_count"), value!(1));
    let lists = pg.call(value!({"query": "SELECT 1 AS n, 2 AS n", "as_objects": false}));
    assert_eq!(rows(&lists), value!([[1, 2]]));
}

#[test]
fn every_type_comes_back_as_json_that_keeps_its_value() {
    let pg = server!();
    let report = pg.call(value!({"query": r#"
        SELECT ARRAY[1, 2, 3] AS ints, ARRAY['a', NULL]::text[] AS texts, '{"k": [1, {"d": null}]}'::jsonb AS doc, '[1]'::json AS j,
               12.50::numeric(6, 2) AS price, false AS flag, NULL::int AS nil,
               TIMESTAMPTZ '2024-02-29 12:00:00+00' AT TIME ZONE 'UTC' AS at, DATE '2024-02-29' AS day,
               9007199254740993::bigint AS big, 0.5::float8 AS ratio, 0.1::float4 AS single,
               '0f9e8d7c-0000-4000-8000-000000000001'::uuid AS id, '007' AS text"#}));
    assert_eq!(
        rows(&report),
        value!([{
            "ints": [1, 2, 3], "texts": ["a", null], "doc": {"k": [1, {"d": null}]}, "j": [1], "price": 12.5, "flag": false, "nil": null,
            "at": "2024-02-29T12:00:00", "day": "2024-02-29", "big": 9007199254740993_i64, "ratio": 0.5, "single": 0.1,
            "id": "0f9e8d7c-0000-4000-8000-000000000001", "text": "007",
        }])
    );
    let colour = unique("colour");
    let pair = unique("pair");
    let report = pg.call(value!({"query": format!(r#"
        CREATE TYPE {colour} AS ENUM ('red'); CREATE TYPE {pair} AS (a int, b text[]);
        SELECT 'red'::{colour} AS e, ROW(1, ARRAY['x'])::{pair} AS c, int4range(1, 5) AS r, '{{[1,3),[5,7)}}'::int4multirange AS m,
               INTERVAL '1 year 2 days 03:04:05.5' AS i, TIMESTAMPTZ '2024-02-29 12:00:00+02' AS tz, TIME '01:02:03.5' AS t,
               TIMETZ '01:02:03+02' AS ttz, '10.0.0.1'::inet AS ip, '10.0.0.0/8'::cidr AS net, '08:00:2b:01:02:03'::macaddr AS mac,
               '\x00ff'::bytea AS bytes, B'101' AS bits, '12.34'::money AS money, 'infinity'::date AS forever,
               ARRAY[[1, 2], [3, 4]] AS grid, '{{}}'::int[] AS none, 1e30::numeric AS huge, 'NaN'::numeric AS nan,
               (SELECT avg(x) FROM (VALUES (1), (2), (2)) v (x)) AS mean, 'x'::"char" AS letter, '(1,2)'::point AS point, '1.5'::float8 AS f
    "#)}));
    assert_eq!(
        rows(&report),
        value!([{
            "e": "red", "c": {"a": 1, "b": ["x"]}, "r": "[1,5)", "m": "{[1,3),[5,7)}", "i": "P1Y2DT3H4M5.5S",
            "tz": "2024-02-29T10:00:00+00:00", "t": "01:02:03.5", "ttz": "01:02:03+02:00", "ip": "10.0.0.1", "net": "10.0.0.0/8",
            "mac": "08:00:2b:01:02:03", "bytes": "\\x00ff", "bits": "101", "money": "12.34", "forever": "infinity",
            "grid": [[1, 2], [3, 4]], "none": [], "huge": "1000000000000000000000000000000", "nan": null,
            "mean": 1.6666666666666667, "letter": "x", "point": "(1,2)", "f": 1.5,
        }])
    );
}

#[test]
fn parameters_are_bound_whatever_their_type() {
    let pg = server!();
    let name = "O'Brien; DROP TABLE x --";
    let report = pg.call(value!({
        "query": "SELECT $1::text AS name, $2::int AS n, $3::bool AS b, $4::text AS nil, $5::numeric AS d, $6::timestamptz AS at, $7::text AS as_text",
        "params": [name, 5, true, null, 1.25, "2024-02-29T12:00:00Z", 7],
    }));
    let expected = value!([{"name": name, "n": 5, "b": true, "nil": null, "d": 1.25, "at": "2024-02-29T12:00:00+00:00", "as_text": "7"}]);
    assert_eq!(rows(&report), expected);
    let report = pg.call(value!({
        "query": "SELECT $1::jsonb->'tags'->>1 AS tag, $2::int[] AS ids, $3::text[] AS texts, $4::jsonb AS list, $5::jsonb AS text",
        "params": [{"tags": ["x", "y"]}, [7, null], ["a\"b", "{,}"], [1, "2"], "plain"],
    }));
    let expected =
        value!([{"tag": "y", "ids": [7, null], "texts": ["a\"b", "{,}"], "list": [1, "2"], "text": "plain"}]);
    assert_eq!(rows(&report), expected);
    assert_fails(
        &pg.call(value!({"query": "SELECT $1::int", "params": []})),
        ErrorKind::Config,
        "has 1 parameters",
    );
    assert_fails(
        &pg.call(value!({"query": "SELECT 1; SELECT $1::int", "params": [1]})),
        ErrorKind::Config,
        "`params` go with one statement",
    );
    assert_fails(
        &pg.call(value!({"query": "SELECT $1::int", "params": ["x"]})),
        ErrorKind::Db,
        "invalid input syntax",
    );
}

#[test]
fn several_statements_give_the_last_rows_and_each_by_number() {
    let pg = server!();
    let table = unique("several");
    let report = pg.call(value!({"command": format!(
        "CREATE TABLE {table} (v int);\nINSERT INTO {table} VALUES (1), (2), (3);\n-- a comment; with a semicolon\nSELECT count(*) AS c, 'a;b' AS semi FROM {table};"
    )}));
    assert_eq!(rows(&report), value!([{"c": 3, "semi": "a;b"}]));
    assert_eq!(field(&report, "statement_count"), value!(3));
    assert_eq!(field(&report, "command_1").get("affected_rows"), Some(&value!(3)));
    assert_eq!(field(&report, "command_1").get("message"), Some(&value!("INSERT changed 3 rows")));
    assert_eq!(field(&report, "command_2").get("rows"), Some(&value!([{"c": 3, "semi": "a;b"}])));
    let listed = pg.call(value!({"commands": ["SELECT 1 AS a", "SELECT 2 AS b; SELECT 3 AS c"]}));
    assert_eq!((field(&listed, "statement_count"), rows(&listed)), (value!(3), value!([{"c": 3}])));
}

#[test]
fn a_script_that_fails_leaves_nothing_behind() {
    let pg = server!();
    let table = unique("atomic");
    let report = pg.call(value!({"command": format!("CREATE TABLE {table} (v int); SELECT 1/0; SELECT 2")}));
    assert_fails(&report, ErrorKind::Db, "statement 2: division by zero (SQLSTATE 22012)");
    assert_eq!(error(&report).details.get("statement"), Some(&value!(2)));
    let left = pg.call(value!({"query": "SELECT to_regclass($1::text) IS NULL AS gone", "params": [table]}));
    assert_eq!(rows(&left), value!([{"gone": true}]));
}

#[test]
fn rows_come_from_any_statement_that_has_them() {
    let pg = server!();
    let table = unique("giving");
    data(&pg.call(value!({"command": format!("CREATE TABLE {table} (id serial, v text)")})));
    let insert =
        pg.call(value!({"command": format!("INSERT INTO {table} (v) VALUES ('a'), ('b') RETURNING id, v")}));
    assert_eq!(rows(&insert), value!([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]));
    assert_eq!((field(&insert, "row_count"), field(&insert, "affected_rows")), (value!(2), value!(2)));
    for (sql, expected) in [
        (
            "VALUES (1, 'x'), (2, 'y')",
            value!([{"column1": 1, "column2": "x"}, {"column1": 2, "column2": "y"}]),
        ),
        ("SHOW server_encoding", value!([{"server_encoding": "UTF8"}])),
        ("WITH q AS (SELECT 3 AS three) SELECT * FROM q", value!([{"three": 3}])),
        ("-- a note\nSELECT 1 AS one", value!([{"one": 1}])),
        ("(SELECT 2 AS two)", value!([{"two": 2}])),
    ] {
        assert_eq!(rows(&pg.call(value!({"query": sql}))), expected, "{sql}");
    }
    let empty = pg.call(value!({"query": "SELECT 1 AS x WHERE false"}));
    assert_eq!(
        (rows(&empty), field(&empty, "columns"), field(&empty, "row_count")),
        (value!([]), value!(["x"]), value!(0))
    );
    let deleted = pg.call(value!({"command": format!("DELETE FROM {table}")}));
    assert_eq!(field(&deleted, "affected_rows"), value!(2));
    let procedure = unique("doubled");
    let call = pg.call(value!({"command": format!("CREATE PROCEDURE {procedure}(INOUT x int) LANGUAGE plpgsql AS $$ BEGIN x := x * 2; COMMIT; END $$; CALL {procedure}(4)")}));
    assert_eq!(rows(&call), value!([{"x": 8}]));
}

#[test]
fn transactions_in_scripts_work_and_some_statements_run_outside_one() {
    let pg = server!();
    let table = unique("trans");
    data(&pg.call(value!({"command": format!("CREATE TABLE {table} (v int)")})));
    data(&pg.call(value!({"command": format!("BEGIN; INSERT INTO {table} VALUES (1); ROLLBACK")})));
    data(&pg.call(value!({"command": format!("BEGIN; INSERT INTO {table} VALUES (2); COMMIT")})));
    data(&pg.call(value!({"command": format!("BEGIN; INSERT INTO {table} VALUES (3)")})));
    assert_eq!(rows(&pg.call(value!({"query": format!("SELECT v FROM {table}")}))), value!([{"v": 2}]));
    data(&pg.call(value!({"command": format!("VACUUM {table}")})));
    let database = unique("db");
    data(&pg.call(value!({"command": format!("CREATE DATABASE {database} TEMPLATE template0; DROP DATABASE {database}")})));
}

#[test]
fn errors_are_classified_by_sqlstate() {
    let pg = server!();
    let table = unique("errs");
    data(&pg.call(value!({"command": format!("CREATE TABLE {table} (v int PRIMARY KEY); INSERT INTO {table} VALUES (1)")})));
    let twice = pg.call(value!({"command": format!("INSERT INTO {table} VALUES (1)")}));
    assert_fails(&twice, ErrorKind::DbConstraint, "duplicate key value");
    assert_eq!(twice.facets, value!({"pg": {"code": "23505", "sqlstate": "23505"}}));
    let found = error(&twice);
    assert_eq!((found.code.as_deref(), found.retryable, found.answered), (Some("PG_23505"), false, false));
    assert_eq!(found.details.get("detail"), Some(&value!("Key (v)=(1) already exists.")));
    assert_eq!(found.details.get("table"), Some(&value!(table)));

    assert_fails(&pg.call(value!({"query": "SELEC 1"})), ErrorKind::Db, "SQLSTATE 42601");
    assert_fails(
        &pg.call(value!({"query": "SELECT * FROM conf_missing_x"})),
        ErrorKind::Db,
        "conf_missing_x",
    );
    let slow = pg.call(value!({"command": "SET statement_timeout = 50; SELECT pg_sleep(60)"}));
    assert_fails(&slow, ErrorKind::DbTimeout, "57014");
    assert!(error(&slow).retryable);
    let raised =
        pg.call(value!({"command": "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$"}));
    assert_fails(&raised, ErrorKind::DbDeadlock, "again");
}

#[test]
fn missing_sql_and_missing_places_are_told() {
    let pg = server!();
    for settings in [value!({}), value!({"command": ""}), value!({"query": " ; -- nothing"})] {
        assert_fails(&pg.call(settings), ErrorKind::Config, "no sql command provided");
    }
    assert_fails(
        &run("postgres", value!({"query": "SELECT 1"})),
        ErrorKind::Config,
        "say where the database is",
    );
    assert_fails(
        &run("postgres", value!({"query": "SELECT 1", "auth": "absent"})),
        ErrorKind::Auth,
        "credential 'absent' does not exist",
    );
    assert_fails(
        &pg.call(value!({"query": "SELECT 1", "sslmode": "maybe"})),
        ErrorKind::Config,
        "`sslmode` must be",
    );
    let refused = run("postgres", value!({"query": "SELECT 1", "host": "127.0.0.1", "port": 1}));
    assert_fails(&refused, ErrorKind::DbConnection, "no connection to PostgreSQL at 127.0.0.1:1/postgres");
    assert!(error(&refused).retryable);
}

#[test]
fn the_database_can_be_named_in_many_ways() {
    let pg = server!();
    let port = pg.port;
    let url = format!(
        "postgresql://postgres:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=require&application_name=own%20name"
    );
    let plain = value!({"host": "127.0.0.1", "port": port.to_string(), "user": "postgres", "password": PASSWORD, "database": "postgres"});
    for (settings, name) in [
        (value!({"connection_string": url}), "own name"),
        (value!({"connection": url}), "own name"),
        (
            value!({"connection_string": format!("host=127.0.0.1 port={port} user=postgres password={PASSWORD} sslmode=disable")}),
            "noetl",
        ),
        (plain.clone(), "noetl"),
        (value!({"auth": plain}), "noetl"),
        (value!({"connection": plain}), "noetl"),
    ] {
        let report = run(
            "postgres",
            settings.merged_deeply(&value!({"query": "SELECT current_setting('application_name') AS name"})),
        );
        assert_eq!(rows(&report), value!([{"name": name}]));
    }
    let mut call = Call::new(value!({"credential": "p", "query": "SELECT 1 AS n", "database": "template1"}));
    call.credentials = credentials(&[("p", "postgres", plain), ("b", "bearer", value!({"token": "x"}))]);
    assert_eq!(rows(&run_call("postgres", call.clone())), value!([{"n": 1}]));
    call.config = value!({"auth": "b", "query": "SELECT 1"});
    assert_fails(&run_call("postgres", call), ErrorKind::Config, "credential 'b' has type 'bearer'");
}

#[test]
fn a_wrong_password_is_an_access_error_that_keeps_the_secret() {
    let pg = server!();
    let mut call = pg.with(value!({"query": "SELECT 1"}));
    call.credentials = credentials(&[(
        "pg",
        "postgres",
        pg.credential().with_path(&["db_password"], value!("hush-wrong-one")),
    )]);
    let report = run_call("postgres", call);
    assert_fails(&report, ErrorKind::Auth, "password authentication failed");
    assert!(!format!("{report:?}").contains("hush"), "{report:?}");
    let broken = run(
        "postgres",
        value!({"query": "SELECT 1", "connection_string": "postgres://ann:hush-one@[bad/db"}),
    );
    assert_fails(&broken, ErrorKind::Config, "`connection_string` cannot be read");
    assert!(!format!("{broken:?}").contains("hush"), "{broken:?}");
}

#[test]
fn tls_is_used_and_checked_as_asked() {
    let pg = server!();
    let query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let certificate = pg.certificate.to_str().unwrap().to_owned();
    for (settings, tls) in [
        (value!({"sslmode": "disable"}), false),
        (value!({}), true),
        (value!({"sslmode": "require"}), true),
        (value!({"sslmode": "verify-full", "sslrootcert": certificate}), true),
    ] {
        let report = pg.call(settings.merged_deeply(&value!({"query": query})));
        assert_eq!(rows(&report), value!([{"ssl": tls}]), "{settings}");
    }
    // Nobody vouches for the certificate of the test server.
    let unknown = pg.call(value!({"sslmode": "verify-full", "query": query}));
    assert!(matches!(error(&unknown).kind, ErrorKind::DbConnection | ErrorKind::Config), "{unknown:?}");
}

#[test]
fn a_schema_is_looked_at_first() {
    let pg = server!();
    let schema = unique("Own Schema");
    data(&pg.call(value!({"command": format!("CREATE SCHEMA \"{schema}\"; CREATE TABLE \"{schema}\".t AS SELECT 5 AS n")})));
    assert_eq!(rows(&pg.call(value!({"schema": schema, "query": "SELECT n FROM t"}))), value!([{"n": 5}]));
    let other = pg.call(value!({"query": "SHOW search_path"}));
    assert_eq!(rows(&other), value!([{"search_path": "\"$user\", public"}]));
}

#[test]
fn connections_are_used_again_and_know_nothing_of_earlier_calls() {
    let pg = server!();
    let toolbox = toolbox();
    let call = |settings: Value| block_on(toolbox.call("postgres", pg.with(settings)));
    let pid = |report: &Report| rows(report).as_list().unwrap()[0].get("pid").unwrap().as_i64().unwrap();
    let first = call(
        value!({"command": "SET work_mem = '5MB'; CREATE TEMP TABLE mine (n int); SELECT pg_advisory_lock(77); SELECT pg_backend_pid() AS pid"}),
    );
    let first = pid(&first);
    eventually("the connection is used again", || {
        let report = call(
            value!({"query": "SELECT pg_backend_pid() AS pid, current_setting('work_mem') AS work_mem, to_regclass('mine') IS NULL AS clean, \
            (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks"}),
        );
        let row = rows(&report).as_list().unwrap()[0].clone();
        assert_ne!(row.get("work_mem"), Some(&value!("5MB")));
        assert_eq!((row.get("clean"), row.get("locks")), (Some(&value!(true)), Some(&value!(0))));
        pid(&report) == first
    });
    data(&call(value!({"command": "PREPARE mine AS SELECT 1"})));
    data(&call(value!({"command": "PREPARE mine AS SELECT 1"})));
}

fn runs(pg: &Server, marker: &str) -> bool {
    let query = "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE $1::text";
    let report = pg.call(value!({"query": query, "params": [format!("%{marker}%")]}));
    rows(&report) != value!([{"n": 0}])
}

#[test]
fn a_timeout_cancels_the_statement_on_the_server() {
    let pg = server!();
    let marker = unique("timeout_marker");
    let start = Instant::now();
    let report =
        pg.call(value!({"query": format!("SELECT pg_sleep(600) AS {marker}"), "timeout_seconds": 0.5}));
    assert_fails(&report, ErrorKind::Timeout, "the SQL statement was stopped at its timeout of 0.5 s");
    assert!(start.elapsed() < Duration::from_secs(10));
    eventually("the statement is gone", || !runs(pg, &marker));
}

#[test]
fn cancelling_and_dropping_cancel_the_statement_on_the_server() {
    let pg = server!();
    for dropped in [false, true] {
        let marker = unique("cancel_marker");
        let call = pg.with(value!({"query": format!("SELECT pg_sleep(600) AS {marker}")}));
        let cancel = call.cancel.clone();
        let running = spawn("postgres", call);
        eventually("the statement runs", || runs(pg, &marker));
        if dropped {
            running.abort();
        } else {
            cancel.cancel();
            let report = block_on(running).unwrap();
            assert_fails(&report, ErrorKind::Cancelled, "the SQL statement was cancelled");
        }
        eventually("the statement is gone", || !runs(pg, &marker));
    }
}

#[test]
fn rows_above_the_limit_are_refused() {
    let pg = server!();
    let mut config = config();
    config.postgres.row_limit = 10;
    let toolbox = Toolbox::builtin(config);
    let report =
        block_on(toolbox.call("postgres", pg.with(value!({"query": "SELECT generate_series(1, 11)"}))));
    assert_fails(&report, ErrorKind::StorageQuota, "more than the 10 rows");
}

#[test]
fn sql_comes_encoded_or_from_a_file() {
    let pg = server!();
    assert_eq!(rows(&pg.call(value!({"command_b64": "U0VMRUNUIDEgQVMgbg=="}))), value!([{"n": 1}]));
    assert_fails(&pg.call(value!({"query_b64": "%%%"})), ErrorKind::Config, "must be SQL text in base64");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("query.sql");
    std::fs::write(&path, "SELECT 2 AS n;").unwrap();
    assert_eq!(rows(&pg.call(value!({"script": {"uri": path.to_str()}}))), value!([{"n": 2}]));
}

#[test]
fn many_rows_arrive_in_order() {
    let pg = server!();
    let report =
        pg.call(value!({"query": "SELECT n, repeat('x', 100) AS pad FROM generate_series(1, 20000) AS n"}));
    let rows = rows(&report);
    let rows = rows.as_list().unwrap();
    assert_eq!((rows.len(), rows[19_999].get("n")), (20_000, Some(&value!(20_000))));
}
