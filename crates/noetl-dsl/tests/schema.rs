//! The JSON Schema agrees with the checker: what registers is valid, what is refused for its shape is not.

#[path = "support/suite.rs"]
mod suite;
#[path = "support/validator.rs"]
mod validator;

use std::collections::BTreeSet;

use noetl_dsl::yaml::{Limits, parse};
use noetl_dsl::{KindSpec, KindTable, schema, schema_with, subscription_schema};
use serde_json::{Value, json};
use validator::problems;

fn json_of(source: &str) -> Value {
    parse(source, &Limits::default()).expect("the playbook is YAML").root.to_value().to_json()
}

fn with_steps(steps: Value) -> Value {
    json!({ "apiVersion": "noetl.io/v2", "kind": "Playbook", "metadata": { "name": "a" }, "workflow": steps })
}

#[test]
fn playbooks_that_register_are_valid() {
    let schema = schema();
    let mut seen = 0;
    for case in suite::cases().iter().filter(|case| !case.expects_refusal()) {
        for (file, source) in &case.playbooks {
            seen += 1;
            let problems = problems(&schema, &json_of(source));
            assert!(problems.is_empty(), "{}/{file}: {problems:?}", case.name);
        }
    }
    assert!(seen > 130, "only {seen} playbooks were found");
}

#[test]
fn playbooks_with_a_wrong_shape_are_not_valid() {
    let schema = schema();
    let wrong = [
        "lint/misspelt_key",
        "lint/tool_without_kind",
        "lint/unknown_tool_kind",
        "lint/wrong_api_version",
        "lint/wrong_shape",
    ];
    for case in suite::cases().iter().filter(|case| wrong.contains(&&*case.name)) {
        assert!(
            !problems(&schema, &json_of(&case.playbooks["playbook.yaml"])).is_empty(),
            "{} is valid",
            case.name
        );
    }
}

#[test]
fn single_mistakes_are_found_where_they_are() {
    let schema = schema();
    for (steps, place) in [
        (json!([{ "step": 5 }]), "/workflow/0/step"),
        (json!([{ "step": "a", "next": { "arcs": [{ "step": "b", "cond": true }] } }]), "/workflow/0/next"),
        (json!([{ "step": "a", "loop": { "in": [1] } }]), "/workflow/0/loop"),
        (
            json!([{ "step": "a", "loop": { "in": [1], "iterator": "x", "spec": { "mode": "all" } } }]),
            "/workflow/0/loop",
        ),
        (
            json!([{ "step": "a", "tool": { "kind": "http", "url": "x", "headers": [1] } }]),
            "/workflow/0/tool",
        ),
        (json!([{ "step": "a", "case": [] }]), "/workflow/0/case"),
        (json!([{ "step": "a", "timeout": -1 }]), "/workflow/0/timeout"),
    ] {
        let found = problems(&schema, &with_steps(steps.clone()));
        assert!(found.iter().any(|problem| problem.starts_with(place)), "{steps} gives {found:?}");
    }
}

#[test]
fn kinds_that_are_added_are_part_of_the_schema() {
    let kinds = KindTable::builtin().with(KindSpec::new("teleport", "Moves things.", "where they are"));
    let playbook = with_steps(json!([{ "step": "a", "tool": { "kind": "teleport" } }]));
    assert!(problems(&schema_with(&kinds), &playbook).is_empty());
    assert!(!problems(&schema(), &playbook).is_empty());
}

#[test]
fn subscriptions_have_a_schema_of_their_own() {
    let mut subscription = json!({
        "apiVersion": "noetl.io/v1",
        "kind": "Subscription",
        "metadata": { "name": "s" },
        "spec": { "source": "nats", "dispatch": { "playbook": "p" } },
    });
    assert_eq!(problems(&subscription_schema(), &subscription), Vec::<String>::new());
    subscription["spec"]["source"] = json!("pigeon");
    assert!(!problems(&subscription_schema(), &subscription).is_empty());
}

#[test]
fn every_reference_leads_somewhere_and_every_definition_is_used() {
    for schema in [schema(), subscription_schema()] {
        let mut references = BTreeSet::new();
        collect_references(&schema, &mut references);
        let defined: BTreeSet<String> = schema["$defs"].as_object().expect("a map").keys().cloned().collect();
        assert_eq!(references, defined);
    }
}

#[test]
fn every_key_is_explained() {
    let schema = schema();
    let mut unexplained = Vec::new();
    for (name, definition) in schema["$defs"].as_object().expect("a map") {
        for (key, property) in definition["properties"].as_object().into_iter().flatten() {
            if property.is_object() && property["description"].as_str().is_none_or(str::is_empty) {
                unexplained.push(format!("{name}.{key}"));
            }
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:?}");
}

fn collect_references(node: &Value, references: &mut BTreeSet<String>) {
    match node {
        Value::Object(map) => {
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                references.insert(reference.strip_prefix("#/$defs/").expect("a local reference").to_owned());
            }
            map.values().for_each(|value| collect_references(value, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        _ => {}
    }
}
