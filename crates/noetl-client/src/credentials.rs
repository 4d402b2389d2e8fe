//! Credentials, as workers need them and as people keep them.

use noetl_api::credentials::{Credential as Described, CredentialDeleted, CredentialList, CredentialRequest};
use serde::{Deserialize, Serialize};

use crate::address::{question, segment};
use crate::call::Repeat;
use crate::{Client, Error};

/// A credential with its fields.
#[derive(Clone, Deserialize)]
pub struct Credential {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub data: noetl_types::Value,
}

/// Leaves out the fields.
impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// The credential of this name, for a step of this execution. Nothing when there is none.
    pub async fn find_credential(&self, alias: &str, execution: i64) -> Result<Option<Credential>, Error> {
        let path = format!("/api/credentials/{}?include_data=true&execution_id={execution}", segment(alias));
        match self.get(&path).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a credential. One of the same name is replaced.
    pub async fn put_credential(&self, request: &CredentialRequest) -> Result<Described, Error> {
        self.post("/api/credentials", request, Repeat::Harmless).await
    }

    /// A credential by name or id, with its fields only when they are asked for.
    pub async fn get_credential(&self, name: &str, with_data: bool) -> Result<Described, Error> {
        self.get(&format!("/api/credentials/{}?include_data={with_data}", segment(name))).await
    }

    /// All credentials of a type, or of any, by name and without their fields.
    pub async fn list_credentials(&self, kind: Option<&str>) -> Result<Vec<Described>, Error> {
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let asked = Asked { kind, after: after.as_deref() };
            let page: CredentialList = self.get(&format!("/api/credentials{}", question(&asked))).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    pub async fn delete_credential(&self, name: &str) -> Result<CredentialDeleted, Error> {
        self.delete(&format!("/api/credentials/{}", segment(name)), Repeat::Harmful).await
    }
}

#[derive(Serialize)]
struct Asked<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    after: Option<&'a str>,
}
