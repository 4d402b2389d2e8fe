//! Everything that can be chosen: the name of each setting, its notation and its place in [`Config`].

use noetl_types::Value;

use super::Config;
use super::notation::{self, Given, *};

/// One thing that can be chosen.
pub struct Setting {
    /// Its name in the file, with its section: `worker.concurrency`.
    pub key: &'static str,
    /// Variables that mean the same elsewhere in the NoETL world. The systematic name counts before them.
    pub also: &'static [&'static str],
    /// Takes what was given, or says what it should be.
    pub read: fn(&mut Config, Given<'_>) -> Result<(), &'static str>,
    /// The value as the file would have it; null when there is none.
    pub show: fn(&Config) -> Value,
}

impl Setting {
    /// The systematic name of its environment variable: `NOETL_WORKER_CONCURRENCY`.
    pub fn variable(&self) -> String {
        format!("NOETL_{}", self.key.to_ascii_uppercase().replace(['.', '-'], "_"))
    }

    pub fn find(key: &str) -> Option<&'static Setting> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }
}

/// An environment variable that says a part of a setting.
pub struct Part {
    pub variable: &'static str,
    pub key: &'static str,
    /// Takes what was given and says whether it meant this setting, or what it should be.
    pub read: fn(&mut Config, &str) -> Result<bool, &'static str>,
}

macro_rules! setting {
    ($key:literal, $notation:ident, $($field:ident).+ $(, also $($also:literal)+)?) => {
        Setting {
            key: $key,
            also: &[$($($also),+)?],
            read: |config, given| {
                config.$($field).+ = notation::$notation::read(given)?;
                Ok(())
            },
            show: |config| notation::$notation::show(&config.$($field).+),
        }
    };
}

