//! Templates that try to take too much time, memory or stack. Each must end with an error that names the limit; without
//! limits most of them would not end at all.

mod support;

use noetl_expr::{Condition, Template};
use noetl_types::Value;
use support::{json, render, scope};

fn stopped(source: &str, limit: &str) {
    let error = render(source, &scope("{}")).expect_err(source);
    assert!(error.message.ends_with(limit), "{source}: {error}");
}

#[test]
fn loops_run_out_of_instructions() {
    let limit = "it needs more than 5000000 instructions";
    stopped("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", limit);
    let many = "{% for x in range(1000) %}".repeat(6) + &"{% endfor %}".repeat(6);
    stopped(&many, limit);
}

#[test]
fn large_loops_that_mean_well_run_through() {
    let rows = Value::list((0..100_000).map(|id| json(&format!(r#"{{"id": {id}, "name": "n"}}"#))));
    let scope = noetl_expr::Scope::of(Value::map([("rows", rows)]));
    let text = render(
        "{% for row in rows %}{{ row.id }}:{{ row.name }}{{ ',' if not loop.last }}{% endfor %}",
        &scope,
    );
    assert_eq!(text.expect("text").as_str().map(|text| text.matches(',').count()), Some(99_999));
    let sum = render("{{ rows | selectattr('id', '>', 5) | map(attribute='id') | sum }}", &scope);
    assert_eq!(sum, Ok(Value::Int(4_999_950_000 - 15)));
}

#[test]
fn work_in_loops_is_counted() {
    let limit = "it goes through more than 20000000 items";
    let with_list = |body: &str| {
        let source = format!(
            "{{% set big = range(100000) %}}{{% for x in big %}}{{% if {body} %}}{{% endif %}}{{% endfor %}}"
        );
        stopped(&source, limit);
    };
    with_list("big | sort");
    with_list("big | select('odd')");
    with_list("-1 in big");
    with_list("big[1:]");
    let with_text = |body: &str| {
        let source =
            format!("{{% set s = 'x' * 10000000 %}}{{% for x in range(100000) %}}{body}{{% endfor %}}");
        stopped(&source, limit);
    };
    with_text("{{ s[-1] }}");
    with_text("{{ s.startswith('y') }}");
    with_text("{{ s | length }}");
    with_text("{% for c in s %}{% break %}{% endfor %}");
}

#[test]
fn comparing_data_that_shares_its_parts_is_counted() {
    let limit = "it goes through more than 20000000 items";
    let doubled = |name: &str| {
        format!(
            "{{% set {name} = namespace(x=[1]) %}}{{% for i in range(60) %}}{{% set {name}.x = [{name}.x, {name}.x] %}}{{% endfor %}}"
        )
    };
    let both = doubled("a") + &doubled("b");
    stopped(&format!("{both}{{{{ a.x == b.x }}}}"), limit);
    stopped(&format!("{both}{{{{ [a.x, b.x] | sort | length }}}}"), limit);
    stopped(&format!("{both}{{{{ [a.x] | unique | length }}}}"), limit);
    stopped(&format!("{both}{{{{ {{a.x: 1}} }}}}"), "a list or map cannot be the key of a map");
    stopped(&format!("{both}{{{{ a.x }}}}"), "it makes a text longer than 64 MiB");
}

#[test]
fn asking_for_a_length_in_a_loop_costs_nothing() {
    let rows = Value::list((0..50_000).map(Value::from));
    let scope = noetl_expr::Scope::of(Value::map([("rows", rows)]));
    let source = "{% for row in rows %}{{ rows | length == rows | default([]) | last + 1 }}{{ rows | first }}{% endfor %}";
    let text = render(source, &scope).expect("text");
    assert_eq!(text.as_str().map(str::len), Some(50_000 * "true0".len()));
}

#[test]
fn text_does_not_grow_without_bounds() {
    let one = "it makes a text longer than 64 MiB";
    let all = "it makes more than 128 MiB of text";
    stopped("{{ 'x' * 1000000000 }}", one);
    stopped("{{ 1000000000 * 'x' }}", one);
    stopped("{{ ('x' * 60000000) ~ ('x' * 60000000) }}", one);
    stopped("{{ ('x' * 60000000) + ('x' * 60000000) }}", one);
    stopped("{{ ('x' * 10000) | replace('x', 'y' * 10000) }}", one);
    stopped("{{ ('x' * 10000).replace('x', 'y' * 10000) }}", one);
    stopped("{{ range(1000000) | join('x' * 1000) }}", one);
    stopped("{{ 'x' | indent(1000000000) }}", one);
    stopped("{{ ('x\\n' * 1000000) | indent(1000) }}", one);
    stopped("{{ '%1000000000d' | format(1) }}", "the widths of `format` have at most 4 digits");
    stopped("{{ '%*d' | format(1000000000, 1) }}", "the widths of `format` have at most 4 digits");
    stopped("{{ ('%s' * 1000) | format('x' * 1000000) }}", one);
    stopped("{{ ('%(a)s' * 1000) | format(a='x' * 1000000) }}", one);
    stopped("{{ ('<' * 20000000) | escape }}", one);
    stopped("{{ (' ' * 60000000) | urlencode }}", one);
    stopped("{{ [('x' * 1000000)] * 100 }}{{ 1 }}", one);
    stopped("{{ ([('x' * 1000000)] * 100) | tojson }}", one);
    stopped(
        "{% set ns = namespace(x='x') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        one,
    );
    stopped(
        "{% set ns = namespace(x='x') %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        one,
    );
    stopped("{% for i in range(100000) %}{{ 'x' * 10000 }}{% endfor %}", all);
    let raw = format!("{{% for i in range(100000) %}}{}{{% endfor %}}", "x".repeat(10_000));
    stopped(&raw, all);
    stopped("{% for i in range(100) %}{{ 'x' * 2000000 }}{% endfor %}", all);
    stopped("{% set s = 'x' * 1000000 %}{% for i in range(80) %}{{ s }}{% endfor %}", one);
    let names = Value::map([("s", Value::text("x".repeat(30_000_000)))]);
    let many = "{{ s }}".repeat(10);
    let error = render(&many, &noetl_expr::Scope::of(names)).expect_err("300 MB of text");
    assert!(error.message.ends_with(all), "{error}");
}

#[test]
fn lists_do_not_grow_without_bounds() {
    let limit = "it makes a list of more than 1000000 items";
    stopped("{{ range(1000000000) }}", limit);
    stopped("{{ range(-9223372036854775807, 9223372036854775807) }}", limit);
    stopped("{{ range(9223372036854775807, -9223372036854775807, -1) }}", limit);
    stopped("{{ [1] * 1000000000 }}", limit);
    stopped("{{ [1] | batch(1000000000, 0) }}", limit);
    stopped("{{ [1] | slice(1000000000) }}", limit);
    stopped(
        "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        limit,
    );
    stopped("{{ [[('x' * 1000000)] * 1000] * 1000 }}", "its result is larger than 256 MiB");
}

#[test]
fn numbers_stay_within_64_bits() {
    stopped("{{ 10 ** 100000000 }}", "the result does not fit into 64 bits");
    stopped("{{ 2 ** 64 }}", "the result does not fit into 64 bits");
    stopped(
        "{% set ns = namespace(x=10) %}{% for i in range(100) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
        "the result does not fit into 64 bits",
    );
    assert_eq!(render("{{ (-1) ** 10000000001 }}", &scope("{}")), Ok(Value::Int(-1)));
    assert_eq!(render("{{ 2 ** 63 }}", &scope("{}")), Ok(Value::UInt(1 << 63)));
}

#[test]
fn nesting_stays_bounded() {
    let limit = "it nests lists and maps more than 200 deep";
    stopped(
        "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}",
        limit,
    );
    stopped(
        "{% set ns = namespace(x={}) %}{% for i in range(100000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}",
        limit,
    );
    stopped(
        "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] + [ns.x] %}{% endfor %}",
        limit,
    );
    stopped(
        "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = ns.x | batch(1) %}{% set ns.x = [ns.x] %}{% endfor %}",
        limit,
    );
    stopped(&("{% set x = [x] %}".repeat(1000) + "{{ x }}"), limit);
    stopped(
        "{% set ns = namespace(x=1) %}{% set ns.x = ns %}{{ ns.x }}",
        "a namespace is not data and cannot be a result",
    );
    stopped(
        "{% set ns = namespace(x=1) %}{% set ns.x = [ns] %}{{ ns.x }}",
        "a namespace is not data and cannot be a result",
    );
    stopped(
        "{% set a = namespace() %}{% set b = namespace(a=a) %}",
        "a namespace is not data and cannot be a result",
    );
    stopped("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "recursion limit exceeded");
}

#[test]
fn source_that_nests_too_deeply_is_refused() {
    let n = 100_000;
    let sources = [
        format!("{{{{ {}1{} }}}}", "(".repeat(n), ")".repeat(n)),
        format!("{{{{ {}1{} }}}}", "[".repeat(n), "]".repeat(n)),
        format!("{{{{ {}1{} }}}}", "{'a':".repeat(n), "}".repeat(n)),
        format!("{{{{ {}x }}}}", "not ".repeat(n)),
        format!("{{{{ {}1 }}}}", "-".repeat(n)),
        format!("{{{{ {}1 }}}}", "- ".repeat(n)),
        format!("{{{{ 1{} }}}}", " + 1".repeat(n)),
        format!("{{{{ 1{} }}}}", " ~ 1".repeat(n)),
        format!("{{{{ 1{} }}}}", " < 1".repeat(n)),
        format!("{{{{ 1{} }}}}", " and 1".repeat(n)),
        format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(n)),
        format!("{{{{ a{} }}}}", ".b".repeat(n)),
        format!("{{{{ a{} }}}}", "[0]".repeat(n)),
        format!("{{{{ a{} }}}}", "()".repeat(n)),
        format!("{{{{ a{} }}}}", " | lower".repeat(n)),
        format!("{{{{ a{} }}}}", " is string".repeat(n)),
        format!("{{{{ a{} }}}}", " ** 1".repeat(n)),
        format!("{{{{ {}", "(".repeat(n)),
        "{% if a %}".repeat(n),
        format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(n)),
        "{% for a in b %}".repeat(n),
        format!("{{% for {}a{} in b %}}{{% endfor %}}", "(".repeat(n), ")".repeat(n)),
        "{% filter lower %}".repeat(n),
        format!("{{% set {}a = 1 %}}", "a.".repeat(n)),
        format!("{{{{ f({}) }}}}", "f(".repeat(n)),
    ];
    for source in sources {
        assert!(Template::compile(&Value::text(source.as_str())).is_err(), "{}", &source[..40]);
        let bare = source.trim_start_matches("{{").trim_end_matches("}}");
        assert!(Condition::compile(&Value::text(bare)).is_err(), "{}", &bare[..40]);
    }
}

#[test]
fn source_at_the_edge_of_the_limits_compiles_and_runs_on_a_small_stack() {
    let work = || {
        let scope = scope(r#"{"a": {"b": 1}}"#);
        for source in [
            format!("{{{{ {}1{} }}}}", "(".repeat(70), ")".repeat(70)),
            format!("{{{{ {}1{} }}}}", "[".repeat(70), "]".repeat(70)),
            format!("{{{{ {}x }}}}", "not ".repeat(399)),
            format!("{{{{ 1{} }}}}", " + 1".repeat(399)),
            format!("{{{{ a{} }}}}", " | string".repeat(399)),
            format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(140)),
            format!("{{{{ a{} }}}}", ".b".repeat(399)),
            format!("{{{{ a{} }}}}", "[0]".repeat(390)),
            "{% if a %}".repeat(140) + &"{% endif %}".repeat(140),
            format!("{{% if nope %}}{}{{% endif %}}", "{% elif nope %}".repeat(200)),
        ] {
            let template = Template::compile(&Value::text(source.as_str()))
                .unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
            template.render(&scope).unwrap_or_else(|error| panic!("{source}: {error}"));
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

#[test]
fn long_source_is_refused() {
    let long = "{{ x }}".repeat(1_000_000);
    let errors = Template::compile(&Value::text(long)).expect_err("too long");
    assert_eq!(errors[0].message, "the template is longer than 4 MiB");
}

#[test]
fn an_evaluation_inside_another_does_not_use_up_its_limits() {
    #[derive(Debug)]
    struct Rendering;
    impl noetl_expr::Lookup for Rendering {
        fn get(&self, _: &str) -> Option<noetl_expr::View> {
            let inner = render("{{ 'x' * 50000000 }}", &scope("{}")).expect("text");
            inner.as_str().map(|text| noetl_expr::View::Value(text.len().into()))
        }
    }
    let scope = noetl_expr::Scope::new(std::sync::Arc::new(Rendering), Default::default());
    assert_eq!(render("{{ a + b + c + d }}", &scope), Ok(Value::Int(200_000_000)));
}
