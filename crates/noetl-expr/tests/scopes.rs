//! What names can stand for: shared data, results that answer to `.data`, things that are looked up when asked.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use noetl_expr::{Lookup, Undefined, View};
use noetl_types::Value;
use support::{Views, condition, json, render, renders_in, template};

fn aliased() -> noetl_expr::Scope {
    let aliased = |text| View::Aliased(json(text));
    Views(vec![
        ("start", aliased(r#"{"x": 1}"#)),
        ("listed", aliased("[5, 6]")),
        ("own", aliased(r#"{"x": 1, "data": {"x": 2}}"#)),
        ("number", aliased("7")),
        ("text", aliased(r#""hello""#)),
        ("nothing", aliased("null")),
        ("plain", View::Value(json(r#"{"x": 1}"#))),
        ("five", View::Value(json("5"))),
    ])
    .scope()
}

#[test]
fn results_answer_to_data_result_and_context_unless_they_have_such_keys() {
    renders_in(
        &aliased(),
        &[
            ("{{ start.x }}", "1"),
            ("{{ start.data.x }}", "1"),
            ("{{ start.result.x }}", "1"),
            ("{{ start.context.x }}", "1"),
            ("{{ start.data.result.x }}", "1"),
            ("{{ start.data }}", r#"{"x": 1}"#),
            ("{{ start['data'].x }}", "1"),
            ("{{ start.data.x + 1 }}", "2"),
            ("{{ (start if true).data.x }}", "1"),
            ("{{ start.data | length }}", "1"),
            ("{{ start.get('x') }}", "1"),
            ("{{ 'data' in start }}", "false"),
            ("{{ start == {'x': 1} }}", "true"),
            ("{{ start | tojson }}", r#""{\"x\":1}""#),
            ("{{ start.other }}", "null"),
            ("{{ own.data.x }}", "2"),
            ("{{ own.x }}", "1"),
            ("{{ own.result.x }}", "1"),
            ("{{ plain.data.x }}", "null"),
            ("{{ plain.data is defined }}", "false"),
        ],
    );
}

#[test]
fn lists_and_scalars_answer_to_their_aliases_too() {
    renders_in(
        &aliased(),
        &[
            ("{{ listed[1] }}", "6"),
            ("{{ listed.data[1] }}", "6"),
            ("{{ listed.result[n | default(0)] }}", "5"),
            ("{{ listed | length }}", "2"),
            ("{{ listed.data | sum }}", "11"),
            ("{% for x in listed.data %}{{ x }},{% endfor %}", r#""5,6,""#),
            ("{{ (listed if true).data[0] }}", "5"),
            ("{{ number.data }}", "7"),
            ("{{ number.result + 1 }}", "8"),
            ("{{ number.data.result }}", "7"),
            ("{{ text.data | upper }}", r#""HELLO""#),
            ("{{ text.result }}!", r#""hello!""#),
            ("{{ nothing.data }}", "null"),
            ("{{ nothing.data is none }}", "true"),
            ("{{ five.data }}", "null"),
            ("{{ number.data > 5 }}", "true"),
            ("{% set x = number.data %}{{ x }}", r#""7""#),
            ("{% for number in [{'data': 3}] %}{{ number.data }}{% endfor %}", r#""3""#),
        ],
    );
}

/// Counts how often it is asked, and for what.
#[derive(Debug)]
struct Steps {
    whole: Value,
    entries: AtomicUsize,
    wholes: AtomicUsize,
}

impl Lookup for Steps {
    fn get(&self, key: &str) -> Option<View> {
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.whole.get(key).cloned().map(View::Aliased)
    }

    fn whole(&self) -> Option<Value> {
        self.wholes.fetch_add(1, Ordering::Relaxed);
        Some(self.whole.clone())
    }
}

fn lazy(whole: &str) -> (Arc<Steps>, noetl_expr::Scope) {
    let steps =
        Arc::new(Steps { whole: json(whole), entries: AtomicUsize::new(0), wholes: AtomicUsize::new(0) });
    let scope =
        Views(vec![("steps", View::Lazy(steps.clone())), ("key", View::Value(Value::text("a")))]).scope();
    (steps, scope)
}

#[test]
fn lazy_things_are_asked_for_single_keys_only_where_that_is_enough() {
    for source in [
        "{{ steps.a.x }}",
        "{{ steps['a'].x }}",
        "{{ steps[key].x }}",
        "{{ steps.a.data.x + 0 }}",
        "{{ steps.get('a').x }}",
        "{{ steps.a is defined and steps is defined and steps.a.x }}",
        "{% set s = steps %}{{ s.a.x }}",
    ] {
        let (steps, scope) = lazy(r#"{"a": {"x": 1}}"#);
        let rendered = render(source, &scope).expect(source);
        assert!(rendered == Value::Int(1) || rendered == Value::text("1"), "{source}: {rendered}");
        assert_eq!(steps.wholes.load(Ordering::Relaxed), 0, "{source}");
        assert!(steps.entries.load(Ordering::Relaxed) > 0, "{source}");
    }
}

#[test]
fn lazy_things_are_fetched_to_be_printed_iterated_or_passed_on() {
    let (_, scope) = lazy(r#"{"a": {"x": 1}, "b": {}}"#);
    renders_in(
        &scope,
        &[
            ("{{ steps }}", r#"{"a": {"x": 1}, "b": {}}"#),
            ("{{ [steps] }}", r#"[{"a": {"x": 1}, "b": {}}]"#),
            ("<{{ steps }}>", r#""<{\"a\":{\"x\":1},\"b\":{}}>""#),
            ("{{ steps | length }}", "2"),
            ("{{ steps | tojson }}", r#""{\"a\":{\"x\":1},\"b\":{}}""#),
            ("{{ steps | list }}", r#"["a", "b"]"#),
            ("{% for name in steps %}{{ name }}{% endfor %}", r#""ab""#),
            ("{% for name, step in steps.items() %}{{ name }}{{ step.x }}{% endfor %}", r#""a1b""#),
            ("{{ 'a' in steps }}", "true"),
            ("{{ steps == {'a': {'x': 1}, 'b': {}} }}", "true"),
            ("{{ steps is mapping }}", "true"),
            ("{{ steps is defined }}", "true"),
            ("{{ 'yes' if steps else 'no' }}", r#""yes""#),
            ("{{ steps.nope is defined }}", "false"),
            ("{{ steps.nope.x }}", "null"),
            ("{{ steps.get('nope', 3) }}", "3"),
        ],
    );
}

#[test]
fn lazy_lists_and_scalars_behave_like_what_they_are() {
    renders_in(
        &lazy("[1, 2]").1,
        &[
            ("{{ steps }}", "[1, 2]"),
            ("{{ steps[1] }}", "2"),
            ("{{ steps[-1] }}", "2"),
            ("{{ steps[key | length] }}", "2"),
            ("{{ steps[1:] }}", "[2]"),
            ("{{ steps | sum }}", "3"),
            ("{{ steps + [3] }}", "[1, 2, 3]"),
            ("{{ steps is sequence }}", "true"),
            ("{% for x in steps %}{{ x }}{% endfor %}", r#""12""#),
        ],
    );
    renders_in(
        &lazy("5").1,
        &[
            ("{{ steps }}", "5"),
            ("{{ steps + 1 }}", "6"),
            ("{{ steps == 5 }}", "true"),
            ("<{{ steps }}>", r#""<5>""#),
        ],
    );
}

#[derive(Debug)]
struct Keyed;

impl Lookup for Keyed {
    fn get(&self, key: &str) -> Option<View> {
        (key == "token").then(|| View::Value(Value::text("s3cret")))
    }
}

#[test]
fn lazy_things_without_a_whole_are_true_and_null() {
    let scope = Views(vec![("keychain", View::Lazy(Arc::new(Keyed)))]).scope();
    renders_in(
        &scope,
        &[
            ("{{ keychain.token }}", r#""s3cret""#),
            ("{{ keychain }}", "null"),
            ("[{{ keychain }}]", r#""[]""#),
            ("{{ keychain is defined }}", "true"),
            ("{{ 'yes' if keychain else 'no' }}", r#""yes""#),
        ],
    );
    assert_eq!(condition("keychain.token").holds(&scope), Ok(true));
}

#[test]
fn empty_lazy_things_are_false() {
    renders_in(&lazy("{}").1, &[("{{ 'yes' if steps else 'no' }}", r#""no""#)]);
}

#[test]
fn containers_are_shared_and_not_copied() {
    let rows = json(r#"{"rows": [{"a": [1, 2]}, {"a": []}], "m": {"x": {"y": 1}}}"#);
    let scope = noetl_expr::Scope::of(rows.clone());
    let same = |a: &Value, b: &Value| match (a, b) {
        (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    let original = rows.get("rows").expect("rows");
    let first = original.as_list().expect("a list").first().expect("a row");
    for source in [
        "{{ rows }}",
        "{{ rows if true else none }}",
        "{{ rows | default([]) }}",
        "{{ nope or rows }}",
        "{{ {'r': rows}.r }}",
        "{{ dict(r=rows)['r'] }}",
    ] {
        assert!(same(&render(source, &scope).expect(source), original), "{source}");
    }
    for source in [
        "{{ rows[0] }}",
        "{{ rows | first }}",
        "{{ (rows | list)[0] }}",
        "{{ rows[:1][0] }}",
        "{{ (rows + [1])[0] }}",
    ] {
        assert!(same(&render(source, &scope).expect(source), first), "{source}");
    }
    let built = render("{{ {'rows': rows, 'first': rows[0]} }}", &scope).expect("a map");
    assert!(same(built.get("rows").expect("rows"), original));
    assert!(same(built.get("first").expect("first"), first));
}

#[test]
fn strict_rendering_names_what_is_undefined() {
    let scope = noetl_expr::Scope::of(json(r#"{"workload": {"a": 1}}"#));
    for (source, name) in [
        ("{{ nope }}", "nope"),
        ("x{{ nope }}", "nope"),
        ("{{ workload.b }}", "workload.b"),
        ("{{ workload.a + workload.b }}", "workload.b"),
        ("{{ workload.b.c.d }}", "workload.b.c.d"),
        ("{{ nope | upper }}", "nope"),
        ("{{ nope | length }}", "nope"),
        ("{% if nope %}x{% endif %}", "nope"),
        ("{% if true %}{{ nope }}{% endif %}", "nope"),
        ("{% for x in nope %}x{% endfor %}", "nope"),
        ("{{ nope.get('x') }}", "nope"),
        ("{{ nope[1:] }}", "nope"),
        ("{{ 'x' ~ nope }}", "nope"),
        ("{{ 1 in nope }}", "nope"),
    ] {
        let Err(error) = template(source).render_with(&scope, Undefined::Strict) else {
            panic!("{source} does not fail");
        };
        assert!(error.message.ends_with(&format!("`{name}` is undefined")), "{source}: {error}");
    }
    for (source, expected) in
        [("{{ workload.a }}", "1"), ("{{ nope | default(2) }}", "2"), ("{{ nope is defined }}", "false")]
    {
        let rendered = template(source).render_with(&scope, Undefined::Strict);
        assert_eq!(rendered, Ok(json(expected)), "{source}");
    }
}
