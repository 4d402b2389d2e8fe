//! What the server decides: one file per noun. HTTP translates to and from it; nothing here knows about requests.

pub mod audit;
pub mod catalog;
pub mod commands;
pub mod credentials;
pub mod dashboard;
pub mod database;
mod error;
pub mod events;
pub mod execute;
pub mod executions;
pub mod ingress;
pub mod keychain;
pub mod maintenance;
pub mod objects;
pub mod outbox;
pub mod plugins;
pub mod projections;
pub mod registry;
pub mod results;
mod scope;
pub mod shard;
pub mod subscriptions;
pub mod test_suites;
pub mod tokens;
pub mod variables;
pub mod work;

use std::sync::Arc;
use std::time::Duration;

use noetl_api::config::ConfigInEffect;
use noetl_store::Store;
use noetl_types::Timestamp;

use crate::clock::Clock;
use crate::drive::Drive;
use crate::ids::IdSource;
use crate::metrics::Metrics;
use crate::vault::Vault;

pub use error::{Code, Error};
pub use scope::Scope;
use tokens::KnownTokens;

/// Everything a request may need. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    drive: Drive,
    started_at: Timestamp,
    version: &'static str,
    vault: Option<Vault>,
    known_tokens: KnownTokens,
    metrics: Metrics,
    reader_patience: Duration,
    config: ConfigInEffect,
}

/// What an [`App`] is made of. Without a vault it keeps no secrets.
#[derive(Debug)]
pub struct Builder {
    drive: Drive,
    version: &'static str,
    vault: Option<Vault>,
    reader_patience: Duration,
    config: ConfigInEffect,
}

impl Builder {
    /// How long a reader of a live stream may take nothing before it is cut off.
    pub fn reader_patience(self, reader_patience: Duration) -> Builder {
        Builder { reader_patience, ..self }
    }

    pub fn vault(self, vault: Option<Vault>) -> Builder {
        Builder { vault, ..self }
    }

    /// What the server tells of its configuration. There are no secrets in it.
    pub fn config(self, config: ConfigInEffect) -> Builder {
        Builder { config, ..self }
    }

    pub fn build(self) -> App {
        let Builder { drive, version, vault, reader_patience, config } = self;
        let started_at = drive.shared().clock.now();
        App {
            inner: Arc::new(Inner {
                drive,
                started_at,
                version,
                vault,
                known_tokens: KnownTokens::default(),
                metrics: Metrics::default(),
                reader_patience,
                config,
            }),
        }
    }
}

impl App {
    /// With nothing but the drive loop; `version` is what the server says of itself.
    pub fn new(drive: Drive, version: &'static str) -> App {
        App::builder(drive, version).build()
    }

    pub fn builder(drive: Drive, version: &'static str) -> Builder {
        Builder {
            drive,
            version,
            vault: None,
            reader_patience: executions::READER_PATIENCE,
            config: ConfigInEffect::default(),
        }
    }

    pub fn drive(&self) -> &Drive {
        &self.inner.drive
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        self.inner.drive.store()
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.drive.shared().clock
    }

    pub fn ids(&self) -> &Arc<IdSource> {
        &self.inner.drive.shared().ids
    }

    pub fn now(&self) -> Timestamp {
        self.clock().now()
    }

    pub fn config_in_effect(&self) -> &ConfigInEffect {
        &self.inner.config
    }

    pub fn started_at(&self) -> Timestamp {
        self.inner.started_at
    }

    pub fn version(&self) -> &'static str {
        self.inner.version
    }

    pub fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    fn reader_patience(&self) -> Duration {
        self.inner.reader_patience
    }

    fn known_tokens(&self) -> &KnownTokens {
        &self.inner.known_tokens
    }

    fn get_vault(&self) -> Result<&Vault, Error> {
        self.inner.vault.as_ref().ok_or_else(|| {
            Error::new(Code::EncryptionKeyMissing, "the server has no key to keep secrets with")
                .help("start it with NOETL_ENCRYPTION_KEY, or with a data folder that it may write a key to")
        })
    }
}
