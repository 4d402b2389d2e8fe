//! Conditions: what holds, what does not, and the names of events.

mod support;

use noetl_expr::{Condition, Undefined};
use noetl_types::Value;
use support::{condition, holds, scope};

const WORKLOAD: &str = r#"{"workload": {"one": 1, "zero": 0, "yes_text": "sure", "no_text": "no", "off_text": "Off",
    "blank": "", "nothing": null, "empty_list": [], "empty_map": {}, "full": [0], "big": 2.5}}"#;

#[test]
fn native_truth_plus_the_words_for_false() {
    let rows: &[(&str, bool)] = &[
        ("workload.one < 2", true),
        ("{{ workload.one < 2 }}", true),
        ("{{ workload.yes_text }}", true),
        ("workload.yes_text", true),
        ("{{ workload.full }}", true),
        ("{{ workload.big }}", true),
        ("workload.one", true),
        ("true", true),
        ("True", true),
        ("1", true),
        ("{{ workload.zero }}", false),
        ("{{ workload.no_text }}", false),
        ("{{ workload.off_text }}", false),
        ("{{ 'False' }}", false),
        ("{{ workload.blank }}", false),
        ("{{ workload.nothing }}", false),
        ("{{ workload.empty_list }}", false),
        ("{{ workload.empty_map }}", false),
        ("{{ 'none' }}", false),
        ("{{ 'NULL' }}", false),
        ("{{ '{}' }}", false),
        ("{{ '[]' }}", false),
        ("false", false),
        ("False", false),
        ("no", false),
        ("off", false),
        ("null", false),
        ("0", false),
        ("", false),
        ("not workload.one", false),
        ("workload.one > 0\n", true),
        ("workload.one > 0\n  and workload.zero == 0\n", true),
    ];
    let scope = scope(WORKLOAD);
    for (source, expected) in rows {
        assert_eq!(holds(source, &scope), *expected, "{source}");
    }
}

#[test]
fn mixed_text_is_judged_as_text() {
    let scope = scope(WORKLOAD);
    assert!(holds("{{ workload.one }}{{ workload.zero }}", &scope));
    assert!(holds("{% if workload.one %}yes{% endif %}", &scope));
    assert!(!holds("{% if workload.zero %}yes{% endif %}", &scope));
    assert!(!holds("{% if workload.one %}false{% endif %}", &scope));
    assert!(!holds(" {{ workload.nothing }} ", &scope));
    assert!(!holds("{{ workload.zero }}\n", &scope));
}

#[test]
fn yaml_booleans_and_numbers_stand_for_themselves() {
    for (source, expected) in [
        (Value::Bool(true), true),
        (Value::Bool(false), false),
        (Value::Int(1), true),
        (Value::Int(0), false),
        (Value::Null, false),
    ] {
        let condition = Condition::compile(&source).expect("a constant");
        assert_eq!(condition.as_constant(), Some(expected), "{source}");
        assert_eq!(condition.source(), &source);
        assert!(condition.paths().is_empty());
    }
    assert_eq!(condition("workload.one").as_constant(), None);
}

#[test]
fn undefined_names_make_a_condition_false() {
    let scope = scope(WORKLOAD);
    for source in [
        "nowhere.to.be.found",
        "{{ nowhere.to.be.found }}",
        "nope > 3",
        "nope < 3",
        "nope == 3",
        "nope + 1 > 0",
        "-nope",
        "nope * 2 == 0 or true",
        "nope | length > 0",
        "nope | int > 0",
        "nope.items()",
        "nope.get('x') == 1",
        "'x' in nope",
        "nope[0].x",
        "workload.full[5] == 0",
    ] {
        assert!(!holds(source, &scope), "{source}");
    }
    assert!(holds("nope is not defined", &scope));
    assert!(holds("not nope", &scope));
    assert!(holds("nope != 3", &scope));
    assert!(holds("not (nope > 3)", &scope));
}

