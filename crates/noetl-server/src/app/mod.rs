//! What the server decides: one file per noun. HTTP translates to and from it; nothing here knows about requests.

pub mod catalog;
mod error;
pub mod execute;

use std::sync::Arc;

use noetl_store::Store;
use noetl_types::Timestamp;

use crate::clock::Clock;
use crate::drive::Drive;
use crate::ids::IdSource;

pub use error::{Code, Error};

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
}

impl App {
    /// `version` is what the server says of itself.
    pub fn new(drive: Drive, version: &'static str) -> App {
        let started_at = drive.shared().clock.now();
        App { inner: Arc::new(Inner { drive, started_at, version }) }
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

    pub fn started_at(&self) -> Timestamp {
        self.inner.started_at
    }

    pub fn version(&self) -> &'static str {
        self.inner.version
    }
}
