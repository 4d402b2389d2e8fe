//! API tokens: secrets that callers show. Only their digests are kept.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use noetl_store::{ApiToken, Store, sha256_hex};
use noetl_types::Timestamp;

use super::credentials::word;
use super::{App, Code, Error, Scope};
use crate::vault;

/// What every token begins with, so that it is found when it was left lying in a file.
const PREFIX: &str = "noetl_";

/// How long a token is taken for valid after it was looked up. One that is revoked by another server counts so long.
const TRUSTED_FOR: Duration = Duration::from_secs(5);

/// How often the use of a token is noted.
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// Tokens remembered at most.
const REMEMBERED: usize = 10_000;

/// A token to make.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// For people.
    pub name: String,
    pub scopes: Vec<Scope>,
    pub expires_at: Option<Timestamp>,
}

/// A new token. The secret is shown once and kept nowhere.
pub struct Minted {
    pub token: ApiToken,
    pub secret: String,
}

/// Leaves the secret out.
impl fmt::Debug for Minted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Minted").field("token", &self.token).finish_non_exhaustive()
    }
}

/// Makes a token in a store. This needs no server.
pub async fn mint(store: &dyn Store, id: i64, now: Timestamp, new: NewToken) -> Result<Minted, Error> {
    let name = word("name", &new.name)?;
    if new.scopes.is_empty() {
        return Err(Error::new(Code::BodyInvalid, "a token needs a scope")
            .help("give one or more of viewer, operator, worker, admin"));
    }
    if new.expires_at.is_some_and(|end| end <= now) {
        return Err(Error::new(Code::BodyInvalid, "the token would have expired already"));
    }
    let random = vault::random::<32>().map_err(Error::internal)?;
    let secret = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
    let mut scopes = new.scopes;
    scopes.sort_unstable();
    scopes.dedup();
    let token = ApiToken {
        id,
        name: name.into(),
        hash: sha256_hex(secret.as_bytes()),
        scopes: scopes.into_iter().map(|scope| scope.name().to_owned()).collect(),
        created_at: now,
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
    };
    store.add_token(&token).await?;
    Ok(Minted { token, secret })
}

impl App {
    pub async fn create_token(&self, new: NewToken) -> Result<Minted, Error> {
        mint(&**self.store(), self.ids().next(), self.now(), new).await
    }

    pub async fn list_tokens(&self) -> Result<Vec<ApiToken>, Error> {
        Ok(self.store().list_tokens().await?)
    }

    /// Ends a token for good.
    pub async fn revoke_token(&self, id: i64) -> Result<(), Error> {
        let revoked = self.store().revoke_token(id, self.now()).await?;
        self.known_tokens().forget_all();
        if revoked {
            Ok(())
        } else {
            Err(Error::new(Code::TokenNotFound, format!("there is no token {id} that could be revoked")))
        }
    }

    /// The token of this secret, if it is valid now.
    pub async fn find_token(&self, secret: &str) -> Result<Option<ApiToken>, Error> {
        let now = self.now();
        let hash = sha256_hex(secret.as_bytes());
        let token = match self.known_tokens().recall(&hash, now) {
            Some(token) => token,
            None => {
                let Some(token) = self.store().find_token_by_hash(&hash).await? else {
                    return Ok(None);
                };
                self.known_tokens().remember(token.clone(), now);
                token
            }
        };
        if !token.is_valid_at(now) {
            return Ok(None);
        }
        if token.last_used_at.is_none_or(|used| now.since(used) >= NOTED_EVERY) {
            self.note_use(token.clone(), now).await;
        }
        Ok(Some(token))
    }

    /// That it could not be noted is no reason to refuse the caller.
    async fn note_use(&self, token: ApiToken, now: Timestamp) {
        if let Err(error) = self.store().touch_token(token.id, now).await {
            tracing::debug!(token = token.id, %error, "the use of a token was not noted");
        }
        self.known_tokens().remember(ApiToken { last_used_at: Some(now), ..token }, now);
    }
}

/// Tokens that were looked up a moment ago.
#[derive(Default)]
pub struct KnownTokens {
    by_hash: Mutex<HashMap<String, (Timestamp, ApiToken)>>,
}

impl KnownTokens {
    fn recall(&self, hash: &str, now: Timestamp) -> Option<ApiToken> {
        let known = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(hash).filter(|(at, _)| now.since(*at) < TRUSTED_FOR).map(|(_, token)| token.clone())
    }

    fn remember(&self, token: ApiToken, now: Timestamp) {
        let mut known = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(token.hash.clone(), (now, token));
    }

    fn forget_all(&self) {
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl fmt::Debug for KnownTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownTokens")
    }
}
