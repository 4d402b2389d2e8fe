//! What unquoted text means: the core schema of YAML 1.2.
//!
//! `yes`, `no`, `on`, `off` and dates are text. Integers that fit neither 64-bit type become floats, as in JSON.

use super::Data;

/// The value of plain text.
pub(super) fn resolve(text: &str) -> Data {
    if is_null(text) {
        return Data::Null;
    }
    as_bool(text)
        .or_else(|| as_int(text))
        .or_else(|| as_float(text))
        .unwrap_or_else(|| Data::Text(text.into()))
}

/// Whether a text can be written without quotes anywhere, brackets included. Says no when in doubt.
pub(crate) fn is_plain_text(text: &str) -> bool {
    let starts_well = text.starts_with(|first: char| first.is_alphanumeric() || matches!(first, '_' | '/'));
    let is_harmless = |character: char| character.is_alphanumeric() || "_-./".contains(character);
    starts_well && text.chars().all(is_harmless) && matches!(resolve(text), Data::Text(_))
}

/// A text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

pub(super) fn as_bool(text: &str) -> Option<Data> {
    match text {
        "true" | "True" | "TRUE" => Some(Data::Bool(true)),
        "false" | "False" | "FALSE" => Some(Data::Bool(false)),
        _ => None,
    }
}

pub(super) fn as_int(text: &str) -> Option<Data> {
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0o") => (&text[2..], 8),
        _ => (text.strip_prefix(['-', '+']).unwrap_or(text), 10),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| (byte as char).is_digit(radix)) {
        return None;
    }
    let signed = if radix == 10 { text } else { digits };
    i64::from_str_radix(signed, radix)
        .map(Data::Int)
        .or_else(|_| u64::from_str_radix(signed, radix).map(Data::UInt))
        .ok()
        .or_else(|| match radix {
            10 => text.parse().ok().map(Data::Float),
            _ => None,
        })
}

pub(super) fn as_float(text: &str) -> Option<Data> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    match unsigned {
        ".inf" | ".Inf" | ".INF" if negative => return Some(Data::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Data::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return Some(Data::Float(f64::NAN)),
        _ => {}
    }
    // Rust also reads `inf`, `nan` and `infinity`, which are text here; a number starts with a digit or a point and a digit.
    let starts_like_number = match unsigned.as_bytes() {
        [b'.', digit, ..] => digit.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit(),
        [] => false,
    };
    if !starts_like_number {
        return None;
    }
    text.parse().ok().map(Data::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match resolve(text) {
            Data::Text(text) => format!("text {text}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn text_that_needs_quotes_is_known() {
        for text in ["fetch", "my-step_2", "a/b.c", "é"] {
            assert!(is_plain_text(text), "{text}");
        }
        for text in ["", "12", "true", "a b", "a: b", "-a", "[a", "a,b", "~", "{{ x }}"] {
            assert!(!is_plain_text(text), "{text}");
        }
        assert_eq!(quoted("a \"b\"\n"), r#""a \"b\"\n""#);
    }

    #[test]
    fn plain_text_means_what_the_core_schema_says() {
        for (text, meaning) in [
            ("", "Null"),
            ("~", "Null"),
            ("NULL", "Null"),
            ("nULL", "text nULL"),
            ("true", "Bool(true)"),
            ("FALSE", "Bool(false)"),
            ("yes", "text yes"),
            ("off", "text off"),
            ("12", "Int(12)"),
            ("-7", "Int(-7)"),
            ("+7", "Int(7)"),
            ("007", "Int(7)"),
            ("0x1F", "Int(31)"),
            ("0o17", "Int(15)"),
            ("0xZZ", "text 0xZZ"),
            ("0x", "text 0x"),
            ("-0x1F", "text -0x1F"),
            ("1_000", "text 1_000"),
            ("9223372036854775807", "Int(9223372036854775807)"),
            ("9223372036854775808", "UInt(9223372036854775808)"),
            ("99999999999999999999", "Float(1e20)"),
            ("0xFFFFFFFFFFFFFFFFF", "text 0xFFFFFFFFFFFFFFFFF"),
            ("1.5", "Float(1.5)"),
            (".5", "Float(0.5)"),
            ("5.", "Float(5.0)"),
            ("-1e3", "Float(-1000.0)"),
            ("1.2.3", "text 1.2.3"),
            ("1e", "text 1e"),
            (".", "text ."),
            ("-", "text -"),
            (".inf", "Float(inf)"),
            ("-.INF", "Float(-inf)"),
            (".nan", "Float(NaN)"),
            ("-.nan", "text -.nan"),
            ("inf", "text inf"),
            ("nan", "text nan"),
            ("infinity", "text infinity"),
            ("2024-05-01", "text 2024-05-01"),
            ("12:30", "text 12:30"),
            ("1é", "text 1é"),
        ] {
            assert_eq!(shown(text), meaning, "{text:?}");
        }
    }
}
