//! The credentials of one command, fetched from the control plane when something asks for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use noetl_tools::{Credential, CredentialError, Credentials};
use noetl_types::ExecutionId;

use crate::ControlPlane;

/// Each credential is fetched once per command.
pub(crate) struct CommandCredentials {
    control: Arc<dyn ControlPlane>,
    execution: ExecutionId,
    fetched: Mutex<HashMap<String, Credential>>,
}

impl CommandCredentials {
    pub fn new(control: Arc<dyn ControlPlane>, execution: ExecutionId) -> CommandCredentials {
        CommandCredentials { control, execution, fetched: Mutex::default() }
    }
}

#[async_trait]
impl Credentials for CommandCredentials {
    async fn get(&self, alias: &str) -> Result<Credential, CredentialError> {
        let known = self.fetched.lock().unwrap_or_else(PoisonError::into_inner).get(alias).cloned();
        if let Some(credential) = known {
            return Ok(credential);
        }
        let found = self.control.find_credential(alias, self.execution).await.map_err(|error| {
            CredentialError::Unavailable { alias: alias.to_owned(), reason: error.to_string() }
        })?;
        let credential = found.ok_or_else(|| CredentialError::Unknown { alias: alias.to_owned() })?;
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.insert(alias.to_owned(), credential.clone());
        Ok(credential)
    }
}
