//! The settings of a transfer.

use std::time::Duration;

use noetl_types::{ToolError, Value};

use crate::fields::scalar_text;
use crate::postgres::{DESCRIPTION as POSTGRES, quote_identifier};
use crate::{Field, Fields, Shape};

pub struct TransferParams {
    pub source: Value,
    pub source_kind: SourceKind,
    target: Value,
    /// As it is written; it may name a schema.
    pub table: String,
    /// Target columns and source fields; all fields when there is none.
    pub mapping: Vec<(String, String)>,
    pub mode: Mode,
    pub key: Vec<String>,
    pub chunk_size: usize,
    pub timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    Postgres,
    Http,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Append,
    Replace,
    Upsert,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Append => "append",
            Mode::Replace => "replace",
            Mode::Upsert => "upsert",
        }
    }
}

/// What a source and a target have beside the connection.
static END_FIELDS: &[Field] = &[
    Field::new("type", Shape::Text, "postgres or http.").or(&["tool", "kind"]),
    Field::new("table", Shape::Text, "The table to write to."),
    Field::new("query", Shape::Text, "The query to read from.").or(&["command", "sql"]),
    Field::new("mapping", Shape::Map, "Target columns and the source fields they take."),
];

impl TransferParams {
    pub fn read(fields: Fields<'_>) -> Result<TransferParams, ToolError> {
        let (source, target) = (end(fields, "source")?, end(fields, "target")?);
        let source_end = Fields::within("transfer", END_FIELDS, &source);
        let target_end = Fields::within("transfer", END_FIELDS, &target);
        let source_kind = match kind(source_end)?.as_str() {
            "postgres" | "postgresql" => SourceKind::Postgres,
            "http" => SourceKind::Http,
            other => {
                return Err(
                    fields.fault(format!("there is no source of type '{other}'; use postgres or http"))
                );
            }
        };
        match kind(target_end)?.as_str() {
            "postgres" | "postgresql" => {}
            other => return Err(fields.fault(format!("there is no target of type '{other}'; use postgres"))),
        }
        let mapping = match target_end.text_map("mapping")? {
            mapping if mapping.is_empty() => fields.text_map("mapping")?,
            mapping => mapping,
        };
        let table = target_end.text("table")?.filter(|table| !table.trim().is_empty());
        let table = table.ok_or_else(|| fields.missing("target.table"))?;
        let chunk_size = match fields.integer("chunk_size")?.unwrap_or(1000) {
            size @ 1.. => usize::try_from(size).unwrap_or(usize::MAX),
            _ => return Err(fields.fault("`chunk_size` must be at least 1".to_owned())),
        };
        let (mode, key, timeout) =
            (read_mode(fields)?, read_key(fields)?, fields.seconds("timeout_seconds")?);
        Ok(TransferParams { source, source_kind, target, table, mapping, mode, key, chunk_size, timeout })
    }

    pub fn target_fields(&self) -> Fields<'_> {
        Fields::of(&POSTGRES, &self.target)
    }

    pub fn source_fields(&self) -> Fields<'_> {
        Fields::of(&POSTGRES, &self.source)
    }

    pub fn source_query(&self) -> Result<String, ToolError> {
        let fields = Fields::within("transfer", END_FIELDS, &self.source);
        fields.text("query")?.ok_or_else(|| fields.missing("source.query"))
    }

    /// The table, with its schema if it has one, quoted.
    pub fn quoted_table(&self) -> String {
        let parts = self.table.split('.').map(|part| quote_identifier(part.trim().trim_matches('"')));
        parts.collect::<Vec<_>>().join(".")
    }
}

fn end(fields: Fields<'_>, name: &'static str) -> Result<Value, ToolError> {
    match fields.map(name)? {
        Some(map) => Ok(Value::from(map.clone())),
        None => Err(fields.missing(name)),
    }
}

fn kind(end: Fields<'_>) -> Result<String, ToolError> {
    Ok(end.text("type")?.unwrap_or_else(|| "postgres".to_owned()).to_ascii_lowercase())
}

fn read_mode(fields: Fields<'_>) -> Result<Mode, ToolError> {
    match fields.text("mode")?.as_deref() {
        None | Some("append" | "insert") => Ok(Mode::Append),
        Some("replace") => Ok(Mode::Replace),
        Some("upsert") => Ok(Mode::Upsert),
        Some(_) => Err(fields.fault("`mode` must be append, replace or upsert".to_owned())),
    }
}

fn read_key(fields: Fields<'_>) -> Result<Vec<String>, ToolError> {
    match fields.value("key") {
        None => Ok(Vec::new()),
        Some(Value::Text(names)) => Ok(names.split(',').map(|name| name.trim().to_owned()).collect()),
        Some(Value::List(names)) => Ok(names.iter().filter_map(scalar_text).collect()),
        Some(other) => Err(fields.wrong("key", "a column or a list of columns", other)),
    }
}