/// In the order of `default.toml`.
pub static SETTINGS: &[Setting] = &[
    setting!("run.data", maybe_path, run.data),
    setting!("server.listen", listen, server.listen),
    setting!("server.url", maybe_address, server.url, also "NOETL_PUBLIC_SERVER_URL"),
    setting!("server.data", path, server.data),
    setting!("server.insecure", switch, server.insecure),
    setting!("server.auth", auth, server.gate.auth),
    setting!("server.admin-token", secret, server.admin_token, also "NOETL_ADMIN_TOKEN"),
    setting!("server.internal-token", secret, server.internal_token, also "NOETL_INTERNAL_API_TOKEN"),
    setting!("server.hosts", list, server.gate.hosts),
    setting!("server.cors-origins", list, server.gate.cors_origins),
    setting!("server.body-limit", size, server.gate.body_limit),
    setting!("server.large-body-limit", size, server.gate.large_body_limit),
    setting!("server.request-timeout", time, server.gate.request_timeout),
    setting!("server.head-timeout", time, server.gate.head_timeout),
    setting!("server.head-limit", size, server.gate.head_limit),
    setting!("server.stall-timeout", time, server.gate.stall_timeout),
    setting!("server.reader-patience", time, server.reader_patience),
    setting!("server.connections", count, server.gate.connections),
    setting!("server.rate", maybe_count, server.gate.rate),
    setting!("server.burst", count, server.gate.burst),
    setting!("server.grace", time, server.gate.grace),
    setting!("server.oidc.issuer", maybe_address, server.oidc.issuer),
    setting!("server.oidc.audience", maybe_text, server.oidc.audience),
    setting!("server.oidc.claim", text, server.oidc.claim),
    setting!("server.oidc.prefix", text, server.oidc.prefix),
    setting!("server.oidc.everyone", list, server.oidc.everyone),
    setting!("storage.synchronous", synchronous, storage.synchronous),
    setting!("storage.readers", count, storage.readers),
    setting!("objects.url", maybe_address, objects.url),
    setting!("drive.tasks", count, drive.tasks),
    setting!("drive.mailbox", count, drive.mailbox),
    setting!("drive.batch", count, drive.batch),
    setting!("drive.session-memory", size, drive.session_bytes),
    setting!("drive.value-memory", size, drive.value_bytes),
    setting!("drive.snapshot-every", count, drive.snapshot_every),
    setting!("drive.lease", time, drive.lease),
    setting!("drive.backlog", count, drive.backlog),
    setting!("worker.name", text, worker.name, also "WORKER_ID"),
    setting!("worker.pools", list, worker.pools),
    setting!("worker.concurrency", count, worker.concurrency, also "WORKER_MAX_CONCURRENT"),
    PER_KIND,
    setting!("worker.longest-wait", time, worker.longest_wait),
    setting!("worker.announce-after", time, worker.announce_after),
    setting!("worker.drain", time, worker.drain),
    setting!("worker.stop-grace", time, worker.stop_grace),
    setting!("worker.value-memory", size, worker.value_cache),
    setting!("worker.logs.per-stream", size, worker.logs.bytes_per_stream),
    setting!("worker.logs.chunk", size, worker.logs.chunk),
    setting!("worker.logs.delay", time, worker.logs.delay),
    setting!("worker.logs.backlog", size, worker.logs.backlog),
    setting!("tools.process.folder", path, tools.process.folder),
    setting!("tools.process.inherit", list, inherit),
    setting!("tools.process.output-limit", size, tools.process.output_limit),
    setting!("tools.process.kill-grace", time, tools.process.kill_grace),
    setting!("tools.process.memory-limit", maybe_size, tools.process.memory_limit),
    setting!("tools.python.interpreter", path, tools.python.interpreter),
    setting!("tools.python.preload", list, tools.python.preload),
    setting!("tools.python.result-limit", size, tools.python.result_limit),
    setting!("tools.python.start-timeout", time, tools.python.start_timeout),
    setting!("tools.http.timeout", time, tools.http.timeout),
    setting!("tools.http.response-limit", size, tools.http.response_limit),
    setting!("tools.http.user-agent", text, tools.http.user_agent),
    setting!("tools.http.proxy.http", maybe_address, tools.http.proxy.http, also "http_proxy"),
    setting!("tools.http.proxy.https", maybe_address, tools.http.proxy.https, also "https_proxy" "HTTPS_PROXY"),
    setting!("tools.http.proxy.except", maybe_text, tools.http.proxy.no_proxy, also "no_proxy" "NO_PROXY"),
    setting!("tools.rhai.max-operations", count, tools.rhai.max_operations),
    setting!("tools.rhai.max-text", size, tools.rhai.max_text),
    setting!("tools.rhai.max-elements", count, tools.rhai.max_elements),
    setting!("tools.rhai.timeout", time, tools.rhai.timeout),
    setting!("tools.postgres.connect-timeout", time, tools.postgres.connect_timeout),
    setting!("tools.postgres.max-idle", count, tools.postgres.max_idle),
    setting!("tools.postgres.idle-timeout", time, tools.postgres.idle_timeout),
    setting!("tools.postgres.row-limit", count, tools.postgres.row_limit),
    setting!("credentials.folder", maybe_path, credentials.folder, also "NOETL_CREDENTIALS_DIR"),
    setting!("credentials.encryption-key", secret, credentials.encryption_key, also "NOETL_ENCRYPTION_KEY"),
    setting!("log.level", log_level, log.level),
    setting!("log.format", log_format, log.format),
    setting!("telemetry.endpoint", maybe_address, telemetry.endpoint, also "OTEL_EXPORTER_OTLP_ENDPOINT"),
    setting!(
        "telemetry.traces-endpoint",
        maybe_address,
        telemetry.traces_endpoint,
        also "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    ),
    setting!("telemetry.headers", secret, telemetry.headers, also "OTEL_EXPORTER_OTLP_HEADERS"),
    setting!("telemetry.service-name", text, telemetry.service_name, also "OTEL_SERVICE_NAME"),
    setting!("telemetry.timeout", time, telemetry.timeout),
    setting!("telemetry.queue", count, telemetry.queue),
];

/// Kinds that are not named keep the limit they have.
const PER_KIND: Setting = Setting {
    key: "worker.per-kind",
    also: &[],
    read: |config, given| {
        let limits = counts::read(given)?;
        if limits.keys().any(|kind| noetl_dsl::KindTable::builtin().find(kind).is_none()) {
            return Err("counts by kind of tool, such as { python = 4, http = 32 }");
        }
        config.worker.kind_limits.extend(limits);
        Ok(())
    },
    show: |config| counts::show(&config.worker.kind_limits),
};

/// Host and port say together what `NOETL_SERVER_LISTEN` says alone; the pool is one of those that `NOETL_WORKER_POOLS` lists.
pub static PARTS: &[Part] = &[
    Part {
        variable: "NOETL_HOST",
        key: "server.listen",
        read: |config, text| {
            config.server.listen.host = text.to_owned();
            Ok(true)
        },
    },
    Part {
        variable: "NOETL_PORT",
        key: "server.listen",
        read: |config, text| {
            // Kubernetes puts the address of a service called `noetl` into this variable of every container near it.
            if text.starts_with("tcp://") {
                return Ok(false);
            }
            config.server.listen.port = text.parse().map_err(|_| "a port, such as 8082")?;
            Ok(true)
        },
    },
    Part {
        variable: "WORKER_POOL_NAME",
        key: "worker.pools",
        read: |config, text| {
            // The name of no pool in particular.
            if text == "default" {
                return Ok(false);
            }
            config.worker.pools = vec![text.into()];
            Ok(true)
        },
    },
];

/// The known key that somebody may have meant.
pub fn closest(key: &str) -> Option<&'static str> {
    const MOST_WRONG: usize = 3;
    let near = SETTINGS
        .iter()
        .map(|setting| (strsim::damerau_levenshtein(key, setting.key), setting.key))
        .filter(|(distance, _)| *distance <= MOST_WRONG)
        .min();
    if let Some((_, near)) = near {
        return Some(near);
    }
    // The right name in a wrong section.
    let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
    let mut same = SETTINGS.iter().filter(|setting| last(setting.key) == last(key));
    same.next().filter(|_| same.next().is_none()).map(|setting| setting.key)
}
