//! What operators choose, from one file, the environment and the command line.
//!
//! Each part of the product owns the struct of its settings; [`Config`] puts them together. `settings` is the table of
//! everything that can be chosen and under which name, `notation` knows how values are written, `load` lays the sources
//! over each other. A new setting is a field, a line in the table and a line in `default.toml`.

mod file;
mod listen;
mod load;
mod notation;
mod secret;
mod settings;
mod units;

use std::path::PathBuf;
use std::time::Duration;

use noetl_server::app::executions::READER_PATIENCE;
use noetl_server::drive::DriveConfig;
use noetl_server::http::{HttpConfig, SecretText};
use noetl_tools::ToolConfig;
use noetl_worker::WorkerConfig;

use crate::logging::LogConfig;
use crate::telemetry::TelemetryConfig;
pub use listen::Listen;
pub use load::{ConfigError, Flags, Loaded, Origin, Surroundings, load};
pub use secret::Secret;
pub use units::parse_time;

/// The configuration file with every setting at its default, explained for operators.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

/// Every choice, made.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub run: RunConfig,
    pub server: ServerConfig,
    pub storage: noetl_store_sqlite::Options,
    pub objects: ObjectsConfig,
    pub drive: DriveConfig,
    pub worker: WorkerConfig,
    pub tools: ToolConfig,
    /// Variables that steps find in their environment besides the usual ones.
    pub inherit: Vec<String>,
    pub credentials: CredentialsConfig,
    pub log: LogConfig,
    pub telemetry: TelemetryConfig,
}

/// What `noetl run` does unless its flags say otherwise.
#[derive(Clone, Debug, Default)]
pub struct RunConfig {
    /// Where the state of runs is kept. Without a folder it is gone when the run is over.
    pub data: Option<PathBuf>,
}

/// How the server is reached and whom it lets in.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub listen: Listen,
    /// The address under which clients and workers reach it; by default the one it listens on.
    pub url: Option<String>,
    pub data: PathBuf,
    /// Allows to listen beyond this machine without a login.
    pub insecure: bool,
    /// What workers and other servers show to be let in.
    pub internal_token: Option<Secret>,
    /// A token with the scope `admin`, besides those that are stored.
    pub admin_token: Option<Secret>,
    /// Who else is believed about who somebody is.
    pub oidc: OidcConfig,
    /// How long a reader of a live stream may take nothing.
    pub reader_patience: Duration,
    /// The limits of the gate, and whom it lets in otherwise.
    pub gate: HttpConfig,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            listen: Listen { host: "127.0.0.1".to_owned(), port: 8082 },
            url: None,
            data: "noetl-data".into(),
            insecure: false,
            internal_token: None,
            admin_token: None,
            oidc: OidcConfig::default(),
            reader_patience: READER_PATIENCE,
            gate: HttpConfig::default(),
        }
    }
}

impl ServerConfig {
    /// Where clients and workers find the server.
    pub fn url(&self) -> String {
        self.url.clone().unwrap_or_else(|| format!("http://{}", self.listen))
    }
}

impl ServerConfig {
    /// The settings of the HTTP server, with the secrets and the name of its address in their places.
    pub fn http(&self) -> HttpConfig {
        let secret = |secret: &Option<Secret>| secret.as_ref().map(|secret| SecretText::new(secret.reveal()));
        let mut hosts = self.gate.hosts.clone();
        hosts.extend(self.url.as_deref().and_then(host_of).map(str::to_owned));
        HttpConfig {
            internal_token: secret(&self.internal_token),
            admin_token: secret(&self.admin_token),
            hosts,
            ..self.gate.clone()
        }
    }
}

/// The host and port in a URL.
fn host_of(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '?', '#']).next()
}

/// An OpenID provider whose tokens count.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// Its address, as it stands in its tokens. Without it, only tokens of this server count.
    pub issuer: Option<String>,
    /// Whom the tokens must be for.
    pub audience: Option<String>,
    /// The claim that names scopes.
    pub claim: String,
    /// What stands before them there.
    pub prefix: String,
    /// Scopes that everybody has whom the provider knows.
    pub everyone: Vec<String>,
}

impl Default for OidcConfig {
    fn default() -> OidcConfig {
        OidcConfig {
            issuer: None,
            audience: None,
            claim: "scope".to_owned(),
            prefix: "noetl:".to_owned(),
            everyone: Vec::new(),
        }
    }
}

/// Values of a mebibyte and more.
#[derive(Clone, Debug, Default)]
pub struct ObjectsConfig {
    /// Where they are kept; the folder `objects` of the data folder when left out.
    pub url: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct CredentialsConfig {
    /// A folder of files, each named after the credential in it.
    pub folder: Option<PathBuf>,
    /// The key that stored credentials are encrypted with: 32 bytes in Base64.
    pub encryption_key: Option<Secret>,
}

impl Config {
    /// Reads the configuration of this process.
    pub fn load(flags: &Flags) -> Result<Config, ConfigError> {
        Ok(load(flags, &Surroundings::of_this_process())?.config)
    }
}
