//! The tokens of a data folder, without a server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use noetl_client::api::Id;
use noetl_client::api::tokens::{TokenCreated, TokenList, TokenRevoked};
use noetl_server::app::Scope;
use noetl_server::app::tokens::{NewToken, mint};
use noetl_server::clock::{Clock, SystemClock};
use noetl_server::http::token;
use noetl_server::ids::IdSource;
use noetl_store::ApiTokens;
use noetl_store_sqlite::{Options, SqliteStore};

use crate::command::data::wait;
use crate::exit::WrongUse;

pub fn create(data: &Path, scopes: &[Scope], name: &str, days: Option<u64>) -> Result<TokenCreated> {
    let store = open(data)?;
    let clock: Arc<dyn Clock> = SystemClock::shared();
    let now = clock.now();
    let expires_at = days.map(|days| now.after(Duration::from_secs(days * 86_400)));
    let new = NewToken { name: name.to_owned(), scopes: scopes.to_vec(), expires_at };
    let id = IdSource::new(clock, 0).next();
    let minted = wait(async { Ok(mint(&store, id, now, new).await?) })?;
    Ok(TokenCreated { token: minted.secret, details: token(minted.token) })
}

pub fn list(data: &Path) -> Result<TokenList> {
    let store = open(data)?;
    let found = wait(async { Ok(store.list_tokens().await?) })?;
    Ok(TokenList { items: found.into_iter().map(token).collect() })
}

pub fn revoke(data: &Path, id: i64) -> Result<TokenRevoked> {
    let store = open(data)?;
    let now = SystemClock::shared().now();
    if !wait(async { Ok(store.revoke_token(id, now).await?) })? {
        return Err(WrongUse(format!("there is no token {id} that could be revoked")).into());
    }
    Ok(TokenRevoked { status: "revoked".to_owned(), id: Id(id) })
}

fn open(data: &Path) -> Result<SqliteStore> {
    std::fs::create_dir_all(data)
        .with_context(|| format!("the data folder {} can't be made", data.display()))?;
    Ok(SqliteStore::open(data.join("noetl.db"), &Options::default())?)
}
