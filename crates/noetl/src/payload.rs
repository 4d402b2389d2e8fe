//! The payload of a run, from the command line.

use anyhow::{Context, Result, bail};
use clap::Args;
use noetl_types::Value;

use crate::exit::WrongUse;

#[derive(Clone, Debug, Default, Args)]
pub struct Inputs {
    /// A value of the workload; may be given several times. JSON where it parses, else text
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// The payload: JSON, or @FILE with JSON or YAML
    #[arg(long, alias = "workload", value_name = "JSON|@FILE")]
    payload: Option<String>,

    /// A file with the payload, the same as --payload @FILE
    #[arg(long, short, value_name = "FILE", hide = true, conflicts_with = "payload")]
    input: Option<String>,
}

impl Inputs {
    /// What was given, as one map; empty when nothing was.
    pub fn read(&self) -> Result<Value, WrongUse> {
        let file = self.input.as_ref().map(|file| format!("@{file}"));
        read(file.as_deref().or(self.payload.as_deref()), &self.set)
            .map_err(|error| WrongUse(format!("{error:#}")))
    }

    /// The same, or nothing when nothing was given.
    pub fn read_if_given(&self) -> Result<Option<Value>, WrongUse> {
        let is_given = self.input.is_some() || self.payload.is_some() || !self.set.is_empty();
        if is_given { self.read().map(Some) } else { Ok(None) }
    }
}

/// The payload with single values laid over it.
fn read(payload: Option<&str>, sets: &[String]) -> Result<Value> {
    let mut value = match payload {
        None => Value::map::<&str>([]),
        Some(text) => match text.strip_prefix('@') {
            Some(file) => from_file(file).with_context(|| format!("--payload @{file}"))?,
            None => serde_json::from_str(text).context("--payload is not JSON; use @FILE to read a file")?,
        },
    };
    if value.as_map().is_none() {
        bail!("--payload must be a map of names to values, not a {}", value.type_name());
    }
    for set in sets {
        let Some((key, text)) = set.split_once('=') else {
            bail!("--set {set}: write KEY=VALUE");
        };
        let given = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        let path: Vec<&str> = key.split('.').collect();
        if path.iter().any(|part| part.is_empty()) {
            bail!("--set {set}: the key is empty");
        }
        value = value.with_path(&path, given);
    }
    Ok(value)
}

/// A value in a file of JSON or YAML.
pub fn from_file(file: &str) -> Result<Value> {
    from_text(&std::fs::read_to_string(file)?)
}

/// A value in JSON or YAML.
pub fn from_text(text: &str) -> Result<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    match noetl_dsl::yaml::parse(text, &noetl_dsl::yaml::Limits::default()) {
        Ok(document) => Ok(document.root.to_value()),
        Err(error) => bail!("this is neither JSON nor YAML: {}", error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_values_lie_over_the_payload() {
        let sets = ["n=5", "db.host=beta", "text=007x", "flag=true"].map(str::to_owned);
        let value = read(Some(r#"{"db": {"host": "alpha", "port": 1}}"#), &sets).expect("a payload");
        let expected = r#"{"db":{"host":"beta","port":1},"n":5,"text":"007x","flag":true}"#;
        assert_eq!(value.to_string(), expected);
    }

    #[test]
    fn what_is_no_payload_is_refused_with_a_reason() {
        for (payload, set, reason) in [
            (Some("[1]"), "", "must be a map"),
            (Some("{"), "", "not JSON"),
            (None, "x", "KEY=VALUE"),
            (None, "=1", "empty"),
            (Some("@/nowhere/at-all.json"), "", "/nowhere/at-all.json"),
        ] {
            let sets: Vec<String> = (!set.is_empty()).then(|| set.to_owned()).into_iter().collect();
            let error = read(payload, &sets).expect_err("refused");
            assert!(format!("{error:#}").contains(reason), "{error:#}");
        }
    }
}
