//! Credentials, encrypted before they come here.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Timestamp, Value};

use crate::Error;

#[derive(Clone, PartialEq)]
pub struct CredentialRow {
    pub id: i64,
    /// Unique.
    pub name: Arc<str>,
    pub kind: Arc<str>,
    /// The sealed envelope, opaque to the store.
    pub data_encrypted: Arc<[u8]>,
    pub schema: Value,
    pub meta: Value,
    pub tags: Vec<String>,
    pub description: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Leaves the data out.
impl fmt::Debug for CredentialRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialRow")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}

/// Which credentials to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct CredentialFilter {
    pub kind: Option<String>,
    /// Text found in the name or the description. Case does not matter for ASCII letters.
    pub search: Option<String>,
    /// Only names after this one: the last of the page before.
    pub after: Option<String>,
}

#[async_trait]
pub trait Credentials {
    /// Adds a credential or replaces the one of the same name, whose id and time of creation stay. Gives the row as
    /// stored.
    async fn put_credential(&self, credential: &CredentialRow) -> Result<CredentialRow, Error>;

    async fn find_credential(&self, name: &str) -> Result<Option<CredentialRow>, Error>;

    async fn find_credential_by_id(&self, id: i64) -> Result<Option<CredentialRow>, Error>;

    /// By name.
    async fn list_credentials(
        &self,
        filter: &CredentialFilter,
        limit: usize,
    ) -> Result<Vec<CredentialRow>, Error>;

    async fn delete_credential(&self, name: &str) -> Result<bool, Error>;
}
