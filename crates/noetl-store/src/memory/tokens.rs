//! API tokens.

use async_trait::async_trait;
use noetl_types::Timestamp;

use super::MemoryStore;
use crate::{ApiToken, ApiTokens, Error};

#[async_trait]
impl ApiTokens for MemoryStore {
    async fn add_token(&self, token: &ApiToken) -> Result<(), Error> {
        self.with(|state| {
            if state.tokens.values().any(|known| known.id == token.id || known.hash == token.hash) {
                return Err(Error::Conflict { what: format!("token {}", token.id) });
            }
            state.tokens.insert(token.id, token.clone());
            Ok(())
        })?
    }

    async fn find_token_by_hash(&self, hash: &str) -> Result<Option<ApiToken>, Error> {
        self.with(|state| state.tokens.values().find(|token| token.hash == hash).cloned())
    }

    async fn list_tokens(&self) -> Result<Vec<ApiToken>, Error> {
        self.with(|state| state.tokens.values().cloned().collect())
    }

    async fn touch_token(&self, id: i64, now: Timestamp) -> Result<(), Error> {
        self.with(|state| {
            if let Some(token) = state.tokens.get_mut(&id) {
                token.last_used_at = token.last_used_at.max(Some(now));
            }
        })
    }

    async fn revoke_token(&self, id: i64, now: Timestamp) -> Result<bool, Error> {
        self.with(|state| match state.tokens.get_mut(&id) {
            Some(token) if token.revoked_at.is_none() => {
                token.revoked_at = Some(now);
                true
            }
            _ => false,
        })
    }
}
