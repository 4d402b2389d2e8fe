//! Maps written as YAML.

use noetl_types::{Map, Value};

/// A document of nested maps, a line for each value.
pub fn document(root: &Map) -> String {
    let mut text = String::new();
    write(root, 0, &mut text);
    text
}

fn write(map: &Map, depth: usize, text: &mut String) {
    for (key, value) in map {
        text.push_str(&"  ".repeat(depth));
        text.push_str(&word(key));
        text.push(':');
        match value {
            Value::Map(below) if !below.is_empty() => {
                text.push('\n');
                write(below, depth + 1, text);
            }
            Value::Text(plain) => text.push_str(&format!(" {}\n", word(plain))),
            // JSON is YAML.
            other => text.push_str(&format!(" {other}\n")),
        }
    }
}

/// A text, in quotes unless everybody reads it as text without them.
fn word(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c))
        && !text.ends_with(':')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_json().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_reads_back_as_it_was() {
        let texts = ["http://a:8082", "", "true", "No", "12", "a: b", "it's \"x\"\n# y", "- z", "a:", "é"];
        let entries: Vec<(String, Value)> =
            texts.iter().enumerate().map(|(at, text)| (format!("k{at}"), Value::from(*text))).collect();
        let others = [("n", Value::from(5)), ("list", Value::list([true.into()])), ("none", Value::Null)];
        let root = Value::map([
            ("texts", Value::map(entries)),
            ("odd key:", Value::map(others)),
            ("empty", Value::map::<&str>([])),
        ]);
        let written = document(root.as_map().expect("a map"));
        let read = noetl_dsl::yaml::parse(&written, &noetl_dsl::yaml::Limits::default()).expect("YAML");
        assert_eq!(read.root.to_value(), root, "{written}");
    }
}
