//! Writes values as YAML that people can read and change.

use noetl_dsl::yaml::{Data, Limits, parse};
use noetl_types::{Map, Value};

/// The value as a YAML document in block style.
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Map(map) if !map.is_empty() => write_map(&mut text, map, 0),
        Value::List(items) if !items.is_empty() => write_list(&mut text, items, 0),
        other => {
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
    text
}

fn write_map(text: &mut String, map: &Map, indent: usize) {
    for (at, (key, value)) in map.iter().enumerate() {
        // The first key of a map in a list stands behind the dash.
        if at > 0 || !text.ends_with("- ") {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str(&plain_or_quoted(key));
        text.push(':');
        write_below(text, value, indent + 2);
    }
}

fn write_list(text: &mut String, items: &[Value], indent: usize) {
    for item in items {
        text.push_str(&" ".repeat(indent));
        text.push_str("- ");
        match item {
            Value::Map(map) if !map.is_empty() => write_map(text, map, indent + 2),
            other => {
                text.push_str(&scalar(other));
                text.push('\n');
            }
        }
    }
}

/// What stands behind a key: on the same line, or on lines of its own.
fn write_below(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Map(map) if !map.is_empty() => {
            text.push('\n');
            write_map(text, map, indent);
        }
        Value::List(items) if items.iter().any(|item| matches!(item, Value::Map(_) | Value::List(_))) => {
            text.push('\n');
            write_list(text, items, indent);
        }
        other => {
            text.push(' ');
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
}

/// A value on one line. JSON is YAML too.
fn scalar(value: &Value) -> String {
    match value {
        Value::Text(text) => plain_or_quoted(text),
        Value::List(items) if items.iter().all(|item| matches!(item, Value::Text(_))) => {
            let items: Vec<String> = items.iter().map(scalar).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

fn plain_or_quoted(text: &str) -> String {
    let harmless = |letter: char| letter.is_alphanumeric() || "_-./ >".contains(letter);
    let begins_well = text.starts_with(|first: char| first.is_alphanumeric() || first == '_');
    let is_plain = begins_well && text.trim_end() == text && text.chars().all(harmless);
    let means_itself = || {
        let parsed = parse(text, &Limits::default());
        parsed.is_ok_and(|document| matches!(&document.root.data, Data::Text(read) if **read == *text))
    };
    if is_plain && means_itself() { text.to_owned() } else { Value::text(text).to_string() }
}

#[cfg(test)]
mod tests {
    use noetl_types::value;

    use super::*;

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        let value = value!({
            "name": "as in execution 7",
            "empty": {"list": [], "map": {}, "text": "", "null": null},
            "words": ["true", "12", "2026-01-01T00:00:00Z", "- a", "a: b", "# c", "plain words", " x", "é\n\"", "null"],
            "nested": [{"a": [{"b": 1.5}, [1, [2]]]}, {}, [], {"c": {"d": false}}],
            "a: b": {"start -> end": -3},
        });
        let text = to_yaml(&value);
        let read =
            parse(&text, &Limits::default()).unwrap_or_else(|error| panic!("{}\n{text}", error.message));
        assert_eq!(read.root.to_value(), value, "{text}");
    }

    #[test]
    fn blocks_are_indented_and_words_are_bare() {
        let text =
            r#"{"cases": [{"name": "one", "steps": ["a", "b"], "calls": [{"step": "a", "times": 2}]}]}"#;
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(
            to_yaml(&value),
            "cases:\n  - name: one\n    steps: [a, b]\n    calls:\n      - step: a\n        times: 2\n"
        );
    }
}
