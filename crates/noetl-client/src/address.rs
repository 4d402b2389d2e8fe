//! How names and questions become part of an address.

use serde::Serialize;

/// A name as one segment of a path.
pub(crate) fn segment(name: &str) -> String {
    escaped(name, "")
}

/// A catalog path, whose slashes stay what they are.
pub(crate) fn segments(path: &str) -> String {
    escaped(path, "/")
}

/// The fields that say something, as the part of an address after the question mark; with it, unless there are none.
pub(crate) fn question(parameters: &impl Serialize) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(parameters) else {
        return String::new();
    };
    let mut pairs: Vec<String> = fields
        .iter()
        .filter_map(|(name, value)| {
            let text = match value {
                serde_json::Value::Null => return None,
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some(format!("{}={}", segment(name), segment(&text)))
        })
        .collect();
    // In an order of our own: whether maps keep theirs depends on what else is built.
    pairs.sort();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn escaped(text: &str, kept: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte as char),
            _ if kept.as_bytes().contains(&byte) => escaped.push(byte as char),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use noetl_api::Id;
    use noetl_api::execution::ListParameters;

    use super::*;

    #[test]
    fn names_stay_one_segment_of_the_path() {
        assert_eq!(segment("pg_local"), "pg_local");
        assert_eq!(segment("a/b ?é"), "a%2Fb%20%3F%C3%A9");
    }

    #[test]
    fn catalog_paths_keep_their_slashes() {
        assert_eq!(segments("examples/a b"), "examples/a%20b");
    }

    #[test]
    fn only_what_is_said_is_asked() {
        let none = ListParameters::default();
        assert_eq!(question(&none), "");
        let some =
            ListParameters { limit: Some(5), before: Some(Id(7)), search: Some("a&b".to_owned()), ..none };
        assert_eq!(question(&some), "?before=7&limit=5&search=a%26b");
    }
}