#[test]
fn strict_conditions_name_what_is_undefined() {
    let scope = scope(WORKLOAD);
    for source in [
        "workload.absent > 3",
        "workload.absent",
        "workload.absent == 1",
        "workload.absent | int",
        "not workload.absent",
    ] {
        let error = condition(source).holds_with(&scope, Undefined::Strict).expect_err(source);
        assert_eq!(error.message, format!("cannot evaluate `{source}`: `workload.absent` is undefined"));
    }
    assert_eq!(condition("workload.absent is defined").holds_with(&scope, Undefined::Strict), Ok(false));
    assert_eq!(condition("workload.absent | default(1)").holds_with(&scope, Undefined::Strict), Ok(true));
    assert_eq!(condition("workload.one == 1").holds_with(&scope, Undefined::Strict), Ok(true));
}

#[test]
fn other_faults_are_errors() {
    let error = condition("1 // workload.zero").holds(&scope(WORKLOAD)).expect_err("it divides by zero");
    assert_eq!(error.message, "cannot evaluate `1 // workload.zero`: division by zero");
}

const EVENT: &str = r#"{"event": {"name": "step.done", "_names": ["step.done", "call.done", "step.exit"], "step": "start"},
    "wanted": "call.done", "list": ["x", "call.done"]}"#;

#[test]
fn event_names_equal_all_their_synonyms() {
    let scope = scope(EVENT);
    for source in [
        "event.name == 'step.done'",
        "event.name == 'call.done'",
        "event.name == \"step.exit\"",
        "{{ event.name == 'call.done' }}",
        "'call.done' == event.name",
        "event['name'] == 'call.done'",
        "event . name == 'call.done'",
        "event.name == wanted",
        "event.name == ('call.' ~ 'done')",
        "event.name in ['loop.done', 'call.done']",
        "event.name in list",
        "event.name in ('call.done',)",
        "event.name not in ['loop.done']",
        "event.name != 'loop.done'",
        "'loop.done' != event.name",
        "event.name is eq('call.done')",
        "event.name is in(list)",
        "event.name == 'call.done' and event.step == 'start'",
        "(event.name) == 'call.done'",
        "not (event.name == 'step.failed')",
        "{% if event.name == 'call.done' %}yes{% endif %}",
        "true if event.name == 'call.done' else false",
        "'{{ event.name }}' != 'x'",
    ] {
        assert!(holds(source, &scope), "{source}");
    }
    for source in [
        "event.name == 'step.failed'",
        "event.name != 'call.done'",
        "'step.exit' != event.name",
        "event.name not in ['call.done']",
        "event.name in []",
        "event.name in ['step.failed', 'loop.done']",
        "event.name == 'EVENT.NAME'",
        "'event.name' == 'call.done'",
        "event.name == nope",
    ] {
        assert!(!holds(source, &scope), "{source}");
    }
}

#[test]
fn elsewhere_an_event_has_its_canonical_name() {
    support::renders(
        EVENT,
        &[
            ("{{ event.name }}", r#""step.done""#),
            ("{{ event.name | upper }}", r#""STEP.DONE""#),
            ("<{{ event.name }}>", r#""<step.done>""#),
            ("{{ 'event.name == \"call.done\"' }}", r#""event.name == \"call.done\"""#),
            ("{{ event.name == 'call.done' }}", "true"),
            ("{% for event in [{'name': 'x'}] %}{{ event.name == 'x' }}{% endfor %}", r#""true""#),
        ],
    );
}

#[test]
fn events_without_synonyms_compare_by_name() {
    let scope = scope(r#"{"event": {"name": "loop.done"}}"#);
    assert!(holds("event.name == 'loop.done'", &scope));
    assert!(!holds("event.name == 'step.done'", &scope));
    assert!(!holds("event.name == 'step.done'", &support::scope("{}")));
    assert!(holds("event.name != 'step.done'", &support::scope("{}")));
}

#[test]
fn conditions_name_what_they_read() {
    assert_eq!(
        condition("output.error.kind == 'timeout' and ctx.n > 1").paths(),
        ["ctx.n", "output.error.kind"]
    );
    assert_eq!(condition("{{ outcome.result.x }}").paths(), ["outcome.result.x"]);
    assert_eq!(condition("event.name == 'x'").paths(), ["event.name"]);
}
