//! How the values of settings are written: in the file with TOML's types, everywhere else as text.
//!
//! Each module here is one notation: `read` takes what was given and says what it should have been, `show` writes a
//! value the way the file would.

use noetl_types::Value;

/// What somebody wrote for a setting.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// In the file.
    Typed(&'a Value),
    /// In the environment or on the command line.
    Text(&'a str),
}

impl<'a> Given<'a> {
    fn text(self) -> Option<&'a str> {
        match self {
            Given::Typed(value) => value.as_str(),
            Given::Text(text) => Some(text),
        }
    }

    /// The text of a text or a whole number.
    fn digits(self) -> Option<String> {
        match self {
            Given::Typed(value @ (Value::Int(_) | Value::UInt(_))) => Some(value.to_string()),
            other => other.text().map(str::to_owned),
        }
    }
}

fn number(given: Given<'_>) -> Option<u64> {
    match given {
        Given::Typed(Value::Int(number)) => u64::try_from(*number).ok(),
        Given::Typed(Value::UInt(number)) => Some(*number),
        Given::Typed(_) => None,
        Given::Text(text) => text.trim().parse().ok(),
    }
}

fn shown(number: u64) -> Value {
    i64::try_from(number).map_or(Value::UInt(number), Value::Int)
}

/// A whole number of at least 1.
pub mod count {
    use super::{Given, Value, number, shown};

    pub fn read<T: TryFrom<u64>>(given: Given<'_>) -> Result<T, &'static str> {
        number(given)
            .filter(|number| *number > 0)
            .and_then(|number| T::try_from(number).ok())
            .ok_or("a whole number of at least 1")
    }

    pub fn show<T: TryInto<u64> + Copy>(count: &T) -> Value {
        shown((*count).try_into().unwrap_or(u64::MAX))
    }
}

/// A whole number of at least 1, or nothing for no limit.
pub mod maybe_count {
    use super::{Given, Value, count};

    pub fn read(given: Given<'_>) -> Result<Option<u32>, &'static str> {
        count::read(given).map(Some)
    }

    pub fn show(number: &Option<u32>) -> Value {
        number.as_ref().map_or(Value::Null, count::show)
    }
}

/// How callers show who they are.
pub mod auth {
    use noetl_server::http::Auth;

    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<Auth, &'static str> {
        match given.text() {
            Some("none") => Ok(Auth::None),
            Some("tokens") => Ok(Auth::Tokens),
            _ => Err("\"none\" or \"tokens\""),
        }
    }

    pub fn show(auth: &Auth) -> Value {
        Value::from(match auth {
            Auth::None => "none",
            Auth::Tokens => "tokens",
        })
    }
}

/// Bytes, with or without a unit.
pub mod size {
    use super::super::units::{parse_size, show_size};
    use super::{Given, Value};

    pub fn read<T: TryFrom<u64>>(given: Given<'_>) -> Result<T, &'static str> {
        given
            .digits()
            .and_then(|text| parse_size(&text))
            .and_then(|size| T::try_from(size).ok())
            .ok_or("a size, such as \"64 MiB\"")
    }

    pub fn show<T: TryInto<u64> + Copy>(size: &T) -> Value {
        Value::from(show_size((*size).try_into().unwrap_or(u64::MAX)).as_str())
    }
}

/// A size, or nothing for no limit.
pub mod maybe_size {
    use super::{Given, Value, size};

    pub fn read(given: Given<'_>) -> Result<Option<u64>, &'static str> {
        size::read(given).map(Some)
    }

    pub fn show(size: &Option<u64>) -> Value {
        size.as_ref().map_or(Value::Null, size::show)
    }
}

/// A length of time, with or without a unit.
pub mod time {
    use std::time::Duration;

    use super::super::units::{parse_time, show_time};
    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<Duration, &'static str> {
        given.digits().and_then(|text| parse_time(&text)).ok_or("a time, such as \"30s\" or \"200ms\"")
    }

    pub fn show(time: &Duration) -> Value {
        Value::from(show_time(*time).as_str())
    }
}

/// True or false.
pub mod switch {
    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<bool, &'static str> {
        let switch = match given {
            Given::Typed(value) => value.as_bool(),
            Given::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(true),
                "false" | "0" | "no" | "off" => Some(false),
                _ => None,
            },
        };
        switch.ok_or("true or false")
    }

    pub fn show(switch: &bool) -> Value {
        Value::Bool(*switch)
    }
}

/// Any text.
pub mod text {
    use super::{Given, Value};

    pub fn read<T: for<'a> From<&'a str>>(given: Given<'_>) -> Result<T, &'static str> {
        given.text().map(T::from).ok_or("a text in quotes")
    }

    pub fn show(text: impl AsRef<str>) -> Value {
        Value::from(text.as_ref())
    }
}

/// Any text, or nothing.
pub mod maybe_text {
    use super::{Given, Value, text};

    pub fn read<T: for<'a> From<&'a str>>(given: Given<'_>) -> Result<Option<T>, &'static str> {
        text::read(given).map(Some)
    }

    pub fn show<T: AsRef<str>>(text: &Option<T>) -> Value {
        text.as_ref().map_or(Value::Null, |text| Value::from(text.as_ref()))
    }
}

/// An address, or nothing. A name and a password in it are not shown.
pub mod maybe_address {
    use super::{Given, Value, maybe_text};

