//! The settings of a postgres step.

use std::time::Duration;

use base64::Engine;
use noetl_types::{ToolError, Value};

use super::split::{Statement, split};
use crate::Fields;
use crate::fields::scalar_text;

pub struct PostgresParams {
    pub statements: Vec<Statement>,
    pub parameters: Vec<Value>,
    pub schema: Option<String>,
    pub as_objects: bool,
    pub timeout: Option<Duration>,
}

impl PostgresParams {
    /// `script` is SQL that was loaded from elsewhere.
    pub fn read(fields: Fields<'_>, script: Option<&str>) -> Result<PostgresParams, ToolError> {
        let sql = match script {
            Some(script) => vec![script.to_owned()],
            None => read_sql(fields)?,
        };
        let statements: Vec<_> = sql.iter().flat_map(|text| split(text)).collect();
        if statements.is_empty() {
            return Err(fields.fault("no sql command provided; give `query` or `command`".to_owned()));
        }
        let parameters = match fields.value("params") {
            None => Vec::new(),
            Some(Value::List(items)) => items.to_vec(),
            Some(other) => {
                return Err(fields.wrong("params", "a list of values for $1, $2 and so on", other));
            }
        };
        if statements.len() > 1 && !parameters.is_empty() {
            return Err(fields.fault(format!(
                "`params` go with one statement, but there are {}; give each a task of its own",
                statements.len()
            )));
        }
        Ok(PostgresParams {
            statements,
            parameters,
            schema: fields.text("schema")?.filter(|schema| !schema.trim().is_empty()),
            as_objects: fields.flag("as_objects")?.unwrap_or(true),
            timeout: fields.seconds("timeout_seconds")?,
        })
    }

    /// Makes the named schemas the first place to look, before `public`.
    pub fn search_path(&self) -> Option<String> {
        let names =
            self.schema.as_ref()?.split(',').map(|name| quote_identifier(name.trim().trim_matches('"')));
        Some(format!("SET search_path TO {}, public", names.collect::<Vec<_>>().join(", ")))
    }
}

pub fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn read_sql(fields: Fields<'_>) -> Result<Vec<String>, ToolError> {
    for name in ["query", "command", "queries", "commands"] {
        if let Some(value) = fields.value(name) {
            return texts(value).ok_or_else(|| fields.wrong(name, "SQL text or a list of it", value));
        }
    }
    for name in ["query_b64", "command_b64", "queries_b64", "commands_b64"] {
        if let Some(value) = fields.value(name) {
            let decoded = texts(value).and_then(|texts| texts.iter().map(|text| decode(text)).collect());
            return decoded.ok_or_else(|| fields.wrong(name, "SQL text in base64", value));
        }
    }
    Ok(Vec::new())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::List(items) => items.iter().map(scalar_text).collect(),
        other => scalar_text(other).map(|text| vec![text]),
    }
}

fn decode(text: &str) -> Option<String> {
    let compact: String = text.split_whitespace().collect();
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(compact).ok()?).ok()
}
