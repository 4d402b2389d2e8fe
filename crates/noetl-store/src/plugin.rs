//! Plug-in modules: compiled code that workers load by path and version.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::Timestamp;

use crate::{Error, sha256_hex};

/// What is known of a module without its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginInfo {
    pub path: Arc<str>,
    /// Chosen by whoever registers the module.
    pub version: i64,
    /// The SHA-256 of the code in hexadecimal.
    pub digest: String,
    pub media_type: Arc<str>,
    /// How many bytes the code has.
    pub size: u64,
    pub created_at: Timestamp,
}

/// A module with its code. The code of a version never changes.
#[derive(Clone, PartialEq, Eq)]
pub struct PluginModule {
    pub info: PluginInfo,
    pub bytes: Arc<[u8]>,
}

impl PluginModule {
    /// A module of some code. Computes its digest.
    pub fn new(
        path: &str,
        version: i64,
        media_type: &str,
        bytes: impl Into<Arc<[u8]>>,
        created_at: Timestamp,
    ) -> PluginModule {
        let bytes = bytes.into();
        let info = PluginInfo {
            path: path.into(),
            version,
            digest: sha256_hex(&bytes),
            media_type: media_type.into(),
            size: bytes.len() as u64,
            created_at,
        };
        PluginModule { info, bytes }
    }

    /// Gives the module back if its code is what was registered.
    pub fn verified(self) -> Result<PluginModule, Error> {
        let found = sha256_hex(&self.bytes);
        if found == self.info.digest {
            Ok(self)
        } else {
            Err(Error::corrupt(self.info.to_string(), format!("its SHA-256 is {found}")))
        }
    }
}

impl PluginInfo {
    /// The refusal of other code for a version that is taken by this one.
    pub fn conflict(&self, given_digest: &str) -> Error {
        Error::Conflict { what: format!("{self} (stored digest {}, given {given_digest})", self.digest) }
    }
}

impl fmt::Display for PluginInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plug-in {} version {}", self.path, self.version)
    }
}

/// Leaves the code out.
impl fmt::Debug for PluginModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginModule").field("info", &self.info).finish_non_exhaustive()
    }
}

#[async_trait]
pub trait Plugins {
    /// Adds a version of a module and gives what is stored. The same code again changes nothing; other code for a
    /// version that is taken is an [`Error::Conflict`] that names both digests.
    async fn register_plugin(&self, module: &PluginModule) -> Result<PluginInfo, Error>;

    /// A version of a module, or the highest one. Code that does not match its digest is an [`Error::Corrupt`].
    async fn find_plugin(&self, path: &str, version: Option<i64>) -> Result<Option<PluginModule>, Error>;

    /// By path, and for each path the highest version first.
    async fn list_plugins(&self) -> Result<Vec<PluginInfo>, Error>;

    async fn delete_plugin(&self, path: &str, version: i64) -> Result<bool, Error>;
}
