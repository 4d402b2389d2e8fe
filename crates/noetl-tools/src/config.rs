//! What operators choose about tools.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Environment;

const MEBIBYTE: usize = 1024 * 1024;

/// Settings of all built-in tools.
#[derive(Clone, Debug, Default)]
pub struct ToolConfig {
    pub process: ProcessConfig,
    pub python: PythonConfig,
    pub http: HttpConfig,
    pub rhai: RhaiConfig,
    pub postgres: PostgresConfig,
}

/// How child processes of any tool run.
#[derive(Clone, Debug)]
pub struct ProcessConfig {
    /// What children find in their environment, before a step's own `env`.
    pub environment: Environment,
    /// Where relative paths start and processes run when a step has no `cwd`; the worker's own folder when empty.
    pub folder: PathBuf,
    /// How many bytes of each output are kept and passed on; the rest is only counted.
    pub output_limit: usize,
    /// How long a process may clean up between the request to end and the kill.
    pub kill_grace: Duration,
    /// The most memory a process may address, in bytes.
    pub memory_limit: Option<u64>,
}

impl ProcessConfig {
    /// The absolute form of a path that a step names.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        here.join(&self.folder).join(path)
    }
}

impl Default for ProcessConfig {
    fn default() -> ProcessConfig {
        ProcessConfig {
            environment: Environment::default(),
            folder: PathBuf::new(),
            output_limit: 10 * MEBIBYTE,
            kill_grace: Duration::from_secs(2),
            memory_limit: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct PythonConfig {
    /// The interpreter of steps that name none.
    pub interpreter: PathBuf,
    /// Modules that every interpreter imports once, before the first step, so that steps find them loaded.
    pub preload: Vec<String>,
    /// The largest result, in bytes of JSON.
    pub result_limit: usize,
    /// How long an interpreter may take to come up.
    pub start_timeout: Duration,
}

impl Default for PythonConfig {
    fn default() -> PythonConfig {
        PythonConfig {
            interpreter: PathBuf::from("python3"),
            preload: Vec::new(),
            result_limit: 256 * MEBIBYTE,
            start_timeout: Duration::from_secs(30),
        }
    }
}

#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// The time limit of calls that set none.
    pub timeout: Duration,
    /// The largest answer, in bytes.
    pub response_limit: usize,
    pub proxy: ProxyConfig,
    pub user_agent: String,
}

impl Default for HttpConfig {
    fn default() -> HttpConfig {
        HttpConfig {
            timeout: Duration::from_secs(30),
            response_limit: 256 * MEBIBYTE,
            proxy: ProxyConfig::default(),
            user_agent: "noetl".to_owned(),
        }
    }
}

/// Proxies by the scheme of the request, as URLs.
#[derive(Clone, Debug, Default)]
pub struct ProxyConfig {
    pub http: Option<String>,
    pub https: Option<String>,
    /// Hosts that are reached directly, separated by commas.
    pub no_proxy: Option<String>,
}

#[derive(Clone, Debug)]
pub struct RhaiConfig {
    pub max_operations: u64,
    /// The longest text, in bytes, and the most elements of a list or map.
    pub max_text: usize,
    pub max_elements: usize,
    /// The time limit of scripts that set none.
    pub timeout: Duration,
}

impl Default for RhaiConfig {
    fn default() -> RhaiConfig {
        RhaiConfig {
            max_operations: 100_000_000,
            max_text: 64 * MEBIBYTE,
            max_elements: 1_000_000,
            timeout: Duration::from_secs(300),
        }
    }
}

#[derive(Clone, Debug)]
pub struct PostgresConfig {
    pub connect_timeout: Duration,
    /// How many unused connections are kept per database.
    pub max_idle: usize,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
    /// The most rows a call may return.
    pub row_limit: usize,
}

impl Default for PostgresConfig {
    fn default() -> PostgresConfig {
        PostgresConfig {
            connect_timeout: Duration::from_secs(10),
            max_idle: 4,
            idle_timeout: Duration::from_secs(60),
            row_limit: 1_000_000,
        }
    }
}
