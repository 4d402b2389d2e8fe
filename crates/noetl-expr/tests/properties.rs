//! What holds for every template and every value.

mod support;

use noetl_expr::{Condition, Scope, Template, Undefined};
use noetl_types::{Map, Value};
use proptest::collection::vec;
use proptest::prelude::*;

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("numbers only", |number| number.is_finite()).prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        "[{}%# a-z]{0,12}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((".{0,8}", inner), 0..6).prop_map(|entries| Value::from(
                entries.into_iter().map(|(k, v)| (k.into(), v)).collect::<Map>()
            )),
        ]
    })
}

/// Pieces of the language in any order: most do not parse, many that do make no sense.
fn sources() -> impl Strategy<Value = String> {
    let words = proptest::sample::select(vec![
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "-",
        "+",
        "*",
        "**",
        "/",
        "//",
        "%",
        "~",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        ".",
        "|",
        "=",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "'",
        "\"",
        "\\",
        "and",
        "or",
        "not",
        "in",
        "is",
        "if",
        "else",
        "elif",
        "endif",
        "for",
        "endfor",
        "set",
        "endset",
        "with",
        "endwith",
        "filter",
        "endfilter",
        "raw",
        "endraw",
        "do",
        "recursive",
        "loop",
        "a",
        "b.c",
        "event.name",
        "nope",
        "true",
        "none",
        "0",
        "1",
        "-1",
        "2.5",
        "9223372036854775807",
        "1e400",
        "'x'",
        "''",
        "range",
        "dict",
        "namespace",
        "now",
        "upper",
        "int",
        "join",
        "sort",
        "map",
        "select",
        "tojson",
        "fromjson",
        "default",
        "batch",
        "slice",
        "round",
        "format",
        "replace",
        "split",
        "first",
        "length",
        "defined",
        "odd",
        "divisibleby",
        "sameas",
        "get",
        "items",
        "strip",
        "é",
        " ",
        "\n",
        "break",
        "continue",
        "autoescape",
        "x",
        "ns",
    ]);
    vec(words, 0..24).prop_map(|words| words.join(" "))
}

/// Expressions that mostly parse.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "a",
        "b",
        "b.c",
        "b['c']",
        "list",
        "list[0]",
        "list[-1]",
        "map",
        "text",
        "nope",
        "nope.x",
        "1",
        "0",
        "-1",
        "2.5",
        "'x'",
        "''",
        "true",
        "none",
        "[]",
        "{}",
        "[1, 'a', none]",
        "{'k': 1}",
        "(1, 2)",
        "event.name",
        "now()",
        "range(3)",
        "9223372036854775807",
        "1e308",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operators = proptest::sample::select(vec![
            "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in",
            "not in",
        ]);
        let filters = proptest::sample::select(vec![
            "int",
            "float",
            "string",
            "length",
            "first",
            "last",
            "sort",
            "unique",
            "reverse",
            "list",
            "sum",
            "min",
            "max",
            "tojson",
            "fromjson",
            "b64encode",
            "b64decode",
            "keys",
            "values",
            "items",
            "upper",
            "title",
            "trim",
            "split",
            "join",
            "abs",
            "round",
            "round(-400)",
            "round(400)",
            "round(2, 'ceil')",
            "batch(2)",
            "slice(3)",
            "default(1)",
            "default(1, true)",
            "get('k')",
            "map('upper')",
            "map(attribute='k')",
            "select('odd')",
            "selectattr('k', '==', 1)",
            "groupby('k')",
            "dictsort",
            "indent",
            "truncate(3)",
            "wordcount",
            "urlencode",
            "format(1)",
            "replace('x', 'y')",
            "attr('k')",
            "lines",
            "capitalize",
            "bool",
            "e",
        ]);
        let tests = proptest::sample::select(vec![
            "defined",
            "none",
            "odd",
            "even",
            "divisibleby(2)",
            "divisibleby(0)",
            "string",
            "mapping",
            "iterable",
            "lower",
            "in [1]",
            "sameas 1",
            "startingwith('x')",
            "gt 1",
        ]);
        let methods = proptest::sample::select(vec![
            "get('k')",
            "items()",
            "keys()",
            "strip()",
            "split(',')",
            "upper()",
            "replace('x', '')",
            "join(['a'])",
            "find('x')",
            "count(1)",
            "index(1)",
            "startswith('x')",
        ]);
        prop_oneof![
            (inner.clone(), operators, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (inner.clone(), filters).prop_map(|(a, filter)| format!("({a} | {filter})")),
            (inner.clone(), tests).prop_map(|(a, test)| format!("({a} is {test})")),
            (inner.clone(), methods).prop_map(|(a, method)| format!("{a}.{method}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a}[{b}:{c}:{c}]")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} < {b} == {c})")),
            inner.clone().prop_map(|a| format!("(-{a})")),
            inner.clone().prop_map(|a| format!("(not {a})")),
            inner.prop_map(|a| format!("[{a}, {{'k': {a}}}]")),
        ]
    })
}

