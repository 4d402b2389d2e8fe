//! How tools get at credentials, and what they get.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ErrorKind, ToolError, Value};

use crate::Secrets;

/// A named set of access data.
#[derive(Clone, PartialEq)]
pub struct Credential {
    pub name: String,
    /// `bearer`, `basic`, `api_key`, `postgres` and so on.
    pub kind: String,
    /// The fields, by name.
    pub data: Value,
}

impl Credential {
    /// The first of the fields that is there, as text.
    pub(crate) fn text(&self, names: &[&str]) -> Option<String> {
        names
            .iter()
            .filter_map(|name| self.data.get(name))
            .find(|value| !value.is_null())
            .and_then(crate::fields::scalar_text)
    }
}

impl fmt::Debug for Credential {
    /// Leaves the data out: it is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Where credentials come from.
#[async_trait]
pub trait Credentials: Send + Sync {
    async fn get(&self, alias: &str) -> Result<Credential, CredentialError>;
}

/// Why a credential could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialError {
    Unknown {
        alias: String,
    },
    /// The place where credentials are kept did not answer; later it may.
    Unavailable {
        alias: String,
        reason: String,
    },
}

impl From<CredentialError> for ToolError {
    fn from(error: CredentialError) -> ToolError {
        match error {
            CredentialError::Unknown { alias } => ToolError::new(
                ErrorKind::Auth,
                format!("credential '{alias}' does not exist; register it or correct the name"),
            )
            .with_code("CREDENTIAL_UNKNOWN"),
            CredentialError::Unavailable { alias, reason } => ToolError::new(
                ErrorKind::Connection,
                format!("credential '{alias}' could not be fetched: {reason}"),
            )
            .with_code("CREDENTIAL_UNAVAILABLE"),
        }
    }
}

/// Credentials held in memory.
#[derive(Clone, Debug, Default)]
pub struct FixedCredentials {
    by_name: BTreeMap<String, Credential>,
}

impl FixedCredentials {
    pub fn new(credentials: impl IntoIterator<Item = Credential>) -> FixedCredentials {
        FixedCredentials {
            by_name: credentials.into_iter().map(|entry| (entry.name.clone(), entry)).collect(),
        }
    }
}

#[async_trait]
impl Credentials for FixedCredentials {
    async fn get(&self, alias: &str) -> Result<Credential, CredentialError> {
        self.by_name.get(alias).cloned().ok_or_else(|| CredentialError::Unknown { alias: alias.to_owned() })
    }
}

/// Tells the call's secrets of every credential that is looked up through it.
pub(crate) struct WatchedCredentials {
    pub inner: Arc<dyn Credentials>,
    pub secrets: Secrets,
}

#[async_trait]
impl Credentials for WatchedCredentials {
    async fn get(&self, alias: &str) -> Result<Credential, CredentialError> {
        let credential = self.inner.get(alias).await?;
        self.secrets.learn_credential(&credential);
        Ok(credential)
    }
}
