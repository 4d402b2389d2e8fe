//! `postgres`: runs SQL on a PostgreSQL database.

mod bind;
mod database;
mod decode;
mod failure;
mod numeric;
mod params;
mod run;
mod split;
mod target;
mod time;
mod tls;

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Report, ToolError};

pub use self::bind::Parameter;
pub use self::database::{Database, Lease};
pub use self::failure::Failed;
use self::params::PostgresParams;
pub use self::params::quote_identifier;
use self::run::Presentation;
pub use self::split::split;
pub use self::target::Target;
use crate::http::Sender;
use crate::source_text::SourceText;
use crate::{Call, Field, KindDescription, ProcessConfig, Shape, Tool};

pub static DESCRIPTION: KindDescription = KindDescription {
    kind: "postgres",
    summary: "Runs SQL statements on a PostgreSQL database.",
    fields: &[
        Field::new("query", Shape::TextOrList, "The SQL to run: one or more statements.").or(&["sql"]),
        Field::new("command", Shape::TextOrList, "The same as `query`.").or(&["cmd"]),
        Field::new("queries", Shape::TextOrList, "The same as `query`, usually a list."),
        Field::new("commands", Shape::TextOrList, "The same as `query`, usually a list.").or(&["cmds"]),
        Field::new("query_b64", Shape::TextOrList, "`query` in base64."),
        Field::new("command_b64", Shape::TextOrList, "`command` in base64.").or(&["cmd_b64"]),
        Field::new("queries_b64", Shape::TextOrList, "`queries` in base64."),
        Field::new("commands_b64", Shape::TextOrList, "`commands` in base64.").or(&["cmds_b64"]),
        Field::new(
            "script",
            Shape::TextOrMap,
            "Where to load the SQL from: `{uri, source: {type: file | http | inline}}`.",
        ),
        Field::new(
            "params",
            Shape::List,
            "Values for $1, $2 and so on; maps go as JSON, lists as arrays or JSON.",
        ),
        Field::new("auth", Shape::TextOrMap, "The name of a credential of type postgres.")
            .or(&["credential"]),
        Field::new(
            "connection",
            Shape::TextOrMap,
            "A connection string, the name of a credential, or a map of connection settings.",
        ),
        Field::new(
            "connection_string",
            Shape::Text,
            "The database as a URL: postgresql://user:password@host:5432/database.",
        )
        .or(&["dsn"]),
        Field::new("host", Shape::Text, "The host of the database.").or(&["db_host"]),
        Field::new("port", Shape::Integer, "Its port; 5432 by default.").or(&["db_port"]),
        Field::new("user", Shape::Text, "The user; postgres by default.").or(&["db_user", "username"]),
        Field::new("password", Shape::Text, "The password; better kept in a credential.")
            .or(&["db_password"]),
        Field::new("database", Shape::Text, "The database; postgres by default.").or(&["db_name", "dbname"]),
        Field::new(
            "sslmode",
            Shape::Text,
            "disable, prefer (the default), require, verify-ca or verify-full.",
        ),
        Field::new("sslrootcert", Shape::Text, "A file with the certificates to trust."),
        Field::new("schema", Shape::Text, "The schema to look in first."),
        Field::new("as_objects", Shape::Flag, "True by default: rows are maps. When false, they are lists."),
        Field::new(
            "timeout_seconds",
            Shape::Seconds,
            "How long the statements may take; then they are cancelled.",
        )
        .or(&["timeout"]),
    ],
    result: "`{status, columns, rows, row_count, affected_rows, message, statement_count, command_0, …}`: what the last statement \
             gave, and each statement by its number. Several statements are one transaction, unless one refuses that.",
    takes_code: false,
};

/// The `postgres` kind.
#[derive(Debug)]
pub struct PostgresTool {
    database: Arc<Database>,
    process: ProcessConfig,
    sender: Arc<Sender>,
}

impl PostgresTool {
    pub fn new(database: Arc<Database>, process: ProcessConfig, sender: Arc<Sender>) -> PostgresTool {
        PostgresTool { database, process, sender }
    }

    async fn run(&self, call: &Call) -> Result<Report, ToolError> {
        let fields = call.fields(&DESCRIPTION);
        let script = match fields.value("script") {
            Some(script) => Some(SourceText::load(script, call, fields, &self.process, &self.sender).await?),
            None => None,
        };
        let params = PostgresParams::read(fields, script.as_ref().map(|script| &*script.text))?;
        let deadline = call.deadline(params.timeout);
        let connecting = async { self.database.lease(&Target::resolve(fields, call).await?).await };
        let lease = match deadline.guard(connecting).await {
            Ok(lease) => lease?,
            Err(interrupt) => return Err(interrupt.into_error("the connection to PostgreSQL")),
        };
        let presentation =
            Presentation { as_objects: params.as_objects, row_limit: self.database.config().row_limit };
        let working = async {
            if let Some(search_path) = params.search_path() {
                lease.client().batch_execute(&search_path).await?;
            }
            run::run(lease.client(), &params.statements, &params.parameters, presentation).await
        };
        let ended = deadline.guard(working).await;
        match ended {
            Ok(given) => {
                if params.statements.iter().any(|statement| statement.marks_session()) {
                    lease.close();
                } else {
                    lease.give_back();
                }
                Ok(given.map_or_else(|failed: Failed| *failed.0, |given| Report::success(run::result(given))))
            }
            Err(interrupt) => Err(lease.cancel(interrupt).await),
        }
    }
}

#[async_trait]
impl Tool for PostgresTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        self.run(&call).await.unwrap_or_else(Report::failure)
    }
}
