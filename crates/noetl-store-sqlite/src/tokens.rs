//! API tokens.

use async_trait::async_trait;
use noetl_store::{ApiToken, ApiTokens, Error};
use noetl_types::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Iso, from_json};

const TOKEN: &str = "
    SELECT token_id, name, hash, scopes, created_at, expires_at, last_used_at, revoked_at FROM noetl.api_token";

fn token(row: &Row<'_>) -> rusqlite::Result<ApiToken> {
    let instant = |column| row.get::<_, Option<Iso>>(column).map(|at| at.map(|at| at.0));
    Ok(ApiToken {
        id: row.get("token_id")?,
        name: row.get("name")?,
        hash: row.get("hash")?,
        scopes: from_json(row, 3)?,
        created_at: row.get::<_, Iso>("created_at")?.0,
        expires_at: instant("expires_at")?,
        last_used_at: instant("last_used_at")?,
        revoked_at: instant("revoked_at")?,
    })
}

#[async_trait]
impl ApiTokens for SqliteStore {
    async fn add_token(&self, token: &ApiToken) -> Result<(), Error> {
        let token = token.clone();
        let scopes = serde_json::to_string(&token.scopes).expect("a list of text is always valid JSON");
        self.write(move |connection| {
            let sql = "
                INSERT INTO noetl.api_token (
                    token_id, name, hash, scopes, created_at, expires_at, last_used_at, revoked_at
                ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                ON CONFLICT DO NOTHING";
            let added = connection.prepare_cached(sql)?.execute(params![
                token.id,
                &*token.name,
                token.hash,
                scopes,
                Iso(token.created_at),
                token.expires_at.map(Iso),
                token.last_used_at.map(Iso),
                token.revoked_at.map(Iso),
            ])?;
            if added == 0 {
                return Err(Error::Conflict { what: format!("token {}", token.id) }.into());
            }
            Ok(())
        })
        .await
    }

    async fn find_token_by_hash(&self, hash: &str) -> Result<Option<ApiToken>, Error> {
        let hash = hash.to_owned();
        self.read(move |connection| {
            let sql = format!("{TOKEN} WHERE hash = ?1");
            Ok(connection.prepare_cached(&sql)?.query_row([hash], token).optional()?)
        })
        .await
    }

    async fn list_tokens(&self) -> Result<Vec<ApiToken>, Error> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("{TOKEN} ORDER BY token_id"))?;
            let tokens = statement.query_map([], token)?;
            Ok(tokens.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn touch_token(&self, id: i64, now: Timestamp) -> Result<(), Error> {
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.api_token SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE token_id = ?1";
            connection.prepare_cached(sql)?.execute(params![id, Iso(now)])?;
            Ok(())
        })
        .await
    }

    async fn revoke_token(&self, id: i64, now: Timestamp) -> Result<bool, Error> {
        self.write(move |connection| {
            let sql = "UPDATE noetl.api_token SET revoked_at = ?2 WHERE token_id = ?1 AND revoked_at IS NULL";
            Ok(connection.prepare_cached(sql)?.execute(params![id, Iso(now)])? > 0)
        })
        .await
    }
}
