//! `transfer`: copies rows from one place to another in chunks, without holding them all.

mod params;
mod source;
mod writer;

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Report, Value};

use self::params::TransferParams;
use self::source::Source;
use self::writer::Writer;
use crate::http::Sender;
use crate::postgres::{Database, Failed, Lease, Target};
use crate::{Call, Field, Interrupt, KindDescription, Shape, Tool};

static DESCRIPTION: KindDescription = KindDescription {
    kind: "transfer",
    summary: "Copies rows from a PostgreSQL query or an HTTP answer into a PostgreSQL table.",
    fields: &[
        Field::new(
            "source",
            Shape::Map,
            "Where rows come from: `{type: postgres, auth, query}` or `{type: http, url, data_path}`.",
        )
        .required(),
        Field::new("target", Shape::Map, "Where they go: `{type: postgres, auth, table, mapping}`.")
            .required(),
        Field::new(
            "mapping",
            Shape::Map,
            "Target columns and the source fields they take; all fields by their own names by default.",
        ),
        Field::new(
            "mode",
            Shape::Text,
            "append (the default), replace, which empties the table first, or upsert.",
        ),
        Field::new(
            "key",
            Shape::TextOrList,
            "The columns that identify a row in an upsert; the primary key by default.",
        )
        .or(&["keys", "conflict_columns"]),
        Field::new("chunk_size", Shape::Integer, "How many rows go at once; 1000 by default."),
        Field::new(
            "timeout_seconds",
            Shape::Seconds,
            "How long the transfer may take; nothing is kept of one that is stopped.",
        )
        .or(&["timeout"]),
    ],
    result: "`{status, direction, source_type, target_type, mode, rows_transferred, chunks_processed, target_table, columns}`. \
             The target takes all rows or none.",
    takes_code: false,
};

/// The `transfer` kind.
#[derive(Debug)]
pub struct TransferTool {
    database: Arc<Database>,
    sender: Arc<Sender>,
}

impl TransferTool {
    pub fn new(database: Arc<Database>, sender: Arc<Sender>) -> TransferTool {
        TransferTool { database, sender }
    }

    async fn run(&self, call: &Call) -> Result<Value, Failed> {
        let params = TransferParams::read(call.fields(&DESCRIPTION))?;
        let deadline = call.deadline(params.timeout);
        let connecting = async {
            let target = Target::resolve(params.target_fields(), call).await?;
            let target = self.database.lease(&target).await?;
            let source = Source::open(&params, call, &self.database, &self.sender, &deadline).await?;
            Ok::<_, Failed>((target, source))
        };
        let (target, mut source) = match deadline.guard(connecting).await {
            Ok(connected) => connected?,
            Err(interrupt) => return Err(stopped(interrupt)),
        };
        match deadline.guard(copy(&params, &mut source, &target)).await {
            Ok(Ok(result)) => {
                source.give_back();
                target.give_back();
                Ok(result)
            }
            // Dropping the connections rolls back what was not committed.
            Ok(Err(failed)) => Err(failed),
            Err(interrupt) => {
                drop(source);
                target.cancel(interrupt).await;
                Err(stopped(interrupt))
            }
        }
    }
}

fn stopped(interrupt: Interrupt) -> Failed {
    interrupt.into_error("the transfer").into()
}

async fn copy(params: &TransferParams, source: &mut Source, target: &Lease) -> Result<Value, Failed> {
    let mut writer = Writer::begin(params, target.client()).await?;
    let mut rows = 0;
    while let Some(chunk) = source.next_chunk(params.chunk_size).await? {
        rows += chunk.rows.len();
        writer.write(&chunk).await?;
    }
    let chunks = rows.div_ceil(params.chunk_size);
    let columns = writer.commit().await?;
    let source_type = source.kind();
    Ok(Value::map([
        ("status", Value::from("success")),
        ("direction", format!("{source_type}_to_postgres").into()),
        ("source_type", source_type.into()),
        ("target_type", "postgres".into()),
        ("mode", params.mode.name().into()),
        ("rows_transferred", rows.into()),
        ("chunks_processed", chunks.into()),
        ("target_table", params.table.as_str().into()),
        ("columns", Value::list(columns.into_iter().map(Value::from))),
    ]))
}

#[async_trait]
impl Tool for TransferTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        match self.run(&call).await {
            Ok(result) => Report::success(result),
            Err(failed) => *failed.0,
        }
    }
}
