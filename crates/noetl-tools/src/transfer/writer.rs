//! Writes rows into a table, all of them or none.

use noetl_types::{ErrorKind, ToolError, Value};
use tokio_postgres::{Client, Statement};

use super::params::{Mode, TransferParams};
use super::source::Chunk;
use crate::postgres::{Failed, Parameter, quote_identifier};

/// PostgreSQL counts parameters with 16 bits.
const MOST_PARAMETERS: usize = 65_535;

pub struct Writer<'a> {
    params: &'a TransferParams,
    client: &'a Client,
    /// The columns of the target; known once the first chunk is there.
    columns: Vec<String>,
    /// The statement for this many rows at once.
    prepared: Option<(usize, Statement)>,
}

impl<'a> Writer<'a> {
    pub async fn begin(params: &'a TransferParams, client: &'a Client) -> Result<Writer<'a>, Failed> {
        client.batch_execute("BEGIN").await?;
        if params.mode == Mode::Replace {
            let sql = format!("DELETE FROM {}", params.quoted_table());
            client.batch_execute(&sql).await?;
        }
        Ok(Writer { params, client, columns: Vec::new(), prepared: None })
    }

    pub async fn write(&mut self, chunk: &Chunk) -> Result<(), Failed> {
        let mapping = self.mapping(chunk)?;
        self.columns = mapping.iter().map(|(column, _)| column.clone()).collect();
        let at_once = (MOST_PARAMETERS / mapping.len()).min(self.params.chunk_size);
        for rows in chunk.rows.chunks(at_once) {
            let statement = self.statement(rows.len()).await?;
            let values = rows.iter().flat_map(|row| mapping.iter().map(|(_, index)| Parameter(&row[*index])));
            let values: Vec<_> = values.collect();
            self.client.execute_raw(&statement, values).await?;
        }
        Ok(())
    }

    /// Makes the rows last, and gives the columns that were written.
    pub async fn commit(self) -> Result<Vec<String>, Failed> {
        self.client.batch_execute("COMMIT").await?;
        Ok(self.columns)
    }

    /// Target columns and the places of their values in a row.
    fn mapping(&self, chunk: &Chunk) -> Result<Vec<(String, usize)>, Failed> {
        let place = |field: &str| chunk.fields.iter().position(|name| name == field);
        if self.params.mapping.is_empty() {
            return Ok(chunk.fields.iter().cloned().zip(0..).collect());
        }
        let places = self.params.mapping.iter().map(|(column, field)| {
            let index = place(field).ok_or_else(|| {
                let message = format!(
                    "transfer: `mapping` takes column {column} from {field}, but the source has {}",
                    chunk.fields.join(", ")
                );
                ToolError::new(ErrorKind::Schema, message)
            })?;
            Ok((column.clone(), index))
        });
        places.collect()
    }

    async fn statement(&mut self, rows: usize) -> Result<Statement, Failed> {
        if let Some((size, statement)) = &self.prepared
            && *size == rows
        {
            return Ok(statement.clone());
        }
        let sql = self.insert(rows).await?;
        let statement = self.client.prepare(&sql).await?;
        self.prepared = Some((rows, statement.clone()));
        Ok(statement)
    }

    async fn insert(&self, rows: usize) -> Result<String, Failed> {
        let width = self.columns.len();
        let tuples = (0..rows).map(|row| {
            let numbers: Vec<_> = (1..=width).map(|column| format!("${}", row * width + column)).collect();
            format!("({})", numbers.join(", "))
        });
        let tuples = tuples.collect::<Vec<_>>().join(", ");
        let table = self.params.quoted_table();
        let columns = quoted_list(&self.columns);
        let conflict = match self.params.mode {
            Mode::Upsert => self.on_conflict().await?,
            Mode::Append | Mode::Replace => String::new(),
        };
        Ok(format!("INSERT INTO {table} ({columns}) VALUES {tuples}{conflict}"))
    }

    async fn on_conflict(&self) -> Result<String, Failed> {
        let key = match self.params.key.as_slice() {
            [] => self.primary_key().await?,
            named => named.to_vec(),
        };
        if key.is_empty() {
            let message = format!(
                "transfer: table {} has no primary key; name the `key` of the upsert",
                self.params.table
            );
            return Err(ToolError::new(ErrorKind::Config, message).into());
        }
        let updates = self.columns.iter().filter(|column| !key.contains(column));
        let updates: Vec<_> = updates
            .map(|column| quote_identifier(column))
            .map(|column| format!("{column} = EXCLUDED.{column}"))
            .collect();
        let action = match updates.is_empty() {
            true => "NOTHING".to_owned(),
            false => format!("UPDATE SET {}", updates.join(", ")),
        };
        Ok(format!(" ON CONFLICT ({}) DO {action}", quoted_list(&key)))
    }

    async fn primary_key(&self) -> Result<Vec<String>, Failed> {
        const QUERY: &str = "SELECT a.attname::text FROM pg_index i \
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) \
            WHERE i.indisprimary AND i.indrelid = $1::text::regclass";
        let table = Value::from(self.params.quoted_table());
        let rows = self.client.query(QUERY, &[&Parameter(&table)]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| quote_identifier(name)).collect::<Vec<_>>().join(", ")
}
