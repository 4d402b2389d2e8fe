//! What the product says of itself while it works: lines on standard error, for operators and programs.

use std::io;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use crate::config::Flags;
use crate::output::is_stderr_colored;

/// What is logged, and how.
#[derive(Clone, Debug, Default)]
pub struct LogConfig {
    /// What is logged; left out, each command has a level of its own.
    pub level: Option<LogLevel>,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object on each line.
    Json,
}

/// What the commands that log let be said about it.
#[derive(Debug, Args)]
pub struct LogFlags {
    /// How to log to stderr
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

impl LogFlags {
    pub fn set(&self, flags: &mut Flags) {
        let name = self.log_format.and_then(|format| format.to_possible_value());
        if let Some(name) = name {
            flags.set("log.format", "--log-format", name.get_name());
        }
    }
}

/// A level for everything, and levels for single parts: `info,noetl_worker=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLevel(String);

impl LogLevel {
    /// Nothing when it is no level.
    pub fn parse(text: &str) -> Option<LogLevel> {
        let is_level = |part: &str| {
            let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
            !level.trim().is_empty() && level.trim().parse::<LevelFilter>().is_ok()
        };
        let is_known = text.split(',').all(is_level) && text.parse::<Targets>().is_ok();
        is_known.then(|| LogLevel(text.to_owned()))
    }
}

impl AsRef<str> for LogLevel {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Begins to log. `usual` is the level of the command unless the configuration says otherwise.
pub fn start(config: &LogConfig, usual: LevelFilter) {
    let configured = config.level.as_ref().and_then(|level| level.0.parse::<Targets>().ok());
    let wanted = configured.unwrap_or_else(|| Targets::new().with_default(usual));
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(is_stderr_colored());
    // Whoever logs already goes on.
    let _ = match config.format {
        LogFormat::Text => registry().with(lines.with_filter(wanted)).try_init(),
        LogFormat::Json => registry().with(lines.json().flatten_event(true).with_filter(wanted)).try_init(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_for_everything_or_for_parts() {
        for text in ["info", "off", "WARN", "info,noetl_worker=debug", "noetl_server::drive=trace"] {
            assert!(LogLevel::parse(text).is_some(), "{text}");
        }
        for text in ["", "loud", "noetl_worker", "info,noetl_worker=loud"] {
            assert!(LogLevel::parse(text).is_none(), "{text}");
        }
    }
}
