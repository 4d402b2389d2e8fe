//! Credentials.

use async_trait::async_trait;
use noetl_store::{CredentialFilter, CredentialRow, Credentials, Error};
use noetl_types::Value;
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Iso, Json, JsonRef, int};
use crate::error::Fault;
use crate::filter::Conditions;

const CREDENTIAL: &str = "
    SELECT id, name, type, data_encrypted, schema, meta, tags, description, created_at, updated_at
    FROM noetl.credential";

fn credential(row: &Row<'_>) -> rusqlite::Result<CredentialRow> {
    let tags = row.get::<_, Json>("tags")?.0;
    let tags = tags.as_list().into_iter().flatten();
    Ok(CredentialRow {
        id: row.get("id")?,
        name: row.get("name")?,
        kind: row.get("type")?,
        data_encrypted: row.get::<_, Bytes>("data_encrypted")?.0,
        schema: row.get::<_, Json>("schema")?.0,
        meta: row.get::<_, Json>("meta")?.0,
        tags: tags.filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
        description: row.get("description")?,
        created_at: row.get::<_, Iso>("created_at")?.0,
        updated_at: row.get::<_, Iso>("updated_at")?.0,
    })
}

#[async_trait]
impl Credentials for SqliteStore {
    async fn put_credential(&self, new: &CredentialRow) -> Result<CredentialRow, Error> {
        let new = new.clone();
        self.write(move |connection| {
            let upsert = "
                INSERT INTO noetl.credential (
                    id, name, type, data_encrypted, schema, meta, tags, description, created_at, updated_at
                ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                ON CONFLICT (name) DO UPDATE SET
                    type = excluded.type, data_encrypted = excluded.data_encrypted, schema = excluded.schema,
                    meta = excluded.meta, tags = excluded.tags, description = excluded.description,
                    updated_at = excluded.updated_at
                RETURNING *";
            let tags = Value::list(new.tags.iter().map(|tag| Value::text(tag.as_str())));
            let values = params![
                new.id,
                &*new.name,
                &*new.kind,
                &*new.data_encrypted,
                JsonRef(&new.schema),
                JsonRef(&new.meta),
                JsonRef(&tags),
                new.description,
                Iso(new.created_at),
                Iso(new.updated_at),
            ];
            let stored = connection.prepare_cached(upsert)?.query_row(values, credential);
            match stored.map_err(Fault::from) {
                Err(fault) if fault.is_constraint_violation() => {
                    Err(Error::Conflict { what: format!("credential {}", new.id) }.into())
                }
                stored => stored,
            }
        })
        .await
    }

    async fn find_credential(&self, name: &str) -> Result<Option<CredentialRow>, Error> {
        let name = name.to_owned();
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{CREDENTIAL} WHERE name = ?1"))?;
            Ok(statement.query_row([name], credential).optional()?)
        })
        .await
    }

    async fn find_credential_by_id(&self, id: i64) -> Result<Option<CredentialRow>, Error> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{CREDENTIAL} WHERE id = ?1"))?;
            Ok(statement.query_row([id], credential).optional()?)
        })
        .await
    }

    async fn list_credentials(
        &self,
        filter: &CredentialFilter,
        limit: usize,
    ) -> Result<Vec<CredentialRow>, Error> {
        let mut conditions = Conditions::default();
        conditions.add_some("type = ?", filter.kind.clone());
        conditions.add_some("name > ?", filter.after.clone());
        conditions.add_some(
            "(instr(lower(name), ?) > 0 OR instr(lower(description), ?) > 0)",
            filter.search.as_ref().map(|text| text.to_ascii_lowercase()),
        );
        let limit = conditions.value(int(limit));
        let sql = format!("{CREDENTIAL} WHERE {} ORDER BY name LIMIT {limit}", conditions.sql());
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(&*conditions.values(), credential)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_credential(&self, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.write(move |connection| {
            Ok(connection.prepare_cached("DELETE FROM noetl.credential WHERE name = ?1")?.execute([&name])?
                > 0)
        })
        .await
    }
}
