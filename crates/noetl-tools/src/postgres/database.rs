//! Connections to databases: made when needed, kept for a while, handed out to one call at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use noetl_types::{ErrorKind, ToolError};
use tokio_postgres::Client;

use super::failure;
use super::target::Target;
use super::tls::Tls;
use crate::tls::client_config;
use crate::{Interrupt, PostgresConfig};

/// Undoes what a session may have been set to. `DISCARD ALL` would also drop statements that the driver relies on.
const RESET: &str = "ROLLBACK; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; CLOSE ALL; \
                     SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES";

/// A connection that was unused for longer than this is tried before it is trusted.
const TRUSTED: Duration = Duration::from_secs(1);

/// How long the cancelling of a statement and the reset of a session may take.
const CLEANUP_PATIENCE: Duration = Duration::from_secs(5);

/// All databases that steps talk to.
#[derive(Debug)]
pub struct Database {
    config: PostgresConfig,
    idle: Mutex<HashMap<String, Vec<Idle>>>,
    this: Weak<Database>,
}

#[derive(Debug)]
struct Idle {
    client: Client,
    since: Instant,
}

impl Database {
    pub fn new(config: PostgresConfig) -> Arc<Database> {
        Arc::new_cyclic(|this| Database { config, idle: Mutex::default(), this: this.clone() })
    }

    pub fn config(&self) -> &PostgresConfig {
        &self.config
    }

    /// A connection for one call.
    pub async fn lease(&self, target: &Target) -> Result<Lease, ToolError> {
        let tls = Tls::new(client_config(target.security.trust())?);
        let client = match self.take_idle(&target.key).await {
            Some(client) => client,
            None => self.connect(target, tls.clone()).await?,
        };
        Ok(Lease { client: Some(client), tls, key: target.key.clone(), database: self.this.clone() })
    }

    async fn connect(&self, target: &Target, tls: Tls) -> Result<Client, ToolError> {
        let what = format!("no connection to PostgreSQL at {target}");
        let limit = self.config.connect_timeout;
        let (client, connection) = match tokio::time::timeout(limit, target.config.connect(tls)).await {
            Ok(connected) => connected.map_err(|error| failure::of_connection(&error, &what))?,
            Err(_) => {
                let message = format!("{what}: it took longer than {} s", limit.as_secs_f64());
                return Err(ToolError::new(ErrorKind::DbConnection, message));
            }
        };
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "postgres connection ended");
            }
        });
        Ok(client)
    }

    async fn take_idle(&self, key: &str) -> Option<Client> {
        loop {
            let Idle { client, since } = self.idle().get_mut(key)?.pop()?;
            let works = since.elapsed() < TRUSTED
                || tokio::time::timeout(CLEANUP_PATIENCE, client.check_connection())
                    .await
                    .is_ok_and(|ok| ok.is_ok());
            if works && !client.is_closed() {
                return Some(client);
            }
        }
    }

    fn keep(&self, key: String, client: Client) {
        let mut idle = self.idle();
        let kept = idle.entry(key).or_default();
        if kept.len() < self.config.max_idle {
            kept.push(Idle { client, since: Instant::now() });
        }
    }

    /// Closes what was unused for too long.
    fn prune(&self) {
        let limit = self.config.idle_timeout;
        self.idle().retain(|_, kept| {
            kept.retain(|idle| idle.since.elapsed() < limit && !idle.client.is_closed());
            !kept.is_empty()
        });
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<String, Vec<Idle>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in use. Dropping it cancels the statement that is running and closes the connection.
pub struct Lease {
    client: Option<Client>,
    tls: Tls,
    key: String,
    database: Weak<Database>,
}

impl Lease {
    pub fn client(&self) -> &Client {
        self.client.as_ref().expect("a lease has its connection until it is given back")
    }

    /// Gives the connection back, to be used by others once its session is reset.
    pub fn give_back(mut self) {
        let (Some(client), Some(database)) = (self.client.take(), self.database.upgrade()) else {
            return;
        };
        let key = std::mem::take(&mut self.key);
        let this = Arc::downgrade(&database);
        tokio::spawn(async move {
            let reset = tokio::time::timeout(CLEANUP_PATIENCE, client.batch_execute(RESET)).await;
            if !matches!(reset, Ok(Ok(()))) {
                return;
            }
            database.keep(key, client);
            let timeout = database.config.idle_timeout;
            drop(database);
            tokio::time::sleep(timeout).await;
            if let Some(database) = this.upgrade() {
                database.prune();
            }
        });
    }

    /// Closes the connection after a statement that has ended.
    pub fn close(mut self) {
        self.client = None;
    }

    /// Stops the statement that is running and waits until the server has heard of it.
    pub async fn cancel(mut self, interrupt: Interrupt) -> ToolError {
        if let Some(client) = self.client.take() {
            cancel(client, self.tls.clone()).await;
        }
        interrupt.into_error("the SQL statement")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(client), Ok(runtime)) = (self.client.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(cancel(client, self.tls.clone()));
        }
    }
}

async fn cancel(client: Client, tls: Tls) {
    let cancelling = client.cancel_token();
    // If the server cannot be reached, it will notice that the connection is closed.
    let _ = tokio::time::timeout(CLEANUP_PATIENCE, cancelling.cancel_query(tls)).await;
}
