//! Compiling: what is refused and where, what a template says about itself, and code in other languages.

mod support;

use noetl_expr::{Condition, Template, known_filters, template_syntax};
use noetl_types::Value;
use support::{json, scope, template};

/// The place of the first error is marked with `‸` in the source.
fn refused(marked: &str, message: &str) {
    let offset = marked.find('‸').expect("a mark");
    let source = marked.replace('‸', "");
    let errors = Template::compile(&Value::text(source.as_str())).expect_err(&source);
    assert_eq!((errors[0].message.as_str(), errors[0].offset), (message, offset), "{source}");
    assert!(errors[0].at.is_empty());
}

#[test]
fn syntax_errors_point_at_the_place() {
    refused("{{ 1 + ‸}}", "unexpected end of variable block");
    refused("{{ 1 +‸", "unexpected end of input, expected expression");
    refused("text {{ a ‸b }}", "unexpected identifier, expected end of variable block");
    refused(
        "ok {{ fine }} then {{ a. ‸}}",
        "unexpected end of variable block, expected identifier or integer",
    );
    refused("{{ a | ‸}}", "unexpected end of variable block, expected identifier");
    refused("{{ x‸", "unexpected end of input, expected end of variable block");
    refused("{{ 'open }}‸", "unexpected end of string");
    refused("{{ ‸? }}", "unexpected character");
    refused("ключ {{ ‸? }}", "unexpected character");
    refused("{% ‸nonsense %}", "unknown statement nonsense");
    refused("{% if x %}a‸", "unexpected end of input, expected end of block");
    refused("{% for x in ‸%}{% endfor %}", "unexpected end of block");
    refused("{# open‸", "unexpected end of comment");
    refused("{% for x in y %}{% endfor %}{% ‸endif %}", "unknown statement endif");
    refused("{{ foo(a=1, ‸b) }}", "non-keyword arg after keyword arg");
}

#[test]
fn unknown_names_are_refused_where_they_stand() {
    refused("{{ x | ‸nope }}", "there is no filter `nope`");
    refused("a {{ x | lower }} {{ x | upper | ‸nope(1) }}", "there is no filter `nope`");
    refused("{{ x is ‸nope }}", "there is no test `nope`");
    refused("{{ x is not ‸nope }}", "there is no test `nope`");
    refused("{{ ‸nope(1) }}", "there is no function `nope`");
    refused("{{ x.‸nope(1) }}", "there is no method `nope`");
    refused("{{ a.b.c.‸nope() }}", "there is no method `nope`");
    refused("{{ x | map(‸'nope') }}", "there is no filter `nope`");
    refused("{{ x | select(‸'nope') }}", "there is no test `nope`");
    refused("{{ x | selectattr('a', ‸'nope') }}", "there is no test `nope`");
    refused("{% filter ‸nope %}{% endfilter %}", "there is no filter `nope`");
    refused("{% if x | ‸nope %}{% endif %}", "there is no filter `nope`");
    refused("{% set x = ‸nope() %}", "there is no function `nope`");
    refused("{{ ‸loop(x) }}", "there is no function `loop`");
    refused("{{ ‸debug() }}", "there is no function `debug`");
    refused("{{ ‸[1](2) }}", "only functions and methods can be called");
}

#[test]
fn what_the_engine_has_but_the_language_has_not_is_refused() {
    for source in [
        "{% include 'x' %}",
        "{% extends 'x' %}",
        "{% import 'x' as y %}",
        "{% block x %}{% endblock %}",
        "{% macro x() %}{% endmacro %}",
        "{% autoescape true %}{{ x }}{% endautoescape %}",
        "{% for x in y %}{% with a = 1 %}{% break %}{% endwith %}{% endfor %}",
        "{% for x in y %}{% set a %}{% continue %}{% endset %}{% endfor %}",
        "{% break %}",
        "{{ x | chain(y) }}",
        "{{ dict(*x) }}",
        "{{ dict(**x) }}",
    ] {
        assert!(Template::compile(&Value::text(source)).is_err(), "{source}");
    }
}