    pub fn read<T: for<'a> From<&'a str>>(given: Given<'_>) -> Result<Option<T>, &'static str> {
        maybe_text::read(given)
    }

    pub fn show<T: AsRef<str>>(address: &Option<T>) -> Value {
        maybe_text::show(&address.as_ref().map(|address| without_user(address.as_ref())))
    }

    fn without_user(address: &str) -> String {
        let start = address.find("://").map_or(0, |at| at + 3);
        let end = address[start..].find(['/', '?', '#']).map_or(address.len(), |at| start + at);
        match address[start..end].rfind('@') {
            Some(at) => format!("{}(set){}", &address[..start], &address[start + at..]),
            None => address.to_owned(),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn who_logs_in_at_an_address_is_not_shown() {
            let shown = |address: &str| show(&Some(address)).to_string();
            assert_eq!(shown("http://ada:pa@ss@proxy:3128/x@y"), "\"http://(set)@proxy:3128/x@y\"");
            assert_eq!(shown("ada:pass@proxy:3128"), "\"(set)@proxy:3128\"");
            assert_eq!(shown("https://proxy/a?b@c"), "\"https://proxy/a?b@c\"");
        }
    }
}

/// A file or folder.
pub mod path {
    use std::path::{Path, PathBuf};

    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<PathBuf, &'static str> {
        given.text().map(PathBuf::from).ok_or("a path in quotes")
    }

    pub fn show(path: impl AsRef<Path>) -> Value {
        Value::from(&*path.as_ref().to_string_lossy())
    }
}

/// A file or folder, or nothing.
pub mod maybe_path {
    use std::path::PathBuf;

    use super::{Given, Value, path};

    pub fn read(given: Given<'_>) -> Result<Option<PathBuf>, &'static str> {
        path::read(given).map(Some)
    }

    pub fn show(path: &Option<PathBuf>) -> Value {
        path.as_ref().map_or(Value::Null, path::show)
    }
}

/// A list of texts; in the environment they are separated by commas.
pub mod list {
    use super::{Given, Value};

    pub fn read<T: for<'a> From<&'a str>>(given: Given<'_>) -> Result<Vec<T>, &'static str> {
        let items = match given {
            Given::Typed(Value::List(items)) => {
                items.iter().map(|item| item.as_str().map(T::from)).collect::<Option<Vec<T>>>()
            }
            Given::Typed(_) => None,
            Given::Text(text) => {
                Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(T::from).collect())
            }
        };
        items.ok_or("a list of texts, such as [\"a\", \"b\"]")
    }

    pub fn show<T: AsRef<str>>(items: &[T]) -> Value {
        Value::list(items.iter().map(|item| Value::from(item.as_ref())))
    }
}

/// Counts by name; in the environment `a=1,b=2`.
pub mod counts {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::{Given, Value, count};

    pub fn read(given: Given<'_>) -> Result<BTreeMap<Arc<str>, usize>, &'static str> {
        let counts = match given {
            Given::Typed(Value::Map(entries)) => entries
                .iter()
                .map(|(name, value)| Some((name.clone(), count::read(Given::Typed(value)).ok()?)))
                .collect(),
            Given::Typed(_) => None,
            Given::Text(text) => text
                .split(',')
                .map(|entry| {
                    let (name, value) = entry.split_once('=')?;
                    Some((name.trim().into(), count::read(Given::Text(value)).ok()?))
                })
                .collect(),
        };
        counts.ok_or("counts by name, such as { http = 32 }")
    }

    pub fn show(counts: &BTreeMap<Arc<str>, usize>) -> Value {
        Value::map(counts.iter().map(|(name, value)| (name.clone(), count::show(value))))
    }
}

/// A text that is never shown.
pub mod secret {
    use super::super::Secret;
    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<Option<Secret>, &'static str> {
        given.text().map(|text| Some(Secret::new(text))).ok_or("a text in quotes")
    }

    pub fn show(secret: &Option<Secret>) -> Value {
        secret.as_ref().map_or(Value::Null, |_| Value::from("(set)"))
    }
}

/// A host and a port.
pub mod listen {
    use super::super::Listen;
    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<Listen, &'static str> {
        given
            .text()
            .and_then(|text| text.trim().parse().ok())
            .ok_or("a host and a port, such as \"127.0.0.1:8082\"")
    }

    pub fn show(listen: &Listen) -> Value {
        Value::from(listen.to_string().as_str())
    }
}

/// What is logged.
pub mod log_level {
    use super::{Given, Value, maybe_text};
    use crate::logging::LogLevel;

    pub fn read(given: Given<'_>) -> Result<Option<LogLevel>, &'static str> {
        given.text().and_then(LogLevel::parse).map(Some).ok_or(
            "off, error, warn, info, debug or trace, and maybe levels of single parts, such as \"info,noetl_worker=debug\"",
        )
    }

    pub fn show(level: &Option<LogLevel>) -> Value {
        maybe_text::show(level)
    }
}

/// How it is logged.
pub mod log_format {
    use super::{Given, Value};
    use crate::logging::LogFormat;

    pub fn read(given: Given<'_>) -> Result<LogFormat, &'static str> {
        match given.text() {
            Some("text") => Ok(LogFormat::Text),
            Some("json") => Ok(LogFormat::Json),
            _ => Err("\"text\" or \"json\""),
        }
    }

    pub fn show(format: &LogFormat) -> Value {
        Value::from(match format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        })
    }
}

/// When a commit counts as done.
pub mod synchronous {
    use noetl_store_sqlite::Synchronous;

    use super::{Given, Value};

    pub fn read(given: Given<'_>) -> Result<Synchronous, &'static str> {
        match given.text() {
            Some("full") => Ok(Synchronous::Full),
            Some("normal") => Ok(Synchronous::Normal),
            _ => Err("\"full\" or \"normal\""),
        }
    }

    pub fn show(synchronous: &Synchronous) -> Value {
        Value::from(match synchronous {
            Synchronous::Full => "full",
            Synchronous::Normal => "normal",
        })
    }
}
