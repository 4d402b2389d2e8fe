//! Reads rendered settings by the field table of a kind: names and aliases, gentle conversion of scalars, and errors that
//! name the field. Unknown keys are left alone; the checker warns about them long before.

use std::time::Duration;

use noetl_types::{ErrorKind, Map, ToolError, Value};

use crate::{Field, KindDescription};

/// The settings of one call. A null counts as absent.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    owner: &'static str,
    table: &'static [Field],
    settings: Option<&'a Map>,
}

impl<'a> Fields<'a> {
    pub fn of(description: &'static KindDescription, settings: &'a Value) -> Fields<'a> {
        Fields::within(description.kind, description.fields, settings)
    }

    /// The settings of a part of a call, such as the `source` of a transfer.
    pub fn within(owner: &'static str, table: &'static [Field], settings: &'a Value) -> Fields<'a> {
        Fields { owner, table, settings: settings.as_map() }
    }

    /// The value of a field. The name comes before its aliases.
    pub fn value(&self, name: &'static str) -> Option<&'a Value> {
        let field = self.table.iter().find(|field| field.name == name);
        let aliases = field.expect("tools read only fields that they describe").aliases;
        let settings = self.settings?;
        std::iter::once(&name)
            .chain(aliases)
            .filter_map(|name| settings.get(*name))
            .find(|value| !value.is_null())
    }

    pub fn text(&self, name: &'static str) -> Result<Option<String>, ToolError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        scalar_text(value).map(Some).ok_or_else(|| self.wrong(name, "text", value))
    }

    pub fn required_text(&self, name: &'static str) -> Result<String, ToolError> {
        self.text(name)?.filter(|text| !text.trim().is_empty()).ok_or_else(|| self.missing(name))
    }

    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, ToolError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::Int(number @ (0 | 1))) => Ok(Some(*number == 1)),
            Some(Value::Text(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Ok(Some(true)),
                "false" | "no" | "off" | "0" | "" => Ok(Some(false)),
                _ => Err(self.wrong(name, "true or false", &Value::Text(text.clone()))),
            },
            Some(value) => Err(self.wrong(name, "true or false", value)),
        }
    }

    pub fn integer(&self, name: &'static str) -> Result<Option<i64>, ToolError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Text(text) => text.trim().parse().ok(),
            other => other.as_i64(),
        };
        number.map(Some).ok_or_else(|| self.wrong(name, "a whole number", value))
    }

    /// A positive span of time. Zero and absent both mean that there is none.
    pub fn seconds(&self, name: &'static str) -> Result<Option<Duration>, ToolError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Text(text) => text.trim().trim_end_matches('s').trim_end().parse().ok(),
            other => other.as_f64(),
        };
        match number.map(Duration::try_from_secs_f64) {
            Some(Ok(span)) => Ok((!span.is_zero()).then_some(span)),
            _ => Err(self.wrong(name, "a number of seconds", value)),
        }
    }

    pub fn map(&self, name: &'static str) -> Result<Option<&'a Map>, ToolError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Map(map)) => Ok(Some(map)),
            Some(value) => Err(self.wrong(name, "a map", value)),
        }
    }

    /// A map of scalars as text. Entries that are null are left out.
    pub fn text_map(&self, name: &'static str) -> Result<Vec<(String, String)>, ToolError> {
        let mut entries = Vec::new();
        for (key, value) in self.map(name)?.into_iter().flatten() {
            if value.is_null() {
                continue;
            }
            let text = scalar_text(value).ok_or_else(|| {
                self.fault(format!("`{name}.{key}` must be text, not a {}", value.type_name()))
            })?;
            entries.push((key.to_string(), text));
        }
        Ok(entries)
    }

    pub fn missing(&self, name: &str) -> ToolError {
        self.fault(format!("`{name}` is missing or empty"))
    }

    /// A value of the wrong shape. The value itself is not repeated: it may be secret.
    pub fn wrong(&self, name: &str, wanted: &str, value: &Value) -> ToolError {
        self.fault(format!("`{name}` must be {wanted}, but it is {}", described(value)))
    }

    pub fn fault(&self, what: String) -> ToolError {
        ToolError::new(ErrorKind::Config, format!("{}: {what}", self.owner))
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => "another number",
        Value::Text(_) => "some other text",
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
    }
}

/// Text as people would write the scalar; nothing for lists and maps.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_string()),
        Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::value;

    use super::*;
    use crate::Shape;

    const TABLE: &[Field] = &[
        Field::new("url", Shape::Text, "").or(&["endpoint"]),
        Field::new("timeout_seconds", Shape::Seconds, "").or(&["timeout"]),
        Field::new("verify", Shape::Flag, ""),
        Field::new("env", Shape::Map, ""),
    ];

    fn with<T>(settings: Value, read: impl Fn(Fields<'_>) -> T) -> T {
        read(Fields::within("demo", TABLE, &settings))
    }

    #[test]
    fn an_alias_stands_in_when_the_name_is_absent_or_null() {
        assert_eq!(with(value!({"url": null, "endpoint": "x"}), |f| f.text("url")), Ok(Some("x".to_owned())));
        assert_eq!(with(value!({"url": "y", "endpoint": "x"}), |f| f.text("url")), Ok(Some("y".to_owned())));
    }

    #[test]
    fn scalars_are_converted_gently() {
        assert_eq!(with(value!({"url": 5}), |f| f.text("url")), Ok(Some("5".to_owned())));
        assert_eq!(with(value!({"verify": "no"}), |f| f.flag("verify")), Ok(Some(false)));
        let half = Ok(Some(Duration::from_millis(500)));
        assert_eq!(with(value!({"timeout": "0.5"}), |f| f.seconds("timeout_seconds")), half);
        let env = with(value!({"env": {"A": 1, "B": null, "C": true}}), |f| f.text_map("env"));
        assert_eq!(env, Ok(vec![("A".to_owned(), "1".to_owned()), ("C".to_owned(), "true".to_owned())]));
    }

    #[test]
    fn errors_name_the_field_and_hide_the_value() {
        let error = with(value!({"timeout": "hush"}), |f| f.seconds("timeout_seconds")).unwrap_err();
        assert_eq!(
            error.message,
            "demo: `timeout_seconds` must be a number of seconds, but it is some other text"
        );
        let error = with(value!({"env": [1]}), |f| f.text_map("env")).unwrap_err();
        assert_eq!(error.message, "demo: `env` must be a map, but it is a list");
        let error = with(value!({"url": " "}), |f| f.required_text("url")).unwrap_err();
        assert_eq!(error.message, "demo: `url` is missing or empty");
    }
}
