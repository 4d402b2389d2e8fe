//! Credentials: access data by name, encrypted at rest.

use std::sync::Arc;

use noetl_store::{CredentialFilter, CredentialRow, Store};
use noetl_types::{ExecutionId, Value};

use super::{App, Code, Error};
use crate::catalog::Reference;
use crate::vault::{Vault, VaultError};

/// A credential to keep.
pub struct NewCredential {
    pub name: String,
    pub kind: String,
    pub data: Value,
    pub meta: Value,
    pub tags: Vec<String>,
    pub description: Option<String>,
}

/// Leaves the data out.
impl std::fmt::Debug for NewCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewCredential")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Which credentials to list.
#[derive(Clone, Debug, Default)]
pub struct CredentialSearch {
    pub kind: Option<String>,
    pub text: Option<String>,
    /// All of them must be there.
    pub tags: Vec<String>,
    pub after: Option<String>,
}

/// How many rows are looked at for one page that is narrowed to tags.
const LOOK_AT: usize = 500;

impl App {
    /// Adds a credential, or replaces the one of that name.
    pub async fn put_credential(&self, new: NewCredential) -> Result<CredentialRow, Error> {
        let vault = self.get_vault()?;
        let name = word("name", &new.name)?;
        let kind = word("type", &new.kind)?;
        if new.tags.len() > 100 {
            return Err(Error::new(Code::BodyInvalid, "a credential has at most 100 tags"));
        }
        if new.description.as_ref().is_some_and(|text| text.chars().count() > 10_000) {
            return Err(Error::new(Code::BodyInvalid, "the description has more than 10000 characters"));
        }
        let now = self.now();
        let row = CredentialRow {
            id: self.ids().next(),
            data_encrypted: seal(vault, &new.data, &purpose(name))?.into(),
            name: name.into(),
            kind: kind.into(),
            schema: Value::Null,
            meta: new.meta,
            tags: new.tags,
            description: new.description,
            created_at: now,
            updated_at: now,
        };
        Ok(self.store().put_credential(&row).await?)
    }

    /// A page of credentials by name, and whether more follow.
    pub async fn list_credentials(
        &self,
        search: CredentialSearch,
        limit: usize,
    ) -> Result<(Vec<CredentialRow>, bool), Error> {
        let mut filter = CredentialFilter { kind: search.kind, search: search.text, after: search.after };
        let mut found = Vec::new();
        loop {
            let rows = self.store().list_credentials(&filter, LOOK_AT).await?;
            let more = rows.len() == LOOK_AT;
            filter.after = rows.last().map(|row| row.name.to_string());
            found.extend(rows.into_iter().filter(|row| search.tags.iter().all(|tag| row.tags.contains(tag))));
            if found.len() > limit || !more {
                let more = found.len() > limit;
                found.truncate(limit);
                return Ok((found, more));
            }
        }
    }

    /// By name, or by id where no name is like it.
    pub async fn get_credential(&self, reference: &str) -> Result<CredentialRow, Error> {
        if let Some(row) = self.store().find_credential(reference).await? {
            return Ok(row);
        }
        let by_id = match reference.parse() {
            Ok(id) => self.store().find_credential_by_id(id).await?,
            Err(_) => None,
        };
        by_id.ok_or_else(|| {
            Error::new(Code::CredentialNotFound, format!("there is no credential '{}'", printable(reference)))
        })
    }

    /// The secret fields of a credential.
    pub fn open_credential(&self, row: &CredentialRow) -> Result<Value, Error> {
        open_row(self.get_vault()?, row)
            .map_err(|error| unreadable(&format!("credential '{}'", row.name), error))
    }

    /// An entry of the keychain that the playbook of an execution has, where it needs no rendering: that is the worker's.
    pub async fn open_playbook_entry(
        &self,
        execution: ExecutionId,
        name: &str,
    ) -> Result<Option<Value>, Error> {
        let Some(found) = self.store().find_execution(execution).await? else {
            return Ok(None);
        };
        let playbook = self.drive().playbooks().get(&Reference::Id(found.row.catalog_id)).await?;
        let entry = playbook.plan.keychain.iter().find(|entry| *entry.name == *name);
        let Some(settings) = entry.and_then(|entry| entry.settings.as_literal()) else {
            return Ok(None);
        };
        let text = |key: &str| settings.get(key).and_then(Value::as_str);
        match (text("kind"), text("credential").or_else(|| text("auth"))) {
            (None | Some("credential" | "credential_ref"), Some(alias)) => {
                let row = self.get_credential(alias).await?;
                Ok(Some(mapped(&self.open_credential(&row)?, settings.get("map"))))
            }
            (Some("bearer"), _) => {
                Ok(settings.get("token").map(|token| Value::map([("token", token.clone())])))
            }
            (Some("static"), _) => Ok(settings.get("data").cloned()),
            _ => Ok(None),
        }
    }

