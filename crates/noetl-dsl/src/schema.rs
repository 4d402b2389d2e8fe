//! The JSON Schema of playbooks, made from the tables that the checker reads.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::keys::{Construct, PLAYBOOK, SUBSCRIPTION, Shape, Status, TASK, Unknown};
use crate::kinds::{KindSpec, KindTable};
use crate::types::Types;

/// The schema of playbooks (draft 2020-12). Editors complete, explain and check with it.
pub fn schema() -> Json {
    schema_with(&KindTable::builtin())
}

/// As [`schema`], with other tool kinds.
pub fn schema_with(kinds: &KindTable) -> Json {
    document(&PLAYBOOK, "A NoETL playbook", kinds, &["noetl.io/v2", "noetl.io/v10"], "Playbook")
}

/// The schema of subscriptions.
pub fn subscription_schema() -> Json {
    document(&SUBSCRIPTION, "A NoETL subscription", &KindTable::empty(), &["noetl.io/v1"], "Subscription")
}

fn document(root: &'static Construct, title: &str, kinds: &KindTable, versions: &[&str], kind: &str) -> Json {
    let mut schema = described_by(root, title, kinds);
    schema["properties"]["apiVersion"]["enum"] = json!(versions);
    schema["properties"]["kind"]["const"] = json!(kind);
    schema
}

/// The schema of documents that another crate's table describes.
pub fn schema_of(root: &'static Construct, title: &str) -> Json {
    described_by(root, title, &KindTable::empty())
}

fn described_by(root: &'static Construct, title: &str, kinds: &KindTable) -> Json {
    let mut builder = Builder { kinds, definitions: BTreeMap::new() };
    let mut schema = builder.construct(root);
    let definitions = builder.definitions;
    let schema = schema.as_object_mut().expect("a construct is described by an object");
    let mut document = Map::new();
    document.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    document.insert("title".into(), json!(title));
    document.append(schema);
    document.insert("$defs".into(), json!(definitions));
    Json::Object(document)
}

struct Builder<'k> {
    kinds: &'k KindTable,
    definitions: BTreeMap<String, Json>,
}

