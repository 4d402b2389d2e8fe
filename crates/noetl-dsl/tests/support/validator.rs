//! The part of JSON Schema that our schemas use. Words it does not know make a test fail, so that none is passed over.

use regex_lite::Regex;
use serde_json::{Map, Value};

/// What is wrong with a value, each with the place of it.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    Validator { root: schema }.check(schema, value, "", &mut problems);
    problems
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn holds(&self, schema: &Value, value: &Value) -> bool {
        let mut problems = Vec::new();
        self.check(schema, value, "", &mut problems);
        problems.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        let rules = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return problems.push(format!("{at}: nothing is allowed here")),
            schema => schema.as_object().expect("a schema is a boolean or a map"),
        };
        for (word, rule) in rules {
            match word.as_str() {
                "$schema" | "title" | "description" | "deprecated" | "examples" | "$defs" | "then"
                | "else" => {}
                "$ref" => {
                    let pointer =
                        rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a local reference");
                    self.check(self.root.pointer(pointer).expect("it leads somewhere"), value, at, problems);
                }
                "type" => {
                    let names: Vec<&str> = match rule {
                        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                        name => name.as_str().into_iter().collect(),
                    };
                    if !names.iter().any(|name| is_of_type(value, name)) {
                        problems.push(format!("{at}: not of type {names:?}"));
                    }
                }
                "enum" => {
                    if !rule.as_array().expect("a list").contains(value) {
                        problems.push(format!("{at}: {value} is not one of {rule}"));
                    }
                }
                "const" => {
                    if rule != value {
                        problems.push(format!("{at}: {value} is not {rule}"));
                    }
                }
                "minimum" => {
                    if value.as_f64().is_some_and(|number| number < rule.as_f64().expect("a number")) {
                        problems.push(format!("{at}: {value} is below {rule}"));
                    }
                }
                "pattern" => {
                    let pattern = Regex::new(rule.as_str().expect("text")).expect("a pattern");
                    if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                        problems.push(format!("{at}: {value} does not match {rule}"));
                    }
                }
                "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
                    if let Some(map) = value.as_object() {
                        self.check_map(word, rule, rules, map, at, problems);
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{index}"), problems);
                    }
                }
                "anyOf" => {
                    if !rule.as_array().expect("a list").iter().any(|schema| self.holds(schema, value)) {
                        problems.push(format!("{at}: fits none of the alternatives"));
                    }
                }
                "allOf" => {
                    for schema in rule.as_array().expect("a list") {
                        self.check(schema, value, at, problems);
                    }
                }
                "if" => {
                    let branch = if self.holds(rule, value) { "then" } else { "else" };
                    if let Some(schema) = rules.get(branch) {
                        self.check(schema, value, at, problems);
                    }
                }
                word => panic!("the schema uses `{word}`, which this validator does not know"),
            }
        }
    }

    fn check_map(
        &self,
        word: &str,
        rule: &Value,
        rules: &Map<String, Value>,
        map: &Map<String, Value>,
        at: &str,
        problems: &mut Vec<String>,
    ) {
        let properties = rules.get("properties").and_then(Value::as_object);
        match word {
            "properties" => {
                for (key, schema) in rule.as_object().expect("a map") {
                    if let Some(value) = map.get(key) {
                        self.check(schema, value, &format!("{at}/{key}"), problems);
                    }
                }
            }
            "required" => {
                for key in rule.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    if !map.contains_key(key) {
                        problems.push(format!("{at}: {key} is missing"));
                    }
                }
            }
            "additionalProperties" => {
                for (key, value) in map {
                    if !properties.is_some_and(|properties| properties.contains_key(key)) {
                        self.check(rule, value, &format!("{at}/{key}"), problems);
                    }
                }
            }
            "minProperties" if map.len() < rule.as_u64().expect("a number") as usize => {
                problems.push(format!("{at}: too few keys"));
            }
            "maxProperties" if map.len() > rule.as_u64().expect("a number") as usize => {
                problems.push(format!("{at}: too many keys"));
            }
            _ => {}
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        name => panic!("there is no type {name}"),
    }
}