    /// Puts credentials that were stored with an earlier key under the current one, and says how many. Those that no key
    /// opens stay as they are.
    pub async fn rewrap_credentials(&self) -> Result<usize, Error> {
        let vault = self.get_vault()?;
        let mut filter = CredentialFilter::default();
        let mut rewrapped = 0;
        loop {
            let rows = self.store().list_credentials(&filter, LOOK_AT).await?;
            let Some(last) = rows.last() else {
                return Ok(rewrapped);
            };
            filter.after = Some(last.name.to_string());
            for row in rows {
                match vault.rewrap(&row.data_encrypted, &purpose(&row.name)) {
                    Ok(None) => {}
                    Ok(Some(sealed)) => {
                        let row = CredentialRow { data_encrypted: sealed.into(), ..row };
                        self.store().put_credential(&row).await?;
                        rewrapped += 1;
                    }
                    Err(error) => {
                        tracing::warn!(credential = %row.name, %error, "a credential can't be read")
                    }
                }
            }
        }
    }

    pub async fn delete_credential(&self, reference: &str) -> Result<CredentialRow, Error> {
        let row = self.get_credential(reference).await?;
        self.store().delete_credential(&row.name).await?;
        Ok(row)
    }
}

/// What a worker of the same process uses: the type of a stored credential and its fields.
pub async fn find_stored(
    store: &dyn Store,
    vault: &Vault,
    name: &str,
) -> Result<Option<(Arc<str>, Value)>, Error> {
    let Some(row) = store.find_credential(name).await? else {
        return Ok(None);
    };
    let data = open_row(vault, &row).map_err(|error| unreadable(&format!("credential '{name}'"), error))?;
    Ok(Some((row.kind, data)))
}

fn open_row(vault: &Vault, row: &CredentialRow) -> Result<Value, VaultError> {
    let plain = vault.open(&row.data_encrypted, &purpose(&row.name))?;
    serde_json::from_slice(&plain).map_err(|_| VaultError::Damaged)
}

pub(super) fn seal(vault: &Vault, data: &Value, purpose: &str) -> Result<Vec<u8>, Error> {
    let plain = zeroize::Zeroizing::new(serde_json::to_vec(data).map_err(Error::internal)?);
    vault.seal(&plain, purpose).map_err(Error::internal)
}

/// Says that something is there but does not open.
pub(super) fn unreadable(what: &str, error: VaultError) -> Error {
    Error::new(Code::CredentialUnreadable, format!("{what} can't be read: {error}"))
        .help("start the server with the key it was stored with, or store it again")
}

fn purpose(name: &str) -> String {
    format!("credential:{name}")
}

/// A name that can be shown, stored and put into a path.
pub(super) fn word<'a>(what: &str, text: &'a str) -> Result<&'a str, Error> {
    let refused = |why: &str| Err(Error::new(Code::BodyInvalid, format!("the {what} {why}")));
    match text {
        "" => refused("is empty"),
        text if text.chars().count() > 255 => refused("has more than 255 characters"),
        text if text.chars().any(char::is_control) => refused("has control characters in it"),
        text => Ok(text),
    }
}

fn printable(text: &str) -> String {
    text.chars().take(255).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// With `map: {alias: field}`, one field per alias; else all fields as they are.
fn mapped(data: &Value, map: Option<&Value>) -> Value {
    let Some(map) = map.and_then(Value::as_map) else {
        return data.clone();
    };
    Value::map(map.iter().map(|(alias, path)| {
        let path = path.as_str().unwrap_or(alias);
        let found = path.split('.').try_fold(data, |value, key| value.get(key));
        (alias.clone(), found.cloned().unwrap_or_default())
    }))
}
