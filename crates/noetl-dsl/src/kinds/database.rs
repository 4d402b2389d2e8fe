//! Kinds that run SQL or move rows.

use super::builtin::{any, flag, integer, list, map, scalar, text, text_or_list};
use super::spec::{FieldSpec, KindSpec};

const ROWS: &str = "`columns`, `rows`, `row_count`, `affected_rows`, `statement_count`, and `command_0`, `command_1`, … per statement";

pub(super) fn kinds() -> Vec<KindSpec> {
    vec![
        KindSpec::new("postgres", "Runs SQL on PostgreSQL.", ROWS).fields(statement()).fields([
            list("params", "Values for `$1`, `$2`, …"),
            text("connection_string", "The database as a URL."),
            any("connection", "The database as a URL or as a map."),
            text("host", "The server."),
            integer("port", "The port; 5432 when left out."),
            text("database", "The database."),
            text("user", "The user."),
            text("password", "The password."),
            text("schema", "The search path."),
            flag("as_objects", "Whether rows are maps, as is the default, or lists."),
            map("pool", "Settings of the connection pool."),
        ]),
        duckdb("duckdb", "Runs SQL on DuckDB, in memory or on a file."),
        duckdb("ducklake", "Runs SQL on DuckDB with a DuckLake catalog attached.").fields([
            text("catalog_connection", "The catalog's database."),
            text("catalog_name", "The catalog's name."),
            text("data_path", "Where the catalog's files are."),
        ]),
        KindSpec::new("snowflake", "Runs SQL on Snowflake.", ROWS).fields(statement()).fields([
            list("params", "Values for the placeholders."),
            text("account", "The account."),
            text("user", "The user."),
            text("password", "The password."),
            text("private_key", "The private key, instead of a password."),
            text("private_key_passphrase", "The private key's passphrase."),
            text("warehouse", "The warehouse; COMPUTE_WH when left out."),
            text("database", "The database."),
            text("schema", "The schema; PUBLIC when left out."),
            text("role", "The role."),
        ]),
        transfer("transfer", "Moves rows from one database or service to another."),
        transfer("snowflake_transfer", "Moves rows between Snowflake and PostgreSQL."),
    ]
}

/// The SQL, in the ways it can be given.
fn statement() -> [FieldSpec; 7] {
    [
        text_or_list("query", "The SQL.").one_of("the SQL"),
        text_or_list("command", "The SQL; several statements are separated by semicolons.")
            .older("cmd")
            .one_of("the SQL"),
        text_or_list("commands", "SQL statements.").older("cmds").one_of("the SQL"),
        text_or_list("queries", "SQL statements.").one_of("the SQL"),
        text("command_b64", "The SQL in base64.").alias("query_b64").one_of("the SQL"),
        text_or_list("commands_b64", "SQL statements in base64.").alias("queries_b64").one_of("the SQL"),
        any("script", "A file with the SQL: `uri` and `source`.").one_of("the SQL"),
    ]
}

fn duckdb(name: &'static str, summary: &'static str) -> KindSpec {
    KindSpec::new(name, summary, ROWS).fields(statement()).fields([
        any("params", "Values for the placeholders."),
        text("database", "The database file; in memory when left out.").alias("db_path").alias("db"),
        flag("as_objects", "Whether rows are maps, as is the default, or lists."),
        any("extensions", "Extensions to load."),
    ])
}

fn transfer(name: &'static str, summary: &'static str) -> KindSpec {
    KindSpec::new(
        name,
        summary,
        "`rows_transferred`, `chunks_processed`, `source_type`, `target_type`, `target_table`, `columns`",
    )
    .fields([
        map("source", "Where rows come from: `type`, then `query`, `url` or the like.").required(),
        map("target", "Where rows go: `type`, `table` or `query`, `mapping`.").required(),
        map("mapping", "From a column of the target to a field of the source."),
        integer("chunk_size", "Rows per chunk; 1000 when left out."),
        text("mode", "What happens to rows that are there; `append` when left out.")
            .words(&["append", "replace", "upsert"]),
        text_or_list("key", "The columns that tell rows apart, for `upsert`.").alias("keys"),
        scalar("direction", "Which way rows go, when the two sides don't say."),
    ])
}
