//! Whether a value is what a case expects. The rules are in the suite's README, under "Matching".

use regex_lite::Regex;
use serde_json::Value;

/// Says what does not match, if anything.
pub fn mismatch(want: &Value, got: Option<&Value>, place: &str) -> Option<String> {
    let found = got.unwrap_or(&Value::Null);
    match want {
        Value::Object(operators)
            if !operators.is_empty() && operators.keys().all(|key| key.starts_with('$')) =>
        {
            let failed = operators.iter().find(|(name, argument)| !holds(name, argument, found))?;
            Some(format!("{place}: expected {} {}, got {}", failed.0, failed.1, brief(found)))
        }
        Value::Object(entries) => {
            let Value::Object(given) = found else {
                return Some(format!("{place}: expected a map with {}, got {}", brief(want), brief(found)));
            };
            entries.iter().find_map(|(key, inner)| {
                let may_lack =
                    inner.get("$absent").is_some() || inner.get("$any") == Some(&Value::Bool(false));
                match given.get(key) {
                    None if !may_lack => Some(format!("{place}.{key}: missing in {}", brief(found))),
                    value => mismatch(inner, value, &format!("{place}.{key}")),
                }
            })
        }
        Value::Array(items) => {
            let Value::Array(given) = found else {
                return Some(format!("{place}: expected a list, got {}", brief(found)));
            };
            if items.len() != given.len() {
                let (wanted, got) = (items.len(), given.len());
                return Some(format!("{place}: expected {wanted} entries, got {got}: {}", brief(found)));
            }
            items
                .iter()
                .zip(given)
                .enumerate()
                .find_map(|(at, (inner, value))| mismatch(inner, Some(value), &format!("{place}[{at}]")))
        }
        scalar => {
            let same = same_scalar(scalar, found);
            (!same).then(|| format!("{place}: expected {}, got {}", brief(want), brief(found)))
        }
    }
}

fn holds(operator: &str, argument: &Value, got: &Value) -> bool {
    let compare = |test: fn(f64, f64) -> bool| match (argument.as_f64(), got.as_f64()) {
        (Some(argument), Some(got)) => test(got, argument),
        _ => false,
    };
    match operator {
        "$any" => argument.as_bool() == Some(!got.is_null()),
        "$absent" => got.is_null(),
        "$regex" => match (argument.as_str(), got.as_str()) {
            (Some(pattern), Some(text)) => {
                Regex::new(pattern).expect("a case has a valid pattern").is_match(text)
            }
            _ => false,
        },
        "$contains" => match got {
            Value::String(text) => argument.as_str().is_some_and(|part| text.contains(part)),
            Value::Array(items) => items.iter().any(|item| mismatch(argument, Some(item), "").is_none()),
            _ => false,
        },
        "$len" => length(got).is_some_and(|length| argument.as_u64() == Some(length as u64)),
        "$in" => argument.as_array().is_some_and(|items| items.iter().any(|item| same_scalar(item, got))),
        "$type" => argument.as_str() == Some(type_name(got)),
        "$gte" => compare(|got, limit| got >= limit),
        "$lte" => compare(|got, limit| got <= limit),
        "$gt" => compare(|got, limit| got > limit),
        "$lt" => compare(|got, limit| got < limit),
        other => panic!("a case uses an unknown operator {other}"),
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(entries) => Some(entries.len()),
        _ => None,
    }
}

fn same_scalar(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        _ => want == got,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    }
}

pub fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[test]
fn matching_is_strict_about_types_and_lenient_about_further_keys() {
    use serde_json::json;
    for (want, got) in [
        (json!(1), json!(1.0)),
        (json!({"a": 1}), json!({"a": 1, "b": 2})),
        (json!({"$contains": {"a": 1}}), json!([{"a": 1, "b": 2}])),
        (json!({"a": {"$absent": true}}), json!({})),
        (json!({"$gte": 1, "$lte": 3}), json!(2)),
        (json!({"$in": ["1", 1]}), json!(1)),
    ] {
        assert_eq!(mismatch(&want, Some(&got), "value"), None, "{want} {got}");
    }
    for (want, got) in [
        (json!(1), json!("1")),
        (json!(1), json!(true)),
        (json!([1]), json!([1, 2])),
        (json!({"a": null}), json!({})),
        (json!(9007199254740993_i64), json!(9007199254740992_i64)),
        (json!({"$in": [1]}), json!(true)),
        (json!({"$any": true}), json!(null)),
    ] {
        assert!(mismatch(&want, Some(&got), "value").is_some(), "{want} {got}");
    }
}
