//! Playbook values as statement parameters. They travel as text in PostgreSQL's own input syntax, so that every type of
//! column or cast takes what its text form allows.

use std::error::Error;

use bytes::BytesMut;
use noetl_types::Value;
use tokio_postgres::types::{Format, IsNull, Kind, ToSql, Type, to_sql_checked};

#[derive(Debug)]
pub struct Parameter<'a>(pub &'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        if self.0.is_null() {
            return Ok(IsNull::Yes);
        }
        out.extend_from_slice(input_text(self.0, ty).as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

fn input_text(value: &Value, ty: &Type) -> String {
    if matches!(*ty, Type::JSON | Type::JSONB) {
        return json_text(value);
    }
    match (value, ty.kind()) {
        (value, Kind::Domain(inner)) => input_text(value, inner),
        (Value::List(items), Kind::Array(element)) => array_text(items, element),
        (Value::Text(text), _) => text.to_string(),
        (other, _) => other.to_string(),
    }
}

/// Text that is a JSON document is taken for one; any other text becomes a JSON string.
fn json_text(value: &Value) -> String {
    match value {
        Value::Text(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => text.to_string(),
        other => other.to_string(),
    }
}

fn array_text(items: &[Value], element: &Type) -> String {
    let items = items.iter().map(|item| match item {
        Value::Null => "NULL".to_owned(),
        Value::List(inner) if !matches!(*element, Type::JSON | Type::JSONB) => array_text(inner, element),
        other => {
            let text = input_text(other, element).replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{text}\"")
        }
    });
    format!("{{{}}}", items.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use noetl_types::value;

    use super::*;

    #[test]
    fn lists_become_array_literals_with_everything_quoted() {
        let list = value!(["a\"b", "c\\d", null, "{}", ""]);
        assert_eq!(input_text(&list, &Type::TEXT_ARRAY), r#"{"a\"b","c\\d",NULL,"{}",""}"#);
        assert_eq!(input_text(&value!([[1, 2], [3, 4]]), &Type::INT4_ARRAY), r#"{{"1","2"},{"3","4"}}"#);
        assert_eq!(input_text(&value!([{"a": 1}]), &Type::JSONB_ARRAY), r#"{"{\"a\":1}"}"#);
    }

    #[test]
    fn json_takes_documents_as_they_are_and_other_text_as_a_string() {
        assert_eq!(input_text(&value!({"a": [1]}), &Type::JSONB), r#"{"a":[1]}"#);
        assert_eq!(input_text(&value!(r#"{"a": 1}"#), &Type::JSONB), r#"{"a": 1}"#);
        assert_eq!(input_text(&value!("plain"), &Type::JSON), r#""plain""#);
        assert_eq!(input_text(&value!({"a": 1}), &Type::TEXT), r#"{"a":1}"#);
    }
}