fn scope() -> Scope {
    support::scope(
        r#"{"a": 1, "b": {"c": [1, 2]}, "list": [3, 1, 2], "map": {"k": 1, "l": "x"}, "text": "Blue Whale",
            "event": {"name": "step.done", "_names": ["step.done", "call.done"]}}"#,
    )
}

fn survives(source: &str) {
    if let Ok(template) = Template::compile(&Value::text(source)) {
        for undefined in [Undefined::Lenient, Undefined::Strict] {
            drop(template.render_with(&scope(), undefined));
        }
    }
    if let Ok(condition) = Condition::compile(&Value::text(source)) {
        drop(condition.holds(&scope()));
    }
    drop(Template::text_if_known(source, &|_| true).render(&scope()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn data_survives_a_lone_expression_unchanged(value in values()) {
        let scope = Scope::of(Value::map([("x", value.clone())]));
        for source in ["{{ x }}", "{{ x if true else 0 }}", "{{ x | default(1) }}", "{{ [x][0] }}", "{{ {'k': x}.k }}"] {
            let rendered = support::render(source, &scope).expect("a value");
            prop_assert_eq!(rendered.to_string(), value.to_string(), "{}", source);
        }
        let through_json = support::render("{{ x | tojson | fromjson }}", &scope).expect("a value");
        prop_assert_eq!(through_json.to_string(), value.to_string());
        prop_assert_eq!(support::render("{{ x == x }}", &scope), Ok(Value::Bool(true)));
    }

    #[test]
    fn data_is_never_rendered(text in "[{}%# a-z'\"|]{0,20}") {
        let scope = Scope::of(Value::map([("x", Value::text(text.as_str()))]));
        prop_assert_eq!(support::render("<{{ x }}>", &scope), Ok(Value::text(format!("<{text}>"))));
        prop_assert_eq!(support::render("{% if true %}{{ x }}{% endif %}", &scope), Ok(Value::text(text)));
    }

    #[test]
    fn strings_without_syntax_stay_as_they_are(text in ".{0,40}") {
        prop_assume!(!noetl_expr::template_syntax(&text));
        let template = Template::compile(&Value::text(text.as_str())).expect("a literal");
        prop_assert_eq!(template.as_literal(), Some(&Value::text(text)));
    }

    #[test]
    fn arbitrary_text_never_panics(source in ".{0,60}") {
        survives(&source);
        survives(&format!("{{{{ {source} }}}}"));
    }

    #[test]
    fn arbitrary_words_of_the_language_never_panic(source in sources()) {
        survives(&source);
        survives(&format!("{{{{ {source} }}}}"));
        survives(&format!("{{% {source} %}}"));
    }

    #[test]
    fn arbitrary_expressions_never_panic(source in expressions()) {
        survives(&source);
        survives(&format!("{{{{ {source} }}}}"));
        survives(&format!("a {{{{ {source} }}}} b"));
        survives(&format!("{{% set x = {source} %}}{{% for y in {source} %}}{{{{ y }}}}{{{{ x }}}}{{% endfor %}}"));
    }

    #[test]
    fn errors_point_into_the_source(source in sources()) {
        if let Err(errors) = Template::compile(&Value::text(source.as_str())) {
            for error in errors {
                prop_assert!(source.is_char_boundary(error.offset), "{} in {}", error.offset, source);
                prop_assert!(!error.message.is_empty());
            }
        }
    }
}
