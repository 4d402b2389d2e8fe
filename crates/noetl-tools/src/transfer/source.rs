//! Where rows come from.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{Fuse, StreamExt, TryStreamExt};
use noetl_types::{ErrorKind, ToolError, Value};
use reqwest::{Method, Url};
use tokio_postgres::RowStream;

use super::params::{SourceKind, TransferParams};
use crate::auth::AuthSetting;
use crate::fields::scalar_text;
use crate::http::{Access, Outgoing, ResponseType, Sender};
use crate::postgres::{Database, Failed, Lease, Parameter, Target, split};
use crate::{Call, Deadline};

/// Some rows, each with a value per field.
pub struct Chunk {
    pub fields: Arc<Vec<String>>,
    pub rows: Vec<Vec<Value>>,
}

pub enum Source {
    Query { lease: Lease, rows: Pin<Box<Fuse<RowStream>>>, fields: Arc<Vec<String>> },
    Answer { rows: std::vec::IntoIter<Value>, fields: Arc<Vec<String>> },
}

impl Source {
    pub async fn open(
        params: &TransferParams,
        call: &Call,
        database: &Database,
        sender: &Sender,
        deadline: &Deadline,
    ) -> Result<Source, Failed> {
        match params.source_kind {
            SourceKind::Postgres => open_query(params, call, database).await,
            SourceKind::Http => Ok(open_answer(params, call, sender, deadline).await?),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Source::Query { .. } => "postgres",
            Source::Answer { .. } => "http",
        }
    }

    /// Up to `size` rows; nothing at the end.
    pub async fn next_chunk(&mut self, size: usize) -> Result<Option<Chunk>, Failed> {
        let mut chunk = Vec::new();
        let fields = match self {
            Source::Query { rows, fields, .. } => {
                while chunk.len() < size
                    && let Some(row) = rows.try_next().await?
                {
                    let cells = (0..row.len()).map(|index| row.get::<_, Option<&str>>(index).into());
                    chunk.push(cells.collect());
                }
                fields.clone()
            }
            Source::Answer { rows, fields } => {
                chunk.extend(rows.take(size).map(|row| values_of(&row, fields)));
                fields.clone()
            }
        };
        Ok((!chunk.is_empty()).then_some(Chunk { fields, rows: chunk }))
    }

    pub fn give_back(self) {
        if let Source::Query { lease, .. } = self {
            lease.give_back();
        }
    }
}

/// Reads every column as text: that is what any column of the target can take, and nothing is lost on the way.
async fn open_query(params: &TransferParams, call: &Call, database: &Database) -> Result<Source, Failed> {
    let target = Target::resolve(params.source_fields(), call).await?;
    let query = params.source_query()?;
    let [statement] = &split(&query)[..] else {
        let message = "transfer: `source.query` must be exactly one statement";
        return Err(ToolError::new(ErrorKind::Config, message).into());
    };
    let lease = database.lease(&target).await?;
    let prepared = lease.client().prepare(&statement.sql).await?;
    let fields: Vec<String> = prepared.columns().iter().map(|column| column.name().to_owned()).collect();
    let columns = (1..=fields.len()).map(|number| format!("c{number}")).collect::<Vec<_>>().join(", ");
    let texts = (1..=fields.len()).map(|number| format!("c{number}::text")).collect::<Vec<_>>().join(", ");
    // A line break ends a comment that the query may end with.
    let query = format!("SELECT {texts} FROM ({}\n) AS source ({columns})", statement.sql);
    let rows = lease.client().query_raw(&query, std::iter::empty::<Parameter<'_>>()).await?;
    Ok(Source::Query { lease, rows: Box::pin(rows.fuse()), fields: Arc::new(fields) })
}

async fn open_answer(
    params: &TransferParams,
    call: &Call,
    sender: &Sender,
    deadline: &Deadline,
) -> Result<Source, ToolError> {
    let fault = |what: &str| ToolError::new(ErrorKind::Config, format!("transfer: {what}"));
    let text = |name: &str| params.source.get(name).and_then(scalar_text);
    let url = text("url").or_else(|| text("endpoint")).ok_or_else(|| fault("`source.url` is missing"))?;
    let url = Url::parse(&url).map_err(|_| fault("`source.url` is not a URL"))?;
    let method = text("method").unwrap_or_else(|| "GET".to_owned()).to_ascii_uppercase();
    let method =
        Method::from_bytes(method.as_bytes()).map_err(|_| fault("`source.method` is not an HTTP method"))?;
    let mut outgoing = Outgoing::new(method, url);
    for (name, value) in params.source.get("headers").and_then(Value::as_map).into_iter().flatten() {
        let header = reqwest::header::HeaderName::from_bytes(name.as_bytes());
        let value = scalar_text(value).and_then(|text| reqwest::header::HeaderValue::from_str(&text).ok());
        match (header, value) {
            (Ok(header), Some(value)) => outgoing.headers.insert(header, value),
            _ => return Err(fault(&format!("header '{name}' cannot be sent"))),
        };
    }
    if let Some(auth) = params.source.get("auth").and_then(AuthSetting::read)
        && let Some(access) = Access::granted_by(&auth, call).await?
    {
        access.put_into(&mut outgoing)?;
    }
    let target = outgoing.target();
    let report = sender.send(outgoing, deadline).await?.into_report(
        &target,
        ResponseType::Json,
        true,
        &call.secrets,
    )?;
    if let Some(error) = report.error {
        return Err(error);
    }
    let body = report.data.as_inline().and_then(|data| data.get("data")).cloned().unwrap_or_default();
    let rows = at_path(&body, text("data_path").as_deref().unwrap_or_default());
    let Some(rows) = rows.as_list() else {
        let message =
            format!("transfer: the answer to {target} has no list of rows there; set `source.data_path`");
        return Err(ToolError::new(ErrorKind::Schema, message));
    };
    Ok(Source::Answer { fields: Arc::new(field_names(rows)), rows: rows.clone().into_iter() })
}

/// The value at a dotted path; a `$` at its beginning stands for the whole.
fn at_path(value: &Value, path: &str) -> Value {
    let mut keys = path.split('.').filter(|key| !key.is_empty() && *key != "$");
    let found = keys.try_fold(value, |value, key| match value {
        Value::List(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    });
    found.cloned().unwrap_or_default()
}

/// All fields that any row has, in the order in which they come up.
fn field_names(rows: &[Value]) -> Vec<String> {
    let mut names = indexmap::IndexSet::new();
    for row in rows.iter().filter_map(Value::as_map) {
        names.extend(row.keys().cloned());
    }
    names.into_iter().map(|name| name.to_string()).collect()
}

fn values_of(row: &Value, fields: &[String]) -> Vec<Value> {
    fields.iter().map(|field| row.get(field).cloned().unwrap_or_default()).collect()
}
