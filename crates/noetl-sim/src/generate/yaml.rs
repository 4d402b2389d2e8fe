//! Writes a value as YAML in block style, as people write playbooks.

use std::fmt::Write as _;

use noetl_types::Value;

pub fn block(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(map) if !map.is_empty() => {
            for (key, value) in map.iter() {
                let _ = write!(text, "{indent}{key}:");
                write_below(text, value, depth);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for item in items.iter() {
                let _ = write!(text, "{indent}-");
                write_below(text, item, depth);
            }
        }
        // JSON is YAML in flow style; its strings are double-quoted YAML scalars.
        scalar => {
            let _ = writeln!(text, "{indent}{scalar}");
        }
    }
}

/// What stands after `key:` or `-`: on the same line if it is short, else on lines of its own.
fn write_below(text: &mut String, value: &Value, depth: usize) {
    let is_leaf = |value: &Value| match value {
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => true,
    };
    if is_leaf(value) {
        let _ = writeln!(text, " {}", value.to_json());
    } else {
        text.push('\n');
        write(text, value, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_and_lists_are_indented_and_text_is_quoted() {
        let value = Value::map([
            ("name", Value::from("a: b")),
            ("steps", Value::list([Value::map([("n", Value::from(1)), ("none", Value::list([]))])])),
        ]);
        assert_eq!(block(&value), "name: \"a: b\"\nsteps:\n  -\n    n: 1\n    none: []\n");
    }
}