#[test]
fn all_errors_of_a_value_come_together_with_their_places() {
    let value = json(
        r#"{"a": "{{ x | nope }}", "b": [1, {"c": "{{ 1 + }}"}], "{{ y | no }}": 1, "d": "{{ a | n1 | n2 }}"}"#,
    );
    let errors = Template::compile(&value).expect_err("several errors");
    let places: Vec<String> =
        errors.iter().map(|error| format!("{}@{}", error.at.join("/"), error.offset)).collect();
    assert_eq!(places, ["a@7", "b/1/c@7", "{{ y | no }}@7", "d@7", "d@12"]);
}

#[test]
fn conditions_are_refused_in_the_same_way() {
    for (source, offset, message) in [
        ("workload.n >", 12, "unexpected end of input, expected expression"),
        ("workload.n | nope", 13, "there is no filter `nope`"),
        ("{{ a }", 5, "unexpected `}`, expected end of variable block"),
        ("a b", 2, "unexpected input after expression"),
        ("a = 1", 2, "unexpected input after expression"),
        ("a }} b", 2, "unexpected input after expression"),
    ] {
        let error = Condition::compile(&Value::text(source)).expect_err(source);
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{source}");
    }
}

#[test]
fn templates_name_what_they_read() {
    let paths = |source: &str| template(source).paths().join(" ");
    for (source, expected) in [
        ("plain", ""),
        ("{{ 1 + 1 }}", ""),
        ("{{ a }}", "a"),
        ("{{ b.c }}{{ a }}{{ b.c }}", "a b.c"),
        ("{{ workload['x'].y }}", "workload.x.y"),
        ("{{ rows[0].id }}", "rows"),
        ("{{ rows[i].id }}", "i rows"),
        ("{{ a.b[c.d].e }}", "a.b c.d"),
        ("{{ a.items() }}", "a"),
        ("{{ a.b.get('x').y }}", "a.b"),
        ("{{ a | default(b) }}", "a b"),
        ("{{ x if y else z }}", "x y z"),
        ("{{ a < b < c }}", "a b c"),
        ("{{ {k: v, 'l': [w]} }}", "k v w"),
        ("{{ x[a:b:c] }}", "a b c x"),
        ("{{ x is sameas y }}", "x y"),
        ("{{ now() }} {{ range(n) }}", "n"),
        ("{{ outcome.result.x }}", "outcome.result.x"),
        ("{% for row in workload.rows %}{{ row.x }}{{ loop.index }}{{ y }}{% endfor %}", "workload.rows y"),
        ("{% for row in rows %}{{ row }}{% endfor %}{{ row }}", "row rows"),
        ("{% for k, v in m.items() if v.ok %}{{ k }}{% else %}{{ e }}{% endfor %}", "e m"),
        ("{% set x = y.z %}{{ x.w }}", "y.z"),
        ("{{ x }}{% set x = 1 %}{{ x }}", "x"),
        ("{% with a = b, c = a %}{{ a }}{{ c }}{% endwith %}{{ c }}", "b c"),
        ("{% set ns = namespace(a=b) %}{% set ns.a = c %}{{ ns.a }}", "b c"),
        ("{% set x %}{{ y }}{% endset %}{{ x }}", "y"),
        ("{% filter replace('a', b) %}{{ c }}{% endfilter %}", "b c"),
        ("{% raw %}{{ x }}{% endraw %}", ""),
        ("{# {{ x }} #}", ""),
    ] {
        assert_eq!(paths(source), expected, "{source}");
    }
    let value = json(r#"{"a": ["{{ x.y }}", {"b": "{{ x.y }} {{ w }}"}], "{{ k }}": 1}"#);
    assert_eq!(Template::compile(&value).expect("a template").paths(), ["k", "w", "x.y"]);
}

#[test]
fn values_are_rendered_item_by_item_and_keys_too() {
    let value = json(
        r#"{"n": "{{ n }}", "list": [1, "{{ n }}", {"deep": ["{{ b }}"]}], "keep": 3, "{{ key }}": "x", "k{{ n }}": 1}"#,
    );
    let template = Template::compile(&value).expect("a template");
    let rendered = template.render(&scope(r#"{"n": 42, "b": true, "key": "named"}"#)).expect("a value");
    let expected = r#"{"n": 42, "list": [1, 42, {"deep": [true]}], "keep": 3, "named": "x", "k42": 1}"#;
    assert_eq!(rendered.to_string(), json(expected).to_string());
    assert_eq!(template.source(), &value);
    assert_eq!(template.as_literal(), None);
}

#[test]
fn entries_of_map_templates_are_templates() {
    let template = Template::compile(&json(r#"{"a": {"b": "{{ n }}"}, "c": 1}"#)).expect("a template");
    let inner = template.get("a").and_then(|a| a.get("b")).expect("an entry");
    assert_eq!(inner.render(&scope(r#"{"n": 5}"#)), Ok(Value::Int(5)));
    assert_eq!(inner.paths(), ["n"]);
    assert_eq!(template.get("c").and_then(Template::as_literal), Some(&Value::Int(1)));
    assert!(template.get("x").is_none());
    assert_eq!(template.entries().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "c"]);
    let literal = Template::literal(json(r#"{"a": "{{ n }}"}"#));
    assert_eq!(literal.get("a").and_then(Template::as_literal), Some(&Value::text("{{ n }}")));
}

#[test]
fn what_needs_no_rendering_is_a_literal() {
    for (source, literal) in [
        (r#""007""#, r#""007""#),
        ("42", "42"),
        ("null", "null"),
        (r#"{"a": [1, {"b": "x"}]}"#, r#"{"a": [1, {"b": "x"}]}"#),
        (r#""{% raw %}{{ x }}{% endraw %}""#, r#""{{ x }}""#),
        (r#"["{# gone #}a"]"#, r#"["a"]"#),
        (r#"{"{% raw %}{{k}}{% endraw %}": 1}"#, r#"{"{{k}}": 1}"#),
    ] {
        let template = Template::compile(&json(source)).expect(source);
        assert_eq!(template.as_literal(), Some(&json(literal)), "{source}");
        assert_eq!(template.render(&scope("{}")), Ok(json(literal)), "{source}");
        assert_eq!(template.source(), &json(source));
    }
    assert_eq!(template("{{ 1 }}").as_literal(), None);
}

#[test]
fn template_syntax_is_recognised() {
    for text in ["{{ x }}", "a{%b", "{#"] {
        assert!(template_syntax(text), "{text}");
    }
    for text in ["", "{", "}}", "{ {", "{x}", "%}", "100%"] {
        assert!(!template_syntax(text), "{text}");
    }
}

#[test]
fn code_is_a_template_only_if_it_names_known_data() {
    let known = |name: &str| ["workload", "ctx"].contains(&name);
    let scope = scope(r#"{"workload": {"n": 3, "s": "it's"}, "ctx": {"rows": [1, 2]}}"#);
    let code = |source: &str| {
        let template = Template::text_if_known(source, &known);
        assert_eq!(template.source(), &Value::text(source));
        let rendered = template.render(&scope).expect(source);
        rendered.as_str().map(str::to_owned).unwrap_or_else(|| rendered.to_string())
    };
    for untouched in [
        "value = 5\nresult = {\"text\": f\"{{literal}} {value}\", \"open\": \"{{\", \"fmt\": \"{{}}\".format()}\n",
        "x = {{'a': 1}}",
        "f'{{x}}'",
        "f'{{ {n} }}'",
        "print('{% if')",
        "x = {{}}",
        "t = '{{ other.name }} {{ workload.n }}'",
        "'{{ workload.n | no_such_filter }}'",
        "'{{ unknown() }}'",
        "{# a comment #} x = 1",
        "{% raw %}{{ workload.n }}{% endraw %}",
        "plain = 1",
    ] {
        assert_eq!(code(untouched), untouched);
    }
    assert_eq!(code("result = {\"n\": {{ workload.n }} + 1}\n"), "result = {\"n\": 3 + 1}\n");
    assert_eq!(code("rows = {{ ctx.rows | tojson }}"), "rows = [1,2]");
    assert_eq!(code("{% for r in ctx.rows %}f({{ r }})\n{% endfor %}"), "f(1)\nf(2)\n");
    assert_eq!(code("{{ 1 + 1 }}"), "2");
}

#[test]
fn names_for_suggestions_are_sorted_and_unique() {
    for names in [
        known_filters(),
        noetl_expr::known_tests(),
        noetl_expr::known_functions(),
        noetl_expr::known_methods(),
    ] {
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    }
}

#[test]
fn templates_are_cheap_to_share_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<Template>();
    shared::<Condition>();
}
