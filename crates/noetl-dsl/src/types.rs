//! Which YAML types a key or a field takes: a small set, with its words and its JSON Schema.

use serde_json::{Value as Json, json};

use crate::yaml::{Data, Node};

/// A set of YAML types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    pub const NONE: Types = Types(0);
    pub const TEXT: Types = Types(1);
    /// Numbers, and text that reads as one.
    pub const NUMBER: Types = Types(2);
    /// Whole numbers, and text that reads as one.
    pub const INTEGER: Types = Types(4);
    pub const BOOL: Types = Types(8);
    pub const LIST: Types = Types(16);
    pub const MAP: Types = Types(32);
    /// Text with `{{ }}` or `{% %}` in it, whose value is known only when it is rendered.
    pub const TEMPLATE: Types = Types(64);
    pub const ANY: Types = Types(127);
    /// One value that is not a collection.
    pub const SCALAR: Types = Types(1 | 2 | 4 | 8);

    pub const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub const fn has(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a value of these types may stand here. Null is the same as leaving the key out, so it always may.
    pub fn accept(self, node: &Node) -> bool {
        match &node.data {
            Data::Null => true,
            Data::Bool(_) => self.has(Types::BOOL),
            Data::Int(_) | Data::UInt(_) => self.has(Types::INTEGER) || self.has(Types::NUMBER),
            Data::Float(number) => {
                self.has(Types::NUMBER) || (self.has(Types::INTEGER) && number.fract() == 0.0)
            }
            Data::Text(text) => {
                self.has(Types::TEXT)
                    || (self.has(Types::TEMPLATE) && is_template(text))
                    || (self.has(Types::NUMBER) && text.trim().parse::<f64>().is_ok())
                    || (self.has(Types::INTEGER) && text.trim().parse::<i64>().is_ok())
                    || (self.has(Types::BOOL) && matches!(&**text, "true" | "false"))
            }
            Data::List(_) => self.has(Types::LIST),
            Data::Map(_) => self.has(Types::MAP),
        }
    }

    /// `a number or a template`.
    pub fn describe(self) -> String {
        let mut words = Vec::new();
        for (types, word) in [
            (Types::TEXT, "text"),
            (Types::NUMBER, "a number"),
            (Types::INTEGER, "a whole number"),
            (Types::BOOL, "a boolean"),
            (Types::LIST, "a list"),
            (Types::MAP, "a map"),
            (Types::TEMPLATE, "a template"),
        ] {
            let said_already = (types == Types::TEMPLATE && self.has(Types::TEXT))
                || (types == Types::INTEGER && self.has(Types::NUMBER));
            if self.has(types) && !said_already {
                words.push(word);
            }
        }
        match words.as_slice() {
            [] => "nothing".to_owned(),
            [only] => (*only).to_owned(),
            [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
        }
    }

    pub fn schema(self) -> Json {
        if self == Types::ANY {
            return json!(true);
        }
        let mut names = Vec::new();
        for (types, name) in [
            (Types::TEXT, "string"),
            (Types::NUMBER, "number"),
            (Types::INTEGER, "integer"),
            (Types::BOOL, "boolean"),
            (Types::LIST, "array"),
            (Types::MAP, "object"),
        ] {
            if self.has(types) && !(types == Types::INTEGER && self.has(Types::NUMBER)) {
                names.push(name);
            }
        }
        names.push("null");
        let plain = match names.as_slice() {
            [only] => json!({ "type": only }),
            names => json!({ "type": names }),
        };
        if self.has(Types::TEXT) {
            return plain;
        }
        let mut patterns = Vec::new();
        if self.has(Types::TEMPLATE) {
            patterns.push(r"\{\{|\{%");
        }
        if self.has(Types::NUMBER) || self.has(Types::INTEGER) {
            patterns.push(r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$");
        }
        if self.has(Types::BOOL) {
            patterns.push("^(true|false)$");
        }
        if patterns.is_empty() {
            return plain;
        }
        json!({ "anyOf": [plain, { "type": "string", "pattern": patterns.join("|") }] })
    }
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe())
    }
}

/// Whether the text has template syntax in it.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

/// What a value is, in the words of [`Types::describe`].
pub(crate) fn describe_node(node: &Node) -> &'static str {
    match &node.data {
        Data::Null => "nothing",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::UInt(_) | Data::Float(_) => "a number",
        Data::Text(_) => "text",
        Data::List(_) => "a list",
        Data::Map(_) => "a map",
    }
}