impl Builder<'_> {
    fn reference(&mut self, construct: &'static Construct) -> Json {
        if !self.definitions.contains_key(construct.name) {
            // Constructs refer to each other, so the place is taken before what is inside is described.
            self.definitions.insert(construct.name.to_owned(), Json::Null);
            let description = self.construct(construct);
            self.definitions.insert(construct.name.to_owned(), description);
        }
        json!({ "$ref": format!("#/$defs/{}", construct.name) })
    }

    fn construct(&mut self, construct: &'static Construct) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for key in construct.keys {
            if matches!(key.status, Status::Removed(_)) {
                properties.insert(key.name.to_owned(), json!(false));
                continue;
            }
            let mut property = self.shape(&key.shape);
            if let Some(property) = property.as_object_mut() {
                property.insert("description".into(), json!(description(key.doc, &key.status)));
                if !matches!(key.status, Status::Current) {
                    property.insert("deprecated".into(), json!(true));
                }
            }
            properties.insert(key.name.to_owned(), property);
            if key.required {
                required.push(key.name);
            }
        }
        let mut schema = Map::new();
        schema.insert("description".into(), json!(construct.doc));
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), Json::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        if matches!(construct.unknown, Unknown::Refuse(_)) {
            schema.insert("additionalProperties".into(), json!(false));
        }
        Json::Object(schema)
    }

    fn shape(&mut self, shape: &'static Shape) -> Json {
        match shape {
            Shape::Is(types) => described(types.schema()),
            Shape::AtLeast(types, least) => {
                let mut schema = described(types.schema());
                // The bound is for numbers; text is judged by its pattern.
                let target = match schema.get_mut("anyOf").and_then(|any| any.get_mut(0)) {
                    Some(number) => number,
                    None => &mut schema,
                };
                target["minimum"] = json!(least);
                schema
            }
            Shape::Words(words) => {
                let words: Vec<Json> = words.iter().map(|word| json!(word)).chain([Json::Null]).collect();
                json!({ "enum": words })
            }
            Shape::Hints(words) => json!({ "type": ["string", "null"], "examples": words }),
            Shape::Of(construct) => nullable(self.reference(construct)),
            Shape::ListOf(construct) => {
                let item = self.reference(construct);
                // A bare name is the older way to write an arc.
                let item = if construct.name == "arc" {
                    json!({ "anyOf": [item, { "type": "string" }] })
                } else {
                    item
                };
                json!({ "type": ["array", "null"], "items": item })
            }
            Shape::NamedOf(construct) => {
                let item = self.reference(construct);
                let named = json!({ "type": "object", "additionalProperties": { "type": "object" } });
                json!({ "anyOf": [{ "type": "array", "items": item }, named, { "type": "null" }] })
            }
            Shape::EachOf(construct) => {
                let item = self.reference(construct);
                let one_or_many = json!({ "anyOf": [item, { "type": "array", "items": item }] });
                json!({ "type": ["object", "null"], "additionalProperties": one_or_many })
            }
            Shape::Either(shapes) => {
                let shapes: Vec<Json> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({ "anyOf": shapes })
            }
            Shape::Condition => json!({ "type": ["string", "boolean", "null"] }),
            Shape::Assignments => json!({ "type": ["object", "null"] }),
            Shape::Tool => {
                let tool = self.tool();
                let tasks = self.tasks();
                json!({ "anyOf": [tool, tasks, { "type": "null" }] })
            }
            Shape::Tasks => self.tasks(),
        }
    }

    fn tasks(&mut self) -> Json {
        let tool = self.tool();
        let keyed = json!({
            "description": "A task under its label.",
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": tool.clone(),
        });
        // A task with a kind is judged as such, so that a mistake in it is not hidden behind the other form.
        json!({
            "type": "array",
            "items": { "if": { "required": ["kind"] }, "then": tool, "else": keyed },
        })
    }

    fn tool(&mut self) -> Json {
        if !self.definitions.contains_key("tool") {
            self.definitions.insert("tool".to_owned(), Json::Null);
            let mut tool = self.construct(&TASK);
            let kinds: Vec<&str> = self
                .kinds
                .iter()
                .flat_map(|kind| kind.aliases.iter().chain([&kind.name]))
                .map(|name| &**name)
                .collect();
            tool["properties"]["kind"]["enum"] = json!(kinds);
            let kinds: Vec<KindSpec> = self.kinds.iter().cloned().collect();
            let branches: Vec<Json> = kinds.iter().map(|kind| self.kind_branch(kind)).collect();
            tool["allOf"] = json!(branches);
            self.definitions.insert("tool".to_owned(), tool);
        }
        json!({ "$ref": "#/$defs/tool" })
    }

    /// The settings of a kind, for tools that say they are of it.
    fn kind_branch(&mut self, kind: &KindSpec) -> Json {
        let names: Vec<&str> = kind.aliases.iter().chain([&kind.name]).map(|name| &**name).collect();
        let definition = format!("kind_{}", kind.name);
        let mut properties = Map::new();
        for field in &kind.fields {
            let mut schema = match (&*kind.name, &*field.name) {
                ("task_sequence", "tasks") => self.tasks(),
                _ => described(field.types.or(Types::TEMPLATE).schema()),
            };
            schema["description"] = json!(field.doc);
            if !field.words.is_empty() {
                schema["examples"] = json!(field.words);
            }
            for name in field.aliases.iter().chain([&field.name]) {
                properties.insert(name.to_string(), schema.clone());
            }
            schema["deprecated"] = json!(true);
            for name in &field.older {
                properties.insert(name.to_string(), schema.clone());
            }
        }
        let description = format!("{} Result: {}.", kind.summary, kind.result);
        self.definitions.insert(
            definition.clone(),
            json!({ "description": description, "type": "object", "properties": properties }),
        );
        json!({
            "if": { "properties": { "kind": { "enum": names } }, "required": ["kind"] },
            "then": { "$ref": format!("#/$defs/{definition}") },
        })
    }
}

fn description(doc: &str, status: &Status) -> String {
    match status {
        Status::OldFor(current) => format!("Older spelling of `{current}`."),
        Status::Ignored(instead) => format!("Has no effect: {instead}."),
        Status::Current | Status::Removed(_) => doc.to_owned(),
    }
}

/// A schema that a description can be added to.
fn described(schema: Json) -> Json {
    if schema.is_object() { schema } else { json!({}) }
}

fn nullable(reference: Json) -> Json {
    json!({ "anyOf": [reference, { "type": "null" }] })
}
